//! A map from the values of a foreign key to labels.

use std::collections::HashMap;

use crate::db::value::whole;
use crate::db::{BorrowedValue, Value};

/// Labels by the value that they stand for. Values that SQLite holds for equal
/// (BINARY collation) have one label; NULL has none, since it refers to nothing.
/// There is a map for each storage class so that a lookup borrows its value.
#[derive(Debug, Default, Clone)]
pub struct Labels {
    integers: HashMap<i64, Value>,
    /// By the bits, of reals that equal no integer.
    reals: HashMap<u64, Value>,
    texts: HashMap<Box<[u8]>, Value>,
    blobs: HashMap<Box<[u8]>, Value>,
}

impl Labels {
    /// The label of `value`.
    pub fn get(&self, value: BorrowedValue<'_>) -> Option<&Value> {
        match value {
            Value::Null => None,
            Value::Integer(i) => self.integers.get(&i),
            Value::Real(f) => match whole(f) {
                Some(i) => self.integers.get(&i),
                None => self.reals.get(&f.to_bits()),
            },
            Value::Text(text) => self.texts.get(text),
            Value::Blob(blob) => self.blobs.get(blob),
        }
    }

    /// Gives `value` a label, in place of the one that it has.
    pub fn insert(&mut self, value: BorrowedValue<'_>, label: Value) {
        match value {
            Value::Null => None,
            Value::Integer(i) => self.integers.insert(i, label),
            Value::Real(f) => match whole(f) {
                Some(i) => self.integers.insert(i, label),
                None => self.reals.insert(f.to_bits(), label),
            },
            Value::Text(text) => self.texts.insert(text.into(), label),
            Value::Blob(blob) => self.blobs.insert(blob.into(), label),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_sqlite_holds_for_equal_have_one_label() {
        let mut labels = Labels::default();
        for (value, label) in [
            (Value::Integer(1), "one"),
            (Value::Real(1.5), "one and a half"),
            (Value::Text(b"1".as_slice()), "text"),
            (Value::Blob(b"1".as_slice()), "blob"),
            (Value::Real(-0.0), "zero"),
            (Value::Null, "nothing"),
        ] {
            labels.insert(value, Value::text(label));
        }
        let label = |value: BorrowedValue<'_>| labels.get(value).map(Value::display);
        assert_eq!(label(Value::Real(1.0)).as_deref(), Some("one"));
        assert_eq!(label(Value::Integer(0)).as_deref(), Some("zero"));
        assert_eq!(label(Value::Real(1.5)).as_deref(), Some("one and a half"));
        assert_eq!(label(Value::Text(b"1")).as_deref(), Some("text"));
        assert_eq!(label(Value::Blob(b"1")).as_deref(), Some("blob"));
        for none in [Value::Null, Value::Integer(2), Value::Text(b"".as_slice())] {
            assert_eq!(label(none), None);
        }
    }

    #[test]
    fn the_last_label_counts() {
        let mut labels = Labels::default();
        labels.insert(Value::Integer(1), Value::text("a"));
        labels.insert(Value::Real(1.0), Value::text("b"));
        assert_eq!(labels.get(Value::Integer(1)), Some(&Value::text("b")));
    }
}
