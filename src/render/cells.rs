//! The rows of a page as HTML, written straight into one buffer. The template
//! gets them as a whole: a template engine that goes through each cell would
//! cost more than everything else on the page.

use super::display_columns::DisplayColumn;
use super::links::{row_name, row_path};
use crate::db::Value;
use crate::db::schema::ForeignKey;
use crate::row::RowPage;
use crate::table::TablePage;
use crate::table::extras::labels::label_of;
use crate::table::key::Key;
use crate::table::rows::Rows;
use crate::text::{css, html, human, number, query, tilde};

/// Bytes that a cell takes about, to size the buffer.
const CELL_BYTES: usize = 64;

/// What cells need besides their values.
pub struct CellContext<'c> {
    /// The path of the table, with the prefix.
    pub table_path: &'c str,
    /// The path of the database, with the prefix.
    pub database_path: &'c str,
    /// Characters of a cell at the most; 0 is no limit.
    pub truncate: usize,
}

/// `<tr>…</tr>` for every row of a table page.
pub fn rows(page: &TablePage, columns: &[DisplayColumn], context: &CellContext<'_>) -> String {
    let mut out = String::with_capacity(page.rows.len() * columns.len() * CELL_BYTES);
    let heads: Vec<Head> = columns
        .iter()
        .map(|column| Head::new(&page.plan.table.foreign_keys, column, context))
        .collect();
    let key = page.key_positions();
    for row in page.rows.iter() {
        let key = || key.iter().map(|&n| &row[n]);
        let path = if page.plan.key == Key::None {
            String::new()
        } else {
            row_path(key())
        };
        if path.is_empty() && page.plan.key == Key::None {
            out.push_str("<tr>");
        } else {
            out.push_str("<tr data-row=\"");
            html::escape_into(&mut out, &path);
            out.push_str("\">");
        }
        for (n, head) in heads.iter().enumerate() {
            if n == 0 && page.plan.key != Key::None {
                out.push_str(&head.open);
                out.push_str("pk\"><a href=\"");
                out.push_str(context.table_path);
                out.push('/');
                out.push_str(&path);
                out.push_str("\">");
                html::escape_into(&mut out, &row_name(key()));
                out.push_str("</a></td>");
            } else if let Some(position) = head.position {
                let value = &row[position];
                let label = page.label(position, value);
                cell(&mut out, head, value, label, &path, context);
            }
        }
        out.push_str("</tr>\n");
    }
    out
}

/// `<tr>…</tr>` for the one row of a row page. The values of the key stand out.
pub fn row(page: &RowPage, columns: &[DisplayColumn], context: &CellContext<'_>) -> String {
    let path = row_path(page.key_values());
    let mut out = String::from("<tr data-row=\"");
    html::escape_into(&mut out, &path);
    out.push_str("\">");
    for column in columns {
        let head = Head {
            strong: column.is_pk,
            ..Head::new(&page.table.foreign_keys, column, context)
        };
        let Some((position, row)) = head.position.zip(page.row()) else {
            continue;
        };
        let label = label_of(&page.labels, position, &row[position]);
        cell(&mut out, &head, &row[position], label, &path, context);
    }
    out.push_str("</tr>\n");
    out
}

/// `<tr>…</tr>` for every row of a result, of whose columns no more is known
/// than their names. `blob_url` is where the bytes in a column can be downloaded.
pub fn result_rows(
    rows: &Rows,
    truncate: usize,
    blob_url: impl Fn(&str, &[u8]) -> String,
) -> String {
    let mut out = String::with_capacity(rows.len() * rows.columns.len() * CELL_BYTES);
    let heads = rows
        .columns
        .iter()
        .map(|name| format!("<td class=\"col-{}\">", css::class(name)));
    let heads: Vec<String> = heads.collect();
    for row in rows.iter() {
        out.push_str("<tr>");
        for (n, value) in row.iter().enumerate() {
            out.push_str(&heads[n]);
            plain(&mut out, value, truncate, |bytes| {
                blob_url(&rows.columns[n], bytes)
            });
            out.push_str("</td>");
        }
        out.push_str("</tr>\n");
    }
    out
}

/// What all cells of a column have in common.
struct Head {
    /// `<td class="col-NAME type-`
    open: String,
    /// The column's name in a query string.
    encoded: String,
    /// The path of the table that its foreign key points at.
    other_path: Option<String>,
    position: Option<usize>,
    /// Whether the values stand out.
    strong: bool,
}

impl Head {
    fn new(keys: &[ForeignKey], column: &DisplayColumn, context: &CellContext<'_>) -> Self {
        let other = keys.iter().find(|key| key.column == column.name);
        let mut encoded = String::new();
        query::encode_into(&mut encoded, &column.name);
        Self {
            open: format!("<td class=\"col-{} type-", css::class(&column.name)),
            encoded,
            other_path: other.map(|key| {
                format!(
                    "{}/{}",
                    context.database_path,
                    tilde::encode(key.other_table.as_bytes())
                )
            }),
            position: column.position,
            strong: false,
        }
    }
}

fn cell(
    out: &mut String,
    head: &Head,
    value: &Value,
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
    match (label, &head.other_path) {
        (Some(label), Some(other)) => labelled(out, value, label, other),
        _ => plain(out, value, context.truncate, |_| {
            let (table, column) = (context.table_path, &head.encoded);
            format!("{table}/{row_path}.blob?_blob_column={column}")
        }),
    }
    if head.strong {
        out.push_str("</strong>");
    }
    out.push_str("</td>");
}

fn labelled(out: &mut String, value: &Value, label: &Value, other_path: &str) {
    out.push_str("<a href=\"");
    out.push_str(other_path);
    out.push('/');
    out.push_str(&row_path(std::iter::once(value)));
    out.push_str("\">");
    let id = value.display();
    if label.key() == value.key() {
        html::escape_into(out, &id);
        out.push_str("</a>");
        return;
    }
    let text = if label.is_null() {
        "-".into()
    } else {
        label.display()
    };
    html::escape_into(out, if text.is_empty() { "-" } else { &text });
    out.push_str("</a>&nbsp;<em>");
    html::escape_into(out, &id);
    out.push_str("</em>");
}

fn plain(out: &mut String, value: &Value, truncate: usize, blob_url: impl FnOnce(&[u8]) -> String) {
    match value {
        Value::Null => out.push_str("&nbsp;"),
        Value::Integer(i) => {
            let mut digits = itoa::Buffer::new();
            out.push_str(digits.format(*i));
        }
        Value::Real(_) => out.push_str(&value.display()),
        Value::Blob(bytes) => blob(out, bytes.len(), &blob_url(bytes)),
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
    } else if truncate > 0 && text.len() > truncate {
        html::escape_into(out, &human::truncate(text, truncate));
    } else {
        html::escape_into(out, text);
    }
}

fn blob(out: &mut String, bytes: usize, url: &str) {
    let size = human::bytes(bytes as u64);
    out.push_str("<a class=\"blob-download\" href=\"");
    html::escape_into(out, url);
    out.push('"');
    if !size.ends_with("bytes") {
        out.push_str(" title=\"");
        out.push_str(&size);
        out.push('"');
    }
    out.push_str(">&lt;Binary:&nbsp;");
    out.push_str(&number::thousands(bytes as u64));
    out.push_str(if bytes == 1 {
        "&nbsp;byte&gt;</a>"
    } else {
        "&nbsp;bytes&gt;</a>"
    });
}
