//! The count of the rows that match, up to a cap.

use crate::db::snapshot::SqlError;
use crate::db::{Limit, PageSnapshot};
use crate::error::Result;
use crate::table::Plan;
use crate::table::rows::with_colons;

/// Rows are counted up to this many; one more says that there are more.
pub const CAP: i64 = 10_000;

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
