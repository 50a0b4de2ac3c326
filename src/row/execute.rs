//! Finds a row, and what goes with it, on one snapshot.

use parking_lot::Mutex;

use super::incoming::{self, Incoming};
use super::{RowPage, RowPlan, RowRequest};
use crate::auth::Asker;
use crate::config::Config;
use crate::db::{Budget, Database, Limit, PageSnapshot, Value};
use crate::engine::{Graph, Page, Shape};
use crate::error::{Error, Result};
use crate::table::execute::as_invalid_sql;
use crate::table::extras::labels::{Labels, Lookup};
use crate::table::filters::Params;
use crate::table::rows::Rows;

/// What a page wants besides the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Labels of its foreign keys.
    pub labels: bool,
    /// Counts of the rows that refer to it.
    pub incoming: bool,
}

/// Where the jobs leave their results.
#[derive(Default)]
struct Results {
    labels: Mutex<Vec<Option<Labels>>>,
    counts: Mutex<Vec<Option<i64>>>,
    error: Mutex<Option<Error>>,
}

impl Results {
    fn step(&self, work: impl FnOnce() -> Result<()>) {
        if let Err(error) = work() {
            self.error.lock().get_or_insert(error);
        }
    }
}

/// Runs the page of the row that `request` asks for. [`Error::NotFound`] if there is none.
pub fn execute(
    page: &Page<'_>,
    config: &Config,
    asker: Asker<'_>,
    database: &Database,
    table: &str,
    request: &RowRequest,
    wanted: Wanted,
) -> Result<RowPage> {
    let limit_ms = config.settings.sql_time_limit_ms;
    let snapshot = PageSnapshot::begin(database, &page.cancel)?;
    let schema = asker.schema(&database.name, snapshot.schema()?);
    let table = schema
        .table(table)
        .ok_or_else(|| Error::NotFound(format!("Table not found: {table}")))?;
    let plan = RowPlan::new(request, table)?;
    let (rows, params) = find(&snapshot, &plan, Limit::millis(limit_ms))?
        .ok_or_else(|| Error::NotFound(format!("Record not found: {:?}", request.key_texts())))?;

    let keys = if wanted.incoming {
        referring(&plan, &rows)
    } else {
        Vec::new()
    };
    let lookup = Lookup {
        config,
        database: &database.name,
        schema: &schema,
        snapshot: &snapshot,
        limit: Limit::millis(limit_ms),
    };
    let budget = Budget::millis(limit_ms);
    let results = Results::default();
    *results.counts.lock() = vec![None; keys.len()];
    let mut graph = Graph::default();
    if wanted.labels && !table.foreign_keys.is_empty() {
        graph.add(&[], || {
            results.step(|| {
                *results.labels.lock() = lookup.rows(table.foreign_keys.iter(), &rows)?;
                Ok(())
            });
        });
    }
    for (n, incoming) in keys.iter().enumerate() {
        let (results, snapshot, budget) = (&results, &snapshot, &budget);
        graph.add(&[], move || {
            results.step(|| {
                let count = incoming::count(snapshot, &incoming.key, &incoming.value, budget)?;
                results.counts.lock()[n] = count;
                Ok(())
            });
        });
    }
    let shape = Shape::of(("row", &database.name, &table.name, keys.len()));
    graph.run(page, page.way(shape, None), || snapshot.share());
    if page.cancel.is_cancelled() {
        return Err(Error::Cancelled);
    }
    if let Some(error) = results.error.into_inner() {
        return Err(error);
    }
    let counts = results.counts.into_inner();
    let is_steady = |name: &String| schema.find(name).is_none_or(|table| table.steady);
    let labelled = table.foreign_keys.iter().map(|key| &key.other_table);
    let lasts = table.steady && labelled.into_iter().all(is_steady) && !snapshot.has_gaps();
    Ok(RowPage {
        labels: results.labels.into_inner(),
        incoming: with_counts(keys, counts),
        hidden_columns: plan.hidden_columns(),
        table: plan.table,
        key_columns: plan.key_columns,
        rows,
        sql: plan.sql,
        params,
        lasts,
    })
}

/// Finds the row by the first reading of the key that has one. The parameters
/// are those of [`RowPlan::sql`].
fn find(
    snapshot: &PageSnapshot<'_>,
    plan: &RowPlan,
    limit: Limit,
) -> Result<Option<(Rows, Params)>> {
    let rows = snapshot.read(limit, |connection| {
        let mut sql = &plan.find_sql;
        for reading in &plan.readings {
            let (rows, _) = Rows::query(connection, sql, reading, 1, usize::MAX)?;
            if !rows.is_empty() {
                return Ok(Some(rows));
            }
            sql = &plan.exact_sql;
        }
        Ok(None)
    });
    let params = plan.readings.first().cloned().unwrap_or_default();
    Ok(rows.map_err(as_invalid_sql)?.map(|rows| (rows, params)))
}

/// The keys that refer to a row. As in Datasette, a row whose key has several
/// columns is referred to by none: those keys have several columns too.
fn referring(plan: &RowPlan, rows: &Rows) -> Vec<Incoming> {
    if plan.key_columns.len() != 1 {
        return Vec::new();
    }
    let row = rows.iter().next().unwrap_or_default();
    let value = |column: &str| {
        let position = rows
            .columns
            .iter()
            .position(|name| name.eq_ignore_ascii_case(column));
        position.and_then(|n| row.get(n)).map(|value| value.owned())
    };
    let incoming = plan.table.incoming.iter();
    incoming
        .map(|key| Incoming {
            // A key may refer to the row number, which a primary key can be another name of.
            value: value(&key.column)
                .or_else(|| value(&plan.key_columns[0]))
                .unwrap_or(Value::Null),
            key: key.clone(),
            count: None,
        })
        .collect()
}

fn with_counts(mut keys: Vec<Incoming>, counts: Vec<Option<i64>>) -> Vec<Incoming> {
    for (key, count) in keys.iter_mut().zip(counts) {
        key.count = count;
    }
    keys
}
