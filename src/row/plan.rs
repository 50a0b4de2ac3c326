//! From a key in an address to the SQL that finds its row.

use std::sync::Arc;

use super::RowRequest;
use crate::db::Value;
use crate::db::schema::Table;
use crate::error::{Error, Result};
use crate::table::filters::Params;
use crate::table::key::{Key, hidden_rowid, key_of};
use crate::text::identifier::{escape, quote};
use crate::text::python_bytes;

/// Readings of a key that are tried at the most. Each part has up to three.
const READINGS: usize = 64;

/// [`Column::hidden`](crate::db::schema::Column::hidden) of a column that `*` leaves out.
const HIDDEN: u8 = 1;

/// What to run for a row.
pub struct RowPlan {
    /// The table.
    pub table: Arc<Table>,
    /// How its rows are told apart.
    pub key: Key,
    /// The columns of the key.
    pub key_columns: Vec<String>,
    /// The query as it is shown.
    pub sql: String,
    /// Finds the row by the texts of its key. SQLite turns a text into what the
    /// column holds, where the column has a type. The columns are named, so that a
    /// statement from before a change of the schema can't give others.
    pub find_sql: String,
    /// Finds the row by typed values.
    pub exact_sql: String,
    /// The readings of the key, the most likely first. The first is that of texts.
    pub readings: Vec<Params>,
}

impl RowPlan {
    /// Writes the plan. [`Error::BadRequest`] for a key that does not fit the table,
    /// [`Error::NotFound`] if its rows have no pages.
    pub fn new(request: &RowRequest, table: &Arc<Table>) -> Result<Self> {
        if let Some(reason) = &table.broken {
            return Err(Error::InvalidSql(format!(
                "{} can't be read: {reason}",
                table.name
            )));
        }
        let (key, key_columns) = key_of(table);
        if key == Key::None {
            return Err(Error::NotFound(format!(
                "{} has no key: its rows have no pages of their own",
                table.name
            )));
        }
        if request.key.len() != key_columns.len() {
            return Err(Error::BadRequest(format!(
                "The address has {} key values, and the key of this table is {}",
                request.key.len(),
                key_columns.join(", ")
            )));
        }
        let shown = table
            .columns
            .iter()
            .filter(|column| column.hidden != HIDDEN);
        let columns: Vec<_> = shown.map(|column| escape(&column.name)).collect();
        let columns = columns.join(", ");
        Ok(Self {
            sql: sql(table, key, &key_columns, "*", "="),
            find_sql: sql(table, key, &key_columns, &columns, "="),
            exact_sql: sql(table, key, &key_columns, &columns, " is "),
            readings: readings(&request.key),
            table: table.clone(),
            key,
            key_columns,
        })
    }

    /// How many columns at the end of a row are not shown.
    pub fn hidden_columns(&self) -> usize {
        usize::from(self.key == Key::HiddenRowid)
    }
}

fn sql(table: &Table, key: Key, key_columns: &[String], all: &str, compare: &str) -> String {
    let columns = match key {
        Key::Rowid => format!("rowid, {all}"),
        Key::HiddenRowid => format!("{all}, {}", hidden_rowid(key_columns)),
        Key::Primary | Key::None => all.to_owned(),
    };
    let conditions: Vec<String> = key_columns
        .iter()
        .enumerate()
        // Always in quotes, as `_extra=query` shows it in Datasette.
        .map(|(n, name)| format!("{}{compare}:p{n}", quote(name)))
        .collect();
    format!(
        "select {columns} from {} where {}",
        escape(&table.name),
        conditions.join(" AND ")
    )
}

/// What the texts of a key may stand for. A column without a type holds any
/// value, and a key may even hold NULL; their texts are those of [`Value::display`].
fn readings(key: &[Vec<u8>]) -> Vec<Params> {
    let mut readings = vec![Params::new()];
    for (n, part) in key.iter().enumerate() {
        let values = values(part);
        // The last part changes fastest, so the reading of texts alone stays first.
        let mut longer = Vec::with_capacity(readings.len() * values.len());
        for reading in &readings {
            for value in &values {
                let mut reading = reading.clone();
                reading.push((format!("p{n}"), value.clone()));
                longer.push(reading);
            }
        }
        longer.truncate(READINGS);
        readings = longer;
    }
    readings
}

fn values(part: &[u8]) -> Vec<Value> {
    let mut values = vec![Value::Text(part.into())];
    let Ok(text) = std::str::from_utf8(part) else {
        return values;
    };
    if let Ok(integer) = text.parse() {
        values.push(Value::Integer(integer));
    } else if let Some(real) = text.parse().ok().filter(|real: &f64| !real.is_nan()) {
        values.push(Value::Real(real));
    } else if text == "None" {
        values.push(Value::Null);
    } else if let Some(bytes) = python_bytes::parse(text) {
        values.push(Value::Blob(bytes.into()));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_a_text_first_and_then_what_is_shown_so() {
        let blob = |bytes: &[u8]| Value::Blob(bytes.into());
        for (part, other) in [
            ("7", Some(Value::Integer(7))),
            ("-1.5", Some(Value::Real(-1.5))),
            ("inf", Some(Value::Real(f64::INFINITY))),
            ("None", Some(Value::Null)),
            ("b'\\x00a'", Some(blob(b"\0a"))),
            ("nan", None),
            ("abc", None),
            ("", None),
        ] {
            let expected: Vec<Value> = std::iter::once(Value::text(part)).chain(other).collect();
            assert_eq!(values(part.as_bytes()), expected, "{part}");
        }
    }

    #[test]
    fn all_texts_come_first_and_readings_are_bounded() {
        let many = vec![b"1".to_vec(); 20];
        let readings = readings(&many);
        assert!(readings.len() <= READINGS);
        assert!(
            readings[0]
                .iter()
                .all(|(_, value)| *value == Value::text("1"))
        );
        assert_eq!(readings[0].len(), 20);
    }
}
