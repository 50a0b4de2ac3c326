//! Counters of the engine. Each has a cache line of its own, so that threads
//! that count different things do not slow each other.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use crossbeam::utils::CachePadded;
use serde::Serialize;

use super::ExtrasMode;
use super::admission::Admission;

/// The running counters.
#[derive(Default)]
pub(super) struct Stats {
    /// Pages that a thread is working on.
    pub running: CachePadded<AtomicUsize>,
    /// Pages done since the start.
    pub pages: CachePadded<AtomicU64>,
    /// Jobs of extras done since the start.
    pub jobs: CachePadded<AtomicU64>,
    /// Jobs that ran on another thread than their page's.
    pub stolen: CachePadded<AtomicU64>,
    /// Pages that were skipped because their client had gone.
    pub skipped: CachePadded<AtomicU64>,
    /// Pages that panicked.
    pub panicked: CachePadded<AtomicU64>,
}

impl Stats {
    pub fn snapshot(
        &self,
        threads: usize,
        mode: ExtrasMode,
        admission: &Admission,
        exports: &Admission,
    ) -> Snapshot {
        let running = self.running.load(Relaxed);
        Snapshot {
            threads,
            extras: mode.name(),
            max_pages: admission.limit(),
            running,
            queued: admission.inside().saturating_sub(running),
            exports: exports.inside(),
            pages: self.pages.load(Relaxed),
            jobs: self.jobs.load(Relaxed),
            stolen: self.stolen.load(Relaxed),
            skipped: self.skipped.load(Relaxed),
            panicked: self.panicked.load(Relaxed),
        }
    }
}

/// The counters at one moment, as `/-/threads.json` shows them.
#[derive(Debug, Clone, Serialize)]
pub struct Snapshot {
    /// Threads of the pool.
    pub threads: usize,
    /// `--extras`
    pub extras: &'static str,
    /// Pages that are let in at once.
    pub max_pages: usize,
    /// Pages that a thread is working on.
    pub running: usize,
    /// Pages inside that wait for a thread.
    pub queued: usize,
    /// Exports that have a thread now.
    pub exports: usize,
    /// Pages done since the start.
    pub pages: u64,
    /// Jobs of extras done since the start.
    pub jobs: u64,
    /// Jobs that ran on another thread than their page's.
    pub stolen: u64,
    /// Pages skipped because their client had gone.
    pub skipped: u64,
    /// Pages that panicked, and were answered with 500.
    pub panicked: u64,
}
