//! An axis as text: what was measured, then how it grows.

use std::io::{self, Write};

use super::fit::show_exponent;
use super::results::{AxisResults, Fit, Quantity, Series};
use crate::statistics::thousands;
use crate::text_table;

/// Beyond this [`AxisResults::spread`] a reader is warned.
const NOISY: f64 = 1.5;

/// A table with a line for each x, one with a line for each series that is
/// fitted, and the errors.
pub fn write(results: &AxisResults, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}: {}", results.axis.name(), results.about)?;
    write_values(results, out)?;
    writeln!(out)?;
    write_fits(results, out)?;
    let spread = results.spread();
    if spread > NOISY {
        writeln!(
            out,
            "The middle half of a page's samples differs by a factor of {spread:.1}: \
             the machine was busy otherwise."
        )?;
    }
    if results.error_count > 0 {
        writeln!(
            out,
            "{} requests went wrong, such as",
            thousands(results.error_count as u64)
        )?;
        for error in &results.errors {
            writeln!(out, "  {error}")?;
        }
    }
    out.flush()
}

fn write_values(results: &AxisResults, out: &mut dyn Write) -> io::Result<()> {
    let title = |series: &Series| {
        format!("{} {}", series.title, series.quantity.unit())
            .trim_end()
            .to_owned()
    };
    let mut head = vec![results.axis.name().to_owned()];
    head.extend(results.series.iter().map(title));
    let rows: Vec<Vec<String>> = results
        .xs()
        .into_iter()
        .enumerate()
        .map(|(index, x)| {
            let mut row = vec![thousands(x)];
            row.extend(results.series.iter().map(|series| {
                let point = series.points.get(index);
                let value = point.map_or(f64::NAN, super::results::Point::value);
                series.quantity.show(value)
            }));
            row
        })
        .collect();
    text_table::write(out, &head, &rows, 0)
}

fn write_fits(results: &AxisResults, out: &mut dyn Write) -> io::Result<()> {
    let fits: Vec<(&Series, Fit)> = results
        .series
        .iter()
        .filter_map(|series| Some((series, results.fit(series)?)))
        .collect();
    if fits.is_empty() {
        return writeln!(out, "Too few points for an exponent.");
    }
    let head = [
        "series",
        "shape",
        "expected",
        "as expected",
        "range",
        "factor",
        "exponent",
        "last step",
    ]
    .map(str::to_owned);
    let rows: Vec<Vec<String>> = fits
        .iter()
        .map(|(series, fit)| {
            let expected = series.expected.map(|expected| expected.to_string());
            let verdict = if fit.is_expected { "yes" } else { "NO" };
            vec![
                series.title.clone(),
                fit.shape.to_string(),
                expected.unwrap_or_default(),
                verdict.to_owned(),
                format!("{} to {}", thousands(fit.range[0]), thousands(fit.range[1])),
                Quantity::Factor.show(fit.factor),
                show_exponent(fit.exponent),
                show_exponent(fit.last_step),
            ]
        })
        .collect();
    text_table::write(out, &head, &rows, 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::results::tests::sample;

    fn text(results: &AxisResults) -> String {
        let mut out = Vec::new();
        write(results, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_x_and_every_fit_has_a_line() {
        let text = text(&sample());
        let line = |start: &str| {
            text.lines()
                .find(|line| line.trim_start().starts_with(start))
                .unwrap_or_else(|| panic!("{start} in {text}"))
        };
        let words: Vec<&str> = line("10,000").split_whitespace().collect();
        assert_eq!(words, ["10,000", "1.50", "200", "10000", "0"], "{text}");
        assert!(line("page").contains("flat  "), "{text}");
        assert!(line("facet").contains("100 to 10,000"), "{text}");
        assert!(line("facet").contains("linear at most  yes"), "{text}");
        assert!(line("sort").contains("steeper than linear"), "{text}");
        assert!(line("sort").contains("linear at most  NO"), "{text}");
        assert!(!text.contains("went wrong"), "{text}");
    }

    #[test]
    fn errors_and_gaps_are_told() {
        let mut results = sample();
        results.error_count = 1_200;
        results.errors = vec!["hung up".to_owned()];
        results.series[0].points[1].samples.clear();
        results.series[2].points[1].samples = vec![1.0, 1.0, 2.0, 2.0];
        results.fit_from = 99_999;
        let text = text(&results);
        assert!(
            text.contains("1,200 requests went wrong, such as\n  hung up"),
            "{text}"
        );
        assert!(text.contains("by a factor of 2.0"), "{text}");
        assert!(text.contains("Too few points"), "{text}");
        assert!(text.contains(" - "), "{text}");
    }
}
