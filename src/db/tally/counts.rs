//! How often each value comes up. Values are grouped as SQLite groups them under
//! the BINARY collation: 1 and 1.0 are one group, '1' is another.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use foldhash::fast::RandomState;
use rusqlite::types::ValueRef;

use crate::db::value::{Value, whole};

/// Counts by value.
#[derive(Debug, Default, Clone)]
pub struct Counts {
    nulls: u64,
    integers: HashMap<i64, Whole, RandomState>,
    /// Other reals, by their bits.
    reals: HashMap<u64, u64, RandomState>,
    /// Texts of up to [`SHORT`] bytes, packed into a number: no pointer to
    /// follow and nothing to compare byte by byte.
    short_texts: HashMap<u128, u64, RandomState>,
    texts: HashMap<Box<[u8]>, u64, RandomState>,
    blobs: HashMap<Box<[u8]>, u64, RandomState>,
}

/// A whole number, which rows may hold as an integer or as a real.
#[derive(Debug, Clone, Copy)]
struct Whole {
    count: u64,
    /// Whether all of them are reals. The group is shown as an integer if one of
    /// them is, whatever the order in which they come.
    is_real: bool,
}

impl Counts {
    /// Counts one value. NULL too: callers that do not want it leave it out.
    pub fn add(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.nulls += 1,
            ValueRef::Integer(i) => self.add_whole(i, false),
            ValueRef::Real(f) => match whole(f) {
                Some(i) => self.add_whole(i, true),
                None => *self.reals.entry(f.to_bits()).or_insert(0) += 1,
            },
            ValueRef::Text(t) => match pack(t) {
                Some(packed) => *self.short_texts.entry(packed).or_insert(0) += 1,
                None => bump(&mut self.texts, t),
            },
            ValueRef::Blob(b) => bump(&mut self.blobs, b),
        }
    }

    fn add_whole(&mut self, i: i64, is_real: bool) {
        let group = self
            .integers
            .entry(i)
            .or_insert(Whole { count: 0, is_real });
        group.count += 1;
        group.is_real &= is_real;
    }

    /// Adds the counts of other parts of the same table.
    pub fn merge(&mut self, other: Self) {
        self.nulls += other.nulls;
        for (i, theirs) in other.integers {
            let none = Whole {
                count: 0,
                is_real: true,
            };
            let ours = self.integers.entry(i).or_insert(none);
            ours.count += theirs.count;
            ours.is_real &= theirs.is_real;
        }
        merge(&mut self.reals, other.reals);
        merge(&mut self.short_texts, other.short_texts);
        merge(&mut self.texts, other.texts);
        merge(&mut self.blobs, other.blobs);
    }

    /// How many different values there are.
    pub fn len(&self) -> usize {
        usize::from(self.nulls > 0)
            + self.integers.len()
            + self.reals.len()
            + self.short_texts.len()
            + self.texts.len()
            + self.blobs.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether some value came up more than once.
    pub fn has_repeats(&self) -> bool {
        self.nulls > 1
            || self.integers.values().any(|whole| whole.count > 1)
            || self.reals.values().any(|&n| n > 1)
            || self.short_texts.values().any(|&n| n > 1)
            || self.texts.values().any(|&n| n > 1)
            || self.blobs.values().any(|&n| n > 1)
    }

    /// The `limit` values with the highest counts: by count downwards, then by
    /// value in SQLite's order. Takes time in proportion to the values.
    pub fn top(self, limit: usize) -> Vec<(Value, u64)> {
        let mut groups = self.into_groups();
        let order = |a: &(Value, u64), b: &(Value, u64)| -> Ordering {
            b.1.cmp(&a.1).then_with(|| a.0.compare(&b.0))
        };
        if groups.len() > limit && limit > 0 {
            groups.select_nth_unstable_by(limit - 1, order);
        }
        groups.truncate(limit);
        groups.sort_unstable_by(order);
        groups
    }

    fn into_groups(self) -> Vec<(Value, u64)> {
        let mut groups = Vec::with_capacity(self.len());
        if self.nulls > 0 {
            groups.push((Value::Null, self.nulls));
        }
        groups.extend(self.integers.into_iter().map(|(i, whole)| {
            #[expect(
                clippy::cast_precision_loss,
                reason = "it was exactly this real before"
            )]
            let value = if whole.is_real {
                Value::Real(i as f64)
            } else {
                Value::Integer(i)
            };
            (value, whole.count)
        }));
        groups.extend(
            self.reals
                .into_iter()
                .map(|(bits, n)| (Value::Real(f64::from_bits(bits)), n)),
        );
        groups.extend(
            self.short_texts
                .into_iter()
                .map(|(packed, n)| (Value::Text(unpack(packed)), n)),
        );
        groups.extend(self.texts.into_iter().map(|(t, n)| (Value::Text(t), n)));
        groups.extend(self.blobs.into_iter().map(|(b, n)| (Value::Blob(b), n)));
        groups
    }
}

/// The longest text that [`pack`] takes, in bytes.
const SHORT: usize = 15;

/// A short text as a number: its bytes, then zeros, then its length.
fn pack(text: &[u8]) -> Option<u128> {
    let length = text.len();
    // Two reads of a fixed size, which may overlap, cost less than a copy of any size.
    let bytes = if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>())
    {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        if length > SHORT {
            return None;
        }
        u128::from(first) | u128::from(last) << ((length - 8) * 8)
    } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        u128::from(first) | u128::from(last) << ((length - 4) * 8)
    } else {
        let byte = |n: usize| text.get(n).map_or(0, |&byte| u128::from(byte) << (n * 8));
        byte(0) | byte(1) | byte(2)
    };
    Some(bytes | (length as u128) << (SHORT * 8))
}

fn unpack(packed: u128) -> Box<[u8]> {
    let bytes = packed.to_le_bytes();
    bytes[..usize::from(bytes[SHORT])].into()
}

fn merge<K: Eq + Hash>(
    ours: &mut HashMap<K, u64, RandomState>,
    theirs: HashMap<K, u64, RandomState>,
) {
    if ours.is_empty() {
        *ours = theirs;
        return;
    }
    for (value, count) in theirs {
        *ours.entry(value).or_insert(0) += count;
    }
}

fn bump(map: &mut HashMap<Box<[u8]>, u64, RandomState>, bytes: &[u8]) {
    // Looked up by the borrowed bytes first: most rows hold a value seen before.
    if let Some(n) = map.get_mut(bytes) {
        *n += 1;
    } else if let Entry::Vacant(place) = map.entry(bytes.into()) {
        place.insert(1);
    }
}
