//! `tally(x)` and `tally_json(x)`: how often each value of `x` comes up,
//! counted in hash maps while SQLite steps through the rows.
//!
//! SQL's own way, `select x, count(*) … group by x order by count(*) desc`,
//! sorts every row; counting in a hash map costs little more than the bare
//! scan. Values are grouped as SQLite groups them under the BINARY collation:
//! 1 and 1.0 are one group, '1' is another.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ToSql};

use super::value::{Value, whole};

thread_local! {
    /// Where the aggregate leaves its counts. SQLite calls it on the thread
    /// that steps the statement, so [`run`] finds them here.
    static COUNTED: RefCell<Counts> = RefCell::default();
}

/// Counts by value.
#[derive(Debug, Default)]
pub struct Counts {
    nulls: u64,
    /// Whole numbers; the flag says that the first one seen was a real.
    integers: HashMap<i64, (u64, bool), RandomState>,
    /// Other reals, by their bits.
    reals: HashMap<u64, u64, RandomState>,
    /// Texts of up to [`SHORT`] bytes, packed into a number: no pointer to
    /// follow and nothing to compare byte by byte.
    short_texts: HashMap<u128, u64, RandomState>,
    texts: HashMap<Box<[u8]>, u64, RandomState>,
    blobs: HashMap<Box<[u8]>, u64, RandomState>,
}

impl Counts {
    /// Counts one value. NULL too: callers that do not want it leave it out.
    pub fn add(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.nulls += 1,
            ValueRef::Integer(i) => self.integers.entry(i).or_insert((0, false)).0 += 1,
            ValueRef::Real(f) => match whole(f) {
                Some(i) => self.integers.entry(i).or_insert((0, true)).0 += 1,
                None => *self.reals.entry(f.to_bits()).or_insert(0) += 1,
            },
            ValueRef::Text(t) => match pack(t) {
                Some(packed) => *self.short_texts.entry(packed).or_insert(0) += 1,
                None => bump(&mut self.texts, t),
            },
            ValueRef::Blob(b) => bump(&mut self.blobs, b),
        }
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
            || self.integers.values().any(|&(n, _)| n > 1)
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
        groups.extend(self.integers.into_iter().map(|(i, (n, real))| {
            #[expect(
                clippy::cast_precision_loss,
                reason = "it was exactly this real before"
            )]
            let value = if real {
                Value::Real(i as f64)
            } else {
                Value::Integer(i)
            };
            (value, n)
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
    if text.len() > SHORT {
        return None;
    }
    let mut bytes = [0; 16];
    bytes[..text.len()].copy_from_slice(text);
    bytes[SHORT] = u8::try_from(text.len()).ok()?;
    Some(u128::from_le_bytes(bytes))
}

fn unpack(packed: u128) -> Box<[u8]> {
    let bytes = packed.to_le_bytes();
    bytes[..usize::from(bytes[SHORT])].into()
}

fn bump(map: &mut HashMap<Box<[u8]>, u64, RandomState>, bytes: &[u8]) {
    // Looked up by the borrowed bytes first: most rows hold a value seen before.
    if let Some(n) = map.get_mut(bytes) {
        *n += 1;
    } else if let Entry::Vacant(place) = map.entry(bytes.into()) {
        place.insert(1);
    }
}

/// Runs a `select tally(…)` or `select tally_json(…)` and returns what it counted.
pub fn run(
    connection: &Connection,
    sql: &str,
    params: &[(&str, &dyn ToSql)],
) -> rusqlite::Result<Counts> {
    COUNTED.take();
    connection
        .prepare_cached(sql)?
        .query_row(params, |_| Ok(()))?;
    Ok(COUNTED.take())
}

/// Registers the two functions.
pub fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_aggregate_function("tally", 1, flags, Tally)?;
    connection.create_aggregate_function("tally_json", 1, flags, TallyJson)
}

struct Tally;

impl Aggregate<Counts, Option<i64>> for Tally {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<Counts> {
        Ok(Counts::default())
    }

    fn step(&self, context: &mut Context<'_>, counts: &mut Counts) -> rusqlite::Result<()> {
        match context.get_raw(0) {
            ValueRef::Null => {}
            value => counts.add(value),
        }
        Ok(())
    }

    fn finalize(
        &self,
        _: &mut Context<'_>,
        counts: Option<Counts>,
    ) -> rusqlite::Result<Option<i64>> {
        COUNTED.set(counts.unwrap_or_default());
        Ok(None)
    }
}

/// Counts the elements of JSON arrays, each once a row.
struct TallyJson;

impl Aggregate<Counts, Option<i64>> for TallyJson {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<Counts> {
        Ok(Counts::default())
    }

    fn step(&self, context: &mut Context<'_>, counts: &mut Counts) -> rusqlite::Result<()> {
        if let ValueRef::Text(json) = context.get_raw(0) {
            if let Some(strings) = plain_strings(json) {
                for string in distinct(strings) {
                    counts.add(ValueRef::Text(string));
                }
            } else {
                add_json(json, counts);
            }
        }
        Ok(())
    }

    fn finalize(
        &self,
        _: &mut Context<'_>,
        counts: Option<Counts>,
    ) -> rusqlite::Result<Option<i64>> {
        COUNTED.set(counts.unwrap_or_default());
        Ok(None)
    }
}

/// The elements of a JSON array of strings without escapes, which is what
/// nearly all tag columns hold. `None` sends the text to the real parser.
fn plain_strings(json: &[u8]) -> Option<Vec<&[u8]>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn database() -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        register(&conn).unwrap();
        conn
    }

    #[test]
    fn values_are_grouped_as_sqlite_groups_them() {
        let conn = database();
        conn.execute_batch(
            "create table t(v); insert into t values (1), (1.0), ('1'), (null), (x'31'), ('a'), ('a'), (2.5)",
        )
        .unwrap();
        let top = run(&conn, "select tally(v) from t", &[]).unwrap().top(10);
        let expected = [
            (Value::Integer(1), 2),
            (Value::text("a"), 2),
            (Value::Real(2.5), 1),
            (Value::text("1"), 1),
            (Value::Blob(b"1".as_slice().into()), 1),
        ];
        assert_eq!(top, expected);
    }

    #[test]
    fn the_highest_counts_come_first_and_ties_go_by_value() {
        let conn = database();
        let sql = "with recursive c(x) as (select 1 union all select x + 1 from c where x < 1000)
                   select tally(x % 10) from c where x <= 995";
        let top = run(&conn, sql, &[]).unwrap().top(3);
        assert_eq!(
            top,
            [
                (Value::Integer(1), 100),
                (Value::Integer(2), 100),
                (Value::Integer(3), 100)
            ]
        );
    }

    #[test]
    fn an_element_counts_once_a_row_and_bad_json_counts_for_nothing() {
        let conn = database();
        conn.execute_batch(
            r#"create table t(v); insert into t values
               ('["a", "b", "a"]'), ('[]'), ('["a"'), (null), ('["\u0061", 1, null, true]'), ('{"k": "b"}')"#,
        )
        .unwrap();
        let top = run(&conn, "select tally_json(v) from t", &[])
            .unwrap()
            .top(10);
        let expected = [
            (Value::text("a"), 2),
            (Value::text("b"), 2),
            (Value::Null, 1),
            (Value::Integer(1), 1),
        ];
        assert_eq!(top.len(), expected.len());
        for group in expected {
            assert!(top.contains(&group), "{group:?} in {top:?}");
        }
    }

    #[test]
    fn short_and_long_texts_are_told_apart_by_every_byte() {
        let conn = database();
        conn.execute_batch(
            "create table t(v); insert into t values ('a'), (cast(x'6100' as text)), (''),
             ('fifteen bytes!!'), ('sixteen bytes!!!'), ('fifteen bytes!!')",
        )
        .unwrap();
        let top = run(&conn, "select tally(v) from t", &[]).unwrap().top(10);
        let expected = [
            (Value::text("fifteen bytes!!"), 2),
            (Value::text(""), 1),
            (Value::text("a"), 1),
            (Value::text("a\0"), 1),
            (Value::text("sixteen bytes!!!"), 1),
        ];
        assert_eq!(top, expected);
    }

    #[test]
    fn a_long_array_is_counted_in_time_proportional_to_it() {
        let conn = database();
        conn.execute_batch(
            "create table t(v);
             with recursive c(x) as (select 1 union all select x + 1 from c where x < 100000)
             insert into t select json_group_array('t' || (x % 50000)) from c",
        )
        .unwrap();
        let counts = run(&conn, "select tally_json(v) from t", &[]).unwrap();
        assert_eq!((counts.len(), counts.has_repeats()), (50_000, false));
    }

    #[test]
    fn no_rows_give_no_groups() {
        let conn = database();
        assert!(
            run(&conn, "select tally(1) from (select 1 where 0)", &[])
                .unwrap()
                .is_empty()
        );
    }
}
