//! A node that fails: of some groups, how likely one breaks the promise, and what is
//! expected of its subgroups then.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::audit::attacks::reversal::SearchRule;
use crate::audit::cells::{People, binomial};
use crate::table::NodeId;
use crate::watch::Watch;

/// A group and the subgroups it falls into.
#[derive(Debug)]
pub(super) struct Finer {
    rows: u64,
    people: u64,
    /// People of the subgroup of each tuple of nodes.
    pub(super) size_of: BTreeMap<Vec<NodeId>, u64>,
    /// How many subgroups have each size.
    sizes: BTreeMap<u64, u64>,
}

impl Finer {
    pub(super) fn of(
        people: &People<'_>,
        tuples: &[u32],
        rows: u64,
        node: impl Fn(u32) -> Vec<NodeId>,
    ) -> Self {
        let mut size_of: BTreeMap<Vec<NodeId>, u64> = BTreeMap::new();
        for tuple in tuples {
            *size_of.entry(node(*tuple)).or_default() +=
                people.known.people[*tuple as usize];
        }
        Self::of_sizes(size_of, rows)
    }

    fn of_sizes(size_of: BTreeMap<Vec<NodeId>, u64>, rows: u64) -> Self {
        let mut sizes = BTreeMap::new();
        for size in size_of.values() {
            *sizes.entry(*size).or_default() += 1;
        }
        Self { rows, people: size_of.values().sum(), size_of, sizes }
    }

    /// How many multiplications its posteriors take.
    fn steps(&self) -> u64 {
        let depth = u64::from(self.sizes.len().max(1).ilog2()) + 3;
        (self.rows + 1).saturating_mul(self.people).saturating_mul(3 * depth)
    }
}

/// For each group how likely it breaks the promise, and the expected rows of subgroups.
pub(super) struct Event {
    groups: Vec<Option<Broken>>,
    pub(super) skipped: u64,
}

/// How one group may break the promise.
#[derive(Debug)]
struct Broken {
    /// How likely it does.
    chance: f64,
    /// For each size of subgroups, the expected share of people in the table if the group
    /// keeps the promise, and if it breaks it.
    shares: BTreeMap<u64, (f64, f64)>,
}

impl Event {
    /// Looks at the cheapest groups first, as many as `most_steps` allow.
    pub(super) fn of(
        finer: &[Finer],
        rule: SearchRule,
        most_steps: u64,
        watch: &dyn Watch,
    ) -> Self {
        let mut order: Vec<usize> = (0..finer.len()).collect();
        order.sort_by_key(|group| finer[*group].steps());
        let mut left = most_steps;
        let mut looked_at = vec![false; finer.len()];
        for group in order {
            let steps = finer[group].steps();
            looked_at[group] = steps <= left;
            left = left.saturating_sub(steps);
        }
        let groups: Vec<Option<Broken>> = finer
            .par_iter()
            .zip(&looked_at)
            .map(|(finer, look)| look.then(|| Broken::of(finer, rule, watch)).flatten())
            .collect();
        let skipped = looked_at.iter().filter(|look| !**look).count() as u64;
        Self { groups, skipped }
    }

    /// For each group the presence by size of subgroup, given that some group breaks the
    /// promise; nothing if none can.
    ///
    /// Groups are independent given their rows. With v the chance that group g breaks it
    /// and V that any does, g did with the probability v / V.
    pub(super) fn posteriors(
        &self,
        finer: &[Finer],
    ) -> Option<Vec<BTreeMap<u64, f64>>> {
        let kept: f64 =
            self.groups.iter().flatten().map(|group| (-group.chance).ln_1p()).sum();
        let any = -kept.exp_m1();
        if any <= 0.0 {
            return None;
        }
        let posteriors = self.groups.iter().zip(finer).map(|(group, finer)| {
            let prior = finer.rows as f64 / finer.people.max(1) as f64;
            let Some(group) = group else {
                return finer.sizes.keys().map(|size| (*size, prior)).collect();
            };
            let broke = (group.chance / any).min(1.0);
            let shares = group.shares.iter();
            let mixed = shares.map(|(size, (kept, broken))| {
                (*size, broke * broken + (1.0 - broke) * kept)
            });
            mixed.collect()
        });
        Some(posteriors.collect())
    }

    /// The same, given that the node failed, or else was refused with the least chance that
    /// brings everybody back into the range; nothing if it cannot fail.
    ///
    /// With V the chance that it fails and r that of a refusal else, presence is a mean of
    /// what it is in both cases, by the weights V and r (1 - V).
    pub(super) fn refused_by_coins(
        &self,
        finer: &[Finer],
        rule: SearchRule,
    ) -> Option<Vec<BTreeMap<u64, f64>>> {
        let mut failed = self.posteriors(finer)?;
        let kept: f64 =
            self.groups.iter().flatten().map(|group| (-group.chance).ln_1p()).sum();
        let fails = -kept.exp_m1();
        let (min, max) = (rule.range.min.to_f64(), rule.range.max.to_f64());
        // The belief of a group's people if the node keeps the promises.
        let keeping = |group: usize, size: u64, failed: f64| {
            let group = self.groups[group].as_ref();
            group.and_then(|g| g.shares.get(&size)).map_or(failed, |(kept, _)| *kept)
        };
        let mut refused = 0.0f64;
        for (group, beliefs) in failed.iter().enumerate() {
            for (size, belief) in beliefs {
                let kept = keeping(group, *size, *belief);
                let (harm, help) = match *belief > max {
                    true => (belief - max, max - kept),
                    false => (min - belief, kept - min),
                };
                if harm > 0.0 {
                    refused = refused.max(harm / help.max(0.0));
                }
            }
        }
        // In parts of the chance that it fails; no more than all is refused.
        let refused = refused.min((1.0 - fails) / fails);
        for (group, beliefs) in failed.iter_mut().enumerate() {
            for (size, belief) in beliefs {
                let kept = keeping(group, *size, *belief);
                *belief = (*belief + refused * kept) / (1.0 + refused);
            }
        }
        Some(failed)
    }
}

/// For each number of rows: how likely so many, with the promise kept, and with it broken.
///
/// The rows of subgroups are independent binomials given their sum, whatever the common
/// probability; with rows / people the sum is likely, so nothing becomes too small.
#[derive(Debug, Clone)]
struct RowWeights {
    kept: Vec<f64>,
    broken: Vec<f64>,
}

impl RowWeights {
    /// Of nobody.
    fn nobody() -> Self {
        Self { kept: vec![1.0], broken: vec![0.0] }
    }

    /// Of one subgroup.
    fn of(size: u64, p: f64, rows: u64, rule: SearchRule) -> Self {
        let all = binomial(size, p, rows);
        let split = (0u64..).zip(all).map(|(x, weight)| match rule.keeps(x, size) {
            true => (weight, 0.0),
            false => (0.0, weight),
        });
        let (kept, broken) = split.unzip();
        Self { kept, broken }
    }

    /// Of both together, up to `rows`. The promise is kept if both keep it.
    fn with(&self, other: &Self, rows: u64) -> Self {
        let n = (self.kept.len() + other.kept.len() - 1).min(rows as usize + 1);
        let (mut kept, mut broken) = (vec![0.0; n], vec![0.0; n]);
        for (x, (k, b)) in other.kept.iter().zip(&other.broken).enumerate() {
            if *k + *b == 0.0 {
                continue;
            }
            let width = n.saturating_sub(x).min(self.kept.len());
            let sums = kept[x.min(n)..].iter_mut().zip(&mut broken[x.min(n)..]);
            for ((kept, broken), (own_k, own_b)) in
                sums.zip(self.kept[..width].iter().zip(&self.broken[..width]))
            {
                *kept += own_k * k;
                *broken += own_b * (k + b) + own_k * b;
            }
        }
        Self { kept, broken }
    }

    /// Of so many like this one; nothing if it is no longer wanted.
    fn times(&self, n: u64, rows: u64, watch: &dyn Watch) -> Option<Self> {
        let mut all = Self::nobody();
        for _ in 0..n {
            if watch.is_cancelled() {
                return None;
            }
            all = all.with(self, rows);
        }
        Some(all)
    }

    fn at(&self, rows: u64) -> (f64, f64) {
        let of = |weights: &[f64]| weights.get(rows as usize).copied().unwrap_or(0.0);
        (of(&self.kept), of(&self.broken))
    }
}

impl Broken {
    /// Nothing if it is no longer wanted.
    fn of(finer: &Finer, rule: SearchRule, watch: &dyn Watch) -> Option<Self> {
        let prior = finer.rows as f64 / finer.people.max(1) as f64;
        if finer.rows == 0 || finer.rows == finer.people {
            // Everybody's presence is certain, and so is what every subgroup does.
            let kept = finer
                .sizes
                .keys()
                .all(|size| rule.keeps(if finer.rows == 0 { 0 } else { *size }, *size));
            let shares = finer.sizes.keys().map(|size| (*size, (prior, prior)));
            let chance = if kept { 0.0 } else { 1.0 };
            return Some(Self { chance, shares: shares.collect() });
        }
        let classes: Vec<Subgroups> = finer
            .sizes
            .iter()
            .map(|(size, n)| {
                let one = RowWeights::of(*size, prior, finer.rows, rule);
                let rest = one.times(n - 1, finer.rows, watch)?;
                let all = rest.with(&one, finer.rows);
                Some(Subgroups { size: *size, all, one, rest })
            })
            .collect::<Option<_>>()?;
        let whole = classes
            .iter()
            .fold(RowWeights::nobody(), |sum, class| sum.with(&class.all, finer.rows));
        let (kept, broken) = whole.at(finer.rows);
        let mut shares = BTreeMap::new();
        let outside = RowWeights::nobody();
        expect(&classes, &outside, finer.rows, prior, &mut shares, watch);
        Some(Self { chance: broken / (kept + broken), shares })
    }
}

/// The subgroups of one size. By symmetry all have the same expected rows.
struct Subgroups {
    size: u64,
    one: RowWeights,
    /// All but one.
    rest: RowWeights,
    all: RowWeights,
}

/// Expected shares of each class, given the weights of everybody outside `classes`. Halves
/// are handed down with the other half added to what is outside.
fn expect(
    classes: &[Subgroups],
    outside: &RowWeights,
    rows: u64,
    prior: f64,
    shares: &mut BTreeMap<u64, (f64, f64)>,
    watch: &dyn Watch,
) {
    if watch.is_cancelled() {
        return;
    }
    if let [class] = classes {
        let others = outside.with(&class.rest, rows);
        // Weight, and weight times rows of the one, for promise kept and broken.
        let (mut kept, mut broken) = ((0.0, 0.0), (0.0, 0.0));
        for (x, (k, b)) in (0u64..).zip(class.one.kept.iter().zip(&class.one.broken)) {
            let Some(left) = rows.checked_sub(x) else { break };
            let (others_k, others_b) = others.at(left);
            let (now_k, now_b) = (k * others_k, (k + b) * others_b + b * others_k);
            kept = (kept.0 + now_k, kept.1 + x as f64 * now_k);
            broken = (broken.0 + now_b, broken.1 + x as f64 * now_b);
        }
        let share = |(weight, sum): (f64, f64)| {
            if weight > 0.0 { sum / weight / class.size as f64 } else { prior }
        };
        shares.insert(class.size, (share(kept), share(broken)));
        return;
    }
    let (low, high) = classes.split_at(classes.len() / 2);
    for (half, other) in [(low, high), (high, low)] {
        if half.is_empty() {
            continue;
        }
        let outside =
            other.iter().fold(outside.clone(), |sum, class| sum.with(&class.all, rows));
        expect(half, &outside, rows, prior, shares, watch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::attacks::reversal::tests::{draws, rule};
    use crate::watch::Unwatched;

    fn finer(sizes: &[u64], rows: u64) -> Finer {
        let nodes = NodeId::first(sizes.len());
        let nodes = nodes.map(|node| vec![node]);
        Finer::of_sizes(nodes.zip(sizes.iter().copied()).collect(), rows)
    }

    /// Two groups of people in parts, and every world of both.
    #[test]
    fn posteriors_are_those_of_all_worlds() {
        let cases: [(&[u64], u64, &[u64], u64); 4] = [
            (&[2, 8], 2, &[3, 3], 2),
            (&[1, 1, 2, 3], 4, &[5], 2),
            (&[4, 2, 2, 1], 3, &[1, 1, 1, 1], 2),
            (&[3, 3], 6, &[2, 4], 1),
        ];
        let rules = [(0.0, 0.3, 1), (0.25, 0.75, 1), (0.0, 1.0, 2), (0.3, 0.5, 1)];
        for (first, rows, second, more_rows) in cases {
            for (min, max, k) in rules {
                let rule = rule(min, max, k);
                let groups = [finer(first, rows), finer(second, more_rows)];
                let found =
                    Event::of(&groups, rule, u64::MAX, &Unwatched).posteriors(&groups);
                let mut ways = 0.0;
                let mut sums = vec![0.0; first.len()];
                let keeps = |drawn: &[u64], sizes: &[u64]| {
                    drawn.iter().zip(sizes).all(|(x, n)| rule.keeps(*x, *n))
                };
                for (drawn, n) in draws(first, rows) {
                    for (others, m) in draws(second, more_rows) {
                        if keeps(&drawn, first) && keeps(&others, second) {
                            continue;
                        }
                        ways += n * m;
                        for (sum, x) in sums.iter_mut().zip(&drawn) {
                            *sum += n * m * *x as f64;
                        }
                    }
                }
                assert_eq!(found.is_some(), ways > 0.0, "{first:?} {min} {max}");
                let Some(found) = found else { continue };
                for (size, sum) in first.iter().zip(sums) {
                    let wanted = sum / ways / *size as f64;
                    let belief = found[0][size];
                    assert!((belief - wanted).abs() < 1e-10, "{belief} {wanted}");
                }
            }
        }
    }

    #[test]
    fn what_costs_too_much_is_skipped_and_says_nothing() {
        let rule = rule(0.0, 0.3, 1);
        let groups = [finer(&[2, 8], 2), finer(&[200, 800], 200)];
        let event = Event::of(&groups, rule, groups[0].steps(), &Unwatched);
        assert_eq!(event.skipped, 1);
        let found = event.posteriors(&groups).expect("the small group breaks it");
        assert!((found[0][&2] - 9.0 / 17.0).abs() < 1e-12);
        assert_eq!(found[1][&200], 0.2);
    }
}
