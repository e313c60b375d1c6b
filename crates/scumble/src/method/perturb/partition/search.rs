//! Beyond orders: the best way to put groups together, or a better one.

use super::Entries;
use super::bound::Tally;
use super::merge::{Merged, merge};

/// How much work the search for a better partition may do: rows of values looked at.
pub const MOST_STEPS: u64 = 100_000_000;

/// The best partition if all can be compared, otherwise the best that moving groups about
/// leads to; named `name` if nothing better than `found` turns up.
pub(super) fn improve(
    groups: &[Entries],
    found: Merged,
    name: &'static str,
    tally: &mut Tally<'_>,
) -> (Merged, &'static str) {
    let (better, new_name) = if can_try_all(groups) {
        (best_of_all(groups, tally), "every order")
    } else {
        (moved(groups, found.clone(), tally), "local search")
    };
    match better {
        Some(better) if better.is_better_than(&found) => (better, new_name),
        _ => (found, name),
    }
}

/// Whether [`best_of_all`] stays within [`MOST_STEPS`].
fn can_try_all(groups: &[Entries]) -> bool {
    let n_groups = groups.len() as u32;
    if n_groups > 20 {
        return false;
    }
    let entries: u64 = groups.iter().map(|group| group.len() as u64).sum();
    entries * (1 << n_groups) / 2 + 3u64.pow(n_groups) / 2 <= MOST_STEPS
}

/// The best of all partitions of the groups. Every partition is made of runs of some order,
/// so that this is the best merge of the best order.
fn best_of_all(groups: &[Entries], tally: &mut Tally<'_>) -> Option<Merged> {
    let all = (1usize << groups.len()) - 1;
    let members = |set: usize| (0..groups.len()).filter(move |at| set >> at & 1 == 1);
    let mut costs = vec![0.0; all + 1];
    for (set, cost) in costs.iter_mut().enumerate().skip(1) {
        tally.clear();
        members(set).for_each(|at| tally.add(&groups[at]));
        *cost = tally.cost();
    }
    // For each set, the least cost, and the block with its first group.
    let mut best = vec![(0.0, 0); all + 1];
    for set in 1..=all {
        let first = set & set.wrapping_neg();
        let others = set ^ first;
        let mut least = (f64::INFINITY, set);
        let mut rest = others;
        loop {
            // The block is `set` without `rest`.
            let cost: f64 = costs[set ^ rest] + best[rest].0;
            if cost < least.0 {
                least = (cost, set ^ rest);
            }
            if rest == 0 {
                break;
            }
            rest = (rest - 1) & others;
        }
        best[set] = least;
    }
    let (mut blocks, mut set) = (Vec::new(), all);
    while set > 0 {
        let block = best[set].1;
        blocks.push(members(block).collect());
        set ^= block;
    }
    let cost = best[all].0;
    cost.is_finite().then_some(Merged { blocks, cost })
}

/// Blocks with what each costs.
struct Blocks<'t, 'v> {
    groups: &'t [Entries],
    members: Vec<Vec<usize>>,
    costs: Vec<f64>,
    tally: &'t mut Tally<'v>,
    /// When to stop.
    end: u64,
}

/// What moving groups about leads to, as long as each move is better than none.
pub(super) fn moved(
    groups: &[Entries],
    from: Merged,
    tally: &mut Tally<'_>,
) -> Option<Merged> {
    let end = tally.steps + MOST_STEPS;
    let mut best = from;
    // A round of moves, then the best cut of the order it leaves.
    loop {
        let members = best.blocks.clone();
        let mut blocks = Blocks { groups, costs: vec![], members, tally, end };
        blocks.costs = (0..blocks.members.len())
            .map(|block| blocks.price(&blocks.members[block].clone()))
            .collect();
        while blocks.shift() || blocks.swap() || blocks.join() {}
        let order: Vec<usize> = blocks.members.concat();
        let merged = merge(groups, &order, tally)?;
        let better = merged.is_better_than(&best);
        if better {
            best = merged;
        }
        if !better || tally.steps >= end {
            return Some(best);
        }
    }
}

impl Blocks<'_, '_> {
    fn price(&mut self, members: &[usize]) -> f64 {
        self.tally.clear();
        members.iter().for_each(|at| self.tally.add(&self.groups[*at]));
        if members.is_empty() { 0.0 } else { self.tally.cost() }
    }

    fn is_tired(&self) -> bool {
        self.tally.steps >= self.end
    }

    /// Puts other groups into two blocks if that is cheaper.
    fn try_pair(&mut self, a: (usize, Vec<usize>), b: (usize, Vec<usize>)) -> bool {
        let old = self.costs[a.0] + self.costs[b.0];
        let first = self.price(&a.1);
        if first >= old {
            return false;
        }
        let second = self.price(&b.1);
        if first + second >= old * (1.0 - 1e-12) {
            return false;
        }
        for ((block, members), cost) in [(a, first), (b, second)] {
            self.members[block] = members;
            self.costs[block] = cost;
        }
        true
    }

    /// Moves one group into another block, or one of its own; whether anything was better.
    fn shift(&mut self) -> bool {
        let mut any = false;
        for group in 0..self.groups.len() {
            if !self.members.iter().any(Vec::is_empty) {
                self.members.push(Vec::new());
                self.costs.push(0.0);
            }
            for to in 0..self.members.len() {
                let from = self.members.iter().position(|block| block.contains(&group));
                let Some(from) = from.filter(|from| *from != to && !self.is_tired())
                else {
                    continue;
                };
                let less = without(&self.members[from], group);
                let mut more = self.members[to].clone();
                more.push(group);
                any |= self.try_pair((from, less), (to, more));
            }
        }
        any
    }

    /// Exchanges two groups of different blocks; whether anything was better.
    fn swap(&mut self) -> bool {
        let mut any = false;
        for a in 0..self.members.len() {
            for b in a + 1..self.members.len() {
                for x in self.members[a].clone() {
                    for y in self.members[b].clone() {
                        let here = self.members[a].contains(&x)
                            && self.members[b].contains(&y);
                        if !here || self.is_tired() {
                            continue;
                        }
                        let mut first = without(&self.members[a], x);
                        let mut second = without(&self.members[b], y);
                        first.push(y);
                        second.push(x);
                        any |= self.try_pair((a, first), (b, second));
                    }
                }
            }
        }
        any
    }

    /// Makes two blocks one; whether anything was better.
    fn join(&mut self) -> bool {
        let mut any = false;
        for a in 0..self.members.len() {
            for b in a + 1..self.members.len() {
                let empty = self.members[a].is_empty() || self.members[b].is_empty();
                if empty || self.is_tired() {
                    continue;
                }
                let both = [self.members[a].as_slice(), &self.members[b]].concat();
                any |= self.try_pair((a, both), (b, Vec::new()));
            }
        }
        any
    }
}

fn without(members: &[usize], group: usize) -> Vec<usize> {
    members.iter().copied().filter(|at| *at != group).collect()
}
