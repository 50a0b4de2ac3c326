//! Keeps a number of requests under way.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use crate::server::Server;

/// Calls `send` with 0 to `total` - 1, `in_flight` at a time.
pub fn spread(total: usize, in_flight: usize, send: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..in_flight.min(total) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= total {
                        return;
                    }
                    send(index);
                }
            });
        }
    });
}

/// What a page cost during a while of load, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Wall time by pages answered: with several in flight, less than the time
    /// that each of them took.
    pub wall_ms: f64,
    /// CPU time of the server by pages answered.
    pub cpu_ms: f64,
}

/// When to stop measuring.
#[derive(Clone, Copy)]
pub enum Until {
    /// This many pages were answered.
    Pages(u64),
    /// This much time has passed; every request still under way is waited for.
    Elapsed(Duration),
}

/// Measures `send` on `server`, `in_flight` at a time. Each call gets a number
/// of its own. The first error ends it.
pub fn measure(
    server: &Server,
    in_flight: usize,
    until: Until,
    send: impl Fn(u64) -> Result<()> + Sync,
) -> Result<Cost> {
    let (asked, answered) = (AtomicU64::new(0), AtomicU64::new(0));
    let failed = AtomicBool::new(false);
    let cpu_before = server.cpu()?;
    let started = Instant::now();
    let worker = || -> Result<()> {
        while !failed.load(Ordering::Relaxed) {
            let number = asked.fetch_add(1, Ordering::Relaxed);
            let over = match until {
                Until::Pages(pages) => number >= pages,
                // One page at the least, however slow it is.
                Until::Elapsed(limit) => number > 0 && started.elapsed() >= limit,
            };
            if over {
                break;
            }
            send(number).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
            answered.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..in_flight).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker
                .join()
                .unwrap_or_else(|_| Err(anyhow!("a client thread panicked")))
        })
    })?;
    let wall = started.elapsed();
    let cpu = server.cpu()?.saturating_sub(cpu_before);
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52 pages")]
    let pages = answered.into_inner().max(1) as f64;
    Ok(Cost {
        wall_ms: wall.as_secs_f64() * 1e3 / pages,
        cpu_ms: cpu.as_secs_f64() * 1e3 / pages,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn every_index_is_sent_once() {
        let seen = Mutex::new(Vec::new());
        spread(100, 7, |index| seen.lock().unwrap().push(index));
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
    }
}
