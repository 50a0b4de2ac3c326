//! The result of a query as CSV: as much as a page holds, or with `_stream` all
//! of it, sent while SQLite is still making it.

use bytes::Bytes;
use futures_util::stream::{self, StreamExt};

use super::csv_answer;
use super::query::Job;
use super::request::Request;
use super::response::{Body, Response, TEXT};
use crate::db::Value;
use crate::engine::Pieces;
use crate::error::{Error, Result};
use crate::query::export;
use crate::render::csv::Columns;
use crate::render::links::result_blob;
use crate::table::rows::Rows;

/// The header of CSV that ends before its rows do: nothing in the CSV itself could say so.
const TRUNCATED: &str = "turntable-truncated";

/// Answers a request for CSV.
pub async fn show(mut job: Job) -> Result<Response> {
    let settings = &job.app.config.settings;
    let mut streams = csv_answer::streams(&job.http, settings)?;
    if job.http.method == "HEAD" {
        // The headers do not depend on the rows: seeing that the SQL compiles is enough.
        job.request.size = Some(0);
        streams = false;
    }
    let limit = csv_answer::limit(settings);
    let name = job.stored.as_ref().map(|stored| stored.name.clone());
    let name = name.unwrap_or_else(|| job.database.name.clone());
    let mut headers = csv_answer::headers(&job.http, &name);
    let is_head = job.http.method == "HEAD";
    let mut body = if streams {
        all(job, limit).await?
    } else {
        let (body, truncated) = page(job, limit).await?;
        if truncated && !is_head {
            headers.push((TRUNCATED, "true".into()));
        }
        body
    };
    if is_head {
        // How long it would be nobody knows without making it.
        body = Body::Stream(Box::pin(stream::empty()));
    }
    let mut response = Response::whole(200, TEXT, Bytes::new());
    response.headers = headers;
    response.body = body;
    Ok(response)
}

/// As many rows as a page has, and whether there were more.
async fn page(job: Job, limit: u64) -> Result<(Body, bool)> {
    let engine = job.app.engine.clone();
    let turn = job.database.turns.enter().await;
    let csv = engine.offload(move |page| {
        let result = job.execute(page)?;
        drop(turn);
        let csv = lines(&job.http, &result.rows, csv_answer::has_header(&job.http))?;
        Ok((csv, result.truncated))
    });
    let (csv, truncated) = csv.await?;
    Ok((Body::Whole(csv_answer::bounded(csv, limit)), truncated))
}

/// All rows. No turn is taken: it would keep pages waiting for as long as the client reads.
async fn all(job: Job, limit: u64) -> Result<Body> {
    let engine = job.app.engine.clone();
    let pieces = engine.export(move |sink| {
        let has_header = csv_answer::has_header(&job.http);
        export::run(&job.database, &job.request, sink, |rows, is_first| {
            lines(&job.http, rows, has_header && is_first)
        })
    });
    let mut pieces = pieces.await?;
    // What is wrong with the SQL shows here, while the status can still say so.
    let first = pieces.next().await.unwrap_or(Err(Error::Cancelled))?;
    let first = csv_answer::bounded(first, limit);
    Ok(Body::Stream(Box::pin(rest(first, pieces, limit))))
}

/// The first piece and those after it. What goes wrong on the way can only be
/// told at the end of the body: the headers have been sent.
fn rest(
    first: Bytes,
    pieces: Pieces<Bytes>,
    limit: u64,
) -> impl stream::Stream<Item = std::io::Result<Bytes>> {
    let sent = first.len() as u64;
    let tail = stream::unfold(Some((pieces, sent)), move |state| async move {
        let (mut pieces, sent) = state?;
        match pieces.next().await? {
            Ok(piece) if limit > 0 && sent + piece.len() as u64 > limit => {
                Some((Ok(csv_answer::over_limit(limit)), None))
            }
            Ok(piece) => {
                let sent = sent + piece.len() as u64;
                Some((Ok(piece), Some((pieces, sent))))
            }
            Err(error) => {
                tracing::warn!("a CSV export ended early: {error}");
                Some((Ok(Bytes::from(error.message().to_owned())), None))
            }
        }
    });
    stream::once(async move { Ok(first) }).chain(tail)
}

fn lines(http: &Request, rows: &Rows, has_header: bool) -> Result<Bytes> {
    let columns = Columns {
        names: &rows.columns,
        expanded: &[],
        labels: &[],
    };
    let lines = columns.lines(rows, has_header, |url, row, n| {
        if let Value::Blob(bytes) = row.value(n) {
            url.push_str(&http.origin());
            url.push_str(&result_blob(http, &rows.columns[n], bytes));
        }
    });
    Ok(Bytes::from(lines?))
}
