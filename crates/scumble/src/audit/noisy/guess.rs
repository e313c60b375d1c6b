//! How often somebody is the best guess, over the noise.
//!
//! # Guarantee
//! The number of the published rule: 512 fixed points of an additive sequence stand for the
//! noise. For normal noise they are directions, and along each the probability is exact.
//!
//! # Limits
//! It is a quadrature: the rule leaves a tenth of the bound for its error.
//!
//! # Cost
//! 512 times the rivals that are near enough to matter; these are looked at nearest first,
//! and no further once the answer is known.
//!
//! # Source
//! The rule is ours. The sequence is the additive one that generalizes the golden ratio.

use std::ops::ControlFlow;

use crate::audit::noisy::Company;
use crate::audit::noisy::shape::{self, Rivals};
use crate::space::Shape;

/// How many points stand for the noise.
const POINTS: usize = 512;

/// Where the noise goes, for every number of axes.
#[derive(Debug)]
pub(crate) struct Guesses {
    shape: Shape,
    /// For each number of axes: points, each with as many coordinates.
    points: Vec<Vec<f64>>,
}

impl Guesses {
    /// For noise on at most so many axes.
    pub(crate) fn new(shape: Shape, most: usize) -> Self {
        let points = (0..=most).map(|dims| points(shape, dims)).collect();
        Self { shape, points }
    }

    /// How often a row fits best among those that are left, ties shared, and how far away
    /// the last rival is that was looked at. If it is known to be at most `enough`, a number
    /// that is not below it.
    pub(crate) fn best_guess(
        &self,
        company: &Company<'_>,
        row: usize,
        enough: f64,
    ) -> (f64, f64) {
        let dims = company.n_moving();
        if dims == 0 {
            return (1.0 / company.n_left() as f64, 0.0);
        }
        let centre = company.space.point(row);
        let nobody = || Rivals::none(self.shape, &self.points[dims], company.cuts());
        let reach = company.law.reach();
        let mut rivals = nobody();
        let mut done = 0;
        for count in [24, 96, 384] {
            let near = company.space.nearest(centre, count);
            let all = near.len() < count;
            for (_, other) in &near[done..] {
                if is_rival(company, row, *other) {
                    add(company, row, *other, reach, &mut rivals);
                }
            }
            done = near.len();
            let share = rivals.share();
            let last = near.last().map_or(0.0, |(far, _)| *far);
            if share <= enough || all {
                return (share, shape::of(self.shape).as_visited(last));
            }
        }
        let mut rivals = nobody();
        company.visit(centre, |other, _, _| {
            if is_rival(company, row, other) {
                add(company, row, other, reach, &mut rivals);
            }
            ControlFlow::Continue(())
        });
        (rivals.share(), f64::INFINITY)
    }
}

/// Whether a row may be taken for another one's person: none of their own is.
fn is_rival(company: &Company<'_>, row: usize, other: usize) -> bool {
    match (company.person(row), company.person(other)) {
        (Some(this), Some(that)) => this != that,
        _ => row != other,
    }
}

/// Adds a row to the rivals of another.
fn add(
    company: &Company<'_>,
    row: usize,
    other: usize,
    reach: f64,
    rivals: &mut Rivals<'_>,
) {
    let (this, that) = (company.space.point(row), company.space.point(other));
    let apart: Vec<f64> = that.iter().zip(this).map(|(a, b)| a - b).collect();
    let (a, b) = (company.coordinates(row), company.coordinates(other));
    rivals.add(&apart, &|| company.law.count(a, b, reach) != 0.0);
}

/// The points of the rule: directions, or places in the box.
fn points(shape: Shape, dims: usize) -> Vec<f64> {
    let phi = root(dims);
    let mut points = Vec::with_capacity(POINTS * dims);
    for place in 0..POINTS {
        let start = points.len();
        for axis in 0..dims {
            let part =
                (0.5 + (place + 1) as f64 * phi.powi(-(axis as i32 + 1))).fract();
            points.push(part);
        }
        shape::of(shape).point(&mut points[start..]);
    }
    points
}

/// The number above 1 with x^(d+1) = x + 1.
fn root(dims: usize) -> f64 {
    let mut x = 2.0f64;
    for _ in 0..100 {
        x = (x + 1.0).powf(1.0 / (dims as f64 + 1.0));
    }
    x
}

/// The probability that normal noise on so many axes stays within a radius.
pub(crate) fn within(dims: usize, radius: f64) -> f64 {
    if radius.is_infinite() {
        return 1.0;
    }
    let half = radius * radius / 2.0;
    // In steps of two axes: the last ones take away the density at the border.
    let (mut inside, mut term, mut axes) = match dims % 2 {
        0 => (-(-half).exp_m1(), (-half).exp(), 2),
        _ => {
            let term = 2.0 * (half / std::f64::consts::PI).sqrt() * (-half).exp();
            (libm::erf(half.sqrt()), term, 1)
        }
    };
    // Even: e^-x x^j / j!; odd: e^-x x^(j - 1/2) / gamma(j + 1/2).
    if dims.is_multiple_of(2) {
        term *= half;
    }
    while axes < dims {
        inside -= term;
        axes += 2;
        term *= half / (axes as f64 / 2.0);
    }
    inside.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use statrs::function::gamma::gamma_lr;

    use super::*;

    #[test]
    fn balls_hold_what_the_gamma_function_says() {
        for dims in 1..=9 {
            for radius in [0.01, 0.5, 1.0, 2.5, 6.0] {
                let wanted = gamma_lr(dims as f64 / 2.0, radius * radius / 2.0);
                let found = within(dims, radius);
                assert!(
                    (found - wanted).abs() < 1e-11,
                    "{dims} {radius} {found} {wanted}"
                );
            }
        }
    }

    #[test]
    fn the_root_is_one() {
        for dims in 1..8usize {
            let x = root(dims);
            assert!((x.powi(dims as i32 + 1) - x - 1.0).abs() < 1e-12 && x > 1.0);
        }
    }
}
