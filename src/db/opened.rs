//! A file as it was opened: its pool of connections, its schema, its version.
//!
//! People publish a new version of a database by renaming its file over the old
//! one. Connections that are open go on to read the old file, new ones read
//! the new: so each page looks whether the path still leads to the file that the
//! pool was opened on, and a new file gets a pool of its own.

use std::path::Path;
use std::sync::Arc;

use crossbeam::sync::ShardedLock;
use r2d2_sqlite::SqliteConnectionManager;

use super::pool::Pooled;
use super::schema::Schema;
use super::snapshot::SqlError;
use super::version::{Version, Watch, next_file};

/// Device and inode of a file: equal for two paths exactly when they lead to one file.
type Identity = (u64, u64);

/// One file behind a database's name.
pub(super) struct Opened {
    identity: Option<Identity>,
    pool: r2d2::Pool<SqliteConnectionManager>,
    /// The schema and the `schema_version` that it was read at. Every page
    /// looks here, hence a lock whose readers share no cache line.
    schema: ShardedLock<Option<(i64, Arc<Schema>)>>,
    /// Tells its version; none for what nobody changes.
    watch: Option<Watch>,
    file: u64,
}

impl Opened {
    /// The file at `path` (none for memory, and for files that nobody changes
    /// or replaces), read by `pool`.
    pub fn new(path: Option<&Path>, pool: r2d2::Pool<SqliteConnectionManager>) -> Self {
        let file = next_file();
        Self {
            watch: path.map(|_| Watch::new(file)),
            file,
            identity: path.and_then(identity),
            pool,
            schema: ShardedLock::new(None),
        }
    }

    /// Whether `path` still leads to this file. A path that leads nowhere for a
    /// moment says nothing: the open connections serve on.
    pub fn is_at(&self, path: Option<&Path>) -> bool {
        path.and_then(identity)
            .is_none_or(|now| self.identity == Some(now))
    }

    /// Takes a connection from the pool, opening one if none is idle. There
    /// are as many as threads and admitted pages can use, so this only waits
    /// for SQLite to open a file.
    pub fn connection(&self) -> Result<Pooled, SqlError> {
        self.pool
            .get()
            .map_err(|error| SqlError::Unavailable(error.to_string()))
    }

    /// The version now; see [`Watch::look`].
    pub fn version(&self) -> Option<Version> {
        match &self.watch {
            Some(watch) => watch.look(),
            None => Some(Version::constant(self.file)),
        }
    }

    /// Makes sure that [`Self::version`] can tell. Opens a connection the first time.
    pub fn open_watch(&self) -> Result<(), SqlError> {
        match &self.watch {
            Some(watch) if !watch.is_open() => watch.open(self.connection()?),
            _ => Ok(()),
        }
    }

    /// The schema at `version`, from the cache or by `load`. Another program
    /// may change the schema at any time; SQLite then raises the version.
    pub fn schema_at(
        &self,
        version: i64,
        load: impl FnOnce() -> Result<Schema, SqlError>,
    ) -> Result<Arc<Schema>, SqlError> {
        if let Ok(cached) = self.schema.read()
            && let Some((at, schema)) = &*cached
            && *at == version
        {
            return Ok(schema.clone());
        }
        let schema = Arc::new(load()?);
        if let Ok(mut cached) = self.schema.write() {
            *cached = Some((version, schema.clone()));
        }
        Ok(schema)
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    let file = path.metadata().ok()?;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<Identity> {
    None
}
