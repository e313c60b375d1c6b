//! Rows without a group are put into groups that stand it.

use rand_chacha::ChaCha20Rng;

use super::judge::Judge;
use super::tree::{Grouper, Outcome};
use crate::error::Result;
use crate::table::EntryId;

/// How often a group is tried, in all, for rows without one: many times if they are few.
const MOST_TRIES: usize = 300_000;

/// How often for one row, at least and at most.
const TRIES: (usize, usize) = (8, 400);

/// How often all rows still left are tried again: other groups have changed meanwhile.
const ROUNDS: usize = 3;

/// If there are more rows times groups than this, only some groups are looked at.
const MOST_DISTANCES: usize = 20_000_000;

impl Grouper<'_> {
    /// Places what is left of `outcome` as far as it can.
    pub(super) fn place(&self, outcome: &mut Outcome) -> Result<()> {
        let mut rng = self.task.randomness.stream("place", 0);
        let sizes: Vec<usize> = (self.least..=self.most).collect();
        for _ in 0..2 {
            let left = std::mem::take(&mut outcome.left);
            self.deal(left, &sizes, &mut rng, outcome)?;
        }
        let mut judge = Judge::new(self.task, self.tuple_of, self.whole);
        let mut centres: Vec<Vec<f32>> =
            outcome.groups.iter().map(|group| self.centre(group)).collect();
        for _ in 0..ROUNDS {
            let left = std::mem::take(&mut outcome.left);
            let n_left = left.len();
            self.place_each(left, &mut centres, outcome, &mut judge, &mut rng)?;
            if outcome.left.is_empty() || outcome.left.len() == n_left {
                break;
            }
        }
        let broken = judge.broken;
        outcome.broken.resize(broken.len(), 0);
        outcome.broken.iter_mut().zip(&broken).for_each(|(sum, more)| *sum += more);
        Ok(())
    }

    /// Goes through rows without a group once.
    fn place_each(
        &self,
        left: Vec<EntryId>,
        centres: &mut Vec<Vec<f32>>,
        outcome: &mut Outcome,
        judge: &mut Judge<'_>,
        rng: &mut ChaCha20Rng,
    ) -> Result<()> {
        let tries = (MOST_TRIES / left.len().max(1)).clamp(TRIES.0, TRIES.1);
        let each = (MOST_DISTANCES / left.len().max(1)).max(4 * tries);
        let step = centres.len().div_ceil(each).max(1);
        for (turn, row) in left.into_iter().enumerate() {
            self.watch.check()?;
            // Groups that have the value are passed over: look at more.
            let near = self.nearest(row, centres, turn % step, step, 2 * tries);
            let changed = match self.join(row, &near, tries, outcome, judge) {
                Some(at) => vec![at],
                None => self.redeal(row, &near, tries, outcome, judge, rng),
            };
            if changed.is_empty() {
                outcome.left.push(row);
            }
            for at in changed {
                let centre = self.centre(&outcome.groups[at]);
                if at < centres.len() {
                    centres[at] = centre;
                } else {
                    centres.push(centre);
                }
            }
        }
        Ok(())
    }

    /// Where a group lies.
    fn centre(&self, group: &[EntryId]) -> Vec<f32> {
        let mut centre = vec![0.0; self.features.n];
        for row in group {
            let of_row = centre.iter_mut().zip(self.numbers(*row));
            of_row.for_each(|(sum, x)| *sum += x / group.len() as f32);
        }
        centre
    }

    /// The nearest groups, of every `step`-th.
    fn nearest(
        &self,
        row: EntryId,
        centres: &[Vec<f32>],
        first: usize,
        step: usize,
        wanted: usize,
    ) -> Vec<usize> {
        let numbers = self.numbers(row);
        let places = (first..centres.len()).step_by(step);
        let mut near: Vec<(f32, usize)> = places
            .map(|at| {
                let apart = numbers.iter().zip(&centres[at]);
                (apart.map(|(x, y)| (x - y) * (x - y)).sum(), at)
            })
            .collect();
        let order = |a: &(f32, usize), b: &(f32, usize)| {
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        };
        if wanted < near.len() {
            near.select_nth_unstable_by(wanted, order);
            near.truncate(wanted);
        }
        near.sort_unstable_by(order);
        near.into_iter().map(|(_, at)| at).collect()
    }

    /// Puts a row into the first of these groups that stands it.
    fn join(
        &self,
        row: EntryId,
        near: &[usize],
        tries: usize,
        outcome: &mut Outcome,
        judge: &mut Judge<'_>,
    ) -> Option<usize> {
        let values = &self.task.data.census.sensitive[0];
        let value = values[row];
        let lacks =
            |group: &[EntryId]| group.iter().all(|other| values[*other] != value);
        let mut tried = 0;
        for at in near {
            let group = &mut outcome.groups[*at];
            if group.len() >= self.most || !lacks(group) {
                continue;
            }
            group.push(row);
            if judge.of(group).is_some() {
                return Some(*at);
            }
            group.pop();
            tried += 1;
            if tried >= tries {
                break;
            }
        }
        None
    }

    /// Deals a row and a few of these groups anew, such that all of it is in groups again.
    /// Returns the groups that changed or are new; none if it cannot be done.
    fn redeal(
        &self,
        row: EntryId,
        near: &[usize],
        tries: usize,
        outcome: &mut Outcome,
        judge: &mut Judge<'_>,
        rng: &mut ChaCha20Rng,
    ) -> Vec<usize> {
        for turn in 0..tries {
            // One to three groups, farther each time; one group more, as many or one less.
            let (first, n_old) = (turn / 9, 1 + turn % 3);
            let Some(few) = near.get(first..first + n_old) else { break };
            let n_groups = n_old + 1 - turn / 3 % 3;
            if n_groups == 0 {
                continue;
            }
            let mut pool: Vec<EntryId> = vec![row];
            few.iter().for_each(|at| pool.extend(&outcome.groups[*at]));
            let size = pool.len() / n_groups;
            if size < self.least || size >= self.most {
                continue;
            }
            let (hands, over) = self.hands(&pool, size, rng);
            if !over.is_empty() || !hands.iter().all(|hand| judge.of(hand).is_some()) {
                continue;
            }
            let mut changed: Vec<usize> = few.to_vec();
            let mut hands = hands.into_iter();
            for at in few {
                // A group without rows is not published.
                outcome.groups[*at] = hands.next().unwrap_or_default();
            }
            for hand in hands {
                changed.push(outcome.groups.len());
                outcome.groups.push(hand);
            }
            return changed;
        }
        Vec::new()
    }
}
