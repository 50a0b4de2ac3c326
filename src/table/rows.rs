//! Rows as they come from SQLite.

use rusqlite::{Connection, ToSql, ffi};

use super::block::{Block, Row};
use super::filters::Params;

/// Rows that get their room before the first has come; more make more.
const ROWS_AT_FIRST: usize = 128;
/// Bytes of one row at the most: SQL can make a row of thousands of long values.
const LONGEST_ROW: usize = 256 << 20;

/// The rows of a page, row after row in one block.
#[derive(Debug, Default, Clone)]
pub struct Rows {
    /// Names of the columns, as SQLite gives them.
    pub columns: Vec<String>,
    block: Block,
}

impl Rows {
    /// No rows yet, of these columns.
    pub fn of(columns: Vec<String>) -> Self {
        Self {
            columns,
            block: Block::default(),
        }
    }

    /// Runs `sql` and keeps at most `limit` rows, whatever the SQL says; see [`Self::take`].
    pub fn query(
        connection: &Connection,
        sql: &str,
        params: &Params,
        limit: usize,
        most: usize,
    ) -> rusqlite::Result<(Self, bool)> {
        let mut statement = connection.prepare_cached(sql)?;
        let columns: Vec<String> = statement
            .column_names()
            .into_iter()
            .map(str::to_owned)
            .collect();
        bind(&mut statement, params)?;
        Self::take(columns, &mut statement.raw_query(), limit, most)
    }

    /// Takes up to `limit` rows from a statement that is under way, and stops
    /// earlier when their texts and blobs have more than `most` bytes. Says too
    /// whether the statement has ended.
    pub fn take(
        columns: Vec<String>,
        rows: &mut rusqlite::Rows<'_>,
        limit: usize,
        most: usize,
    ) -> rusqlite::Result<(Self, bool)> {
        let values = columns.len() * limit.min(ROWS_AT_FIRST);
        let mut taken = Self {
            columns,
            block: Block::with_capacity(values),
        };
        let ended = taken.take_next(rows, limit, most)?;
        Ok((taken, ended))
    }

    /// The same for the rows that come next, in the place and the memory of those taken before.
    pub fn take_next(
        &mut self,
        rows: &mut rusqlite::Rows<'_>,
        limit: usize,
        most: usize,
    ) -> rusqlite::Result<bool> {
        // The last row before the end may be far longer than the others.
        self.block.clear(most.saturating_mul(4));
        for _ in 0..limit {
            let Some(row) = rows.next()? else {
                return Ok(true);
            };
            let before = self.block.bytes();
            for n in 0..self.columns.len() {
                self.block.push(row.get_ref(n)?)?;
                if self.block.bytes() - before > LONGEST_ROW {
                    let error = ffi::Error::new(ffi::SQLITE_TOOBIG);
                    let message = "a row is too long to be shown".to_owned();
                    return Err(rusqlite::Error::SqliteFailure(error, Some(message)));
                }
            }
            if self.block.bytes() > most {
                break;
            }
        }
        Ok(false)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.block
            .len()
            .checked_div(self.columns.len())
            .unwrap_or(0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.block.is_empty()
    }

    /// How many bytes their texts and blobs have, to size what is made of them.
    pub fn bytes(&self) -> usize {
        self.block.bytes()
    }

    /// The rows.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Row<'_>> + ExactSizeIterator {
        self.block.rows(self.columns.len().max(1))
    }

    /// Keeps the first `count` rows.
    pub fn truncate(&mut self, count: usize) {
        self.block.truncate(count * self.columns.len());
    }

    /// Takes the last column off.
    pub fn drop_last_column(&mut self) {
        let width = self.columns.len();
        if self.columns.pop().is_some() {
            self.block.drop_last_of_each(width);
        }
    }

    /// The position of a column.
    pub fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|name| name == column)
    }
}

/// Binds named parameters. One that the SQL does not use is left out; one that
/// it uses and nobody gave stays NULL.
pub fn bind(statement: &mut rusqlite::Statement<'_>, params: &Params) -> rusqlite::Result<()> {
    let mut key = String::new();
    for (name, value) in params {
        key.clear();
        key.push(':');
        key.push_str(name);
        if let Some(index) = statement.parameter_index(&key)? {
            statement.raw_bind_parameter(index, value)?;
        }
    }
    Ok(())
}

/// The same parameters in the form that `rusqlite`'s own calls take, with their `:`.
pub fn with_colons(params: &Params) -> Vec<(String, &dyn ToSql)> {
    params
        .iter()
        .map(|(name, value)| (format!(":{name}"), value as &dyn ToSql))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::BorrowedValue;

    const SQL: &str = "with recursive c(x) as (select 1 union all select x + 1 from c where x < 25)
        select x, 'text ' || x as t, zeroblob(x) as z, null as n from c";

    fn taken(limit: usize, most: usize) -> (Rows, bool) {
        let connection = Connection::open_in_memory().unwrap();
        let mut statement = connection.prepare(SQL).unwrap();
        let columns = ["x", "t", "z", "n"].map(str::to_owned).to_vec();
        Rows::take(columns, &mut statement.raw_query(), limit, most).unwrap()
    }

    fn first_column(rows: &Rows) -> Vec<i64> {
        let numbers = rows.iter().map(|row| match row.value(0) {
            BorrowedValue::Integer(i) => i,
            other => panic!("{other:?}"),
        });
        numbers.collect()
    }

    #[test]
    fn rows_are_taken_up_to_a_number_or_to_so_many_bytes() {
        let (rows, ended) = taken(26, usize::MAX);
        assert_eq!((rows.len(), ended), (25, true));
        let (rows, ended) = taken(25, usize::MAX);
        assert_eq!((rows.len(), ended), (25, false));
        // Of 7 and 8 bytes, then of 9: more than 15 only with the third.
        let (rows, ended) = taken(25, 15);
        assert_eq!((first_column(&rows), ended), (vec![1, 2, 3], false));
        assert_eq!(rows.bytes(), 7 + 8 + 9);
    }

    #[test]
    fn rows_and_a_column_are_cut_off() {
        let (mut rows, _) = taken(25, usize::MAX);
        rows.truncate(2);
        rows.drop_last_column();
        assert_eq!(rows.columns, ["x", "t", "z"]);
        assert_eq!(first_column(&rows), [1, 2]);
        let last = rows.iter().next_back().unwrap();
        assert_eq!(last.value(1), BorrowedValue::Text(b"text 2"));
        assert_eq!(last.value(2), BorrowedValue::Blob(b"\0\0"));
        assert_eq!(last.get(3), None);
        rows.truncate(0);
        assert!(rows.is_empty());
    }

    #[test]
    fn the_next_rows_take_the_place_of_those_before() {
        let connection = Connection::open_in_memory().unwrap();
        let mut statement = connection.prepare(SQL).unwrap();
        let mut cursor = statement.raw_query();
        let mut rows = Rows::of(["x", "t", "z", "n"].map(str::to_owned).to_vec());
        let mut pieces = Vec::new();
        while !rows.take_next(&mut cursor, 10, usize::MAX).unwrap() {
            pieces.push(first_column(&rows));
        }
        assert_eq!(pieces.concat(), (1..=20).collect::<Vec<_>>());
        assert_eq!(first_column(&rows), [21, 22, 23, 24, 25]);
        let last = rows.iter().next_back().unwrap();
        assert_eq!(last.value(1), BorrowedValue::Text(b"text 25"));
    }
}
