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
mod lookup;
mod schema;
mod skew;
mod states;
mod words;

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rusqlite::{Connection, OpenFlags};

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
    check_replaceable(out)?;
    let partial = with_suffix(out, ".partial");
    remove_if_there(&partial)?;
    let filled = fill(&partial, options, progress);
    if filled.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&partial);
    }
    filled.with_context(|| format!("cannot write {}", partial.display()))?;
    let bytes = fs::metadata(&partial)?.len();
    fs::rename(&partial, out)
        .with_context(|| format!("cannot rename {} to {}", partial.display(), out.display()))?;
    Ok(Summary {
        rows: options.rows,
        bytes,
        elapsed: started.elapsed(),
    })
}

fn fill(path: &Path, options: &Options, progress: &mut dyn FnMut(u64)) -> Result<()> {
    let db = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    db.execute_batch(schema::FILL)?;
    db.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
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

/// Refuses to replace a file that somebody else made, and to put a new database
/// beside an old one's WAL, which `SQLite` would apply to it.
fn check_replaceable(out: &Path) -> Result<()> {
    for suffix in ["-wal", "-journal"] {
        let beside = with_suffix(out, suffix);
        if beside.exists() {
            bail!("{} belongs to a database in use", beside.display());
        }
    }
    let mut header = [0; 72];
    match fs::File::open(out) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", out.display())),
        Ok(mut file) => {
            if file.metadata()?.len() == 0 {
                return Ok(());
            }
            // A file too short for a header keeps its zeros and is refused.
            let _ = file.read_exact(&mut header);
        }
    }
    // The application id is at offset 68: https://sqlite.org/fileformat2.html#database_header
    if header[68..72] != schema::APPLICATION_ID.to_be_bytes() {
        bail!(
            "{} exists and was not generated; remove it first",
            out.display()
        );
    }
    Ok(())
}

fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
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
