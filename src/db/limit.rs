//! When a statement has to stop: its time is up, or nobody waits for it any more.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rusqlite::Connection;
use rustix::time::{ClockId, clock_gettime};

/// Virtual-machine steps of SQLite between two looks at the clock: 10 to 50 µs.
const STEPS: i32 = 2_000;
/// A statement may wait for processors this many times its limit.
const PATIENCE: u32 = 4;

/// Tells the jobs of a page that their client has gone. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// From now on queued jobs are skipped and running SQL is interrupted.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`Self::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A time limit for the SQL of one job.
///
/// It counts the processor time of the thread, not the time on the wall: a
/// facet of 150 ms keeps within its 200 ms on a loaded machine too, so that a
/// page does not lose facets because other pages run beside it. Four times the
/// limit on the wall ends it all the same. The clock starts with the SQL: time
/// spent waiting for a thread, a connection or a lock does not count.
#[derive(Debug, Clone, Copy)]
pub struct Limit(Option<Duration>);

impl Limit {
    /// No limit, but for the client's patience.
    pub const NONE: Self = Self(None);

    /// A limit in milliseconds, as the settings give it. 0 is no limit.
    pub fn millis(ms: u64) -> Self {
        Self((ms > 0).then(|| Duration::from_millis(ms)))
    }

    /// Runs `job` with this limit in force on `connection`. When the limit or
    /// `cancel` strikes, the statement ends with `SQLITE_INTERRUPT`.
    pub fn enforce<T>(
        self,
        connection: &Connection,
        cancel: &Cancel,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let cancel = cancel.clone();
        let watch = self.0.map(Watch::start);
        connection.progress_handler(
            STEPS,
            Some(move || cancel.is_cancelled() || watch.as_ref().is_some_and(Watch::is_over)),
        )?;
        let result = job(connection);
        connection.progress_handler(0, None::<fn() -> bool>)?;
        result
    }
}

struct Watch {
    began: Instant,
    cpu_began: Duration,
    limit: Duration,
    over: Cell<bool>,
}

impl Watch {
    fn start(limit: Duration) -> Self {
        Self {
            began: Instant::now(),
            cpu_began: thread_time(),
            limit,
            over: Cell::new(false),
        }
    }

    fn is_over(&self) -> bool {
        // The clock of the thread costs a system call; the wall clock, which
        // can't be behind it, does not.
        if !self.over.get() && self.began.elapsed() >= self.limit {
            let cpu = thread_time().saturating_sub(self.cpu_began);
            self.over
                .set(cpu >= self.limit || self.began.elapsed() >= self.limit * PATIENCE);
        }
        self.over.get()
    }
}

fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or(0),
        u32::try_from(now.tv_nsec).unwrap_or(0),
    )
}

/// Processor time that several jobs may take together, whichever runs first.
#[derive(Debug)]
pub struct Budget {
    /// None is no bound.
    left: Option<Mutex<Duration>>,
    /// What one job may take of it at the most.
    each: Limit,
}

impl Budget {
    /// So many milliseconds; 0 is no limit.
    pub fn millis(ms: u64) -> Self {
        Self {
            left: (ms > 0).then(|| Mutex::new(Duration::from_millis(ms))),
            each: Limit::NONE,
        }
    }

    /// The same with a limit for each job: one that is slow leaves time for the others.
    #[must_use]
    pub fn each(self, limit: Limit) -> Self {
        Self {
            each: limit,
            ..self
        }
    }

    /// With no time left.
    #[cfg(test)]
    pub fn spent() -> Self {
        Self {
            left: Some(Mutex::default()),
            each: Limit::NONE,
        }
    }

    /// Runs `job` within what is left, and takes off what it took. Jobs that run
    /// at the same time may all count on the same rest. `None` if there is no time left.
    pub fn enforce<T>(
        &self,
        connection: &Connection,
        cancel: &Cancel,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Option<rusqlite::Result<T>> {
        let Some(shared) = &self.left else {
            return Some(self.each.enforce(connection, cancel, job));
        };
        let left = *shared.lock();
        if left.is_zero() {
            return None;
        }
        let most = self.each.0.map_or(left, |each| each.min(left));
        let began = thread_time();
        let result = Limit(Some(most)).enforce(connection, cancel, job);
        let took = thread_time().saturating_sub(began);
        // An interrupt is the end of it, though the clock may stand a little short of it.
        let took = match &result {
            Err(error) if is_interrupt(error) => most,
            _ => took,
        };
        let mut shared = shared.lock();
        *shared = shared.saturating_sub(took);
        Some(result)
    }
}

/// Whether a statement ended because of a [`Limit`] or a [`Cancel`].
pub fn is_interrupt(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDLESS: &str =
        "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c";

    #[test]
    fn an_endless_statement_ends_at_its_limit_and_the_next_one_runs() {
        let conn = Connection::open_in_memory().unwrap();
        let count = |c: &Connection| c.query_row(ENDLESS, [], |r| r.get::<_, i64>(0));
        let error = Limit::millis(10)
            .enforce(&conn, &Cancel::default(), count)
            .unwrap_err();
        assert!(is_interrupt(&error));
        let one = Limit::millis(10).enforce(&conn, &Cancel::default(), |c| {
            c.query_row("select 1", [], |r| r.get::<_, i64>(0))
        });
        assert_eq!(one.unwrap(), 1);
    }

    #[test]
    fn one_slow_job_leaves_time_for_the_others_until_all_is_spent() {
        let conn = Connection::open_in_memory().unwrap();
        let budget = Budget::millis(25).each(Limit::millis(10));
        let run = |sql: &str| {
            budget.enforce(&conn, &Cancel::default(), |c| {
                c.query_row(sql, [], |r| r.get::<_, i64>(0))
            })
        };
        for _ in 0..2 {
            assert!(run(ENDLESS).is_some_and(|result| result.is_err()));
            assert_eq!(run("select 1").unwrap().unwrap(), 1);
        }
        assert!(run(ENDLESS).is_some_and(|result| result.is_err()));
        assert!(run("select 1").is_none());
    }

    #[test]
    fn a_statement_whose_client_has_gone_ends_without_a_limit() {
        let conn = Connection::open_in_memory().unwrap();
        let cancel = Cancel::default();
        cancel.cancel();
        let error = Limit::NONE
            .enforce(&conn, &cancel, |c| {
                c.query_row(ENDLESS, [], |r| r.get::<_, i64>(0))
            })
            .unwrap_err();
        assert!(is_interrupt(&error));
    }
}
