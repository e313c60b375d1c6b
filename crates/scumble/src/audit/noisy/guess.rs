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

use statrs::function::erf::erf_inv;

use crate::audit::noisy::Company;
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
        // Radius to the first rival, or how many fit.
        let start = match self.shape {
            Shape::Gaussian => f64::INFINITY,
            Shape::Uniform => 1.0,
        };
        let mut seen = RivalsSeen {
            points: &self.points[dims],
            cuts: company.cuts(),
            state: vec![start; POINTS],
            equal: 1.0,
        };
        let reach = company.law.reach();
        let mut done = 0;
        for count in [24, 96, 384] {
            let near = company.space.nearest(centre, count);
            let all = near.len() < count;
            for (_, other) in &near[done..] {
                if *other != row {
                    self.rival(company, row, *other, reach, &mut seen);
                }
            }
            done = near.len();
            let share = self.share(&seen, dims);
            let last = near.last().map_or(0.0, |(far, _)| *far);
            let radius = match self.shape {
                Shape::Gaussian => last,
                Shape::Uniform => last.sqrt(),
            };
            if share <= enough || all {
                return (share, radius);
            }
        }
        seen.equal = 1.0;
        seen.state.fill(start);
        company.visit(centre, |other, _, _| {
            if other != row {
                self.rival(company, row, other, reach, &mut seen);
            }
            ControlFlow::Continue(())
        });
        (self.share(&seen, dims), f64::INFINITY)
    }

    fn rival(
        &self,
        company: &Company<'_>,
        row: usize,
        other: usize,
        reach: f64,
        seen: &mut RivalsSeen<'_>,
    ) {
        let (this, that) = (company.space.point(row), company.space.point(other));
        let apart: Vec<f64> = that.iter().zip(this).map(|(a, b)| a - b).collect();
        let equal = apart.iter().all(|v| *v == 0.0);
        match self.shape {
            Shape::Gaussian if equal => seen.equal += 1.0,
            Shape::Gaussian => {
                let square: f64 = apart.iter().map(|v| v * v).sum();
                let (a, b) = (company.coordinates(row), company.coordinates(other));
                if company.law.count(a, b, reach) == 0.0 {
                    return;
                }
                let points = seen.points.chunks_exact(apart.len());
                for (point, radius) in points.zip(&mut seen.state) {
                    // No point of the border is nearer than half the way.
                    if 4.0 * *radius * *radius <= square {
                        continue;
                    }
                    let along: f64 = point.iter().zip(&apart).map(|(g, v)| g * v).sum();
                    if along > 0.0 {
                        *radius = radius.min(square / (2.0 * along));
                    }
                }
            }
            Shape::Uniform => {
                if apart.iter().any(|v| v.abs() > 1.0) {
                    return;
                }
                let points = seen.points.chunks_exact(apart.len());
                for (point, fitting) in points.zip(&mut seen.state) {
                    let axes = point.iter().zip(&apart).zip(&seen.cuts);
                    let mut fits = axes.map(|((o, v), cut)| {
                        let cut = if equal { 0.0 } else { *cut };
                        (o - v).abs() <= 0.5 - cut
                    });
                    if fits.all(|fits| fits) {
                        *fitting += 1.0;
                    }
                }
            }
        }
    }

    fn share(&self, seen: &RivalsSeen<'_>, dims: usize) -> f64 {
        let sum: f64 = match self.shape {
            Shape::Gaussian => {
                let states = seen.state.iter();
                states.map(|radius| within(dims, *radius)).sum::<f64>() / seen.equal
            }
            Shape::Uniform => seen.state.iter().map(|fitting| 1.0 / fitting).sum(),
        };
        sum / POINTS as f64
    }
}

/// What is known of a row so far.
struct RivalsSeen<'a> {
    points: &'a [f64],
    cuts: Vec<f64>,
    state: Vec<f64>,
    equal: f64,
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
            points.push(match shape {
                Shape::Gaussian => std::f64::consts::SQRT_2 * erf_inv(2.0 * part - 1.0),
                Shape::Uniform => part - 0.5,
            });
        }
        if shape == Shape::Gaussian {
            let direction = &mut points[start..];
            let length = direction.iter().map(|g| g * g).sum::<f64>().sqrt();
            direction.iter_mut().for_each(|g| *g /= length);
        }
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
fn within(dims: usize, radius: f64) -> f64 {
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
