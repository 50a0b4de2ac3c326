//! All facets of a page that one scan can count, counted by one scan: hash maps
//! fill while SQLite steps through the rows that match, and the rows are
//! cut into morsels that several jobs share.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use parking_lot::Mutex;
use rusqlite::{Connection, ToSql};

use super::facets::FacetValues;
use super::{FacetKind, FacetRequest};
use crate::db::snapshot::SqlError;
use crate::db::tally::{Counts, Tally, What, call};
use crate::db::{Budget, Cancel, Limit, PageSnapshot};
use crate::engine::Morsels;
use crate::error::Result;
use crate::table::Plan;
use crate::table::filters::Params;
use crate::table::morsel::MorselSql;
use crate::table::rows::with_colons;
use crate::text::identifier::escape;

/// A scan that counts facets.
pub struct FacetScan<'s> {
    snapshot: &'s PageSnapshot<'s>,
    plan: &'s Plan,
    cancel: &'s Cancel,
    sql: String,
    facets: usize,
    /// None if the rows are read in one go.
    morsels: Option<(Morsels, &'s MorselSql)>,
    /// Whether those rows are still to be read.
    next: AtomicBool,
    budget: Budget,
    /// What the jobs that have ended counted.
    counted: Mutex<Tally>,
    /// Whether the time was up before the end.
    is_cut: AtomicBool,
}

/// What a job counts before it looks for more.
enum Piece {
    /// All rows.
    All,
    /// Those that the parameters bound.
    Morsel(Params),
}

impl<'s> FacetScan<'s> {
    /// Makes ready to count `facets` within `limit_ms` milliseconds for each (0 is no
    /// limit), by up to `threads` jobs at the same time.
    pub fn new(
        snapshot: &'s PageSnapshot<'s>,
        plan: &'s Plan,
        cancel: &'s Cancel,
        facets: &[&FacetRequest],
        limit_ms: u64,
        threads: usize,
    ) -> Result<Self> {
        let parts = match &plan.morsel {
            Some(sql) if threads > 1 => {
                let morsels = Morsels::new(row_numbers(snapshot, sql)?, threads);
                (morsels.len() > 1).then_some((morsels, sql))
            }
            _ => None,
        };
        let arguments: Vec<_> = facets.iter().map(|facet| argument(facet)).collect();
        let rows = parts.as_ref().map_or(&plan.from_sql, |(_, sql)| &sql.from);
        let limit_ms = limit_ms.saturating_mul(facets.len() as u64);
        Ok(Self {
            facets: facets.len(),
            sql: format!("select {} {rows}", call(&arguments)),
            snapshot,
            plan,
            cancel,
            morsels: parts,
            next: AtomicBool::new(true),
            budget: Budget::millis(limit_ms),
            counted: Mutex::default(),
            is_cut: AtomicBool::new(false),
        })
    }

    /// How many jobs can take part.
    pub fn jobs(&self, threads: usize) -> usize {
        let morsels = self.morsels.as_ref();
        morsels.map_or(1, |(morsels, _)| morsels.len().min(threads))
    }

    /// One job: counts morsels until none is left, or no time.
    pub fn run(&self) -> Result<()> {
        let Some(first) = self.take() else {
            return Ok(());
        };
        let mut tally = Tally::default();
        self.snapshot.read(Limit::NONE, |connection| {
            let mut morsel = Some(first);
            while let Some(this) = morsel.take() {
                if !self.count(connection, &mut tally, &this)? {
                    self.is_cut.store(true, Relaxed);
                    break;
                }
                morsel = self.take();
            }
            Ok(())
        })?;
        if self.is_cut.load(Relaxed) {
            if self.cancel.is_cancelled() {
                return Err(SqlError::Cancelled.into());
            }
            self.snapshot.note_gap();
        }
        self.add(tally);
        Ok(())
    }

    /// Leaves `tally` for [`Self::finish`], without merging under the lock.
    fn add(&self, mut tally: Tally) {
        loop {
            let mut counted = self.counted.lock();
            if counted.counts.is_empty() && counted.rows == 0 {
                *counted = tally;
                return;
            }
            let other = std::mem::take(&mut *counted);
            drop(counted);
            tally.merge(other);
        }
    }

    /// Counts one morsel. `false` if the time is up.
    fn count(
        &self,
        connection: &Connection,
        tally: &mut Tally,
        piece: &Piece,
    ) -> rusqlite::Result<bool> {
        let params = match piece {
            Piece::All => &self.plan.from_params,
            Piece::Morsel(params) => params,
        };
        let named = with_colons(params);
        let params: Vec<(&str, &dyn ToSql)> = named
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        let ended = self.budget.enforce(connection, self.cancel, |connection| {
            tally.run(connection, &self.sql, &params)
        });
        ended.unwrap_or(Ok(false))
    }

    /// The next piece that nobody has taken.
    fn take(&self) -> Option<Piece> {
        if self.is_cut.load(Relaxed) {
            return None;
        }
        match &self.morsels {
            Some((morsels, sql)) => {
                let range = morsels.take()?;
                Some(Piece::Morsel(sql.params(range.into_inner())))
            }
            None => self.next.swap(false, Relaxed).then_some(Piece::All),
        }
    }

    /// The `size` most frequent values of each facet, when all jobs have ended; none
    /// where there was no time for as many rows as would say something.
    pub fn finish(&self, size: usize) -> Vec<Option<FacetValues>> {
        let mut tally = std::mem::take(&mut *self.counted.lock());
        let rows_scanned = self.is_cut.load(Relaxed).then_some(tally.rows);
        if rows_scanned == Some(0) {
            return vec![None; self.facets];
        }
        // Where no row matches nothing was begun.
        tally.counts.resize_with(self.facets, Counts::default);
        let values = tally.counts.into_iter().map(|counts| {
            // A part in which no value came twice tells nothing of the whole.
            let is_worth_it = rows_scanned.is_none() || counts.has_repeats();
            is_worth_it.then(|| FacetValues {
                rows_scanned,
                ..FacetValues::first(counts.top(size + 1), size)
            })
        });
        values.collect()
    }
}

/// The expression of a facet whose values are counted.
fn argument(facet: &FacetRequest) -> (What, String) {
    let column = escape(&facet.column);
    match facet.kind {
        FacetKind::Column => (What::Values, column.into()),
        // Texts that begin with a letter are no dates, but to `date()` some mean today.
        FacetKind::Date => {
            let date = format!("iif({column} collate binary < ':', date({column}), null)");
            (What::Values, date)
        }
        FacetKind::Array => (What::Elements, column.into()),
    }
}

/// The first row number that can match and the last.
fn row_numbers(snapshot: &PageSnapshot<'_>, sql: &MorselSql) -> Result<RangeInclusive<i64>> {
    let named = with_colons(&sql.ends_params);
    let params: Vec<(&str, &dyn ToSql)> = named
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    let ends: (Option<i64>, Option<i64>) = snapshot.read(Limit::NONE, |connection| {
        connection
            .prepare_cached(&sql.ends)?
            .query_row(params.as_slice(), |row| Ok((row.get(0)?, row.get(1)?)))
    })?;
    // No row at all: one morsel of a row that is not there.
    Ok(ends.0.unwrap_or(0)..=ends.1.unwrap_or(0))
}
