//! Several randomized columns at once: the matrix of what they are published as together.
//!
//! # Guarantee
//! Noise of one column does not depend on that of another, so the matrix of pairs is the
//! Kronecker product of the matrices, and its inverse that of the inverses. It is never
//! written down: each matrix acts along its own axis. No column at all is a domain of one
//! value that is published as it is.
//!
//! # Limits
//! Columns that were randomized together are one column here. A domain of more than
//! [`MOST_CELLS`] combinations is refused.
//!
//! # Cost
//! O(c d) for c combinations and d columns, if values are kept or drawn from the whole
//! domain; otherwise c times the size of the largest domain.
//!
//! # Source
//! docs/methods.md, "The weight of a row".

use crate::error::{Error, Result};
use crate::estimate::laws::matrix::{Channel, Inverse};

/// The most combinations of values that are held in memory.
pub const MOST_CELLS: usize = 1 << 23;

/// Matrices side by side. A combination of values is the number that has them as digits,
/// the last column counting single.
#[derive(Debug, Clone)]
pub struct Joint<'a> {
    channels: Vec<&'a Channel>,
    size: usize,
}

/// What undoes all of them.
#[derive(Debug, Clone)]
pub struct JointInverse<'a> {
    inverses: Vec<&'a Inverse>,
    sizes: Vec<usize>,
}

impl<'a> Joint<'a> {
    /// The matrix of combinations of values of these channels.
    pub fn new(channels: Vec<&'a Channel>) -> Result<Self> {
        let mut size = 1usize;
        for channel in &channels {
            size = size.saturating_mul(channel.size());
        }
        if size > MOST_CELLS {
            let error = Error::input(format!(
                "the randomized columns of this question have more than {MOST_CELLS} \
                 combinations of values"
            ));
            return Err(error.with_hint("ask for fewer of them at once"));
        }
        Ok(Self { channels, size })
    }

    /// How many combinations there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How many values each column has.
    pub fn sizes(&self) -> Vec<usize> {
        self.channels.iter().map(|channel| channel.size()).collect()
    }

    /// How many rows are expected to be published with each combination.
    pub fn apply(&self, original: &[f64]) -> Vec<f64> {
        along(original, &self.sizes(), |axis, f| self.channels[axis].apply(f))
    }

    /// For each original combination, what the published one is expected to be worth.
    pub fn expect(&self, worth: &[f64]) -> Vec<f64> {
        along(worth, &self.sizes(), |axis, g| self.channels[axis].expect(g))
    }

    /// How likely a combination is published as another, both by their digits.
    pub(crate) fn entry(&self, published: &[usize], original: &[usize]) -> f64 {
        let places = published.iter().zip(original);
        let entries = self.channels.iter().zip(places);
        entries.map(|(channel, (j, k))| channel.entry(*j, *k)).product()
    }

    /// How often each value of a single column is kept, if others are drawn from the whole
    /// domain.
    pub(crate) fn kept(&self) -> Option<&[f64]> {
        match self.channels.as_slice() {
            [channel] => channel.kept(),
            _ => None,
        }
    }

    /// What undoes it, or the place of the first channel that nothing undoes.
    pub fn inverse(&self) -> Result<JointInverse<'a>, usize> {
        let inverses = self.channels.iter().enumerate();
        let inverses = inverses.map(|(place, channel)| channel.inverse().ok_or(place));
        Ok(JointInverse {
            inverses: inverses.collect::<Result<_, _>>()?,
            sizes: self.sizes(),
        })
    }
}

impl JointInverse<'_> {
    /// How many rows had each combination, going by how many were published with it.
    pub fn solve(&self, published: &[f64]) -> Vec<f64> {
        along(published, &self.sizes, |axis, o| self.inverses[axis].solve(o))
    }

    /// The weights with which published rows are summed if original ones count for
    /// `worth`.
    pub fn weights(&self, worth: &[f64]) -> Vec<f64> {
        along(worth, &self.sizes, |axis, s| self.inverses[axis].weights(s))
    }

    /// For each combination, the sum over published rows of the squares of their weights.
    pub fn squares(&self, published: &[f64]) -> Vec<f64> {
        along(published, &self.sizes, |axis, o| self.inverses[axis].squares(o))
    }
}

/// Lets `step` act on every line of numbers along each axis, one axis after the other.
fn along(
    values: &[f64],
    sizes: &[usize],
    step: impl Fn(usize, &[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let mut values = values.to_vec();
    let mut stride: usize = sizes.iter().product();
    for (axis, size) in sizes.iter().enumerate() {
        let block = stride;
        stride /= size;
        let mut line = vec![0.0; *size];
        for start in (0..values.len()).step_by(block) {
            for first in start..start + stride {
                for (place, value) in line.iter_mut().enumerate() {
                    *value = values[first + place * stride];
                }
                for (place, value) in step(axis, &line).into_iter().enumerate() {
                    values[first + place * stride] = value;
                }
            }
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::laws::matrix::tests::{drawn, fine_grain, note, uniform};
    use crate::release::OperatorNote;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    #[test]
    fn the_product_is_that_of_kronecker() {
        let mut random = ChaCha20Rng::seed_from_u64(1);
        let parts =
            [drawn(2, &mut random), fine_grain(&[0.2, 0.9, 0.4]), uniform(0.3, 2)];
        let joint = Joint::new(parts.iter().collect()).unwrap();
        assert_eq!(joint.size(), 12);
        let digits = |cell: usize| [cell / 6, cell / 2 % 3, cell % 2];
        let entry = |published: usize, original: usize| -> f64 {
            let places = digits(published).into_iter().zip(digits(original));
            parts.iter().zip(places).map(|(part, (j, k))| part.entry(j, k)).product()
        };
        let row = |j| (0..12).map(|k| entry(j, k)).collect();
        let operator = OperatorNote::General { matrix: (0..12).map(row).collect() };
        let whole = Channel::new(&note(12, operator)).unwrap();
        let f: Vec<f64> = (0..12).map(|_| random.random::<f64>()).collect();
        let (inverse, dense) = (joint.inverse().unwrap(), whole.inverse().unwrap());
        let pairs = [
            (joint.apply(&f), whole.apply(&f)),
            (joint.expect(&f), whole.expect(&f)),
            (inverse.solve(&f), dense.solve(&f)),
            (inverse.weights(&f), dense.weights(&f)),
            (inverse.squares(&f), dense.squares(&f)),
        ];
        for (mine, other) in pairs {
            for (a, b) in mine.iter().zip(other) {
                assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} is not {b}");
            }
        }
    }

    #[test]
    fn no_column_is_one_value() {
        let joint = Joint::new(Vec::new()).unwrap();
        assert_eq!(joint.size(), 1);
        assert_eq!(joint.inverse().unwrap().solve(&[5.0]), [5.0]);
    }

    #[test]
    fn too_many_combinations_are_refused() {
        let channel = uniform(0.5, 5000);
        let error = Joint::new(vec![&channel, &channel]).unwrap_err();
        assert!(error.to_string().contains("more than 8388608 combinations"));
        assert_eq!(
            Joint::new(vec![&channel, &uniform(0.0, 2)]).unwrap().inverse().err(),
            Some(1)
        );
    }
}
