//! Who is alone in the population, judged from who is alone in the table.
//!
//! # Guarantee
//! None: these are estimates by models, and named as such.
//!
//! # Limits
//! The table is taken for a random sample of the population. Pitman's model holds where groups
//! are many and small; Zayatz' takes the sizes of groups in the table for those in the
//! population, and says too much where few are sampled. Where the two are far apart, neither
//! is to be trusted.
//!
//! # Cost
//! Some ten thousand looks at the different sizes of groups.
//!
//! # Source
//! `hoshino2001applying` for Pitman's model, `zayatz1991estimation` for the other. ARX calls
//! them by the same names.

use statrs::function::gamma::ln_gamma;

/// What a model says of the rows of a table that are alone in the population.
#[derive(Debug, Clone, PartialEq)]
pub struct Uniqueness {
    /// How many people the population has.
    pub population: u64,
    /// The share of rows that nobody else in the table looks like.
    pub sample: f64,
    /// The share of rows that nobody else in the population looks like, by Pitman's model.
    pub pitman: f64,
    /// Where that share is with 95 %, if the model holds.
    pub limits: (f64, f64),
    /// The same share by Zayatz' estimator.
    pub zayatz: f64,
}

impl Uniqueness {
    /// Whether the models are so far apart that neither can be trusted.
    pub fn disagrees(&self) -> bool {
        let (low, high) = (self.pitman.min(self.zayatz), self.pitman.max(self.zayatz));
        high - low > 0.005 && high > 2.0 * low
    }
}

/// How likelihoods differ at the ends of an interval of 95 %.
const HALF_CHI_SQUARE: f64 = 1.920_7;

/// Estimates from sizes of groups, which ascend: how large, and how many groups are so.
/// Nothing if the population is no larger than the table.
pub(super) fn uniqueness(sizes: &[(u64, u64)], population: u64) -> Option<Uniqueness> {
    let rows: u64 = sizes.iter().map(|(size, n)| size * n).sum();
    if rows == 0 || population <= rows {
        return None;
    }
    let alone = sizes.first().filter(|(size, _)| *size == 1).map_or(0, |(_, n)| *n);
    let sample = alone as f64 / rows as f64;
    let (pitman, limits) = pitman(sizes, rows, population);
    // Nobody is alone in the population who is not in the table.
    let capped = |share: f64| share.min(sample);
    Some(Uniqueness {
        population,
        sample,
        pitman: capped(pitman),
        limits: (capped(limits.0), capped(limits.1)),
        zayatz: sample * zayatz(sizes, rows as f64 / population as f64),
    })
}

/// The chance that a group of one in the table is one in the population, if groups of the
/// population are as large as those of the table.
fn zayatz(sizes: &[(u64, u64)], fraction: f64) -> f64 {
    let chance =
        |size: u64| size as f64 * fraction * (1.0 - fraction).powf(size as f64 - 1.0);
    let total: f64 = sizes.iter().map(|(size, n)| *n as f64 * chance(*size)).sum();
    let ones = sizes.first().filter(|(size, _)| *size == 1);
    ones.map_or(0.0, |(_, n)| *n as f64 * chance(1) / total)
}

/// The expected share, and its limits.
fn pitman(sizes: &[(u64, u64)], rows: u64, population: u64) -> (f64, (f64, f64)) {
    let groups: u64 = sizes.iter().map(|(_, n)| n).sum();
    let (n, u) = (rows as f64, groups as f64);
    let likelihood = |theta: f64, alpha: f64| {
        let sizes = sizes.iter().map(|(size, times)| {
            *times as f64 * (ln_gamma(*size as f64 - alpha) - ln_gamma(1.0 - alpha))
        });
        (u - 1.0) * alpha.ln() + ln_gamma(theta / alpha + u)
            - ln_gamma(theta / alpha + 1.0)
            - ln_gamma(theta + n)
            + ln_gamma(theta + 1.0)
            + sizes.sum::<f64>()
    };
    // Alpha by the logarithm of its odds, theta by its logarithm.
    let at = |x: f64, y: f64| (x.exp(), 1.0 / (1.0 + (-y).exp()));
    let value = |x: f64, y: f64| {
        let (theta, alpha) = at(x, y);
        likelihood(theta, alpha)
    };
    let (mut x, mut y, mut step) = (n.ln() * 0.5, 0.0, 4.0);
    let mut best = value(x, y);
    // A pattern search: the likelihood has one top.
    while step > 1e-4 {
        let around = [(step, 0.0), (-step, 0.0), (0.0, step), (0.0, -step)]
            .into_iter()
            .chain([(step, step), (-step, -step), (step, -step), (-step, step)]);
        let found = around
            .map(|(dx, dy)| ((x + dx).clamp(-12.0, 25.0), (y + dy).clamp(-9.0, 9.0)))
            .map(|(x, y)| (value(x, y), x, y))
            .fold((best, x, y), |a, b| if b.0 > a.0 { b } else { a });
        if found.0 > best {
            (best, x, y) = found;
        } else {
            step /= 2.0;
        }
    }
    let share = |x: f64, y: f64| {
        let (theta, alpha) = at(x, y);
        let all = population as f64;
        (ln_gamma(theta + all - 1.0 + alpha) + ln_gamma(theta + 1.0)
            - ln_gamma(theta + all)
            - ln_gamma(theta + alpha))
        .exp()
        .min(1.0)
    };
    let estimate = share(x, y);
    let (mut low, mut high) = (estimate, estimate);
    // All parameters that the table does not speak against.
    for dx in -30..=30i32 {
        for dy in -30..=30i32 {
            let (x, y) = (x + f64::from(dx) * 0.1, y + f64::from(dy) * 0.05);
            if value(x, y) >= best - HALF_CHI_SQUARE {
                let share = share(x, y);
                (low, high) = (low.min(share), high.max(share));
            }
        }
    }
    (estimate, (low, high))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn sizes(groups: &BTreeMap<u64, u64>) -> Vec<(u64, u64)> {
        let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
        groups.values().for_each(|size| *sizes.entry(*size).or_default() += 1);
        sizes.into_iter().collect()
    }

    /// A population whose groups follow Pitman's law, a sample of one in ten, and which share
    /// of the sample is truly alone in the population.
    fn simulated(theta: f64, alpha: f64, seed: u64) -> (Vec<(u64, u64)>, f64) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = move || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let mut people: Vec<u64> = Vec::new();
        let mut size_of: Vec<f64> = Vec::new();
        let mut groups = 0u64;
        for n in 0..20_000 {
            let new = draw() * (theta + n as f64) < theta + alpha * groups as f64;
            if new {
                people.push(groups);
                size_of.push(1.0);
                groups += 1;
                continue;
            }
            // Somebody's group, by its size less alpha: draw until it is accepted.
            loop {
                let other = people[(draw() * n as f64) as usize];
                let size = size_of[other as usize];
                if draw() * size < size - alpha {
                    people.push(other);
                    size_of[other as usize] += 1.0;
                    break;
                }
            }
        }
        let mut all: BTreeMap<u64, u64> = BTreeMap::new();
        people.iter().for_each(|group| *all.entry(*group).or_default() += 1);
        let mut table: BTreeMap<u64, u64> = BTreeMap::new();
        // Their order is no help: one in ten by chance.
        let sample: Vec<u64> =
            people.iter().copied().filter(|_| draw() < 0.1).collect();
        sample.iter().for_each(|group| *table.entry(*group).or_default() += 1);
        let alone = sample.iter().filter(|group| all[*group] == 1).count();
        (sizes(&table), alone as f64 / sample.len() as f64)
    }

    #[test]
    fn pitman_finds_the_truth_of_its_own_populations() {
        for (seed, theta, alpha) in [(1, 300.0, 0.3), (2, 50.0, 0.6), (3, 2000.0, 0.1)]
        {
            let (sizes, truth) = simulated(theta, alpha, seed);
            let rows: u64 = sizes.iter().map(|(size, n)| size * n).sum();
            let found = uniqueness(&sizes, rows * 10).unwrap();
            let off = (found.pitman - truth).abs();
            assert!(off < 0.25 * truth + 0.01, "{found:?}, true {truth}");
            let (low, high) = found.limits;
            assert!(low <= found.pitman && found.pitman <= high);
            assert!(low - 0.02 <= truth && truth <= high + 0.02, "{found:?}, {truth}");
            assert!(
                truth < found.sample,
                "most who are alone in the table have doubles"
            );
        }
    }

    #[test]
    fn zayatz_is_exact_where_its_assumption_holds() {
        // Half of the groups are ones, half are threes; one row in two is in the table.
        let found = zayatz(&[(1, 500), (3, 500)], 0.5);
        let (one, three) = (500.0 * 0.5, 500.0 * 3.0 * 0.5 * 0.25);
        assert!((found - one / (one + three)).abs() < 1e-12);
        assert_eq!(zayatz(&[(2, 10)], 0.5), 0.0);
    }

    #[test]
    fn models_that_are_far_apart_say_so() {
        let found = |pitman, zayatz| Uniqueness {
            population: 10,
            sample: 0.5,
            pitman,
            limits: (pitman, pitman),
            zayatz,
        };
        assert!(found(0.01, 0.1).disagrees() && found(0.1, 0.01).disagrees());
        assert!(!found(0.01, 0.015).disagrees() && !found(0.0, 0.001).disagrees());
    }

    #[test]
    fn a_population_that_is_the_table_needs_no_model() {
        assert_eq!(uniqueness(&[(1, 10)], 10), None);
        assert_eq!(uniqueness(&[], 10), None);
    }
}
