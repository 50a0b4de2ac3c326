//! Ten queries at once against the same ten one by one.
//!
//! Where SQL threads get in each other's way, queries at once cost more CPU than
//! one by one and take as long; where they do not, the CPU stays level and the
//! wall time falls with the cores.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;

use crate::cli::{Extras, GatherArgs};
use crate::client::Client;
use crate::databases::Databases;
use crate::load::{Cost, Until, measure};
use crate::server::{Launch, NO_CACHE, Server};
use crate::statistics::{median, milliseconds};
use crate::{progress_bar, text_table};

/// Reads every row. The bound holds for all of them and differs in every query,
/// so that no cache can answer.
const QUERY: &str = "/big/-/query.json?sql=select+state,+count(*)+as+n,+avg(amount)+as+price\
    +from+events+where+id+%3E%3D+:low+group+by+state&low=-";

pub fn run(args: &GatherArgs, out: &mut dyn Write) -> Result<()> {
    let databases = Databases::new(args.server.rows)?;
    let servers: Vec<Server> = args
        .sql_threads
        .iter()
        .map(|&sql_threads| {
            Server::start(&Launch {
                args: &args.server,
                files: &[&databases.big],
                preload: &[],
                sql_threads,
                extras: Extras::Auto,
                settings: &[NO_CACHE],
            })
        })
        .collect::<Result<_>>()?;
    let next = AtomicU64::new(1);
    let cost = |server: &Server, in_flight| -> Result<Cost> {
        let client = Client::new(server.url());
        measure(server, in_flight, Until::Pages(args.queries as u64), |_| {
            let low = next.fetch_add(1, Ordering::Relaxed);
            client.get_ok(&format!("{QUERY}{low}")).map(drop)
        })
    };
    // For each server its costs one by one and at once. Rounds are interleaved so
    // that a machine that slows down does so for all.
    let mut costs: Vec<[Vec<Cost>; 2]> = servers.iter().map(|_| Default::default()).collect();
    let bar = progress_bar((args.rounds * servers.len()) as u64, "measurements");
    for server in &servers {
        cost(server, args.queries)?;
    }
    for _ in 0..args.rounds {
        for (server, [alone, at_once]) in servers.iter().zip(&mut costs) {
            alone.push(cost(server, 1)?);
            at_once.push(cost(server, args.queries)?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    write_table(args, &costs, out)?;
    servers.into_iter().try_for_each(Server::stop)
}

fn write_table(args: &GatherArgs, costs: &[[Vec<Cost>; 2]], out: &mut dyn Write) -> Result<()> {
    let wall = |costs: &[Cost]| median(&costs.iter().map(|cost| cost.wall_ms).collect::<Vec<_>>());
    let cpu = |costs: &[Cost]| median(&costs.iter().map(|cost| cost.cpu_ms).collect::<Vec<_>>());
    writeln!(
        out,
        "{} queries over {} rows, ms a query, medians of {} rounds",
        args.queries, args.server.rows, args.rounds
    )?;
    let head = [
        "sql-threads",
        "wall one by one",
        "wall at once",
        "ratio",
        "CPU one by one",
        "CPU at once",
        "ratio",
    ]
    .map(str::to_owned);
    let rows: Vec<Vec<String>> = args
        .sql_threads
        .iter()
        .zip(costs)
        .map(|(sql_threads, [alone, at_once])| {
            vec![
                sql_threads.to_string(),
                milliseconds(wall(alone)),
                milliseconds(wall(at_once)),
                format!("{:.2}", wall(at_once) / wall(alone)),
                milliseconds(cpu(alone)),
                milliseconds(cpu(at_once)),
                format!("{:.2}", cpu(at_once) / cpu(alone)),
            ]
        })
        .collect();
    text_table::write(out, &head, &rows, 0)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_line_for_each_number_of_threads() {
        use clap::Parser;
        let cli = crate::cli::Cli::parse_from(["bigdb", "gather", "--sql-threads", "1,8"]);
        let crate::cli::Command::Gather(args) = cli.command else {
            panic!("{cli:?}")
        };
        let cost = |wall_ms, cpu_ms| vec![Cost { wall_ms, cpu_ms }];
        let costs = [
            [cost(80.0, 80.0), cost(40.0, 88.0)],
            [cost(80.0, 80.0), cost(20.0, 80.0)],
        ];
        let mut out = Vec::new();
        write_table(&args, &costs, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 5, "{text}");
        assert!(
            text.contains("0.50") && text.contains("1.10") && text.contains("0.25"),
            "{text}"
        );
    }
}
