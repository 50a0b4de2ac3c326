//! A logarithmic scale between two pixels.

/// From 10^-6 to 10^12 is more than any time in milliseconds or rate.
const POWERS: std::ops::RangeInclusive<i32> = -6..=12;

/// Values that lie between `ends` are drawn between `pixels`.
pub struct LogScale {
    pub ends: [f64; 2],
    pub pixels: [f64; 2],
}

impl LogScale {
    /// From the smallest to the largest value; from 1 to 10 if there are not two.
    pub fn around(values: impl Iterator<Item = f64>, pixels: [f64; 2]) -> Self {
        let [mut least, mut most] = [f64::INFINITY, 0.0f64];
        for value in values.filter(|&value| value.is_finite() && value > 0.0) {
            least = least.min(value);
            most = most.max(value);
        }
        let ends = match () {
            () if least < most => [least, most],
            () if least <= most => [least / 2.0, most * 2.0],
            () => [1.0, 10.0],
        };
        LogScale { ends, pixels }
    }

    /// Like [`LogScale::around`], widened to round numbers.
    pub fn round(values: impl Iterator<Item = f64>, pixels: [f64; 2]) -> Self {
        let LogScale { ends, pixels } = LogScale::around(values, pixels);
        let numbers = || round_numbers(&[1.0, 2.0, 5.0]);
        let below = numbers().rfind(|&number| number <= ends[0] * 0.95);
        let above = numbers().find(|&number| number >= ends[1] * 1.05);
        LogScale {
            ends: [below.unwrap_or(ends[0]), above.unwrap_or(ends[1])],
            pixels,
        }
    }

    pub fn place(&self, value: f64) -> f64 {
        let share = (value / self.ends[0]).ln() / (self.ends[1] / self.ends[0]).ln();
        self.pixels[0] + (self.pixels[1] - self.pixels[0]) * share
    }

    /// Round numbers within the scale: powers of ten, and between them 2 and 5
    /// where the scale has room for these.
    pub fn ticks(&self) -> Vec<f64> {
        let factors: &[f64] = if self.ends[1] / self.ends[0] > 2e3 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        let [least, most] = [self.ends[0] * 0.999, self.ends[1] * 1.001];
        round_numbers(factors)
            .filter(|tick| (least..=most).contains(tick))
            .collect()
    }
}

/// Each of `factors` times each power of ten, in order.
fn round_numbers(factors: &[f64]) -> impl DoubleEndedIterator<Item = f64> {
    POWERS.flat_map(move |power| {
        // Divided, since 10^-n is no binary fraction: 5 / 10 prints as 0.5.
        let scaled = move |&factor: &f64| match power {
            power if power < 0 => factor / 10f64.powi(-power),
            power => factor * 10f64.powi(power),
        };
        factors.iter().map(scaled)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(values: &[f64]) -> LogScale {
        LogScale::round(values.iter().copied(), [0.0, 100.0])
    }

    #[test]
    fn decades_are_equally_long() {
        let scale = LogScale::around([1.0, 1e4].into_iter(), [10.0, 50.0]);
        for (value, place) in [(1.0, 10.0), (10.0, 20.0), (100.0, 30.0), (1e4, 50.0)] {
            assert!((scale.place(value) - place).abs() < 1e-9, "{value}");
        }
    }

    #[test]
    fn ends_are_round_numbers_around_the_values() {
        for (values, ends) in [
            (&[1.3, 44.0][..], [1.0, 50.0]),
            (&[0.25, 0.7], [0.2, 1.0]),
            (&[1.0, 10.0], [0.5, 20.0]),
            (&[3.0], [1.0, 10.0]),
            (&[f64::NAN, 0.0], [0.5, 20.0]),
        ] {
            let found = round(values).ends;
            let close = |index: usize| (found[index] / ends[index] - 1.0).abs() < 1e-9;
            assert!(close(0) && close(1), "{values:?}: {found:?}");
        }
    }

    #[test]
    fn ticks_are_fewer_on_a_long_scale() {
        let text = |scale: LogScale| {
            let ticks = scale.ticks();
            ticks.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(text(round(&[0.3, 4.0])), ["0.2", "0.5", "1", "2", "5"]);
        assert_eq!(text(round(&[0.3, 4_000.0])), ["1", "10", "100", "1000"]);
    }
}
