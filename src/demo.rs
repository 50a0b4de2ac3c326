//! `turntable demo`: a large database to try things on. It is made once and
//! kept in the user's cache folder.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::{fs, io, process};

use etcetera::BaseStrategy as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::db::Source;
use crate::start::StartError;

/// The name of the file, and so of the database.
const FILE: &str = "demo.db";

/// The demo's database in the cache folder, made there if it is not yet.
///
/// # Errors
/// A number of rows that can't be, no cache folder, or a disk that is full.
pub fn source(rows: u64) -> Result<Source, StartError> {
    let cache = etcetera::choose_base_strategy()
        .map_err(|error| StartError::Environment(format!("no cache folder: {error}")))?
        .cache_dir();
    source_in(&cache, rows)
}

fn source_in(cache: &Path, rows: u64) -> Result<Source, StartError> {
    if rows == 0 || u32::try_from(rows).is_err() {
        return Err(StartError::Usage(format!(
            "--rows takes 1 to {}, not {rows}",
            u32::MAX
        )));
    }
    let folder = folder(cache, rows);
    let path = folder.join(FILE);
    if !path.is_file() {
        make(&folder, rows).map_err(|error| {
            StartError::Environment(format!("cannot make {}: {error:#}", path.display()))
        })?;
    }
    Ok(Source::File {
        path,
        immutable: false,
    })
}

/// One folder for each size, and for each version of the program, whose generator may differ.
fn folder(cache: &Path, rows: u64) -> PathBuf {
    cache
        .join("turntable")
        .join(format!("{}-{rows}", env!("CARGO_PKG_VERSION")))
}

/// Makes the file under a name of this process, then gives it its own: a run
/// that is cut short, or a second one beside it, leaves no half database there.
fn make(folder: &Path, rows: u64) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    let draft = folder.join(format!("draft-{}.db", process::id()));
    let bar = bar(rows);
    let options = bigdb::Options {
        rows,
        ..bigdb::Options::default()
    };
    let made = bigdb::generate(&draft, &options, &mut |done| bar.set_position(done));
    bar.finish_and_clear();
    if let Err(error) = made {
        let _ = fs::remove_file(&draft);
        return Err(error);
    }
    Ok(fs::rename(&draft, folder.join(FILE))?)
}

fn bar(rows: u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template("Making the demo: {wide_bar} {human_pos}/{human_len} rows");
    ProgressBar::with_draw_target(Some(rows), ProgressDrawTarget::stderr())
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demo_is_made_once_and_kept() {
        let cache = tempfile::tempdir().unwrap();
        let first = source_in(cache.path(), 100).unwrap();
        let Source::File { path, .. } = &first else {
            panic!("a file")
        };
        let made = path.metadata().unwrap().modified().unwrap();
        assert_eq!(source_in(cache.path(), 100).unwrap(), first);
        assert_eq!(path.metadata().unwrap().modified().unwrap(), made);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_demo_of_no_rows_is_typed_wrong() {
        let cache = tempfile::tempdir().unwrap();
        assert!(matches!(
            source_in(cache.path(), 0),
            Err(StartError::Usage(_))
        ));
    }
}
