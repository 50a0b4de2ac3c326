//! The databases that are served, in the order in which they were named.
#![expect(
    clippy::disallowed_methods,
    reason = "opens each file once, before there are pools"
)]

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam::sync::ShardedLock;
use dashmap::DashMap;
use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};
use scheduled_thread_pool::ScheduledThreadPool;

use super::database::{Database, hash_file};
use super::extension::Extension;
use super::inspect::Inspected;
use super::opened::Opened;
use super::pool::{Place, Target};
use super::snapshot::sqlite_message;
use super::turns::Turns;
use crate::error::Error;

/// Threads that open connections for all pools together.
const OPENERS: usize = 2;
/// The name of the database that is served when there is no file, and with `--memory`.
const MEMORY: &str = "_memory";
/// `--crossdb` attaches this many databases at the most: SQLite's limit.
const ATTACH_LIMIT: usize = 10;
/// Databases in memory that this process has opened. SQLite knows them by their names in all of
/// the process, and those of two registries are not the same.
static OPENED: AtomicU64 = AtomicU64::new(0);

/// Something to serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File {
        /// Where it is.
        path: PathBuf,
        /// Named with `-i`: nobody changes it while we run.
        immutable: bool,
    },
    /// An empty database in memory.
    Memory,
    /// A file that is read into memory at the start and served from there.
    Preload(PathBuf),
}

/// What applies to all databases.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Attach the other databases to `_memory`.
    pub crossdb: bool,
    /// SQLite's page cache a connection in KiB; 0 keeps SQLite's default (2 MiB).
    pub cache_size_kb: u64,
    /// Connections a database at the most.
    pub connections: u32,
    /// Read files without heeding the locks of other programs.
    pub nolock: bool,
    /// What every connection loads.
    pub extensions: Arc<[Extension]>,
    /// What was found out before of immutable files, by the names of their databases.
    pub inspected: HashMap<String, Inspected>,
}

/// What came of opening the sources.
pub struct OpenReport {
    /// Those that could be opened.
    pub registry: Registry,
    /// Path and reason of each that could not.
    pub failures: Vec<(String, String)>,
}

/// The databases by name.
pub struct Registry {
    databases: Vec<Arc<Database>>,
    by_name: HashMap<String, Arc<Database>>,
}

impl Registry {
    /// Opens every source once, to see that it is a database, and sets up its pool.
    pub fn open(sources: Vec<Source>, options: &OpenOptions) -> OpenReport {
        let openers = Arc::new(
            ScheduledThreadPool::builder()
                .num_threads(OPENERS)
                .thread_name_pattern("sqlite-open-{}")
                .build(),
        );
        let mut registry = Self {
            databases: Vec::new(),
            by_name: HashMap::new(),
        };
        let mut failures = Vec::new();
        let named = names(sources);
        let attach = if options.crossdb {
            attachable(&named, options)
        } else {
            Vec::new()
        };
        for (name, source) in named {
            let label = match &source {
                Source::File { path, .. } | Source::Preload(path) => path.display().to_string(),
                Source::Memory => MEMORY.to_owned(),
            };
            match open_source(name, source, &attach, options, &openers) {
                Ok(database) => registry.add(database),
                Err(reason) => failures.push((label, reason)),
            }
        }
        OpenReport { registry, failures }
    }

    /// The databases in the order in which they were named.
    pub fn databases(&self) -> impl Iterator<Item = &Arc<Database>> {
        self.databases.iter()
    }

    /// The database of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<Database>> {
        self.by_name.get(name)
    }

    fn add(&mut self, database: Database) {
        let database = Arc::new(database);
        self.by_name.insert(database.name.clone(), database.clone());
        self.databases.push(database);
    }
}

/// Opens one source and sets up its pool. The error is a few words.
fn open_source(
    name: String,
    source: Source,
    attach: &[(String, PathBuf)],
    options: &OpenOptions,
    openers: &Arc<ScheduledThreadPool>,
) -> Result<Database, String> {
    let mut attached = Vec::new();
    let (path, place, preload) = match source {
        Source::Memory => {
            attached = attach.to_vec();
            (None, Place::Memory(in_memory(&name)), None)
        }
        Source::Preload(file) => (None, Place::Memory(in_memory(&name)), Some(file)),
        Source::File { path, immutable } => {
            if !path.is_file() {
                let reason = if path.is_dir() {
                    "is a folder"
                } else {
                    "no such file"
                };
                return Err(reason.into());
            }
            let place = if immutable {
                Place::Immutable
            } else {
                Place::Mutable
            };
            (Some(path.clone()), place(path), None)
        }
    };
    let is_memory = matches!(place, Place::Memory(_));
    let is_mutable = matches!(place, Place::Mutable(_));
    let has_attached = !attached.is_empty();
    let target = Target {
        attach: attached,
        ..target(place, options)
    };
    let keeper = if is_memory {
        let mut keeper = target.connect_to_fill().map_err(|e| sqlite_message(&e))?;
        if let Some(file) = &preload {
            fill(&mut keeper, file).map_err(|e| sqlite_message(&e))?;
        }
        Some(Mutex::new(keeper))
    } else {
        None
    };
    if check(&target).is_err() {
        // The file may hold what a program left half done; what else is wrong is told then.
        let _ = target.roll_back();
        check(&target).map_err(|e| sqlite_message(&e))?;
    }
    let (hash, inspected) = match &path {
        Some(path) if !is_mutable => known_of(&name, path, options)?,
        _ => (None, HashMap::new()),
    };
    let replaceable = path.clone().filter(|_| is_mutable);
    let roll_back = {
        let target = target.clone();
        move || target.roll_back()
    };
    let new_pool = {
        let (size, openers) = (options.connections.max(1), openers.clone());
        move || target.pool(size, openers.clone())
    };
    let opened = Opened::new(replaceable.as_deref(), new_pool());
    opened
        .open_watch()
        .map_err(|error| Error::from(error).to_string())?;
    Ok(Database {
        name,
        path,
        is_mutable,
        is_memory,
        has_attached,
        opened: ShardedLock::new(Arc::new(opened)),
        new_pool: Box::new(new_pool),
        roll_back: Box::new(roll_back),
        keeper,
        hash,
        inspected,
        turns: Turns::new(),
        counts: DashMap::new(),
    })
}

/// What SQLite calls a database in memory that we call `name`.
fn in_memory(name: &str) -> String {
    let nth = OPENED.fetch_add(1, Ordering::Relaxed);
    format!("{nth}/{name}")
}

/// The hash of an immutable file, and the rows of its tables as far as they are known: from
/// the inspection that was made of it before, unless the file has another size by now.
fn known_of(
    name: &str,
    path: &Path,
    options: &OpenOptions,
) -> Result<(Option<String>, HashMap<String, i64>), String> {
    let size = path.metadata().map_err(|error| error.to_string())?.len();
    let inspected = options.inspected.get(name);
    if inspected.is_some_and(|inspected| inspected.size != size) {
        tracing::warn!("{name} is not the file that was inspected: its size is another");
    }
    let inspected = inspected.filter(|inspected| inspected.size == size);
    // Now, not when a page first asks: it decides the colour of every page.
    let hash = match inspected.and_then(|inspected| inspected.hash.clone()) {
        Some(hash) => hash,
        None => hash_file(path).map_err(|error| error.to_string())?,
    };
    let counts = inspected.map(|inspected| inspected.tables.iter().cloned().collect());
    Ok((Some(hash), counts.unwrap_or_default()))
}

/// Gives each source its name: the file's stem, or `stem_2`, `stem_3` … if that is taken.
fn names(sources: Vec<Source>) -> Vec<(String, Source)> {
    let mut named: Vec<(String, Source)> = Vec::new();
    let mut taken = HashSet::new();
    for source in sources {
        let stem = match &source {
            Source::Memory => MEMORY.to_owned(),
            Source::File { path, .. } | Source::Preload(path) => stem(path),
        };
        named.push((free_name(&stem, &mut taken), source));
    }
    named
}

/// `stem`, or `stem_2`, `stem_3` … if that is taken; it is taken then.
pub fn free_name<S: BuildHasher>(stem: &str, taken: &mut HashSet<String, S>) -> String {
    let mut name = stem.to_owned();
    let mut n = 1;
    while !taken.insert(name.clone()) {
        n += 1;
        name = format!("{stem}_{n}");
    }
    name
}

/// The files that `--crossdb` attaches, by name: those that are databases.
fn attachable(named: &[(String, Source)], options: &OpenOptions) -> Vec<(String, PathBuf)> {
    let files = named.iter().filter_map(|(name, source)| match source {
        Source::File { path, .. } => Some((name.clone(), path.clone())),
        _ => None,
    });
    let mut good: Vec<_> = files
        .filter(|(_, path)| check(&target(Place::Mutable(path.clone()), options)).is_ok())
        .collect();
    if good.len() > ATTACH_LIMIT {
        tracing::warn!("--crossdb joins the first {ATTACH_LIMIT} databases, not the others");
        good.truncate(ATTACH_LIMIT);
    }
    good
}

/// A place, opened as the options say.
fn target(place: Place, options: &OpenOptions) -> Target {
    Target {
        cache_size_kb: options.cache_size_kb,
        nolock: options.nolock,
        extensions: Arc::clone(&options.extensions),
        ..Target::of(place)
    }
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Reads the schema, which fails on a file that is no database or whose first pages are damaged.
fn check(target: &Target) -> rusqlite::Result<()> {
    target
        .connect()?
        .query_row("select count(*) from sqlite_schema", [], |_| Ok(()))
}

/// Copies a file into a database in memory.
fn fill(memory: &mut Connection, file: &Path) -> rusqlite::Result<()> {
    let from = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    rusqlite::backup::Backup::new(&from, memory)?.run_to_completion(
        10_000,
        std::time::Duration::ZERO,
        None,
    )
}

/// A database with some content, for tests. The folder goes when dropped.
#[cfg(test)]
pub fn test_database(sql: &str) -> (tempfile::TempDir, Arc<Database>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let options = OpenOptions {
        connections: 8,
        ..OpenOptions::default()
    };
    let report = Registry::open(
        vec![Source::File {
            path,
            immutable: false,
        }],
        &options,
    );
    assert!(report.failures.is_empty(), "{:?}", report.failures);
    (folder, report.registry.get("test").unwrap().clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_stem_get_different_names_and_bad_files_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = |sub: &str, text: Option<&str>| {
            let path = folder.path().join(sub);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match text {
                Some(text) => std::fs::write(&path, text).unwrap(),
                None => Connection::open(&path)
                    .unwrap()
                    .execute_batch("create table t(x)")
                    .unwrap(),
            }
            Source::File {
                path,
                immutable: false,
            }
        };
        let sources = vec![
            file("a/data.db", None),
            file("b/data.db", None),
            file(
                "bad.db",
                Some("this is no database, however long the text may be made"),
            ),
            Source::File {
                path: folder.path().join("missing.db"),
                immutable: false,
            },
            Source::Memory,
        ];
        let report = Registry::open(
            sources,
            &OpenOptions {
                connections: 2,
                ..OpenOptions::default()
            },
        );
        let names: Vec<_> = report
            .registry
            .databases()
            .map(|d| d.name.as_str())
            .collect();
        assert_eq!(names, ["data", "data_2", "_memory"]);
        let reasons: Vec<_> = report
            .failures
            .iter()
            .map(|(_, reason)| reason.as_str())
            .collect();
        assert_eq!(reasons, ["file is not a database", "no such file"]);
    }
}
