//! Rows as CSV (RFC 4180, lines ended by CR LF), written by the `csv` crate.

use csv::{QuoteStyle, Terminator, Writer, WriterBuilder};

use super::links::{BLOB_COLUMN, row_path_into};
use crate::db::{BorrowedValue, Value};
use crate::error::{Error, Result};
use crate::table::block::Row;
use crate::table::extras::labels::{Labels, label_of};
use crate::table::rows::Rows;
use crate::text::query;

/// Bytes that a value takes about besides those of a text, to size the buffer.
const VALUE_BYTES: usize = 6;
/// Bytes of texts that there is room for from the start. They may be blobs, which are not written.
const TEXT_BYTES: usize = 1 << 20;

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

    /// A line for each row, with `has_header` after that of the names. CSV has
    /// no bytes: `blob_url` appends where those of a column (by position) of a
    /// row can be downloaded.
    pub fn lines(
        &self,
        rows: &Rows,
        has_header: bool,
        blob_url: impl Fn(&mut String, Row<'_>, usize),
    ) -> Result<Vec<u8>> {
        self.write(rows, has_header, blob_url)
            .map_err(|error| Error::Internal(format!("CSV: {error}")))
    }

    fn write(
        &self,
        rows: &Rows,
        has_header: bool,
        blob_url: impl Fn(&mut String, Row<'_>, usize),
    ) -> csv::Result<Vec<u8>> {
        let values = rows.len() * self.names.len();
        let bytes = rows.bytes().min(TEXT_BYTES);
        let mut writer = WriterBuilder::new()
            .terminator(Terminator::CRLF)
            .quote_style(QuoteStyle::Necessary)
            .flexible(true)
            .from_writer(Vec::with_capacity(values * VALUE_BYTES + bytes));
        if has_header {
            self.header(&mut writer)?;
        }
        let mut url = String::new();
        for row in rows.iter() {
            for (n, value) in row.values().take(self.names.len()).enumerate() {
                if matches!(value, Value::Blob(_)) {
                    url.clear();
                    blob_url(&mut url, row, n);
                    writer.write_field(&url)?;
                } else {
                    field(&mut writer, value)?;
                }
                if self.is_expanded(n) {
                    let label = label_of(self.labels, n, value).map(Value::borrowed);
                    field(&mut writer, label.unwrap_or(Value::Null))?;
                }
            }
            end_line(&mut writer)?;
        }
        writer
            .into_inner()
            .map_err(|error| error.into_error().into())
    }

    /// Each column, and `COLUMN_label` after one that is labelled.
    fn header(&self, writer: &mut Writer<Vec<u8>>) -> csv::Result<()> {
        for (n, name) in self.names.iter().enumerate() {
            writer.write_field(name)?;
            if self.is_expanded(n) {
                writer.write_field(format!("{name}_label"))?;
            }
        }
        end_line(writer)
    }
}

fn end_line(writer: &mut Writer<Vec<u8>>) -> csv::Result<()> {
    writer.write_record(None::<&[u8]>)
}

/// NULL is an empty field. Invalid UTF-8 becomes replacement characters: the file says that it is UTF-8.
fn field(writer: &mut Writer<Vec<u8>>, value: BorrowedValue<'_>) -> csv::Result<()> {
    match value {
        Value::Null => writer.write_field(""),
        other => other.with_display(|text| writer.write_field(text)),
    }
}

/// Appends where the bytes in `column` of the row with that key can be downloaded.
pub fn blob_url_into<'v>(
    out: &mut String,
    column: &str,
    key: impl Iterator<Item = BorrowedValue<'v>>,
    context: &CsvContext<'_>,
) {
    out.push_str(context.table_url);
    out.push('/');
    row_path_into(out, key);
    out.push_str(".blob?");
    out.push_str(BLOB_COLUMN);
    out.push('=');
    query::encode_into(out, column);
}
