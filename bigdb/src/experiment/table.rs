//! The results as text.

use std::io::{self, Write};

use super::results::{Metric, Results};
use super::{IN_FLIGHT, PAGES};
use crate::statistics::milliseconds;
use crate::text_table;

/// What a number of requests in flight is called.
pub fn load_title(in_flight: usize) -> String {
    match in_flight {
        1 => "one at a time".to_owned(),
        number => format!("{number} in flight"),
    }
}

/// Two tables of times, then two of ratios: what parallel extras cost, and how well
/// `auto` chooses.
pub fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let urls = if results.repeat {
        "the same URLs again"
    } else {
        "every URL once"
    };
    writeln!(
        out,
        "Table pages, medians of {} rounds, {urls}",
        results.rounds
    )?;
    let titles = results.titles();
    for in_flight in IN_FLIGHT {
        writeln!(out, "\n{}: ms a page, CPU ms a page", load_title(in_flight))?;
        let head: Vec<String> = ["sql-threads", "extras"]
            .into_iter()
            .chain(titles.iter().flat_map(|title| [title, "CPU"]))
            .map(str::to_owned)
            .collect();
        let rows: Vec<Vec<String>> = results
            .setups
            .iter()
            .enumerate()
            .map(|(index, setup)| {
                let times = (0..PAGES.len()).flat_map(|page| {
                    Metric::ALL
                        .map(|metric| milliseconds(results.get(index, page, in_flight, metric)))
                });
                let mut row = vec![
                    setup.sql_threads.to_string(),
                    setup.extras.name().to_owned(),
                ];
                row.extend(times);
                row
            })
            .collect();
        text_table::write(out, &head, &rows, 2)?;
    }
    write_ratios(
        results,
        out,
        "CPU of parallel over sequential",
        Results::cpu_ratio,
    )?;
    let title = "Time of auto over the better of parallel and sequential";
    write_ratios(results, out, title, Results::auto_ratio)
}

/// Too little work for the kernel's clock tick has no ratio.
fn ratio_text(ratio: f64) -> String {
    if ratio.is_finite() {
        format!("{ratio:.2}")
    } else {
        "-".to_owned()
    }
}

/// A table of ratios, or nothing if the experiment lacks what they compare.
fn write_ratios(
    results: &Results,
    out: &mut dyn Write,
    title: &str,
    ratio: impl Fn(&Results, usize, usize, usize) -> Option<f64>,
) -> io::Result<()> {
    let mut rows = Vec::new();
    for sql_threads in results.sql_threads() {
        for in_flight in IN_FLIGHT {
            let ratios = (0..PAGES.len())
                .map(|page| ratio(results, sql_threads, page, in_flight))
                .map(|ratio| ratio.map(ratio_text))
                .collect::<Option<Vec<String>>>();
            let Some(ratios) = ratios else { return Ok(()) };
            let mut row = vec![sql_threads.to_string(), load_title(in_flight)];
            row.extend(ratios);
            rows.push(row);
        }
    }
    writeln!(out, "\n{title}, medians of the rounds")?;
    let head: Vec<String> = ["sql-threads", "load"]
        .into_iter()
        .map(str::to_owned)
        .chain(results.titles())
        .collect();
    text_table::write(out, &head, &rows, 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::results::tests::sample;

    #[test]
    fn every_setup_has_a_line_and_every_page_a_column() {
        let mut out = Vec::new();
        write(&sample(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text.lines()
                .filter(|line| line.contains("sequential  "))
                .count(),
            4,
            "{text}"
        );
        let ratios = text
            .split("CPU of parallel over sequential")
            .nth(1)
            .unwrap();
        assert!(
            ratios.lines().any(|line| line
                .split_whitespace()
                .filter(|&cell| cell == "0.50")
                .count()
                == 4),
            "{text}"
        );
    }

    #[test]
    fn without_both_modes_there_are_no_ratios() {
        let mut results = sample();
        results
            .setups
            .retain(|setup| setup.extras != crate::cli::Extras::Sequential);
        let mut out = Vec::new();
        write(&results, &mut out).unwrap();
        assert!(!String::from_utf8(out).unwrap().contains("over sequential"));
    }
}
