//! The process that changes a database while a server reads it.
//!
//! Every transaction moves some rows from one group to the other, adds a row
//! that holds what is true after it, and removes the oldest row once the table
//! is full. So the newest row of a page tells what the rest of the page must say.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use rusqlite::{Connection, TransactionBehavior};

/// Rows of the table when it is full.
const FULL: u64 = 2_000;
/// Of so many rows in a line, each transaction moves one.
const STRIDE: u64 = 97;
/// Readers keep a writer of a rollback-journal database out for a while.
const BUSY_LIMIT: Duration = Duration::from_mins(1);

/// How a database keeps its transactions.
#[derive(Clone, Copy, Debug)]
pub enum Journal {
    Wal,
    Rollback,
}

impl Journal {
    pub fn name(self) -> &'static str {
        match self {
            Journal::Wal => "WAL",
            Journal::Rollback => "rollback journal",
        }
    }
}

/// Makes the database with a first few rows.
pub fn create(path: &Path, journal: Journal) -> Result<()> {
    let mut db = Connection::open(path)?;
    let mode = match journal {
        Journal::Wal => "wal",
        Journal::Rollback => "delete",
    };
    db.pragma_update(None, "journal_mode", mode)?;
    db.execute_batch(
        "create table moves (
             id integer primary key,
             grp text not null,      -- 'a' or 'b'
             total integer not null, -- rows of the table after the row was added
             in_a integer not null   -- rows of group a then
         )",
    )?;
    // Nobody needs these to survive a power cut.
    db.pragma_update(None, "synchronous", "off")?;
    for number in 1..=500 {
        change(&mut db, number)?;
    }
    Ok(())
}

/// Changes the database until stdin closes. Writes the number of each
/// transaction, which is the id of the row it adds, to `out` once it is committed.
pub fn run(path: &Path, out: &mut dyn Write) -> Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    thread::spawn(move || {
        // An error means the same as the end: nobody is there any more.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        told.store(true, Ordering::Relaxed);
    });
    let mut db = Connection::open(path)?;
    db.busy_timeout(BUSY_LIMIT)?;
    let last: u64 = db
        .query_row("select max(id) from moves", [], |row| row.get::<_, i64>(0))?
        .try_into()?;
    for number in last + 1.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        change(&mut db, number)?;
        writeln!(out, "{number}")?;
        out.flush()?;
    }
    Ok(())
}

fn change(db: &mut Connection, number: u64) -> Result<()> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let number_signed = number.cast_signed();
    transaction
        .prepare_cached(
            "update moves set grp = case grp when 'a' then 'b' else 'a' end where id % ?1 = ?2",
        )?
        .execute([STRIDE.cast_signed(), (number % STRIDE).cast_signed()])?;
    transaction
        .prepare_cached("delete from moves where id <= ?1")?
        .execute([number_signed - FULL.cast_signed()])?;
    transaction
        .prepare_cached(
            "insert into moves (id, grp, total, in_a)
             select ?1, ?2, count(*) + 1, ifnull(sum(grp = 'a'), 0) + (?2 = 'a') from moves",
        )?
        // Two of three rows are born in a, so that the groups differ in size.
        .execute(rusqlite::params![
            number_signed,
            if number.is_multiple_of(3) { "b" } else { "a" }
        ])?;
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_row_tells_the_truth() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("moves.db");
        create(&path, Journal::Rollback).unwrap();
        let mut db = Connection::open(&path).unwrap();
        db.pragma_update(None, "synchronous", "off").unwrap();
        for number in 501..=2_600 {
            change(&mut db, number).unwrap();
        }
        let newest = db
            .query_row(
                "select total, in_a from moves order by id desc limit 1",
                [],
                |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)),
            )
            .unwrap();
        let counted = db
            .query_row("select count(*), sum(grp = 'a') from moves", [], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
            })
            .unwrap();
        assert_eq!(newest, counted);
        assert_eq!(counted.0, i64::try_from(FULL).unwrap());
    }
}
