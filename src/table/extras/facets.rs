//! Facets: how many rows there are for each value of a column.
//!
//! Facets that values can be told apart for byte by byte are counted together,
//! by one [`scan`](super::facet_scan); the others, here, one by one in SQL.

use std::sync::Arc;

use super::labels::Labels;
use super::{FacetKind, FacetRequest};
use crate::db::schema::Kind;
use crate::db::snapshot::SqlError;
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
    /// If the time was up before all rows were counted: how many were.
    pub rows_scanned: Option<u64>,
    /// Labels, if it is on a foreign key.
    pub labels: Option<Labels>,
}

/// A facet that was counted; none if there was no time for any of it.
pub type Counted = Option<Arc<FacetValues>>;

impl FacetValues {
    /// The `size` first of `values`, which has one more if there are more.
    pub fn first(mut values: Vec<(Value, u64)>, size: usize) -> Self {
        let truncated = values.len() > size;
        values.truncate(size);
        Self {
            values,
            truncated,
            rows_scanned: None,
            labels: None,
        }
    }

    /// Whether there was not enough time to count all rows.
    pub fn is_partial(&self) -> bool {
        self.rows_scanned.is_some()
    }
}

/// Whether values that are equal byte for byte are all that SQLite would group:
/// so for what a function makes, and for a column of known BINARY collation.
pub fn can_tally(plan: &Plan, facet: &FacetRequest) -> bool {
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

/// Counts a facet in SQL, which decides what is equal: the way for views and other
/// collations. Its `size` most frequent values; none if the time limit struck.
pub fn count_in_sql(
    snapshot: &PageSnapshot<'_>,
    plan: &Plan,
    facet: &FacetRequest,
    size: usize,
    limit: Limit,
) -> Result<Option<FacetValues>> {
    let column = escape(&facet.column);
    let sql = format!(
        "select {column}, count(*) from (select {column} {}) where {column} is not null \
         group by 1 order by 2 desc, 1 limit {}",
        plan.from_sql,
        size + 1
    );
    let params = with_colons(&plan.from_params);
    let params: Vec<_> = params
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    let counted = snapshot.read(limit, |connection| {
        let mut statement = connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params.as_slice(), |row| {
            let count = row.get::<_, i64>(1)?.unsigned_abs();
            Ok((Value::from(row.get_ref(0)?), count))
        })?;
        rows.collect()
    });
    match counted {
        Ok(values) => Ok(Some(FacetValues::first(values, size))),
        Err(SqlError::TimeLimit) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
