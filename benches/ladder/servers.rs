//! The servers under test, each a process, and the processor time that they use.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::{files, hello};

/// Threads that speak HTTP, in each of them.
pub const WORKERS: usize = 2;

/// Which server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Site {
    /// actix-web as its own documentation sets it up.
    BareHello,
    /// actix-web as Turntable sets it up.
    OurHello,
    /// One database of so many tables, one of which has 5 rows.
    Tables(u32),
    /// So many databases, the first with the table of 5 rows alone.
    Databases(u32),
    /// A table of 1,000 rows.
    Rows,
    /// The database of one table, with no answer kept.
    Uncached,
}

const SITES: [Site; 8] = [
    Site::BareHello,
    Site::OurHello,
    Site::Tables(1),
    Site::Tables(50),
    Site::Tables(2_000),
    Site::Databases(20),
    Site::Rows,
    Site::Uncached,
];

/// All servers, running.
pub struct Servers(HashMap<Site, Server>);

impl Servers {
    /// Makes the databases in `folder` and starts everything.
    ///
    /// # Errors
    /// Names the server that did not start.
    pub fn start(folder: &Path) -> Result<Self> {
        let started = SITES.map(|site| {
            let server = start(site, folder).with_context(|| format!("cannot start {site:?}"))?;
            Ok((site, server))
        });
        started.into_iter().collect::<Result<_>>().map(Self)
    }

    pub fn get(&self, site: Site) -> &Server {
        &self.0[&site]
    }
}

fn start(site: Site, folder: &Path) -> Result<Server> {
    let folder = folder.join(format!("{site:?}"));
    fs::create_dir(&folder)?;
    match site {
        Site::BareHello => Server::hello(hello::BARE),
        Site::OurHello => Server::hello(hello::OURS),
        Site::Tables(count) => Server::turntable(&[files::tables(&folder, count)?], &[]),
        Site::Databases(count) => Server::turntable(&files::databases(&folder, count)?, &[]),
        Site::Rows => Server::turntable(&[files::rows(&folder)?], &[]),
        Site::Uncached => {
            let settings = ["--setting", "result_cache_mb", "0"];
            Server::turntable(&[files::tables(&folder, 1)?], &settings)
        }
    }
}

/// A running server; dropping it kills it.
pub struct Server {
    child: Child,
    /// Open as long as the server may write to it.
    _stdout: BufReader<ChildStdout>,
    address: String,
}

impl Server {
    fn hello(kind: &str) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([hello::WORD, kind]);
        Self::spawn(command)
    }

    fn turntable(files: &[PathBuf], settings: &[&str]) -> Result<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turntable"));
        command.arg("serve").args(files).args(settings);
        command.args(["-p", "0", "--workers", &WORKERS.to_string()]);
        Self::spawn(command)
    }

    fn spawn(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let mut stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        let mut line = String::new();
        let read = stdout.read_line(&mut line);
        let mut server = Self {
            child,
            _stdout: stdout,
            address: String::new(),
        };
        read?;
        let url = line.trim().strip_prefix("Serving on http://");
        let address = url.context("it did not get ready")?;
        server.address.push_str(address.trim_end_matches('/'));
        Ok(server)
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Time that the threads of the process have run for, in user space and in the
    /// kernel: the first field of `/proc/PID/task/TID/schedstat`, in nanoseconds,
    /// where `/proc/PID/stat` counts ticks of mostly 10 ms.
    /// <https://docs.kernel.org/scheduler/sched-stats.html>
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn cpu(&self) -> Result<Duration> {
        let mut nanoseconds = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let text = fs::read_to_string(thread?.path().join("schedstat"))?;
            let ran = text.split_whitespace().next().context("no time")?;
            nanoseconds += ran.parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanoseconds))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have gone already; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
