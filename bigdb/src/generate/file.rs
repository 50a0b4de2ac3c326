//! Writes a database under another name until it is whole.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rusqlite::{Connection, OpenFlags};

use super::schema;

/// Lets `fill` write `out` + ".partial" and renames it when that is done; the
/// size of the file in bytes.
///
/// # Errors
/// If `out` exists and was not generated, if a journal or WAL lies beside it, if
/// the disk fails, or what `fill` says; a half file is removed then.
pub(super) fn write_whole(out: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<u64> {
    check_replaceable(out)?;
    let partial = with_suffix(out, ".partial");
    remove_if_there(&partial)?;
    let filled = fill(&partial);
    if filled.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&partial);
    }
    filled.with_context(|| format!("cannot write {}", partial.display()))?;
    let bytes = fs::metadata(&partial)?.len();
    fs::rename(&partial, out)
        .with_context(|| format!("cannot rename {} to {}", partial.display(), out.display()))?;
    Ok(bytes)
}

/// A connection to a new file, which is marked as generated.
pub(super) fn create(path: &Path) -> Result<Connection> {
    let db = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    db.execute_batch(schema::FILL)?;
    db.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
    Ok(db)
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

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
