//! Counts the rows of many tables, as jobs on one snapshot.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;

use crate::db::schema::Table;
use crate::db::snapshot::SqlError;
use crate::db::{Budget, Cancel, Database, Limit, PageSnapshot};
use crate::engine::Graph;
use crate::error::Result;
use crate::table::extras::count::count_all;

/// Tables a job: enough that thousands of tables are few jobs, few enough that
/// a database of ordinary size is more than one.
const TABLES: usize = 32;
/// Up to so many tables the statements stay prepared. More would push out
/// those of the other pages.
const KEPT_PREPARED: usize = 64;

/// What becomes of the counts if one is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The others stand.
    Leaves,
    /// All are given up: a sum over them would mislead.
    SpoilsAll,
}

/// The counting of a list of tables of one database.
pub struct Counting<'c> {
    database: &'c Database,
    snapshot: &'c PageSnapshot<'c>,
    cancel: &'c Cancel,
    tables: &'c [&'c Table],
    /// Of all tables of the page together.
    budget: &'c Budget,
    missing: Missing,
    spoilt: AtomicBool,
    /// One place a job.
    results: Vec<OnceLock<Result<Vec<Option<i64>>, SqlError>>>,
}

impl<'c> Counting<'c> {
    /// Makes ready to count `tables` within `budget`.
    pub fn new(
        database: &'c Database,
        snapshot: &'c PageSnapshot<'c>,
        cancel: &'c Cancel,
        tables: &'c [&'c Table],
        budget: &'c Budget,
        missing: Missing,
    ) -> Self {
        Self {
            database,
            snapshot,
            cancel,
            tables,
            budget,
            missing,
            spoilt: AtomicBool::new(false),
            results: tables.chunks(TABLES).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Adds the jobs.
    pub fn add_to<'j>(&'j self, graph: &mut Graph<'j>) {
        for (tables, result) in self.tables.chunks(TABLES).zip(&self.results) {
            graph.add(&[], move || {
                // The place is empty: it is this job's alone.
                let _ = result.set(self.count_all(tables));
            });
        }
    }

    /// The counts, in the order of the tables; none at all if one is missing
    /// and [`Missing::SpoilsAll`]. To be called when the graph has run.
    pub fn finish(self) -> Result<Vec<Option<i64>>> {
        let mut counts = Vec::with_capacity(self.tables.len());
        for result in self.results {
            match result.into_inner() {
                Some(result) => counts.extend(result?),
                None => return Err(SqlError::Cancelled.into()),
            }
        }
        if self.missing == Missing::SpoilsAll && counts.contains(&None) {
            counts.clear();
        }
        Ok(counts)
    }

    fn count_all(&self, tables: &[&Table]) -> Result<Vec<Option<i64>>, SqlError> {
        let known: Option<Vec<i64>> = tables
            .iter()
            .map(|table| self.database.known_count(&table.name))
            .collect();
        if let Some(known) = known {
            return Ok(known.into_iter().map(Some).collect());
        }
        // The budget is spent table by table, not by the job.
        self.snapshot.read(Limit::NONE, |connection| {
            Ok(tables
                .iter()
                .map(|table| self.count(connection, table))
                .collect())
        })
    }

    /// Counts one table. Whatever is wrong with it, others can be counted.
    fn count(&self, connection: &Connection, table: &Table) -> Option<i64> {
        if self.cancel.is_cancelled() || self.spoilt.load(Ordering::Relaxed) {
            return None;
        }
        if let Some(known) = self.database.known_count(&table.name) {
            return Some(known);
        }
        let keep = self.tables.len() <= KEPT_PREPARED;
        let counted = self.budget.enforce(connection, self.cancel, |connection| {
            count_all(connection, &table.name, keep)
        });
        let counted = counted.and_then(Result::ok);
        if let Some(count) = counted {
            self.database.keep_count(&table.name, count);
        } else {
            self.snapshot.note_gap();
            if self.missing == Missing::SpoilsAll {
                self.spoilt.store(true, Ordering::Relaxed);
            }
        }
        counted
    }
}
