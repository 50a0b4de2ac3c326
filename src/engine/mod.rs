//! The engine: one work-stealing pool for the SQL of all pages.
//!
//! An actix worker hands a whole page over with [`Engine::offload`] and is free
//! again; [`admission`] bounds how many pages are inside. On the pool, a page
//! runs its extras as a [`graph`] of jobs, side by side or one after another as
//! the [`mode`] says; a long scan is cut into [`morsels`], and jobs that are equal
//! run once ([`flights`]). [`stats`] counts what happens. Answers without an end in
//! sight are made by [`exports`], on threads of their own.

pub mod admission;
pub mod cost;
pub mod exports;
pub mod flights;
pub mod graph;
pub mod mode;
pub mod morsels;
pub mod offload;
pub mod stats;

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

pub use cost::Shape;
pub use exports::{Pieces, Sink};
pub use flights::{Claim, Flight, Flights, Waiting};
pub use graph::Graph;
pub use mode::ExtrasMode;
pub use morsels::Morsels;
pub use offload::{Page, Way};

use admission::Admission;
use cost::Costs;
use stats::Stats;

/// Stack of a pool thread in bytes: SQLite's parser and deep JSON want more than the usual 2 MiB.
const STACK: usize = 8 << 20;

/// How the engine is set up.
#[derive(Debug, Clone, Copy)]
pub struct EngineOptions {
    /// Threads of the pool (`--sql-threads`). 0 counts as 1.
    pub threads: usize,
    /// How pages run their extras, unless a request says otherwise.
    pub mode: ExtrasMode,
    /// Pages inside the engine at once; 0 derives it from the threads.
    pub max_pages: usize,
    /// How long a page may wait to get in.
    pub page_wait: Duration,
}

impl EngineOptions {
    /// The bound on pages inside: eight a thread keeps the pool fed while
    /// requests that would only wait are turned away within `page_wait`.
    pub fn page_limit(&self) -> usize {
        if self.max_pages > 0 {
            self.max_pages
        } else {
            self.threads.max(1) * 8
        }
    }

    /// Connections that a database needs at the most: one that each page
    /// holds as its anchor, one for the job that each thread runs, two for each
    /// export (its cursor, and labels), and one that looks for changes.
    pub fn connections(&self) -> u32 {
        let most = self.page_limit() + self.threads.max(1) + 2 * exports::LIMIT + 1;
        u32::try_from(most).unwrap_or(u32::MAX)
    }
}

/// The pool and the way in. Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    pool: rayon::ThreadPool,
    admission: Admission,
    exports: Admission,
    mode: ExtrasMode,
    /// Pages that can run at once without sharing a processor.
    capacity: usize,
    stats: Stats,
    costs: Costs,
}

impl Engine {
    /// Starts the pool.
    pub fn new(options: &EngineOptions) -> Result<Self, rayon::ThreadPoolBuildError> {
        let threads = options.threads.max(1);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|n| format!("sql-{n}"))
            .stack_size(STACK)
            .build()?;
        let cores = available_parallelism().map_or(1, usize::from);
        Ok(Self(Arc::new(Inner {
            pool,
            admission: Admission::new(options.page_limit(), options.page_wait),
            exports: Admission::new(exports::LIMIT, options.page_wait),
            mode: options.mode,
            capacity: threads.min(cores),
            stats: Stats::default(),
            costs: Costs::default(),
        })))
    }

    /// How pages run their extras, unless a request says otherwise.
    pub fn mode(&self) -> ExtrasMode {
        self.0.mode
    }

    /// Threads of the pool.
    pub fn threads(&self) -> usize {
        self.0.pool.current_num_threads()
    }

    /// What `/-/threads.json` shows.
    pub fn stats(&self) -> stats::Snapshot {
        self.0.stats.snapshot(
            self.threads(),
            self.0.mode,
            &self.0.admission,
            &self.0.exports,
        )
    }
}
