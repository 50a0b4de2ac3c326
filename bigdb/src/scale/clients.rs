//! Many clients, each of which asks again as soon as it has an answer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use crate::connection::Connection;

/// A client needs next to no stack; hundreds of them should need little memory.
const STACK_BYTES: usize = 256 * 1024;
/// Errors of a client that are kept in full; the others are counted.
const KEPT_ERRORS: usize = 1;
/// After an error, so that a server that is gone is not asked a million times.
const PAUSE: Duration = Duration::from_millis(50);

/// What came back.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Milliseconds of each answer with status 200.
    pub latencies: Vec<f64>,
    /// Answers with status 503: pages that were not admitted.
    pub refused: usize,
    /// Any other status, and requests without an answer.
    pub error_count: usize,
    /// The first error of each client.
    pub errors: Vec<String>,
    /// From the first request to the last answer.
    pub elapsed: Duration,
}

impl Tally {
    /// Answers with status 200 a second.
    pub fn rate(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52 answers")]
        let answered = self.latencies.len() as f64;
        answered / self.elapsed.as_secs_f64().max(1e-9)
    }

    fn add(&mut self, other: Tally) {
        self.latencies.extend(other.latencies);
        self.refused += other.refused;
        self.error_count += other.error_count;
        self.errors.extend(other.errors);
    }

    fn count(&mut self, answer: Result<u16>, elapsed: Duration) {
        let error = match answer {
            Ok(200) => return self.latencies.push(elapsed.as_secs_f64() * 1e3),
            Ok(503) => {
                self.refused += 1;
                return;
            }
            Ok(status) => format!("status {status}"),
            Err(error) => format!("{error:#}"),
        };
        self.error_count += 1;
        if self.errors.len() < KEPT_ERRORS {
            self.errors.push(error);
        }
        thread::sleep(PAUSE);
    }
}

/// Opens `connections` to the server at `url` and asks for pages on all of them
/// until `duration` has passed; what is under way then is waited for. `path` gets a
/// number of its own for each request.
///
/// # Errors
/// If a connection can't be opened or a thread can't be started. What goes wrong
/// later is in the tally.
pub fn run(
    url: &str,
    connections: usize,
    duration: Duration,
    path: impl Fn(u64) -> String + Sync,
) -> Result<Tally> {
    let opened = (0..connections)
        .map(|_| Connection::open(url))
        .collect::<Result<Vec<_>>>()?;
    let next = AtomicU64::new(0);
    let started = Instant::now();
    let client = |mut connection: Connection| {
        let mut tally = Tally::default();
        while started.elapsed() < duration {
            let path = path(next.fetch_add(1, Ordering::Relaxed));
            let asked = Instant::now();
            let answer = connection.get(&path);
            tally.count(answer, asked.elapsed());
        }
        tally
    };
    let client = &client;
    thread::scope(|scope| {
        let clients = opened
            .into_iter()
            .map(|connection| {
                thread::Builder::new()
                    .stack_size(STACK_BYTES)
                    .spawn_scoped(scope, move || client(connection))
                    .context("cannot start a client thread")
            })
            .collect::<Result<Vec<_>>>()?;
        let mut all = Tally::default();
        for client in clients {
            let tally = client
                .join()
                .map_err(|_| anyhow!("a client thread panicked"))?;
            all.add(tally);
        }
        all.elapsed = started.elapsed();
        Ok(all)
    })
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// Answers `/status/N` with status N until the client goes.
    fn serve(stream: TcpStream) {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            if let Some(rest) = line.strip_prefix("GET /status/") {
                let status = &rest[..3];
                let answer = format!("HTTP/1.1 {status} Said\r\ncontent-length: 2\r\n\r\nhi");
                reader.get_mut().write_all(answer.as_bytes()).unwrap();
            }
            line.clear();
        }
    }

    fn start() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        thread::spawn(move || {
            for stream in listener.incoming() {
                thread::spawn(move || serve(stream.unwrap()));
            }
        });
        url
    }

    #[test]
    fn answers_refusals_and_errors_are_told_apart() {
        let duration = Duration::from_millis(100);
        let tally = run(&start(), 8, duration, |number| {
            ["/status/200", "/status/503", "/status/404"][(number % 3) as usize].to_owned()
        })
        .unwrap();
        assert!(!tally.latencies.is_empty() && tally.refused > 0 && tally.error_count > 0);
        assert!(tally.errors.len() <= 8 && tally.errors[0] == "status 404");
        assert!(tally.elapsed >= duration && tally.rate() > 0.0);
    }

    #[test]
    fn hundreds_of_connections_are_held_at_once() {
        let tally = run(&start(), 256, Duration::from_millis(200), |_| {
            "/status/200".to_owned()
        })
        .unwrap();
        assert_eq!((tally.error_count, tally.refused), (0, 0), "{tally:?}");
        assert!(tally.latencies.len() >= 256);
    }

    #[test]
    fn a_server_that_hangs_up_is_reported() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        thread::spawn(move || listener.incoming().for_each(drop));
        let tally = run(&url, 2, Duration::from_millis(10), |_| "/x".to_owned()).unwrap();
        assert!(tally.latencies.is_empty());
        assert_eq!((tally.error_count, tally.errors.len()), (2, 2), "{tally:?}");
    }

    #[test]
    fn nobody_there_is_an_error() {
        // Bound and let go again: nobody listens there.
        let address = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let refused = run(&format!("http://{address}/"), 2, Duration::ZERO, |_| {
            String::new()
        });
        assert!(refused.is_err());
    }
}
