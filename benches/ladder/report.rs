//! The table of results.

use anyhow::Result;

use crate::Sample;
use crate::rungs::Rung;

/// The rounds of a rung; an error if any request of any round failed.
pub type Outcome = Result<Vec<Sample>>;

/// Prints a line for each rung. One with a failed request has no figures, and none has
/// a difference to it.
pub fn print(rungs: &[Rung], outcomes: &[Outcome]) {
    println!(
        "{:>2}  {:32} {:>10} {:>8} {:>11} {:>14} {:>9}",
        "", "", "requests/s", "CPU µs", "over hello", "over rung", "of hello"
    );
    let samples = |number: usize| outcomes[number].as_deref().unwrap_or_default();
    let hello = samples(0);
    for (number, (rung, outcome)) in rungs.iter().zip(outcomes).enumerate() {
        let label = format!("{:>2}  {:32}", number + 1, rung.name);
        match outcome {
            Err(error) => println!("{label} failed: {error:#}"),
            Ok(own) => println!(
                "{label} {:>10.0} {:>8.1} {:>11} {:>9} {:>4} {:>9}",
                median(own.iter().map(|sample| sample.rate)).unwrap_or(f64::NAN),
                median(own.iter().map(|sample| sample.cpu)).unwrap_or(f64::NAN),
                difference(own, hello),
                difference(own, samples(rung.over)),
                format!("({})", rung.over + 1),
                share(own, hello),
            ),
        }
    }
}

/// Processor µs of `own` over those of `other` in the same round.
fn difference(own: &[Sample], other: &[Sample]) -> String {
    let differences = own
        .iter()
        .zip(other)
        .map(|(own, other)| own.cpu - other.cpu);
    median(differences).map_or_else(|| "?".to_owned(), |median| format!("{median:+.1}"))
}

/// The rate of `own` in hundredths of that of `other` in the same round.
fn share(own: &[Sample], other: &[Sample]) -> String {
    let shares = own
        .iter()
        .zip(other)
        .map(|(own, other)| own.rate / other.rate);
    median(shares).map_or_else(|| "?".to_owned(), |share| format!("{:.0} %", share * 100.0))
}

/// The middle of the values, or the upper of the two in the middle.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
