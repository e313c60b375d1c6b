//! Worlds: which sets of people have given counts.
//!
//! Weights that are the table's own are counts: of the n rows of a group, n f(v) have the
//! value v. Somebody who holds the population looks for the sets of n people of the group
//! with these counts; each is a world, and all are equally likely.
//!
//! # Guarantee
//! The share of worlds that contain a person, exactly if there are fewer than 2^128, else
//! up to a relative error of 1e-11.
//!
//! *Proof.* People with the same values in all counted columns are of one type; x of m of
//! them can be present in C(m, x) ways, and then each is in x / m of these worlds. First,
//! bounds on each x follow from the counts, and from the bounds on the others; they only
//! ever exclude what is in no world. What remains falls into parts that share no count,
//! and the worlds of the whole are the products of those of the parts. Within a part the
//! types are decided one after the other, and what a partial decision leads to depends
//! only on the counts it leaves: equal ones are completed once. Sums have positive terms
//! only, so that rounding never cancels. ∎
//!
//! # Limits
//! The number of partial decisions can grow exponentially with the number of values of all
//! columns but one. Beyond `most_steps` the answer is that it is not known, except for
//! those whose bounds leave no choice.
//!
//! # Cost
//! A step for each partial decision and each number of people that may follow it.
//!
//! # Source
//! docs/methods.md, "The counting adversary"; ours. The publisher counts in another
//! order and with floats.

use hashbrown::HashMap;

use crate::audit::cells::ways::{Scaled, Ways, choices};
use crate::audit::cells::{Share, ln_choose};
use crate::watch::Watch;

/// Whether the worlds are still wanted is asked once for so many states.
const CHECKED_EVERY: usize = 1 << 12;

/// People who agree on all counted columns.
#[derive(Debug, Clone)]
pub(crate) struct PersonType {
    pub(crate) people: u64,
    /// For each counted column, which count they belong to.
    pub(crate) counts: Vec<u32>,
}

/// What the counts tell.
#[derive(Debug)]
pub(crate) enum Worlds {
    /// No world has them.
    None,
    /// For each type the share of worlds, and the logarithm of their number.
    Counted { shares: Vec<Share>, ln_ways: f64 },
    /// Too many partial decisions; for each type how many are present, where that is the
    /// same in all worlds.
    Unknown { settled: Vec<Option<u64>> },
}

/// Counts the worlds in which the people of the types that belong to count c are
/// `counts[c]`.
pub(crate) fn worlds(
    types: &[PersonType],
    counts: &[u64],
    most_steps: usize,
    watch: &dyn Watch,
) -> Worlds {
    let Some(bounds) = settle(types, counts) else { return Worlds::None };
    let mut shares: Vec<Share> = Vec::with_capacity(types.len());
    let mut ln_ways = 0.0;
    let mut left = counts.to_vec();
    for (kind, (low, high)) in types.iter().zip(&bounds) {
        shares.push(Share::of(*low, kind.people));
        if low == high {
            ln_ways += ln_choose(kind.people, *low);
            kind.counts.iter().for_each(|count| left[*count as usize] -= low);
        }
    }
    let mut steps = most_steps;
    for part in parts(types, &bounds, counts.len()) {
        let open: Vec<OpenType<'_>> = part
            .iter()
            .map(|place| OpenType { kind: &types[*place], bounds: bounds[*place] })
            .collect();
        let found =
            Graph::of(&open, &left, &mut steps, watch).map(|graph| graph.shares(&open));
        let Some(found) = found else {
            let settled =
                bounds.iter().map(|(low, high)| (low == high).then_some(*low));
            return Worlds::Unknown { settled: settled.collect() };
        };
        let Some((found, ln)) = found else { return Worlds::None };
        ln_ways += ln;
        for (place, share) in part.into_iter().zip(found) {
            shares[place] = share;
        }
    }
    Worlds::Counted { shares, ln_ways }
}

/// How often bounds are tightened. Bounds that could be tighter still are right.
const ROUNDS: usize = 200;

/// For each type how few and how many people are present in any world; nothing if there is
/// none. Bounds are tightened until nothing changes.
fn settle(types: &[PersonType], counts: &[u64]) -> Option<Vec<(u64, u64)>> {
    let mut bounds: Vec<(u64, u64)> =
        types.iter().map(|kind| (0, kind.people)).collect();
    for _ in 0..ROUNDS {
        let mut lows = vec![0u64; counts.len()];
        let mut highs = vec![0u64; counts.len()];
        for (kind, (low, high)) in types.iter().zip(&bounds) {
            for count in &kind.counts {
                lows[*count as usize] += low;
                highs[*count as usize] += high;
            }
        }
        let possible = |c: usize| lows[c] <= counts[c] && counts[c] <= highs[c];
        if !(0..counts.len()).all(possible) {
            return None;
        }
        let mut changed = false;
        for (kind, (low, high)) in types.iter().zip(&mut bounds) {
            let before = (*low, *high);
            for count in &kind.counts {
                let count = *count as usize;
                // All others at their most, or at their least.
                let (most, least) = (highs[count] - before.1, lows[count] - before.0);
                *low = (*low).max(counts[count].saturating_sub(most));
                *high = (*high).min(counts[count] - least);
            }
            if low > high {
                return None;
            }
            changed |= before != (*low, *high);
        }
        if !changed {
            break;
        }
    }
    Some(bounds)
}

/// The types whose bounds leave a choice, in parts that share no count. In each part
/// types stand by the column with the most counts, small counts first.
fn parts(
    types: &[PersonType],
    bounds: &[(u64, u64)],
    n_counts: usize,
) -> Vec<Vec<usize>> {
    let open: Vec<usize> =
        (0..types.len()).filter(|place| bounds[*place].0 < bounds[*place].1).collect();
    let mut above: Vec<usize> = (0..n_counts).collect();
    fn root(above: &mut [usize], mut place: usize) -> usize {
        while above[place] != place {
            above[place] = above[above[place]];
            place = above[place];
        }
        place
    }
    let mut people = vec![0u64; n_counts];
    for place in &open {
        let kind = &types[*place];
        for count in &kind.counts {
            people[*count as usize] += kind.people;
            let (a, b) = (
                root(&mut above, *count as usize),
                root(&mut above, kind.counts[0] as usize),
            );
            above[a] = b;
        }
    }
    let n_columns = types.first().map_or(0, |kind| kind.counts.len());
    let mut different: Vec<Vec<u32>> = (0..n_columns)
        .map(|column| open.iter().map(|place| types[*place].counts[column]).collect())
        .collect();
    for counts in &mut different {
        counts.sort_unstable();
        counts.dedup();
    }
    let mut order: Vec<usize> = (0..n_columns).collect();
    order.sort_by_key(|column| std::cmp::Reverse(different[*column].len()));
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut part_of: HashMap<usize, usize> = HashMap::new();
    for place in open {
        let root = root(&mut above, types[place].counts[0] as usize);
        let part = *part_of.entry(root).or_insert_with(|| {
            parts.push(Vec::new());
            parts.len() - 1
        });
        parts[part].push(place);
    }
    for part in &mut parts {
        let key = |place: &usize| -> Vec<(u64, u32)> {
            let counts = order.iter().map(|column| types[*place].counts[*column]);
            counts.map(|count| (people[count as usize], count)).collect()
        };
        part.sort_by_cached_key(key);
    }
    parts
}

/// A type that is still to be decided, and between which numbers.
struct OpenType<'a> {
    kind: &'a PersonType,
    bounds: (u64, u64),
}

/// Partial decisions, type by type: which counts they leave, and what follows.
struct Graph {
    layers: Vec<Layer>,
}

/// What can be decided about one type.
struct Layer {
    /// For each state the smallest number of people, and where its targets begin.
    states: Vec<(u64, usize)>,
    /// The states of the next layer, one for each number of people that is possible.
    targets: Vec<u32>,
}

impl Graph {
    /// Nothing if it takes too many steps or more counts than can be told apart, or is no
    /// longer wanted.
    fn of(
        types: &[OpenType<'_>],
        counts: &[u64],
        steps: &mut usize,
        watch: &dyn Watch,
    ) -> Option<Self> {
        // A state is the number whose digits are the counts that are left. Everybody of a
        // type takes the same number from it.
        let mut factors = vec![0u128; counts.len()];
        let mut next = 1u128;
        let mut ahead = vec![0u64; counts.len()];
        for count in types.iter().flat_map(|open| &open.kind.counts) {
            let count = *count as usize;
            if factors[count] == 0 {
                factors[count] = next;
                next = next.checked_mul(u128::from(counts[count]) + 1)?;
            }
        }
        for open in types {
            let counts = open.kind.counts.iter();
            counts.for_each(|count| ahead[*count as usize] += open.bounds.1);
        }
        let used = |count: usize| factors[count] * u128::from(counts[count]);
        let mut states: Vec<u128> = vec![(0..counts.len()).map(used).sum()];
        let mut layers = Vec::with_capacity(types.len());
        for open in types {
            let counted: Vec<usize> =
                open.kind.counts.iter().map(|count| *count as usize).collect();
            let unit: u128 = counted.iter().map(|count| factors[*count]).sum();
            counted.iter().for_each(|count| ahead[*count] -= open.bounds.1);
            let mut layer = Layer { states: Vec::new(), targets: Vec::new() };
            let mut index: HashMap<u128, u32> = HashMap::new();
            let mut found = Vec::new();
            for (place, state) in states.into_iter().enumerate() {
                if place % CHECKED_EVERY == 0 && watch.is_cancelled() {
                    return None;
                }
                let (mut low, mut high) = open.bounds;
                for count in &counted {
                    let base = u128::from(counts[*count]) + 1;
                    let left = (state / factors[*count] % base) as u64;
                    low = low.max(left.saturating_sub(ahead[*count]));
                    high = high.min(left);
                }
                layer.states.push((low, layer.targets.len()));
                for x in low..=high {
                    let after = state - u128::from(x) * unit;
                    layer.targets.push(*index.entry(after).or_insert_with(|| {
                        found.push(after);
                        found.len() as u32 - 1
                    }));
                }
                *steps = steps.checked_sub((high + 1).saturating_sub(low) as usize)?;
            }
            layers.push(layer);
            states = found;
        }
        Some(Self { layers })
    }

    /// For each type the share of worlds, and the logarithm of their number; nothing if
    /// there is no world.
    fn shares(&self, types: &[OpenType<'_>]) -> Option<(Vec<Share>, f64)> {
        if let Some((all, sums)) = self.sums::<u128>(types) {
            let people = types.iter().map(|open| u128::from(open.kind.people));
            let wholes: Option<Vec<u128>> =
                people.map(|people| all.checked_mul(people)).collect();
            if let (Some(wholes), true) = (wholes, all > 0) {
                let sums = sums.iter().zip(wholes);
                let shares = sums.map(|(sum, whole)| Share::ratio(*sum, whole));
                return Some((shares.collect(), (all as f64).ln()));
            }
            if all == 0 {
                return None;
            }
        }
        let (all, sums) = self.sums::<Scaled>(types)?;
        if all == Scaled::NONE {
            return None;
        }
        let sums = sums.iter().zip(types);
        let share = |(sum, open): (&Scaled, &OpenType<'_>)| {
            let share = sum.ratio(all) / open.kind.people as f64;
            Share::Near(if *sum == Scaled::NONE { 0.0 } else { share })
        };
        Some((sums.map(share).collect(), all.ln()))
    }

    /// The number of worlds, and for each type the sum of its people over all worlds.
    fn sums<W: Ways>(&self, types: &[OpenType<'_>]) -> Option<(W, Vec<W>)> {
        let weights: Option<Vec<Vec<W>>> = types
            .iter()
            .map(|open| choices(open.kind.people, open.bounds.0, open.bounds.1))
            .collect();
        let weights = weights?;
        // From the end: in how many ways each state is completed.
        let mut completed: Vec<Vec<W>> = vec![vec![W::ONE]];
        for ((layer, weights), open) in
            self.layers.iter().zip(&weights).zip(types).rev()
        {
            let after = completed.last()?;
            let ways = |state: usize| {
                let mut sum = W::NONE;
                for (x, target) in layer.choices(state) {
                    let weight = weights[(x - open.bounds.0) as usize];
                    sum = sum.plus(weight.times(*after.get(target as usize)?)?)?;
                }
                Some(sum)
            };
            let ways: Option<Vec<W>> = (0..layer.states.len()).map(ways).collect();
            completed.push(ways?);
        }
        completed.reverse();
        // From the beginning: in how many ways each state comes about.
        let mut ways = vec![W::ONE];
        let mut sums = Vec::with_capacity(types.len());
        for (place, (layer, weights)) in self.layers.iter().zip(&weights).enumerate() {
            let after = &completed[place + 1];
            let mut next = vec![W::NONE; after.len()];
            let mut sum = W::NONE;
            for (state, ways) in ways.iter().enumerate() {
                for (x, target) in layer.choices(state) {
                    let weight = weights[(x - types[place].bounds.0) as usize];
                    let here = ways.times(weight)?;
                    let target = target as usize;
                    next[target] = next[target].plus(here)?;
                    if x > 0 {
                        let people = here.times(after[target])?.times(W::of(x))?;
                        sum = sum.plus(people)?;
                    }
                }
            }
            sums.push(sum);
            ways = next;
        }
        Some((*completed.first()?.first()?, sums))
    }
}

impl Layer {
    /// The numbers of people that are possible in a state, and the states they lead to.
    fn choices(&self, state: usize) -> impl Iterator<Item = (u64, u32)> + '_ {
        let (low, start) = self.states[state];
        let end = self.states.get(state + 1).map_or(self.targets.len(), |next| next.1);
        (low..).zip(self.targets[start..end].iter().copied())
    }
}

#[cfg(test)]
#[path = "worlds_tests.rs"]
mod tests;
