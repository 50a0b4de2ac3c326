//! The only calls into SQLite's C API: snapshots of a WAL database, which
//! `rusqlite` does not wrap (<https://www.sqlite.org/c3ref/snapshot.html>), and extensions,
//! which bring in code of others (<https://www.sqlite.org/loadext.html>).
#![expect(
    unsafe_code,
    reason = "sqlite3_snapshot_* has no safe wrapper, and what an extension does nobody can check"
)]

use std::path::Path;
use std::ptr::{self, NonNull};

use rusqlite::{Connection, LoadExtensionGuard, ffi};

/// Loads an extension into a connection. SQL's own `load_extension()` stays off.
pub fn load_extension(
    connection: &Connection,
    path: &Path,
    entry_point: Option<&str>,
) -> rusqlite::Result<()> {
    // SAFETY: while loading is on (until the guard goes, before this function
    // returns) no SQL runs on the connection, so none can load what it likes.
    let _loading = unsafe { LoadExtensionGuard::new(connection)? };
    // SAFETY: the library is one that whoever started the program named, and
    // runs with that person's rights; that it does no harm is theirs to know.
    unsafe { connection.load_extension(path, entry_point) }
}

/// One state of a WAL database, which other connections to it can open.
pub struct Snapshot(NonNull<ffi::sqlite3_snapshot>);

// SAFETY: a snapshot is a plain record of a WAL position on the heap. SQLite
// writes it in `sqlite3_snapshot_get` and only reads it afterwards; it holds no
// pointer to the connection that made it and no lock.
unsafe impl Send for Snapshot {}
// SAFETY: as above; `sqlite3_snapshot_open` takes it as read-only input.
unsafe impl Sync for Snapshot {}

impl Snapshot {
    /// The state that the open read transaction of `connection` sees. `None`
    /// if there is none to be had: no WAL database, or a WAL without frames.
    pub fn of(connection: &Connection) -> Option<Self> {
        let mut snapshot = ptr::null_mut();
        // SAFETY: the handle is open for as long as `connection` is borrowed,
        // the name is a NUL-terminated literal, and `snapshot` is a valid place
        // for one pointer, which SQLite sets only when it returns SQLITE_OK.
        let code = unsafe {
            ffi::sqlite3_snapshot_get(connection.handle(), c"main".as_ptr(), &raw mut snapshot)
        };
        if code == ffi::SQLITE_OK {
            NonNull::new(snapshot).map(Self)
        } else {
            None
        }
    }

    /// Makes the transaction that `connection` has just begun (nothing read
    /// yet) see this state. `false` if SQLite can't.
    pub fn open(&self, connection: &Connection) -> bool {
        // SAFETY: the handle is open for as long as `connection` is borrowed,
        // and `self.0` came from `sqlite3_snapshot_get` and is not freed yet.
        let code = unsafe {
            ffi::sqlite3_snapshot_open(connection.handle(), c"main".as_ptr(), self.0.as_ptr())
        };
        code == ffi::SQLITE_OK
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        // SAFETY: `self.0` came from `sqlite3_snapshot_get` and is freed once.
        unsafe { ffi::sqlite3_snapshot_free(self.0.as_ptr()) }
    }
}
