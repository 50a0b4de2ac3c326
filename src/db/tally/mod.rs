//! `tally(kinds, x, …)`: how often each value of each `x` comes up, counted in
//! hash maps while SQLite steps through the rows once.
//!
//! SQL's own way, `select x, count(*) … group by x order by count(*) desc`,
//! sorts every row; counting in a hash map costs little more than the bare scan,
//! and a second column little more than the first.

mod counts;
mod json;

use std::cell::RefCell;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ToSql};

use super::limit::is_interrupt;
pub use counts::Counts;
pub use json::plain_strings;

thread_local! {
    /// What has been counted so far by the statement that [`Tally::run`] runs.
    /// SQLite calls the aggregate on the thread that steps the statement.
    static RUNNING: RefCell<Tally> = RefCell::default();
}

/// What is counted of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Its values but NULL.
    Values,
    /// The elements of the JSON arrays in it.
    Elements,
}

impl What {
    const ALL: [Self; 2] = [Self::Values, Self::Elements];

    /// The letter in the first argument of the function.
    fn letter(self) -> char {
        match self {
            Self::Values => 'v',
            Self::Elements => 'e',
        }
    }
}

/// What the first argument begins with. Nobody outside knows it: a visitor's
/// SQL inside a scan could otherwise count into it.
static SECRET: LazyLock<String> =
    LazyLock::new(|| format!("{:016x} ", RandomState::new().hash_one("tally")));

/// The SQL of a call that counts `arguments`, each an expression.
pub fn call(arguments: &[(What, String)]) -> String {
    let mut sql = format!("tally('{}", *SECRET);
    sql.extend(arguments.iter().map(|(what, _)| what.letter()));
    sql.push('\'');
    for (_, expression) in arguments {
        sql.push_str(", ");
        sql.push_str(expression);
    }
    sql.push(')');
    sql
}

/// What was counted in one or more parts of a table.
#[derive(Debug, Default)]
pub struct Tally {
    /// Rows that were looked at.
    pub rows: u64,
    /// The counts of each argument; none at all before the first row.
    pub counts: Vec<Counts>,
}

impl Tally {
    /// Runs a `select tally(…)` over a part of a table and adds what it counts. `false` if it was interrupted: then it has counted some of the rows.
    pub fn run(
        &mut self,
        connection: &Connection,
        sql: &str,
        params: &[(&str, &dyn ToSql)],
    ) -> rusqlite::Result<bool> {
        RUNNING.set(std::mem::take(self));
        // The aggregate ends with the statement, however that ends: before this returns.
        let ended = connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params, |_| Ok(())));
        *self = RUNNING.take();
        match ended {
            Ok(()) => Ok(true),
            Err(error) if is_interrupt(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Adds what was counted in other parts of the same table.
    pub fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        if self.counts.is_empty() {
            self.counts = other.counts;
            return;
        }
        for (ours, theirs) in self.counts.iter_mut().zip(other.counts) {
            ours.merge(theirs);
        }
    }
}

/// Registers the function.
pub fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_aggregate_function("tally", -1, flags, TallyFunction)
}

/// Reads the first argument; `None` if it is not one that [`call`] made.
fn what(argument: ValueRef<'_>) -> Option<Vec<What>> {
    let letters = argument.as_str().ok()?.strip_prefix(SECRET.as_str())?;
    letters
        .chars()
        .map(|letter| What::ALL.into_iter().find(|what| what.letter() == letter))
        .collect()
}

struct TallyFunction;

/// What is counted of each argument, and the counts so far.
struct Running {
    what: Vec<What>,
    tally: Tally,
}

impl Aggregate<Running, Option<i64>> for TallyFunction {
    fn init(&self, context: &mut Context<'_>) -> rusqlite::Result<Running> {
        let kinds = (!context.is_empty()).then(|| context.get_raw(0));
        let what = kinds
            .and_then(what)
            .ok_or_else(|| rusqlite::Error::UserFunctionError("no such function: tally".into()))?;
        let mut tally = RUNNING.take();
        tally.counts.resize_with(what.len(), Counts::default);
        Ok(Running { what, tally })
    }

    fn step(&self, context: &mut Context<'_>, running: &mut Running) -> rusqlite::Result<()> {
        running.tally.rows += 1;
        let arguments = running.what.iter().zip(&mut running.tally.counts);
        for (n, (what, counts)) in (1..context.len()).zip(arguments) {
            match (context.get_raw(n), what) {
                (ValueRef::Null, _) => {}
                (value, What::Values) => counts.add(value),
                (value, What::Elements) => json::add_elements(value, counts),
            }
        }
        Ok(())
    }

    fn finalize(
        &self,
        _: &mut Context<'_>,
        running: Option<Running>,
    ) -> rusqlite::Result<Option<i64>> {
        if let Some(running) = running {
            RUNNING.set(running.tally);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Value;

    /// `sql` with `tally(KIND, …)` as [`call`] writes it.
    fn written(sql: &str) -> String {
        sql.replace("tally('", &format!("tally('{}", *SECRET))
    }

    /// The counts of one run over a whole table.
    fn run(conn: &Connection, sql: &str) -> Counts {
        let mut tally = Tally::default();
        assert!(tally.run(conn, &written(sql), &[]).unwrap());
        tally.counts.pop().unwrap_or_default()
    }

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
        let top = run(&conn, "select tally('v', v) from t").top(10);
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
                   select tally('v', x % 10) from c where x <= 995";
        let top = run(&conn, sql).top(3);
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
        let top = run(&conn, "select tally('e', v) from t").top(10);
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
    fn elements_are_those_that_sqlite_finds() {
        let conn = database();
        conn.execute_batch(
            r#"create table t(v); insert into t values
               ('[[1.50, "a \" b"], {"a" : "\u0041"}]'), ('{"k": "a", "k": "b"}'), ('[1e400, -0.5, 12345678901234567890]'),
               (5), (2.5), ('7'), ('"x"'), (' [ ] '), ('[true, false, null, 1]'), ('["\u00e9", "é"]')"#,
        )
        .unwrap();
        let counted = run(&conn, "select tally('e', v) from t").top(99);
        let mut asked = conn
            .prepare(
                "select value, count(*) from (select distinct t.rowid, j.value from t, json_each(t.v) j)
                 group by 1 order by 2 desc, 1",
            )
            .unwrap();
        let rows = asked.query_map([], |row| {
            Ok((
                Value::from(row.get_ref(0)?),
                row.get::<_, i64>(1)?.unsigned_abs(),
            ))
        });
        let expected: Vec<(Value, u64)> = rows.unwrap().map(Result::unwrap).collect();
        assert_eq!(counted, expected);
    }

    #[test]
    fn short_and_long_texts_are_told_apart_by_every_byte() {
        let conn = database();
        conn.execute_batch(
            "create table t(v); insert into t values ('a'), (cast(x'6100' as text)), (''),
             ('fifteen bytes!!'), ('sixteen bytes!!!'), ('fifteen bytes!!')",
        )
        .unwrap();
        let top = run(&conn, "select tally('v', v) from t").top(10);
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
    fn texts_of_every_length_come_out_as_they_went_in() {
        let conn = database();
        conn.execute_batch(
            "create table t(v); with recursive c(x) as (select 0 union all select x + 1 from c where x < 20)
             insert into t select substr('abcdefghijklmnopqrstuvwxyz', 1, x) from c",
        )
        .unwrap();
        let mut texts: Vec<_> = run(&conn, "select tally('v', v) from t").top(30);
        texts.sort_by_key(|(value, _)| value.display().len());
        for (length, (value, count)) in texts.iter().enumerate() {
            let expected = &"abcdefghijklmnopqrstuvwxyz"[..length];
            assert_eq!((value, count), (&Value::text(expected), &1));
        }
        assert_eq!(texts.len(), 21);
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
        let counts = run(&conn, "select tally('e', v) from t");
        assert_eq!((counts.len(), counts.has_repeats()), (50_000, false));
    }

    #[test]
    fn no_rows_give_no_groups() {
        let conn = database();
        assert!(run(&conn, "select tally('v', 1) from (select 1 where 0)").is_empty());
    }

    #[test]
    fn several_columns_are_counted_by_one_scan() {
        let conn = database();
        conn.execute_batch(
            r#"create table t(a, b); insert into t values (1, '["x"]'), (1, '["x", "y"]'), (null, null)"#,
        )
        .unwrap();
        let mut tally = Tally::default();
        tally
            .run(&conn, &written("select tally('ve', a, b) from t"), &[])
            .unwrap();
        assert_eq!(tally.rows, 3);
        let tops: Vec<_> = tally
            .counts
            .into_iter()
            .map(|counts| counts.top(9))
            .collect();
        assert_eq!(tops[0], [(Value::Integer(1), 2)]);
        assert_eq!(tops[1], [(Value::text("x"), 2), (Value::text("y"), 1)]);
    }

    #[test]
    fn parts_in_any_order_add_up_to_the_whole() {
        let conn = database();
        conn.execute_batch(
            "create table t(v); insert into t values (1.0), ('a'), (2), (1), ('a'), (2.0), (2.0)",
        )
        .unwrap();
        let part = |from: i64, to: i64| {
            let sql = format!("select tally('v', v) from t where rowid between {from} and {to}");
            let mut tally = Tally::default();
            tally.run(&conn, &written(&sql), &[]).unwrap();
            tally
        };
        let mut merged = part(6, 7);
        merged.merge(part(9, 9));
        merged.merge(part(1, 3));
        merged.merge(part(4, 5));
        let top = merged.counts.remove(0).top(9);
        let expected = [
            (Value::Integer(2), 3),
            (Value::Integer(1), 2),
            (Value::text("a"), 2),
        ];
        assert_eq!((merged.rows, top.as_slice()), (7, expected.as_slice()));
    }

    #[test]
    fn an_interrupted_scan_gives_what_it_has_counted() {
        let conn = database();
        let rows = "with recursive c(x) as (select 1 union all select x + 1 from c)";
        conn.progress_handler(100_000, Some(|| true)).unwrap();
        let mut tally = Tally::default();
        let ended = tally.run(
            &conn,
            &written(&format!("{rows} select tally('v', x % 2) from c")),
            &[],
        );
        assert!(!ended.unwrap());
        let counted: u64 = tally.counts[0].clone().top(9).iter().map(|(_, n)| n).sum();
        assert!(tally.rows > 100 && counted == tally.rows, "{counted}");
    }

    #[test]
    fn a_visitor_cannot_call_it() {
        let conn = database();
        let count = |sql: &str| conn.query_row(sql, [], |_| Ok(())).unwrap_err().to_string();
        assert!(count("select tally('v', 1)").contains("no such function"));
        assert!(count("select tally()").contains("no such function"));
        assert_eq!(
            call(&[
                (What::Values, "a".into()),
                (What::Elements, "date(b)".into())
            ]),
            format!("tally('{}ve', a, date(b))", *SECRET)
        );
    }
}
