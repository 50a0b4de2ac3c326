//! The databases that a scale run needs, made where they are not yet.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use crate::progress_bar;

/// A folder of databases that are named after their sizes.
pub struct Files {
    folder: PathBuf,
    /// Removes the folder when it is dropped, if nobody named one.
    _temporary: Option<TempDir>,
}

impl Files {
    /// In `folder`, which is made if need be, or in a temporary one.
    pub fn new(folder: Option<&Path>) -> Result<Self> {
        if let Some(folder) = folder {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
            return Ok(Files {
                folder: folder.to_owned(),
                _temporary: None,
            });
        }
        let temporary = TempDir::with_prefix("bigdb-").context("cannot make a temporary folder")?;
        Ok(Files {
            folder: temporary.path().to_owned(),
            _temporary: Some(temporary),
        })
    }

    /// The database with `rows` rows of `events`, served as `/events_ROWS`.
    pub fn events(&self, rows: u64) -> Result<PathBuf> {
        let path = self.folder.join(format!("events_{rows}.db"));
        if !has_rows(&path, "events", rows) {
            let bar = progress_bar(rows, "rows");
            let options = bigdb::Options { rows, seed: 1 };
            bigdb::generate(&path, &options, &mut |rows| bar.set_position(rows))?;
            bar.finish_and_clear();
        }
        Ok(path)
    }

    /// The database with a table of each number of columns, served as `/wide_ROWS`.
    pub fn wide(&self, rows: u32, columns: &[usize]) -> Result<PathBuf> {
        let path = self.folder.join(format!("wide_{rows}.db"));
        let is_whole = columns.iter().all(|&columns| {
            let table = bigdb::wide_table(columns);
            has_rows(&path, &table, rows.into()) && has_columns(&path, &table, columns)
        });
        if !is_whole {
            let options = bigdb::WideOptions {
                rows,
                columns: columns.to_vec(),
                seed: 1,
            };
            bigdb::generate_wide(&path, &options)?;
        }
        Ok(path)
    }
}

/// Whether the ids of a table go up to `rows`: those of a generated table have no gaps.
fn has_rows(path: &Path, table: &str, rows: u64) -> bool {
    number(path, &format!("select max(id) from {table}")) == Some(rows)
}

fn has_columns(path: &Path, table: &str, columns: usize) -> bool {
    let sql = format!("select count(*) from pragma_table_info('{table}')");
    number(path, &sql) == Some(columns as u64)
}

/// None if there is no such file or table, or no number.
fn number(path: &Path, sql: &str) -> Option<u64> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    let number: i64 = db.query_row(sql, [], |row| row.get(0)).ok()?;
    u64::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_of_the_right_size_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::new(Some(&dir.path().join("new/folder"))).unwrap();
        let changed = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
        let path = files.events(300).unwrap();
        let made = changed(&path);
        assert_eq!(files.events(300).unwrap(), path);
        assert_eq!(changed(&path), made);
        // Another size under the same name is replaced.
        fs::copy(files.events(200).unwrap(), &path).unwrap();
        assert!(!has_rows(&path, "events", 300));
        files.events(300).unwrap();
        assert!(has_rows(&path, "events", 300));
    }

    #[test]
    fn a_wide_database_without_a_table_is_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::new(Some(dir.path())).unwrap();
        let path = files.wide(10, &[2, 5]).unwrap();
        assert!(has_columns(&path, "wide_5", 5) && !has_columns(&path, "wide_9", 9));
        files.wide(10, &[2, 9]).unwrap();
        assert!(has_columns(&path, "wide_9", 9));
    }

    #[test]
    fn a_temporary_folder_goes_away() {
        let files = Files::new(None).unwrap();
        let path = files.events(100).unwrap();
        assert!(path.is_file());
        drop(files);
        assert!(!path.exists());
    }
}
