//! The result of a query as CSV or as lines of JSON: as much as a page holds, or
//! with `_stream` all of it, sent while SQLite is still making it.

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt as _};

use super::export::{Export, too_large};
use super::query::Job;
use super::response::Response;
use crate::error::{Error, Result};
use crate::query::export as query;
use crate::render::export;
use crate::table::rows::Rows;

/// The header of an export that ends before its rows do: nothing in CSV itself could say so.
const TRUNCATED: &str = "turntable-truncated";

/// Answers a request for an export.
pub async fn show(mut job: Job, export: Export) -> Result<Response> {
    let http = job.http.clone();
    let stored = job.stored.as_ref().map(|stored| stored.name.clone());
    let name = stored.unwrap_or_else(|| job.database.name.clone());
    if export.is_head {
        // The headers do not depend on the rows: seeing that the SQL compiles is enough.
        job.request.size = Some(0);
    } else if export.is_whole {
        let pieces = all(job, export).await?;
        return Ok(export.answer(&http, &name, export.stream(pieces.boxed())));
    }
    let Made {
        bytes,
        truncated,
        lasts,
    } = page(job, export).await?;
    let response = export.answer(&http, &name, export.page(bytes));
    let response = response.lasting(lasts);
    if truncated && !export.is_head {
        return Ok(response.header(TRUNCATED, "true"));
    }
    Ok(response)
}

/// A page of an export.
struct Made {
    bytes: Bytes,
    /// Whether there were more rows.
    truncated: bool,
    /// Whether it stays the same as long as the database does.
    lasts: bool,
}

/// As many rows as a page has.
async fn page(job: Job, export: Export) -> Result<Made> {
    let engine = job.app.engine.clone();
    let turn = job.database.turns.enter().await;
    let made = engine.offload(move |page| {
        let result = job.execute(page)?;
        drop(turn);
        let size = job.request.size.unwrap_or(usize::MAX);
        if result.truncated && result.rows.len() < size {
            return Err(too_large());
        }
        Ok(Made {
            bytes: piece(&job, export, &result.rows, true)?,
            truncated: result.truncated,
            lasts: result.lasts,
        })
    });
    made.await
}

/// All rows. No turn is taken: it would keep pages waiting for as long as the client reads.
async fn all(job: Job, export: Export) -> Result<impl Stream<Item = Result<Bytes>> + Send> {
    let engine = job.app.engine.clone();
    let pieces = engine.export(move |sink| {
        query::run(&job.database, &job.request, sink, |rows, is_first| {
            piece(&job, export, rows, is_first)
        })
    });
    let mut pieces = pieces.await?;
    // What is wrong with the SQL shows here, while the status can still say so.
    let first = pieces.next().await.unwrap_or(Err(Error::Cancelled))?;
    let rest = stream::unfold(pieces, |mut pieces| async move {
        let piece = pieces.next().await?;
        Some((piece, pieces))
    });
    Ok(stream::once(async move { Ok(first) }).chain(rest))
}

fn piece(job: &Job, export: Export, rows: &Rows, is_first: bool) -> Result<Bytes> {
    let request = &job.request;
    let (columns, infinity) = (&request.json_columns, request.json_infinity);
    let piece = export::query(rows, export.form, columns, infinity, &job.http, is_first);
    Ok(Bytes::from(piece?))
}
