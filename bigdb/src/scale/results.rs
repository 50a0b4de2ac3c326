//! The numbers of a scale run.

use serde_json::{Value, json};

use super::fit::{Expected, Shape, exponent};
use crate::cli::Axis;
use crate::statistics::{median, milliseconds, percentile, thousands};

/// What the values of a series are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    Milliseconds,
    PerSecond,
    /// Of a time and another.
    Factor,
    Count,
}

impl Quantity {
    pub fn unit(self) -> &'static str {
        match self {
            Quantity::Milliseconds => "ms",
            Quantity::PerSecond => "a second",
            Quantity::Factor => "times",
            Quantity::Count => "",
        }
    }

    /// A value as text; "-" for none.
    pub fn show(self, value: f64) -> String {
        match self {
            _ if !value.is_finite() => "-".to_owned(),
            Quantity::Milliseconds => milliseconds(value),
            Quantity::PerSecond | Quantity::Count => format!("{value:.0}"),
            Quantity::Factor => format!("{value:.2}"),
        }
    }
}

/// How a series is drawn; None of it for one that is only printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Index of a colour.
    pub colour: usize,
    pub dashed: bool,
}

#[derive(Clone, Debug)]
pub struct Point {
    pub x: u64,
    /// What was measured; the median of it counts.
    pub samples: Vec<f64>,
}

impl Point {
    /// NaN if nothing was measured.
    pub fn value(&self) -> f64 {
        median(&self.samples)
    }

    /// The third quartile over the first: 1 if nothing else kept the machine busy.
    /// None of too few samples.
    fn spread(&self) -> Option<f64> {
        let quartile = |share| percentile(&self.samples, share);
        (self.samples.len() >= 4).then(|| quartile(0.75) / quartile(0.25))
    }
}

/// One quantity of one page along an axis.
#[derive(Clone, Debug)]
pub struct Series {
    pub title: String,
    pub quantity: Quantity,
    pub mark: Option<Mark>,
    /// None of a series that is not fitted.
    pub expected: Option<Expected>,
    pub points: Vec<Point>,
}

/// A power law through a series.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// x of the first and of the last point.
    pub range: [u64; 2],
    /// The last value over the first.
    pub factor: f64,
    pub exponent: f64,
    /// The exponent between the last two points, where a fixed cost weighs least.
    pub last_step: f64,
    pub shape: Shape,
    pub is_expected: bool,
}

/// All series of one axis.
#[derive(Clone, Debug)]
pub struct AxisResults {
    pub axis: Axis,
    /// What was measured, in a sentence.
    pub about: String,
    /// The first x that counts for a fit.
    pub fit_from: u64,
    pub series: Vec<Series>,
    /// What went wrong, the first few of each measurement.
    pub errors: Vec<String>,
    /// How many went wrong.
    pub error_count: usize,
}

impl AxisResults {
    /// Every x, in order.
    pub fn xs(&self) -> Vec<u64> {
        let first = self.series.first();
        first.map_or_else(Vec::new, |series| {
            series.points.iter().map(|point| point.x).collect()
        })
    }

    /// The largest spread of a point's samples, as a factor; 1 where there are no samples
    /// to compare.
    pub fn spread(&self) -> f64 {
        let points = self.series.iter().flat_map(|series| &series.points);
        points.filter_map(Point::spread).fold(1.0, f64::max)
    }

    /// None if the series is not to be fitted or has too few points.
    pub fn fit(&self, series: &Series) -> Option<Fit> {
        let expected = series.expected?;
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let points: Vec<(u64, (f64, f64))> = series
            .points
            .iter()
            .filter(|point| point.x >= self.fit_from && point.value() > 0.0)
            .map(|point| (point.x, (point.x as f64, point.value())))
            .collect();
        let values: Vec<(f64, f64)> = points.iter().map(|&(_, value)| value).collect();
        let exponent_of_all = exponent(&values)?;
        let (first, last) = (points.first()?, points.last()?);
        let shape = Shape::of(exponent_of_all);
        Some(Fit {
            range: [first.0, last.0],
            factor: last.1.1 / first.1.1,
            exponent: exponent_of_all,
            last_step: exponent(&values[values.len().saturating_sub(2)..])?,
            shape,
            is_expected: expected.holds(shape),
        })
    }

    fn to_json(&self) -> Value {
        let series: Vec<Value> = self
            .series
            .iter()
            .map(|series| self.series_to_json(series))
            .collect();
        json!({
            "axis": self.axis.name(),
            "about": self.about,
            "fit_from": self.fit_from,
            "series": series,
            "spread": self.spread(),
            "error_count": self.error_count,
            "errors": self.errors,
        })
    }

    fn series_to_json(&self, series: &Series) -> Value {
        let points: Vec<Value> = series
            .points
            .iter()
            .map(|point| json!({"x": point.x, "value": point.value(), "samples": point.samples}))
            .collect();
        let fit = self.fit(series).map(|fit| {
            json!({
                "from": fit.range[0],
                "to": fit.range[1],
                "factor": fit.factor,
                "exponent": fit.exponent,
                "last_step": fit.last_step,
                "shape": fit.shape.to_string(),
                "expected": series.expected.map(|expected| expected.to_string()),
                "is_expected": fit.is_expected,
            })
        });
        json!({
            "title": series.title,
            "unit": series.quantity.unit(),
            "fit": fit,
            "points": points,
        })
    }
}

/// How all axes were measured.
#[derive(Clone, Debug)]
pub struct Setup {
    pub sql_threads: usize,
    pub extras: &'static str,
    pub is_cached: bool,
    pub samples: usize,
}

impl Setup {
    /// In a line.
    pub fn sentence(&self) -> String {
        let cache = if self.is_cached { "on" } else { "off" };
        format!(
            "{} processors, --sql-threads {}, --extras {}, cache of results {cache}",
            thousands(processors() as u64),
            self.sql_threads,
            self.extras
        )
    }

    /// Everything, with each sample.
    pub fn to_json(&self, axes: &[AxisResults]) -> Value {
        json!({
            "cores": processors(),
            "sql_threads": self.sql_threads,
            "extras": self.extras,
            "cached": self.is_cached,
            "samples": self.samples,
            "axes": axes.iter().map(AxisResults::to_json).collect::<Vec<_>>(),
        })
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A flat series, a linear one, one that is too steep, and a count.
    pub fn sample() -> AxisResults {
        let series = |title: &str, colour, expected, value: fn(f64) -> f64| Series {
            title: title.to_owned(),
            quantity: Quantity::Milliseconds,
            mark: Some(Mark {
                colour,
                dashed: colour == 1,
            }),
            expected: Some(expected),
            points: [0u32, 100, 1_000, 10_000]
                .map(|x| Point {
                    x: x.into(),
                    samples: vec![value(f64::from(x)), value(f64::from(x)), 1e9],
                })
                .into(),
        };
        let mut count = series("errors", 0, Expected::Flat, |_| 0.0);
        (count.quantity, count.mark, count.expected) = (Quantity::Count, None, None);
        AxisResults {
            axis: Axis::Rows,
            about: "a <sample>".to_owned(),
            fit_from: 1,
            series: vec![
                series("page", 0, Expected::Flat, |_| 1.5),
                series("facet", 1, Expected::LinearAtMost, |x| x / 50.0),
                series("sort", 2, Expected::LinearAtMost, |x| x * x / 1e4),
                count,
            ],
            errors: Vec::new(),
            error_count: 0,
        }
    }

    pub fn setup() -> Setup {
        Setup {
            sql_threads: 3,
            extras: "auto",
            is_cached: false,
            samples: 3,
        }
    }

    #[test]
    fn a_fit_tells_shape_and_factor() {
        let results = sample();
        let fits: Vec<Option<Fit>> = results
            .series
            .iter()
            .map(|series| results.fit(series))
            .collect();
        let told: Vec<(Shape, bool)> = fits
            .iter()
            .flatten()
            .map(|fit| (fit.shape, fit.is_expected))
            .collect();
        let expected = [
            (Shape::Flat, true),
            (Shape::Linear, true),
            (Shape::Steeper, false),
        ];
        assert_eq!(told, expected);
        let facet = fits[1].unwrap();
        assert_eq!(facet.range, [100, 10_000]);
        assert!((facet.factor - 100.0).abs() < 1e-9 && (facet.last_step - 1.0).abs() < 1e-9);
        assert!(fits[3].is_none());
    }

    #[test]
    fn the_spread_is_that_of_the_middle_half() {
        let mut results = sample();
        assert!((results.spread() - 1.0).abs() < 1e-9, "too few samples");
        results.series[1].points[2].samples = vec![4.0, 900.0, 2.0, 0.1, 3.0, 2.5, 3.5, 4.0];
        assert!((results.spread() - 2.0).abs() < 1e-9);
    }

    #[test]
    fn what_lies_before_saturation_is_not_fitted() {
        let mut results = sample();
        results.fit_from = 1_000;
        let fit = results.fit(&results.series[1]).unwrap();
        assert_eq!(fit.range, [1_000, 10_000]);
        results.fit_from = 10_000;
        assert!(results.fit(&results.series[1]).is_none());
    }

    #[test]
    fn json_holds_every_sample_and_the_fit() {
        let json = setup().to_json(&[sample()]);
        let series = &json["axes"][0]["series"];
        assert_eq!(series.as_array().unwrap().len(), 4);
        assert_eq!(series[1]["fit"]["shape"], "linear");
        assert_eq!(series[2]["fit"]["is_expected"], false);
        assert_eq!(
            series[0]["points"][2]["samples"].as_array().unwrap().len(),
            3
        );
        assert!(series[3]["fit"].is_null());
    }
}
