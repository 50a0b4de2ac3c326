//! Writes a large database that looks like somebody's real one.
//!
//! Every value follows from the seed and the number of rows, by integer
//! arithmetic alone, and every statement runs in the same order: two runs give
//! the same bytes, with the same release of `SQLite`. Rows go straight from reused buffers into one prepared
//! statement inside one transaction, so memory does not grow with their number.
//!
//! The tables: `events`, the wide one; `categories` and `venues`, which it points
//! to; `reviews` of at most 20,000 rows with the full-text index `reviews_fts`.
//! `events` itself has neither an index nor full-text search, which would take
//! longer to build than its rows take to write.

mod calendar;
mod events;
mod file;
mod lookup;
mod schema;
mod skew;
mod states;
mod wide;
mod words;

pub use wide::{WideOptions, generate_wide, wide_table};

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use calendar::Calendar;
use events::Events;
use skew::Draws;

/// Rows of `venues`, in a database large enough to fill them.
const MOST_VENUES: u64 = 2_000;
/// Rows of `reviews`, in a database large enough to fill them.
const MOST_REVIEWS: u64 = 20_000;

/// Options of [`generate`].
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Rows of the table `events`, from 1 to `u32::MAX`.
    pub rows: u64,
    /// Where the random numbers start; equal seeds give equal files.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            rows: 500_000,
            seed: 1,
        }
    }
}

/// What [`generate`] wrote.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Rows of the table `events`.
    pub rows: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Wall time from start to rename.
    pub elapsed: Duration,
}

/// Writes a generated database to `out`.
///
/// `progress` is called at least every 10,000 rows of `events` with the number
/// of rows written so far. The file grows under the name `out` + ".partial" and
/// is renamed when it is whole, so a run that is cut off leaves no half file
/// under `out`.
///
/// # Errors
/// If `options.rows` is out of range, if `out` exists and was not generated, if
/// a journal or WAL lies beside it, or if the disk fails.
pub fn generate(out: &Path, options: &Options, progress: &mut dyn FnMut(u64)) -> Result<Summary> {
    let started = Instant::now();
    if options.rows == 0 || u32::try_from(options.rows).is_err() {
        bail!("rows must be from 1 to {}, not {}", u32::MAX, options.rows);
    }
    let bytes = file::write_whole(out, |partial| fill(partial, options, progress))?;
    Ok(Summary {
        rows: options.rows,
        bytes,
        elapsed: started.elapsed(),
    })
}

fn fill(path: &Path, options: &Options, progress: &mut dyn FnMut(u64)) -> Result<()> {
    let db = file::create(path)?;
    db.execute_batch("begin")?;
    db.execute_batch(schema::TABLES)?;
    let rows = options.rows;
    let calendar = Calendar::new();
    let mut draws = Draws::new(options.seed);
    let category_ids = lookup::write_categories(&db)?;
    let venues = u32::try_from((rows / 50).clamp(20, MOST_VENUES))?;
    let venue_states = lookup::write_venues(&db, venues, &mut draws)?;
    let events = Events {
        rows,
        category_ids: &category_ids,
        venue_states: &venue_states,
        calendar: &calendar,
    };
    events::write_events(&db, &events, &mut draws, progress)?;
    let reviews = u32::try_from((rows / 10).clamp(20, MOST_REVIEWS))?;
    lookup::write_reviews(&db, reviews, u32::try_from(rows)?, &calendar, &mut draws)?;
    db.execute_batch(schema::INDEXES)?;
    db.execute_batch("commit")?;
    progress(rows);
    db.close().map_err(|(_, error)| error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use rusqlite::Connection;

    use super::file::with_suffix;
    use super::*;

    fn generated(rows: u64, seed: u64) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out.db");
        generate(&out, &Options { rows, seed }, &mut |_| ()).unwrap();
        (dir, out)
    }

    fn number(db: &Connection, sql: &str) -> i64 {
        db.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_seed_gives_the_same_bytes_every_time() {
        let (_a, first) = generated(12_345, 7);
        let (_b, second) = generated(12_345, 7);
        let (_c, other) = generated(12_345, 8);
        assert!(fs::read(&first).unwrap() == fs::read(second).unwrap());
        assert!(fs::read(first).unwrap() != fs::read(other).unwrap());
    }

    /// Holds the values still across machines and releases of the dependencies.
    #[test]
    fn a_seed_gives_these_values() {
        let (_dir, out) = generated(100, 1);
        let db = Connection::open(out).unwrap();
        let row = db
            .query_row(
                "select name || '|' || state || '|' || created from events where id = 1",
                [],
                |row| row.get::<_, String>(0),
            )
            .unwrap();
        assert_eq!(row, "Sycamore Swing Session|AK|2015-03-17T15:16:52");
    }

    #[test]
    fn the_database_is_sound_and_its_references_hold() {
        let (_dir, out) = generated(5_000, 1);
        let db = Connection::open(out).unwrap();
        let check: String = db
            .query_row("pragma integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(check, "ok");
        let broken = db
            .prepare("pragma foreign_key_check")
            .unwrap()
            .exists([])
            .unwrap();
        assert!(!broken);
        assert_eq!(number(&db, "select count(*) from events"), 5_000);
        assert_eq!(number(&db, "select count(*) from categories"), 32);
        assert!(
            number(
                &db,
                "select count(*) from reviews_fts where reviews_fts match 'encore'"
            ) > 0
        );
    }

    #[test]
    fn columns_are_skewed_and_hold_nulls() {
        let (_dir, out) = generated(20_000, 1);
        let db = Connection::open(out).unwrap();
        let of_state = |state| {
            number(
                &db,
                &format!("select count(*) from events where state = '{state}'"),
            )
        };
        assert!(of_state("CA") > 10 * of_state("WY").max(1));
        assert_eq!(number(&db, "select count(distinct status) from events"), 5);
        for column in ["status", "state", "score", "amount", "tags", "note"] {
            assert!(
                number(
                    &db,
                    &format!("select count(*) from events where {column} is null")
                ) > 0
            );
        }
        assert_eq!(
            number(
                &db,
                "select count(*) from events where tags is not null and not json_valid(tags)"
            ),
            0
        );
        assert_eq!(
            number(
                &db,
                "select count(*) from events where is_free and amount > 0"
            ),
            0
        );
        assert_eq!(
            number(
                &db,
                "select count(*) from events where datetime(created) is null"
            ),
            0
        );
    }

    #[test]
    fn progress_is_told_every_ten_thousand_rows() {
        let dir = tempfile::tempdir().unwrap();
        let mut seen = Vec::new();
        let options = Options {
            rows: 25_000,
            seed: 1,
        };
        let summary = generate(&dir.path().join("out.db"), &options, &mut |rows| {
            seen.push(rows);
        })
        .unwrap();
        assert_eq!(seen, [10_000, 20_000, 25_000]);
        assert_eq!(summary.rows, 25_000);
        assert_eq!(
            fs::read_dir(dir.path()).unwrap().count(),
            1,
            "no partial file stays"
        );
    }

    #[test]
    fn only_a_generated_file_is_replaced() {
        let (_dir, out) = generated(10, 1);
        let options = Options { rows: 10, seed: 2 };
        generate(&out, &options, &mut |_| ()).unwrap();
        fs::write(&out, "notes").unwrap();
        assert!(generate(&out, &options, &mut |_| ()).is_err());
        assert_eq!(fs::read_to_string(&out).unwrap(), "notes");
    }

    #[test]
    fn a_wal_beside_the_file_is_left_alone() {
        let (_dir, out) = generated(10, 1);
        fs::write(with_suffix(&out, "-wal"), "").unwrap();
        assert!(generate(&out, &Options::default(), &mut |_| ()).is_err());
    }

    #[test]
    fn rows_out_of_range_are_refused() {
        let out = Path::new("never-made.db");
        for rows in [0, 1 << 32] {
            assert!(generate(out, &Options { rows, seed: 1 }, &mut |_| ()).is_err());
        }
    }
}
