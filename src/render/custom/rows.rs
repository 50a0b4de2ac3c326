//! Rows for templates: `display_rows`, a list of cells for each row, and `rows`, an object for each row.

use serde::Serialize;
use serde_json::{Map, Value as Json};
use tera::Value as Tera;

use crate::db::{BorrowedValue, Value};
use crate::render::cells::row_name;
use crate::render::display_columns::DisplayColumn;
use crate::render::json::to_json;
use crate::table::rows::Rows;
use crate::text::html;

/// A cell as `display_rows` has it.
#[derive(Serialize)]
pub(super) struct Cell {
    /// The column.
    pub column: String,
    /// HTML, which templates print as it is.
    pub value: Tera,
    /// The value of the database.
    pub raw: Json,
    /// `int`, `float`, `str`, `bytes` or `none`; `pk` for the link to the row.
    pub value_type: &'static str,
    /// Whether it only leads to the row.
    pub is_special_link_column: bool,
}

impl Cell {
    /// The cell of a value.
    pub fn new(column: &str, html: &str, value: BorrowedValue<'_>) -> Self {
        Self {
            column: column.to_owned(),
            value: Tera::safe_string(html),
            raw: raw(value),
            value_type: match value {
                Value::Null => "none",
                Value::Integer(_) => "int",
                Value::Real(_) => "float",
                Value::Text(_) => "str",
                Value::Blob(_) => "bytes",
            },
            is_special_link_column: false,
        }
    }
}

/// The cell that leads to its row, `path` below `table`, both for URLs.
pub(super) fn link(
    column: &DisplayColumn,
    table: &str,
    path: &str,
    key: &[BorrowedValue<'_>],
) -> Cell {
    let mut anchor = String::from("<a href=\"");
    html::escape_into(&mut anchor, table);
    anchor.push('/');
    html::escape_into(&mut anchor, path);
    anchor.push_str("\">");
    row_name(&mut anchor, key.iter().copied());
    anchor.push_str("</a>");
    Cell {
        column: column.name.clone(),
        value: Tera::safe_string(&anchor),
        raw: match key {
            [only] => raw(*only),
            _ => path.into(),
        },
        value_type: "pk",
        is_special_link_column: column.is_link,
    }
}

/// A value as the JSON of the page has it.
pub(super) fn raw(value: BorrowedValue<'_>) -> Json {
    to_json(&value.owned())
}

/// An object for each row, by column, in the order of the columns.
pub(super) fn objects(columns: &[String], rows: &Rows) -> Vec<Map<String, Json>> {
    rows.iter()
        .map(|row| {
            let values = columns.iter().zip(row.values());
            values
                .map(|(column, value)| (column.clone(), raw(value)))
                .collect()
        })
        .collect()
}
