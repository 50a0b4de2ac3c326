//! An axis as a chart: a panel for each quantity, both of its scales logarithmic,
//! where a power law is a straight line whose slope is its exponent.

use std::fmt::{self, Write};

use super::fit::show_exponent;
use super::plot::{GUIDE, Plot, stroke};
use super::results::{AxisResults, Quantity, Series, Setup};
use crate::statistics::thousands;
use crate::svg::{open, text};

const PANEL_WIDTH: f64 = 560.0;
const PLOT_HEIGHT: f64 = 340.0;
/// From the edges of a panel to the edges of its plot, left and right.
const SIDES: [f64; 2] = [78.0, 24.0];
/// Where the legends begin, and the height of one of their lines.
const LEGEND_TOP: f64 = 118.0;
const LEGEND_LINE: f64 = 22.0;
/// Below the plots: the numbers and the name of the axis.
const BOTTOM: f64 = 70.0;

/// An SVG document.
pub fn draw(results: &AxisResults, setup: &Setup) -> String {
    let mut svg = String::new();
    // Writing into a String cannot fail.
    let _ = write_document(results, setup, &mut svg);
    svg
}

fn title(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::PerSecond => "answers a second",
        _ => "milliseconds",
    }
}

#[expect(clippy::cast_precision_loss, reason = "a handful of panels")]
fn write_document(results: &AxisResults, setup: &Setup, svg: &mut String) -> fmt::Result {
    let panels: Vec<(Quantity, Vec<&Series>)> = [Quantity::PerSecond, Quantity::Milliseconds]
        .map(|quantity| {
            let drawn = results.series.iter();
            let drawn = drawn.filter(|series| series.quantity == quantity && series.mark.is_some());
            (quantity, drawn.collect())
        })
        .into_iter()
        .filter(|(_, series): &(_, Vec<&Series>)| !series.is_empty())
        .collect();
    let most_lines = panels.iter().map(|(_, series)| series.len()).max();
    let top = LEGEND_TOP + LEGEND_LINE * most_lines.unwrap_or(0) as f64 + 40.0;
    // A single panel is as wide as the sentence above it.
    let panel_width = if panels.len() == 1 {
        PANEL_WIDTH * 1.5
    } else {
        PANEL_WIDTH
    };
    let size = [
        panel_width * panels.len() as f64,
        top + PLOT_HEIGHT + BOTTOM,
    ];
    open(svg, size, &format!("Time by {}", results.axis.name()))?;
    let small = r##"font-size="14" fill="#555555""##;
    text(svg, [24.0, 60.0], small, &capital(&results.about))?;
    text(svg, [24.0, 80.0], small, &setup.sentence())?;
    for (index, (quantity, series)) in panels.iter().enumerate() {
        let left = panel_width * index as f64 + SIDES[0];
        let right = panel_width * (index + 1) as f64 - SIDES[1];
        write_legend(svg, results, series, left)?;
        let plot = Plot::new(results, series, [left, right], [top, top + PLOT_HEIGHT]);
        plot.write(svg, results.axis.name(), title(*quantity))?;
        for series in series {
            plot.write_series(svg, series)?;
        }
    }
    writeln!(svg, "</svg>")
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// A line for each series with its exponent, then one for the slope beside them.
#[expect(clippy::cast_precision_loss, reason = "a handful of series")]
fn write_legend(
    svg: &mut String,
    results: &AxisResults,
    series: &[&Series],
    left: f64,
) -> fmt::Result {
    for (index, series) in series.iter().enumerate() {
        let y = LEGEND_TOP + LEGEND_LINE * index as f64;
        writeln!(
            svg,
            r#"<path d="M{left:.1} {:.1}h34" {}/>"#,
            y - 5.0,
            stroke(series)
        )?;
        let told = match results.fit(series) {
            Some(fit) => format!(
                "{}: exponent {} from {} to {}, {}",
                series.title,
                show_exponent(fit.exponent),
                thousands(fit.range[0]),
                thousands(fit.range[1]),
                fit.shape
            ),
            None => series.title.clone(),
        };
        text(svg, [left + 44.0, y], r#"font-size="15""#, &told)?;
    }
    let y = LEGEND_TOP + LEGEND_LINE * series.len() as f64;
    writeln!(svg, r#"<path d="M{left:.1} {:.1}h34" {GUIDE}/>"#, y - 5.0)?;
    let small = r##"font-size="13" fill="#555555""##;
    text(svg, [left + 44.0, y], small, "the slope of linear growth")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::results::tests::{sample, setup};
    use crate::svg::tests::check_well_formed;

    #[test]
    fn the_document_is_well_formed_and_complete() {
        let svg = draw(&sample(), &setup());
        check_well_formed(&svg);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        // Three series of three points: x = 0 has no place on a logarithmic scale.
        assert_eq!(svg.matches("<circle").count(), 9);
        assert_eq!(svg.matches("<path").count(), 3 + 3 + 2);
        for word in [
            "page: exponent 0.00 from 100 to 10,000, flat",
            "steeper than linear",
            "A &lt;sample>",
            "--sql-threads 3",
            "milliseconds",
        ] {
            assert!(svg.contains(word), "{word} in {svg}");
        }
    }

    #[test]
    fn rates_have_a_panel_of_their_own() {
        let mut results = sample();
        results.series[0].quantity = Quantity::PerSecond;
        let svg = draw(&results, &setup());
        check_well_formed(&svg);
        assert!(svg.contains("answers a second") && svg.contains("milliseconds"));
    }

    #[test]
    fn what_was_not_measured_leaves_a_gap() {
        let mut results = sample();
        results.series[0].points[1].samples.clear();
        for point in &mut results.series[1].points {
            point.samples.clear();
        }
        let svg = draw(&results, &setup());
        check_well_formed(&svg);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 5);
    }
}
