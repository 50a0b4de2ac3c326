//! How one quantity grows with another: the exponent of a power law, and a word for it.

use std::fmt::{self, Display};

/// Up to this exponent, and down to its negative, a series is flat: over a
/// hundredfold it doubles at the most.
const FLAT: f64 = 0.15;
/// From this exponent on a series is called linear.
const LINEAR: f64 = 0.8;
/// Beyond this exponent it is steeper than linear: over a hundredfold it grows two
/// and a half times as much as it should.
const STEEPER: f64 = 1.2;

/// The exponent e of the power law y = c x^e that fits best: the slope of the
/// least-squares line through (log x, log y). Points that have no logarithm are
/// left out; None if there are not two different x then.
///
/// A fixed cost, which every real page has, makes it smaller than the exponent of
/// what grows.
pub fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let has_logarithm = |value: f64| value.is_finite() && value > 0.0;
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter(|&&(x, y)| has_logarithm(x) && has_logarithm(y))
        .map(|&(x, y)| (x.ln(), y.ln()))
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "a handful of points")]
    let count = logs.len() as f64;
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let spread: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let common: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    (spread > 1e-12).then(|| common / spread)
}

/// Two digits behind the point; none is negative for being rounded.
pub fn show_exponent(exponent: f64) -> String {
    // -0.0 + 0.0 is 0.0.
    format!("{:.2}", (exponent * 100.0).round() / 100.0 + 0.0)
}

/// What an exponent is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// Below -0.15.
    Falling,
    /// From -0.15 to 0.15.
    Flat,
    /// Above 0.15 and below 0.8.
    LessThanLinear,
    /// From 0.8 to 1.2.
    Linear,
    /// Above 1.2.
    Steeper,
}

impl Shape {
    pub fn of(exponent: f64) -> Self {
        match exponent {
            exponent if exponent < -FLAT => Shape::Falling,
            exponent if exponent <= FLAT => Shape::Flat,
            exponent if exponent < LINEAR => Shape::LessThanLinear,
            exponent if exponent <= STEEPER => Shape::Linear,
            _ => Shape::Steeper,
        }
    }
}

impl Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Shape::Falling => "falling",
            Shape::Flat => "flat",
            Shape::LessThanLinear => "less than linear",
            Shape::Linear => "linear",
            Shape::Steeper => "steeper than linear",
        })
    }
}

/// What a series should be; anything better will do too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A time that does not grow.
    Flat,
    /// A time that grows as fast as the work at the most.
    LinearAtMost,
    /// A rate that does not fall.
    NotFalling,
}

impl Expected {
    pub fn holds(self, shape: Shape) -> bool {
        match self {
            Expected::Flat => shape <= Shape::Flat,
            Expected::LinearAtMost => shape <= Shape::Linear,
            Expected::NotFalling => shape >= Shape::Flat,
        }
    }
}

impl Display for Expected {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Expected::Flat => "flat",
            Expected::LinearAtMost => "linear at most",
            Expected::NotFalling => "not falling",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power_law(factor: f64, power: f64) -> Vec<(f64, f64)> {
        [10.0, 20.0, 50.0, 100.0, 1e6]
            .map(|x: f64| (x, factor * x.powf(power)))
            .into()
    }

    #[test]
    fn a_power_law_gives_its_exponent() {
        for (factor, power) in [(3.0, 1.0), (0.001, 2.0), (700.0, 0.5), (5.0, -1.0)] {
            let found = exponent(&power_law(factor, power)).unwrap();
            assert!((found - power).abs() < 1e-9, "{found} for {power}");
        }
    }

    #[test]
    fn a_constant_has_the_exponent_zero() {
        assert!(exponent(&power_law(4.2, 0.0)).unwrap().abs() < 1e-12);
    }

    #[test]
    fn two_points_give_the_slope_between_them() {
        let found = exponent(&[(100.0, 3.0), (200.0, 12.0)]).unwrap();
        assert!((found - 2.0).abs() < 1e-9, "{found}");
    }

    #[test]
    fn the_line_goes_between_points_that_are_off_it() {
        // Logarithms 0, 1, 2 and 0, 2, 1: a slope of one half.
        let e = std::f64::consts::E;
        let found = exponent(&[(1.0, 1.0), (e, e * e), (e * e, e)]).unwrap();
        assert!((found - 0.5).abs() < 1e-9, "{found}");
    }

    #[test]
    fn one_point_has_no_exponent() {
        assert_eq!(exponent(&[]), None);
        assert_eq!(exponent(&[(10.0, 1.0)]), None);
        assert_eq!(exponent(&[(10.0, 1.0), (10.0, 2.0)]), None);
    }

    #[test]
    fn points_without_a_logarithm_do_not_count() {
        let points = [
            (0.0, 1.0),
            (1.0, f64::NAN),
            (2.0, 0.0),
            (10.0, 5.0),
            (100.0, 50.0),
        ];
        assert!((exponent(&points).unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_rounded_zero_has_no_sign() {
        let shown = [-0.001, 0.004, -0.126, 1.0].map(show_exponent);
        assert_eq!(shown, ["0.00", "0.00", "-0.13", "1.00"]);
    }

    #[test]
    fn shapes_have_the_documented_bounds() {
        for (exponent, shape) in [
            (-0.16, Shape::Falling),
            (-0.15, Shape::Flat),
            (0.15, Shape::Flat),
            (0.16, Shape::LessThanLinear),
            (0.79, Shape::LessThanLinear),
            (0.8, Shape::Linear),
            (1.2, Shape::Linear),
            (1.21, Shape::Steeper),
        ] {
            assert_eq!(Shape::of(exponent), shape, "{exponent}");
        }
    }

    #[test]
    fn better_than_expected_is_as_expected() {
        assert!(Expected::Flat.holds(Shape::Falling) && !Expected::Flat.holds(Shape::Linear));
        assert!(Expected::LinearAtMost.holds(Shape::Flat));
        assert!(!Expected::LinearAtMost.holds(Shape::Steeper));
        assert!(Expected::NotFalling.holds(Shape::Linear));
        assert!(!Expected::NotFalling.holds(Shape::Falling));
    }
}
