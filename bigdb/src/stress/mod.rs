//! Sends a server more than it can do at once and looks for a wrong answer.
//!
//! Without a writer, all responses to one URL must be equal byte for byte, under
//! whatever load, number of SQL threads and way of running extras: the first
//! response of the whole run is what all others are held against. With a writer
//! beside it, see [`write`](self::write).

mod pages;
mod report;
mod write;
pub mod writer;

use std::io::Write;
use std::time::Instant;

use anyhow::{Result, ensure};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use crate::cli::StressArgs;
use crate::client::{Answer, Client, difference};
use crate::databases::Databases;
use crate::load;
use crate::server::{Launch, NO_CACHE, Server};

use report::{Report, counted};

/// True if no failure was found.
pub fn run(args: &StressArgs, out: &mut dyn Write) -> Result<bool> {
    let requests = counted(args.requests, "request");
    writeln!(
        out,
        "{requests} to each server, {} in flight",
        args.in_flight
    )?;
    let failures = match &args.url {
        _ if args.write => write::run(args, out)?,
        Some(url) => {
            let mut storm = Storm::new(args);
            storm.run(url, "the server", out)?
        }
        None => run_servers(args, out)?,
    };
    match failures {
        0 => writeln!(out, "No failures.")?,
        count => writeln!(out, "{}.", counted(count, "failure"))?,
    }
    Ok(failures == 0)
}

fn run_servers(args: &StressArgs, out: &mut dyn Write) -> Result<usize> {
    let databases = Databases::new(args.server.rows)?;
    let mut storm = Storm::new(args);
    let mut failures = 0;
    for &extras in &args.modes {
        for &sql_threads in &args.sql_threads {
            for cache in CACHES {
                let server = Server::start(&Launch {
                    args: &args.server,
                    files: &[&databases.small, &databases.big],
                    preload: &[&databases.memory],
                    sql_threads,
                    extras,
                    settings: cache,
                })?;
                let label = label(extras.name(), sql_threads, cache);
                failures += storm.run(server.url(), &label, out)?;
                failures += report::stop(server, out)?;
            }
        }
    }
    Ok(failures)
}

/// With answers kept and with each made anew: they must be the same.
const CACHES: [&[[&str; 2]]; 2] = [&[], &[NO_CACHE]];

fn label(extras: &str, sql_threads: usize, cache: &[[&str; 2]]) -> String {
    let cache = if cache.is_empty() {
        "cached"
    } else {
        "not cached"
    };
    format!("{extras}, {}, {cache}", counted(sql_threads, "SQL thread"))
}

/// The pages that are asked for and the first answer to each.
struct Storm<'a> {
    args: &'a StressArgs,
    pages: Vec<String>,
    firsts: Vec<Answer>,
}

impl<'a> Storm<'a> {
    fn new(args: &'a StressArgs) -> Self {
        let pages = if args.pages.is_empty() {
            pages::built_in()
        } else {
            args.pages.clone()
        };
        Storm {
            args,
            pages,
            firsts: Vec::new(),
        }
    }

    /// Sends all requests to the server at `url`; how many went wrong.
    fn run(&mut self, url: &str, label: &str, out: &mut dyn Write) -> Result<usize> {
        let client = Client::new(url);
        let refused = if self.firsts.is_empty() {
            self.ask_first(&client, out)?
        } else {
            0
        };
        let order = order(self.args.requests, self.pages.len());
        let report = Report::default();
        let started = Instant::now();
        load::spread(order.len(), self.args.in_flight, |index| {
            let page = order[index];
            let path = &self.pages[page];
            match client.get(path) {
                Ok(answer) => {
                    let answer = client.without_address(answer);
                    if let Some(difference) = difference(&self.firsts[page], &answer) {
                        report.add(path, &difference);
                    }
                }
                Err(error) => report.add(path, &format!("{error:#}")),
            }
        });
        Ok(refused + report.write(out, label, order.len(), started.elapsed(), "")?)
    }

    /// Gets the first answer to each page. A page that is refused is a failure and
    /// is not asked for again; how many there are.
    fn ask_first(&mut self, client: &Client, out: &mut dyn Write) -> Result<usize> {
        let mut refused = 0;
        for page in std::mem::take(&mut self.pages) {
            match client.get_ok(&page) {
                Ok(answer) => {
                    self.firsts.push(client.without_address(answer));
                    self.pages.push(page);
                }
                Err(error) => {
                    writeln!(out, "  {error:#}")?;
                    refused += 1;
                }
            }
        }
        ensure!(!self.pages.is_empty(), "the server has none of the pages");
        Ok(refused)
    }
}

/// Which page each request asks for: all of them equally often in a random
/// order, so that any two meet sooner or later, and the same in every run.
fn order(requests: usize, pages: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..requests).map(|index| index % pages).collect();
    let mut random = Pcg64Mcg::new(0x5DEE_CE66_D1CE_4E5B);
    for last in (1..order.len()).rev() {
        let other = random.next_u64() % (last as u64 + 1);
        order.swap(last, usize::try_from(other).unwrap_or(last));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pages_are_asked_for_equally_often() {
        let order = order(80, 8);
        for page in 0..8 {
            assert_eq!(order.iter().filter(|&&asked| asked == page).count(), 10);
        }
        assert!(!order.is_sorted());
    }
}
