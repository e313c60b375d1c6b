//! Deals the rows of a block into groups.

use rand_chacha::ChaCha20Rng;

use crate::error::Result;
use crate::method::buckets::shuffle;
use crate::promise::{Group, Promises};
use crate::random::Randomness;
use crate::table::{Code, EntryId, Histogram, Of};
use crate::watch::Watch;

pub(super) struct Dealer<'a> {
    /// The sensitive value of each entry.
    pub(super) values: &'a Of<EntryId, Code>,
    /// No value has more than 1/parts of a group.
    pub(super) parts: u64,
    /// The least size of groups, if groups of different values are sure to be good.
    pub(super) sure: Option<u64>,
    pub(super) promises: &'a Promises,
    /// All rows.
    pub(super) whole: Group<'a>,
    pub(super) randomness: &'a Randomness,
    pub(super) watch: &'a dyn Watch,
}

impl Dealer<'_> {
    /// Puts the rows of each group side by side; returns how many each group has, or
    /// nothing if one group of all is not good. `start` is the place of the block.
    pub(super) fn deal(
        &self,
        start: usize,
        block: &mut [EntryId],
        scratch: &mut Histogram,
    ) -> Result<Option<Vec<usize>>> {
        self.watch.check()?;
        if block.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let mut rng = self.randomness.stream("deal", start as u64);
        let list = self.list(block, &mut rng);
        // How many rows of each value a group gets depends on the counts and the order of
        // values alone.
        let good = |n_groups: usize, scratch: &mut Histogram| {
            (0..n_groups).all(|group| {
                scratch.clear();
                for row in list[group..].iter().step_by(n_groups) {
                    scratch.add(self.values[*row], 1);
                }
                self.holds(scratch)
            })
        };
        let least = self.sure.unwrap_or(self.parts.max(2)) as usize;
        let mut n_groups = (block.len() / least).max(1);
        let mut too_many = None;
        while !good(n_groups, scratch) {
            if n_groups == 1 {
                return Ok(None);
            }
            self.watch.check()?;
            too_many = Some(n_groups);
            n_groups /= 2;
        }
        let mut too_many = too_many.unwrap_or(n_groups + 1);
        while too_many - n_groups > 1 {
            let middle = n_groups + (too_many - n_groups) / 2;
            self.watch.check()?;
            if good(middle, scratch) {
                n_groups = middle;
            } else {
                too_many = middle;
            }
        }
        let mut place = 0;
        let mut sizes = Vec::with_capacity(n_groups);
        for group in 0..n_groups {
            let begin = place;
            for row in list[group..].iter().step_by(n_groups) {
                block[place] = *row;
                place += 1;
            }
            sizes.push(place - begin);
        }
        Ok(Some(sizes))
    }

    /// The rows value by value: values in random order, and rows of a value, too.
    fn list(&self, block: &[EntryId], rng: &mut ChaCha20Rng) -> Vec<EntryId> {
        let mut keyed: Vec<(Code, EntryId)> =
            block.iter().map(|row| (self.values[*row], *row)).collect();
        keyed.sort_unstable();
        let mut runs: Vec<&mut [(Code, EntryId)]> =
            keyed.chunk_by_mut(|a, b| a.0 == b.0).collect();
        shuffle(&mut runs, rng);
        let mut list = Vec::with_capacity(block.len());
        for run in runs {
            shuffle(run, rng);
            list.extend(run.iter().map(|(_, row)| *row));
        }
        list
    }

    fn holds(&self, values: &Histogram) -> bool {
        let rows = values.total();
        let group = Group { rows, people: rows, values: std::slice::from_ref(values) };
        values.present().all(|(_, count)| count * self.parts <= rows)
            && self.promises.hold(group, self.whole)
    }
}
