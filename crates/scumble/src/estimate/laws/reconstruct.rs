//! Reconstruction: how many rows had each value, going by how many were published with it.
//!
//! # Guarantee
//! *Inverse*: unbiased, whatever the truth. *Iterative*: of all counts that are not
//! negative and add up to the rows, those that make what was published most likely, up to
//! [`LIKELIHOOD_GAP`] of log-likelihood. *Simplex*: of all such counts, those nearest to the
//! inverse, where each count is measured in its own standard errors: `sum (x - y)² / v`, with
//! `v` the variance of the inverse `y`. What is too much is taken from those that are least
//! certain, `x = max(0, y - t v)`; otherwise a count with a large error would take all of it
//! from one with a small error.
//!
//! Noise is independent from row to row, so the published counts have the covariance
//! `sum_k f_k (diag(P_k) - P_k P_k^T)`, and the inverse has `P^-1` of that on both sides.
//! Where the true counts `f` stand in it, those of the inverse are taken, negative ones and
//! all: they are right on average, and what is cut off at zero is not. Written out,
//! the variance of a sum over the values of a set is the sum over rows of the squares of
//! their weights, less the rows in the set.
//!
//! Iterative and simplex counts come with the standard errors of the inverse, and with its
//! counts, because the errors belong around these. For the simplex they bound the whole
//! error, each count measured in its own: the truth lies in the simplex, and going to the
//! nearest point of a convex set brings nobody in the set further away. If the inverse has no
//! negative count, the three are the same.
//!
//! # Limits
//! Iterative and simplex counts lean towards the inside where true counts are near zero.
//! Standard errors are those of noise alone: the rows are taken as they are, not as a
//! sample of anything. If a matrix cannot be inverted, only iterative counts are left, and
//! these without an error: some truths cannot be told apart.
//!
//! # Cost
//! One solution of the matrix for inverse and simplex, and a sort; for iterative two
//! products with the matrix a round, at most [`MOST_ROUNDS`].
//!
//! # Source
//! docs/methods.md, "Reconstruction". The stopping rule: log-likelihood is concave with
//! gradient `g`, so no possible counts are better than the present ones by more than
//! `n (max g - 1)`.

use crate::error::Result;
use crate::estimate::laws::joint::{Joint, JointInverse};
use crate::watch::{Unwatched, Watch};

/// How far below its maximum the log-likelihood may stay.
pub const LIKELIHOOD_GAP: f64 = 1e-7;

/// The most rounds of the iterative way.
pub const MOST_ROUNDS: usize = 100_000;

/// How counts are reconstructed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    /// By the inverse matrix. Unbiased; counts can be negative.
    #[default]
    Inverse,
    /// The most likely counts, found by iterative Bayesian updates.
    Iterative,
    /// The possible counts nearest to those of the inverse.
    Simplex,
}

/// Reconstructed counts.
#[derive(Debug, Clone)]
pub struct Reconstruction<'a> {
    /// For each value, how many rows had it.
    pub counts: Vec<f64>,
    /// The same by the inverse, whatever the way; nothing if the matrix cannot be inverted.
    pub unbiased: Option<Vec<f64>>,
    /// How far they may be off; nothing if the matrix cannot be inverted.
    pub spread: Option<ErrorTerms<'a>>,
}

/// What standard errors are made of.
#[derive(Debug, Clone)]
pub struct ErrorTerms<'a> {
    inverse: JointInverse<'a>,
    // The counts taken for true: those of the inverse, which are right on average.
    true_counts: Vec<f64>,
    // What would be published of them on average: what was.
    expected: Vec<f64>,
}

/// What the variance of a sum of reconstructed counts is made of.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct VarianceTerms {
    /// The expected sum over rows of the squares of their weights.
    pub squares: f64,
    /// The expected rows in the set.
    pub rows: f64,
}

impl VarianceTerms {
    /// The variance if the rows are given and only their noise is random.
    pub fn variance(&self) -> f64 {
        (self.squares - self.rows).max(0.0)
    }
}

/// Reconstructs counts from `published`, how many rows have each published value.
///
/// If the way needs an inverse and there is none, the error is the place of the channel.
pub fn reconstruct<'a>(
    joint: &Joint<'a>,
    published: &[f64],
    way: Way,
) -> Result<Reconstruction<'a>, usize> {
    reconstruct_watched(joint, published, way, &Unwatched)
}

/// The same, and any counts once they are no longer wanted.
pub(crate) fn reconstruct_watched<'a>(
    joint: &Joint<'a>,
    published: &[f64],
    way: Way,
    watch: &dyn Watch,
) -> Result<Reconstruction<'a>, usize> {
    let inverse = match joint.inverse() {
        Ok(inverse) => inverse,
        Err(place) if way != Way::Iterative => return Err(place),
        Err(_) => {
            let counts = likely(joint, published, LIKELIHOOD_GAP, watch);
            return Ok(Reconstruction { counts, unbiased: None, spread: None });
        }
    };
    let solved = inverse.solve(published);
    let counts = match way {
        Way::Inverse => solved.clone(),
        Way::Simplex => possible(&inverse, &solved, published),
        Way::Iterative => likely(joint, published, LIKELIHOOD_GAP, watch),
    };
    // Counts below zero and all: what stands for the truth in a variance must be right on
    // average, or errors of small counts are too small.
    let (true_counts, expected) = (solved.clone(), published.to_vec());
    let spread = Some(ErrorTerms { inverse, true_counts, expected });
    Ok(Reconstruction { counts, unbiased: Some(solved), spread })
}

/// The most likely counts, up to `gap` of log-likelihood; any once they are no longer wanted.
pub(crate) fn likely(
    joint: &Joint,
    published: &[f64],
    gap: f64,
    watch: &dyn Watch,
) -> Vec<f64> {
    let total: f64 = published.iter().sum();
    let start = match joint.inverse() {
        Err(_) => vec![total / joint.size() as f64; joint.size()],
        Ok(inverse) => {
            let solved = inverse.solve(published);
            let possible = possible(&inverse, &solved, published);
            // Counts that would be published as they were on average are the most likely.
            if possible == solved {
                return solved;
            }
            inside(&possible)
        }
    };
    most_likely(joint, published, start, gap, watch)
}

/// The possible counts nearest to those of the inverse.
fn possible(inverse: &JointInverse<'_>, solved: &[f64], published: &[f64]) -> Vec<f64> {
    // Unbiased as well, and above zero where a count is below it.
    let squares = inverse.squares(published);
    let variances: Vec<f64> = squares.iter().zip(solved).map(|(s, f)| s - f).collect();
    nearest_possible(solved, &variances, published.iter().sum())
}

impl<'a> ErrorTerms<'a> {
    /// The spread of an inverse of `published`, alone.
    pub fn new(joint: &Joint<'a>, published: &[f64]) -> Option<Self> {
        reconstruct(joint, published, Way::Inverse).ok()?.spread
    }

    /// The standard error of each count.
    pub fn standard_errors(&self) -> Vec<f64> {
        self.single().iter().map(|moments| moments.variance().sqrt()).collect()
    }

    /// The covariance of two counts, which must be in the domain.
    pub fn covariance(&self, one: usize, other: usize) -> f64 {
        let weights = |value: usize| {
            let mut worth = vec![0.0; self.true_counts.len()];
            worth[value] = 1.0;
            self.inverse.weights(&worth)
        };
        let (a, b) = (weights(one), weights(other));
        let pairs = self.expected.iter().zip(a.iter().zip(&b));
        let product: f64 = pairs.map(|(q, (a, b))| q * a * b).sum();
        if one == other { product - self.true_counts[one] } else { product }
    }

    /// Of each count alone, all at once.
    pub fn single(&self) -> Vec<VarianceTerms> {
        let squares = self.inverse.squares(&self.expected).into_iter();
        let both = squares.zip(&self.true_counts);
        both.map(|(squares, rows)| VarianceTerms { squares, rows: *rows }).collect()
    }

    /// Whether the sum of the counts of the values in `set` is what was published: nothing was
    /// mixed with them.
    pub fn is_exact(&self, set: &[bool]) -> bool {
        let worth: Vec<f64> = set.iter().map(|in_set| f64::from(*in_set)).collect();
        let weights = self.inverse.weights(&worth);
        weights.iter().zip(&worth).all(|(weight, worth)| (weight - worth).abs() < 1e-9)
    }

    /// Of the sum of the counts of the values in `set`.
    pub fn of_set(&self, set: &[bool]) -> VarianceTerms {
        let worth: Vec<f64> = set.iter().map(|in_set| f64::from(*in_set)).collect();
        let weights = self.inverse.weights(&worth);
        let squares = self.expected.iter().zip(&weights).map(|(q, w)| q * w * w).sum();
        let rows = self.true_counts.iter().zip(&worth).map(|(f, s)| f * s).sum();
        VarianceTerms { squares, rows }
    }
}

/// The counts nearest to `counts` of those that are not negative and have the sum `total`,
/// each measured by its variance. What has none stays as it is, if anything else can give
/// way; otherwise all count the same.
fn nearest_possible(counts: &[f64], variances: &[f64], total: f64) -> Vec<f64> {
    if counts.iter().all(|count| *count >= 0.0) {
        return counts.to_vec();
    }
    let fixed = counts.iter().zip(variances).filter(|(_, v)| **v <= 0.0);
    let fixed: f64 = fixed.map(|(count, _)| count.max(0.0)).sum();
    let firm = fixed < total;
    let weight = |place: usize| if firm { variances[place].max(0.0) } else { 1.0 };
    let rest = if firm { total - fixed } else { total };
    // The later a count comes to zero, the earlier it is here.
    let mut order: Vec<usize> =
        (0..counts.len()).filter(|place| weight(*place) > 0.0).collect();
    let end = |place: usize| counts[place] / weight(place);
    order.sort_by(|a, b| end(*b).total_cmp(&end(*a)));
    let (mut sum, mut weights, mut taken) = (0.0, 0.0, 0.0);
    for place in order {
        sum += counts[place];
        weights += weight(place);
        let each = (sum - rest) / weights;
        if end(place) <= each {
            break;
        }
        taken = each;
    }
    let places = counts.iter().enumerate();
    places.map(|(place, count)| (count - taken * weight(place)).max(0.0)).collect()
}

/// Nearly the same counts, none of them zero: zero would stay zero.
fn inside(counts: &[f64]) -> Vec<f64> {
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    counts.iter().map(|count| 0.99 * count + 0.01 * mean).collect()
}

/// Iterative Bayesian updates from `counts` on, until nothing is more likely.
fn most_likely(
    joint: &Joint,
    published: &[f64],
    mut counts: Vec<f64>,
    gap: f64,
    watch: &dyn Watch,
) -> Vec<f64> {
    let total: f64 = published.iter().sum();
    for _ in 0..MOST_ROUNDS {
        if watch.is_cancelled() {
            break;
        }
        let expected = joint.apply(&counts);
        let ratios: Vec<f64> = published
            .iter()
            .zip(&expected)
            .map(|(o, q)| if *o > 0.0 { o / q } else { 0.0 })
            .collect();
        let gradient = joint.expect(&ratios);
        let steepest = gradient.iter().copied().fold(0.0, f64::max);
        for (count, slope) in counts.iter_mut().zip(&gradient) {
            *count *= slope;
        }
        if total * (steepest - 1.0) <= gap {
            break;
        }
    }
    counts
}

#[cfg(test)]
#[path = "reconstruct_tests.rs"]
mod tests;
