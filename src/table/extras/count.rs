//! The count of the rows that match, up to a cap.

use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::db::snapshot::SqlError;
use crate::db::{Limit, PageSnapshot};
use crate::error::Result;
use crate::table::Plan;
use crate::table::rows::with_colons;
use crate::text::identifier::escape;

/// Rows are counted up to this many; one more says that there are more.
pub const CAP: i64 = 10_000;

/// Counts all rows of a table, at most [`CAP`]` + 1`; `keep` the statements prepared. Whether there is a row
/// beyond the cap is known in half the time that counting up to it takes; a table
/// without one is counted by its pages.
pub fn count_all(connection: &Connection, table: &str, keep: bool) -> rusqlite::Result<i64> {
    let table = escape(table);
    let is_there = format!("select 1 from {table} limit 1 offset {CAP}");
    let all = format!("select count(*) from {table}");
    let ask = |sql: &str| -> rusqlite::Result<Option<i64>> {
        let row = |row: &Row<'_>| row.get(0);
        if keep {
            connection
                .prepare_cached(sql)?
                .query_row([], row)
                .optional()
        } else {
            connection.query_row(sql, [], row).optional()
        }
    };
    match ask(&is_there)? {
        Some(_) => Ok(CAP + 1),
        None => Ok(ask(&all)?.unwrap_or(0)),
    }
}

/// Counts, at most [`CAP`]` + 1`. `None` if the time limit struck first.
pub fn count(snapshot: &PageSnapshot<'_>, plan: &Plan, limit: Limit) -> Result<Option<i64>> {
    let sql = format!(
        "select count(*) from (select 1 {}limit {})",
        plan.from_sql,
        CAP + 1
    );
    let params = with_colons(&plan.from_params);
    let params: Vec<_> = params
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    let counted = snapshot.read(limit, |connection| {
        if plan.is_whole_table() {
            return count_all(connection, &plan.table.name, true);
        }
        connection
            .prepare_cached(&sql)?
            .query_row(params.as_slice(), |row| row.get(0))
    });
    match counted {
        Ok(count) => Ok(Some(count)),
        Err(SqlError::TimeLimit) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
