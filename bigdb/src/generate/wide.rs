//! Tables that differ in nothing but how many columns they have.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Result, bail};
use rusqlite::Connection;

use super::skew::Draws;
use super::{file, words};

/// More columns than this make `SQLite` refuse the table
/// (`SQLITE_MAX_COLUMN` in <https://sqlite.org/limits.html>).
const MOST_COLUMNS: usize = 2_000;

/// Options of [`generate_wide`].
#[derive(Clone, Debug)]
pub struct WideOptions {
    /// Rows of each table.
    pub rows: u32,
    /// Columns of each table with its key, from 2 to 2,000: one table a number.
    pub columns: Vec<usize>,
    /// Where the random numbers start; equal seeds give equal files.
    pub seed: u64,
}

/// What the table of so many columns is called.
pub fn wide_table(columns: usize) -> String {
    format!("wide_{columns}")
}

/// Writes a database with a table of each number of columns to `out`, under
/// another name until it is whole.
///
/// The first column is the key, `id`; the others are integers, texts and reals in
/// turn. A tenth of the values is NULL.
///
/// # Errors
/// If a number of columns is out of range or given twice, if `out` exists and was
/// not generated, or if the disk fails.
pub fn generate_wide(out: &Path, options: &WideOptions) -> Result<()> {
    for &columns in &options.columns {
        if !(2..=MOST_COLUMNS).contains(&columns) {
            bail!("columns must be from 2 to {MOST_COLUMNS}, not {columns}");
        }
    }
    file::write_whole(out, |partial| fill(partial, options))?;
    Ok(())
}

fn fill(path: &Path, options: &WideOptions) -> Result<()> {
    let db = file::create(path)?;
    let mut draws = Draws::new(options.seed);
    db.execute_batch("begin")?;
    for &columns in &options.columns {
        write_table(&db, columns, options.rows, &mut draws)?;
    }
    db.execute_batch("commit")?;
    db.close().map_err(|(_, error)| error)?;
    Ok(())
}

fn write_table(db: &Connection, columns: usize, rows: u32, draws: &mut Draws) -> Result<()> {
    let table = wide_table(columns);
    let mut create = format!("create table {table} (id integer primary key");
    let mut insert = format!("insert into {table} values (?1");
    for column in 2..=columns {
        let (kind, prefix) = match column % 3 {
            0 => ("text", "word"),
            1 => ("real", "price"),
            _ => ("integer", "number"),
        };
        write!(create, ", {prefix}_{column} {kind}")?;
        write!(insert, ", ?{column}")?;
    }
    db.execute_batch(&format!("{create})"))?;
    let mut insert = db.prepare(&format!("{insert})"))?;
    for id in 1..=rows {
        insert.raw_bind_parameter(1, id)?;
        for column in 2..=columns {
            let is_null = draws.chance(100);
            match column % 3 {
                0 => {
                    let word = draws.pick(&words::PLACES);
                    insert.raw_bind_parameter(column, (!is_null).then_some(word))?;
                }
                1 => {
                    let price = f64::from(draws.below(100_000)) / 100.0;
                    insert.raw_bind_parameter(column, (!is_null).then_some(price))?;
                }
                _ => {
                    let number = draws.below(1_000_000);
                    insert.raw_bind_parameter(column, (!is_null).then_some(number))?;
                }
            }
        }
        insert.raw_execute()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn options(seed: u64) -> WideOptions {
        WideOptions {
            rows: 300,
            columns: vec![2, 10, 200],
            seed,
        }
    }

    #[test]
    fn every_table_has_its_columns_and_rows() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("wide.db");
        generate_wide(&out, &options(1)).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let db = Connection::open(out).unwrap();
        for columns in [2, 10, 200] {
            let table = wide_table(columns);
            let rows = db.prepare(&format!("select * from {table}")).unwrap();
            assert_eq!(rows.column_count(), columns);
            drop(rows);
            let count: u32 = db
                .query_row(&format!("select count(*) from {table}"), [], |row| {
                    row.get(0)
                })
                .unwrap();
            assert_eq!(count, 300);
        }
    }

    #[test]
    fn values_are_of_three_kinds_and_some_are_missing() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("wide.db");
        generate_wide(&out, &options(1)).unwrap();
        let db = Connection::open(out).unwrap();
        for (column, kind) in [
            ("number_2", "integer"),
            ("word_3", "text"),
            ("price_4", "real"),
        ] {
            let sql = format!(
                "select sum(typeof({column}) = '{kind}'), sum({column} is null) from wide_10"
            );
            let (typed, missing): (u32, u32) = db
                .query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
                .unwrap();
            assert_eq!(typed + missing, 300, "{column}");
            assert!((5..100).contains(&missing), "{column}: {missing}");
        }
    }

    #[test]
    fn a_seed_gives_the_same_bytes_every_time() {
        let dir = tempfile::tempdir().unwrap();
        let made = |name: &str, seed| {
            let out = dir.path().join(name);
            generate_wide(&out, &options(seed)).unwrap();
            fs::read(out).unwrap()
        };
        let first = made("a.db", 7);
        assert!(first == made("b.db", 7));
        assert!(first != made("c.db", 8));
    }

    #[test]
    fn columns_out_of_range_are_refused() {
        for columns in [1, MOST_COLUMNS + 1] {
            let options = WideOptions {
                rows: 1,
                columns: vec![columns],
                seed: 1,
            };
            assert!(generate_wide(Path::new("never-made.db"), &options).is_err());
        }
    }
}
