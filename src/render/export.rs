//! Rows as they are exported: CSV, or a JSON object a line, piece after piece.
//! All pieces one after another are the bytes that one piece would have been.

use super::csv::{Columns, CsvContext, blob_url_into};
use super::json_rows::{JsonRows, Options};
use super::links::result_blob;
use crate::db::Value;
use crate::error::Result;
use crate::http::request::Request;
use crate::table::arguments::Shape;
use crate::table::export::TableRows;
use crate::table::request::{Labels, TableRequest};
use crate::table::rows::Rows;

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// CSV.
    Csv {
        /// Whether the first line has the names of the columns.
        has_header: bool,
    },
    /// A JSON object a line.
    JsonLines {
        /// Whether the last line ends with a newline too. Datasette's `_nl` does not.
        ends_lines: bool,
    },
}

/// Rows of a table. `table_url` is the absolute URL of the table, `is_first` says that
/// they are the first ones.
pub fn table(
    rows: &TableRows<'_>,
    form: Form,
    request: &TableRequest,
    table_url: &str,
    is_first: bool,
) -> Result<Vec<u8>> {
    match form {
        Form::Csv { has_header } => {
            let expanded = expanded(rows, &request.labels);
            let columns = Columns {
                names: rows.columns,
                expanded: &expanded,
                labels: rows.labels,
            };
            let context = CsvContext { table_url };
            let key = rows.key_positions();
            columns.lines(rows.rows, has_header && is_first, |url, row, n| {
                let key = key.iter().map(|&n| row.value(n));
                blob_url_into(url, &rows.columns[n], key, &context);
            })
        }
        Form::JsonLines { ends_lines } => {
            let options = options(&request.json_columns, request.json_infinity);
            let lines = JsonRows::new(rows.columns, rows.rows, rows.labels, &options);
            Ok(lines.piece(is_first, ends_lines))
        }
    }
}

/// Rows of the result of a query, which `http` asked for.
pub fn query(
    rows: &Rows,
    form: Form,
    json_columns: &[String],
    json_infinity: bool,
    http: &Request,
    is_first: bool,
) -> Result<Vec<u8>> {
    match form {
        Form::Csv { has_header } => {
            let columns = Columns {
                names: &rows.columns,
                expanded: &[],
                labels: &[],
            };
            columns.lines(rows, has_header && is_first, |url, row, n| {
                if let Value::Blob(bytes) = row.value(n) {
                    url.push_str(&http.origin());
                    url.push_str(&result_blob(http, &rows.columns[n], bytes));
                }
            })
        }
        Form::JsonLines { ends_lines } => {
            let options = options(json_columns, json_infinity);
            let lines = JsonRows::new(&rows.columns, rows, &[], &options);
            Ok(lines.piece(is_first, ends_lines))
        }
    }
}

fn options(json_columns: &[String], infinity: bool) -> Options<'_> {
    Options {
        shape: Shape::Array,
        lines: true,
        infinity,
        json_columns,
    }
}

/// The columns that a label column follows: foreign keys whose labels are wanted.
fn expanded(rows: &TableRows<'_>, labels: &Labels) -> Vec<bool> {
    let keys = &rows.plan.table.foreign_keys;
    let is_key = |name: &String| keys.iter().any(|key| &key.column == name);
    let names = rows.columns.iter();
    names
        .map(|name| labels.include(name) && is_key(name))
        .collect()
}
