//! Runs a query to its end, piece by piece.

use super::execute::{check, columns, prepare};
use super::{QueryRequest, fence};
use crate::db::{Database, Limit, PageSnapshot};
use crate::engine::Sink;
use crate::error::Result;
use crate::table::execute::as_invalid_sql;
use crate::table::export::{BYTES, FIRST_ROWS, rows_of_a_piece};
use crate::table::rows::Rows;

/// Sends all rows, as `write` makes bytes of them; it is told which piece is
/// the first, which comes even if there are no rows. The time limit is for each
/// piece: a result that keeps coming is as long as the client wants it to be.
pub fn run<T>(
    database: &Database,
    request: &QueryRequest,
    sink: &Sink<T>,
    write: impl Fn(&Rows, bool) -> Result<T>,
) -> Result<()> {
    check(request)?;
    let snapshot = PageSnapshot::begin(database, &sink.cancel)?;
    let limit = Limit::millis(request.time_limit_ms);
    let ran = snapshot.read(Limit::NONE, |connection| {
        fence::within(connection, &request.rules, |connection| {
            let mut statement = match prepare(connection, request, &request.sql)? {
                Ok(statement) => statement,
                Err(error) => return Ok(Err(error)),
            };
            let mut rows = Rows::of(columns(&statement));
            let mut cursor = statement.raw_query();
            let most = rows_of_a_piece(rows.columns.len());
            let mut is_first = true;
            loop {
                let size = if is_first { most.min(FIRST_ROWS) } else { most };
                let ended = limit.enforce(connection, &sink.cancel, |_| {
                    rows.take_next(&mut cursor, size, BYTES)
                })?;
                if is_first || !rows.is_empty() {
                    let sent = write(&rows, is_first).and_then(|piece| sink.send(piece));
                    if let Err(error) = sent {
                        return Ok(Err(error));
                    }
                }
                if ended {
                    return Ok(Ok(()));
                }
                is_first = false;
            }
        })
    });
    ran.map_err(as_invalid_sql)?
}
