//! The pool of connections to one database.
#![expect(
    clippy::disallowed_methods,
    reason = "this is where connections come from"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::{Connection, OpenFlags};
use scheduled_thread_pool::ScheduledThreadPool;

use super::extension::Extension;
use super::functions;

/// A connection that goes back to its pool when dropped.
pub type Pooled = r2d2::PooledConnection<SqliteConnectionManager>;

/// Prepared statements kept a connection: about as many as a busy site has page shapes.
const STATEMENTS: usize = 256;
/// How often a lock that another program holds is tried again: 5 seconds in
/// all, as long as Python's `sqlite3` waits.
const LOCK_TRIES: i32 = 1_010;
/// The longest pause between two tries.
const LOCK_PAUSE: Duration = Duration::from_millis(5);
/// Memory-mapped bytes of an immutable file at the most.
const MMAP_BYTES: i64 = 1 << 40;

/// SQLite's name for the file system of the operating system.
const FILE_VFS: &str = if cfg!(windows) { "win32" } else { "unix" };

/// Where a connection leads, and how it is set up.
#[derive(Debug, Clone)]
pub struct Target {
    /// What to open.
    pub place: Place,
    /// `PRAGMA cache_size` in KiB; 0 keeps SQLite's default.
    pub cache_size_kb: u64,
    /// Databases to attach (schema name, file), for `--crossdb`.
    pub attach: Vec<(String, PathBuf)>,
    /// Read without taking locks or heeding those of others (`--nolock`).
    pub nolock: bool,
    /// What every connection loads.
    pub extensions: Arc<[Extension]>,
}

/// A file or memory.
#[derive(Debug, Clone)]
pub enum Place {
    /// A file that other programs may write to.
    Mutable(PathBuf),
    /// A file that nobody changes while we run: no locks, memory-mapped.
    Immutable(PathBuf),
    /// A named database in memory, shared by the connections of this process
    /// through SQLite's `memdb` VFS (not `cache=shared`, whose locks are
    /// process-wide). It lives as long as one connection is open.
    Memory(String),
}

impl Target {
    /// A place with nothing special about it.
    pub fn of(place: Place) -> Self {
        Self {
            place,
            cache_size_kb: 0,
            attach: Vec::new(),
            nolock: false,
            extensions: Arc::default(),
        }
    }

    fn uri(&self) -> String {
        match &self.place {
            Place::Mutable(path) => {
                let nolock = if self.nolock { "&nolock=1" } else { "" };
                format!("file:{}?mode=ro{nolock}", uri_path(path))
            }
            Place::Immutable(path) => format!("file:{}?immutable=1", uri_path(path)),
            Place::Memory(name) => format!("file:/{}?vfs=memdb", uri_path(Path::new(name))),
        }
    }

    /// The flags of every connection that answers requests: read-only, and
    /// without SQLite's own mutex, since the pool gives a connection to one
    /// thread at a time.
    fn flags(&self) -> OpenFlags {
        let access = match self.place {
            Place::Memory(_) => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
            _ => OpenFlags::SQLITE_OPEN_READ_ONLY,
        };
        access | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX
    }

    /// Opens one connection outside the pool.
    pub fn connect(&self) -> rusqlite::Result<Connection> {
        let mut connection = Connection::open_with_flags(self.uri(), self.flags())?;
        self.prepare(&mut connection)?;
        Ok(connection)
    }

    /// Opens a connection that may write: to fill a database in memory.
    pub fn connect_to_fill(&self) -> rusqlite::Result<Connection> {
        Connection::open_with_flags(self.uri(), self.flags())
    }

    /// Opens a file to write and reads from it, which makes SQLite roll back what a
    /// program left half done; then closes it. Nothing else is written.
    pub fn roll_back(&self) -> rusqlite::Result<()> {
        let Place::Mutable(path) = &self.place else {
            return Ok(());
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(format!("file:{}?mode=rw", uri_path(path)), flags)?;
        wait_for_locks(&connection, true)?;
        connection.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0))?;
        Ok(())
    }

    fn prepare(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        wait_for_locks(connection, true)?;
        for extension in self.extensions.iter() {
            extension.load(connection)?;
        }
        // After the extensions, which could have functions of the same names.
        functions::register(connection)?;
        for (schema, file) in &self.attach {
            // SQLite opens what is attached by the VFS of the connection, and that is memdb.
            let uri = format!("file:{}?mode=ro&vfs={FILE_VFS}", uri_path(file));
            connection.execute("attach database ? as ?", [&uri, schema])?;
        }
        if self.cache_size_kb > 0 {
            let kib = i64::try_from(self.cache_size_kb).unwrap_or(i64::MAX);
            connection.pragma_update(None, "cache_size", -kib)?;
        }
        if matches!(self.place, Place::Immutable(_)) {
            connection.pragma_update(None, "mmap_size", MMAP_BYTES)?;
        }
        connection.pragma_update(None, "query_only", true)?;
        // Makes SQLite read the file's header: it then knows of WAL mode, which
        // opening a snapshot needs, and a file that is no database fails here.
        connection.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0))?;
        Ok(())
    }

    /// A pool of at most `size` connections, opened when they are first needed.
    pub fn pool(
        &self,
        size: u32,
        openers: Arc<ScheduledThreadPool>,
    ) -> r2d2::Pool<SqliteConnectionManager> {
        let target = self.clone();
        let manager = SqliteConnectionManager::file(self.uri())
            .with_flags(self.flags())
            .with_init(move |connection| target.prepare(connection));
        r2d2::Pool::builder()
            .max_size(size)
            .min_idle(Some(0))
            .idle_timeout(None)
            .max_lifetime(None)
            .test_on_check_out(false)
            .connection_timeout(Duration::from_secs(10))
            .error_handler(Box::new(LogPoolErrors))
            .thread_pool(openers)
            .build_unchecked(manager)
    }
}

/// Whether a connection waits for locks that others hold. All of the pool do,
/// unless told otherwise for a moment.
pub(super) fn wait_for_locks(connection: &Connection, wait: bool) -> rusqlite::Result<()> {
    connection.busy_handler(wait.then_some(wait_for_lock as fn(i32) -> bool))
}

/// Sleeps before the next try for a lock. SQLite's own handler soon sleeps for
/// 100 ms, and so misses the short moments between the commits of a program
/// that writes without rest.
fn wait_for_lock(tries: i32) -> bool {
    let pause = Duration::from_micros(100 << tries.clamp(0, 6));
    std::thread::sleep(pause.min(LOCK_PAUSE));
    tries < LOCK_TRIES
}

#[derive(Debug)]
struct LogPoolErrors;

impl<E: std::error::Error> r2d2::HandleError<E> for LogPoolErrors {
    fn handle_error(&self, error: E) {
        tracing::warn!("opening a connection failed: {error}");
    }
}

/// A path in SQLite's URI form: `%`, `?` and `#` would mean something else.
/// <https://www.sqlite.org/uri.html>
fn uri_path(path: &Path) -> String {
    path.to_string_lossy()
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_uri_syntax_in_it_opens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("100% a?b#c.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch("create table t(x)")
            .unwrap();
        let target = Target::of(Place::Mutable(path));
        let connection = target.connect().unwrap();
        let tables: i64 = connection
            .query_row("select count(*) from sqlite_schema", [], |row| row.get(0))
            .unwrap();
        assert_eq!(tables, 1);
        assert!(
            connection.execute_batch("create table u(x)").is_err(),
            "it is read-only"
        );
    }

    #[test]
    fn memory_sees_the_files_that_are_attached_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch("create table t(x); insert into t values (7)")
            .unwrap();
        let target = Target {
            attach: vec![("a b".into(), path)],
            ..Target::of(Place::Memory("attach-test".into()))
        };
        let connection = target.connect().unwrap();
        let x: i64 = connection
            .query_row("select x from [a b].t", [], |row| row.get(0))
            .unwrap();
        assert_eq!(x, 7);
    }

    #[test]
    fn connections_to_memory_see_the_same_database() {
        let place = Place::Memory("pool-test".into());
        let target = Target::of(place);
        let writer = target.connect_to_fill().unwrap();
        writer
            .execute_batch("create table t(x); insert into t values (7)")
            .unwrap();
        let reader = target.connect().unwrap();
        assert_eq!(
            reader
                .query_row("select x from t", [], |r| r.get::<_, i64>(0))
                .unwrap(),
            7
        );
    }
}
