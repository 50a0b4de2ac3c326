//! The elements of JSON arrays, each once a row, as SQLite's `json_each` gives them.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use foldhash::fast::RandomState;
use rusqlite::types::ValueRef;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::Counts;
use crate::db::value::Value;

/// Counts the elements of an array, each once. What is no array counts for nothing.
pub(super) fn add_elements(value: ValueRef<'_>, counts: &mut Counts) {
    match value {
        ValueRef::Text(json) => match plain_strings(json) {
            Some(strings) => {
                for string in distinct(strings) {
                    counts.add(ValueRef::Text(string));
                }
            }
            None => add_json(json, counts),
        },
        // A number is JSON too.
        ValueRef::Integer(_) | ValueRef::Real(_) => counts.add(value),
        ValueRef::Null | ValueRef::Blob(_) => {}
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
    let Ok(Elements(elements)) = serde_json::from_slice(json) else {
        return;
    };
    // Distinct as SQL values, which count 1, 1.0 and true as one.
    let mut seen = HashSet::with_hasher(RandomState::default());
    for value in elements.into_iter().filter_map(sql_value) {
        if seen.insert(value.key()) {
            counts.add(value.as_ref());
        }
    }
}

/// The texts of the elements of an array or of the members of an object, all of
/// those that have one name too; or of a scalar alone.
struct Elements<'j>(Vec<&'j RawValue>);

impl<'de: 'j, 'j> Deserialize<'de> for Elements<'j> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        let whole: &RawValue = Deserialize::deserialize(json)?;
        let elements = match whole.get().as_bytes().first() {
            Some(b'[') => serde_json::from_str(whole.get()).map_err(D::Error::custom)?,
            Some(b'{') => {
                let Members(members) =
                    serde_json::from_str(whole.get()).map_err(D::Error::custom)?;
                members
            }
            _ => vec![whole],
        };
        Ok(Self(elements))
    }
}

/// The values of an object.
struct Members<'j>(Vec<&'j RawValue>);

impl<'de: 'j, 'j> Deserialize<'de> for Members<'j> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Collect<'j>(PhantomData<&'j ()>);
        impl<'de: 'j, 'j> Visitor<'de> for Collect<'j> {
            type Value = Members<'j>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((IgnoredAny, value)) = map.next_entry()? {
                    members.push(value);
                }
                Ok(Members(members))
            }
        }
        json.deserialize_map(Collect(PhantomData))
    }
}

/// A JSON text as the SQL value that `json_each` makes of it.
fn sql_value(json: &RawValue) -> Option<Value> {
    let text = json.get();
    Some(match text.as_bytes().first()? {
        b'n' => Value::Null,
        b't' => Value::Integer(1),
        b'f' => Value::Integer(0),
        b'"' => Value::text(&serde_json::from_str::<String>(text).ok()?),
        b'[' | b'{' => Value::text(&without_spaces(text)),
        _ => match text.parse() {
            Ok(integer) => Value::Integer(integer),
            // Beyond the range it is an infinity, as in SQLite.
            Err(_) => Value::Real(text.parse().ok()?),
        },
    })
}

/// JSON without the white space between its parts; numbers and texts stay as they are written.
fn without_spaces(json: &str) -> String {
    let mut is_in_text = false;
    let mut is_escaped = false;
    json.chars()
        .filter(|&c| {
            if is_in_text {
                is_in_text = is_escaped || c != '"';
                is_escaped = c == '\\' && !is_escaped;
                return true;
            }
            is_in_text = c == '"';
            !c.is_ascii_whitespace()
        })
        .collect()
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
