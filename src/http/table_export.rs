//! A table as CSV or as lines of JSON: one page of it, or with `_stream` all of
//! it. A client that reads slowly holds no thread and no connection: the
//! rows come in runs, and the next one begins when the client has taken the last.

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt as _};

use super::export::{Export, PAGE_BYTES, too_large};
use super::response::Response;
use super::table::Job;
use crate::engine::Pieces;
use crate::error::{Error, Result};
use crate::render::export;
use crate::table::TablePage;
use crate::table::export::{ALL, Part, TableRows, run};
use crate::text::tilde;

/// Answers a request for an export.
pub async fn show(mut job: Job, export: Export) -> Result<Response> {
    let name = tilde::encode(job.table.as_bytes());
    let http = job.http.clone();
    if export.is_head {
        // The headers do not depend on the rows: one page of none is enough to see that it can be made.
        job.request.size = 0;
    } else if export.is_whole {
        let pieces = all(job, export).await?;
        return Ok(export.answer(&http, &name, export.stream(pieces.boxed())));
    }
    let (bytes, lasts) = page(job, export).await?;
    let response = export.answer(&http, &name, export.page(bytes));
    Ok(response.lasting(lasts))
}

/// One page, and whether it stays the same as long as the database does. A page
/// that ended early goes on until it has all of its rows: nothing in CSV could tell
/// that some are missing.
async fn page(mut job: Job, export: Export) -> Result<(Bytes, bool)> {
    let engine = job.app.engine.clone();
    let turn = job.database.turns.enter().await;
    let made = engine.offload(move |page| {
        let mut bytes = Vec::new();
        let mut lasts = true;
        loop {
            let shown = job.execute_alone(page)?;
            lasts &= shown.lasts;
            bytes.extend_from_slice(&piece(&job, export, &shown, bytes.is_empty())?);
            let missing = job.request.size - shown.rows.len().min(job.request.size);
            match shown.next {
                Some(_) if missing > 0 && bytes.len() > PAGE_BYTES => return Err(too_large()),
                Some(next) if missing > 0 => {
                    job.request.next = Some(next);
                    job.request.size = missing;
                }
                _ => break,
            }
        }
        drop(turn);
        Ok((Bytes::from(bytes), lasts))
    });
    made.await
}

fn piece(job: &Job, export: Export, page: &TablePage, is_first: bool) -> Result<Vec<u8>> {
    let rows = TableRows::of(page);
    export::table(&rows, export.form, &job.request, &table_url(job), is_first)
}

fn table_url(job: &Job) -> String {
    let name = |name: &str| tilde::encode(name.as_bytes());
    let path = format!("/{}/{}", name(&job.database.name), name(&job.table));
    job.http.absolute(&path)
}

/// All rows. What is wrong with the request shows before the first piece, while the status can still say so.
async fn all(mut job: Job, export: Export) -> Result<impl Stream<Item = Result<Bytes>> + Send> {
    job.request.size = ALL;
    let mut pieces = start(&job, export, true).await?;
    let first = pieces.next().await.unwrap_or(Err(Error::Cancelled))?;
    let state = Some((job, pieces, first.next));
    let rest = stream::unfold(state, move |state| async move {
        let (job, pieces, next) = state?;
        match following(job, pieces, next?, export).await {
            Ok((piece, state)) => Some((Ok(piece), Some(state))),
            Err(error) => Some((Err(error), None)),
        }
    });
    Ok(stream::once(async move { Ok(first.piece) }).chain(rest))
}

type State = (Job, Pieces<Part<Bytes>>, Option<String>);

/// The piece that begins at `next`, from this run or from another.
async fn following(
    mut job: Job,
    mut pieces: Pieces<Part<Bytes>>,
    next: String,
    export: Export,
) -> Result<(Bytes, State)> {
    let part = if let Some(part) = pieces.next().await {
        part?
    } else {
        job.request.next = Some(next);
        pieces = start(&job, export, false).await?;
        pieces.next().await.unwrap_or(Err(Error::Cancelled))?
    };
    Ok((part.piece, (job, pieces, part.next)))
}

/// Begins a run.
async fn start(job: &Job, export: Export, is_first: bool) -> Result<Pieces<Part<Bytes>>> {
    let job = job.clone();
    let engine = job.app.engine.clone();
    let turn = job.database.turns.enter().await;
    let url = table_url(&job);
    let make = move |sink: &_| {
        let made = run(&job.asked(None), is_first, sink, |rows, is_first| {
            let piece = export::table(rows, export.form, &job.request, &url, is_first)?;
            Ok(Bytes::from(piece))
        });
        drop(turn);
        made
    };
    if is_first {
        engine.export(make).await
    } else {
        engine.go_on(make).await
    }
}
