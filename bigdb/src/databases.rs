//! The databases that the server is driven with, in a folder that goes away.

use std::path::PathBuf;

use anyhow::{Context, Result};
use tempfile::TempDir;

/// Rows of `events` in the database of small tables.
const SMALL_ROWS: u64 = 200;
/// Rows of `events` in the database that is served from memory.
const MEMORY_ROWS: u64 = 20_000;

/// Three generated databases; dropping it removes them.
pub struct Databases {
    /// Served as `/small`.
    pub small: PathBuf,
    /// Served as `/big`.
    pub big: PathBuf,
    /// Served as `/mem`, from memory.
    pub memory: PathBuf,
    /// Removes them when it is dropped.
    _dir: TempDir,
}

impl Databases {
    /// Generates them, the big one with `rows` rows.
    pub fn new(rows: u64) -> Result<Self> {
        let dir = TempDir::with_prefix("bigdb-").context("cannot make a temporary folder")?;
        let make = |name: &str, rows: u64, seed: u64| -> Result<PathBuf> {
            let path = dir.path().join(name);
            bigdb::generate(&path, &bigdb::Options { rows, seed }, &mut |_| ())?;
            Ok(path)
        };
        Ok(Databases {
            small: make("small.db", SMALL_ROWS.min(rows), 2)?,
            big: make("big.db", rows, 1)?,
            memory: make("mem.db", MEMORY_ROWS.min(rows), 3)?,
            _dir: dir,
        })
    }
}
