//! `turntable demo`: makes a large database in a folder of its own, which goes
//! when the program ends.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::db::Source;
use crate::start::StartError;

/// The name of the file, and so of the database.
const FILE: &str = "demo.db";

/// A database that is there as long as this is.
pub struct Demo {
    folder: PathBuf,
}

impl Demo {
    /// Makes one with so many rows, and shows how far it is on a terminal.
    ///
    /// # Errors
    /// A number of rows that cannot be, or a disk that is full.
    pub fn make(rows: u64) -> Result<Self, StartError> {
        if rows == 0 || u32::try_from(rows).is_err() {
            return Err(StartError::Usage(format!(
                "--rows takes 1 to {}, not {rows}",
                u32::MAX
            )));
        }
        let demo = Self::in_new_folder(&env::temp_dir())
            .map_err(|error| StartError::Environment(format!("cannot make a folder: {error}")))?;
        let bar = bar(rows);
        let options = bigdb::Options {
            rows,
            ..bigdb::Options::default()
        };
        bigdb::generate(&demo.path(), &options, &mut |done| bar.set_position(done))
            .map_err(|error| StartError::Environment(format!("no demo: {error:#}")))?;
        bar.finish_and_clear();
        Ok(demo)
    }

    /// The database, to be served.
    pub fn source(&self) -> Source {
        Source::File {
            path: self.path(),
            immutable: false,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// A folder that nobody else has: making it fails when it is there.
    fn in_new_folder(parent: &Path) -> io::Result<Self> {
        let mut n = 0;
        loop {
            let folder = parent.join(format!("turntable-demo-{}-{n}", process::id()));
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(Self { folder }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && n < 100 => n += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // What cannot be deleted is the temporary folder's business.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn bar(rows: u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template("Making a demo: {wide_bar} {human_pos}/{human_len} rows");
    ProgressBar::with_draw_target(Some(rows), ProgressDrawTarget::stderr())
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demo_is_made_and_goes() {
        let demo = Demo::make(100).expect("made");
        let path = demo.path();
        assert!(path.is_file());
        drop(demo);
        assert!(!path.exists());
    }

    #[test]
    fn a_demo_of_no_rows_is_typed_wrong() {
        assert!(matches!(Demo::make(0), Err(StartError::Usage(_))));
    }
}
