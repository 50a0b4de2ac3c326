//! The axes whose pages are asked for one after another: rows, columns, facets.

use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::Bench;
use super::fit::Expected;
use super::results::{AxisResults, Mark, Point, Quantity, Series};
use crate::cli::Axis;
use crate::connection::Connection;
use crate::progress_bar;
use crate::statistics::thousands;

/// The smallest table of the axis of rows.
const FEWEST_ROWS: u64 = 10_000;
const COLUMNS: [usize; 5] = [10, 20, 50, 100, 200];
/// Rows of each table of the axis of columns.
const WIDE_ROWS: u32 = 10_000;
/// Columns of `events` that have few enough values to be worth a facet.
const FACETS: [&str; 5] = ["state", "status", "category_id", "venue_id", "is_free"];

/// One kind of page and its path for each x.
struct Probe {
    title: &'static str,
    expected: Expected,
    paths: Vec<(u64, String)>,
}

/// Tables of 10,000 rows, ten times as many, and so on up to `--max-rows`.
pub fn rows(bench: &Bench) -> Result<AxisResults> {
    let sizes: Vec<u64> = std::iter::successors(Some(FEWEST_ROWS), |rows| rows.checked_mul(10))
        .take_while(|&rows| rows <= bench.args.max_rows)
        .collect();
    let files = sizes
        .iter()
        .map(|&rows| bench.files.events(rows))
        .collect::<Result<Vec<_>>>()?;
    let paths = |page: &str| -> Vec<(u64, String)> {
        sizes
            .iter()
            .map(|&rows| (rows, format!("/events_{rows}/{page}")))
            .collect()
    };
    let probes = [
        Probe {
            title: "HTML",
            expected: Expected::Flat,
            paths: paths("events?_size=100"),
        },
        Probe {
            title: "JSON",
            expected: Expected::Flat,
            paths: paths("events.json?_size=100&_nocount=1"),
        },
        Probe {
            title: "facet, JSON",
            expected: Expected::LinearAtMost,
            paths: paths("events.json?_size=100&_nocount=1&_facet=state"),
        },
    ];
    let server = bench.start(&files)?;
    let series = measure(server.url(), &probes, bench.args.samples)?;
    server.stop()?;
    let about = format!(
        "a page of 100 rows by rows of its table, {}",
        method(bench.args.samples)
    );
    Ok(results(Axis::Rows, about, series))
}

/// Tables of 10 to 200 columns.
pub fn columns(bench: &Bench) -> Result<AxisResults> {
    let file = bench.files.wide(WIDE_ROWS, &COLUMNS)?;
    let probe = |title, format| Probe {
        title,
        expected: Expected::LinearAtMost,
        paths: COLUMNS
            .map(|columns| {
                let table = bigdb::wide_table(columns);
                let path = format!("/wide_{WIDE_ROWS}/{table}{format}?_size=100");
                (columns as u64, path)
            })
            .into(),
    };
    let server = bench.start(&[file])?;
    let probes = [probe("HTML", ""), probe("JSON", ".json")];
    let series = measure(server.url(), &probes, bench.args.samples)?;
    server.stop()?;
    let about = format!(
        "a page of 100 of {} rows by columns of its table, {}",
        thousands(WIDE_ROWS.into()),
        method(bench.args.samples)
    );
    Ok(results(Axis::Columns, about, series))
}

/// None to five facets of a page of the table of `--rows` rows.
pub fn facets(bench: &Bench) -> Result<AxisResults> {
    let rows = bench.args.server.rows;
    let file = bench.files.events(rows)?;
    let path = |facets: usize| {
        let path = format!("/events_{rows}/events.json?_size=100&_nocount=1");
        FACETS[..facets]
            .iter()
            .fold(path, |path, column| path + "&_facet=" + column)
    };
    let probe = Probe {
        title: "JSON",
        expected: Expected::LinearAtMost,
        paths: (0..=FACETS.len())
            .map(|facets| (facets as u64, path(facets)))
            .collect(),
    };
    let server = bench.start(&[file])?;
    let mut series = measure(server.url(), &[probe], bench.args.samples)?;
    server.stop()?;
    series.extend(over_one(&series[0]));
    let about = format!(
        "a page of 100 rows of {} by facets, {}",
        thousands(rows),
        method(bench.args.samples)
    );
    Ok(results(Axis::Facets, about, series))
}

fn method(samples: usize) -> String {
    format!("one request at a time, medians of {samples}")
}

fn results(axis: Axis, about: String, series: Vec<Series>) -> AxisResults {
    AxisResults {
        axis,
        about,
        fit_from: 1,
        series,
        errors: Vec::new(),
        error_count: 0,
    }
}

/// Each value over the one at x = 1; None without one.
fn over_one(series: &Series) -> Option<Series> {
    let one = series.points.iter().find(|point| point.x == 1)?.value();
    let points = series.points.iter().map(|point| Point {
        x: point.x,
        samples: vec![point.value() / one],
    });
    Some(Series {
        title: "over one facet,".to_owned(),
        quantity: Quantity::Factor,
        mark: None,
        expected: None,
        points: points.collect(),
    })
}

/// Takes the time of every page `samples` times. All pages have their turn before
/// one comes again, so that a machine that slows down does so for all. Each time is
/// that of the second of two requests: the first one would also pay for what the page
/// before it left in the processor's caches. No address is asked for twice.
fn measure(url: &str, probes: &[Probe], samples: usize) -> Result<Vec<Series>> {
    let mut series: Vec<Series> = probes
        .iter()
        .enumerate()
        .map(|(colour, probe)| Series {
            title: probe.title.to_owned(),
            quantity: Quantity::Milliseconds,
            mark: Some(Mark {
                colour,
                dashed: false,
            }),
            expected: Some(probe.expected),
            points: probe
                .paths
                .iter()
                .map(|&(x, _)| Point {
                    x,
                    samples: Vec::with_capacity(samples),
                })
                .collect(),
        })
        .collect();
    let mut connection = Connection::open(url)?;
    let bar = progress_bar(samples as u64, "rounds");
    for round in 0..samples {
        for (probe, series) in probes.iter().zip(&mut series) {
            for ((_, path), point) in probe.paths.iter().zip(&mut series.points) {
                connection.get_ok(&format!("{path}&_rnd={round}a"))?;
                let path = format!("{path}&_rnd={round}b");
                let asked = Instant::now();
                let body = connection.get_ok(&path)?;
                let elapsed = asked.elapsed();
                check_facets(&path, body)?;
                point.samples.push(elapsed.as_secs_f64() * 1e3);
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(series)
}

/// A facet that was given up would look like a fast one.
fn check_facets(path: &str, body: &[u8]) -> Result<()> {
    let asked = path.matches("_facet=").count();
    if asked == 0 {
        return Ok(());
    }
    let page: Value = serde_json::from_slice(body)?;
    let answered = page["facet_results"]["results"]
        .as_object()
        .map_or(0, serde_json::Map::len);
    ensure!(
        answered == asked,
        "GET {path}: {answered} of {asked} facets were answered"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_facet_that_was_given_up_is_an_error() {
        let path = "/a/b.json?_facet=x&_facet=y";
        let body = br#"{"facet_results": {"results": {"x": {}}, "timed_out": ["y"]}}"#;
        let error = check_facets(path, body).unwrap_err().to_string();
        assert!(error.contains("1 of 2"), "{error}");
        let body = br#"{"facet_results": {"results": {"x": {}, "y": {}}}}"#;
        assert!(check_facets(path, body).is_ok());
        assert!(check_facets("/a/b?_size=1", b"<html>").is_ok());
    }

    #[test]
    fn factors_are_over_the_page_with_one_facet() {
        let point = |x, value| Point {
            x,
            samples: vec![value],
        };
        let mut series = Series {
            title: "JSON".to_owned(),
            quantity: Quantity::Milliseconds,
            mark: None,
            expected: None,
            points: vec![point(0, 1.0), point(1, 4.0), point(2, 10.0)],
        };
        let factors: Vec<f64> = over_one(&series)
            .unwrap()
            .points
            .iter()
            .map(Point::value)
            .collect();
        assert!((factors[0] - 0.25).abs() < 1e-9 && (factors[2] - 2.5).abs() < 1e-9);
        series.points.remove(1);
        assert!(over_one(&series).is_none());
    }
}
