//! Labels of foreign keys: the name of the row that a value points at.

use std::collections::HashMap;

use crate::config::Config;
use crate::db::schema::{ForeignKey, Schema, Table};
use crate::db::snapshot::SqlError;
use crate::db::value::Key;
use crate::db::{Limit, PageSnapshot, Value};
use crate::error::Result;
use crate::text::identifier::escape;

/// Values looked up by one statement. The number of placeholders is rounded up
/// to a power of two up to here, so that few statements serve all pages.
const BATCH: usize = 512;

/// Labels by the value that they stand for.
pub type Labels = HashMap<Key, Value>;

/// The column that labels the rows of a table, by configuration or by the schema.
pub fn label_column<'a>(config: &'a Config, database: &str, table: &'a Table) -> Option<&'a str> {
    config
        .table(database, &table.name)
        .label_column
        .as_deref()
        .or(table.label_column.as_deref())
}

/// Looks up the labels of `values` of a foreign key. Values that point at no
/// row, or at a table that does not exist, get none. A table without a label
/// column labels its rows with the value itself. `None` if the time limit struck.
pub fn labels(
    snapshot: &PageSnapshot<'_>,
    schema: &Schema,
    key: &ForeignKey,
    label_column: Option<&str>,
    values: impl Iterator<Item = Value>,
    limit: Limit,
) -> Result<Option<Labels>> {
    let mut wanted: HashMap<Key, Value> = values
        .filter(|value| !value.is_null())
        .map(|value| (value.key(), value))
        .collect();
    let Some(table) = schema.find(&key.other_table).filter(|_| key.other_exists) else {
        return Ok(Some(Labels::new()));
    };
    let Some(label_column) = label_column else {
        for value in wanted.values_mut() {
            *value = Value::text(&value.display());
        }
        return Ok(Some(wanted));
    };
    let values: Vec<Value> = wanted.into_values().collect();
    let (column, label) = (escape(&key.other_column), escape(label_column));
    let found = snapshot.read(limit, |connection| {
        let mut labels = Labels::with_capacity(values.len());
        for batch in values.chunks(BATCH) {
            let places = vec!["?"; batch.len().next_power_of_two()].join(", ");
            let sql = format!(
                "select {column}, {label} from {} where {column} in ({places})",
                escape(&table.name)
            );
            let mut statement = connection.prepare_cached(&sql)?;
            for n in 0..batch.len().next_power_of_two() {
                statement.raw_bind_parameter(n + 1, batch.get(n).unwrap_or(&Value::Null))?;
            }
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                labels.insert(Value::from(row.get_ref(0)?).key(), row.get_ref(1)?.into());
            }
        }
        Ok(labels)
    });
    match found {
        Ok(labels) => Ok(Some(labels)),
        Err(SqlError::TimeLimit) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
