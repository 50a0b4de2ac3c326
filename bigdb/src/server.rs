//! Starts and stops the server under test and reads the CPU time it has used.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::cli::{Extras, ServerArgs};

/// Loading a large file into memory takes seconds; more than this is a hang.
const START_LIMIT: Duration = Duration::from_mins(2);
const STOP_LIMIT: Duration = Duration::from_secs(15);
/// Last lines of stderr that are shown when something goes wrong.
const KEPT_LINES: usize = 20;
/// What the server prints before its address.
const READY: &str = "Serving on ";
/// Slow machines get their time: a facet given up would look like a difference.
const SETTINGS: [[&str; 2]; 3] = [
    ["facet_time_limit_ms", "5000"],
    ["facet_suggest_time_limit_ms", "5000"],
    ["sql_time_limit_ms", "10000"],
];

/// Keeps no answer from one request to the next: each is made when it is asked for.
pub const NO_CACHE: [&str; 2] = ["result_cache_mb", "0"];

/// What to start.
pub struct Launch<'a> {
    pub args: &'a ServerArgs,
    pub files: &'a [&'a Path],
    /// Files that are loaded into memory.
    pub preload: &'a [&'a Path],
    pub sql_threads: usize,
    pub extras: Extras,
    /// Settings, as name and value, after [`SETTINGS`] and before those that were typed;
    /// the last of a name counts.
    pub settings: &'a [[&'a str; 2]],
}

/// A running server; dropping it kills it.
pub struct Server {
    child: Child,
    url: String,
    log: Arc<Mutex<VecDeque<String>>>,
}

impl Server {
    /// Starts a server on a free port and waits until it is ready.
    pub fn start(launch: &Launch) -> Result<Self> {
        let program = find_program(launch.args.server.as_deref());
        let mut command = Command::new(&program);
        command.arg("serve").args(launch.files);
        for file in launch.preload {
            command.arg("--preload").arg(file);
        }
        command.args(["-h", "127.0.0.1", "-p", "0"]);
        command.args(["--sql-threads", &launch.sql_threads.to_string()]);
        command.args(["--extras", launch.extras.name()]);
        for [name, value] in SETTINGS.iter().chain(launch.settings) {
            command.args(["--setting", name, value]);
        }
        for pair in launch.args.settings.chunks_exact(2) {
            command.arg("--setting").args(pair);
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let log = Arc::new(Mutex::new(VecDeque::new()));
        let (ready, address) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || announce(stdout, &ready));
        }
        if let Some(stderr) = child.stderr.take() {
            let log = Arc::clone(&log);
            thread::spawn(move || keep_last_lines(stderr, &log));
        }
        let mut server = Server {
            child,
            url: String::new(),
            log,
        };
        match address.recv_timeout(START_LIMIT) {
            Ok(url) => server.url = url,
            Err(_) => bail!(
                "{} did not get ready{}",
                program.display(),
                server.last_lines()
            ),
        }
        Ok(server)
    }

    /// Such as `http://127.0.0.1:40123/`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// User and system time of the process and its threads so far, in steps of
    /// the kernel's clock tick, which is 10 ms nearly everywhere.
    pub fn cpu(&self) -> Result<Duration> {
        let path = format!("/proc/{}/stat", self.child.id());
        let stat = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        let ticks = cpu_ticks(&stat).with_context(|| format!("cannot understand {path}"))?;
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52 ticks")]
        let seconds = ticks as f64 / rustix::param::clock_ticks_per_second() as f64;
        Ok(Duration::from_secs_f64(seconds))
    }

    /// Asks the server to stop, and fails if it panicked, has died before or
    /// does not stop.
    pub fn stop(mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("the server has died: {status}{}", self.last_lines());
        }
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let asked = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if asked.elapsed() > STOP_LIMIT {
                bail!("the server did not stop{}", self.last_lines());
            }
            thread::sleep(Duration::from_millis(10));
        };
        if !status.success() {
            bail!("the server stopped with {status}{}", self.last_lines());
        }
        if self.last_lines().contains("panicked at") {
            bail!("the server panicked{}", self.last_lines());
        }
        Ok(())
    }

    fn last_lines(&self) -> String {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.iter()
            .fold(String::new(), |text, line| text + "\n    " + line)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            // It may have gone in between; then there is nothing to do.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Sends the address, then reads on so that the server never waits for a full pipe.
fn announce(stdout: impl Read, ready: &Sender<String>) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        if let Some(url) = line.strip_prefix(READY) {
            // Nobody listens any more after a timeout.
            let _ = ready.send(url.trim().to_owned());
        }
    }
}

fn keep_last_lines(stderr: impl Read, log: &Mutex<VecDeque<String>>) {
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() == KEPT_LINES {
            log.pop_front();
        }
        log.push_back(line);
    }
}

fn find_program(given: Option<&Path>) -> PathBuf {
    if let Some(path) = given {
        return path.to_owned();
    }
    let beside = std::env::current_exe()
        .ok()
        .map(|path| path.with_file_name("turntable"));
    beside
        .into_iter()
        .chain([PathBuf::from("target/release/turntable")])
        .find(|path| path.is_file())
        // A bare name is looked for on PATH.
        .unwrap_or_else(|| PathBuf::from("turntable"))
}

/// The sum of fields 14 and 15, utime and stime, of `proc_pid_stat(5)`. Field 2 is
/// the name in parentheses and may hold anything, spaces and parentheses too.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_past_any_name() {
        let stat = "42 (odd) name) S 1 42 42 0 -1 4194304 100 0 0 0 250 30 0 0 20 0 4 0 999 1 1";
        assert_eq!(cpu_ticks(stat), Some(280));
        assert_eq!(cpu_ticks("42 (short) S 1"), None);
        assert_eq!(cpu_ticks(""), None);
    }

    #[test]
    fn the_address_is_read_from_the_ready_line() {
        let (sender, receiver) = mpsc::channel();
        announce(
            &b"hello\nServing on http://127.0.0.1:5/\nmore\n"[..],
            &sender,
        );
        assert_eq!(receiver.try_recv().unwrap(), "http://127.0.0.1:5/");
        assert!(receiver.try_recv().is_err());
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let log = Mutex::new(VecDeque::new());
        let text = (0..50)
            .map(|line| line.to_string())
            .collect::<Vec<_>>()
            .join("\n");
        keep_last_lines(text.as_bytes(), &log);
        let log = log.into_inner().unwrap();
        assert_eq!(log.len(), KEPT_LINES);
        assert_eq!(log.back().unwrap(), "49");
    }
}
