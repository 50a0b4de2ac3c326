//! JSON as Python's `json.dumps` writes it, straight into a buffer: numbers,
//! escapes and the spaces after `,` and `:` come out as Datasette's do.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::ser::Formatter;

use super::links::row_path;
use crate::db::Value;
use crate::error::{Error, Result};
use crate::table::TablePage;
use crate::table::request::{Shape, TableRequest};
use crate::text::{json, number};

/// Bytes that a row takes about, to size the buffer.
const ROW_BYTES: usize = 256;

/// What the JSON of a table page needs besides the page.
pub struct Surroundings<'s> {
    /// The request.
    pub request: &'s TableRequest,
    /// The absolute URL of the page after this one.
    pub next_url: Option<&'s str>,
    /// The extras, by name.
    pub extras: serde_json::Map<String, serde_json::Value>,
}

/// A table page in the shape that was asked for. [`Error::BadRequest`] if the
/// table can't be shown in that shape.
pub fn table(page: &TablePage, around: &Surroundings<'_>) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(512 + page.rows.len() * ROW_BYTES);
    let rows = RowWriter::new(page, around.request);
    match around.request.shape {
        Shape::Array if around.request.newline_delimited => rows.lines(&mut out),
        Shape::Array => rows.array(&mut out, RowWriter::object),
        Shape::ArrayFirst => rows.array(&mut out, RowWriter::first),
        Shape::Object => rows.by_key(&mut out)?,
        Shape::Objects => document(&mut out, page, around, |out| {
            rows.array(out, RowWriter::object)
        })?,
        Shape::Arrays => document(&mut out, page, around, |out| {
            rows.array(out, RowWriter::values)
        })?,
    }
    Ok(out)
}

fn document(
    out: &mut Vec<u8>,
    page: &TablePage,
    around: &Surroundings<'_>,
    rows: impl FnOnce(&mut Vec<u8>),
) -> Result<()> {
    out.extend_from_slice(b"{\"ok\": true, \"next\": ");
    string_or_null(out, page.next.as_deref());
    out.extend_from_slice(b", \"next_url\": ");
    string_or_null(out, around.next_url);
    for (name, value) in &around.extras {
        out.extend_from_slice(b", ");
        json::push_string(out, name);
        out.extend_from_slice(b": ");
        push_json(out, value)?;
    }
    out.extend_from_slice(b", \"rows\": ");
    rows(out);
    out.extend_from_slice(b", \"truncated\": false}");
    Ok(())
}

fn string_or_null(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => json::push_string(out, text),
        None => out.extend_from_slice(b"null"),
    }
}

/// Writes the rows of a page.
struct RowWriter<'p> {
    page: &'p TablePage,
    request: &'p TableRequest,
    /// `"name": ` for each column.
    keys: Vec<Vec<u8>>,
    /// Columns whose text is shown as JSON.
    as_json: Vec<bool>,
}

impl<'p> RowWriter<'p> {
    fn new(page: &'p TablePage, request: &'p TableRequest) -> Self {
        let keys = page.columns().iter().map(|name| {
            let mut key = Vec::with_capacity(name.len() + 4);
            json::push_string(&mut key, name);
            key.extend_from_slice(b": ");
            key
        });
        Self {
            page,
            request,
            keys: keys.collect(),
            as_json: page
                .columns()
                .iter()
                .map(|name| request.json_columns.contains(name))
                .collect(),
        }
    }

    fn array(&self, out: &mut Vec<u8>, one: impl Fn(&Self, &mut Vec<u8>, &[Value])) {
        out.push(b'[');
        for (n, row) in self.page.rows.iter().enumerate() {
            if n > 0 {
                out.extend_from_slice(b", ");
            }
            one(self, out, row);
        }
        out.push(b']');
    }

    fn lines(&self, out: &mut Vec<u8>) {
        for (n, row) in self.page.rows.iter().enumerate() {
            if n > 0 {
                out.push(b'\n');
            }
            self.object(out, row);
        }
    }

    fn by_key(&self, out: &mut Vec<u8>) -> Result<()> {
        if self.page.plan.table.primary_keys.is_empty() {
            return Err(Error::BadRequest(
                "_shape=object not available for tables with no primary keys - use _shape=array"
                    .into(),
            ));
        }
        let key = self.page.key_positions();
        out.push(b'{');
        for (n, row) in self.page.rows.iter().enumerate() {
            if n > 0 {
                out.extend_from_slice(b", ");
            }
            json::push_string(out, &row_path(key.iter().map(|&n| &row[n])));
            out.extend_from_slice(b": ");
            self.object(out, row);
        }
        out.push(b'}');
        Ok(())
    }

    fn object(&self, out: &mut Vec<u8>, row: &[Value]) {
        out.push(b'{');
        for (n, key) in self.keys.iter().enumerate() {
            if n > 0 {
                out.extend_from_slice(b", ");
            }
            out.extend_from_slice(key);
            self.cell(out, n, &row[n]);
        }
        out.push(b'}');
    }

    fn values(&self, out: &mut Vec<u8>, row: &[Value]) {
        out.push(b'[');
        for n in 0..self.keys.len() {
            if n > 0 {
                out.extend_from_slice(b", ");
            }
            self.cell(out, n, &row[n]);
        }
        out.push(b']');
    }

    fn first(&self, out: &mut Vec<u8>, row: &[Value]) {
        self.cell(out, 0, &row[0]);
    }

    fn cell(&self, out: &mut Vec<u8>, column: usize, value: &Value) {
        if let Some(label) = self.page.label(column, value) {
            out.extend_from_slice(b"{\"value\": ");
            push_value(out, value, self.request.json_infinity);
            out.extend_from_slice(b", \"label\": ");
            push_value(out, label, self.request.json_infinity);
            out.push(b'}');
            return;
        }
        if self.as_json[column]
            && let Value::Text(text) = value
            && let Ok(parsed) = serde_json::from_slice::<serde_json::Value>(text)
            && push_json(out, &parsed).is_ok()
        {
            return;
        }
        push_value(out, value, self.request.json_infinity);
    }
}

/// One value. Infinities are `null`, since JSON has none, or `Infinity` if `infinity`.
pub fn push_value(out: &mut Vec<u8>, value: &Value, infinity: bool) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Integer(i) => number::push_i64(out, *i),
        Value::Real(f) if f.is_finite() => number::push_f64(out, *f),
        Value::Real(f) if infinity => {
            out.extend_from_slice(if *f > 0.0 { b"Infinity" } else { b"-Infinity" });
        }
        Value::Real(_) => out.extend_from_slice(b"null"),
        Value::Text(bytes) => json::push_string(out, &String::from_utf8_lossy(bytes)),
        Value::Blob(bytes) => {
            out.extend_from_slice(b"{\"$base64\": true, \"encoded\": \"");
            out.extend_from_slice(STANDARD.encode(bytes).as_bytes());
            out.extend_from_slice(b"\"}");
        }
    }
}

/// A value as a tree, for the small parts of a page that are not rows.
pub fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Integer(i) => (*i).into(),
        Value::Real(f) => {
            serde_json::Number::from_f64(*f).map_or(serde_json::Value::Null, Into::into)
        }
        Value::Text(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
        Value::Blob(bytes) => {
            serde_json::json!({"$base64": true, "encoded": STANDARD.encode(bytes)})
        }
    }
}

/// A tree of JSON in the same style as the rows.
pub fn push_json(out: &mut Vec<u8>, value: &impl Serialize) -> Result<()> {
    value
        .serialize(&mut serde_json::Serializer::with_formatter(
            out,
            PythonStyle,
        ))
        .map_err(|error| Error::Internal(format!("JSON: {error}")))
}

/// The separators and escapes of `json.dumps`.
struct PythonStyle;

impl Formatter for PythonStyle {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let mut digits = Vec::with_capacity(24);
        number::push_f64(&mut digits, value);
        writer.write_all(&digits)
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first {
            Ok(())
        } else {
            writer.write_all(b", ")
        }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first {
            Ok(())
        } else {
            writer.write_all(b", ")
        }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        text: &str,
    ) -> io::Result<()> {
        let mut escaped = Vec::with_capacity(text.len() + 2);
        json::push_string(&mut escaped, text);
        writer.write_all(&escaped[1..escaped.len() - 1])
    }
}
