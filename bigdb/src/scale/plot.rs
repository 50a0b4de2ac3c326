//! The lines of a panel between two logarithmic scales.

use std::fmt::{self, Write};

use super::log_scale::LogScale;
use super::results::{AxisResults, Mark, Point, Series};
use crate::statistics::thousands;
use crate::svg::{COLOURS, text};

/// The line whose slope is that of linear growth.
pub const GUIDE: &str = r##"stroke="#777777" stroke-dasharray="2 4" fill="none""##;

/// How the line of a series is drawn.
pub fn stroke(series: &Series) -> String {
    let mark = series.mark.unwrap_or(Mark {
        colour: 0,
        dashed: false,
    });
    let dash = if mark.dashed {
        r#" stroke-dasharray="7 4""#
    } else {
        ""
    };
    let colour = COLOURS[mark.colour % COLOURS.len()];
    format!(r#"stroke="{colour}" stroke-width="2.5" fill="none"{dash}"#)
}

/// Where a panel's lines are drawn.
pub struct Plot {
    x: LogScale,
    y: LogScale,
    /// Every x that was measured and has a place on the axis.
    xs: Vec<u64>,
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
impl Plot {
    pub fn new(results: &AxisResults, series: &[&Series], x: [f64; 2], y: [f64; 2]) -> Self {
        let xs: Vec<u64> = results.xs().into_iter().filter(|&x| x > 0).collect();
        let values = series
            .iter()
            .flat_map(|series| &series.points)
            .filter(|point| point.x > 0)
            .map(Point::value);
        Plot {
            x: LogScale::around(xs.iter().map(|&x| x as f64), [x[0] + 20.0, x[1] - 20.0]),
            y: LogScale::round(values, [y[1], y[0]]),
            xs,
        }
    }

    /// The grid with its numbers, and the slope of what is linear.
    pub fn write(&self, svg: &mut String, x_title: &str, y_title: &str) -> fmt::Result {
        let [left, right] = [self.x.pixels[0] - 20.0, self.x.pixels[1] + 20.0];
        let [bottom, top] = self.y.pixels;
        for tick in self.y.ticks() {
            let at = self.y.place(tick);
            writeln!(
                svg,
                r##"<line x1="{left:.1}" y1="{at:.1}" x2="{right:.1}" y2="{at:.1}" stroke="#dddddd"/>"##
            )?;
            text(
                svg,
                [left - 8.0, at + 5.0],
                r#"font-size="14" text-anchor="end""#,
                &tick_label(tick),
            )?;
        }
        for &x in &self.xs {
            let at = self.x.place(x as f64);
            writeln!(
                svg,
                r##"<line x1="{at:.1}" y1="{bottom:.1}" x2="{at:.1}" y2="{top:.1}" stroke="#eeeeee"/>"##
            )?;
            text(
                svg,
                [at, bottom + 22.0],
                r#"font-size="14" text-anchor="middle""#,
                &thousands(x),
            )?;
        }
        let middle = [f64::midpoint(left, right), f64::midpoint(top, bottom)];
        text(
            svg,
            [middle[0], bottom + 50.0],
            r#"font-size="15" text-anchor="middle""#,
            x_title,
        )?;
        let turned = format!(
            r#"font-size="15" text-anchor="middle" transform="rotate(-90 {0:.1} {1:.1})""#,
            left - 54.0,
            middle[1]
        );
        text(svg, [left - 54.0, middle[1]], &turned, y_title)?;
        self.write_guide(svg)
    }

    /// A thin line from the lower left corner: y grows as x does.
    fn write_guide(&self, svg: &mut String) -> fmt::Result {
        let growth = (self.x.ends[1] / self.x.ends[0]).min(self.y.ends[1] / self.y.ends[0]);
        let [x, y] = [self.x.ends[0], self.y.ends[0]];
        let to = [self.x.place(x * growth), self.y.place(y * growth)];
        writeln!(
            svg,
            r#"<path d="M{:.1} {:.1}L{:.1} {:.1}" {GUIDE}/>"#,
            self.x.place(x),
            self.y.place(y),
            to[0],
            to[1]
        )
    }

    pub fn write_series(&self, svg: &mut String, series: &Series) -> fmt::Result {
        let points: Vec<(f64, f64, String)> = series
            .points
            .iter()
            .filter(|point| point.x > 0 && point.value() > 0.0)
            .map(|point| {
                let label = format!(
                    "{}, {}: {} {}",
                    series.title,
                    thousands(point.x),
                    series.quantity.show(point.value()),
                    series.quantity.unit()
                );
                let x = self.x.place(point.x as f64);
                (x, self.y.place(point.value()), label)
            })
            .collect();
        if points.is_empty() {
            return Ok(());
        }
        let path: Vec<String> = points
            .iter()
            .map(|(x, y, _)| format!("{x:.1} {y:.1}"))
            .collect();
        let stroke = stroke(series);
        writeln!(svg, r#"<path d="M{}" {stroke}/>"#, path.join("L"))?;
        let colour = COLOURS[series.mark.map_or(0, |mark| mark.colour) % COLOURS.len()];
        for (x, y, label) in points {
            writeln!(
                svg,
                r#"<circle cx="{x:.1}" cy="{y:.1}" r="4.5" fill="{colour}"><title>{label}</title></circle>"#
            )?;
        }
        Ok(())
    }
}

/// A round number, such as 0.2 and 10,000.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive whole number in the second case"
)]
fn tick_label(tick: f64) -> String {
    if tick < 1.0 {
        return format!("{tick}");
    }
    thousands(tick.round() as u64)
}
