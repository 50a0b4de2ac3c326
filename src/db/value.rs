//! A value as SQLite stores it.

use std::borrow::Cow;
use std::cmp::Ordering;

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::text::number;

/// One of SQLite's five storage classes. Text is kept as the bytes that are
/// stored: it may be invalid UTF-8, and a key must find its row again.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL
    Null,
    /// A 64-bit integer.
    Integer(i64),
    /// A 64-bit float; never NaN, SQLite stores that as NULL.
    Real(f64),
    /// Text, as stored.
    Text(Box<[u8]>),
    /// A blob.
    Blob(Box<[u8]>),
}

impl Value {
    /// A text value.
    pub fn text(text: &str) -> Self {
        Self::Text(text.as_bytes().into())
    }

    /// The value, borrowed in the form that SQLite's functions take.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Null => ValueRef::Null,
            Self::Integer(i) => ValueRef::Integer(*i),
            Self::Real(f) => ValueRef::Real(*f),
            Self::Text(t) => ValueRef::Text(t),
            Self::Blob(b) => ValueRef::Blob(b),
        }
    }

    /// Whether this is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value as Python's `str()` writes it, which is what Datasette puts
    /// into links and tokens: `None` for NULL, `b'…'` for a blob. Borrowed for text.
    pub fn display(&self) -> Cow<'_, str> {
        match self {
            Self::Null => Cow::Borrowed("None"),
            Self::Integer(i) => Cow::Owned(i.to_string()),
            Self::Real(f) => Cow::Owned(real_text(*f)),
            Self::Text(bytes) => String::from_utf8_lossy(bytes),
            Self::Blob(bytes) => Cow::Owned(python_bytes(bytes)),
        }
    }

    /// SQLite's order of storage classes and of values inside each: NULL,
    /// numbers, text (by bytes, the BINARY collation), blobs.
    /// <https://www.sqlite.org/datatype3.html#comparison_expressions>
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Real(a), Self::Real(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Self::Integer(a), Self::Real(b)) => compare_integer_real(*a, *b),
            (Self::Real(a), Self::Integer(b)) => compare_integer_real(*b, *a).reverse(),
            (Self::Text(a), Self::Text(b)) | (Self::Blob(a), Self::Blob(b)) => a.cmp(b),
            _ => self.class().cmp(&other.class()),
        }
    }

    /// The value under which SQLite groups and compares: a real that is a whole
    /// number in the range of integers equals that integer.
    #[must_use]
    pub fn canonical(self) -> Self {
        match self {
            Self::Real(f) => whole(f).map_or(Self::Real(f), Self::Integer),
            other => other,
        }
    }

    /// A key that is equal for values that SQLite holds for equal (BINARY collation).
    pub fn key(&self) -> Key {
        match self {
            Self::Null => Key::Null,
            Self::Integer(i) => Key::Integer(*i),
            Self::Real(f) => whole(*f).map_or(Key::Real(f.to_bits()), Key::Integer),
            Self::Text(t) => Key::Text(t.clone()),
            Self::Blob(b) => Key::Blob(b.clone()),
        }
    }

    fn class(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Integer(_) | Self::Real(_) => 1,
            Self::Text(_) => 2,
            Self::Blob(_) => 3,
        }
    }
}

/// A hashable stand-in for a [`Value`]; see [`Value::key`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// NULL
    Null,
    /// An integer, or a real that equals one.
    Integer(i64),
    /// The bits of any other real.
    Real(u64),
    /// Text.
    Text(Box<[u8]>),
    /// A blob.
    Blob(Box<[u8]>),
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(i) => Self::Integer(i),
            ValueRef::Real(f) => Self::Real(f),
            ValueRef::Text(t) => Self::Text(t.into()),
            ValueRef::Blob(b) => Self::Blob(b.into()),
        }
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(self.as_ref()))
    }
}

/// A real that is a whole number and exactly an `i64`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked first"
)]
pub fn whole(f: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (f.fract() == 0.0 && (-LIMIT..LIMIT).contains(&f)).then_some(f as i64)
}

/// A real as text, as Python's `repr` writes it.
pub fn real_text(f: f64) -> String {
    let mut out = Vec::with_capacity(24);
    number::push_f64(&mut out, f);
    String::from_utf8(out).unwrap_or_default()
}

/// Compares without rounding the integer to a float.
#[expect(
    clippy::cast_possible_truncation,
    reason = "ranges are checked; equal after rounding is decided by the fraction"
)]
fn compare_integer_real(i: i64, f: f64) -> Ordering {
    if f < -9_223_372_036_854_775_808.0 {
        return Ordering::Greater;
    }
    if f >= 9_223_372_036_854_775_808.0 {
        return Ordering::Less;
    }
    let floor = f.floor();
    i.cmp(&(floor as i64)).then(if f > floor {
        Ordering::Less
    } else {
        Ordering::Equal
    })
}

/// Reads what [`Value::display`] writes for a blob.
pub fn blob_from_display(text: &str) -> Option<Vec<u8>> {
    let text = text.strip_prefix('b')?.as_bytes();
    let (quote, text) = text.split_first()?;
    let (last, text) = text.split_last()?;
    if last != quote || !matches!(quote, b'\'' | b'"') {
        return None;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let (&escape, after) = rest.split_first()?;
        rest = after;
        out.push(match escape {
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            b'x' => {
                let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
                rest = &rest[2..];
                u8::from_str_radix(digits, 16).ok()?
            }
            other => other,
        });
    }
    Some(out)
}

fn python_bytes(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::with_capacity(bytes.len() + 3);
    out.push('b');
    out.push(quote);
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            0x20..0x7f if char::from(byte) == quote => {
                out.push('\\');
                out.push(quote);
            }
            0x20..0x7f => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push(quote);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_reals_are_compared_without_rounding() {
        let big = Value::Integer(9_007_199_254_740_993);
        assert_eq!(
            big.compare(&Value::Real(9_007_199_254_740_992.0)),
            Ordering::Greater
        );
        assert_eq!(Value::Integer(2).compare(&Value::Real(2.5)), Ordering::Less);
        assert_eq!(
            Value::Integer(-2).compare(&Value::Real(-2.5)),
            Ordering::Greater
        );
        assert_eq!(
            Value::Integer(2).compare(&Value::Real(2.0)),
            Ordering::Equal
        );
        assert_eq!(
            Value::Integer(i64::MAX).compare(&Value::Real(f64::INFINITY)),
            Ordering::Less
        );
    }

    #[test]
    fn storage_classes_sort_as_in_sqlite() {
        let ordered = [
            Value::Null,
            Value::Real(9e99),
            Value::text(""),
            Value::Blob(Box::default()),
        ];
        for pair in ordered.windows(2) {
            assert_eq!(pair[0].compare(&pair[1]), Ordering::Less);
        }
    }

    #[test]
    fn a_whole_real_groups_with_its_integer() {
        assert_eq!(Value::Real(1.0).key(), Value::Integer(1).key());
        assert_eq!(Value::Real(-0.0).key(), Value::Integer(0).key());
        assert_ne!(Value::text("1").key(), Value::Integer(1).key());
    }

    #[test]
    fn a_blob_that_is_shown_can_be_read_back() {
        let all: Vec<u8> = (0..=255).collect();
        for bytes in [b"".as_slice(), b"it's", b"\"'\\", &all] {
            let shown = Value::Blob(bytes.into()).display().into_owned();
            assert_eq!(blob_from_display(&shown).as_deref(), Some(bytes), "{shown}");
        }
        for text in ["", "b", "b'", "b'a\"", "b'\\'", "b'\\x4'", "a'x'"] {
            assert_eq!(blob_from_display(text), None, "{text}");
        }
    }

    #[test]
    fn blobs_are_shown_as_python_writes_bytes() {
        assert_eq!(
            Value::Blob(b"a'\x00\xff\n".as_slice().into()).display(),
            r#"b"a'\x00\xff\n""#
        );
    }
}
