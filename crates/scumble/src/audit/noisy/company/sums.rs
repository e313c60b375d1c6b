//! What all near a row count, within bounds.

use std::ops::ControlFlow;

use hashbrown::HashMap;

use crate::audit::noisy::Company;
use crate::audit::noisy::shape::{self, CountBounds, LeafSums};

/// How much company everybody is who was looked at: as much as the row that counts most.
#[derive(Debug, Default)]
pub(super) struct Counted {
    of_person: HashMap<u32, (f64, f64)>,
    /// The sums, between which company is.
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Counted {
    /// Adds a row, which counts between `low` and `high`.
    pub(super) fn add(&mut self, person: Option<u32>, (low, high): (f64, f64)) {
        let Some(person) = person else {
            self.low += low;
            self.high += high;
            return;
        };
        let known = self.of_person.entry(person).or_insert((0.0, 0.0));
        self.low += (low - known.0).max(0.0);
        self.high += (high - known.1).max(0.0);
        *known = (known.0.max(low), known.1.max(high));
    }
}

impl Company<'_> {
    /// What all near a row count, until that is `done`.
    pub(super) fn sums(
        &self,
        row: usize,
        done: f64,
        look: &CountBounds<'_>,
    ) -> LeafSums {
        let (centre, kind) = (self.space.point(row), self.law.shape);
        let limit = kind.added(self.distance(self.law.reach()));
        let shape = shape::of(kind);
        let mut sums = LeafSums::default();
        kind.leaves_within(&self.space, centre, limit, |leaf| {
            let more = shape.sums(look, centre, leaf, limit);
            sums.low += more.low;
            sums.high += more.high;
            sums.equal += more.equal;
            sums.farthest = sums.farthest.max(more.farthest);
            match sums.low >= done {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        sums
    }

    /// The same where people have several rows.
    pub(super) fn sums_of_persons(
        &self,
        row: usize,
        done: f64,
        look: &CountBounds<'_>,
    ) -> LeafSums {
        let (centre, shape) = (self.space.point(row), shape::of(self.law.shape));
        let (mut counted, mut equal) = (Counted::default(), Counted::default());
        let mut farthest = 0.0f64;
        self.visit(centre, |other, point, far| {
            let person = self.person(other);
            if far == 0.0 {
                counted.add(person, (1.0, 1.0));
                equal.add(person, (1.0, 1.0));
            } else {
                counted.add(person, shape.bounds(look, centre, point, far));
            }
            farthest = farthest.max(far);
            match counted.low >= done {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        LeafSums { low: counted.low, high: counted.high, equal: equal.low, farthest }
    }
}
