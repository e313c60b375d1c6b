//! The matrix behind a randomized column: applied, and undone.
//!
//! # Guarantee
//! A channel that was accepted is a stochastic matrix: every entry is between 0 and 1, and
//! every column sums to 1. What its inverse undoes, it undoes exactly but for rounding; a
//! matrix that would lose more than four of sixteen digits to rounding counts as singular.
//!
//! # Limits
//! The manifest is believed. Whether it is true cannot be seen in the data.
//!
//! # Cost
//! O(m) for a domain of m values if values are kept or drawn from the whole domain, O(m²)
//! and once O(m³) otherwise.
//!
//! # Source
//! docs/methods.md, "Reconstruction". With `p` the probabilities of keeping a value, `t`
//! the rows each value gets from others and `o = p f + t`, the sum of `f` is that of `o`,
//! which gives `t`. The value `z` that is kept least is solved for last, so that one `p` may
//! be 0.

use nalgebra::{DMatrix, DVector};

use crate::error::{Error, Result};
use crate::release::{OperatorNote, SubtableNote};

/// The largest factor by which undoing a matrix may grow a rounding error.
const WORST_CONDITION: f64 = 1e12;

/// How far the sum of a column may be from 1.
const ROUNDING: f64 = 1e-9;

/// How a value of a domain is published as a value of the same domain.
#[derive(Debug, Clone)]
pub struct Channel {
    form: MatrixForm,
    inverse: Option<Inverse>,
}

#[derive(Debug, Clone)]
enum MatrixForm {
    /// Kept with these probabilities, otherwise drawn from the whole domain.
    Mixture(Vec<f64>),
    /// A row for each published value, a column for each original one.
    Dense(DMatrix<f64>),
}

/// What undoes a channel.
#[derive(Debug, Clone)]
pub struct Inverse {
    form: InverseForm,
}

#[derive(Debug, Clone)]
enum InverseForm {
    Mixture {
        /// The value that is kept least.
        last: usize,
        /// Its row of the inverse.
        last_row: Vec<f64>,
        /// One over the probability of keeping each value; 0 for the last.
        scale: Vec<f64>,
        /// How much each published row adds to what every value gets from others. Row `v`
        /// of the inverse is `scale[v] * (e_v - share)`.
        share: Vec<f64>,
    },
    Dense(DMatrix<f64>),
}

impl Channel {
    /// The matrix of a sub-table, checked.
    pub fn new(note: &SubtableNote) -> Result<Self> {
        let size = note.domain.len();
        if size == 0 {
            return Err(Error::input("the domain has no values"));
        }
        match &note.operator {
            OperatorNote::Uniform { keep } => Self::mixture(vec![*keep; size]),
            OperatorNote::FineGrain { keep } => {
                if keep.len() != size {
                    return Err(Error::input(format!(
                        "the domain has {size} values, but {} are kept",
                        keep.len()
                    )));
                }
                Self::mixture(keep.clone())
            }
            OperatorNote::General { matrix } => {
                if matrix.len() != size || matrix.iter().any(|row| row.len() != size) {
                    return Err(Error::input(format!(
                        "the domain has {size} values, but the matrix is not {size} by \
                         {size}"
                    )));
                }
                Self::dense(DMatrix::from_fn(size, size, |row, column| {
                    matrix[row][column]
                }))
            }
        }
    }

    fn mixture(keep: Vec<f64>) -> Result<Self> {
        for share in &keep {
            checked(*share)?;
        }
        let inverse = mixture_inverse(&keep);
        Ok(Self { form: MatrixForm::Mixture(keep), inverse })
    }

    fn dense(matrix: DMatrix<f64>) -> Result<Self> {
        for share in &matrix {
            checked(*share)?;
        }
        for column in matrix.column_iter() {
            let sum = column.sum();
            if (sum - 1.0).abs() > ROUNDING {
                return Err(Error::out_of_range("sum of a column", sum, "1"));
            }
        }
        let inverse = matrix.clone().lu().try_inverse();
        let inverse = inverse.filter(|inverse| {
            let sums = inverse.column_iter().map(|column| column.lp_norm(1));
            sums.fold(0.0, larger) <= WORST_CONDITION
        });
        let inverse =
            inverse.map(|inverse| Inverse { form: InverseForm::Dense(inverse) });
        Ok(Self { form: MatrixForm::Dense(matrix), inverse })
    }

    /// How many values the domain has.
    pub fn size(&self) -> usize {
        match &self.form {
            MatrixForm::Mixture(keep) => keep.len(),
            MatrixForm::Dense(matrix) => matrix.nrows(),
        }
    }

    /// How likely `original` is published as `published`; both must be in the domain.
    pub fn entry(&self, published: usize, original: usize) -> f64 {
        match &self.form {
            MatrixForm::Mixture(keep) => {
                let other = (1.0 - keep[original]) / keep.len() as f64;
                if published == original { keep[original] + other } else { other }
            }
            MatrixForm::Dense(matrix) => matrix[(published, original)],
        }
    }

    /// How many rows are expected to be published with each value, if as many have it.
    pub fn apply(&self, original: &[f64]) -> Vec<f64> {
        match &self.form {
            MatrixForm::Mixture(keep) => {
                let moved: f64 =
                    original.iter().zip(keep).map(|(f, p)| f * (1.0 - p)).sum();
                let each = moved / keep.len() as f64;
                original.iter().zip(keep).map(|(f, p)| f * p + each).collect()
            }
            MatrixForm::Dense(matrix) => times(matrix, original),
        }
    }

    /// For each original value, what the published value is expected to be worth.
    pub fn expect(&self, worth: &[f64]) -> Vec<f64> {
        match &self.form {
            MatrixForm::Mixture(keep) => {
                let mean = worth.iter().sum::<f64>() / keep.len() as f64;
                worth.iter().zip(keep).map(|(g, p)| g * p + mean * (1.0 - p)).collect()
            }
            MatrixForm::Dense(matrix) => {
                matrix.tr_mul(&DVector::from_column_slice(worth)).as_slice().to_vec()
            }
        }
    }

    /// How often each value is kept, if others are drawn from the whole domain.
    pub(crate) fn kept(&self) -> Option<&[f64]> {
        match &self.form {
            MatrixForm::Mixture(keep) => Some(keep),
            MatrixForm::Dense(_) => None,
        }
    }

    /// What undoes it; nothing if nothing does.
    pub fn inverse(&self) -> Option<&Inverse> {
        self.inverse.as_ref()
    }
}

impl Inverse {
    /// How many rows had each value, going by how many were published with it.
    pub fn solve(&self, published: &[f64]) -> Vec<f64> {
        match &self.form {
            InverseForm::Mixture { last, last_row, scale, share } => {
                let moved = dot(share, published);
                let scaled = published.iter().zip(scale);
                let mut solved: Vec<f64> =
                    scaled.map(|(o, scale)| (o - moved) * scale).collect();
                solved[*last] = dot(last_row, published);
                solved
            }
            InverseForm::Dense(inverse) => times(inverse, published),
        }
    }

    /// What each published value counts for if original values count for `worth`: the
    /// weights with which published rows are summed.
    pub fn weights(&self, worth: &[f64]) -> Vec<f64> {
        match &self.form {
            InverseForm::Mixture { last, last_row, scale, share } => {
                let total = dot(scale, worth);
                let own = worth.iter().zip(scale).map(|(s, scale)| s * scale);
                let rest = share.iter().zip(last_row);
                let rest = rest.map(|(share, row)| worth[*last] * row - total * share);
                own.zip(rest).map(|(own, rest)| own + rest).collect()
            }
            InverseForm::Dense(inverse) => {
                inverse.tr_mul(&DVector::from_column_slice(worth)).as_slice().to_vec()
            }
        }
    }

    /// For each value, the sum over published rows of the squares of their weights.
    pub fn squares(&self, published: &[f64]) -> Vec<f64> {
        match &self.form {
            InverseForm::Mixture { last, last_row, scale, share } => {
                let square = |(o, row): (&f64, &f64)| o * row * row;
                let all: f64 = published.iter().zip(share).map(square).sum();
                let mut sums: Vec<f64> = (0..scale.len())
                    .map(|v| {
                        let own = published[v] * (1.0 - share[v]).powi(2);
                        let others = all - published[v] * share[v].powi(2);
                        (own + others) * scale[v].powi(2)
                    })
                    .collect();
                sums[*last] = published.iter().zip(last_row).map(square).sum();
                sums
            }
            InverseForm::Dense(inverse) => times(&inverse.map(|x| x * x), published),
        }
    }
}

/// The inverse of `diag(keep) + (1/m) 1 (1 - keep)^T`.
fn mixture_inverse(keep: &[f64]) -> Option<Inverse> {
    let (last, least) = keep.iter().copied().enumerate().min_by(|a, b| {
        // Of equals the first.
        a.1.total_cmp(&b.1)
    })?;
    let mut scale: Vec<f64> = keep.iter().map(|p| 1.0 / p).collect();
    scale[last] = 0.0;
    let sum: f64 = scale.iter().sum();
    let pivot = 1.0 + least * sum;
    let mut odds: Vec<f64> = keep.iter().map(|p| (1.0 - p) / p).collect();
    odds[last] = 0.0;
    let mut share: Vec<f64> = odds.iter().map(|odds| least * odds / pivot).collect();
    share[last] = (1.0 - least) / pivot;
    let mut last_row: Vec<f64> = odds.iter().map(|odds| -odds / pivot).collect();
    last_row[last] = (1.0 + sum) / pivot;

    let column = |j: usize| {
        let own = scale[j] * (1.0 - share[j]).abs();
        own + (sum - scale[j]) * share[j] + last_row[j].abs()
    };
    let worst = (0..keep.len()).map(column).fold(0.0, larger);
    let form = InverseForm::Mixture { last, last_row, scale, share };
    (worst <= WORST_CONDITION).then_some(Inverse { form })
}

/// The larger of two, and what is not a number larger than any.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::INFINITY } else { a.max(b) }
}

fn checked(share: f64) -> Result<()> {
    if (0.0..=1.0).contains(&share) {
        Ok(())
    } else {
        Err(Error::out_of_range("probability", share, "from 0 to 1"))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn times(matrix: &DMatrix<f64>, vector: &[f64]) -> Vec<f64> {
    (matrix * DVector::from_column_slice(vector)).as_slice().to_vec()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// A sub-table of the values `v0`, `v1`, ...
    pub(crate) fn note(size: usize, operator: OperatorNote) -> SubtableNote {
        let domain = (0..size).map(|v| vec![format!("v{v}")]).collect();
        SubtableNote {
            rows: 0,
            domain,
            bounds: vec![None; size],
            condition: None,
            operator,
        }
    }

    pub(crate) fn uniform(keep: f64, size: usize) -> Channel {
        Channel::new(&note(size, OperatorNote::Uniform { keep })).unwrap()
    }

    pub(crate) fn fine_grain(keep: &[f64]) -> Channel {
        let operator = OperatorNote::FineGrain { keep: keep.to_vec() };
        Channel::new(&note(keep.len(), operator)).unwrap()
    }

    /// The same entries, as any matrix.
    pub(crate) fn general(channel: &Channel) -> Channel {
        let size = channel.size();
        let row = |j| (0..size).map(|k| channel.entry(j, k)).collect();
        let matrix = (0..size).map(row).collect();
        Channel::new(&note(size, OperatorNote::General { matrix })).unwrap()
    }

    /// A matrix with columns drawn at random, and something added to its diagonal.
    pub(crate) fn drawn(size: usize, random: &mut ChaCha20Rng) -> Channel {
        let mut matrix = vec![vec![0.0; size]; size];
        for k in 0..size {
            let mut column: Vec<f64> = (0..size).map(|_| random.random()).collect();
            column[k] += 1.5;
            let sum: f64 = column.iter().sum();
            for (row, share) in matrix.iter_mut().zip(&column) {
                row[k] = share / sum;
            }
        }
        Channel::new(&note(size, OperatorNote::General { matrix })).unwrap()
    }

    fn assert_near(a: &[f64], b: &[f64], scale: f64) {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= 1e-9 * scale.max(1.0), "{a} is not {b}");
        }
    }

    #[test]
    fn closed_forms_are_the_general_ones() {
        let mut random = ChaCha20Rng::seed_from_u64(1);
        for trial in 0..200 {
            let size = 1 + trial % 9;
            let mut keep: Vec<f64> =
                (0..size).map(|_| 0.05 + 0.95 * random.random::<f64>()).collect();
            match trial % 4 {
                // One value may be drawn always.
                0 => keep[trial % size] = 0.0,
                1 => keep = vec![keep[0]; size],
                2 => keep[trial % size] = 1.0,
                _ => {}
            }
            let closed = fine_grain(&keep);
            let dense = general(&closed);
            let o: Vec<f64> =
                (0..size).map(|_| (random.random::<f64>() * 100.0).round()).collect();
            assert_near(&closed.apply(&o), &dense.apply(&o), 100.0);
            assert_near(&closed.expect(&o), &dense.expect(&o), 100.0);
            let (closed, dense) = (closed.inverse().unwrap(), dense.inverse().unwrap());
            let scale = 1e4;
            assert_near(&closed.solve(&o), &dense.solve(&o), scale);
            assert_near(&closed.weights(&o), &dense.weights(&o), scale);
            assert_near(&closed.squares(&o), &dense.squares(&o), scale * scale);
        }
    }

    #[test]
    fn an_inverse_undoes_the_matrix() {
        let mut random = ChaCha20Rng::seed_from_u64(2);
        for trial in 0..100 {
            let channel = drawn(1 + trial % 8, &mut random);
            let f: Vec<f64> =
                (0..channel.size()).map(|_| random.random::<f64>()).collect();
            let inverse = channel.inverse().unwrap();
            assert_near(&inverse.solve(&channel.apply(&f)), &f, 1.0);
            assert_near(&channel.expect(&inverse.weights(&f)), &f, 1.0);
        }
    }

    #[test]
    fn a_large_domain_takes_no_square() {
        let size = 200_000;
        let keep: Vec<f64> = (0..size).map(|v| 0.1 + 0.4 * (v % 2) as f64).collect();
        let channel = fine_grain(&keep);
        let f: Vec<f64> = (0..size).map(|v| (v % 7) as f64).collect();
        let solved = channel.inverse().unwrap().solve(&channel.apply(&f));
        assert_near(&solved, &f, 10.0);
    }

    #[test]
    fn what_keeps_everything_is_undone_exactly() {
        let o = [3.0, 0.0, 7.0, 1.0];
        for channel in [uniform(1.0, 4), general(&uniform(1.0, 4))] {
            let inverse = channel.inverse().unwrap();
            assert_eq!(inverse.solve(&o), o);
            assert_eq!(inverse.weights(&o), o);
            assert_eq!(inverse.squares(&o), o);
        }
    }

    #[test]
    fn what_cannot_be_undone_is_known() {
        for channel in [uniform(0.0, 3), fine_grain(&[0.0, 0.5, 0.0])] {
            assert!(channel.inverse().is_none());
            assert!(general(&channel).inverse().is_none());
        }
        // Two values differ by almost nothing.
        assert!(uniform(1e-13, 3).inverse().is_none());
        assert!(general(&uniform(1e-13, 3)).inverse().is_none());
    }

    #[test]
    fn malformed_matrices_are_refused() {
        let refused = |size: usize, operator: OperatorNote| {
            Channel::new(&note(size, operator)).unwrap_err().to_string()
        };
        let uniform = |keep| OperatorNote::Uniform { keep };
        assert_eq!(refused(0, uniform(0.5)), "the domain has no values");
        let message = "`probability` is 1.5, but must be from 0 to 1";
        assert_eq!(refused(2, uniform(1.5)), message);
        let message = "`probability` is NaN, but must be from 0 to 1";
        assert_eq!(refused(2, uniform(f64::NAN)), message);
        let fine = OperatorNote::FineGrain { keep: vec![0.5; 3] };
        assert_eq!(refused(2, fine), "the domain has 2 values, but 3 are kept");
        let matrix = vec![vec![1.0], vec![0.0, 1.0]];
        let message = "the domain has 2 values, but the matrix is not 2 by 2";
        assert_eq!(refused(2, OperatorNote::General { matrix }), message);
        let matrix = vec![vec![1.0, 0.5], vec![0.0, 0.25]];
        let message = "`sum of a column` is 0.75, but must be 1";
        assert_eq!(refused(2, OperatorNote::General { matrix }), message);
    }
}
