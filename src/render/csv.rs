//! Rows as CSV (RFC 4180, lines ended by CR LF), written by the `csv` crate.

use csv::{QuoteStyle, Terminator, Writer, WriterBuilder};

use super::links::row_path;
use crate::db::Value;
use crate::error::{Error, Result};
use crate::table::TablePage;
use crate::table::extras::labels::{Labels, label_of};
use crate::text::query;

/// What the rows of a table need besides their values.
pub struct CsvContext<'c> {
    /// The absolute URL of the table, for links to blobs.
    pub table_url: &'c str,
}

/// Columns of CSV.
pub struct Columns<'c> {
    /// The names; rows may have more values, which are left out.
    pub names: &'c [String],
    /// Those that a column with their labels follows; those beyond its end are not.
    pub expanded: &'c [bool],
    /// The labels by column.
    pub labels: &'c [Option<Labels>],
}

impl Columns<'_> {
    fn is_expanded(&self, n: usize) -> bool {
        self.expanded.get(n).copied().unwrap_or(false)
    }

    /// The header line: each column, and `COLUMN_label` after one that is labelled.
    pub fn header(&self) -> Result<Vec<u8>> {
        let mut names = Vec::new();
        for (n, name) in self.names.iter().enumerate() {
            names.push(name.clone());
            if self.is_expanded(n) {
                names.push(format!("{name}_label"));
            }
        }
        let mut writer = writer();
        write(&mut writer, &names)?;
        finish(writer)
    }

    /// A line for each row. CSV has no bytes: `blob_url` is where those of a
    /// column (by position) of a row can be downloaded.
    pub fn rows<'v>(
        &self,
        rows: impl Iterator<Item = &'v [Value]>,
        blob_url: impl Fn(&'v [Value], usize) -> String,
    ) -> Result<Vec<u8>> {
        let mut writer = writer();
        let mut record: Vec<Vec<u8>> = Vec::new();
        for row in rows {
            record.clear();
            for n in 0..self.names.len() {
                let value = &row[n];
                record.push(match value {
                    Value::Blob(_) => blob_url(row, n).into_bytes(),
                    other => field(other),
                });
                if self.is_expanded(n) {
                    let label = label_of(self.labels, n, value);
                    record.push(label.map(field).unwrap_or_default());
                }
            }
            write(&mut writer, &record)?;
        }
        finish(writer)
    }
}

/// The header line of a table.
pub fn header(page: &TablePage, expanded: &[bool]) -> Result<Vec<u8>> {
    of_table(page, expanded).header()
}

/// The rows of one page of a table.
pub fn rows(page: &TablePage, expanded: &[bool], context: &CsvContext<'_>) -> Result<Vec<u8>> {
    let key = page.key_positions();
    of_table(page, expanded).rows(page.rows.iter(), |row, n| {
        let key = key.iter().map(|&n| &row[n]);
        blob_url(&page.columns()[n], key, context)
    })
}

fn of_table<'p>(page: &'p TablePage, expanded: &'p [bool]) -> Columns<'p> {
    Columns {
        names: page.columns(),
        expanded,
        labels: &page.labels,
    }
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

/// Where the bytes in `column` of the row with that key can be downloaded.
pub fn blob_url<'v>(
    column: &str,
    key: impl Iterator<Item = &'v Value>,
    context: &CsvContext<'_>,
) -> String {
    let query = query::encode(std::iter::once(("_blob_column", column)));
    format!("{}/{}.blob?{query}", context.table_url, row_path(key))
}
