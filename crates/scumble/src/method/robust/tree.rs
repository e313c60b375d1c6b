//! Rows believed alike are put together, then dealt; what fails is dealt with its
//! neighbours.

use std::cmp::Reverse;

use rand_chacha::ChaCha20Rng;

use super::RobustTask;
use super::features::Features;
use super::judge::Judge;
use crate::error::Result;
use crate::method::buckets::{largest, shuffle};
use crate::table::{Code, EntryId, Histogram, Of, TupleId, pair, unpair};
use crate::watch::Watch;

/// Halves below this many rows are not worth another thread.
const SMALL: usize = 2_000;

/// Neither half has less than one row in so many: so the tree is not deep.
const LEAST_SHARE: usize = 32;

/// In how many directions a cut is looked for.
const DIRECTIONS: usize = 4;

pub(super) struct Grouper<'a> {
    pub(super) task: &'a RobustTask<'a>,
    pub(super) watch: &'a dyn Watch,
    pub(super) features: &'a Features,
    /// The tuple of each entry.
    pub(super) tuple_of: &'a Of<EntryId, TupleId>,
    pub(super) whole: &'a [Histogram; 1],
    /// The size of the smallest groups.
    pub(super) least: usize,
    /// The size of the largest.
    pub(super) most: usize,
}

/// Groups that keep everything, and rows without a group.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) groups: Vec<Vec<EntryId>>,
    pub(super) left: Vec<EntryId>,
    /// For each set of columns, how many groups it broke.
    pub(super) broken: Vec<u64>,
}

impl Outcome {
    fn join(mut self, other: Self) -> Self {
        self.groups.extend(other.groups);
        self.left.extend(other.left);
        self.note(&other.broken);
        self
    }

    fn note(&mut self, broken: &[u64]) {
        self.broken.resize(broken.len().max(self.broken.len()), 0);
        self.broken.iter_mut().zip(broken).for_each(|(sum, more)| *sum += more);
    }
}

impl Grouper<'_> {
    /// Groups as many of the rows as it can. `start` is the place of the first among all.
    pub(super) fn group(&self, rows: &mut [EntryId], start: usize) -> Result<Outcome> {
        let number = (start as u64) << 32 | rows.len() as u64;
        let mut rng = self.task.randomness.stream("group", number);
        let Some(middle) = self.cut(rows) else {
            let mut outcome = Outcome::default();
            let sizes: Vec<usize> =
                (self.least..=self.most.min(self.least + 4)).collect();
            self.deal(rows.to_vec(), &sizes, &mut rng, &mut outcome)?;
            return Ok(outcome);
        };
        let (below, rest) = rows.split_at_mut(middle);
        let (one, other) = if below.len().min(rest.len()) > SMALL {
            rayon::join(
                || self.group(below, start),
                || self.group(rest, start + middle),
            )
        } else {
            (self.group(below, start), self.group(rest, start + middle))
        };
        let mut outcome = one?.join(other?);
        let left = std::mem::take(&mut outcome.left);
        let beyond = [0, 1, 2, 4];
        let mut sizes: Vec<usize> =
            beyond.iter().map(|more| (self.least + more).min(self.most)).collect();
        sizes.dedup();
        self.deal(left, &sizes, &mut rng, &mut outcome)?;
        Ok(outcome)
    }

    fn value(&self, row: EntryId) -> Code {
        self.task.data.census.sensitive[0][row]
    }

    pub(super) fn numbers(&self, row: EntryId) -> &[f32] {
        self.features.tuple(self.tuple_of[row])
    }

    /// Deals rows into groups of these sizes, one size after the other; those that do not
    /// hold are dealt again. The last that do not are left.
    pub(super) fn deal(
        &self,
        mut left: Vec<EntryId>,
        sizes: &[usize],
        rng: &mut ChaCha20Rng,
        outcome: &mut Outcome,
    ) -> Result<()> {
        let mut judge = Judge::new(self.task, self.tuple_of, self.whole);
        for size in sizes {
            if left.len() < *size {
                break;
            }
            let (dealt, over) = self.hands(&left, *size, rng);
            left = over;
            for group in dealt {
                self.watch.check()?;
                if judge.of(&group).is_some() {
                    outcome.groups.push(group);
                } else {
                    left.extend(group);
                }
            }
        }
        outcome.left.extend(left);
        outcome.note(&judge.broken);
        Ok(())
    }

    /// As many groups as there can be of `size` rows with different values, or one row
    /// more; and the rows over.
    ///
    /// If each value has at most G rows, a list value by value dealt in turn into G groups
    /// has no value twice in a group.
    pub(super) fn hands(
        &self,
        rows: &[EntryId],
        size: usize,
        rng: &mut ChaCha20Rng,
    ) -> (Vec<Vec<EntryId>>, Vec<EntryId>) {
        let mut rows: Vec<(Code, EntryId)> =
            rows.iter().map(|row| (self.value(*row), *row)).collect();
        rows.sort_unstable();
        let mut runs: Vec<&mut [(Code, EntryId)]> =
            rows.chunk_by_mut(|a, b| a.0 == b.0).collect();
        shuffle(&mut runs, rng);
        // The commonest first: what is over is of rare values, which fit anywhere.
        runs.sort_by_key(|run| Reverse(run.len()));
        let total: usize = runs.iter().map(|run| run.len()).sum();
        let at_most = |g: u64| -> usize {
            runs.iter().map(|run| run.len().min(g as usize)).sum()
        };
        let n = largest((total / size) as u64, |g| at_most(g) >= size * g as usize);
        let n = n as usize;
        let mut hands: Vec<Vec<EntryId>> = vec![Vec::with_capacity(size + 1); n];
        let (mut over, mut place) = (Vec::new(), 0);
        for run in runs {
            shuffle(run, rng);
            for (at, (_, row)) in run.iter().enumerate() {
                if at < n && place < n * self.most.min(size + 1) {
                    hands[place % n].push(*row);
                    place += 1;
                } else {
                    over.push(*row);
                }
            }
        }
        (hands, over)
    }

    /// Puts rows believed alike side by side; returns where the second half begins, or
    /// nothing if rows cannot be cut. Both halves can be dealt: no value is too common.
    fn cut(&self, rows: &mut [EntryId]) -> Option<usize> {
        if rows.len() < 2 * self.least {
            return None;
        }
        let n_features = self.features.n;
        let (mut sums, mut squares) = (vec![0.0; n_features], vec![0.0; n_features]);
        let origin = self.numbers(rows[0]);
        for row in rows.iter() {
            for (at, (x, origin)) in self.numbers(*row).iter().zip(origin).enumerate() {
                let x = f64::from(x - origin);
                sums[at] += x;
                squares[at] += x * x;
            }
        }
        let n_rows = rows.len() as f64;
        let mut order: Vec<(f64, usize)> = (0..n_features)
            .map(|at| (squares[at] - sums[at] * sums[at] / n_rows, at))
            .filter(|(spread, _)| *spread > 1e-9 * n_rows)
            .collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut counts = Of::repeat(0, self.whole[0].counts().len());
        let ways = order.into_iter().take(DIRECTIONS).map(|(_, at)| {
            let key = |row: EntryId| f64::from(self.numbers(row)[at]);
            self.halve(rows, key, &mut counts)
        });
        // The first that can stand larger groups, or else the first.
        let mut best: Option<Halves> = None;
        for way in ways.flatten() {
            if best.as_ref().is_none_or(|best| way.roomy && !best.roomy) {
                best = Some(way);
            }
            if best.as_ref().is_some_and(|best| best.roomy) {
                break;
            }
        }
        if best.is_none() {
            best = self.quasi(rows, &mut counts);
        }
        let best = best?;
        rows.copy_from_slice(&best.rows);
        Some(best.middle)
    }

    /// Along a quasi column, if the cut is sure whatever the values: all are believed alike.
    fn quasi(&self, rows: &[EntryId], counts: &mut Of<Code, u32>) -> Option<Halves> {
        let first = self.numbers(rows[0]);
        if rows.iter().any(|row| self.numbers(*row) != first) {
            return None;
        }
        rows.iter().for_each(|row| counts[self.value(*row)] += 1);
        let most = rows
            .iter()
            .map(|row| std::mem::take(&mut counts[self.value(*row)]))
            .max()?;
        let sure = most as usize * self.least;
        let mut widest: Option<(f64, Halves)> = None;
        for (at, column) in self.task.data.quasi.iter().enumerate() {
            let codes = &self.task.data.census.quasi[at];
            let key = |row: EntryId| codes[self.tuple_of[row]];
            let mut keyed: Vec<u64> =
                rows.iter().map(|row| pair(key(*row), *row)).collect();
            keyed.sort_unstable();
            let both = unpair::<Code, EntryId>;
            let code = |at: usize| both(keyed[at]).0;
            let last = keyed.len() - 1;
            if code(0) == code(last) {
                continue;
            }
            let median = code(keyed.len() / 2);
            let before = keyed.partition_point(|key| both(*key).0 < median);
            let after = keyed.partition_point(|key| both(*key).0 <= median);
            let small = |middle: usize| middle.min(keyed.len() - middle);
            let middle = if small(before) >= small(after) { before } else { after };
            let width =
                crate::method::mondrian::relative_width(column, code(0), code(last));
            let wider = widest.as_ref().is_none_or(|(held, _)| width > *held);
            if small(middle) >= sure && wider {
                let rows = keyed.iter().map(|key| both(*key).1).collect();
                widest = Some((width, Halves { rows, middle, roomy: true }));
            }
        }
        widest.map(|(_, halves)| halves)
    }

    /// The cut along a direction that takes most of the spread away.
    fn halve(
        &self,
        rows: &[EntryId],
        key: impl Fn(EntryId) -> f64,
        counts: &mut Of<Code, u32>,
    ) -> Option<Halves> {
        let n = rows.len();
        let mut keyed: Vec<(f64, EntryId)> =
            rows.iter().map(|row| (key(*row), *row)).collect();
        keyed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // After each row: how common the commonest value of those before is.
        let commonest = |rows: &mut dyn Iterator<Item = EntryId>,
                         counts: &mut Of<Code, u32>| {
            counts.fill(0);
            let mut most = 0;
            let count = |row: EntryId| {
                let count = &mut counts[self.value(row)];
                *count += 1;
                most = most.max(*count);
                most as usize
            };
            rows.map(count).collect::<Vec<usize>>()
        };
        let ahead = commonest(&mut keyed.iter().map(|(_, row)| *row), counts);
        let behind = commonest(&mut keyed.iter().rev().map(|(_, row)| *row), counts);
        counts.fill(0);
        let sum: f64 = keyed.iter().map(|(x, _)| x).sum();
        let mut before = 0.0;
        let mut best: Option<(bool, f64, usize)> = None;
        for middle in 1..n {
            before += keyed[middle - 1].0;
            let small = middle.min(n - middle);
            if keyed[middle].0 <= keyed[middle - 1].0
                || small < self.least.max(n / LEAST_SHARE)
            {
                continue;
            }
            let (below, rest) = (ahead[middle - 1], behind[n - middle - 1]);
            let fits = |parts| below * parts <= middle && rest * parts <= n - middle;
            if !fits(self.least) {
                continue;
            }
            let (a, b) = (middle as f64, (n - middle) as f64);
            let apart = before / a - (sum - before) / b;
            let way = (fits(self.least + 1), a * b * apart * apart, middle);
            if best.is_none_or(|best| (way.0, way.1) > (best.0, best.1)) {
                best = Some(way);
            }
        }
        let (roomy, _, middle) = best?;
        Some(Halves {
            rows: keyed.iter().map(|(_, row)| *row).collect(),
            middle,
            roomy,
        })
    }
}

/// Rows in two halves.
struct Halves {
    rows: Vec<EntryId>,
    middle: usize,
    /// Whether both halves can be dealt into groups larger than the smallest.
    roomy: bool,
}
