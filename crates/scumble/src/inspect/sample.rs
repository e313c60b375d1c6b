//! How often values occur, in bounded memory.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry as Slot;

/// Counts of texts or tuples by their hash.
///
/// When there are more than `capacity` of them, only those whose hash ends in so many
/// zeros are kept: a sample of *values*, each with its exact count. What is kept depends
/// on which values there are, not on who saw them, so that any number of workers gives the
/// same sample. (Adaptive sampling: Wegman, after Flajolet 1990.)
#[derive(Debug)]
pub(super) struct Sample {
    capacity: usize,
    // One less than a power of two; all kept hashes have these bits unset.
    mask: u64,
    counts: HashMap<u64, Entry>,
}

/// How often a value was seen, and what it looks like: bits of who counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    rows: u64,
    looks: u16,
}

impl Sample {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, mask: 0, counts: HashMap::new() }
    }

    /// Counts a value. Whether it is perhaps seen for the first time.
    #[inline]
    pub(super) fn add(&mut self, hash: u64) -> bool {
        self.add_looking(hash, || 0)
    }

    /// The same of a value that looks like this, as is found out once.
    #[inline]
    pub(super) fn add_looking(
        &mut self,
        hash: u64,
        looks: impl FnOnce() -> u16,
    ) -> bool {
        if hash & self.mask != 0 {
            return true;
        }
        match self.counts.entry(hash) {
            Slot::Occupied(mut slot) => {
                slot.get_mut().rows += 1;
                false
            }
            Slot::Vacant(slot) => {
                slot.insert(Entry { rows: 1, looks: looks() });
                if self.counts.len() > self.capacity {
                    self.thin();
                }
                true
            }
        }
    }

    /// Adds what another worker has seen.
    pub(super) fn merge(&mut self, other: Self) {
        self.mask = self.mask.max(other.mask);
        let mask = self.mask;
        self.counts.retain(|hash, _| hash & mask == 0);
        other.counts.into_iter().filter(|(hash, _)| hash & mask == 0).for_each(
            |(hash, n)| {
                let entry = Entry { rows: 0, ..n };
                self.counts.entry(hash).or_insert(entry).rows += n.rows;
            },
        );
        self.thin();
    }

    fn thin(&mut self) {
        while self.counts.len() > self.capacity {
            self.mask = self.mask * 2 + 1;
            let mask = self.mask;
            self.counts.retain(|hash, _| hash & mask == 0);
        }
    }

    /// Whether every value is kept, so that the numbers below are no estimates.
    pub(super) fn is_exact(&self) -> bool {
        self.mask == 0
    }

    /// How many different values there are.
    pub(super) fn distinct(&self) -> u64 {
        self.counts.len() as u64 * (self.mask + 1)
    }

    /// How many rows have a value that occurs fewer than `k` times.
    pub(super) fn rows_below(&self, k: u64) -> u64 {
        let few = self.counts.values().filter(|n| n.rows < k);
        few.map(|n| n.rows).sum::<u64>() * (self.mask + 1)
    }

    /// How many values occur exactly so often.
    pub(super) fn values_of(&self, rows: u64) -> u64 {
        let values = self.counts.values().filter(|n| n.rows == rows).count();
        values as u64 * (self.mask + 1)
    }

    /// How many rows have a value that looks so.
    pub(super) fn rows_that(&self, looks: impl Fn(u16) -> bool) -> u64 {
        let rows = self.counts.values().filter(|n| looks(n.looks)).map(|n| n.rows);
        rows.sum::<u64>() * (self.mask + 1)
    }

    /// How many rows have the most common value.
    pub(super) fn most(&self) -> u64 {
        self.counts.values().map(|n| n.rows).max().unwrap_or(0)
    }

    /// The sum of the squares of the shares of the values.
    pub(super) fn evenness(&self) -> f64 {
        let rows: f64 = self.counts.values().map(|n| n.rows as f64).sum();
        let squares: f64 = self.counts.values().map(|n| (n.rows as f64).powi(2)).sum();
        squares / (rows * rows).max(1.0) / (self.mask + 1) as f64
    }

    /// How many rows values have, ascending, and how many values have so many.
    pub(super) fn sizes(&self) -> Vec<(u64, u64)> {
        let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
        self.counts.values().for_each(|n| *sizes.entry(n.rows).or_default() += 1);
        sizes.into_iter().collect()
    }
}

/// A hash of a text that is the same in every run.
#[inline]
pub(super) fn hash(text: &str) -> u64 {
    let mut hash = text.len() as u64;
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    for word in words {
        hash = mixed(hash, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mixed(mixed(hash, u64::from_le_bytes(last)), 0)
}

/// Stirs `word` into `hash`.
#[inline]
pub(super) fn mixed(hash: u64, word: u64) -> u64 {
    let left = u128::from(hash ^ 0x9e37_79b9_7f4a_7c15);
    let product = left * u128::from(word ^ 0xd1b5_4a32_d192_ed03);
    (product as u64 ^ (product >> 64) as u64).wrapping_mul(0x2545_f491_4f6c_dd1d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_counted_exactly() {
        let mut sample = Sample::new(100);
        for row in 0..150u32 {
            sample.add(hash(&(row % 90).to_string()));
        }
        assert!(sample.is_exact());
        assert_eq!((sample.distinct(), sample.rows_below(2)), (90, 30));
    }

    #[test]
    fn many_values_are_estimated_alike_by_any_number_of_workers() {
        let mut alone = Sample::new(1000);
        let mut workers = [Sample::new(1000), Sample::new(1000), Sample::new(1000)];
        for row in 0..60_000u32 {
            let hash = hash(&(row % 40_000).to_string());
            alone.add(hash);
            workers[row as usize / 7 % 3].add(hash);
        }
        let [mut first, second, third] = workers;
        first.merge(second);
        first.merge(third);
        assert_eq!((first.mask, &first.counts), (alone.mask, &alone.counts));
        assert!(!first.is_exact());
        // Ten standard errors of the estimate.
        assert!(first.distinct().abs_diff(40_000) < 16_000, "{}", first.distinct());
        assert!(first.rows_below(2).abs_diff(20_000) < 12_000);
    }
}
