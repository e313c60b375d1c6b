//! One look at a finer node: how likely it is refused although it keeps the promises, so
//! that a refusal tells nothing harmful.
//!
//! Groups of the node that is published so far are *parts*: how many people each has and
//! how many of them are in the table is public. The finer node parts them into groups g of
//! N people, of whom X are in the table. It is refused for certain if a group breaks the
//! promises, and with the chance r otherwise.
//!
//! # Guarantee
//! Given a refusal, the mean of X / N is in the range for every group of the finer node.
//!
//! *Proof.* Write K for "all groups keep the promises" and B for "some do not". The mean is
//! at most max exactly if `E(X - max N; B) <= r E(max N - X; K)`. If all groups keep the
//! promises X is at most max N, so the right side is not negative, grows with r, and the
//! least r that will do is a quotient; likewise for min. r is the largest of all groups and
//! both sides; more than is needed does no harm.
//! Parts are independent given their rows. With Q the chance that all other parts keep the
//! promises, and K', B' about the group's own part: `E(.; K) = Q E(.; K')` and
//! `E(.; B) = E(.; B') + (1 - Q) E(.; K')`. So r is at least
//! `E(X - max N; B') / E(max N - X; K') / Q - (1 / Q - 1)`. ∎
//!
//! Within a part, rows of groups are independent binomials given their sum, whatever the
//! common probability; sums over everything else are convolutions.
//!
//! *Rounding.* All weights are sums of products of positive numbers, so they are right up to
//! a relative error that is bounded by how many operations there are ([`Part::error`]); what
//! harms is taken at its most, what helps at its least, the chance is rounded up. Numbers of
//! rows that are too unlikely to be computed are taken to break the promises and to harm as
//! much as any can ([`Part::lost`]).
//!
//! # Cost
//! O(rows N log s) for a part of N people whose groups have s different sizes, at most.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::decimal::Decimal;

/// A share of one, as a [`Decimal`] counts.
const ONE: f64 = 1e12;

/// Numbers of rows less likely than this, where the likeliest has 1, are not computed.
const TINY: f64 = 1e-45;

/// A probability: so many parts in 2^64.
pub(super) type Chance = u64;

/// A group of the node that is published so far, and the groups it would fall into.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) people: u64,
    pub(super) rows: u64,
    /// How many groups have so many people.
    pub(super) sizes: BTreeMap<u64, u64>,
}

/// What must hold of a group.
pub(super) struct Rule<'a> {
    pub(super) range: (Decimal, Decimal),
    /// Whether so many rows and people keep all promises.
    pub(super) keeps: &'a (dyn Fn(u64, u64) -> bool + Sync),
}

/// How a node is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LevelLook {
    /// How likely it is that the node is accepted.
    pub(super) accept: f64,
    /// How likely it is refused though it keeps the promises.
    pub(super) chance: Chance,
}

impl LevelLook {
    /// How to look at a node that parts `parts`, from what is public; nothing if no look at
    /// it is harmless and may be accepted.
    pub(super) fn of(parts: &[Part], rule: &Rule<'_>) -> Option<Self> {
        let parts: Vec<&Part> =
            parts.iter().filter(|part| part.sizes.values().sum::<u64>() > 1).collect();
        let judged: Vec<Judged> =
            parts.par_iter().map(|part| part.judge(rule)).collect::<Option<_>>()?;
        // Logarithms of the chances to be kept, of all parts before each, and behind it.
        let sums = |ln: &dyn Fn(&Judged) -> f64| {
            let mut before = vec![0.0; judged.len() + 1];
            let mut behind = before.clone();
            for (place, part) in judged.iter().enumerate() {
                before[place + 1] = before[place] + ln(part);
            }
            for (place, part) in judged.iter().enumerate().rev() {
                behind[place] = behind[place + 1] + ln(part);
            }
            (before, behind)
        };
        let least = sums(&|part| (-part.broken * (1.0 + part.error)).ln_1p());
        let most = sums(&|part| (-part.broken * (1.0 - part.error)).ln_1p());
        let others = |sums: &(Vec<f64>, Vec<f64>), place: usize| {
            (sums.0[place] + sums.1[place + 1]) * (1.0 + 1e-12)
        };
        let mut refused = 0.0f64;
        for (place, part) in judged.iter().enumerate() {
            if part.need > 0.0 {
                let one = part.need * libm::exp(-others(&least, place));
                let all = libm::expm1(-others(&most, place)) * (1.0 - 1e-11);
                refused = refused.max(one * (1.0 + 1e-11) - all);
            }
        }
        let parts = (refused * (1.0 + 1e-11) * 2f64.powi(64)).ceil();
        if parts.is_nan() || parts >= 2f64.powi(64) {
            return None;
        }
        let kept = libm::exp(least.1[0]);
        let accept = kept * (1.0 - refused);
        (accept > 0.0).then_some(Self { accept, chance: parts as Chance })
    }
}

/// What is known of a part before looking.
struct Judged {
    /// How likely one of its groups breaks a promise.
    broken: f64,
    /// The largest quotient of what breaking harms by what refusing helps.
    need: f64,
    /// A bound on relative errors.
    error: f64,
}

impl Part {
    /// Nothing if a group breaks the promises for certain, or no refusal makes up for it.
    fn judge(&self, rule: &Rule<'_>) -> Option<Judged> {
        let error = self.error();
        if self.rows == 0 || self.rows == self.people {
            // Everybody's presence is known, and so is what every group does.
            let all = self.rows > 0;
            let mut sizes = self.sizes.keys();
            let keep = sizes.all(|n| (rule.keeps)(if all { *n } else { 0 }, *n));
            return keep.then_some(Judged { broken: 0.0, need: 0.0, error });
        }
        let classes: Vec<Class> = self
            .sizes
            .iter()
            .map(|(size, n)| Class::of(self, *size, *n, rule))
            .collect();
        let whole = classes.iter().fold(Numbers::nobody(), |sum, class| {
            sum.with(&class.rest, self.rows).with(&class.one, self.rows)
        });
        let (kept, broken) = whole.at(self.rows);
        if kept <= 0.0 {
            return None;
        }
        let mut need = 0.0f64;
        self.needs(&classes, &Numbers::nobody(), rule, &mut need);
        let broken = (broken + self.lost()) / (kept + broken);
        (need.is_finite() && broken * (1.0 + error) < 1.0).then_some(Judged {
            broken,
            need,
            error,
        })
    }

    /// A bound on the relative error of every sum of products of weights: each number of a
    /// convolution is rounded as often as numbers are added to it, and no group has more
    /// than its people.
    fn error(&self) -> f64 {
        let groups: u64 = self.sizes.values().sum();
        let operations = self.people + 8 * groups + 64 * (self.rows + 8);
        16.0 * operations as f64 * f64::EPSILON
    }

    /// A bound on the weight of all that was too unlikely to be computed.
    fn lost(&self) -> f64 {
        self.people as f64 * TINY + 1e-200
    }

    /// Makes `need` as large as each of the classes asks for, given the weights of everybody
    /// outside of them. Halves are handed down with the other half added to what is outside.
    fn needs(
        &self,
        classes: &[Class],
        outside: &Numbers,
        rule: &Rule<'_>,
        need: &mut f64,
    ) {
        if let [class] = classes {
            let others = outside.with(&class.rest, self.rows);
            *need = need.max(self.need(class, &others, rule));
            return;
        }
        let (low, high) = classes.split_at(classes.len() / 2);
        for (half, other) in [(low, high), (high, low)] {
            let outside = other.iter().fold(outside.clone(), |sum, class| {
                sum.with(&class.rest, self.rows).with(&class.one, self.rows)
            });
            self.needs(half, &outside, rule, need);
        }
    }

    /// The larger quotient of both sides for one group; infinite if nothing helps.
    fn need(&self, class: &Class, others: &Numbers, rule: &Rule<'_>) -> f64 {
        let size = u128::from(class.size);
        let [min, max] =
            [rule.range.0, rule.range.1].map(|share| share.trillionths() * size);
        // For max and for min: harm and relief of what is broken, help of what is kept.
        let mut sides = [(0.0, 0.0, 0.0); 2];
        for (x, kept, broken) in class.one.each() {
            let Some(left) = self.rows.checked_sub(x) else { break };
            let (others_kept, others_broken) = others.at(left);
            let all_kept = kept * others_kept;
            let some_broken = (kept + broken) * others_broken + broken * others_kept;
            let x = u128::from(x) * ONE as u128;
            for (side, (beyond, within)) in sides.iter_mut().zip([
                (x.saturating_sub(max), max.saturating_sub(x)),
                (min.saturating_sub(x), x.saturating_sub(min)),
            ]) {
                side.0 += some_broken * beyond as f64;
                side.1 += some_broken * within as f64;
                side.2 += all_kept * within as f64;
            }
        }
        let (more, less) = (1.0 + self.error(), 1.0 - self.error());
        let quotient = |(harm, relief, help): (f64, f64, f64)| {
            let harm =
                harm * more - relief * less + class.size as f64 * ONE * self.lost();
            match (harm > 0.0, help > 0.0) {
                (false, _) => 0.0,
                (true, false) => f64::INFINITY,
                (true, true) => harm / (help * less),
            }
        };
        quotient(sides[0]).max(quotient(sides[1]))
    }
}

/// Groups of one size. By symmetry all ask for the same.
struct Class {
    size: u64,
    one: Numbers,
    /// All but one.
    rest: Numbers,
}

impl Class {
    fn of(part: &Part, size: u64, n: u64, rule: &Rule<'_>) -> Self {
        let one = Numbers::of(part, size, rule);
        let mut rest = Numbers::nobody();
        for _ in 1..n {
            rest = rest.with(&one, part.rows);
        }
        Self { size, one, rest }
    }
}

/// For each number of rows: how likely so many, with the promises kept, and broken.
#[derive(Debug, Clone)]
pub(super) struct Numbers {
    /// The least number.
    start: u64,
    /// Of it, and of those that follow.
    weights: Vec<(f64, f64)>,
}

impl Numbers {
    /// Of nobody.
    fn nobody() -> Self {
        Self { start: 0, weights: vec![(1.0, 0.0)] }
    }

    /// Of one group of a part.
    pub(super) fn of(part: &Part, size: u64, rule: &Rule<'_>) -> Self {
        let most = size.min(part.rows);
        let odds = part.rows as f64 / (part.people - part.rows) as f64;
        let likeliest =
            u128::from(size + 1) * u128::from(part.rows) / u128::from(part.people);
        let likeliest = (likeliest as u64).min(most);
        // P(x + 1) / P(x).
        let ratio = |x: u64| (size - x) as f64 / (x + 1) as f64 * odds;
        let (mut x, mut weight) = (likeliest, 1.0);
        let mut all = Vec::new();
        while x > 0 && weight >= TINY {
            x -= 1;
            weight /= ratio(x);
            all.push(weight);
        }
        let start = x;
        all.reverse();
        all.push(1.0);
        (x, weight) = (likeliest, 1.0);
        while x < most && weight >= TINY {
            weight *= ratio(x);
            x += 1;
            all.push(weight);
        }
        let sum: f64 = all.iter().sum();
        let split = (start..).zip(all).map(|(x, weight)| match (rule.keeps)(x, size) {
            true => (weight / sum, 0.0),
            false => (0.0, weight / sum),
        });
        Self { start, weights: split.collect() }
    }

    /// Of both together, up to `rows`. The promises are kept if both keep them.
    fn with(&self, other: &Self, rows: u64) -> Self {
        let start = self.start + other.start;
        let room = (rows + 1).saturating_sub(start) as usize;
        let both = self.weights.len() + other.weights.len();
        let n = both.saturating_sub(1).min(room);
        let mut weights = vec![(0.0, 0.0); n];
        for (x, (kept, broken)) in other.weights.iter().enumerate().take(n) {
            let sums = weights[x..].iter_mut().zip(&self.weights);
            for ((sum_kept, sum_broken), (own_kept, own_broken)) in sums {
                *sum_kept += own_kept * kept;
                *sum_broken += own_broken * (kept + broken) + own_kept * broken;
            }
        }
        Self { start, weights }
    }

    fn at(&self, rows: u64) -> (f64, f64) {
        let place = rows.checked_sub(self.start);
        let found = place.and_then(|place| self.weights.get(place as usize));
        found.copied().unwrap_or((0.0, 0.0))
    }

    /// Numbers of rows with both weights, ascending.
    pub(super) fn each(&self) -> impl Iterator<Item = (u64, f64, f64)> + '_ {
        (self.start..).zip(&self.weights).map(|(x, (kept, broken))| (x, *kept, *broken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(min: f64, max: f64) -> (Decimal, Decimal) {
        let decimal = |share| Decimal::from_f64("share", share).unwrap();
        (decimal(min), decimal(max))
    }

    fn part(sizes: &[u64], rows: u64) -> Part {
        let mut counts = BTreeMap::new();
        for size in sizes {
            *counts.entry(*size).or_default() += 1;
        }
        Part { people: sizes.iter().sum(), rows, sizes: counts }
    }

    /// All numbers of rows in groups, and in how many ways.
    fn draws(sizes: &[u64], rows: u64) -> Vec<(Vec<u64>, f64)> {
        let Some((first, rest)) = sizes.split_first() else {
            return if rows == 0 { vec![(Vec::new(), 1.0)] } else { Vec::new() };
        };
        let choose = |n: u64, k: u64| -> f64 {
            (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
        };
        let mut found = Vec::new();
        for x in 0..=rows.min(*first) {
            for (others, ways) in draws(rest, rows - x) {
                found.push(([vec![x], others].concat(), ways * choose(*first, x)));
            }
        }
        found
    }

    /// Two parts: the chance is the least that keeps the means in the range, by going
    /// through all worlds of both.
    #[test]
    fn the_chance_is_the_least_that_is_harmless() {
        let cases: [(&[u64], u64, &[u64], u64); 5] = [
            (&[1, 10], 1, &[4], 1),
            (&[2, 8, 3], 3, &[3, 3], 2),
            (&[1, 1, 2, 6], 2, &[5, 5], 2),
            (&[4, 2, 2, 1, 7], 4, &[1, 1, 8], 2),
            (&[20, 30], 12, &[9, 11], 4),
        ];
        let (mut offered, mut needed) = (0, 0);
        for (first, rows, second, others) in cases {
            for (min, max, k) in
                [(0.0, 0.3, 1), (0.0, 0.5, 1), (0.1, 0.7, 1), (0.0, 0.6, 2)]
            {
                let keeps = |rows: u64, people: u64| {
                    let share = rows as f64 / people as f64;
                    share >= min && share <= max && (rows == 0 || rows >= k)
                };
                let whole: [u64; 2] = [first.iter().sum(), second.iter().sum()];
                if !keeps(rows, whole[0]) || !keeps(others, whole[1]) {
                    continue;
                }
                let rule = Rule { range: range(min, max), keeps: &keeps };
                let sizes = [first, second].concat();
                let worlds: Vec<(Vec<u64>, f64, bool)> = draws(first, rows)
                    .into_iter()
                    .flat_map(|(one, n)| {
                        draws(second, others).into_iter().map(move |(other, m)| {
                            ([one.clone(), other].concat(), n * m)
                        })
                    })
                    .map(|(drawn, ways)| {
                        let kept = drawn.iter().zip(&sizes).all(|(x, n)| keeps(*x, *n));
                        (drawn, ways, kept)
                    })
                    .collect();
                // The worst excess over the range given a refusal, times its ways.
                let harm = |refused: f64| {
                    let share = |kept: bool| if kept { refused } else { 1.0 };
                    let mut worst = f64::NEG_INFINITY;
                    for (group, size) in sizes.iter().enumerate() {
                        let (mut above, mut below) = (0.0, 0.0);
                        for (drawn, ways, kept) in &worlds {
                            let (x, n) = (drawn[group] as f64, *size as f64);
                            above += ways * share(*kept) * (x - max * n);
                            below += ways * share(*kept) * (min * n - x);
                        }
                        worst = worst.max(above).max(below);
                    }
                    worst
                };
                let all: f64 = worlds.iter().map(|(_, ways, _)| ways).sum();
                let kept = worlds.iter().filter(|(.., kept)| *kept);
                let kept: f64 = kept.map(|(_, ways, _)| ways).sum();
                let parts = [part(first, rows), part(second, others)];
                let Some(look) = LevelLook::of(&parts, &rule) else {
                    // All must be refused, or there is nothing to accept.
                    assert!(kept == 0.0 || harm(1.0 - 1e-9) > -1e-6, "{first:?} {max}");
                    continue;
                };
                offered += 1;
                let chance = look.chance as f64 / 2f64.powi(64);
                assert!(harm(chance) <= all * 1e-9, "{first:?} {min} {max} {k}");
                let accept = kept / all * (1.0 - chance);
                assert!((look.accept - accept).abs() < 1e-6, "{look:?} {accept}");
                if chance > 1e-6 {
                    needed += 1;
                    assert!(harm(chance - 1e-6) > 0.0, "{first:?} {max}: {chance}");
                }
            }
        }
        assert!(offered >= 6 && needed >= 3, "{offered} offered, {needed} need coins");
    }

    /// One row, eleven people, at most one in ten, as for cuts.
    #[test]
    fn the_worked_example() {
        let keeps = |rows: u64, people: u64| 10 * rows <= people;
        let rule = Rule { range: range(0.0, 0.1), keeps: &keeps };
        let look = LevelLook::of(&[part(&[1, 10], 1)], &rule).unwrap();
        assert!((look.chance as f64 / 2f64.powi(64) - 0.9).abs() < 1e-9);
        assert!(u128::from(look.chance) * 10 >= 9 << 64, "never less than is needed");
        assert!(LevelLook::of(&[part(&[1, 9], 1)], &rule).is_none());
    }
}
