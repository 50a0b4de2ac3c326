//! The extras of a page as a small graph: a job runs when those before it have ended.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::{Engine, Page};

/// A job's place in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobId(usize);

type Work<'j> = Box<dyn FnOnce() + Send + 'j>;

struct Job<'j> {
    work: Mutex<Option<Work<'j>>>,
    /// Jobs before this one that have not ended yet.
    waits_for: AtomicUsize,
    /// Jobs after this one.
    unlocks: Vec<usize>,
}

/// Jobs with what depends on what. A job may only depend on jobs added before
/// it, so the order of adding is always a right order to run them in.
#[derive(Default)]
pub struct Graph<'j> {
    jobs: Vec<Job<'j>>,
}

impl<'j> Graph<'j> {
    /// Adds a job that runs after those in `after`. It keeps its result itself
    /// and must not wait for anything but SQLite.
    pub fn add(&mut self, after: &[JobId], work: impl FnOnce() + Send + 'j) -> JobId {
        let id = self.jobs.len();
        for before in after {
            self.jobs[before.0].unlocks.push(id);
        }
        self.jobs.push(Job {
            work: Mutex::new(Some(Box::new(work))),
            waits_for: AtomicUsize::new(after.len()),
            unlocks: Vec::new(),
        });
        JobId(id)
    }

    /// How many jobs there are.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Runs all jobs and returns when the last has ended: over the pool if
    /// `parallel`, else here, in the order of adding. To be called on a thread
    /// of the pool, with no connection or lock held.
    pub fn run(self, page: &Page<'_>, parallel: bool) {
        let stats = &page.engine.0.stats;
        stats
            .jobs
            .fetch_add(self.jobs.len() as u64, Ordering::Relaxed);
        if !parallel || self.jobs.len() < 2 {
            for job in self.jobs {
                if let Some(work) = job.work.into_inner() {
                    work();
                }
            }
            return;
        }
        let home = rayon::current_thread_index();
        let jobs = &self.jobs;
        // Found before the first one runs: a job that ends early makes others ready itself.
        let ready: Vec<usize> = (0..jobs.len())
            .filter(|&id| jobs[id].waits_for.load(Ordering::Acquire) == 0)
            .collect();
        rayon::scope(|scope| {
            for id in ready {
                scope.spawn(move |scope| run_job(scope, jobs, id, page.engine, home));
            }
        });
    }
}

fn run_job<'s, 'j: 's>(
    scope: &rayon::Scope<'s>,
    jobs: &'s [Job<'j>],
    id: usize,
    engine: &'s Engine,
    home: Option<usize>,
) {
    if rayon::current_thread_index() != home {
        engine.0.stats.stolen.fetch_add(1, Ordering::Relaxed);
    }
    let work = jobs[id].work.lock().take();
    if let Some(work) = work {
        work();
    }
    for &next in &jobs[id].unlocks {
        if jobs[next].waits_for.fetch_sub(1, Ordering::AcqRel) == 1 {
            scope.spawn(move |scope| run_job(scope, jobs, next, engine, home));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{EngineOptions, ExtrasMode};
    use super::*;
    use crate::db::Cancel;

    fn order_of_a_diamond(parallel: bool) -> Vec<&'static str> {
        let engine = Engine::new(&EngineOptions {
            threads: 3,
            mode: ExtrasMode::Auto,
            max_pages: 1,
            page_wait: Duration::ZERO,
        })
        .unwrap();
        let page = Page {
            engine: &engine,
            cancel: Cancel::default(),
        };
        let seen = Mutex::new(Vec::new());
        engine.0.pool.install(|| {
            let mut graph = Graph::default();
            let top = graph.add(&[], || seen.lock().push("top"));
            let left = graph.add(&[top], || seen.lock().push("side"));
            let right = graph.add(&[top], || seen.lock().push("side"));
            graph.add(&[left, right], || seen.lock().push("bottom"));
            graph.run(&page, parallel);
        });
        seen.into_inner()
    }

    #[test]
    fn a_job_runs_once_and_after_those_it_depends_on() {
        for parallel in [true, false] {
            assert_eq!(
                order_of_a_diamond(parallel),
                ["top", "side", "side", "bottom"]
            );
        }
    }
}
