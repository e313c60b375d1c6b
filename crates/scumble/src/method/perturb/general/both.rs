//! The best row minima and maxima of a two-sided operator.
//!
//! With `low` and `high` of a row, an entry of column i may be from max(low, high/γᵢ) to
//! min(high, γᵢ low), so high is at most γ² low for the smallest γ. Between two of the
//! ratios high/low that are γ of some value, all of these bounds are straight: a row is a
//! sum of *rays*, each with one such ratio ρ, and has of each ray y. Since lower bounds are
//! convex and upper ones concave, no other sum of rays gives more. What the columns need
//! depends on the sums Y of each ray over all rows:
//! Σ Y max(1, ρ/γᵢ) ≤ 1 ≤ Σ Y min(ρ, γᵢ), where the smallest γ is the one that binds.
//! This is a linear program of m variables a ray instead of m² entries with 4 m² bounds.

use super::super::linear::{Program, Row};
use super::{Least, RowEntries};
use crate::watch::Watch;

/// What to solve: the smallest γ is finite and above 1, weights sum to 1.
pub(super) struct Both<'a> {
    gammas: &'a [f64],
    weights: &'a [f64],
    watch: &'a dyn Watch,
    lowest: f64,
    rays: Vec<f64>,
}

impl<'a> Both<'a> {
    pub(super) fn new(
        gammas: &'a [f64],
        weights: &'a [f64],
        watch: &'a dyn Watch,
    ) -> Self {
        let lowest = gammas.iter().copied().fold(f64::INFINITY, f64::min);
        let most = lowest * lowest;
        let mut rays = vec![1.0, most];
        rays.extend(gammas.iter().filter(|gamma| **gamma < most));
        rays.sort_by(f64::total_cmp);
        rays.dedup();
        Self { gammas, weights, watch, lowest, rays }
    }

    /// The best row minima and maxima; nothing if the floor is too high.
    pub(super) fn solve(&self, least: Least) -> Option<RowEntries> {
        let mut program = self.program();
        let size = self.gammas.len();
        program.factors[..size].copy_from_slice(self.weights);
        for code in 0..size {
            let mut terms = vec![(code, -1.0)];
            let share = match least {
                Least::Nothing => continue,
                Least::Diagonal(share) => share,
                Least::Keep(keep) => {
                    terms.extend(self.rays.iter().enumerate().map(|(ray, ratio)| {
                        (self.part(code, ray), at_least(*ratio, self.gammas[code]))
                    }));
                    keep
                }
            };
            program.at_most.push(Row { terms, bound: -share });
        }
        if let Least::Keep(keep) = least {
            // The column of the smallest γ must not be filled to its brim, either.
            program.at_most.push(self.filled(1.0 + keep * (size - 1) as f64));
        }
        let found = program.solve(self.watch)?;
        let rows = self.rows(&found);
        rows.feasible(self.lowest).then_some(rows)
    }

    /// The largest floor of the diagonal that can be met.
    pub(super) fn largest_floor(&self) -> Option<f64> {
        let mut program = self.program();
        let size = self.gammas.len();
        let floor = program.factors.len();
        program.factors.push(1.0);
        for code in 0..size {
            let terms = vec![(floor, 1.0), (code, -1.0)];
            program.at_most.push(Row { terms, bound: 0.0 });
        }
        program.solve(self.watch).map(|found| found[floor])
    }

    /// The variable of a row's part of a ray.
    fn part(&self, code: usize, ray: usize) -> usize {
        self.gammas.len() + self.rays.len() * (code + 1) + ray
    }

    /// The variable of the sum over all rows.
    fn whole(&self, ray: usize) -> usize {
        self.gammas.len() + ray
    }

    /// That a column of the smallest γ can be filled up to `share`.
    fn filled(&self, share: f64) -> Row {
        let term = |(ray, ratio): (usize, &f64)| {
            (self.whole(ray), -at_most(*ratio, self.lowest))
        };
        Row { terms: self.rays.iter().enumerate().map(term).collect(), bound: -share }
    }

    /// First the diagonal entries, then the sums of the rays, then their parts.
    fn program(&self) -> Program {
        let size = self.gammas.len();
        let rays = || self.rays.iter().copied().enumerate();
        let mut program = Program {
            factors: vec![0.0; size + self.rays.len() * (size + 1)],
            ..Program::default()
        };
        for (ray, _) in rays() {
            let parts = (0..size).map(|code| (self.part(code, ray), -1.0));
            let terms = parts.chain([(self.whole(ray), 1.0)]).collect();
            program.equal.push(Row { terms, bound: 0.0 });
        }
        for (code, gamma) in self.gammas.iter().enumerate() {
            let own = rays()
                .map(|(ray, ratio)| (self.part(code, ray), -at_most(ratio, *gamma)));
            let terms = own.chain([(code, 1.0)]).collect();
            program.at_most.push(Row { terms, bound: 0.0 });
            let all =
                rays().map(|(ray, ratio)| (self.whole(ray), at_least(ratio, *gamma)));
            let but = rays()
                .map(|(ray, ratio)| (self.part(code, ray), -at_least(ratio, *gamma)));
            let terms = all.chain(but).chain([(code, 1.0)]).collect();
            program.at_most.push(Row { terms, bound: 1.0 });
            for (ray, _) in rays() {
                let terms = vec![(self.part(code, ray), -1.0)];
                program.at_most.push(Row { terms, bound: 0.0 });
            }
        }
        let needed = rays()
            .map(|(ray, ratio)| (self.whole(ray), at_least(ratio, self.lowest)))
            .collect();
        program.at_most.push(Row { terms: needed, bound: 1.0 });
        program.at_most.push(self.filled(1.0));
        program
    }

    fn rows(&self, found: &[f64]) -> RowEntries {
        let most = self.lowest * self.lowest;
        let sum = |code: usize, of: &dyn Fn(f64) -> f64| -> f64 {
            let part = |(ray, ratio): (usize, &f64)| {
                found[self.part(code, ray)].max(0.0) * of(*ratio)
            };
            self.rays.iter().enumerate().map(part).sum()
        };
        let size = self.gammas.len();
        let low: Vec<f64> = (0..size).map(|code| sum(code, &|_| 1.0)).collect();
        let high = (0..size)
            .map(|code| sum(code, &|ratio| ratio).clamp(low[code], most * low[code]))
            .collect();
        RowEntries { low, high: Some(high) }
    }
}

/// The smallest entry of a column with this γ, in a row from 1 to `ratio`.
fn at_least(ratio: f64, gamma: f64) -> f64 {
    (ratio / gamma).max(1.0)
}

/// The largest.
fn at_most(ratio: f64, gamma: f64) -> f64 {
    ratio.min(gamma)
}
