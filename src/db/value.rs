//! A value as SQLite stores it, owned or borrowed.

use std::borrow::Cow;
use std::cmp::Ordering;

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::text::number::FloatText;
use crate::text::python_bytes;

/// One of SQLite's five storage classes. Text is kept as the bytes that are
/// stored: it may be invalid UTF-8, and a key must find its row again.
///
/// `B` is where those bytes are: a value of its own has them in a box, that of
/// a row is a [`BorrowedValue`]. Both can do the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<B = Box<[u8]>> {
    /// NULL
    Null,
    /// A 64-bit integer.
    Integer(i64),
    /// A 64-bit float; never NaN, SQLite stores that as NULL.
    Real(f64),
    /// Text, as stored.
    Text(B),
    /// A blob.
    Blob(B),
}

/// A value whose bytes belong to somebody else: the rows of a page, SQLite, a [`Value`].
pub type BorrowedValue<'v> = Value<&'v [u8]>;

impl Value {
    /// A text value.
    pub fn text(text: &str) -> Self {
        Self::Text(text.as_bytes().into())
    }
}

impl<B: AsRef<[u8]>> Value<B> {
    /// The value, borrowed.
    pub fn borrowed(&self) -> BorrowedValue<'_> {
        self.as_ref().into()
    }

    /// The value with a copy of its bytes.
    pub fn owned(&self) -> Value {
        self.as_ref().into()
    }

    /// The value, borrowed in the form that SQLite's functions take.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Null => ValueRef::Null,
            Self::Integer(i) => ValueRef::Integer(*i),
            Self::Real(f) => ValueRef::Real(*f),
            Self::Text(t) => ValueRef::Text(t.as_ref()),
            Self::Blob(b) => ValueRef::Blob(b.as_ref()),
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
            Self::Real(f) => Cow::Owned(FloatText::new(*f).as_str().to_owned()),
            Self::Text(bytes) => String::from_utf8_lossy(bytes.as_ref()),
            Self::Blob(bytes) => Cow::Owned(python_bytes::literal(bytes.as_ref())),
        }
    }

    /// What `write` makes of the text that [`Self::display`] gives. Numbers are
    /// written on the stack: cells go this way.
    pub fn with_display<T>(&self, write: impl FnOnce(&str) -> T) -> T {
        match self {
            Self::Integer(i) => write(itoa::Buffer::new().format(*i)),
            Self::Real(f) => write(FloatText::new(*f).as_str()),
            other => write(&other.display()),
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
            (Self::Text(a), Self::Text(b)) | (Self::Blob(a), Self::Blob(b)) => {
                a.as_ref().cmp(b.as_ref())
            }
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
            Self::Text(t) => Key::Text(t.as_ref().into()),
            Self::Blob(b) => Key::Blob(b.as_ref().into()),
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

impl<'v, B: From<&'v [u8]>> From<ValueRef<'v>> for Value<B> {
    fn from(value: ValueRef<'v>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(i) => Self::Integer(i),
            ValueRef::Real(f) => Self::Real(f),
            ValueRef::Text(t) => Self::Text(t.into()),
            ValueRef::Blob(b) => Self::Blob(b.into()),
        }
    }
}

impl<B: AsRef<[u8]>> ToSql for Value<B> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(i: i64) -> Value {
        Value::Integer(i)
    }

    fn real(f: f64) -> Value {
        Value::Real(f)
    }

    #[test]
    fn integers_and_reals_are_compared_without_rounding() {
        for (i, f, expected) in [
            (
                9_007_199_254_740_993,
                9_007_199_254_740_992.0,
                Ordering::Greater,
            ),
            (2, 2.5, Ordering::Less),
            (-2, -2.5, Ordering::Greater),
            (2, 2.0, Ordering::Equal),
            (i64::MAX, f64::INFINITY, Ordering::Less),
        ] {
            assert_eq!(integer(i).compare(&real(f)), expected, "{i} {f}");
            assert_eq!(real(f).compare(&integer(i)), expected.reverse(), "{f} {i}");
        }
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
        assert_eq!(real(1.0).key(), integer(1).key());
        assert_eq!(real(-0.0).key(), integer(0).key());
        assert_ne!(Value::text("1").key(), integer(1).key());
    }

    #[test]
    fn the_two_ways_to_a_text_agree() {
        for value in [
            Value::Null,
            integer(i64::MIN),
            real(-0.0),
            real(0.1),
            real(1e16),
            real(f64::NEG_INFINITY),
            Value::text("é"),
            Value::Text(b"a\xff\0".as_slice().into()),
            Value::Blob(b"a\xff\0".as_slice().into()),
        ] {
            let written = value.with_display(str::to_owned);
            assert_eq!(written, value.display());
            assert_eq!(written, value.borrowed().display());
            assert_eq!(value.borrowed().owned(), value);
        }
    }
}
