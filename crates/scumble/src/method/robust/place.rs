//! Rows without a group are put into groups that stand it.

use super::judge::Judge;
use super::tree::{Grouper, Outcome};

/// How many of the nearest groups are tried for a row.
const NEAREST: usize = 24;

/// How often rows of a few groups are dealt anew to fit one more.
const DEALS: usize = 6;

/// If there are more rows times groups than this, only some groups are looked at.
const MOST_DISTANCES: usize = 20_000_000;

impl Grouper<'_> {
    /// Places what is left of `outcome` as far as it can.
    pub(super) fn place(&self, outcome: &mut Outcome) {
        let mut rng = self.task.randomness.stream("place", 0);
        let sizes: Vec<usize> = (self.least..=self.most).collect();
        for _ in 0..2 {
            let left = std::mem::take(&mut outcome.left);
            self.deal(left, &sizes, &mut rng, outcome);
        }
        let mut judge = Judge::new(self.task, self.tuple_of, self.whole);
        let mut centres: Vec<Vec<f32>> =
            outcome.groups.iter().map(|group| self.centre(group)).collect();
        let left = std::mem::take(&mut outcome.left);
        let each = (MOST_DISTANCES / left.len().max(1)).max(4 * NEAREST);
        let step = centres.len().div_ceil(each).max(1);
        for (turn, row) in left.into_iter().enumerate() {
            let near = self.nearest(row, &centres, turn % step, step);
            if let Some(at) = self.join(row, &near, outcome, &mut judge) {
                centres[at] = self.centre(&outcome.groups[at]);
                continue;
            }
            match self.redeal(row, &near, outcome, &mut judge, &mut rng) {
                Some(changed) => {
                    for at in changed {
                        let centre = self.centre(&outcome.groups[at]);
                        if at < centres.len() {
                            centres[at] = centre;
                        } else {
                            centres.push(centre);
                        }
                    }
                }
                None => outcome.left.push(row),
            }
        }
        let broken = judge.broken;
        outcome.broken.resize(broken.len(), 0);
        outcome.broken.iter_mut().zip(&broken).for_each(|(sum, more)| *sum += more);
    }

    /// Where a group lies.
    fn centre(&self, group: &[u32]) -> Vec<f32> {
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
        row: u32,
        centres: &[Vec<f32>],
        first: usize,
        step: usize,
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
        // Half of those looked at lack the value, or more.
        let wanted = (2 * NEAREST).min(near.len());
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
        row: u32,
        near: &[usize],
        outcome: &mut Outcome,
        judge: &mut Judge<'_>,
    ) -> Option<usize> {
        let values = &self.task.data.census.sensitive[0];
        let value = values[row as usize];
        let lacks =
            |group: &[u32]| group.iter().all(|other| values[*other as usize] != value);
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
            if tried >= NEAREST {
                break;
            }
        }
        None
    }

    /// Deals a row and a few of these groups anew, such that all of it is in groups again.
    /// Returns the groups that changed or are new.
    fn redeal(
        &self,
        row: u32,
        near: &[usize],
        outcome: &mut Outcome,
        judge: &mut Judge<'_>,
        rng: &mut rand_chacha::ChaCha20Rng,
    ) -> Option<Vec<usize>> {
        for turn in 0..DEALS {
            let few = near.get(turn..turn + 1 + turn % 3 + 1)?;
            let mut pool: Vec<u32> = vec![row];
            few.iter().for_each(|at| pool.extend(&outcome.groups[*at]));
            // As many groups as before, or one more or less.
            let n_groups = few.len() + 1 - turn / 3;
            let size = pool.len() / n_groups;
            if size < self.least || size > self.most {
                continue;
            }
            let (hands, over) = self.hands(&pool, size, rng);
            if !over.is_empty() || !hands.iter().all(|hand| judge.of(hand).is_some()) {
                continue;
            }
            let mut changed = Vec::new();
            let mut hands = hands.into_iter();
            for at in few {
                outcome.groups[*at] = hands.next().unwrap_or_default();
                changed.push(*at);
            }
            for hand in hands {
                changed.push(outcome.groups.len());
                outcome.groups.push(hand);
            }
            return Some(changed);
        }
        None
    }
}
