//! Labels of foreign keys: the name of the row that a value points at.

pub use super::label_map::Labels;
use crate::config::Config;
use crate::db::schema::{ForeignKey, Schema, Table};
use crate::db::snapshot::SqlError;
use crate::db::{BorrowedValue, Limit, PageSnapshot, Value};
use crate::error::Result;
use crate::table::rows::Rows;
use crate::text::identifier::escape;

/// Values looked up by one statement. The number of placeholders is rounded up
/// to a power of two up to here, so that few statements serve all pages.
const BATCH: usize = 512;

/// The label of a value in the column at `position`, given the labels by column.
pub fn label_of<'l>(
    labels: &'l [Option<Labels>],
    position: usize,
    value: BorrowedValue<'_>,
) -> Option<&'l Value> {
    labels.get(position)?.as_ref()?.get(value)
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
    pub fn values<'v>(
        &self,
        key: &ForeignKey,
        values: impl Iterator<Item = BorrowedValue<'v>>,
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
                let values = rows.iter().map(|row| row.value(position));
                found[position] = self.values(key, values)?;
            }
        }
        Ok(found)
    }
}

/// Looks up the labels of `values` of a foreign key. Values that point at no
/// row, or at a table that does not exist, get none. A table without a label
/// column labels its rows with the value itself. `None` if the time limit struck.
fn labels<'v>(
    snapshot: &PageSnapshot<'_>,
    schema: &Schema,
    key: &ForeignKey,
    label_column: Option<&str>,
    values: impl Iterator<Item = BorrowedValue<'v>>,
    limit: Limit,
) -> Result<Option<Labels>> {
    let Some(table) = schema.find(&key.other_table).filter(|_| key.other_exists) else {
        return Ok(Some(Labels::default()));
    };
    let Some(label_column) = label_column else {
        return Ok(Some(by_themselves(values)));
    };
    let mut values: Vec<_> = values.filter(|value| !value.is_null()).collect();
    values.sort_unstable_by(BorrowedValue::compare);
    values.dedup_by(|a, b| a.compare(b).is_eq());
    let (column, label) = (escape(&key.other_column), escape(label_column));
    let found = snapshot.read(limit, |connection| {
        let mut labels = Labels::default();
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
                labels.insert(row.get_ref(0)?.into(), row.get_ref(1)?.into());
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

/// Each value labelled with its own text.
fn by_themselves<'v>(values: impl Iterator<Item = BorrowedValue<'v>>) -> Labels {
    let mut labels = Labels::default();
    for value in values {
        value.with_display(|text| {
            let label = labels.get(value).map(Value::borrowed);
            // Most values come many times.
            if label != Some(Value::Text(text.as_bytes())) {
                labels.insert(value, Value::text(text));
            }
        });
    }
    labels
}
