//! One cell of a page as HTML.

use super::cells::CellContext;
use super::display_columns::DisplayColumn;
use super::links::row_path_into;
use crate::db::schema::ForeignKey;
use crate::db::{BorrowedValue, Value};
use crate::text::{css, html, human, number, query, tilde};

/// What all cells of a column have in common.
pub(super) struct Head {
    /// `<td class="col-NAME type-`
    pub open: String,
    /// The column's name in a query string.
    pub encoded: String,
    /// The path of the table that its foreign key points at, escaped for HTML.
    pub other_path: Option<String>,
    /// The position of the column among the rows'.
    pub position: Option<usize>,
    /// Whether the values stand out.
    pub strong: bool,
}

impl Head {
    /// For a column, given the foreign keys of the table.
    pub fn new(keys: &[ForeignKey], column: &DisplayColumn, context: &CellContext<'_>) -> Self {
        let other = keys.iter().find(|key| key.column == column.name);
        let mut encoded = String::new();
        query::encode_into(&mut encoded, &column.name);
        Self {
            open: format!("<td class=\"col-{} type-", css::class(&column.name)),
            encoded,
            other_path: other.map(|key| {
                let other_table = tilde::encode(key.other_table.as_bytes());
                html::escape(&format!("{}/{other_table}", context.database_path))
            }),
            position: column.position,
            strong: false,
        }
    }
}

/// Appends a cell, its `<td>` and all.
pub(super) fn cell(
    out: &mut String,
    head: &Head,
    value: BorrowedValue<'_>,
    label: Option<&Value>,
    row_path: &str,
    context: &CellContext<'_>,
) {
    out.push_str(&head.open);
    out.push_str(match value {
        Value::Null => "none\">",
        Value::Integer(_) => "int\">",
        Value::Real(_) => "float\">",
        Value::Text(_) => "str\">",
        Value::Blob(_) => "bytes\">",
    });
    if head.strong {
        out.push_str("<strong>");
    }
    content(out, head, value, label, row_path, context);
    if head.strong {
        out.push_str("</strong>");
    }
    out.push_str("</td>");
}

/// Appends what is inside of a cell.
pub(super) fn content(
    out: &mut String,
    head: &Head,
    value: BorrowedValue<'_>,
    label: Option<&Value>,
    row_path: &str,
    context: &CellContext<'_>,
) {
    match (label, &head.other_path, value) {
        (Some(label), Some(other), _) => labelled(out, value, label, other),
        // A row of a view has no address, and so its bytes have none.
        (_, _, Value::Blob(bytes)) if row_path.is_empty() => {
            out.push_str("<span class=\"blob\">");
            byte_count(out, bytes.len() as u64);
            out.push_str("</span>");
        }
        _ => plain(out, value, context.truncate, |out, _| {
            html::escape_into(out, context.table_path);
            out.push('/');
            html::escape_into(out, row_path);
            out.push_str(".blob?_blob_column=");
            html::escape_into(out, &head.encoded);
        }),
    }
}

fn labelled(out: &mut String, value: BorrowedValue<'_>, label: &Value, other_path: &str) {
    out.push_str("<a href=\"");
    out.push_str(other_path);
    out.push('/');
    row_path_into(out, std::iter::once(value));
    out.push_str("\">");
    if label.borrowed().compare(&value).is_eq() {
        value.with_display(|id| html::escape_into(out, id));
        out.push_str("</a>");
        return;
    }
    if label.is_null() {
        out.push('-');
    } else {
        label.with_display(|text| {
            html::escape_into(out, if text.is_empty() { "-" } else { text });
        });
    }
    out.push_str("</a>&nbsp;<em>");
    value.with_display(|id| html::escape_into(out, id));
    out.push_str("</em>");
}

/// Appends what a value looks like by itself. `blob_url` appends, escaped, where
/// its bytes can be downloaded.
pub(super) fn plain(
    out: &mut String,
    value: BorrowedValue<'_>,
    truncate: usize,
    blob_url: impl FnOnce(&mut String, &[u8]),
) {
    match value {
        Value::Null => out.push_str("&nbsp;"),
        Value::Integer(_) | Value::Real(_) => value.with_display(|digits| out.push_str(digits)),
        Value::Blob(bytes) => blob(out, bytes, blob_url),
        Value::Text(bytes) => text(out, &String::from_utf8_lossy(bytes), truncate),
    }
}

fn text(out: &mut String, text: &str, truncate: usize) {
    if text.is_empty() {
        out.push_str("&nbsp;");
        return;
    }
    let stripped = text.trim();
    if human::is_url(stripped) {
        out.push_str("<a href=\"");
        html::escape_into(out, stripped);
        out.push_str("\">");
        html::escape_into(out, &human::truncate_url(stripped, truncate));
        out.push_str("</a>");
    } else if let Some(start) = human::cut(text, truncate) {
        html::escape_into(out, start);
        out.push('…');
    } else {
        html::escape_into(out, text);
    }
}

fn blob(out: &mut String, bytes: &[u8], url: impl FnOnce(&mut String, &[u8])) {
    let count = bytes.len() as u64;
    out.push_str("<a class=\"blob-download\" href=\"");
    url(out, bytes);
    out.push('"');
    let size = human::bytes(count);
    if !size.ends_with("bytes") {
        out.push_str(" title=\"");
        out.push_str(&size);
        out.push('"');
    }
    out.push('>');
    byte_count(out, count);
    out.push_str("</a>");
}

/// `<Binary: 1,234 bytes>`
fn byte_count(out: &mut String, count: u64) {
    out.push_str("&lt;Binary:&nbsp;");
    number::thousands_into(out, count);
    out.push_str(if count == 1 {
        "&nbsp;byte&gt;"
    } else {
        "&nbsp;bytes&gt;"
    });
}
