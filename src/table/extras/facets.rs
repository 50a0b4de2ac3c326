//! One facet: how many rows there are for each value of a column.

use rusqlite::Connection;

use super::{FacetKind, FacetRequest};
use crate::db::schema::Kind;
use crate::db::snapshot::SqlError;
use crate::db::tally;
use crate::db::{Limit, PageSnapshot, Value};
use crate::error::Result;
use crate::table::Plan;
use crate::table::rows::with_colons;
use crate::text::identifier::escape;

/// The values of a facet with their counts, the highest first.
#[derive(Debug, Clone)]
pub struct FacetValues {
    /// Value and count.
    pub values: Vec<(Value, u64)>,
    /// Whether there are more values than these.
    pub truncated: bool,
}

/// Counts a facet; its `size` most frequent values. `None` if the time limit struck.
pub fn facet(
    snapshot: &PageSnapshot<'_>,
    plan: &Plan,
    facet: &FacetRequest,
    size: usize,
    limit: Limit,
) -> Result<Option<FacetValues>> {
    let counted = snapshot.read(limit, |connection| {
        if can_tally(plan, facet) {
            count_in_hash_map(connection, plan, facet, size + 1)
        } else {
            count_in_sql(connection, plan, facet, size + 1)
        }
    });
    match counted {
        Ok(mut values) => {
            let truncated = values.len() > size;
            values.truncate(size);
            Ok(Some(FacetValues { values, truncated }))
        }
        Err(SqlError::TimeLimit) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether values that are equal byte for byte are all that SQLite would group:
/// so for what a function makes, and for a column of known BINARY collation.
fn can_tally(plan: &Plan, facet: &FacetRequest) -> bool {
    if facet.kind != FacetKind::Column {
        return true;
    }
    match plan.table.column(&facet.column) {
        Some(column) => {
            plan.table.kind != Kind::View && column.collation_known && column.collation == "BINARY"
        }
        None => true,
    }
}

fn count_in_hash_map(
    connection: &Connection,
    plan: &Plan,
    facet: &FacetRequest,
    limit: usize,
) -> rusqlite::Result<Vec<(Value, u64)>> {
    let column = escape(&facet.column);
    let aggregate = match facet.kind {
        FacetKind::Column => format!("tally({column})"),
        FacetKind::Date => format!("tally(date({column}))"),
        FacetKind::Array => format!("tally_json({column})"),
    };
    let sql = format!("select {aggregate} {}", plan.from_sql);
    let params = with_colons(&plan.from_params);
    let params: Vec<_> = params
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    Ok(tally::run(connection, &sql, &params)?.top(limit))
}

/// The way for views and other collations: SQLite decides what is equal.
fn count_in_sql(
    connection: &Connection,
    plan: &Plan,
    facet: &FacetRequest,
    limit: usize,
) -> rusqlite::Result<Vec<(Value, u64)>> {
    let column = escape(&facet.column);
    let sql = format!(
        "select {column}, count(*) from (select {column} {}) where {column} is not null \
         group by 1 order by 2 desc, 1 limit {limit}",
        plan.from_sql
    );
    let params = with_colons(&plan.from_params);
    let params: Vec<_> = params
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params.as_slice(), |row| {
        Ok((
            Value::from(row.get_ref(0)?),
            row.get::<_, i64>(1)?.unsigned_abs(),
        ))
    })?;
    rows.collect()
}
