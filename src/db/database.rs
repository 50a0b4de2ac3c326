//! One database that is served.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crossbeam::sync::ShardedLock;
use dashmap::DashMap;
use md5::{Digest, Md5};
use r2d2_sqlite::SqliteConnectionManager;
use sha2::Sha256;

use super::opened::Opened;
use super::snapshot::SqlError;
use super::turns::Turns;
use super::version::Version;
use crate::text::hex;

/// One database: its name in URLs, its pool of connections, its schema.
pub struct Database {
    /// The name, as it stands (encoded) in URLs.
    pub name: String,
    /// The file, if it is one.
    pub path: Option<PathBuf>,
    /// Whether its content may change while we run.
    pub is_mutable: bool,
    /// Whether it lives in memory.
    pub is_memory: bool,
    /// Whether other databases are attached, whose changes its version does not tell.
    pub has_attached: bool,
    pub(super) opened: ShardedLock<Arc<Opened>>,
    /// Opens the file to write, once, so that SQLite undoes what a program left half done.
    pub(super) roll_back: Box<dyn Fn() -> rusqlite::Result<()> + Send + Sync>,
    /// Makes a pool for a file that came in the place of another.
    pub(super) new_pool: Box<dyn Fn() -> r2d2::Pool<SqliteConnectionManager> + Send + Sync>,
    /// Keeps a database in memory alive; SQLite drops it with its last connection.
    pub(super) keeper: Option<parking_lot::Mutex<rusqlite::Connection>>,
    pub(super) hash: Option<String>,
    /// Row counts of an immutable file's tables that `--inspect-file` told.
    pub(super) inspected: HashMap<String, i64>,
    /// Gives other programs their turn to write.
    pub turns: Turns,
    /// Row counts of an immutable file's tables, up to a cap: they never change.
    pub(super) counts: DashMap<String, i64>,
}

impl Database {
    /// The file that the name stands for now.
    pub(super) fn opened(&self) -> Arc<Opened> {
        let opened = match self.opened.read() {
            Ok(opened) => opened.clone(),
            Err(poisoned) => poisoned.into_inner().clone(),
        };
        if opened.is_at(self.replaceable_path()) {
            return opened;
        }
        tracing::info!("{} is another file now", self.name);
        let fresh = Arc::new(Opened::new(self.replaceable_path(), (self.new_pool)()));
        if let Ok(mut opened) = self.opened.write() {
            *opened = fresh.clone();
        }
        fresh
    }

    /// Which state it is in now. A request that asks after a commit gets a
    /// version that no request before the commit got. `None` if it can't be told.
    pub fn version(&self) -> Option<Version> {
        if self.has_attached {
            return None;
        }
        self.opened().version()
    }

    /// Undoes a transaction that a program left half done when it died. Fails if
    /// the file may not be written to.
    pub(super) fn roll_back(&self) -> Result<(), SqlError> {
        tracing::warn!(
            "{}: rolling back what another program left half done",
            self.name
        );
        (self.roll_back)().map_err(|error| SqlError::Unavailable(error.to_string()))
    }

    /// The path, if another file may come to stand there.
    pub(super) fn replaceable_path(&self) -> Option<&Path> {
        self.path.as_deref().filter(|_| self.is_mutable)
    }

    /// The row count of a table of an immutable file, if it was counted before,
    /// up to the cap of whoever counted; all of them, if the file was inspected.
    pub fn known_count(&self, table: &str) -> Option<i64> {
        self.inspected_count(table)
            .or_else(|| self.counts.get(table).map(|count| *count))
    }

    /// The row count of a table of an immutable file that `--inspect-file` told: all of them.
    pub fn inspected_count(&self, table: &str) -> Option<i64> {
        self.inspected.get(table).copied()
    }

    /// Keeps a row count. Does nothing for a database that may change.
    pub fn keep_count(&self, table: &str, count: i64) {
        if !self.is_mutable {
            self.counts.insert(table.to_owned(), count);
        }
    }

    /// The size of the file in bytes; 0 for memory, as in Datasette.
    pub fn size(&self) -> u64 {
        self.path
            .as_ref()
            .and_then(|path| path.metadata().ok())
            .map_or(0, |file| file.len())
    }

    /// The SHA-256 of an immutable file, in hex.
    pub fn hash(&self) -> Option<&str> {
        self.hash.as_deref()
    }

    /// Six hex digits of a colour: of the file's hash, or of the name's MD5.
    pub fn color(&self) -> String {
        let digits = self
            .hash()
            .map_or_else(|| hex(&Md5::digest(&self.name)), str::to_owned);
        digits.chars().take(6).collect()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        drop(self.keeper.take());
    }
}

/// The SHA-256 of a file, in hex; about a second a gigabyte.
pub(super) fn hash_file(path: &Path) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    std::io::copy(&mut std::fs::File::open(path)?, &mut hasher)?;
    Ok(hex(&hasher.finalize()))
}
