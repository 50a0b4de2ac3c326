//! The rows of a page as HTML, written straight into one buffer. The template
//! gets them as a whole: a template engine that goes through each cell would
//! cost more than everything else on the page.

use super::cell::{Head, cell, plain};
use super::display_columns::DisplayColumn;
use super::links::row_path_into;
use crate::db::BorrowedValue;
use crate::row::RowPage;
use crate::table::TablePage;
use crate::table::extras::labels::label_of;
use crate::table::key::Key;
use crate::table::rows::Rows;
use crate::text::{css, html};

/// Bytes that a cell takes about besides those of a text, to size the buffer.
const CELL_BYTES: usize = 48;
/// Bytes of texts that there is room for from the start. They may be cut, or be blobs, which are not shown.
const TEXT_BYTES: usize = 256 << 10;

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
    let mut out = buffer(&page.rows, columns.len());
    let heads: Vec<Head> = columns
        .iter()
        .map(|column| Head::new(&page.plan.table.foreign_keys, column, context))
        .collect();
    let key = page.key_positions();
    let has_key = page.plan.key != Key::None;
    // The prefix in front of it may be any text.
    let table_path = html::escape(context.table_path);
    let mut path = String::new();
    for row in page.rows.iter() {
        let key = || key.iter().map(|&n| row.value(n));
        path.clear();
        if has_key {
            row_path_into(&mut path, key());
            out.push_str("<tr data-row=\"");
            html::escape_into(&mut out, &path);
            out.push_str("\">");
        } else {
            out.push_str("<tr>");
        }
        for (n, head) in heads.iter().enumerate() {
            if n == 0 && has_key {
                out.push_str(&head.open);
                out.push_str("pk\"><a href=\"");
                out.push_str(&table_path);
                out.push('/');
                out.push_str(&path);
                out.push_str("\">");
                row_name(&mut out, key());
                out.push_str("</a></td>");
            } else if let Some(position) = head.position {
                let value = row.value(position);
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
    let mut path = String::new();
    row_path_into(&mut path, page.key_values());
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
        let value = row.value(position);
        let label = label_of(&page.labels, position, value);
        cell(&mut out, &head, value, label, &path, context);
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
    let mut out = buffer(rows, rows.columns.len());
    let heads = rows
        .columns
        .iter()
        .map(|name| format!("<td class=\"col-{}\">", css::class(name)));
    let heads: Vec<String> = heads.collect();
    for row in rows.iter() {
        out.push_str("<tr>");
        for (n, value) in row.values().enumerate() {
            out.push_str(&heads[n]);
            plain(&mut out, value, truncate, |out, bytes| {
                html::escape_into(out, &blob_url(&rows.columns[n], bytes));
            });
            out.push_str("</td>");
        }
        out.push_str("</tr>\n");
    }
    out
}

/// An empty buffer of about the right size.
fn buffer(rows: &Rows, columns: usize) -> String {
    String::with_capacity(rows.len() * columns * CELL_BYTES + rows.bytes().min(TEXT_BYTES))
}

/// A key for people to read.
pub(super) fn row_name<'v>(out: &mut String, key: impl Iterator<Item = BorrowedValue<'v>>) {
    for (n, value) in key.enumerate() {
        if n > 0 {
            out.push(',');
        }
        value.with_display(|text| html::escape_into(out, text));
    }
}
