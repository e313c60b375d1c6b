//! The merging phase: the best way to cut an order of groups into runs.

use super::Entries;
use super::bound::Tally;

/// Groups put together into sub-tables.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Merged {
    /// For each sub-table, its groups.
    pub(super) blocks: Vec<Vec<usize>>,
    /// The sum of error bounds, weighted by rows.
    pub(super) cost: f64,
}

impl Merged {
    /// Better by more than rounding can explain.
    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        self.cost < other.cost * (1.0 - 1e-12)
    }
}

/// The cheapest cut of `order` into runs, by dynamic programming over where the last run
/// starts; nothing if no cut is allowed.
pub(super) fn merge(
    groups: &[Entries],
    order: &[usize],
    tally: &mut Tally<'_>,
) -> Option<Merged> {
    // For each number of groups, the least cost of the first ones, and the start of the
    // last run.
    let mut best = vec![(f64::INFINITY, 0); order.len() + 1];
    best[0].0 = 0.0;
    for start in 0..order.len() {
        tally.clear();
        for end in start + 1..=order.len() {
            tally.add(&groups[order[end - 1]]);
            let cost = best[start].0 + tally.cost();
            if cost < best[end].0 {
                best[end] = (cost, start);
            }
        }
    }
    let cost = best[order.len()].0;
    if cost.is_infinite() {
        return None;
    }
    let (mut blocks, mut end) = (Vec::new(), order.len());
    while end > 0 {
        let start = best[end].1;
        blocks.push(order[start..end].to_vec());
        end = start;
    }
    blocks.reverse();
    Some(Merged { blocks, cost })
}
