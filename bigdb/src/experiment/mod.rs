//! Which number of SQL threads and which way of running extras suits which load.
//!
//! One server runs for each pair of the two. Every round measures every page on
//! every server, once with one request at a time and once with eight in flight;
//! the rounds are interleaved, so that a machine that slows down does so for all,
//! and what counts is the median over the rounds.

mod results;
mod svg;
mod table;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::cli::{ExperimentArgs, Extras};
use crate::client::Client;
use crate::databases::Databases;
use crate::load::{Until, measure};
use crate::progress_bar;
use crate::server::{Launch, NO_CACHE, Server};

use results::{Cell, Results};

/// Requests under way at the same time.
const IN_FLIGHT: [usize; 2] = [1, 8];

/// The pages that are the columns of the table; a title for each is
/// [`Results::titles`].
const PAGES: [&str; 4] = [
    "/small/categories?_size=10",
    "/small/events?_size=100",
    "/big/events?_size=100",
    "/big/events?_size=100&_facet=state&_facet=status",
];

/// A row of the table: one server.
#[derive(Clone, Copy)]
pub struct Setup {
    pub sql_threads: usize,
    pub extras: Extras,
}

/// How long to measure.
struct Effort {
    rounds: usize,
    cell: Duration,
    sql_threads: Vec<usize>,
}

impl Effort {
    fn new(args: &ExperimentArgs) -> Self {
        if args.quick {
            return Effort {
                rounds: 2,
                cell: Duration::from_millis(100),
                sql_threads: vec![1, 3],
            };
        }
        Effort {
            rounds: args.rounds,
            cell: Duration::from_millis(args.cell_ms),
            sql_threads: args.sql_threads.clone(),
        }
    }
}

pub fn run(args: &ExperimentArgs, out: &mut dyn Write) -> Result<()> {
    let results = experiment(args)?;
    table::write(&results, out)?;
    if let Some(path) = &args.json {
        save(path, &serde_json::to_string_pretty(&results.to_json())?)?;
    }
    if let Some(path) = &args.svg {
        save(path, &svg::draw(&results))?;
    }
    Ok(())
}

fn experiment(args: &ExperimentArgs) -> Result<Results> {
    let effort = Effort::new(args);
    let databases = Databases::new(args.server.rows)?;
    let setups: Vec<Setup> = effort
        .sql_threads
        .iter()
        .flat_map(|&sql_threads| {
            args.modes.iter().map(move |&extras| Setup {
                sql_threads,
                extras,
            })
        })
        .collect();
    let servers: Vec<Server> = setups
        .iter()
        .map(|setup| {
            Server::start(&Launch {
                args: &args.server,
                files: &[&databases.small, &databases.big],
                preload: &[],
                sql_threads: setup.sql_threads,
                extras: setup.extras,
                settings: &[NO_CACHE],
            })
        })
        .collect::<Result<_>>()?;
    let clients: Vec<Client> = servers
        .iter()
        .map(|server| Client::new(server.url()))
        .collect();
    let mut cells: Vec<Cell> = Vec::new();
    for page in 0..PAGES.len() {
        for in_flight in IN_FLIGHT {
            cells.extend((0..setups.len()).map(|setup| Cell::new(setup, page, in_flight)));
        }
    }
    let next = AtomicU64::new(1);
    let url = |page: &str| match next.fetch_add(1, Ordering::Relaxed) {
        _ if args.repeat => page.to_owned(),
        number => format!("{page}&id__gte=-{number}"),
    };
    for client in &clients {
        for page in PAGES {
            client.get_ok(&url(page))?;
        }
    }
    let bar = progress_bar((cells.len() * effort.rounds) as u64, "measurements");
    for round in 0..effort.rounds {
        for step in 0..cells.len() {
            // Another cell comes first in every round.
            let index = (step + round) % cells.len();
            let cell = &mut cells[index];
            let (server, client) = (&servers[cell.setup], &clients[cell.setup]);
            let page = PAGES[cell.page];
            cell.costs.push(measure(
                server,
                cell.in_flight,
                Until::Elapsed(effort.cell),
                |_| client.get_ok(&url(page)).map(drop),
            )?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    servers.into_iter().try_for_each(Server::stop)?;
    Ok(Results {
        rows: args.server.rows,
        rounds: effort.rounds,
        repeat: args.repeat,
        setups,
        cells,
    })
}

fn save(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
