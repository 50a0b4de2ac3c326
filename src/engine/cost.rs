//! Whether a page is worth fanning out.
//!
//! Handing jobs to other threads and joining them costs 50 to 100 µs of
//! processor time in all, mostly to wake threads up. A page whose jobs take
//! less than a few milliseconds together gains nothing a person could notice,
//! and would be dearer. How long jobs will take can't be known, but pages come
//! in shapes, and the next of a shape mostly takes as long as the last.

use std::hash::{BuildHasher, Hash};
use std::time::Duration;

use dashmap::DashMap;
use foldhash::fast::FixedState;

/// Pages whose jobs took less than this together, last time, run on one thread.
const WORTH: Duration = Duration::from_millis(4);
/// Shapes that are remembered; beyond, all are forgotten and learned again.
const SHAPES: usize = 10_000;

/// Pages of one shape run the same SQL with other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape(u64);

impl Shape {
    /// The shape that `parts` make.
    pub fn of(parts: impl Hash) -> Self {
        Self(FixedState::default().hash_one(parts))
    }
}

/// How long the jobs of a page of each shape took together, last time.
#[derive(Default)]
pub(super) struct Costs(DashMap<Shape, Duration>);

impl Costs {
    /// Whether a page of this shape should fan out. One never seen should.
    pub fn is_worth(&self, shape: Shape) -> bool {
        self.0.get(&shape).is_none_or(|cost| *cost >= WORTH)
    }

    /// Notes how long the jobs of a page took together.
    pub fn note(&self, shape: Shape, cost: Duration) {
        if self.0.len() >= SHAPES {
            self.0.clear();
        }
        self.0.insert(shape, cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_was_cheap_last_time_is_not_worth_it() {
        let costs = Costs::default();
        let shape = Shape::of(("events", "state"));
        assert!(costs.is_worth(shape), "nothing is known of it");
        costs.note(shape, Duration::from_micros(300));
        assert!(!costs.is_worth(shape));
        assert!(costs.is_worth(Shape::of(("events", "status"))));
        costs.note(shape, Duration::from_millis(90));
        assert!(costs.is_worth(shape), "its table has grown");
    }
}
