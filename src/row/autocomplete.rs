//! Rows by a part of their label or key, for a field that names a row of another table.
//!
//! The table is read once, at most for [`MOST_MS`], and the best rows so far are
//! kept: so a table that is too large to be read gives what was found in it, and the
//! row whose key was typed in any case.

use std::cmp::Ordering;

use rusqlite::{Connection, Row, Statement};

use crate::auth::Asker;
use crate::config::Config;
use crate::db::snapshot::SqlError;
use crate::db::{Cancel, Database, Limit, PageSnapshot, Value};
use crate::error::{Error, Result};
use crate::table::extras::labels::label_column;
use crate::table::key::{Key, key_of};
use crate::text::identifier::escape;

/// Rows in an answer. Datasette's.
const ROWS: usize = 10;
/// Milliseconds that reading the table may take: somebody is typing.
const MOST_MS: u64 = 250;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Rows with this text in their label or their key.
    Like(String),
    /// The rows with the highest keys: something to begin with.
    Latest,
}

/// A row that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The values of its key.
    pub key: Vec<Value>,
    /// Its label, if the table has one.
    pub label: Option<Value>,
    rank: u8,
    /// Characters of the label of a row that was found by it: what was typed is more of a shorter one.
    length: usize,
}

/// What was found.
#[derive(Debug, PartialEq)]
pub struct Rows {
    /// The columns of the key.
    pub key_columns: Vec<String>,
    /// The rows, the best first.
    pub rows: Vec<Found>,
    /// Whether time was up before the whole table had been read.
    pub is_partial: bool,
    /// Whether the answer stays the same as long as the database does.
    pub lasts: bool,
}

/// Looks for rows of a table. [`Error::BadRequest`] for a view, whose rows have no key.
pub fn autocomplete(
    config: &Config,
    asker: Asker<'_>,
    database: &Database,
    table: &str,
    wanted: &Wanted,
    cancel: &Cancel,
) -> Result<Rows> {
    let snapshot = PageSnapshot::begin(database, cancel)?;
    let schema = asker.schema(&database.name, snapshot.schema()?);
    let not_found = || Error::NotFound(format!("Table not found: {table}"));
    let table = schema.table(table).ok_or_else(not_found)?;
    if let Some(reason) = &table.broken {
        let message = format!("{} can't be read: {reason}", table.name);
        return Err(Error::InvalidSql(message));
    }
    let (key, key_columns) = key_of(table);
    if key == Key::None {
        let message = format!(
            "{} has no key: only rows of tables can be looked up",
            table.name
        );
        return Err(Error::BadRequest(message));
    }
    let label = label_column(config, &database.name, table)
        .filter(|label| table.find_column(label).is_some());
    let sql = Sql::new(&table.name, &key_columns, label);
    let ms = match config.settings.sql_time_limit_ms {
        0 => MOST_MS,
        ms => ms.min(MOST_MS),
    };
    let mut best = Best::default();
    let read = snapshot.read(Limit::millis(ms), |connection| match wanted {
        Wanted::Latest => sql.latest(connection, &mut best),
        Wanted::Like(text) if text.is_empty() => Ok(()),
        Wanted::Like(text) => sql.like(connection, text, &mut best),
    });
    let is_partial = match read {
        Ok(()) => false,
        Err(SqlError::TimeLimit) => true,
        Err(error) => return Err(error.into()),
    };
    Ok(Rows {
        key_columns,
        rows: best.rows,
        is_partial,
        lasts: table.steady && !snapshot.has_gaps(),
    })
}

/// The statements.
struct Sql<'s> {
    /// Columns of the key, then the label.
    select: String,
    keys: Vec<String>,
    label: Option<&'s str>,
}

impl<'s> Sql<'s> {
    fn new(table: &str, key_columns: &[String], label: Option<&'s str>) -> Self {
        let keys: Vec<String> = key_columns.iter().map(|k| escape(k).into_owned()).collect();
        let label_sql = label.map_or("null".into(), escape);
        let select = format!(
            "select {}, {label_sql} from {}",
            keys.join(", "),
            escape(table)
        );
        Self {
            select,
            keys,
            label,
        }
    }

    fn latest(&self, connection: &Connection, best: &mut Best) -> rusqlite::Result<()> {
        let order: Vec<String> = self.keys.iter().map(|key| format!("{key} desc")).collect();
        let sql = format!("{} order by {} limit {ROWS}", self.select, order.join(", "));
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            best.rows.push(self.found(row, None)?);
        }
        Ok(())
    }

    fn like(&self, connection: &Connection, text: &str, best: &mut Best) -> rusqlite::Result<()> {
        // By its index, before the table is read; SQLite turns the text into what the column holds.
        if let [key] = self.keys.as_slice() {
            let sql = format!("{} where {key} = ?1 limit 1", self.select);
            let mut statement = connection.prepare_cached(&sql)?;
            statement.raw_bind_parameter(1, text)?;
            self.take(&mut statement, text, best)?;
        }
        let columns = self.keys.iter().map(String::as_str);
        let label = self.label.map(|label| escape(label).into_owned());
        let conditions: Vec<String> = label
            .iter()
            .map(String::as_str)
            .chain(columns)
            .map(|column| format!("{column} like ?1 escape '\\'"))
            .collect();
        let sql = format!("{} where {}", self.select, conditions.join(" or "));
        let mut statement = connection.prepare_cached(&sql)?;
        statement.raw_bind_parameter(1, pattern(text))?;
        self.take(&mut statement, text, best)
    }

    fn take(
        &self,
        statement: &mut Statement<'_>,
        text: &str,
        best: &mut Best,
    ) -> rusqlite::Result<()> {
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            best.offer(self.found(row, Some(text))?);
        }
        Ok(())
    }

    fn found(&self, row: &Row<'_>, text: Option<&str>) -> rusqlite::Result<Found> {
        let count = self.keys.len();
        let key: Vec<Value> = (0..count)
            .map(|n| Ok(row.get_ref(n)?.into()))
            .collect::<rusqlite::Result<_>>()?;
        let label = match self.label {
            Some(_) => Some(Value::from(row.get_ref(count)?)),
            None => None,
        };
        let (rank, length) = text.map_or((0, 0), |text| rank(&key, label.as_ref(), text));
        Ok(Found {
            key,
            label,
            rank,
            length,
        })
    }
}

/// How good a row is, the best being the least: one whose only key is what was
/// typed; those found by their label; those found by a part of their key.
fn rank(key: &[Value], label: Option<&Value>, text: &str) -> (u8, usize) {
    if let [only] = key
        && only.display() == text
    {
        return (0, 0);
    }
    let label = label.filter(|label| !label.is_null()).map(Value::display);
    let found = label.filter(|label| contains(label, text));
    found.map_or((2, 0), |label| (1, label.chars().count()))
}

/// Whether a text is in another one, as LIKE has it: ASCII letters match in any case.
fn contains(text: &str, part: &str) -> bool {
    text.to_ascii_lowercase()
        .contains(&part.to_ascii_lowercase())
}

/// A pattern for LIKE of everything that has `text` in it.
fn pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

/// The best rows so far, in order.
#[derive(Default)]
struct Best {
    rows: Vec<Found>,
}

impl Best {
    fn offer(&mut self, found: Found) {
        let place = self
            .rows
            .partition_point(|row| compare(row, &found).is_lt());
        let is_there = self
            .rows
            .get(place)
            .is_some_and(|row| compare(row, &found).is_eq());
        if place < ROWS && !is_there {
            self.rows.truncate(ROWS - 1);
            self.rows.insert(place, found);
        }
    }
}

fn compare(a: &Found, b: &Found) -> Ordering {
    let by_rank = (a.rank, a.length).cmp(&(b.rank, b.length));
    by_rank.then_with(|| {
        let pairs = a.key.iter().zip(&b.key);
        let mut orders = pairs.map(|(a, b)| a.compare(b));
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::registry::test_database;

    const SQL: &str = "create table p(id integer primary key, name text);
        insert into p values (1, 'abc 12'), (2, '12 zebra'), (3, '12'), (12, 'zz'), (112, 'xx'),
            (120, 'twelve'), (6, '100%'), (7, '100x'), (8, 'a_b'), (9, 'axb'), (10, null);
        create table pair(a text, b text, name text, primary key (a, b));
        insert into pair values ('x', 'y', 'hello'), ('y', 'x', 'world'), ('zx', 'x1', 'ex');
        create table bare(note text, more text); insert into bare values ('n', 'm'), ('n', 'm');
        create view v as select 1;";

    fn look(table: &str, wanted: &Wanted) -> Result<Rows> {
        let (_folder, database) = test_database(SQL);
        let (config, cancel) = (Config::default(), Cancel::default());
        autocomplete(&config, Asker::default(), &database, table, wanted, &cancel)
    }

    fn keys(table: &str, text: &str) -> Vec<String> {
        let rows = look(table, &Wanted::Like(text.into())).unwrap().rows;
        let key = |row: &Found| {
            let parts: Vec<_> = row.key.iter().map(Value::display).collect();
            parts.join(",")
        };
        rows.iter().map(key).collect()
    }

    #[test]
    fn the_key_itself_comes_first_then_short_labels_then_parts_of_keys() {
        assert_eq!(keys("p", "12"), ["12", "3", "1", "2", "112", "120"]);
        assert_eq!(keys("p", "TWEL"), ["120"]);
        assert_eq!(keys("pair", "x"), ["zx,x1", "x,y", "y,x"]);
        assert_eq!(keys("bare", "1"), ["1"]);
    }

    #[test]
    fn what_like_has_a_meaning_for_is_looked_for_as_it_is() {
        assert_eq!(keys("p", "0%"), ["6"]);
        assert_eq!(keys("p", "a_b"), ["8"]);
        assert!(keys("p", "\\").is_empty());
    }

    #[test]
    fn nothing_is_found_by_nothing_but_the_latest_can_be_had() {
        assert!(keys("p", "").is_empty());
        let rows = look("p", &Wanted::Latest).unwrap();
        assert_eq!(rows.rows.len(), 10);
        assert_eq!(rows.rows[0].key, [Value::Integer(120)]);
        assert!(!rows.is_partial && rows.lasts);
    }

    #[test]
    fn a_view_and_a_table_that_is_not_there_are_told_apart() {
        assert_eq!(look("v", &Wanted::Latest).unwrap_err().status(), 400);
        assert_eq!(look("nope", &Wanted::Latest).unwrap_err().status(), 404);
    }
}
