//! Summaries of a handful of measurements.

/// The middle of the values, or of the two in the middle; NaN of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

/// The smallest of the values that `share` of them, from 0 to 1, do not exceed
/// (the nearest rank); NaN of none.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index into memory, held within it"
)]
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    let last = sorted.last().copied().unwrap_or(f64::NAN);
    sorted.get(rank - 1).copied().unwrap_or(last)
}

/// Milliseconds with about three digits that matter.
pub fn milliseconds(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

/// Such as 500,000.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_does_not_mind_an_outlier() {
        assert!((median(&[3.0, 1.0, 900.0]) - 3.0).abs() < 1e-9);
        assert!((median(&[4.0, 1.0, 2.0, 900.0]) - 3.0).abs() < 1e-9);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        let of = |share| percentile(&values, share);
        assert!((of(0.99) - 198.0).abs() < 1e-9);
        assert!((of(0.5) - 100.0).abs() < 1e-9);
        assert!((of(1.0) - 200.0).abs() < 1e-9 && (of(0.0) - 1.0).abs() < 1e-9);
        assert!((percentile(&[7.0], 0.99) - 7.0).abs() < 1e-9);
        assert!(percentile(&[], 0.5).is_nan());
    }

    #[test]
    fn thousands_are_set_off() {
        let written = [7, 999, 1_000, 500_000, 1_234_567].map(thousands);
        assert_eq!(written, ["7", "999", "1,000", "500,000", "1,234,567"]);
    }

    #[test]
    fn milliseconds_keep_three_digits() {
        assert_eq!(milliseconds(0.456), "0.46");
        assert_eq!(milliseconds(45.67), "45.7");
        assert_eq!(milliseconds(456.7), "457");
    }
}
