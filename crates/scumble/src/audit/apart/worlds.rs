//! What somebody believes of the members of a group, over all its possible worlds.
//!
//! A world gives each of the group's values to one of its rows; it is as likely as the
//! product of what was believed of each row before. The belief that a row has a value is
//! the share of the worlds that give it the value.
//!
//! # Guarantee
//! Beliefs are those that adding up all worlds gives, but for rounding: every sum has
//! positive terms only, so the relative error stays far below 1e-10.
//!
//! *Proof.* Rows are taken one after the other. Which values are left for the others
//! depends on how often each value was given away, and on nothing else; so the worlds that
//! give row i the value v weigh, in sum over all ways s to have given away i values,
//! (all ways for the first i rows to reach s) × (what was believed of row i and v) × (all
//! ways for the rest to go on from s and v). Where rows are alike there may be fewer states
//! the other way round: values are taken one after the other, and the state is how many
//! rows of each kind have one. A way to choose kinds stands for as many worlds as there are
//! orders of the rows of each kind, which is the same number for all. ∎
//!
//! # Limits
//! With more than [`MOST_STATES`] states either way, each value is looked at alone: somebody
//! who only tells having x from not having x. That is said of the result.
//!
//! # Cost
//! O(states × values), states being the product of (count + 1) over the group's values, or
//! over its kinds of rows.
//!
//! # Source
//! `wong2010inference`; docs/methods.md, "Beliefs and possible worlds". The publisher
//! counts worlds by the kinds of rows; here it is by values wherever these are few enough.

/// More states than this are not followed.
pub(crate) const MOST_STATES: usize = 1 << 16;

/// Up to so many states rows are taken one by one, whatever the other way would cost.
const FEW_STATES: usize = 1 << 12;

/// The same for one value against all others.
const MOST_BINARY: usize = 1 << 20;

/// Probabilities that differ by no more than this share of them are the same: decimals of a
/// file, added up in another order.
const LAST_DIGITS: f64 = 1e-14;

/// What was found out about a group.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Posteriors {
    /// Beliefs: of each row, value after value.
    Beliefs(RowBeliefs),
    /// No world is possible: what was believed before is wrong.
    Impossible,
    /// Too large even for one value alone; over all worlds no belief is above the bound.
    TooLarge { bound: f64 },
}

/// Beliefs of the rows of a group.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowBeliefs {
    // Of each row, or of one that stands for all, value after value.
    shares: Vec<f64>,
    n_values: usize,
    /// How they were found.
    pub(crate) how: How,
}

/// How beliefs were found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum How {
    /// All rows are alike: each share is the value's count over the rows, exactly.
    Alike,
    /// Over all worlds.
    Worlds,
    /// Each value against all others; over all worlds no belief is above the bound.
    Binary { bound: f64 },
}

impl RowBeliefs {
    /// The belief that a row has a value, by their places.
    pub(crate) fn share(&self, row: usize, value: usize) -> f64 {
        let row = if self.how == How::Alike { 0 } else { row };
        self.shares[row * self.n_values + value]
    }

    /// The largest belief about a row.
    pub(crate) fn largest_of(&self, row: usize) -> f64 {
        (0..self.n_values).map(|value| self.share(row, value)).fold(0.0, f64::max)
    }

    /// The largest belief.
    pub(crate) fn largest(&self) -> f64 {
        self.shares.iter().copied().fold(0.0, f64::max)
    }
}

/// Room to work in, used again for every group.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    ahead: Vec<f64>,
    behind: Vec<f64>,
    room: Vec<u32>,
    layer: Vec<u32>,
    order: Vec<u32>,
    starts: Vec<usize>,
    digits: Vec<u64>,
}

/// Beliefs after a group's values became known. `priors[row * values + value]` is what was
/// believed before, one row standing for all if they are alike; `counts` says how often the
/// group has each value, all above zero and as many as rows in sum.
pub(crate) fn believe(
    priors: &[f64],
    counts: &[u64],
    scratch: &mut Scratch,
) -> Posteriors {
    let n_values = counts.len();
    let n_rows = counts.iter().sum::<u64>() as usize;
    if n_values == 0 || priors.len() < n_values {
        return Posteriors::Impossible;
    }
    let first = &priors[..n_values];
    let same = |a: &f64, b: &f64| (a - b).abs() <= LAST_DIGITS * a.max(*b);
    let alike =
        |row: &[f64]| row.iter().zip(first).all(|(prior, first)| same(prior, first));
    if priors.chunks(n_values).all(alike) {
        if first.contains(&0.0) {
            return Posteriors::Impossible;
        }
        let shares = counts.iter().map(|count| *count as f64 / n_rows as f64).collect();
        return Posteriors::Beliefs(RowBeliefs { shares, n_values, how: How::Alike });
    }
    let by_value = states(counts.iter().copied(), MOST_STATES);
    if by_value.is_some_and(|states| states <= FEW_STATES) {
        return found(fill(&evened(priors, n_values), counts, scratch), n_values);
    }
    let kinds = Kinds::of(priors, n_values);
    let by_kind = states(kinds.sizes.iter().copied(), MOST_STATES);
    match (by_value, by_kind) {
        (Some(values), kinds) if kinds.is_none_or(|kinds| values <= kinds) => {
            found(fill(&evened(priors, n_values), counts, scratch), n_values)
        }
        (_, Some(_)) => found(kinds.fill(priors, counts, scratch), n_values),
        _ => one_by_one(priors, counts, scratch),
    }
}

fn found(shares: Option<Vec<f64>>, n_values: usize) -> Posteriors {
    let found =
        |shares| Posteriors::Beliefs(RowBeliefs { shares, n_values, how: How::Worlds });
    shares.map_or(Posteriors::Impossible, found)
}

/// How many states there are, if not too many.
fn states(sizes: impl Iterator<Item = u64>, most: usize) -> Option<usize> {
    let mut product = 1usize;
    for size in sizes {
        let radix = usize::try_from(size).ok()?.checked_add(1)?;
        product = product.checked_mul(radix).filter(|product| *product <= most)?;
    }
    Some(product)
}

/// The same weights with the largest of each value at 1: worlds all have the same values, so
/// this changes their weights by the same factor.
fn evened(priors: &[f64], n_values: usize) -> Vec<f64> {
    let mut largest = vec![0.0f64; n_values];
    for row in priors.chunks(n_values) {
        for (largest, prior) in largest.iter_mut().zip(row) {
            *largest = largest.max(*prior);
        }
    }
    let scaled = |(place, prior): (usize, &f64)| match largest[place % n_values] {
        0.0 => 0.0,
        most => prior / most,
    };
    priors.iter().enumerate().map(scaled).collect()
}

/// Items go one by one into bins, which they fill; `weights[item * bins + bin]`, and a way to
/// do it weighs as much as its weights multiplied. The share of the ways in which each item
/// is in each bin; nothing if there is no way.
fn fill(weights: &[f64], sizes: &[u64], scratch: &mut Scratch) -> Option<Vec<f64>> {
    let n_bins = sizes.len();
    let n_items = weights.len() / n_bins;
    let mut strides = Vec::with_capacity(n_bins);
    let mut n_states = 1usize;
    for size in sizes {
        strides.push(n_states);
        n_states *= *size as usize + 1;
    }
    scratch.number(sizes, n_states, n_items);
    let Scratch { ahead, behind, room, order, starts, .. } = scratch;
    let bins = |room: u32| {
        let next = move |left: u32| (left & (left - 1) != 0).then(|| left & (left - 1));
        let bits =
            std::iter::successors((room != 0).then_some(room), move |r| next(*r));
        bits.map(|left| left.trailing_zeros() as usize)
    };
    ahead.clear();
    ahead.resize(n_states, 0.0);
    ahead[0] = 1.0;
    for item in 0..n_items {
        let layer = &order[starts[item]..starts[item + 1]];
        scale(ahead, layer)?;
        let weights = &weights[item * n_bins..(item + 1) * n_bins];
        for state in layer.iter().map(|state| *state as usize) {
            let mass = ahead[state];
            if mass > 0.0 {
                for bin in bins(room[state]) {
                    ahead[state + strides[bin]] += mass * weights[bin];
                }
            }
        }
    }
    behind.clear();
    behind.resize(n_states, 0.0);
    behind[n_states - 1] = 1.0;
    let mut shares = vec![0.0; weights.len()];
    for item in (0..n_items).rev() {
        let layer = &order[starts[item]..starts[item + 1]];
        let range = item * n_bins..(item + 1) * n_bins;
        let (weights, shares) = (&weights[range.clone()], &mut shares[range]);
        for state in layer.iter().map(|state| *state as usize) {
            let mut sum = 0.0;
            for bin in bins(room[state]) {
                let mass = weights[bin] * behind[state + strides[bin]];
                shares[bin] += ahead[state] * mass;
                sum += mass;
            }
            behind[state] = sum;
        }
        scale(behind, layer)?;
        let all: f64 = shares.iter().sum();
        if !(all > 0.0 && all.is_finite()) {
            return None;
        }
        shares.iter_mut().for_each(|share| *share /= all);
    }
    Some(shares)
}

/// Makes the largest of these masses 1, so that none of them vanishes; nothing if all did.
/// Shares of a layer do not depend on its scale.
fn scale(masses: &mut [f64], layer: &[u32]) -> Option<()> {
    let largest = layer.iter().map(|state| masses[*state as usize]).fold(0.0, f64::max);
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    for state in layer {
        masses[*state as usize] /= largest;
    }
    Some(())
}

impl Scratch {
    /// Numbers the states: which bins have room in each, and which states there are after
    /// each number of items.
    fn number(&mut self, sizes: &[u64], n_states: usize, n_items: usize) {
        self.room.clear();
        self.layer.clear();
        self.digits.clear();
        self.digits.resize(sizes.len(), 0);
        self.starts.clear();
        self.starts.resize(n_items + 2, 0);
        let full = sizes.iter().enumerate().filter(|(_, size)| **size > 0);
        let mut room = full.fold(0u32, |room, (bin, _)| room | 1 << bin);
        let mut held = 0u64;
        for _ in 0..n_states {
            self.room.push(room);
            self.layer.push(held as u32);
            self.starts[held as usize + 1] += 1;
            for (bin, size) in sizes.iter().enumerate() {
                let digit = &mut self.digits[bin];
                if *digit < *size {
                    *digit += 1;
                    held += 1;
                    if *digit == *size {
                        room &= !(1 << bin);
                    }
                    break;
                }
                held -= *digit;
                *digit = 0;
                if *size > 0 {
                    room |= 1 << bin;
                }
            }
        }
        for item in 0..=n_items {
            self.starts[item + 1] += self.starts[item];
        }
        self.order.clear();
        self.order.resize(n_states, 0);
        let mut next = self.starts.clone();
        for (state, layer) in (0u32..).zip(&self.layer) {
            self.order[next[*layer as usize]] = state;
            next[*layer as usize] += 1;
        }
    }
}

/// Rows of which the same was believed before.
struct Kinds {
    of_row: Vec<usize>,
    sizes: Vec<u64>,
    // A row of each kind.
    examples: Vec<usize>,
}

impl Kinds {
    fn of(priors: &[f64], n_values: usize) -> Self {
        let row = |row: usize| &priors[row * n_values..(row + 1) * n_values];
        let n_rows = priors.len() / n_values;
        let mut rows: Vec<usize> = (0..n_rows).collect();
        let compare = |a: usize, b: usize| {
            let pairs = row(a).iter().zip(row(b));
            let differing = pairs.map(|(a, b)| a.total_cmp(b));
            differing.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        };
        rows.sort_by(|a, b| compare(*a, *b).then(a.cmp(b)));
        let mut kinds =
            Self { of_row: vec![0; n_rows], sizes: Vec::new(), examples: Vec::new() };
        for (place, this) in rows.iter().enumerate() {
            let known = place > 0 && row(rows[place - 1]) == row(*this);
            match kinds.sizes.last_mut() {
                Some(size) if known => *size += 1,
                _ => {
                    kinds.sizes.push(1);
                    kinds.examples.push(*this);
                }
            }
            kinds.of_row[*this] = kinds.sizes.len() - 1;
        }
        kinds
    }

    /// Beliefs by taking the values one after the other; equal ones are told apart.
    fn fill(
        &self,
        priors: &[f64],
        counts: &[u64],
        scratch: &mut Scratch,
    ) -> Option<Vec<f64>> {
        let (n_values, n_kinds) = (counts.len(), self.sizes.len());
        let priors = evened(priors, n_values);
        let items = counts.iter().enumerate();
        let items = items.flat_map(|(value, n)| (0..*n).map(move |_| value));
        let items: Vec<usize> = items.collect();
        let weights: Vec<f64> = items
            .iter()
            .flat_map(|value| {
                self.examples.iter().map(|row| priors[*row * n_values + *value])
            })
            .collect();
        let placed = fill(&weights, &self.sizes, scratch)?;
        let mut of_kind = vec![0.0; n_kinds * n_values];
        for (value, placed) in items.iter().zip(placed.chunks(n_kinds)) {
            for (kind, share) in placed.iter().enumerate() {
                of_kind[kind * n_values + *value] += share / self.sizes[kind] as f64;
            }
        }
        let rows = self.of_row.iter();
        let shares =
            rows.flat_map(|kind| &of_kind[kind * n_values..(kind + 1) * n_values]);
        Some(shares.copied().collect())
    }
}

/// Each value against all others: how many rows have it is known, and nothing else.
fn one_by_one(priors: &[f64], counts: &[u64], scratch: &mut Scratch) -> Posteriors {
    let n_values = counts.len();
    let n_rows = priors.len() / n_values;
    let mut shares = vec![0.0; priors.len()];
    for (value, count) in counts.iter().enumerate() {
        let sizes = [*count, n_rows as u64 - count];
        if states(sizes.into_iter(), MOST_BINARY).is_none() {
            return Posteriors::TooLarge { bound: bound(priors, counts) };
        }
        let of_rows = priors.iter().skip(value).step_by(n_values);
        let weights: Vec<f64> =
            of_rows.flat_map(|prior| [*prior, (1.0 - prior).max(0.0)]).collect();
        let Some(found) = fill(&weights, &sizes, scratch) else {
            return Posteriors::Impossible;
        };
        for (row, pair) in found.chunks(2).enumerate() {
            shares[row * n_values + value] = pair[0];
        }
    }
    let how = How::Binary { bound: bound(priors, counts) };
    Posteriors::Beliefs(RowBeliefs { shares, n_values, how })
}

/// What no belief is above, over all worlds.
///
/// Let the rows of a world in which row t has x swap values with t, one at a time, unless
/// they have x, too: n - c of n rows, if c have x. Row u, who had y, makes the world
/// p(t : y) p(u : x) / (p(t : x) p(u : y)) times as likely, at least q(x) q(y), where q is
/// the least over the largest belief in a value. Each world in which t does not have x comes
/// of c such swaps. So worlds without are at least (n - c) / c q(x) q(y) times as likely as
/// those with.
fn bound(priors: &[f64], counts: &[u64]) -> f64 {
    let n_values = counts.len();
    let n_rows = (priors.len() / n_values.max(1)) as u64;
    let mut low = vec![f64::INFINITY; n_values];
    let mut high = vec![0.0f64; n_values];
    for row in priors.chunks(n_values) {
        for (value, prior) in row.iter().enumerate() {
            low[value] = low[value].min(*prior);
            high[value] = high[value].max(*prior);
        }
    }
    let q = |value: usize| match high[value] > 0.0 {
        true => low[value] / high[value],
        false => 0.0,
    };
    let mut all = 0.0f64;
    for (value, count) in counts.iter().enumerate() {
        let others = (0..n_values).filter(|other| *other != value).map(q);
        let least = others.fold(f64::INFINITY, f64::min);
        let without = match least.is_finite() {
            true => (n_rows - count) as f64 / *count as f64 * q(value) * least,
            false => 0.0,
        };
        all = all.max(1.0 / (1.0 + without));
    }
    all
}

#[cfg(test)]
#[path = "worlds_tests.rs"]
mod tests;
