//! From what is to be served to an [`App`] that can serve it.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::auth::Signer;
use crate::cli::Serve;
use crate::db::{OpenOptions, Registry, Source, extension};
use crate::engine::{Engine, EngineOptions};
use crate::http::App;
use crate::http::app::Site;

/// More SQL threads than any machine has processors for; each may hold connections.
const MAX_THREADS: usize = 1024;

/// Why the program did not start, in one line. Which exit code that means is decided in `main`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartError {
    /// What was typed is wrong.
    Usage(String),
    /// What was typed is right, but a file or the port is not as it should be.
    Environment(String),
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(text) | Self::Environment(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for StartError {}

/// Opens the databases and starts the pool.
///
/// # Errors
/// A file is missing or named twice, or none of the files is a database that can be read.
pub fn open(serve: Serve) -> Result<App, StartError> {
    for note in serve.notes.iter().chain(&serve.config.warnings) {
        tracing::warn!("{note}");
    }
    extension::check(&serve.extensions).map_err(StartError::Environment)?;
    prepare(&serve.sources, serve.create)?;
    let settings = &serve.config.settings;
    if settings.num_sql_threads > MAX_THREADS {
        return Err(StartError::Usage(format!(
            "num_sql_threads takes up to {MAX_THREADS}, not {}",
            settings.num_sql_threads
        )));
    }
    let options = EngineOptions {
        threads: settings.num_sql_threads,
        mode: serve.extras,
        max_pages: settings.max_pages,
        page_wait: Duration::from_millis(settings.page_wait_ms),
    };
    let files = serve
        .sources
        .iter()
        .filter(|source| path(source).is_some())
        .count();
    let report = Registry::open(
        serve.sources,
        &OpenOptions {
            crossdb: serve.crossdb,
            cache_size_kb: settings.cache_size_kb,
            connections: options.connections(),
            nolock: serve.nolock,
            extensions: serve.extensions,
            inspected: serve.inspected,
        },
    );
    let failures: Vec<String> = report
        .failures
        .iter()
        .map(|(path, reason)| format!("cannot serve {path}: {reason}"))
        .collect();
    if files > 0 && failures.len() == files {
        return Err(StartError::Environment(failures.join("; ")));
    }
    for failure in failures {
        tracing::error!("{failure}");
    }
    let engine = Engine::new(&options)
        .map_err(|error| StartError::Environment(format!("cannot start threads: {error}")))?;
    let site = Site {
        template_dir: serve.template_dir,
        statics: serve.statics,
    };
    let mut app = App::with_site(serve.config, report.registry, engine, &site)
        .map_err(StartError::Environment)?;
    app.cors = serve.cors;
    app.access_log = serve.access_log;
    app.is_https = serve.tls.is_some();
    if let Some(secret) = serve.secret {
        app.signer = Signer::new(secret);
    }
    if serve.root {
        app.root_path = Some(app.let_root_in());
    }
    Ok(app)
}

/// Sees that every file is there, once, before any is opened.
fn prepare(sources: &[Source], create: bool) -> Result<(), StartError> {
    let mut seen: HashMap<PathBuf, &Path> = HashMap::new();
    for source in sources {
        let Some(path) = path(source) else { continue };
        let named = path.display();
        if path.is_dir() {
            return Err(StartError::Environment(format!("{named} is a folder")));
        }
        if !path.exists() {
            if !create {
                return Err(StartError::Environment(format!("no such file: {named}")));
            }
            // SQLite takes an empty file for an empty database.
            File::create_new(path).map_err(|error| {
                StartError::Environment(format!("cannot make {named}: {error}"))
            })?;
        }
        // As in Datasette, a file may be served twice when once is immutable.
        if matches!(
            source,
            Source::File {
                immutable: false,
                ..
            }
        ) && let Ok(real) = path.canonicalize()
            && let Some(first) = seen.insert(real, path)
        {
            return Err(StartError::Environment(format!(
                "{} and {named} are the same file",
                first.display()
            )));
        }
    }
    Ok(())
}

fn path(source: &Source) -> Option<&Path> {
    match source {
        Source::File { path, .. } | Source::Preload(path) => Some(path),
        Source::Memory => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &Path) -> Source {
        Source::File {
            path: path.to_owned(),
            immutable: false,
        }
    }

    fn message(result: Result<(), StartError>) -> String {
        match result {
            Err(StartError::Environment(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_missing_file_is_told_or_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new.db");
        assert!(message(prepare(&[file(&path)], false)).starts_with("no such file"));
        prepare(&[file(&path)], true).expect("made");
        assert!(path.exists());
        assert!(message(prepare(&[file(folder.path())], true)).ends_with("is a folder"));
    }

    #[test]
    fn a_file_that_is_named_twice_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        File::create(&path).expect("made");
        let again = folder.path().join(".").join("a.db");
        assert!(message(prepare(&[file(&path), file(&again)], false)).contains("the same file"));
        let immutable = Source::File {
            path: again,
            immutable: true,
        };
        assert_eq!(prepare(&[file(&path), immutable], false), Ok(()));
    }
}
