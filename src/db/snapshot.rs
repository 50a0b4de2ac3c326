//! One page, one state of the database.
//!
//! A page begins a read transaction on one connection, its *anchor*, and keeps
//! it until its last job has ended. A job runs on the anchor if that is free;
//! otherwise it takes a connection of its own and joins the anchor's state:
//!
//! - WAL: by `sqlite3_snapshot_open`. SQLite has no snapshot to give while the
//!   WAL is empty; then a job may go on if it finds the WAL empty too, because
//!   the anchor's read lock keeps a checkpoint from changing the file below.
//! - Rollback journal and memory: by its own shared lock. The anchor's shared
//!   lock keeps writers from committing as long as the page lasts.
//! - Immutable files: nothing to do.
//!
//! Where joining fails, the job waits for the anchor instead. That is never
//! wrong, only one job at a time, and it can't deadlock: a job holds nothing
//! that another job waits for.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rusqlite::{Connection, ffi};

use super::ffi::Snapshot;
use super::limit::{Budget, Cancel, Limit, is_interrupt};
use super::opened::Opened;
use super::pool::{self, Pooled};
use super::{Database, Version, schema::Schema};
use crate::error::Error;

/// Why a job gave no result.
#[derive(Debug)]
pub enum SqlError {
    /// Its time limit struck.
    TimeLimit,
    /// The client has gone.
    Cancelled,
    /// Another program kept the database locked, or no connection could be opened in time.
    Unavailable(String),
    /// SQLite's own complaint.
    Sqlite(rusqlite::Error),
}

impl From<SqlError> for Error {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::TimeLimit => {
                Self::TimeLimit("The SQL took too long: it was stopped at its time limit".into())
            }
            SqlError::Cancelled => Self::Cancelled,
            SqlError::Unavailable(reason) => {
                tracing::warn!("database unavailable: {reason}");
                Self::Busy {
                    retry_after: std::time::Duration::from_secs(1),
                }
            }
            SqlError::Sqlite(error) => Self::Internal(format!("SQLite: {error}")),
        }
    }
}

/// SQLite's sentence for an error, without the statement that `rusqlite` adds.
pub fn sqlite_message(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}

/// A connection inside a read transaction, which ends when this is dropped.
struct Reader(Pooled);

impl Reader {
    fn begin(connection: Pooled) -> rusqlite::Result<Self> {
        connection.prepare_cached("begin")?.raw_execute()?;
        Ok(Self(connection))
    }

    /// Whether the database is in WAL mode now; another program may change that between pages.
    fn is_wal(&self) -> rusqlite::Result<bool> {
        self.0
            .prepare_cached("pragma journal_mode")?
            .query_row([], |row| {
                Ok(row
                    .get_ref(0)?
                    .as_str()
                    .is_ok_and(|mode| mode.eq_ignore_ascii_case("wal")))
            })
    }

    /// The first read takes the lock (or the WAL position) and tells the schema's
    /// version. It makes the connection read the schema again if another program has
    /// changed it: SQL that is compiled next would be compiled for the old one.
    fn schema_version(&self) -> rusqlite::Result<i64> {
        self.0
            .prepare_cached("select 1 from sqlite_schema limit 0")?
            .raw_query()
            .next()?;
        self.0
            .prepare_cached("pragma schema_version")?
            .query_row([], |row| row.get(0))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let ended = self
            .0
            .prepare_cached("rollback")
            .and_then(|mut s| s.raw_execute());
        if let Err(error) = ended
            && !self.0.is_autocommit()
        {
            tracing::error!("a read transaction could not be ended: {error}");
        }
    }
}

/// How a job joins the state of the anchor.
enum Shared {
    Wal(Snapshot),
    EmptyWal,
    Lock,
}

/// The state of one database that all jobs of a page read.
pub struct PageSnapshot<'d> {
    database: &'d Database,
    opened: Arc<Opened>,
    anchor: Mutex<Reader>,
    is_wal: bool,
    shared: OnceLock<Shared>,
    schema_version: i64,
    version: Option<Version>,
    has_gaps: AtomicBool,
    cancel: Cancel,
}

impl<'d> PageSnapshot<'d> {
    /// Begins to read `database`. Waits for a writer's lock for up to 5 seconds.
    pub fn begin(database: &'d Database, cancel: &Cancel) -> Result<Self, SqlError> {
        Self::begin_at(database, cancel, None)
    }

    /// Begins to read `database`, which had the version `seen` a moment ago. If
    /// it still has, the page's state has that version too: it lies between the two looks.
    pub fn begin_at(
        database: &'d Database,
        cancel: &Cancel,
        seen: Option<Version>,
    ) -> Result<Self, SqlError> {
        let mut opened = database.opened();
        let mut anchor = Reader::begin(opened.connection()?).map_err(classify)?;
        let mut schema_version = anchor.schema_version();
        if schema_version.as_ref().is_err_and(is_hot_journal) {
            // A program died while it was writing; who may only read can't undo what it did.
            database.roll_back()?;
            schema_version = anchor.schema_version();
        }
        if !opened.is_at(database.replaceable_path()) {
            // Replaced just now: the connection may lead to either file.
            opened = database.opened();
            anchor = Reader::begin(opened.connection()?).map_err(classify)?;
            schema_version = anchor.schema_version();
        }
        let schema_version = schema_version.map_err(classify)?;
        let is_wal = database.is_mutable && anchor.is_wal().map_err(classify)?;
        database.turns.set_needed(database.is_mutable && !is_wal);
        opened.open_watch()?;
        let version = seen.filter(|_| database.version() == seen);
        Ok(Self {
            database,
            opened,
            anchor: Mutex::new(anchor),
            is_wal,
            shared: OnceLock::new(),
            schema_version,
            version,
            has_gaps: AtomicBool::new(false),
            cancel: cancel.clone(),
        })
    }

    /// The version of this state, if it is known.
    pub fn version(&self) -> Option<Version> {
        self.version
    }

    /// Whether a job gave no result. What the page shows then may be different
    /// the next time, though the database is the same.
    pub fn has_gaps(&self) -> bool {
        self.has_gaps.load(Relaxed)
    }

    /// Notes that something could not be read.
    pub fn note_gap(&self) {
        self.has_gaps.store(true, Relaxed);
    }

    /// The database's schema in this state.
    pub fn schema(&self) -> Result<std::sync::Arc<Schema>, SqlError> {
        self.opened
            .schema_at(self.schema_version, || self.read(Limit::NONE, Schema::load))
    }

    /// Runs one job in this state, on the anchor or on a connection of its own.
    /// The limit counts from the start of the job's SQL.
    pub fn read<T>(
        &self,
        limit: Limit,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, SqlError> {
        if self.cancel.is_cancelled() {
            return Err(SqlError::Cancelled);
        }
        let result = if let Some(anchor) = self.anchor.try_lock() {
            limit.enforce(&anchor.0, &self.cancel, job)
        } else if let Some(reader) = self.join()? {
            limit.enforce(&reader.0, &self.cancel, job)
        } else {
            limit.enforce(&self.anchor.lock().0, &self.cancel, job)
        };
        result.map_err(|error| {
            self.note_gap();
            if is_interrupt(&error) && self.cancel.is_cancelled() {
                SqlError::Cancelled
            } else {
                classify(error)
            }
        })
    }

    /// Runs one job in this state within a budget that it shares with others.
    /// [`SqlError::TimeLimit`] too if nothing of it is left.
    pub fn read_within<T>(
        &self,
        budget: &Budget,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, SqlError> {
        let result = self.read(Limit::NONE, |connection| {
            budget.enforce(connection, &self.cancel, job).transpose()
        })?;
        result.ok_or_else(|| {
            self.note_gap();
            SqlError::TimeLimit
        })
    }

    /// A second connection in the anchor's state, `None` if there can't be one now.
    ///
    /// It does not wait for locks: who holds one (a checkpoint, say) may be
    /// waiting for this page to end. The anchor is there all the same.
    fn join(&self) -> Result<Option<Reader>, SqlError> {
        let Some(shared) = self.shared() else {
            return Ok(None);
        };
        let reader = Reader::begin(self.opened.connection()?).map_err(classify)?;
        pool::wait_for_locks(&reader.0, false).map_err(classify)?;
        let joined = match shared {
            Shared::Wal(snapshot) => snapshot.open(&reader.0),
            Shared::EmptyWal => {
                reader.schema_version().is_ok() && Snapshot::of(&reader.0).is_none()
            }
            Shared::Lock => reader.schema_version().is_ok(),
        };
        pool::wait_for_locks(&reader.0, true).map_err(classify)?;
        // A connection opened after the file was replaced leads to the new one.
        let same_file = self.opened.is_at(self.database.replaceable_path());
        Ok((joined && same_file).then_some(reader))
    }

    /// How to join, if that is known without asking the anchor.
    fn shared(&self) -> Option<&Shared> {
        if !self.is_wal {
            return Some(self.shared.get_or_init(|| Shared::Lock));
        }
        self.shared.get()
    }

    /// Gets ready for jobs that run at the same time. To be called while no job
    /// runs: it asks the anchor. A page whose jobs run one after another does without.
    pub fn share(&self) {
        if self.is_wal {
            self.shared.get_or_init(|| {
                Snapshot::of(&self.anchor.lock().0).map_or(Shared::EmptyWal, Shared::Wal)
            });
        }
    }
}

/// Whether a database was left in the middle of a transaction by a program that died.
/// <https://www.sqlite.org/rescode.html#readonly_rollback>
fn is_hot_journal(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(
        code,
        Some(ffi::SQLITE_READONLY_ROLLBACK | ffi::SQLITE_READONLY_RECOVERY)
    )
}

fn classify(error: rusqlite::Error) -> SqlError {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    match error.sqlite_error_code() {
        _ if is_interrupt(&error) => SqlError::TimeLimit,
        Some(DatabaseBusy | DatabaseLocked) => SqlError::Unavailable(error.to_string()),
        _ => SqlError::Sqlite(error),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::super::registry::test_database;
    use super::*;

    fn count(connection: &Connection) -> rusqlite::Result<i64> {
        connection.query_row("select count(*) from t", [], |row| row.get(0))
    }

    /// A job on another thread while the anchor is taken. It can't join, so it
    /// waits; hence the first job must not wait for it.
    fn two_at_once_on(snapshot: &PageSnapshot<'_>) -> (i64, i64) {
        thread::scope(|scope| {
            let (first, second) = snapshot
                .read(Limit::NONE, |connection| {
                    let second = scope.spawn(|| snapshot.read(Limit::NONE, count).unwrap());
                    Ok((count(connection)?, second))
                })
                .unwrap();
            (first, second.join().unwrap())
        })
    }

    /// Two jobs at once: the second can't have the anchor.
    fn two_at_once(snapshot: &PageSnapshot<'_>, between: impl FnOnce()) -> (i64, i64) {
        snapshot.share();
        snapshot
            .read(Limit::NONE, |first| {
                between();
                let second = thread::scope(|scope| {
                    scope
                        .spawn(|| snapshot.read(Limit::NONE, count).unwrap())
                        .join()
                        .unwrap()
                });
                Ok((count(first)?, second))
            })
            .unwrap()
    }

    #[test]
    fn jobs_at_the_same_time_see_one_state_of_a_wal_database() {
        let (folder, database) =
            test_database("pragma journal_mode = wal; create table t(x); insert into t values (1)");
        let writer = writer(&folder);
        writer.execute_batch("insert into t values (2)").unwrap();
        let snapshot = PageSnapshot::begin(&database, &Cancel::default()).unwrap();
        let counts = two_at_once(&snapshot, || {
            writer.execute_batch("insert into t values (3)").unwrap();
        });
        assert_eq!(counts, (2, 2));
        let later = PageSnapshot::begin(&database, &Cancel::default()).unwrap();
        assert_eq!(later.read(Limit::NONE, count).unwrap(), 3);
    }

    /// SQLite has no snapshot to give of a WAL that never had a frame: the
    /// second job finds it written to, and has to wait for the anchor.
    #[test]
    fn a_wal_that_was_empty_when_the_page_began_gives_one_state_too() {
        let (folder, database) =
            test_database("pragma journal_mode = wal; create table t(x); insert into t values (1)");
        let snapshot = PageSnapshot::begin(&database, &Cancel::default()).unwrap();
        snapshot.share();
        assert!(matches!(snapshot.shared(), Some(Shared::EmptyWal)));
        assert!(
            snapshot.join().unwrap().is_some(),
            "nothing was written yet"
        );
        writer(&folder)
            .execute_batch("insert into t values (2)")
            .unwrap();
        assert!(snapshot.join().unwrap().is_none());
        assert_eq!(two_at_once_on(&snapshot), (1, 1));
    }

    #[test]
    fn a_wal_that_a_checkpoint_emptied_gives_one_state_too() {
        let (folder, database) =
            test_database("pragma journal_mode = wal; create table t(x); insert into t values (1)");
        let writer = writer(&folder);
        writer.execute_batch("insert into t values (2)").unwrap();
        let busy: i64 = writer
            .query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0))
            .unwrap();
        assert_eq!(busy, 0, "nobody kept the checkpoint from emptying the WAL");
        let snapshot = PageSnapshot::begin(&database, &Cancel::default()).unwrap();
        let counts = two_at_once(&snapshot, || {
            writer.execute_batch("insert into t values (3)").unwrap();
        });
        assert_eq!(counts, (2, 2));
    }

    #[test]
    fn a_file_that_comes_in_the_place_of_another_is_read_by_the_next_page() {
        let (folder, database) = test_database("create table t(x); insert into t values (1)");
        let snapshot = PageSnapshot::begin(&database, &Cancel::default()).unwrap();
        let path = folder.path().join("test.db");
        let fresh = folder.path().join("fresh.db");
        #[expect(clippy::disallowed_methods, reason = "stands for another program")]
        Connection::open(&fresh)
            .unwrap()
            .execute_batch("create table t(x); insert into t values (1), (2), (3)")
            .unwrap();
        let counts = two_at_once_on(&snapshot);
        std::fs::rename(&fresh, &path).unwrap();
        assert_eq!(counts, (1, 1));
        assert!(
            snapshot.join().unwrap().is_none(),
            "it would read the new file"
        );
        assert_eq!(snapshot.read(Limit::NONE, count).unwrap(), 1);
        let later = PageSnapshot::begin(&database, &Cancel::default()).unwrap();
        assert_eq!(two_at_once_on(&later), (3, 3));
    }

    #[test]
    fn a_rollback_journal_keeps_writers_out_until_the_page_ends() {
        let (folder, database) = test_database("create table t(x); insert into t values (1)");
        let writer = writer(&folder);
        writer.busy_timeout(std::time::Duration::ZERO).unwrap();
        let snapshot = PageSnapshot::begin(&database, &Cancel::default()).unwrap();
        let insert = || writer.execute_batch("insert into t values (2)");
        let counts = two_at_once(&snapshot, || assert!(insert().is_err(), "locked"));
        assert_eq!(counts, (1, 1));
        drop(snapshot);
        insert().unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "stands for another program")]
    fn writer(folder: &tempfile::TempDir) -> Connection {
        Connection::open(folder.path().join("test.db")).unwrap()
    }
}
