//! Random tables for property tests. One server serves all tables of a test,
//! which makes them with new names while it runs, as another program would.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::server::{Server, Site};

/// A value of a random table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// NULL
    Null,
    /// An integer.
    Integer(i64),
    /// A float, infinite ones too.
    Real(f64),
    /// Text, which may be no UTF-8.
    Text(Vec<u8>),
    /// A blob.
    Blob(Vec<u8>),
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(n) => ValueRef::Integer(*n),
            Self::Real(r) => ValueRef::Real(*r),
            Self::Text(text) => ValueRef::Text(text),
            Self::Blob(blob) => ValueRef::Blob(blob),
        }))
    }
}

/// Few cases, for each is a table and many requests; or as many as `PROPTEST_CASES` says.
pub fn cases(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig {
        cases: asked.and_then(|n| n.parse().ok()).unwrap_or(cases),
        failure_persistence: None,
        max_shrink_iters: 60,
        ..ProptestConfig::default()
    }
}

/// Short texts of few characters, so that there are ties, with all that has a meaning in URLs, tokens and SQL.
pub fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[aAbB]{0,2}",
        3 => "[ ,~$+%/.?#&='\"\\\\;_:<>*éß🎉-]{0,4}",
        1 => Just("$null".to_owned()),
        1 => Just("None".to_owned()),
        1 => Just("1e3".to_owned()),
        1 => Just("inf".to_owned()),
        1 => Just("nul\u{0}nul".to_owned()),
        1 => (-2..12i64).prop_map(|n| n.to_string()),
    ]
}

/// Any value, NULL among them.
pub fn cell() -> impl Strategy<Value = Cell> {
    prop_oneof![2 => Just(Cell::Null), 12 => value()]
}

/// Any value but NULL.
pub fn value() -> impl Strategy<Value = Cell> {
    prop_oneof![
        4 => (-3..4i64).prop_map(Cell::Integer),
        1 => prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(1 << 53), Just((1 << 53) + 1)].prop_map(Cell::Integer),
        2 => (-4..5i32).prop_map(|n| Cell::Real(f64::from(n) / 2.0)),
        1 => prop_oneof![Just(0.1), Just(1e19), Just(-1e300), Just(f64::INFINITY), Just(f64::NEG_INFINITY)].prop_map(Cell::Real),
        5 => text().prop_map(|text| Cell::Text(text.into_bytes())),
        1 => Just(Cell::Text(vec![b'a', 0xff])),
        2 => prop::collection::vec(prop_oneof![Just(0u8), Just(b'a'), Just(255)], 0..3).prop_map(Cell::Blob),
    ]
}

/// A server over `random.db`, to which tests add tables while it runs.
pub fn server() -> Server {
    Site::new()
        .database("random", "pragma journal_mode = wal")
        .setting("facet_time_limit_ms", "20000")
        .setting("sql_time_limit_ms", "20000")
        .start()
}

/// Makes a table of a new name with these columns and rows. What follows a `|` in
/// `declaration` stands after the parentheses: `without rowid`.
pub fn table(
    server: &Server,
    declaration: &str,
    rows: impl IntoIterator<Item = Vec<Cell>>,
) -> String {
    let name = new_name();
    let mut connection = server.open("random.db");
    let transaction = connection.transaction().unwrap();
    let (columns, options) = declaration.split_once('|').unwrap_or((declaration, ""));
    transaction
        .execute_batch(&format!("create table {name}({columns}) {options}"))
        .unwrap();
    for row in rows {
        let places = vec!["?"; row.len()].join(", ");
        let sql = format!("insert into {name} values ({places})");
        let mut insert = transaction.prepare_cached(&sql).unwrap();
        // A row that the table does not take, such as one of a key that is taken, is left out.
        let _ = insert.execute(rusqlite::params_from_iter(&row));
    }
    transaction.commit().unwrap();
    name
}

/// A name that no table has yet.
pub fn new_name() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("t{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
