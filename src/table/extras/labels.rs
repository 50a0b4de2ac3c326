//! Labels of foreign keys: the name of the row that a value points at.

use std::collections::HashMap;

use crate::config::Config;
use crate::db::schema::{ForeignKey, Schema, Table};
use crate::db::snapshot::SqlError;
use crate::db::value::Key;
use crate::db::{BorrowedValue, Limit, PageSnapshot, Value};
use crate::error::Result;
use crate::table::rows::Rows;
use crate::text::identifier::escape;

/// Values looked up by one statement. The number of placeholders is rounded up
/// to a power of two up to here, so that few statements serve all pages.
const BATCH: usize = 512;

/// Labels by the value that they stand for.
pub type Labels = HashMap<Key, Value>;

/// The label of a value in the column at `position`, given the labels by column.
pub fn label_of<'l>(
    labels: &'l [Option<Labels>],
    position: usize,
    value: &Value,
) -> Option<&'l Value> {
    if value.is_null() {
        return None;
    }
    labels.get(position)?.as_ref()?.get(&value.key())
}

/// The column that labels the rows of a table, by configuration or by the schema.
pub fn label_column<'a>(config: &'a Config, database: &str, table: &'a Table) -> Option<&'a str> {
    config
        .table(database, &table.name)
        .label_column
        .as_deref()
        .or(table.label_column.as_deref())
}

/// What labels are looked up in.
#[derive(Clone, Copy)]
pub struct Lookup<'l> {
    /// Which columns label rows.
    pub config: &'l Config,
    /// The name of the database.
    pub database: &'l str,
    /// Its schema.
    pub schema: &'l Schema,
    /// Its state.
    pub snapshot: &'l PageSnapshot<'l>,
    /// For each foreign key.
    pub limit: Limit,
}

impl Lookup<'_> {
    /// The labels of `values` of a foreign key; `None` if the time limit struck.
    pub fn values(
        &self,
        key: &ForeignKey,
        values: impl Iterator<Item = Value>,
    ) -> Result<Option<Labels>> {
        let table = self.schema.find(&key.other_table);
        let column = table.and_then(|table| label_column(self.config, self.database, table));
        labels(self.snapshot, self.schema, key, column, values, self.limit)
    }

    /// The labels of `keys` in rows, by the position of the column.
    pub fn rows<'k>(
        &self,
        keys: impl Iterator<Item = &'k ForeignKey>,
        rows: &Rows,
    ) -> Result<Vec<Option<Labels>>> {
        let mut found = vec![None; rows.columns.len()];
        for key in keys {
            if let Some(position) = rows.position(&key.column) {
                let values = rows.iter().map(|row| row[position].clone());
                found[position] = self.values(key, values)?;
            }
        }
        Ok(found)
    }
}

/// Looks up the labels of `values` of a foreign key. Values that point at no
/// row, or at a table that does not exist, get none. A table without a label
/// column labels its rows with the value itself. `None` if the time limit struck.
fn labels(
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
                let value = BorrowedValue::from(row.get_ref(0)?);
                labels.insert(value.key(), row.get_ref(1)?.into());
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
