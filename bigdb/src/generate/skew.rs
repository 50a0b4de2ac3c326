//! Random draws with weights, the same on every machine.
//!
//! Only integers are used, so no platform's rounding or maths library can
//! change what a seed gives.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// The random numbers of one generated database.
///
/// PCG is chosen because its crate promises the same values in every release.
pub(super) struct Draws(Pcg64Mcg);

impl Draws {
    /// Numbers that depend on nothing but `seed`.
    pub(super) fn new(seed: u64) -> Self {
        // An odd multiplier spreads neighbouring seeds over the whole state.
        let spread = u128::from(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
            ^ 0x2545_F491_4F6C_DD1D_9FB2_1C65_1E98_DF25;
        let mut pcg = Pcg64Mcg::new(spread);
        pcg.next_u64();
        Draws(pcg)
    }

    /// A number from 0 to `bound` - 1; 0 if `bound` is 0.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        let high = self.0.next_u64() >> 32;
        // Below `bound`, so nothing is cut off.
        ((high * u64::from(bound)) >> 32) as u32
    }

    /// One of `choices`, all equally likely.
    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        let bound = u32::try_from(choices.len()).unwrap_or(u32::MAX);
        choices[self.below(bound) as usize]
    }

    /// True `in_thousand` times of a thousand.
    pub(super) fn chance(&mut self, in_thousand: u32) -> bool {
        self.below(1_000) < in_thousand
    }
}

/// Weighted choice of an index in constant time: Walker's alias method.
///
/// Each of n columns holds two indices and a threshold between them; a draw
/// picks a column evenly, then one of its two indices.
pub(super) struct Skew {
    columns: Vec<Column>,
}

#[derive(Clone, Copy)]
struct Column {
    threshold: u32,
    alias: u32,
}

impl Skew {
    /// Index i is drawn `weights[i]` times of the sum of the weights.
    pub(super) fn new(weights: impl IntoIterator<Item = u32>) -> Self {
        let weights: Vec<u64> = weights.into_iter().map(u64::from).collect();
        let total: u64 = weights.iter().sum::<u64>().max(1);
        let count = weights.len() as u64;
        // Scaled so that an even share is exactly `total`.
        let mut share: Vec<u64> = weights.iter().map(|weight| weight * count).collect();
        let mut columns: Vec<Column> = (0..weights.len())
            .map(|index| Column {
                threshold: u32::MAX,
                alias: u32::try_from(index).unwrap_or(u32::MAX),
            })
            .collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&index| share[index] < total);
        while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
            small.pop();
            let threshold = (u128::from(share[poor]) << 32) / u128::from(total);
            columns[poor] = Column {
                threshold: u32::try_from(threshold).unwrap_or(u32::MAX),
                alias: u32::try_from(rich).unwrap_or(u32::MAX),
            };
            share[rich] -= total - share[poor];
            if share[rich] < total {
                large.pop();
                small.push(rich);
            }
        }
        Skew { columns }
    }

    /// Zipf-like: index i has a weight in proportion to 1 / (i + `flatness`).
    ///
    /// With a flatness of 1 the first index is twice as common as the second;
    /// the larger it is, the less the first ones stand out.
    pub(super) fn zipf(count: usize, flatness: u32) -> Self {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Skew::new((0..count).map(|index| 1_000_000_000 / (index + flatness.max(1))))
    }

    /// An index, by its weight.
    pub(super) fn draw(&self, draws: &mut Draws) -> usize {
        let bits = draws.0.next_u64();
        let fraction = bits & u64::from(u32::MAX);
        let index = ((u128::from(bits >> 32) * self.columns.len() as u128) >> 32) as usize;
        let column = self.columns[index];
        if fraction < u64::from(column.threshold) {
            index
        } else {
            column.alias as usize
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(skew: &Skew, draws: u32) -> Vec<u32> {
        let mut source = Draws::new(7);
        let mut counts = vec![0; skew.columns.len()];
        for _ in 0..draws {
            counts[skew.draw(&mut source)] += 1;
        }
        counts
    }

    #[test]
    fn draws_follow_the_weights() {
        let counts = tally(&Skew::new([50, 30, 15, 5, 0]), 100_000);
        for (count, expected) in counts.iter().zip([50_000, 30_000, 15_000, 5_000, 0]) {
            assert!(count.abs_diff(expected) < 700, "{counts:?}");
        }
    }

    #[test]
    fn zipf_halves_from_the_first_to_the_second() {
        let counts = tally(&Skew::zipf(10, 1), 100_000);
        assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
        assert!(counts[0].abs_diff(2 * counts[1]) < 1_500, "{counts:?}");
    }

    #[test]
    fn below_stays_below() {
        let mut draws = Draws::new(1);
        assert!((0..10_000).all(|_| draws.below(7) < 7));
        assert_eq!(draws.below(1), 0);
        assert_eq!(draws.below(0), 0);
    }

    #[test]
    fn seeds_differ_and_repeat() {
        let first = |seed| {
            let mut draws = Draws::new(seed);
            [draws.below(u32::MAX), draws.below(u32::MAX)]
        };
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
        assert_ne!(first(0), first(1));
    }
}
