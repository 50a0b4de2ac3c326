//! The elements of JSON arrays, each once a row, as SQLite's `json_each` gives them.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use rusqlite::types::ValueRef;

use super::Counts;
use crate::db::value::Value;

/// Counts the elements of an array, each once. What is no array counts for nothing.
pub(super) fn add_elements(value: ValueRef<'_>, counts: &mut Counts) {
    if let ValueRef::Text(json) = value {
        if let Some(strings) = plain_strings(json) {
            for string in distinct(strings) {
                counts.add(ValueRef::Text(string));
            }
        } else {
            add_json(json, counts);
        }
    }
}

/// The elements of a JSON array of strings without escapes, which is what
/// nearly all tag columns hold. `None` sends the text to the real parser.
pub fn plain_strings(json: &[u8]) -> Option<Vec<&[u8]>> {
    let mut rest = json.trim_ascii().strip_prefix(b"[")?.trim_ascii_start();
    let mut strings = Vec::new();
    if rest == b"]" {
        return Some(strings);
    }
    loop {
        rest = rest.strip_prefix(b"\"")?;
        let end = memchr::memchr2(b'"', b'\\', rest)?;
        let string = &rest[..end];
        if rest[end] == b'\\' || string.iter().any(|&b| b < 0x20) {
            return None;
        }
        strings.push(string);
        rest = rest[end + 1..].trim_ascii_start();
        match rest.split_first()? {
            (b',', more) => rest = more.trim_ascii_start(),
            (b']', []) => return Some(strings),
            _ => return None,
        }
    }
}

/// The values that SQLite's `json_each` gives for a text, each once. A text
/// that is no JSON counts for nothing: one bad row must not cost the facet.
fn add_json(json: &[u8], counts: &mut Counts) {
    use serde_json::Value as Json;
    let elements: Vec<Json> = match serde_json::from_slice(json) {
        Ok(Json::Array(items)) => items,
        Ok(Json::Object(members)) => members.into_iter().map(|(_, v)| v).collect(),
        Ok(scalar) => vec![scalar],
        Err(_) => return,
    };
    // Distinct as SQL values, which count 1, 1.0 and true as one.
    let mut seen = HashSet::with_hasher(RandomState::default());
    for element in elements {
        let value = match element {
            Json::Null => Value::Null,
            Json::Bool(b) => Value::Integer(i64::from(b)),
            Json::String(s) => Value::text(&s),
            Json::Number(number) => number.as_i64().map_or_else(
                || Value::Real(number.as_f64().unwrap_or(0.0)),
                Value::Integer,
            ),
            nested => Value::text(&nested.to_string()),
        };
        if seen.insert(value.key()) {
            counts.add(value.as_ref());
        }
    }
}

/// Each text once. A row of a few tags is looked through; only a long one is worth a set.
fn distinct(mut texts: Vec<&[u8]>) -> Vec<&[u8]> {
    const FEW: usize = 16;
    if texts.len() <= FEW {
        for n in (1..texts.len()).rev() {
            if texts[..n].contains(&texts[n]) {
                texts.swap_remove(n);
            }
        }
    } else {
        texts.sort_unstable();
        texts.dedup();
    }
    texts
}
