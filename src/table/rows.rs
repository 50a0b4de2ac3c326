//! Rows as they come from SQLite.

use rusqlite::{Connection, ToSql};

use super::filters::Params;
use crate::db::Value;

/// The rows of a page: one block of values, row after row.
#[derive(Debug, Default, Clone)]
pub struct Rows {
    /// Names of the columns, as SQLite gives them.
    pub columns: Vec<String>,
    values: Vec<Value>,
}

impl Rows {
    /// Runs `sql` and keeps at most `limit` rows, whatever the SQL says.
    pub fn query(
        connection: &Connection,
        sql: &str,
        params: &Params,
        limit: usize,
    ) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare_cached(sql)?;
        let columns: Vec<String> = statement
            .column_names()
            .into_iter()
            .map(str::to_owned)
            .collect();
        bind(&mut statement, params)?;
        Ok(Self::take(columns, &mut statement.raw_query(), limit, usize::MAX)?.0)
    }

    /// Takes up to `limit` rows from a statement that is under way, and stops
    /// earlier when their texts and blobs have more than `most` bytes. Says too
    /// whether the statement has ended.
    pub fn take(
        columns: Vec<String>,
        rows: &mut rusqlite::Rows<'_>,
        limit: usize,
        most: usize,
    ) -> rusqlite::Result<(Self, bool)> {
        let mut values = Vec::with_capacity(columns.len() * limit.min(128));
        let mut bytes = 0_usize;
        for _ in 0..limit {
            let Some(row) = rows.next()? else {
                return Ok((Self { columns, values }, true));
            };
            for n in 0..columns.len() {
                let value: Value = row.get_ref(n)?.into();
                if let Value::Text(data) | Value::Blob(data) = &value {
                    bytes = bytes.saturating_add(data.len());
                }
                values.push(value);
            }
            if bytes > most {
                break;
            }
        }
        Ok((Self { columns, values }, false))
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values
            .len()
            .checked_div(self.columns.len())
            .unwrap_or(0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The rows, each a slice of its values.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[Value]> + ExactSizeIterator {
        self.values.chunks_exact(self.columns.len().max(1))
    }

    /// Keeps the first `count` rows.
    pub fn truncate(&mut self, count: usize) {
        self.values.truncate(count * self.columns.len());
    }

    /// Takes the last column off.
    pub fn drop_last_column(&mut self) {
        let width = self.columns.len();
        if self.columns.pop().is_some() {
            let mut n = 0;
            self.values.retain(|_| {
                n += 1;
                n % width != 0
            });
        }
    }

    /// The position of a column.
    pub fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|name| name == column)
    }
}

/// Binds named parameters. One that the SQL does not use is left out; one that
/// it uses and nobody gave stays NULL.
pub fn bind(statement: &mut rusqlite::Statement<'_>, params: &Params) -> rusqlite::Result<()> {
    let mut key = String::new();
    for (name, value) in params {
        key.clear();
        key.push(':');
        key.push_str(name);
        if let Some(index) = statement.parameter_index(&key)? {
            statement.raw_bind_parameter(index, value)?;
        }
    }
    Ok(())
}

/// The same parameters in the form that `rusqlite`'s own calls take, with their `:`.
pub fn with_colons(params: &Params) -> Vec<(String, &dyn ToSql)> {
    params
        .iter()
        .map(|(name, value)| (format!(":{name}"), value as &dyn ToSql))
        .collect()
}
