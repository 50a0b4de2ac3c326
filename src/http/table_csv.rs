//! A table as CSV: one page of it, or with `_stream` all of it, page after
//! page. Each page is handed to the engine by itself, so that a slow client
//! holds no thread and no connection, and memory stays at one page.

use bytes::Bytes;
use futures_util::stream::{self, StreamExt};

use super::csv_answer;
use super::response::{Body, Response, TEXT};
use super::table::Job;
use crate::error::Result;
use crate::render::csv::{self, CsvContext};
use crate::table::TablePage;
use crate::table::request::Labels;
use crate::text::tilde;

/// Answers a request for CSV.
pub async fn show(mut job: Job) -> Result<Response> {
    let settings = &job.app.config.settings;
    let streams = csv_answer::streams(&job.http, settings)?;
    if streams {
        job.request.size = settings.max_returned_rows;
    }
    if job.http.method == "HEAD" {
        // The headers of an export do not depend on its rows: one page of none is enough to see that it can be made.
        job.request.size = 0;
    }
    let header = csv_answer::has_header(&job.http);
    let limit = csv_answer::limit(settings);
    let headers = csv_answer::headers(&job.http, &tilde::encode(job.table.as_bytes()));
    let Part { bytes, next, lasts } = part(&job, header).await?;
    let mut response = Response::whole(200, TEXT, Bytes::new());
    response.headers = headers;
    response.body = if job.http.method == "HEAD" {
        // How long it would be nobody knows without making it.
        Body::Stream(Box::pin(stream::empty()))
    } else if streams && next.is_some() {
        Body::Stream(Box::pin(rest(job, bytes, next, limit)))
    } else {
        Body::Whole(csv_answer::bounded(bytes, limit))
    };
    Ok(response.lasting(lasts))
}

/// One page.
struct Part {
    bytes: Bytes,
    /// The token of the page after it.
    next: Option<String>,
    /// Whether it stays the same as long as the database does.
    lasts: bool,
}

/// Makes one page.
async fn part(job: &Job, header: bool) -> Result<Part> {
    let job = job.clone();
    let engine = job.app.engine.clone();
    let turn = job.database.turns.enter().await;
    engine
        .offload(move |page| {
            let shown = job.execute_alone(page)?;
            drop(turn);
            let expanded = expanded(&job, &shown);
            let table_url = job.http.absolute(&format!(
                "/{}/{}",
                tilde::encode(job.database.name.as_bytes()),
                tilde::encode(job.table.as_bytes())
            ));
            let context = CsvContext {
                table_url: &table_url,
            };
            let csv = csv::table(&shown, &expanded, header, &context)?;
            Ok(Part {
                bytes: Bytes::from(csv),
                next: shown.next,
                lasts: shown.lasts,
            })
        })
        .await
}

/// The columns that a label column follows: foreign keys whose labels are wanted.
fn expanded(job: &Job, page: &TablePage) -> Vec<bool> {
    let is_key = |name: &String| {
        page.plan
            .table
            .foreign_keys
            .iter()
            .any(|key| &key.column == name)
    };
    page.columns()
        .iter()
        .map(|name| match &job.request.labels {
            Labels::Off => false,
            Labels::All => is_key(name),
            Labels::Columns(names) => is_key(name) && names.contains(name),
        })
        .collect()
}

/// The first page and those after it. What goes wrong on the way can only be
/// told at the end of the body: the headers have been sent.
fn rest(
    job: Job,
    first: Bytes,
    next: Option<String>,
    limit: u64,
) -> impl stream::Stream<Item = std::io::Result<Bytes>> {
    let sent = first.len() as u64;
    let tail = stream::unfold(Some((job, next, sent)), move |state| async move {
        let (mut job, next, sent) = state?;
        job.request.next = Some(next?);
        match part(&job, false).await {
            Ok(Part { bytes, .. }) if limit > 0 && sent + bytes.len() as u64 > limit => {
                Some((Ok(csv_answer::over_limit(limit)), None))
            }
            Ok(Part { bytes, next, .. }) => {
                let sent = sent + bytes.len() as u64;
                Some((Ok(bytes), Some((job, next, sent))))
            }
            Err(error) => {
                tracing::error!("a CSV export ended early: {error}");
                Some((Ok(Bytes::from(error.message().to_owned())), None))
            }
        }
    });
    stream::once(async move { Ok(first) }).chain(tail)
}
