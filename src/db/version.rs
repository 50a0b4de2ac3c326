//! Which state of a database there is now, as a value that can be compared.
//!
//! Whatever is kept between requests is keyed by the version it was read at.
//! `PRAGMA data_version` tells one connection whether another has committed
//! since it last looked; so each file has one connection, its *watch*, that does
//! nothing but look. <https://www.sqlite.org/pragma.html#pragma_data_version>

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::pool::{self, Pooled};
use super::snapshot::SqlError;

/// A state of one database: two are equal only if the content is the same. Not
/// kept across runs of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Version {
    /// The file, among all that this process has opened.
    file: u64,
    /// SQLite's `data_version` as the watch sees it; 0 for what nobody changes.
    data: i64,
}

impl Version {
    /// The only version of a database that nobody changes.
    pub(super) fn constant(file: u64) -> Self {
        Self { file, data: 0 }
    }
}

/// A number for a file that no other file of this process has.
pub(super) fn next_file() -> u64 {
    static FILES: AtomicU64 = AtomicU64::new(1);
    FILES.fetch_add(1, Ordering::Relaxed)
}

/// Looks which version one file has.
pub(super) struct Watch {
    file: u64,
    /// Looks that have begun. A request may use the result of one that began
    /// after the request came in, and of no other: what is committed before a
    /// request must be seen by it.
    begun: AtomicU64,
    is_open: AtomicBool,
    last: Mutex<Look>,
}

#[derive(Default)]
struct Look {
    connection: Option<Pooled>,
    saw: Option<i64>,
}

impl Watch {
    pub fn new(file: u64) -> Self {
        Self {
            file,
            begun: AtomicU64::new(0),
            is_open: AtomicBool::new(false),
            last: Mutex::default(),
        }
    }

    /// Whether it has its connection.
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    /// Gives it its connection, for good.
    pub fn open(&self, connection: Pooled) -> Result<(), SqlError> {
        let mut last = self.last.lock();
        if last.connection.is_none() {
            // Who waits for the version could have had the page meanwhile.
            pool::wait_for_locks(&connection, false).map_err(SqlError::Sqlite)?;
            last.connection = Some(connection);
            self.is_open.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// The version now: 2 µs in WAL mode, 5 with a rollback journal. Calls that come in while
    /// one is looking share the next look. `None` if it can't be told: a writer
    /// is just committing, or the watch is not open yet.
    pub fn look(&self) -> Option<Version> {
        let came_in = self.begun.load(Ordering::SeqCst);
        let mut last = self.last.lock();
        if self.begun.load(Ordering::SeqCst) == came_in {
            self.begun.fetch_add(1, Ordering::SeqCst);
            last.saw = last.connection.as_ref().and_then(data_version);
        }
        last.saw.map(|data| Version {
            file: self.file,
            data,
        })
    }
}

fn data_version(connection: &Pooled) -> Option<i64> {
    connection
        .prepare_cached("pragma data_version")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
        .ok()
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::super::registry::test_database;
    use super::*;
    use crate::db::{Cancel, Database, PageSnapshot};

    #[expect(clippy::disallowed_methods, reason = "stands for another program")]
    fn writer(folder: &tempfile::TempDir) -> Connection {
        Connection::open(folder.path().join("test.db")).unwrap()
    }

    /// The version, once a page has opened the watch.
    fn watched(database: &Database) -> Version {
        drop(PageSnapshot::begin(database, &Cancel::default()).unwrap());
        database.version().unwrap()
    }

    #[test]
    fn a_version_lasts_until_another_program_commits() {
        for journal in ["wal", "delete"] {
            let sql = format!("pragma journal_mode = {journal}; create table t(x)");
            let (folder, database) = test_database(&sql);
            assert!(database.version().is_some());
            let first = watched(&database);
            assert_eq!(watched(&database), first, "{journal}");
            let writer = writer(&folder);
            writer
                .execute_batch("begin; insert into t values (1)")
                .unwrap();
            assert_eq!(watched(&database), first, "{journal}: not committed");
            writer.execute_batch("commit").unwrap();
            let second = database.version().unwrap();
            assert_ne!(second, first, "{journal}");
            writer
                .execute_batch("pragma wal_checkpoint(truncate); update t set x = 2")
                .unwrap();
            assert_ne!(database.version().unwrap(), second, "{journal}");
        }
    }

    #[test]
    fn a_database_that_is_being_committed_to_has_no_version_to_tell() {
        let (folder, database) = test_database("create table t(x)");
        watched(&database);
        let writer = writer(&folder);
        writer.execute_batch("begin exclusive").unwrap();
        assert_eq!(database.version(), None);
        writer.execute_batch("rollback").unwrap();
        assert!(database.version().is_some());
    }

    #[test]
    fn another_file_in_its_place_has_another_version() {
        let (folder, database) = test_database("create table t(x)");
        let first = watched(&database);
        let (other_folder, _other) = test_database("create table t(x)");
        std::fs::rename(
            other_folder.path().join("test.db"),
            folder.path().join("test.db"),
        )
        .unwrap();
        assert_eq!(database.version(), None);
        assert_ne!(watched(&database), first);
    }

    #[test]
    fn a_page_knows_its_version_only_if_nothing_was_committed_around_its_beginning() {
        let (folder, database) = test_database("pragma journal_mode = wal; create table t(x)");
        let version = watched(&database);
        let begin =
            || PageSnapshot::begin_at(&database, &Cancel::default(), Some(version)).unwrap();
        assert_eq!(begin().version(), Some(version));
        writer(&folder)
            .execute_batch("insert into t values (1)")
            .unwrap();
        assert_eq!(begin().version(), None);
    }
}
