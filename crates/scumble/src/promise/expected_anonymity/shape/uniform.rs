//! Even noise in a box, for the publisher.
//!
//! # Guarantee
//! *Axes along the columns.* Sides are odd multiples of the step, and noise is an even choice
//! of steps: the shares of common steps multiply to exactly the overlap of boxes
//! (lemma 2.2). ∎
//!
//! *Turned.* A rounded point may lie in a cell that crosses the box's border. If the drawn
//! point is deeper in the other's box than a cell is wide (`cut`), the whole cell is in it,
//! and the other row fits as well as any. ∎
//!
//! *Best guess.* All rows whose box holds the point fit equally well. ∎
//!
//! # Limits
//! Turned boxes lose two cells of each side.
//!
//! # Cost
//! O(d) for each row.
//!
//! # Source
//! `aggarwal2008unifying`, lemma 2.2.

use std::ops::ControlFlow;

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::{BATCH, Batch, Law, Listed, Look, NoiseShape, Rivals};
use crate::space::{Cube, Leaf, Space};

#[derive(Debug)]
pub(super) struct Uniform;

/// What boxes have in common along an axis.
#[inline(always)]
fn common(side: f64, cut: f64, w: f64) -> f64 {
    (side - 2.0 * cut).min(side - cut - w).max(0.0)
}

impl NoiseShape for Uniform {
    fn reach(&self, _: usize) -> f64 {
        0.5
    }

    fn count(&self, law: &Law, w: &[f64], _: f64) -> f64 {
        let mut product = 1.0;
        for ((w, side), cut) in w.iter().zip(&law.spreads).zip(&law.cuts) {
            product *= match *side {
                0.0 if *w == 0.0 => 1.0,
                0.0 => 0.0,
                side => common(side, *cut, w.abs()) / side,
            };
        }
        product
    }

    fn at_most(&self, halves: f64) -> f64 {
        (1.0 - 2.0 * halves).max(0.0)
    }

    fn most_company(&self, n_rows: usize, _: usize) -> f64 {
        n_rows as f64
    }

    fn in_steps(&self) -> bool {
        true
    }

    fn draw(
        &self,
        spread: f64,
        steps: Option<f64>,
        generator: &mut ChaCha20Rng,
    ) -> f64 {
        match steps {
            Some(steps) => {
                let half = ((spread * steps - 1.0) / 2.0).round().max(0.0) as i64;
                generator.random_range(-half..=half) as f64 / steps
            }
            None => spread * (generator.random::<f64>() - 0.5),
        }
    }

    fn counts(&self, look: &Look<'_>, leaf: Leaf<'_>, first: usize) -> Batch {
        let mut batch = Batch { counts: [1.0; BATCH], ..Batch::default() };
        let mut apart = [0.0f64; BATCH];
        let mut len = 0;
        for (axis, value, column) in look.axes(leaf, first) {
            len = column.len();
            let cut = look.cuts[axis];
            for ((product, apart), other) in
                batch.counts.iter_mut().zip(&mut apart).zip(column)
            {
                let w = (other - value).abs();
                *apart += w;
                *product *= common(1.0, cut, w);
            }
        }
        for (count, apart) in batch.counts.iter_mut().zip(&apart) {
            if *apart == 0.0 {
                *count = 1.0;
            }
        }
        batch.counts[len..].fill(0.0);
        batch.terms = len as f64;
        batch
    }

    fn usual_distance(&self) -> f64 {
        1.0
    }

    fn list(&self, space: &Space, centre: &[f64], distance: f64, listed: &mut Listed) {
        space.within::<Cube>(centre, distance, |_, point, apart| {
            listed.n_listed += 1;
            if apart == 0.0 {
                listed.n_equal += 1;
            } else {
                let apart = point.iter().zip(centre).map(|(a, b)| (a - b).abs());
                listed.numbers.extend(apart);
            }
            ControlFlow::Continue(())
        });
    }

    fn sum(&self, listed: &Listed, spread: f64, cuts: &[f64]) -> f64 {
        let share = |differences: &[f64]| {
            let axes = differences.iter().zip(cuts);
            axes.map(|(w, cut)| common(spread, *cut, *w) / spread).product::<f64>()
        };
        listed.numbers.chunks_exact(cuts.len()).map(share).sum()
    }

    /// An offset in sides of the box.
    fn point(&self, point: &mut [f64]) {
        point.iter_mut().for_each(|p| *p -= 0.5);
    }

    /// The row's share among all whose box holds the point, summed over points.
    fn sum_of_guesses(&self, points: &[f64], rivals: &Rivals, cuts: &[f64]) -> f64 {
        let dims = cuts.len();
        let halves: Vec<f64> = cuts.iter().map(|cut| 0.5 - cut).collect();
        let holds = |rival: &[f64], offset: &[f64]| {
            let sides = rival.iter().zip(offset).zip(&halves);
            sides.into_iter().all(|((v, o), half)| (o - v).abs() <= *half)
        };
        let share = |offset: &[f64]| {
            let others = rivals.differences.chunks_exact(dims);
            let n = rivals.equal + others.filter(|rival| holds(rival, offset)).count();
            1.0 / n as f64
        };
        points.chunks_exact(dims).map(share).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Shape;

    #[test]
    fn worked_numbers() {
        let cube =
            Law { shape: Shape::Uniform, spreads: vec![3.0, 5.0], cuts: vec![0.0; 2] };
        assert!((cube.count(&[1.0, -2.0]) - 2.0 / 3.0 * 3.0 / 5.0).abs() < 1e-12);
        assert_eq!(cube.count(&[3.0, 0.0]), 0.0);
        let turned = Law { cuts: vec![0.5; 2], ..cube };
        assert!((turned.count(&[1.0, 0.0]) - 1.5 / 3.0 * 4.0 / 5.0).abs() < 1e-12);
    }
}
