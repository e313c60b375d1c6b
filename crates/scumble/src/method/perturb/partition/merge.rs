//! The merging phase: the best way to cut an order of groups into runs.

use super::Entries;
use super::bound::{MergedRows, SubtableWorth};

/// Groups put together into sub-tables.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Merged {
    /// For each sub-table, its groups.
    pub(super) blocks: Vec<Vec<usize>>,
    /// What they are worth together.
    pub(super) total: SubtableWorth,
}

impl Merged {
    /// Blocks that may be sub-tables; nothing if one of them may not.
    pub(super) fn new(
        groups: &[Entries],
        blocks: Vec<Vec<usize>>,
        tally: &mut MergedRows<'_>,
    ) -> Option<Self> {
        let mut total = SubtableWorth::default();
        for block in &blocks {
            total += tally.worth_of(groups, block)?;
        }
        Some(Self { blocks, total })
    }

    /// Less error, by more than rounding can explain.
    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        self.total.cost < other.total.cost * (1.0 - 1e-12)
    }

    /// The mean probability to keep a value.
    pub(super) fn mean(&self) -> f64 {
        self.total.keep / self.blocks.len() as f64
    }

    /// Whether the mean is at least this, but for rounding.
    pub(super) fn keeps(&self, mean: f64) -> bool {
        enough(self.total, self.blocks.len(), mean)
    }
}

/// Whether so many blocks keep `mean` on average, but for rounding.
pub(super) fn enough(total: SubtableWorth, n_blocks: usize, mean: f64) -> bool {
    total.keep >= mean * n_blocks as f64 * (1.0 - 1e-12)
}

/// The cut of `order` into runs with the least sum of prices, by dynamic programming over
/// where the last run starts; nothing if no cut is allowed.
pub(super) fn merge(
    groups: &[Entries],
    order: &[usize],
    tally: &mut MergedRows<'_>,
    price: impl Fn(SubtableWorth) -> f64,
) -> Option<Merged> {
    // For each number of groups, the least price of the first ones, and the start of the
    // last run.
    let mut best = vec![(f64::INFINITY, 0); order.len() + 1];
    best[0].0 = 0.0;
    for start in 0..order.len() {
        if tally.watch.is_cancelled() {
            return None;
        }
        tally.clear();
        for end in start + 1..=order.len() {
            tally.add(&groups[order[end - 1]]);
            if let Some(worth) = tally.worth()
                && best[start].0 + price(worth) < best[end].0
            {
                best[end] = (best[start].0 + price(worth), start);
            }
        }
    }
    if best[order.len()].0.is_infinite() {
        return None;
    }
    let (mut blocks, mut end) = (Vec::new(), order.len());
    while end > 0 {
        let start = best[end].1;
        blocks.push(order[start..end].to_vec());
        end = start;
    }
    blocks.reverse();
    Merged::new(groups, blocks, tally)
}
