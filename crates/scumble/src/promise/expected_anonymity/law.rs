//! Who counts as company: the law of the noise at one level of one frame.
//!
//! # Guarantee
//! [`Law::count`] is at most the probability that a row at a difference `w` fits the
//! published row at least as well as the true one; summed over rows it is a lower bound of
//! the true row's expected rank, after rounding.
//!
//! *Gaussian.* Before rounding the probability is `Q(u)`, u half the distance in units of
//! the spread (lemma 2.1), and rows beyond the reach are not counted. Rounding to a lattice
//! that holds both rows cannot lower it: the two rows' published laws differ in total
//! variation by no more than before, at most `1 - 2 Q(u)`. Reflection at the middle between
//! the rows maps the lattice to itself and swaps the laws, so a rule that prefers one row
//! errs as often as one that prefers the other: twice the strict errors and the ties make
//! at least `2 Q(u)`, and errors and ties together at least `Q(u)`. ∎
//!
//! *Uniform, axes along the columns.* Sides are odd multiples of the step, and noise is an
//! even choice of steps: the shares of common steps multiply to exactly the overlap of
//! boxes (lemma 2.2). ∎
//!
//! *Uniform, turned.* A rounded point may lie in a cell that crosses the box's border. If
//! the drawn point is deeper in the other's box than a cell is wide (`cut`), the whole cell
//! is in it, and the other row fits as well as any. ∎
//!
//! # Limits
//! Each axis is rounded on its own, and rows are compared two at a time.
//!
//! # Cost
//! O(d) and one normal tail.
//!
//! # Source
//! `aggarwal2008unifying`, lemmas 2.1 and 2.2; corrections: docs/methods.md,
//! "Expected anonymity". Rounding is ours.

use libm::erfc;

use crate::space::Shape;

/// How noise is spread along the axes of a frame at one level.
#[derive(Debug, Clone, PartialEq)]
pub struct Law {
    /// Its shape.
    pub shape: Shape,
    /// Standard deviation or side on each axis, in the axis's own units; zero where there
    /// is no noise.
    pub spreads: Vec<f64>,
    /// How wide a cell of rounding is along each axis; zero if rounding is exact.
    pub cuts: Vec<f64>,
}

impl Law {
    /// How far rows count, in halves of the distance by the spread: further ones would add
    /// little, and looking at all of them takes long. Part of the format.
    pub fn reach(dims: usize) -> f64 {
        ((dims.saturating_sub(1) as f64).sqrt() + 1.3).max(3.5)
    }

    /// How much a row counts that differs by `w` along the axes.
    pub fn count(&self, w: &[f64]) -> f64 {
        self.count_within(w, Self::reach(self.spreads.len()))
    }

    /// For comparison only: the same with far rows counted as well, the paper's sums.
    pub fn count_without_reach(&self, w: &[f64]) -> f64 {
        self.count_within(w, f64::MAX)
    }

    fn count_within(&self, w: &[f64], reach: f64) -> f64 {
        if w.iter().all(|w| *w == 0.0) {
            return 1.0;
        }
        match self.shape {
            Shape::Gaussian => {
                let mut sum = 0.0;
                for (w, spread) in w.iter().zip(&self.spreads) {
                    if *w != 0.0 {
                        // A spread of zero makes this infinite.
                        sum += (w / spread).powi(2);
                    }
                }
                let u = 0.5 * sum.sqrt();
                if u <= reach { tail(u) } else { 0.0 }
            }
            Shape::Uniform => {
                let mut product = 1.0;
                for ((w, side), cut) in w.iter().zip(&self.spreads).zip(&self.cuts) {
                    product *= match *side {
                        0.0 if *w == 0.0 => 1.0,
                        0.0 => 0.0,
                        side => {
                            let common =
                                (side - 2.0 * cut).min(side - cut - w.abs()).max(0.0);
                            common / side
                        }
                    };
                }
                product
            }
        }
    }
}

/// The probability that a standard normal number is at least `u`.
pub fn tail(u: f64) -> f64 {
    0.5 * erfc(u / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_numbers() {
        let gaussian = |spread: f64| Law {
            shape: Shape::Gaussian,
            spreads: vec![spread; 2],
            cuts: vec![0.0; 2],
        };
        // A row two spreads away: Q(1).
        assert!(
            (gaussian(1.0).count(&[2.0, 0.0]) - 0.158_655_253_931_457).abs() < 1e-12
        );
        assert_eq!(gaussian(1.0).count(&[0.0, 0.0]), 1.0);
        assert_eq!(gaussian(0.0).count(&[0.0, 0.0]), 1.0);
        assert_eq!(gaussian(0.0).count(&[0.0, 1e-3]), 0.0);
        assert_eq!(gaussian(1.0).count(&[7.1, 0.0]), 0.0);
        let cube =
            Law { shape: Shape::Uniform, spreads: vec![3.0, 5.0], cuts: vec![0.0; 2] };
        assert!((cube.count(&[1.0, -2.0]) - 2.0 / 3.0 * 3.0 / 5.0).abs() < 1e-12);
        assert_eq!(cube.count(&[3.0, 0.0]), 0.0);
        let turned = Law { cuts: vec![0.5; 2], ..cube };
        assert!((turned.count(&[1.0, 0.0]) - 1.5 / 3.0 * 4.0 / 5.0).abs() < 1e-12);
    }
}
