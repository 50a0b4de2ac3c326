//! The results as charts: a grid with a column for each page and a row for each
//! load and time. Each chart has an axis of its own, because a page of a small
//! table and one with two facets differ a hundredfold.

use std::fmt::{self, Write};

use super::results::{Metric, Results};
use super::table::load_title;
use super::{IN_FLIGHT, PAGES};
use crate::statistics::milliseconds;
use crate::svg::{COLOURS, open, text};

const PANEL_WIDTH: f64 = 300.0;
const PANEL_HEIGHT: f64 = 210.0;
const LEFT: f64 = 40.0;
const TOP: f64 = 130.0;
const BOTTOM: f64 = 40.0;
/// From the edges of a panel to the edges of its plot: left, right, top, bottom.
const PLOT: [f64; 4] = [48.0, 12.0, 34.0, 44.0];

/// An SVG document.
pub fn draw(results: &Results) -> String {
    let mut svg = String::new();
    // Writing into a String cannot fail.
    let _ = write_document(results, &mut svg);
    svg
}

#[expect(clippy::cast_precision_loss, reason = "a handful of panels")]
fn write_document(results: &Results, svg: &mut String) -> fmt::Result {
    let panel_rows = Metric::ALL.len() * IN_FLIGHT.len();
    let width = LEFT + PANEL_WIDTH * PAGES.len() as f64 + 10.0;
    let height = TOP + PANEL_HEIGHT * panel_rows as f64 + BOTTOM;
    open(
        svg,
        [width, height],
        "Time of a page by SQL threads and way of running extras",
    )?;
    let urls = if results.repeat {
        "the same URLs again"
    } else {
        "every URL once"
    };
    let subtitle = format!(
        "Medians of {} rounds, {urls}. Shorter is better; every chart has its own scale.",
        results.rounds
    );
    text(
        svg,
        [24.0, 60.0],
        r##"font-size="14" fill="#555555""##,
        &subtitle,
    )?;
    write_legend(results, svg)?;
    let mut top = TOP;
    for metric in Metric::ALL {
        for in_flight in IN_FLIGHT {
            let row_title = format!("{}, {}", metric.title(), load_title(in_flight));
            let middle = top + PANEL_HEIGHT / 2.0;
            text(
                svg,
                [24.0, middle],
                &format!(
                    r#"font-size="12" font-weight="600" text-anchor="middle" transform="rotate(-90 24 {middle})""#
                ),
                &row_title,
            )?;
            for (page, title) in results.titles().iter().enumerate() {
                let left = LEFT + PANEL_WIDTH * page as f64;
                let bars = bars(results, page, in_flight, metric);
                write_panel(svg, [left, top], title, &results.sql_threads(), &bars)?;
            }
            top += PANEL_HEIGHT;
        }
    }
    text(
        svg,
        [width / 2.0, height - 14.0],
        r#"font-size="14" text-anchor="middle""#,
        "groups: number of SQL threads (--sql-threads); bars: way of running extras (--extras)",
    )?;
    writeln!(svg, "</svg>")
}

/// The name of each mode, in the order of the setups.
fn modes(results: &Results) -> Vec<&'static str> {
    let mut modes = Vec::new();
    for setup in &results.setups {
        if !modes.contains(&setup.extras.name()) {
            modes.push(setup.extras.name());
        }
    }
    modes
}

/// For each number of SQL threads the value of each mode.
fn bars(results: &Results, page: usize, in_flight: usize, metric: Metric) -> Vec<Vec<f64>> {
    let of_threads = |sql_threads: usize| {
        let setups = results.setups.iter().enumerate();
        setups
            .filter(|(_, setup)| setup.sql_threads == sql_threads)
            .map(|(index, _)| results.get(index, page, in_flight, metric))
            .collect()
    };
    results.sql_threads().into_iter().map(of_threads).collect()
}

fn write_legend(results: &Results, svg: &mut String) -> fmt::Result {
    let mut x = 24.0;
    for (mode, colour) in modes(results).into_iter().zip(COLOURS) {
        writeln!(
            svg,
            r#"<rect x="{x}" y="80" width="16" height="16" rx="2" fill="{colour}"/>"#
        )?;
        text(svg, [x + 23.0, 93.0], r#"font-size="15""#, mode)?;
        x += 125.0;
    }
    Ok(())
}

/// One chart with its upper left corner at `corner`.
#[expect(clippy::cast_precision_loss, reason = "a handful of bars")]
fn write_panel(
    svg: &mut String,
    corner: [f64; 2],
    title: &str,
    groups: &[usize],
    bars: &[Vec<f64>],
) -> fmt::Result {
    let [left, right] = [corner[0] + PLOT[0], corner[0] + PANEL_WIDTH - PLOT[1]];
    let [top, bottom] = [corner[1] + PLOT[2], corner[1] + PANEL_HEIGHT - PLOT[3]];
    text(
        svg,
        [f64::midpoint(left, right), corner[1] + 20.0],
        r#"font-size="15" text-anchor="middle""#,
        title,
    )?;
    let most = bars
        .iter()
        .flatten()
        .copied()
        .filter(|value| value.is_finite())
        .fold(0.0, f64::max);
    let step = tick_step(most);
    // A tenth more, so that the number over the longest bar clears the title.
    let ticks = (most * 1.1 / step).ceil().max(1.0);
    let y = |value: f64| bottom - (bottom - top) * value / (ticks * step);
    let mut tick = 0.0;
    while tick <= ticks {
        let value = tick * step;
        let at = y(value);
        let colour = if tick == 0.0 { "#555555" } else { "#dddddd" };
        writeln!(
            svg,
            r#"<line x1="{left:.1}" y1="{at:.1}" x2="{right:.1}" y2="{at:.1}" stroke="{colour}"/>"#
        )?;
        text(
            svg,
            [left - 6.0, at + 4.0],
            r#"font-size="12" text-anchor="end""#,
            &tick_label(value, step),
        )?;
        tick += 1.0;
    }
    let group_width = (right - left) / groups.len().max(1) as f64;
    for (index, (group, values)) in groups.iter().zip(bars).enumerate() {
        let group_left = left + group_width * index as f64;
        let bar_width = group_width * 0.8 / values.len().max(1) as f64;
        for (mode, (&value, colour)) in values.iter().zip(COLOURS).enumerate() {
            if !value.is_finite() {
                continue;
            }
            let x = group_left + group_width * 0.1 + bar_width * mode as f64;
            let (from, height) = (y(value), bottom - y(value));
            writeln!(
                svg,
                r#"<rect x="{x:.1}" y="{from:.1}" width="{:.1}" height="{height:.1}" fill="{colour}"><title>{} ms</title></rect>"#,
                bar_width - 1.5,
                milliseconds(value)
            )?;
            text(
                svg,
                [x + bar_width / 2.0 - 0.75, from - 3.0],
                r#"font-size="10" text-anchor="middle""#,
                &milliseconds(value),
            )?;
        }
        let middle = group_left + group_width / 2.0;
        text(
            svg,
            [middle, bottom + 17.0],
            r#"text-anchor="middle""#,
            &group.to_string(),
        )?;
    }
    Ok(())
}

/// A step of 1, 2 or 5 times a power of ten that gives three to six ticks.
fn tick_step(most: f64) -> f64 {
    if most <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf((most / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps
        .into_iter()
        .find(|step| most / step <= 5.0)
        .unwrap_or(10.0 * power)
}

fn tick_label(value: f64, step: f64) -> String {
    let digits = if step >= 1.0 {
        0
    } else if step >= 0.1 {
        1
    } else if step >= 0.01 {
        2
    } else {
        3
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::results::tests::sample;
    use crate::svg::tests::check_well_formed;

    #[test]
    fn the_document_is_well_formed_and_complete() {
        let svg = draw(&sample());
        check_well_formed(&svg);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        // 16 charts of 6 bars, 3 legend marks, 1 background.
        assert_eq!(svg.matches("<rect").count(), 16 * 6 + 3 + 1);
        for word in [
            "parallel",
            "sequential",
            "auto",
            "one at a time",
            "8 in flight",
            "2 facets",
        ] {
            assert!(svg.contains(word), "{word}");
        }
    }

    #[test]
    fn what_was_not_measured_leaves_a_gap() {
        let mut results = sample();
        results.cells.truncate(5);
        let svg = draw(&results);
        check_well_formed(&svg);
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn ticks_are_round_numbers() {
        for (most, step) in [
            (0.43, 0.1),
            (4.3, 1.0),
            (9.9, 2.0),
            (43.0, 10.0),
            (210.0, 50.0),
            (0.0, 1.0),
        ] {
            assert!(
                (tick_step(most) - step).abs() < 1e-9,
                "{most}: {}",
                tick_step(most)
            );
        }
    }
}
