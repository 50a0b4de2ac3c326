//! The axis of connections: how much is answered, and how late, by how many ask.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;

use super::Bench;
use super::clients::{self, Tally};
use super::fit::Expected;
use super::results::{AxisResults, Mark, Point, Quantity, Series};
use crate::cli::Axis;
use crate::connection::Connection;
use crate::progress_bar;
use crate::statistics::{percentile, thousands};

const CONNECTIONS: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// Different errors that are shown.
const SHOWN_ERRORS: usize = 10;

/// A page and its tally for each number of connections.
struct Load {
    title: &'static str,
    path: String,
    tallies: Vec<Tally>,
}

/// 1 to 256 connections that ask for a page of the table of `--rows` rows.
pub fn run(bench: &Bench) -> Result<AxisResults> {
    let rows = bench.args.server.rows;
    let file = bench.files.events(rows)?;
    let load = |title, page| Load {
        title,
        path: format!("/events_{rows}/{page}"),
        tallies: Vec::new(),
    };
    let mut loads = [
        load("HTML", "events?_size=100"),
        load("JSON", "events.json?_size=100&_nocount=1"),
    ];
    let server = bench.start(&[file])?;
    for load in &loads {
        Connection::open(server.url())?.get_ok(&load.path)?;
    }
    let duration = Duration::from_secs(bench.args.seconds);
    let bar = progress_bar((CONNECTIONS.len() * loads.len()) as u64, "measurements");
    for connections in CONNECTIONS {
        for load in &mut loads {
            let path = &load.path;
            let tally = clients::run(server.url(), connections, duration, |number| {
                format!("{path}&_rnd={connections}.{number}")
            })?;
            load.tallies.push(tally);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    server.stop()?;
    let about = format!(
        "a page of 100 rows of {} by connections that ask without rest, {} s each",
        thousands(rows),
        bench.args.seconds
    );
    Ok(results(about, bench.args.sql_threads, &loads))
}

fn results(about: String, sql_threads: usize, loads: &[Load]) -> AxisResults {
    let mut errors = BTreeSet::new();
    for tally in loads.iter().flat_map(|load| &load.tallies) {
        errors.extend(tally.errors.iter().cloned());
    }
    AxisResults {
        axis: Axis::Connections,
        about,
        // From here on every SQL thread has a page to make, and more wait.
        fit_from: sql_threads as u64,
        series: loads
            .iter()
            .enumerate()
            .flat_map(|(colour, load)| load.series(colour))
            .collect(),
        errors: errors.into_iter().take(SHOWN_ERRORS).collect(),
        error_count: loads
            .iter()
            .flat_map(|load| &load.tallies)
            .map(|tally| tally.error_count)
            .sum(),
    }
}

impl Load {
    /// Rate and latencies, which are fitted and drawn, then what was not answered.
    fn series(&self, colour: usize) -> Vec<Series> {
        let series = |what: &str, quantity, value: &dyn Fn(&Tally) -> f64| Series {
            title: format!("{} {what}", self.title).trim_end().to_owned(),
            quantity,
            mark: None,
            expected: None,
            points: CONNECTIONS
                .iter()
                .zip(&self.tallies)
                .map(|(&connections, tally)| Point {
                    x: connections as u64,
                    samples: vec![value(tally)],
                })
                .collect(),
        };
        let fitted = |series: Series, expected, dashed| Series {
            mark: Some(Mark { colour, dashed }),
            expected: Some(expected),
            ..series
        };
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52 answers")]
        let count = |number: usize| number as f64;
        let rate = series("", Quantity::PerSecond, &Tally::rate);
        let late = |share| move |tally: &Tally| percentile(&tally.latencies, share);
        let half = series("p50", Quantity::Milliseconds, &late(0.5));
        let most = series("p99", Quantity::Milliseconds, &late(0.99));
        vec![
            fitted(rate, Expected::NotFalling, false),
            fitted(half, Expected::LinearAtMost, false),
            fitted(most, Expected::LinearAtMost, true),
            series("503", Quantity::Count, &|tally| count(tally.refused)),
            series("errors", Quantity::Count, &|tally| count(tally.error_count)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five answers of as many milliseconds as there are connections, in a second.
    fn load() -> Load {
        let tally = |connections: usize| Tally {
            latencies: vec![f64::from(u32::try_from(connections).unwrap()); 5],
            refused: connections,
            error_count: 1,
            errors: vec!["hung up".to_owned()],
            elapsed: Duration::from_secs(1),
        };
        Load {
            title: "JSON",
            path: "/a/b.json?_size=100".to_owned(),
            tallies: CONNECTIONS.map(tally).into(),
        }
    }

    #[test]
    fn a_closed_loop_has_a_level_rate_and_linear_times() {
        let results = results("a sample".to_owned(), 3, &[load()]);
        let fit = |index: usize| results.fit(&results.series[index]).unwrap();
        assert!(fit(0).exponent.abs() < 1e-9 && fit(0).is_expected);
        assert!((fit(2).exponent - 1.0).abs() < 1e-9 && fit(2).is_expected);
        assert_eq!(fit(1).range, [4, 256]);
        assert!((results.series[3].points[8].value() - 256.0).abs() < 1e-9);
    }

    #[test]
    fn errors_are_counted_and_shown_once() {
        let results = results("a sample".to_owned(), 3, &[load(), load()]);
        assert_eq!(results.error_count, 18);
        assert_eq!(results.errors, ["hung up"]);
    }

    #[test]
    fn no_answer_is_no_latency() {
        let mut load = load();
        load.tallies[2].latencies.clear();
        let results = results("a sample".to_owned(), 3, &[load]);
        assert!(results.series[1].points[2].value().is_nan());
        assert_eq!(
            results.fit(&results.series[1]).map(|fit| fit.range),
            Some([8, 256])
        );
    }
}
