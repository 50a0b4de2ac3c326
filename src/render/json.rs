//! JSON as Python's `json.dumps` writes it, straight into a buffer: numbers,
//! escapes and the spaces after `,` and `:` come out as Datasette's do.

use std::io::Write as _;

use base64::Engine as _;
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::json_rows::{JsonRows, Options};
use crate::db::{BorrowedValue, Value};
use crate::error::{Error, Result};
use crate::table::TablePage;
use crate::table::request::TableRequest;
use crate::text::json;
use crate::text::number;

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
    let request = around.request;
    let options = Options {
        shape: request.shape,
        lines: request.newline_delimited,
        infinity: request.json_infinity,
        json_columns: &request.json_columns,
    };
    let key = if page.plan.table.primary_keys.is_empty() {
        Err("_shape=object not available for tables with no primary keys - use _shape=array")
    } else {
        Ok(page.key_positions())
    };
    let rows = JsonRows::new(page.columns(), &page.rows, &page.labels, &options);
    if let Some(alone) = rows.alone(key.as_deref().map_err(|reason| *reason))? {
        return Ok(alone);
    }
    let mut out = rows.buffer();
    out.extend_from_slice(b"{\"ok\": true, \"next\": ");
    string_or_null(&mut out, page.next.as_deref());
    out.extend_from_slice(b", \"next_url\": ");
    string_or_null(&mut out, around.next_url);
    push_members(&mut out, &around.extras)?;
    out.extend_from_slice(b", \"rows\": ");
    rows.write(&mut out);
    out.extend_from_slice(b", \"truncated\": false}");
    Ok(out)
}

/// Further members of an object that has some already.
pub fn push_members(
    out: &mut Vec<u8>,
    members: &serde_json::Map<String, serde_json::Value>,
) -> Result<()> {
    for (name, value) in members {
        out.extend_from_slice(b", ");
        json::push_string(out, name);
        out.extend_from_slice(b": ");
        push_json(out, value)?;
    }
    Ok(())
}

fn string_or_null(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => json::push_string(out, text),
        None => out.extend_from_slice(b"null"),
    }
}

/// One value. Infinities are `null`, since JSON has none, or `Infinity` if `infinity`.
pub fn push_value(out: &mut Vec<u8>, value: BorrowedValue<'_>, infinity: bool) {
    match value {
        Value::Integer(i) => number::push_i64(out, i),
        Value::Real(f) if f.is_finite() => number::push_f64(out, f),
        Value::Real(f) if infinity => {
            out.extend_from_slice(if f > 0.0 { b"Infinity" } else { b"-Infinity" });
        }
        Value::Null | Value::Real(_) => out.extend_from_slice(b"null"),
        Value::Text(bytes) => json::push_string(out, &String::from_utf8_lossy(bytes)),
        Value::Blob(bytes) => {
            out.extend_from_slice(b"{\"$base64\": true, \"encoded\": \"");
            // Writing to memory does not fail.
            let _ = write!(out, "{}", Base64Display::new(bytes, &STANDARD));
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
    json::push_tree(out, value).map_err(|error| Error::Internal(format!("JSON: {error}")))
}
