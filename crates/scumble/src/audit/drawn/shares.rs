//! What the original shares are, as far as published counts and the matrix tell.
//!
//! # Guarantee
//! [`Estimate`] is unbiased, and by [`Estimate::margin`] an honest release is suspected less
//! than once in a thousand million, whatever the number of values: a sum of independent
//! draws with weights w and published counts o has a variance of at most Σ w² o, and
//! Bernstein's inequality bounds how far it strays.
//!
//! # Limits
//! A matrix without an inverse has no estimate, nor one with more than [`LARGEST`] values
//! that is given entry by entry. The variance is itself estimated.
//!
//! # Cost
//! O(m) for matrices that keep a value or draw evenly; O(m³) for the inverse of others,
//! O(m²) for a step of [`likely`].
//!
//! # Source
//! `chaytor2010randomization`; docs/methods.md, "Reconstruction".

use nalgebra::DMatrix;

use crate::audit::drawn::Matrix;

/// The largest general matrix that is inverted.
const LARGEST: usize = 500;

/// A row must not count for more: beyond that the inverse is rounding.
const WORST: f64 = 1e12;

/// Honest releases in which one is suspected wrongly.
const HONEST: f64 = 1e9;

/// Estimated counts of original values.
#[derive(Debug, Clone)]
pub(crate) struct Estimate {
    /// For each value; may be negative.
    pub(crate) counts: Vec<f64>,
    /// Their variances, rather too large than too small.
    pub(crate) variances: Vec<f64>,
    /// No row adds more to each.
    pub(crate) steps: Vec<f64>,
}

impl Estimate {
    /// By the inverse of the matrix, if it has one.
    pub(crate) fn of(matrix: &Matrix, published: &[u64]) -> Option<Self> {
        match matrix {
            Matrix::Mixed { keep, .. } => Self::of_mixed(keep, published),
            Matrix::General(rows) => Self::of_general(rows, published),
        }
    }

    /// Published counts are o = keep f + s with the same s for all values, and the f sum to
    /// the number of rows: so f = (o - s) / keep, and of the value that is kept least, which
    /// may never be kept, f is the rest. Then s = Σ part o with parts that are not negative.
    fn of_mixed(keep: &[f64], published: &[u64]) -> Option<Self> {
        let (last, least) =
            keep.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let others = || keep.iter().enumerate().filter(|(value, _)| *value != last);
        let total: f64 = others().map(|(_, keep)| 1.0 / keep).sum();
        let pivot = 1.0 + least * total;
        let mut parts = vec![(1.0 - least) / pivot; keep.len()];
        let mut last_row = vec![(1.0 + total) / pivot; keep.len()];
        for (value, keep) in others() {
            let apart = (1.0 - keep) / keep / pivot;
            (parts[value], last_row[value]) = (least * apart, -apart);
        }
        // The sum of a column of the inverse without signs.
        let column = |value: usize| {
            let own = if value == last { 0.0 } else { 1.0 / keep[value] };
            let rest = (total - own) * parts[value];
            own * (1.0 - parts[value]) + rest + last_row[value].abs()
        };
        if !(0..keep.len()).all(|value| column(value) <= WORST) {
            return None;
        }
        let square = |(part, o): (&f64, &u64)| part * part * (*o as f64 + 1.0);
        let even: f64 = parts.iter().zip(published).map(|(p, o)| p * *o as f64).sum();
        let squares: f64 = parts.iter().zip(published).map(square).sum();
        let largest = parts.iter().copied().fold(0.0, f64::max);
        let each = keep.iter().zip(&parts).zip(published);
        let (mut counts, mut variances, mut steps) = (vec![], vec![], vec![]);
        for (value, ((keep, part), o)) in each.enumerate() {
            if value == last {
                let row = || last_row.iter().zip(published);
                counts.push(row().map(|(weight, o)| weight * *o as f64).sum());
                variances.push(row().map(square).sum());
                steps.push(last_row.iter().map(|w| w.abs()).fold(0.0, f64::max));
                continue;
            }
            let o = *o as f64;
            counts.push((o - even) / keep);
            // (1 - part)² in place of part².
            let own = (1.0 - 2.0 * part) * (o + 1.0);
            variances.push((squares + own).max(0.0) / (keep * keep));
            steps.push((1.0 - part).max(largest) / keep);
        }
        Some(Self { counts, variances, steps })
    }

    fn of_general(rows: &[Vec<f64>], published: &[u64]) -> Option<Self> {
        let size = rows.len();
        if size > LARGEST {
            return None;
        }
        let matrix = DMatrix::from_fn(size, size, |row, column| rows[row][column]);
        let inverse = matrix.try_inverse()?;
        let sane = |sum: f64| sum <= WORST;
        if !inverse.column_iter().map(|column| column.lp_norm(1)).all(sane) {
            return None;
        }
        let (mut counts, mut variances, mut steps) = (vec![], vec![], vec![]);
        for value in 0..size {
            let (mut count, mut variance, mut step) = (0.0, 0.0, 0.0f64);
            for (weight, o) in inverse.row(value).iter().zip(published) {
                count += weight * *o as f64;
                variance += weight * weight * (*o as f64 + 1.0);
                step = step.max(weight.abs());
            }
            counts.push(count);
            variances.push(variance);
            steps.push(step);
        }
        Some(Self { counts, variances, steps })
    }

    /// How far the estimate of a value may be off, if `tests` values are looked at.
    pub(crate) fn margin(&self, value: usize, tests: usize) -> f64 {
        margin(self.variances[value], self.steps[value], tests)
    }
}

/// How far a sum of independent parts, of at most `step` each, strays from its mean.
pub(crate) fn margin(variance: f64, step: f64, tests: usize) -> f64 {
    let ln = (2.0 * HONEST * tests.max(1) as f64).ln();
    (2.0 * variance * ln).sqrt() + step * ln / 3.0
}

/// The likeliest shares, by Bayes again and again from the inverse.
pub(crate) fn likely(
    matrix: &Matrix,
    published: &[u64],
    estimate: Option<&Estimate>,
) -> Vec<f64> {
    let rows = published.iter().sum::<u64>() as f64;
    let size = matrix.size();
    let start = match estimate {
        // A share of zero would stay zero.
        Some(estimate) => {
            let most = rows.max(0.5);
            estimate.counts.iter().map(|count| count.clamp(0.5, most)).collect()
        }
        None => vec![1.0; size],
    };
    let mut shares = scaled(start);
    if rows == 0.0 {
        return shares;
    }
    let steps = match matrix {
        Matrix::Mixed { .. } => 200,
        Matrix::General(_) => (100_000_000 / (size * size)).clamp(3, 200),
    };
    for _ in 0..steps {
        let expected = matrix.published(&shares);
        let weights: Vec<f64> = expected
            .iter()
            .zip(published)
            .map(|(expected, o)| if *o == 0 { 0.0 } else { *o as f64 / expected })
            .collect();
        let gathered = matrix.gathered(&weights);
        let next: Vec<f64> =
            shares.iter().zip(&gathered).map(|(share, g)| share * g / rows).collect();
        let moved =
            shares.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if next.iter().any(|share| !share.is_finite()) {
            // What was published is impossible under these shares: keep the last ones.
            break;
        }
        shares = scaled(next);
        if moved < 1e-12 {
            break;
        }
    }
    shares
}

/// The same, summing to 1.
pub(super) fn scaled(mut weights: Vec<f64>) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    if total > 0.0 {
        weights.iter_mut().for_each(|weight| *weight /= total);
    }
    weights
}

/// Shares with none above its cap: what is too much goes to the others, in proportion.
pub(crate) fn capped(mut shares: Vec<f64>, caps: &[Option<f64>]) -> Vec<f64> {
    let cap = |place: usize| caps[place].unwrap_or(1.0);
    // Each round caps a value more, or is the last.
    for _ in 0..=shares.len() {
        let mut excess = 0.0;
        for (place, share) in shares.iter_mut().enumerate() {
            excess += (*share - cap(place)).max(0.0);
            *share = share.min(cap(place));
        }
        let open: Vec<usize> =
            (0..shares.len()).filter(|place| shares[*place] < cap(*place)).collect();
        if excess < 1e-12 || open.is_empty() {
            break;
        }
        let held: f64 = open.iter().map(|place| shares[*place]).sum();
        for place in &open {
            let part = match held > 1e-12 {
                true => shares[*place] / held,
                false => 1.0 / open.len() as f64,
            };
            shares[*place] += excess * part;
        }
    }
    scaled(shares)
}

#[cfg(test)]
mod capped_tests {
    use super::capped;

    #[test]
    fn what_is_too_much_goes_to_the_others() {
        let shares = capped(vec![0.9, 0.1, 0.0], &[Some(0.5), None, Some(0.2)]);
        assert_eq!(shares, [0.5, 0.5, 0.0]);
        let shares = capped(vec![1.0, 0.0, 0.0], &[Some(0.4), Some(0.4), Some(0.4)]);
        assert!(shares.iter().all(|share| *share <= 0.4 + 1e-12));
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // Caps that leave no room are a lie; shares sum to 1 all the same.
        assert_eq!(capped(vec![1.0, 0.0], &[Some(0.2), Some(0.2)]), [0.5, 0.5]);
    }
}
