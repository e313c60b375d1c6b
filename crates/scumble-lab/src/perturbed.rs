//! Randomized columns: frequencies, draws, and frequencies found again.

use rand::{Rng, RngExt};
use scumble::error::Result;
use scumble::method::perturb::partition::{
    Inside, Partition, PartitionTask, partition,
};
use scumble::method::perturb::{Limits, Operator, Sampler, uniform};
use scumble::promise::{Breaches, amplification};

/// Frequencies that fall with the rank to the power `lambda`, as the source has them.
/// Values rarer than `least`, a share, are left out.
pub(crate) fn zipf(rows: u64, values: usize, lambda: f64, least: f64) -> Vec<u64> {
    let weight = |rank: usize| (rank as f64).powf(-lambda);
    let total: f64 = (1..=values).map(weight).sum();
    let shares = (1..=values).map(|rank| weight(rank) / total);
    let counts = shares.filter(|share| *share >= least);
    counts.map(|share| (share * rows as f64).round().max(1.0) as u64).collect()
}

/// For each value the largest belief after, if it is protected: it is not more frequent
/// than `prior`.
pub(crate) fn protected(
    counts: &[u64],
    prior: f64,
    posterior: f64,
) -> Vec<Option<f64>> {
    let n: u64 = counts.iter().sum();
    let share = |count: &u64| *count as f64 / n as f64;
    counts.iter().map(|count| (share(count) <= prior).then_some(posterior)).collect()
}

/// For each value how many times its frequency a belief may become, as a limit for
/// operators: `None` where any belief is allowed, since the value is common.
pub(crate) fn fine_grain_bounds(counts: &[u64], theta: f64) -> Vec<Option<(f64, f64)>> {
    let n: u64 = counts.iter().sum();
    let bound = |count: &u64| {
        let prior = *count as f64 / n as f64;
        (prior * theta < 1.0).then_some((prior, prior * theta))
    };
    counts.iter().map(bound).collect()
}

/// The limits that follow from bounds.
pub(crate) fn gammas(bounds: &[Option<(f64, f64)>]) -> Vec<f64> {
    let gamma = |bound: &Option<(f64, f64)>| {
        bound
            .map_or(f64::INFINITY, |(prior, posterior)| amplification(prior, posterior))
    };
    bounds.iter().map(gamma).collect()
}

/// Rows that are randomized within one domain.
#[derive(Debug)]
pub(crate) struct DomainRows {
    /// The values of its domain, as places among all values.
    pub(crate) codes: Vec<u32>,
    /// How many rows have each of them.
    pub(crate) counts: Vec<u64>,
    pub(crate) operator: Operator,
    /// The smallest of its limits.
    pub(crate) gamma: f64,
}

impl DomainRows {
    /// All rows, with an operator.
    pub(crate) fn whole(counts: &[u64], operator: Operator, gamma: f64) -> Self {
        let codes = (0..counts.len() as u32).collect();
        Self { codes, counts: counts.to_vec(), operator, gamma }
    }

    /// How many rows are published as each value of the domain.
    pub(crate) fn publish(&self, words: &mut impl Rng) -> Vec<u64> {
        let sampler = Sampler::new(&self.operator);
        let mut published = vec![0; self.counts.len()];
        for (original, count) in (0..).zip(&self.counts) {
            for _ in 0..*count {
                published[sampler.draw(original, words) as usize] += 1;
            }
        }
        published
    }

    /// The probability that a row is kept, if it is the same for every value.
    pub(crate) fn keep(&self) -> f64 {
        match self.operator {
            Operator::Uniform { keep, .. } => keep,
            _ => f64::NAN,
        }
    }
}

/// One table, randomized as a whole by UP. Unprotected values count for nothing.
pub(crate) fn whole(counts: &[u64], posteriors: &[Option<f64>]) -> DomainRows {
    let n: u64 = counts.iter().sum();
    let shares = counts.iter().map(|count| *count as f64 / n as f64);
    let of_protected =
        shares.zip(posteriors).filter_map(|(share, bound)| Some((share, (*bound)?)));
    // The largest belief before, and the smallest after.
    let (prior, posterior) = of_protected
        .fold((0.0_f64, 1.0_f64), |(p, q), (share, bound)| {
            (p.max(share), q.min(bound))
        });
    let gamma = amplification(prior, posterior);
    let gammas = vec![gamma; counts.len()];
    let operator = uniform(Limits { gammas: &gammas, breaches: Breaches::Upward });
    DomainRows::whole(counts, operator, gamma)
}

/// Sub-tables, each randomized by UP, and how they were found.
pub(crate) fn parts(
    counts: &[u64],
    posteriors: &[Option<f64>],
) -> Result<(Partition, Vec<DomainRows>)> {
    let found = partition(&PartitionTask {
        counts,
        posteriors,
        inside: Inside::Uniform,
        weights: None,
    })?;
    let part = found.subtables.iter().map(|table| {
        let limits = Limits { gammas: &table.gammas, breaches: Breaches::Upward };
        DomainRows {
            codes: table.values.iter().map(|value| value.get()).collect(),
            counts: table.counts.clone(),
            operator: uniform(limits),
            gamma: table.gammas.iter().copied().fold(f64::INFINITY, f64::min),
        }
    });
    let parts = part.collect();
    Ok((found, parts))
}

/// The part of each row, drawn at random so that every part gets its counts.
pub(crate) fn deal(
    rows: &[u16],
    parts: &[DomainRows],
    words: &mut impl Rng,
) -> Vec<u16> {
    let n_codes = rows.iter().max().map_or(0, |code| *code as usize + 1);
    // For each value the parts that still want rows of it, and how many.
    let mut wanted: Vec<Vec<(u16, u64)>> = vec![Vec::new(); n_codes];
    for (number, part) in (0..).zip(parts) {
        for (code, count) in part.codes.iter().zip(&part.counts) {
            if let Some(list) = wanted.get_mut(*code as usize) {
                list.push((number, *count));
            }
        }
    }
    let mut left: Vec<u64> =
        wanted.iter().map(|list| list.iter().map(|(_, count)| count).sum()).collect();
    let mut next = |code: usize| {
        let mut place = words.random_range(0..left[code]);
        left[code] -= 1;
        for (part, count) in &mut wanted[code] {
            if place < *count {
                *count -= 1;
                return *part;
            }
            place -= *count;
        }
        0
    };
    rows.iter().map(|code| next(*code as usize)).collect()
}

/// The frequencies that an operator turns into `observed` on average; `None` if several do.
pub(crate) fn found(operator: &Operator, observed: &[f64]) -> Option<Vec<f64>> {
    let size = observed.len() as f64;
    let n: f64 = observed.iter().sum();
    match operator {
        Operator::Uniform { keep, .. } => {
            let other = n * (1.0 - keep) / size;
            (*keep > 0.0)
                .then(|| observed.iter().map(|count| (count - other) / keep).collect())
        }
        Operator::FineGrain { keep } => {
            // What arrives at each value from rows that are not kept is the same.
            let lost: Vec<usize> =
                (0..keep.len()).filter(|code| keep[*code] <= 0.0).collect();
            let pairs = || observed.iter().zip(keep).filter(|(_, keep)| **keep > 0.0);
            let other = match lost[..] {
                [] => {
                    let per_keep: f64 = pairs().map(|(_, keep)| 1.0 / keep).sum();
                    let all: f64 = pairs().map(|(count, keep)| count / keep).sum();
                    (all - n) / per_keep
                }
                [code] => observed[code],
                _ => return None,
            };
            let mut found: Vec<f64> = observed
                .iter()
                .zip(keep)
                .map(|(o, keep)| if *keep > 0.0 { (o - other) / keep } else { 0.0 })
                .collect();
            if let [code] = lost[..] {
                found[code] = n - found.iter().sum::<f64>();
            }
            Some(found)
        }
        Operator::General { columns } => solved(columns, observed),
    }
}

/// Solves for the weights of `columns` that add up to `sum`, by elimination.
fn solved(columns: &[Vec<f64>], sum: &[f64]) -> Option<Vec<f64>> {
    let m = columns.len();
    let mut rows: Vec<Vec<f64>> = (0..m)
        .map(|row| columns.iter().map(|column| column[row]).chain([sum[row]]).collect())
        .collect();
    for place in 0..m {
        let largest = (place..m)
            .max_by(|a, b| rows[*a][place].abs().total_cmp(&rows[*b][place].abs()))?;
        rows.swap(place, largest);
        if rows[place][place].abs() < 1e-12 {
            return None;
        }
        let pivot = rows[place].clone();
        for (number, row) in rows.iter_mut().enumerate() {
            let times = row[place] / pivot[place];
            if number != place && times != 0.0 {
                let rest = row.iter_mut().zip(&pivot).skip(place);
                rest.for_each(|(cell, other)| *cell -= times * other);
            }
        }
    }
    Some((0..m).map(|place| rows[place][m] / rows[place][place]).collect())
}

/// The frequencies found again from one randomized table of all parts together.
pub(crate) fn estimate(
    parts: &[DomainRows],
    n_values: usize,
    words: &mut impl Rng,
) -> Option<Vec<f64>> {
    let mut sums = vec![0.0; n_values];
    for part in parts {
        let published = part.publish(words);
        let observed: Vec<f64> = published.iter().map(|count| *count as f64).collect();
        let found = found(&part.operator, &observed)?;
        for (code, count) in part.codes.iter().zip(found) {
            sums[*code as usize] += count;
        }
    }
    Some(sums)
}

/// The mean relative error over values of at least the share `least`.
pub(crate) fn mean_error(counts: &[u64], found: &[f64], least: f64) -> Option<f64> {
    let n: u64 = counts.iter().sum();
    let errors: Vec<f64> = counts
        .iter()
        .zip(found)
        .filter(|(count, _)| **count > 0 && **count as f64 >= least * n as f64)
        .map(|(count, found)| (*count as f64 - found).abs() / *count as f64)
        .collect();
    mean(&errors)
}

/// A share in percent, as the source prints them.
pub(crate) fn tenths(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The mean, if there is anything.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble::random::Randomness;

    #[test]
    fn skewed_frequencies_are_those_of_the_source() {
        let counts = zipf(300_000, 50, 3.0, 0.001);
        assert_eq!(counts.len(), 9);
        assert_eq!(zipf(300_000, 50, 1.0, 0.001).len(), 50);
        let few = zipf(600, 3, 1.0, 0.0);
        assert_eq!(few, [327, 164, 109]);
    }

    #[test]
    fn frequencies_are_found_again_from_what_is_expected() {
        let true_counts = [40.0, 30.0, 20.0, 10.0];
        let column = |keep: f64, own: usize| -> Vec<f64> {
            let other = (1.0 - keep) / 4.0;
            (0..4).map(|code| if code == own { keep + other } else { other }).collect()
        };
        let keep = vec![0.5, 0.4, 0.3, 0.2];
        let none = vec![0.5, 0.4, 0.3, 0.0];
        let general: Vec<Vec<f64>> = (0..4).map(|own| column(keep[own], own)).collect();
        for operator in [
            Operator::Uniform { keep: 0.25, size: 4 },
            Operator::FineGrain { keep },
            Operator::FineGrain { keep: none },
            Operator::General { columns: general },
        ] {
            let seen = |published| {
                let shares = true_counts.iter().enumerate();
                shares.map(|(own, n)| n * operator.entry(published, own)).sum()
            };
            let observed: Vec<f64> = (0..4).map(seen).collect();
            let found = found(&operator, &observed).unwrap();
            for (found, truth) in found.iter().zip(true_counts) {
                assert!((found - truth).abs() < 1e-9, "{operator:?} {found} {truth}");
            }
        }
        let lost = Operator::FineGrain { keep: vec![0.5, 0.0, 0.0] };
        assert!(found(&lost, &[1.0, 2.0, 3.0]).is_none());
        // docs/methods.md, "Reconstruction".
        let worked = Operator::Uniform { keep: 0.1, size: 3 };
        let found = found(&worked, &[50.0, 30.0, 20.0]).unwrap();
        for (found, truth) in found.iter().zip([200.0, 0.0, -100.0]) {
            assert!((found - truth).abs() < 1e-9, "{found} {truth}");
        }
    }

    #[test]
    fn every_part_is_dealt_its_rows() {
        let part = |codes: Vec<u32>, counts: Vec<u64>| DomainRows {
            operator: Operator::Uniform { keep: 1.0, size: codes.len() },
            codes,
            counts,
            gamma: f64::INFINITY,
        };
        let parts = [part(vec![0, 1], vec![3, 2]), part(vec![1, 2], vec![4, 5])];
        let rows: Vec<u16> = [0; 3].into_iter().chain([1; 6]).chain([2; 5]).collect();
        let mut words = Randomness::of_seed(1).stream("deal", 0);
        let dealt = deal(&rows, &parts, &mut words);
        let count = |part, code| {
            rows.iter().zip(&dealt).filter(|pair| *pair == (&code, &part)).count()
        };
        assert_eq!([count(0, 0), count(0, 1), count(0, 2)], [3, 2, 0]);
        assert_eq!([count(1, 0), count(1, 1), count(1, 2)], [0, 4, 5]);
    }
}
