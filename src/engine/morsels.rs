//! A scan in pieces that the threads of the pool take as they get to them.
//!
//! Each job of a scan goes on taking the next piece, its morsel, until none is
//! left. So the work spreads by itself, however unequal the morsels are, a job
//! that finds no thread in time is not missed, and no job takes more than one
//! connection, however many morsels there are.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Row numbers of a morsel at the least: some milliseconds of work.
const SMALLEST: u64 = 16_384;
/// Morsels for each thread, so that one that is slow holds the others up little.
const A_THREAD: u64 = 8;

/// The morsels of one scan, in the order of the row numbers.
#[derive(Debug)]
pub struct Morsels {
    ranges: Vec<RangeInclusive<i64>>,
    next: AtomicUsize,
}

impl Morsels {
    /// Cuts a range of row numbers for `threads` threads.
    pub fn new(rows: RangeInclusive<i64>, threads: usize) -> Self {
        Self {
            ranges: cut(rows, threads),
            next: AtomicUsize::new(0),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there are none: the range was empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The next morsel that nobody has taken.
    pub fn take(&self) -> Option<RangeInclusive<i64>> {
        let n = self.next.fetch_add(1, Ordering::Relaxed);
        self.ranges.get(n).cloned()
    }
}

fn cut(rows: RangeInclusive<i64>, threads: usize) -> Vec<RangeInclusive<i64>> {
    let (first, last) = rows.into_inner();
    if first > last {
        return Vec::new();
    }
    // One less than the number of rows, which may not fit.
    let span = last.abs_diff(first);
    let most = u64::try_from(threads).unwrap_or(1).max(1) * A_THREAD;
    let morsels = (span / SMALLEST).clamp(1, most);
    let size = span / morsels + 1;
    let mut ranges = Vec::new();
    let mut from = first;
    loop {
        let to = from
            .checked_add_unsigned(size - 1)
            .unwrap_or(last)
            .min(last);
        ranges.push(from..=to);
        match to.checked_add(1) {
            Some(next) if next <= last => from = next,
            _ => return ranges,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_small_table_is_one_morsel_and_a_large_one_some_for_each_thread() {
        let count = |rows, threads| Morsels::new(1..=rows, threads).len();
        assert_eq!(count(0, 8), 0);
        assert_eq!(count(1, 8), 1);
        assert_eq!(count(20_000, 8), 1);
        assert_eq!(count(500_000, 2), 16);
        assert_eq!(count(500_000, 1000), 30);
    }

    proptest! {
        #[test]
        fn every_row_number_is_in_exactly_one_morsel(a: i64, b: i64, threads in 0_usize..100) {
            let (first, last) = (a.min(b), a.max(b));
            let morsels = Morsels::new(first..=last, threads);
            let mut next = Some(first);
            while let Some(range) = morsels.take() {
                prop_assert_eq!(Some(*range.start()), next);
                prop_assert!(range.start() <= range.end());
                next = range.end().checked_add(1);
            }
            prop_assert_eq!(next, last.checked_add(1));
        }
    }
}
