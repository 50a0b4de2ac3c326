//! CSV of a table page (RFC 4180, lines ended by CR LF), written by the `csv` crate.

use csv::{QuoteStyle, Terminator, Writer, WriterBuilder};

use super::links::row_path;
use crate::db::Value;
use crate::error::{Error, Result};
use crate::table::TablePage;
use crate::text::query;

/// What the rows need besides their values.
pub struct CsvContext<'c> {
    /// The absolute URL of the table, for links to blobs.
    pub table_url: &'c str,
}

fn writer() -> Writer<Vec<u8>> {
    WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .quote_style(QuoteStyle::Necessary)
        .flexible(true)
        .from_writer(Vec::new())
}

fn finish(writer: Writer<Vec<u8>>) -> Result<Vec<u8>> {
    writer
        .into_inner()
        .map_err(|error| Error::Internal(format!("CSV: {error}")))
}

/// The header line: each column, and `COLUMN_label` after one that is labelled.
pub fn header(page: &TablePage, expanded: &[bool]) -> Result<Vec<u8>> {
    let mut names = Vec::new();
    for (n, name) in page.columns().iter().enumerate() {
        names.push(name.clone());
        if expanded[n] {
            names.push(format!("{name}_label"));
        }
    }
    let mut writer = writer();
    write(&mut writer, &names)?;
    finish(writer)
}

/// The rows of one page.
pub fn rows(page: &TablePage, expanded: &[bool], context: &CsvContext<'_>) -> Result<Vec<u8>> {
    let mut writer = writer();
    let key = page.key_positions();
    let mut record: Vec<Vec<u8>> = Vec::new();
    for row in page.rows.iter() {
        record.clear();
        for (n, name) in page.columns().iter().enumerate() {
            let value = &row[n];
            record.push(match value {
                Value::Blob(_) => {
                    blob_url(name, key.iter().map(|&n| &row[n]), context).into_bytes()
                }
                other => field(other),
            });
            if expanded[n] {
                record.push(page.label(n, value).map(field).unwrap_or_default());
            }
        }
        write(&mut writer, &record)?;
    }
    finish(writer)
}

fn write<T: AsRef<[u8]>>(writer: &mut Writer<Vec<u8>>, record: &[T]) -> Result<()> {
    writer
        .write_record(record)
        .map_err(|error| Error::Internal(format!("CSV: {error}")))
}

/// NULL is an empty field. Invalid UTF-8 becomes replacement characters: the file says that it is UTF-8.
fn field(value: &Value) -> Vec<u8> {
    match value {
        Value::Null => Vec::new(),
        other => other.display().into_owned().into_bytes(),
    }
}

fn blob_url<'v>(
    column: &str,
    key: impl Iterator<Item = &'v Value>,
    context: &CsvContext<'_>,
) -> String {
    let query = query::encode(std::iter::once(("_blob_column", column)));
    format!("{}/{}.blob?{query}", context.table_url, row_path(key))
}
