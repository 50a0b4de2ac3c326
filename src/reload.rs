//! `--reload`: when a file changes that is read once, at the start, the app is
//! made anew and takes the place of the old one. The server goes on to listen;
//! requests that are being answered end with the app that they began with. What is
//! wrong with the new files is logged, and the old app goes on.
//!
//! The files are looked at twice a second: few, and for people who are at work on
//! them. Databases need none of this, since each request sees what they hold.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use crate::cli::{self, Serve, folder};
use crate::http::current::Current;
use crate::start::{self, StartError};

/// From one look to the next.
const PAUSE: Duration = Duration::from_millis(500);
/// Folders within folders of templates, at the most: a link may lead in a circle.
const DEPTH: usize = 8;

/// What is looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watched {
    /// Single files, whether they are there or not.
    pub files: Vec<PathBuf>,
    /// Folders, with all that is in them.
    pub trees: Vec<PathBuf>,
    /// The folder that is served: its configuration files, and which databases it holds.
    pub folder: Option<PathBuf>,
}

/// The state of one file: none if it is not there.
type State = Option<(Option<SystemTime>, u64)>;

impl Watched {
    /// The state of all of it. Two are equal if nothing has changed.
    fn look(&self) -> Vec<(PathBuf, State)> {
        let mut seen: Vec<_> = self.files.iter().map(|path| state(path)).collect();
        for tree in &self.trees {
            look_into(tree, DEPTH, &mut seen);
        }
        if let Some(folder) = &self.folder {
            for stem in ["datasette", "metadata"] {
                let names = folder::FORMATS
                    .iter()
                    .map(|ending| format!("{stem}.{ending}"));
                seen.extend(names.map(|name| state(&folder.join(name))));
            }
            seen.push(state(&folder.join("inspect-data.json")));
            look_into(&folder.join("templates"), DEPTH, &mut seen);
            // Which they are, not what they hold.
            let databases = folder::databases(folder).unwrap_or_default();
            seen.extend(databases.into_iter().map(|path| (path, None)));
        }
        seen
    }
}

fn state(path: &Path) -> (PathBuf, State) {
    let found = path.metadata().ok();
    let state = found.map(|found| (found.modified().ok(), found.len()));
    (path.to_owned(), state)
}

fn look_into(folder: &Path, depth: usize, seen: &mut Vec<(PathBuf, State)>) {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if depth > 0 {
                look_into(&path, depth - 1, seen);
            }
        } else {
            seen.push(state(&path));
        }
    }
}

/// Makes the app anew whenever it must be.
pub struct Reload {
    /// The command line, program name first.
    pub arguments: Vec<OsString>,
    /// What signed cookies so far: they stay valid.
    pub secret: Option<String>,
    /// What to look at.
    pub watched: Watched,
}

impl Reload {
    /// Looks on a thread of its own for as long as the program runs.
    ///
    /// # Errors
    /// The thread can't be started.
    pub fn start(self, current: Arc<Current>) -> io::Result<()> {
        let before = self.watched.look();
        thread::Builder::new()
            .name("reload".to_owned())
            .spawn(move || self.run(before, &current))
            .map(drop)
    }

    fn run(mut self, mut applied: Vec<(PathBuf, State)>, current: &Current) {
        let mut last = applied.clone();
        loop {
            thread::sleep(PAUSE);
            let now = self.watched.look();
            // A file that is still being written is left alone until it rests.
            if now != applied && now == last {
                applied.clone_from(&now);
                match self.make_anew(current) {
                    Ok(()) => tracing::info!("reloaded: a file has changed"),
                    Err(error) => tracing::error!("not reloaded, nothing changes: {error}"),
                }
                // The new configuration may name other files.
                let again = self.watched.look();
                if again.len() != now.len() {
                    applied = again;
                }
            }
            last = now;
        }
    }

    fn make_anew(&mut self, current: &Current) -> Result<(), StartError> {
        let serve = cli::read(self.arguments.clone())?.into_serve()?;
        let Some(mut serve) = serve else {
            return Ok(());
        };
        if serve.secret.is_none() {
            serve.secret.clone_from(&self.secret);
        }
        let watched = serve.watched.take();
        let mut app = start::open(serve)?;
        app.keep_login_of(&current.get());
        current.set(app);
        if let Some(watched) = watched {
            self.watched = watched;
        }
        Ok(())
    }
}

impl Serve {
    /// Prepares for `--reload`, if it was typed: cookies are to outlast a change.
    pub fn reload(&mut self, arguments: &[OsString]) -> Option<Reload> {
        let watched = self.watched.take()?;
        let secret = self.secret.get_or_insert_with(crate::auth::random_word);
        Some(Reload {
            arguments: arguments.to_vec(),
            secret: Some(secret.clone()),
            watched,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_a_file_a_template_or_the_list_of_databases_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("pages/deep")).unwrap();
        let watched = Watched {
            files: vec![at("config.yaml")],
            trees: vec![at("pages")],
            folder: Some(folder.path().to_owned()),
        };
        let mut before = watched.look();
        for (name, text) in [
            ("config.yaml", "title: A"),
            ("config.yaml", "title: AB"),
            ("pages/deep/index.html", "x"),
            ("metadata.json", "{}"),
            ("new.db", ""),
        ] {
            std::fs::write(at(name), text).unwrap();
            let after = watched.look();
            assert_ne!(before, after, "{name}");
            before = after;
        }
        std::fs::write(at("new.db"), "its content is no matter").unwrap();
        std::fs::write(at("notes.txt"), "nor is this").unwrap();
        assert_eq!(before, watched.look());
    }
}
