//! Numbers drawn given what was published in their place.
//!
//! # Guarantee
//! Along the columns, a number is drawn from the posterior that `law.rs` weighs, exactly: the
//! normal law around the published number, cut half a step around the domain and rounded,
//! gives every number of the lattice what `law.rs` gives it. Turned rows are drawn among the
//! rows that `turned.rs` visits, so that shares of draws are the shares it counts.
//!
//! Rows drawn anew are resampled, twice: first as many rows of the group as it has stand for
//! its law, then every row gets one of these. Once is what true rows vary by if the law is
//! known, and the other what is not known of the law, as `redrawn.rs` has it: twice
//! `n w (1 - w)` for n rows of a group of which a share w is in a range.
//!
//! # Limits
//! Those of the even prior (`mod.rs`). Resampled rows of a group do not have its true mean,
//! which a condensed release has; and numbers go with other columns only as the group does.
//!
//! # Cost
//! O(1) a number; for turned rows what `turned.rs` visits.
//!
//! # Source
//! `aggarwal2008unifying`, section 2.D; resampling twice is the approximate Bayesian
//! bootstrap of `rubin1987multiple`.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::estimate::laws::numbers::{Blurred, Lattice, Noise, law};
use crate::random::Randomness;
use crate::watch::Watch;

/// Rows of a block, which has a random stream of its own.
const BLOCK: usize = 1 << 14;

impl Blurred {
    /// Numbers that may be the true ones, row after row, in steps; NaN where one is missing.
    pub(crate) fn draw(
        &self,
        random: &Randomness,
        watch: &dyn Watch,
    ) -> Result<Vec<f64>> {
        if self.is_anew() {
            return Ok(self.resampled(random));
        }
        let n_columns = self.n_columns().max(1);
        let mut drawn = self.values.clone();
        let blocks = drawn.par_chunks_mut(BLOCK * n_columns).enumerate();
        blocks.try_for_each(|(block, values)| {
            watch.check()?;
            let mut random = random.stream("draw blur", block as u64);
            let mut behind = Vec::new();
            for (place, row) in values.chunks_exact_mut(n_columns).enumerate() {
                self.draw_row(block * BLOCK + place, row, &mut behind, &mut random);
            }
            Ok::<(), Error>(())
        })?;
        Ok(drawn)
    }

    /// Draws the numbers of a row in place of the published ones.
    fn draw_row(
        &self,
        number: usize,
        row: &mut [f64],
        behind: &mut Vec<f64>,
        random: &mut ChaCha20Rng,
    ) {
        match &self.noise {
            Noise::Straight { shape, spreads, box_of, boxes } => {
                let bounds = &boxes[box_of[number] as usize];
                let spreads = &spreads[number * row.len()..][..row.len()];
                for ((z, spread), bounds) in row.iter_mut().zip(spreads).zip(bounds) {
                    if !z.is_nan() {
                        let point = random.random::<f64>();
                        *z = law::quantile(*shape, *z, *spread, *bounds, point);
                    }
                }
            }
            Noise::Turned { frame_of, level_of, frames, .. } => {
                behind.clear();
                let frame = &frames[frame_of[number] as usize];
                let level = level_of[number];
                let n = frame.visit(number, row, level, |true_row| {
                    behind.extend_from_slice(true_row);
                });
                let chosen = random.random_range(0..n);
                row.copy_from_slice(&behind[chosen * row.len()..][..row.len()]);
            }
            Noise::Anew { .. } => {}
        }
    }

    fn resampled(&self, random: &Randomness) -> Vec<f64> {
        let groups = self.groups();
        let chosen = groups.par_iter().enumerate().map(|(group, rows)| {
            let mut random = random.stream("draw group", group as u64);
            let law: Vec<usize> =
                rows.iter().map(|_| rows[random.random_range(0..rows.len())]).collect();
            rows.iter().map(|_| law[random.random_range(0..law.len())]).collect()
        });
        let chosen: Vec<Vec<usize>> = chosen.collect();
        let n_columns = self.n_columns();
        let mut drawn = vec![0.0; self.values.len()];
        for (row, from) in groups.iter().flatten().zip(chosen.iter().flatten()) {
            drawn[row * n_columns..][..n_columns].copy_from_slice(self.row(*from));
        }
        drawn
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.kinds.len()
    }

    pub(crate) fn n_columns(&self) -> usize {
        self.lattices.len()
    }

    pub(crate) fn lattice(&self, number: usize) -> &Lattice {
        &self.lattices[number]
    }
}
