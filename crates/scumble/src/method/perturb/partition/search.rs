//! Beyond orders: the best way to put groups together, or a better one.

use super::Entries;
use super::bound::{MergedRows, SubtableWorth};
use super::merge::{Merged, enough};

/// How much work a search for a better partition may do: counts of values looked at.
pub const MOST_STEPS: u64 = 100_000_000;

/// Whether the search is still wanted is asked once for so many sets of groups.
const CHECKED_EVERY: usize = 256;

/// Whether [`best_of_all`] stays within [`MOST_STEPS`].
pub(super) fn can_try_all(groups: &[Entries], tally: &MergedRows<'_>) -> bool {
    let n_groups = groups.len() as u32;
    if n_groups > 20 {
        return false;
    }
    let entries: u64 = groups.iter().map(|group| group.len() as u64).sum();
    entries * tally.effort() * (1 << n_groups) / 2 + 3u64.pow(n_groups) / 2
        <= MOST_STEPS
}

/// The partition of the groups with the least error. Every partition is made of runs of
/// some order, so that this is the best merge of the best order.
pub(super) fn best_of_all(
    groups: &[Entries],
    tally: &mut MergedRows<'_>,
) -> Option<Merged> {
    let all = (1usize << groups.len()) - 1;
    let members = |set: usize| (0..groups.len()).filter(move |at| set >> at & 1 == 1);
    let mut costs = vec![0.0; all + 1];
    for (set, cost) in costs.iter_mut().enumerate().skip(1) {
        if set % CHECKED_EVERY == 0 && tally.watch.is_cancelled() {
            return None;
        }
        tally.clear();
        members(set).for_each(|at| tally.add(&groups[at]));
        *cost = tally.worth().map_or(f64::INFINITY, |worth| worth.cost);
    }
    // For each set, the least cost, and the block with its first group.
    let (mut best, mut first_blocks) = (vec![0.0; all + 1], vec![0; all + 1]);
    for set in 1..=all {
        if set % CHECKED_EVERY == 0 && tally.watch.is_cancelled() {
            return None;
        }
        let others = set & (set - 1);
        let (mut least, mut first_block) = (f64::INFINITY, set);
        let mut rest = others;
        loop {
            // The block is `set` without `rest`.
            let cost: f64 = costs[set ^ rest] + best[rest];
            if cost < least {
                (least, first_block) = (cost, set ^ rest);
            }
            if rest == 0 {
                break;
            }
            rest = (rest - 1) & others;
        }
        (best[set], first_blocks[set]) = (least, first_block);
    }
    let (mut blocks, mut set) = (Vec::new(), all);
    while set > 0 {
        blocks.push(members(first_blocks[set]).collect());
        set ^= first_blocks[set];
    }
    Merged::new(groups, blocks, tally)
}

/// What moves of groups are for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Goal {
    /// No move may leave a mean probability to keep below this.
    pub(super) floor: f64,
    /// Keeping more than `mean` is worth `pay` for each block.
    pub(super) mean: f64,
    pub(super) pay: f64,
}

/// Moves groups about as long as each move is better and allowed, until `end` steps are
/// done.
pub(super) fn moved(
    groups: &[Entries],
    from: &Merged,
    goal: Goal,
    tally: &mut MergedRows<'_>,
    end: u64,
) -> Option<Merged> {
    let worths = from.blocks.iter().map(|block| tally.worth_of(groups, block));
    let worths = worths.collect::<Option<_>>()?;
    let mut home = vec![0; groups.len()];
    for (block, members) in from.blocks.iter().enumerate() {
        members.iter().for_each(|group| home[*group] = block);
    }
    let (members, total) = (from.blocks.clone(), from.total);
    let mut blocks = Blocks { groups, members, home, worths, total, goal, tally, end };
    while blocks.shift() || blocks.swap() || blocks.join() {}
    let mut members = blocks.members;
    members.retain(|block| !block.is_empty());
    Merged::new(groups, members, tally)
}

/// Blocks, some of them empty, with what each is worth.
struct Blocks<'t, 'v> {
    groups: &'t [Entries],
    members: Vec<Vec<usize>>,
    /// The block of each group.
    home: Vec<usize>,
    worths: Vec<SubtableWorth>,
    total: SubtableWorth,
    goal: Goal,
    tally: &'t mut MergedRows<'v>,
    /// When to stop.
    end: u64,
}

impl Blocks<'_, '_> {
    fn is_tired(&self) -> bool {
        self.tally.steps >= self.end || self.tally.watch.is_cancelled()
    }

    /// Puts other groups into two blocks if that is better.
    fn try_pair(&mut self, a: (usize, Vec<usize>), b: (usize, Vec<usize>)) -> bool {
        self.tally.steps += 1;
        let Some(first) = self.tally.worth_of(self.groups, &a.1) else { return false };
        let Some(second) = self.tally.worth_of(self.groups, &b.1) else { return false };
        let (old_a, old_b) = (self.worths[a.0], self.worths[b.0]);
        let Goal { floor, mean, pay } = self.goal;
        let price = |x: SubtableWorth, y: SubtableWorth| {
            x.price(mean, pay) + y.price(mean, pay)
        };
        let gain = price(old_a, old_b) - price(first, second);
        if gain <= 1e-12 * (old_a.cost + old_b.cost) {
            return false;
        }
        let mut total = self.total;
        total += first;
        total += second;
        total -= old_a;
        total -= old_b;
        let old = &self.members;
        let filled = |blocks: &[&Vec<usize>]| {
            blocks.iter().filter(|block| !block.is_empty()).count()
        };
        let n_blocks = old.iter().filter(|block| !block.is_empty()).count()
            + filled(&[&a.1, &b.1])
            - filled(&[&old[a.0], &old[b.0]]);
        if !enough(total, n_blocks, floor) {
            return false;
        }
        self.total = total;
        for ((block, members), worth) in [(a, first), (b, second)] {
            members.iter().for_each(|group| self.home[*group] = block);
            self.members[block] = members;
            self.worths[block] = worth;
        }
        true
    }

    /// Moves one group into another block, or one of its own; whether anything was better.
    fn shift(&mut self) -> bool {
        let mut any = false;
        for group in 0..self.groups.len() {
            if !self.members.iter().any(Vec::is_empty) {
                self.members.push(Vec::new());
                self.worths.push(SubtableWorth::default());
            }
            for to in 0..self.members.len() {
                let from = self.home[group];
                if from == to || self.is_tired() {
                    continue;
                }
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
                        let here = self.home[x] == a && self.home[y] == b;
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
