//! Stress with a writer beside it: no two responses are equal, but each must
//! agree with itself and must not be older than its request.
//!
//! The newest row of every page says how many rows the table and group a had
//! when it was added (see [`writer`](super::writer)). Then the count, the facet and
//! that row must tell of one state of the database, and the row must not be older
//! than the last transaction that was known to be committed before the page was
//! asked for.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

use super::report::{self, Report};
use super::writer::{self, Journal};
use crate::cli::{Extras, StressArgs};
use crate::client::Client;
use crate::load;
use crate::server::{Launch, Server};

/// Page sizes that are asked for in turn.
const SIZES: [usize; 3] = [1, 20, 100];
/// A server that is done before the writer has made so many transactions has
/// proved little: it is sent the requests again, up to [`MOST_TURNS`] times in all.
const LEAST_COMMITS: u64 = 200;
const MOST_TURNS: usize = 50;

/// How many failures all servers and both kinds of journal gave.
pub fn run(args: &StressArgs, out: &mut dyn Write) -> Result<usize> {
    let mut failures = 0;
    for journal in [Journal::Wal, Journal::Rollback] {
        for &extras in &args.modes {
            for &sql_threads in &args.sql_threads {
                for cache in super::CACHES {
                    failures += run_one(args, journal, extras, sql_threads, cache, out)?;
                }
            }
        }
    }
    Ok(failures)
}

fn run_one(
    args: &StressArgs,
    journal: Journal,
    extras: Extras,
    sql_threads: usize,
    cache: &[[&str; 2]],
    out: &mut dyn Write,
) -> Result<usize> {
    let dir = TempDir::with_prefix("bigdb-")?;
    let path = dir.path().join("moves.db");
    writer::create(&path, journal)?;
    let server = Server::start(&Launch {
        args: &args.server,
        files: &[&path],
        preload: &[],
        sql_threads,
        extras,
        settings: cache,
    })?;
    let client = Client::new(server.url());
    let writer = WriterProcess::start(&path)?;
    let report = Report::default();
    let started = Instant::now();
    let send = |index: usize| {
        let size = SIZES[index % SIZES.len()];
        let path = format!(
            "/moves/moves.json?_facet=grp&_extra=count,facet_results&_sort_desc=id&_size={size}"
        );
        let committed = writer.committed();
        let checked = client
            .get_ok(&path)
            .and_then(|answer| check(&answer.body, committed));
        if let Err(error) = checked {
            report.add(&path, &format!("{error:#}"));
        }
    };
    let mut turns = 0;
    while turns == 0 || (turns < MOST_TURNS && writer.commits() < LEAST_COMMITS) {
        load::spread(args.requests, args.in_flight, send);
        turns += 1;
    }
    let elapsed = started.elapsed();
    let label = format!(
        "{}, {}",
        journal.name(),
        super::label(extras.name(), sql_threads, cache)
    );
    let commits = writer.stop();
    let note = match &commits {
        Ok(commits) => format!(", {commits} transactions beside them"),
        Err(_) => String::new(),
    };
    let mut failures = report.write(out, &label, turns * args.requests, elapsed, &note)?;
    match commits {
        Ok(0) => {
            writeln!(out, "  the writer was kept out")?;
            failures += 1;
        }
        Ok(_) => (),
        Err(error) => {
            writeln!(out, "  {error:#}")?;
            failures += 1;
        }
    }
    Ok(failures + report::stop(server, out)?)
}

/// What must hold of every page; `committed` is the last transaction that was
/// known to be committed when the page was asked for.
fn check(body: &[u8], committed: u64) -> Result<()> {
    let page: Value = serde_json::from_slice(body).context("not JSON")?;
    let count = page["count"].as_u64().context("no count")?;
    let timed_out = &page["facet_results"]["timed_out"];
    ensure!(
        timed_out.as_array().is_none_or(Vec::is_empty),
        "the facet timed out: {timed_out}"
    );
    let facet = page["facet_results"]["results"]["grp"]["results"]
        .as_array()
        .context("no facet")?;
    let of_group = |name: &str| {
        let group = facet.iter().find(|group| group["value"] == name);
        group.and_then(|group| group["count"].as_u64()).unwrap_or(0)
    };
    let (a, b) = (of_group("a"), of_group("b"));
    ensure!(
        a + b == count,
        "the facet counts {a} + {b} rows, the page {count}"
    );
    let newest = &page["rows"][0];
    let number = |name: &str| {
        newest[name]
            .as_u64()
            .with_context(|| format!("no {name} in {newest}"))
    };
    let (id, total, in_a) = (number("id")?, number("total")?, number("in_a")?);
    ensure!(
        total == count,
        "row {id} was added as one of {total}, the page counts {count}"
    );
    ensure!(in_a == a, "row {id} found {in_a} rows in a, the facet {a}");
    ensure!(
        id >= committed,
        "row {committed} was committed before, the page stops at {id}"
    );
    Ok(())
}

/// Another process that changes the database without rest.
struct WriterProcess {
    child: Child,
    first: u64,
    committed: Arc<AtomicU64>,
}

impl WriterProcess {
    /// Starts it and waits for its first transaction.
    fn start(path: &Path) -> Result<Self> {
        let program = std::env::current_exe()?;
        let mut child = Command::new(program)
            .arg("writer")
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the writer")?;
        let stdout = child.stdout.take().context("the writer has no stdout")?;
        let mut numbers = BufReader::new(stdout)
            .lines()
            .map_while(Result::ok)
            .filter_map(|line| line.parse::<u64>().ok());
        let Some(first) = numbers.next() else {
            let _ = child.wait();
            bail!("the writer did not get to write");
        };
        let committed = Arc::new(AtomicU64::new(first));
        let latest = Arc::clone(&committed);
        thread::spawn(move || numbers.for_each(|number| latest.store(number, Ordering::Release)));
        Ok(WriterProcess {
            child,
            first,
            committed,
        })
    }

    fn committed(&self) -> u64 {
        self.committed.load(Ordering::Acquire)
    }

    /// How many transactions it has made since it started.
    fn commits(&self) -> u64 {
        self.committed() - self.first
    }

    /// Ends it; how many transactions it made since it started.
    fn stop(mut self) -> Result<u64> {
        drop(self.child.stdin.take());
        let status = self.child.wait()?;
        ensure!(status.success(), "the writer ended with {status}");
        Ok(self.commits())
    }
}

impl Drop for WriterProcess {
    fn drop(&mut self) {
        // Without stdin it ends by itself; this is for a writer that hangs.
        drop(self.child.stdin.take());
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(count: u64, a: u64, b: u64, newest: [u64; 3]) -> Vec<u8> {
        let [id, total, in_a] = newest;
        let groups = json!([{"value": "a", "count": a}, {"value": "b", "count": b}]);
        let page = json!({
            "count": count,
            "rows": [{"id": id, "grp": "a", "total": total, "in_a": in_a}],
            "facet_results": {"results": {"grp": {"results": groups}}, "timed_out": []},
        });
        page.to_string().into_bytes()
    }

    #[test]
    fn a_page_of_one_state_passes() {
        check(&page(10, 6, 4, [30, 10, 6]), 30).unwrap();
    }

    #[test]
    fn what_disagrees_is_told() {
        for (page, committed, told) in [
            (page(10, 6, 3, [30, 10, 6]), 30, "6 + 3"),
            (page(10, 6, 4, [30, 11, 6]), 30, "one of 11"),
            (page(10, 6, 4, [30, 10, 5]), 30, "5 rows in a"),
            (page(10, 6, 4, [30, 10, 6]), 31, "stops at 30"),
            (b"<html>".to_vec(), 0, "not JSON"),
            (b"{}".to_vec(), 0, "no count"),
        ] {
            let error = format!("{:#}", check(&page, committed).unwrap_err());
            assert!(error.contains(told), "{error}");
        }
    }
}
