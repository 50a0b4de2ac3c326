//! The extras of a page as a small graph: a job runs when those before it have ended.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::{Engine, Page, Way};

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

    /// Runs all jobs and returns when the last has ended: over the pool, or
    /// here in the order of adding, as `way` says. `before` is called before
    /// jobs run at the same time. To be called on a thread of the pool, with no
    /// connection or lock held.
    pub fn run(self, page: &Page<'_>, way: Way, before: impl FnOnce()) {
        let shared = &page.engine.0;
        shared
            .stats
            .jobs
            .fetch_add(self.jobs.len() as u64, Ordering::Relaxed);
        let began = Instant::now();
        let cost = if self.jobs.len() > 1 && way.is_parallel {
            before();
            self.run_over_pool(page.engine)
        } else {
            for job in self.jobs {
                if let Some(work) = job.work.into_inner() {
                    work();
                }
            }
            began.elapsed()
        };
        shared.costs.note(way.shape, cost);
    }

    /// Returns the time that all jobs took together.
    fn run_over_pool(self, engine: &Engine) -> Duration {
        let run = Run {
            jobs: self.jobs,
            engine,
            home: rayon::current_thread_index(),
            nanos: AtomicU64::new(0),
        };
        // Found before the first one runs: a job that ends early makes others ready itself.
        let ready: Vec<usize> = (0..run.jobs.len())
            .filter(|&id| run.jobs[id].waits_for.load(Ordering::Acquire) == 0)
            .collect();
        rayon::scope(|scope| {
            let run = &run;
            for id in ready {
                scope.spawn(move |scope| run.job(scope, id));
            }
        });
        Duration::from_nanos(run.nanos.into_inner())
    }
}

/// A graph that is being run over the pool.
struct Run<'j, 'e> {
    jobs: Vec<Job<'j>>,
    engine: &'e Engine,
    /// The thread of the page.
    home: Option<usize>,
    /// Time of all jobs so far.
    nanos: AtomicU64,
}

impl<'j: 's, 's> Run<'j, '_> {
    fn job(&'s self, scope: &rayon::Scope<'s>, id: usize) {
        if rayon::current_thread_index() != self.home {
            self.engine.0.stats.stolen.fetch_add(1, Ordering::Relaxed);
        }
        let began = Instant::now();
        let work = self.jobs[id].work.lock().take();
        if let Some(work) = work {
            work();
        }
        let nanos = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
        for &next in &self.jobs[id].unlocks {
            if self.jobs[next].waits_for.fetch_sub(1, Ordering::AcqRel) == 1 {
                scope.spawn(move |scope| self.job(scope, next));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EngineOptions, ExtrasMode, Shape};
    use super::*;
    use crate::db::Cancel;

    fn order_of_a_diamond(asked: ExtrasMode) -> Vec<&'static str> {
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
            graph.run(&page, page.way(Shape::of("diamond"), Some(asked)), || ());
        });
        seen.into_inner()
    }

    #[test]
    fn a_job_runs_once_and_after_those_it_depends_on() {
        for asked in [ExtrasMode::Parallel, ExtrasMode::Sequential] {
            assert_eq!(order_of_a_diamond(asked), ["top", "side", "side", "bottom"]);
        }
    }
}
