//! Where a true number may be, given the published one: probabilities and moments over
//! stretches of the lattice, and all else that depends on the shape of noise.
//!
//! # Guarantee
//! Everything is in steps of the lattice, and numbers are whole. If every number of the
//! lattice was equally likely before, [`over`] is proportional to the probability that the
//! true number is in a stretch.
//!
//! *Proof.* Let z be the published number. Normal noise: z is `x + e` rounded, so z comes
//! from x with probability `Φ((z - x + ½) / s) - Φ((z - x - ½) / s)`. Summed over x from a
//! to b all terms but two cancel, and `Φ((z - a + ½) / s) - Φ((z - b - ½) / s)` is left:
//! what a normal law around z has between `a - ½` and `b + ½`. Even noise over 2m + 1
//! offsets: each x from z - m to z + m gives z equally often, so the share of these that are
//! in the stretch counts. Dividing by the same over all possible numbers gives the
//! posterior. ∎
//!
//! # Limits
//! First and second moments of wide normal noise over long stretches are those of the
//! continuous law with the first correction for rounding; the rest is less than 1e-4 of the
//! noise.
//!
//! # Cost
//! Two tails; for moments of narrow noise or over short stretches, one for each number.
//!
//! # Source
//! `aggarwal2008unifying`, section 2.D; the lattice is ours.

use std::ops::ControlFlow;

use libm::{erfc, exp};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::space::{Cube, Shape, Space};

/// From how many steps on noise counts as wide.
const WIDE: f64 = 4.0;

/// Up to how many numbers a stretch is added up one by one.
const SHORT: f64 = 64.0;

/// What a law has over a stretch.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Over {
    /// How likely the number is there.
    pub(crate) mass: f64,
    /// The mean of the difference to the published number, zero elsewhere.
    pub(crate) first: f64,
    /// The mean of the square of that.
    pub(crate) second: f64,
}

impl Over {
    pub(crate) fn add(&mut self, other: Self) {
        self.mass += other.mass;
        self.first += other.first;
        self.second += other.second;
    }

    /// Whatever it is, in units of this.
    pub(crate) fn share_of(self, all: f64) -> Self {
        let Self { mass, first, second } = self;
        Self { mass: mass / all, first: first / all, second: second / all }
    }
}

/// What the law around `z` has from `low` to `high`, both included; moments only if asked.
pub(crate) fn over(
    shape: Shape,
    z: f64,
    spread: f64,
    (low, high): (f64, f64),
    moments: bool,
) -> Over {
    let (low, high) = (low - z, high - z);
    if low > high {
        return Over::default();
    }
    match shape {
        // Without noise the number is what it is.
        _ if spread == 0.0 => {
            let mass = if low <= 0.0 && 0.0 <= high { 1.0 } else { 0.0 };
            Over { mass, ..Over::default() }
        }
        Shape::Uniform => {
            let reach = reach(spread);
            let (low, high) = (low.max(-reach), high.min(reach));
            let n = (high - low + 1.0).max(0.0);
            let side = 2.0 * reach + 1.0;
            let middle = (low + high) / 2.0;
            let second = middle * middle + (n * n - 1.0) / 12.0;
            let part = Over { mass: n, first: n * middle, second: n * second };
            if n == 0.0 { Over::default() } else { part.share_of(side) }
        }
        Shape::Gaussian if moments => {
            let near = (2.0 * WIDE * WIDE).max(SHORT);
            if high - low < SHORT {
                one_by_one(spread, low, high)
            } else if spread < WIDE && low <= near && high >= -near {
                one_by_one(spread, low.max(-near), high.min(near))
            } else {
                whole(spread, low, high)
            }
        }
        Shape::Gaussian => {
            let mass = between((low - 0.5) / spread, (high + 0.5) / spread);
            Over { mass, ..Over::default() }
        }
    }
}

/// The number below which the law around `z`, cut to `low` and `high`, has the share `point`.
/// The law must have something there.
pub(crate) fn quantile(
    shape: Shape,
    z: f64,
    spread: f64,
    (low, high): (f64, f64),
    point: f64,
) -> f64 {
    if spread == 0.0 {
        return z;
    }
    let number = match shape {
        Shape::Uniform => {
            let reach = reach(spread);
            let (low, high) = (low.max(z - reach), high.min(z + reach));
            // The product may round up to the number after the last.
            (low + (point * (high - low + 1.0)).floor()).min(high)
        }
        Shape::Gaussian => {
            let (a, b) = ((low - 0.5 - z) / spread, (high + 0.5 - z) / spread);
            let normal = Normal::standard();
            // From the nearer end, so that nothing is lost far from zero.
            let unit = if a > 0.0 {
                -normal.inverse_cdf(tail(a) - point * (tail(a) - tail(b)))
            } else {
                let below = tail(-a);
                normal.inverse_cdf(below + point * (tail(-b) - below))
            };
            (z + spread * unit).round()
        }
    };
    number.max(low).min(high)
}

/// How many steps even noise reaches to either side.
pub(crate) fn reach(side: f64) -> f64 {
    ((side - 1.0) / 2.0).round().max(0.0)
}

/// The variance of noise along a column, after rounding.
pub(crate) fn variance(shape: Shape, spread: f64) -> f64 {
    match shape {
        _ if spread == 0.0 => 0.0,
        Shape::Uniform => {
            let side = 2.0 * reach(spread) + 1.0;
            (side * side - 1.0) / 12.0
        }
        // Off by less than 1e-7.
        Shape::Gaussian if spread >= 1.0 => spread * spread + 1.0 / 12.0,
        Shape::Gaussian => {
            let term = |j: f64| 2.0 * (2.0 * j - 1.0) * tail((j - 0.5) / spread);
            (1..=12).map(|j| term(f64::from(j))).sum()
        }
    }
}

/// What noise along an axis whose spread is 1 is below with the probability `point`.
pub(crate) fn quantile_of_unit(shape: Shape, point: f64) -> f64 {
    match shape {
        Shape::Gaussian => Normal::standard().inverse_cdf(point),
        Shape::Uniform => point - 0.5,
    }
}

/// A point on the border of the box belongs to it, whatever the last digit says.
const HALF: f64 = 0.5 + 1e-9;

/// Points of a space, in spreads, among which are the `q` that fit best of those that noise
/// leads to `place` from.
pub(crate) fn best(shape: Shape, space: &Space, place: &[f64], q: usize) -> Vec<usize> {
    match shape {
        Shape::Gaussian => {
            space.nearest(place, q).into_iter().map(|(_, p)| p).collect()
        }
        Shape::Uniform => {
            let mut found = Vec::new();
            space.within::<Cube>(place, HALF, |point, _, _| {
                found.push(point);
                ControlFlow::Continue(())
            });
            found
        }
    }
}

/// Normal noise, number by number.
fn one_by_one(spread: f64, low: f64, high: f64) -> Over {
    let mut all = Over::default();
    for step in 0..=(high - low) as u64 {
        let d = low + step as f64;
        let mass = between((d - 0.5) / spread, (d + 0.5) / spread);
        all.add(Over { mass, first: d * mass, second: d * d * mass });
    }
    all
}

/// Normal noise over a whole stretch, corrected for rounding: within a cell around x the
/// mean of `ξ - x` is the slope of the density by 12, and slopes add up to differences of
/// the density at the ends.
fn whole(spread: f64, low: f64, high: f64) -> Over {
    let (a, b) = (low - 0.5, high + 0.5);
    let mass = between(a / spread, b / spread);
    let (f, g) = (density(a / spread) / spread, density(b / spread) / spread);
    let variance = spread * spread;
    let first = variance * (f - g) - (g - f) / 12.0;
    let second =
        variance * (mass + a * f - b * g) - (2.0 * (b * g - a * f) - mass) / 12.0;
    Over { mass, first, second }
}

/// How likely a standard normal number is between two, without loss far from zero.
fn between(a: f64, b: f64) -> f64 {
    let mass = if a > 0.0 {
        tail(a) - tail(b)
    } else if b < 0.0 {
        tail(-b) - tail(-a)
    } else {
        1.0 - tail(-a) - tail(b)
    };
    mass.max(0.0)
}

fn tail(u: f64) -> f64 {
    0.5 * erfc(u * std::f64::consts::FRAC_1_SQRT_2)
}

fn density(u: f64) -> f64 {
    const PEAK: f64 = 0.398_942_280_401_432_7;
    PEAK * exp(-0.5 * u * u)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_the_lattice() {
        // Long stretches agree with sums over their numbers.
        for (spread, low, high) in [
            (0.3, -100.0, 100.0),
            (1.7, -90.0, 1.0),
            (4.5, -70.0, 3.0),
            (20.0, -300.0, 10.0),
            (20.0, 15.0, 90.0),
            (3.0, 9.0, 200.0),
        ] {
            let long = over(Shape::Gaussian, 0.0, spread, (low, high), true);
            let sum = one_by_one(spread, low, high);
            assert!((long.mass - sum.mass).abs() < 1e-14, "{spread}");
            assert!((long.first - sum.first).abs() < 1e-5 * spread, "{spread}");
            let scale = 1e-4 * spread * spread;
            assert!((long.second - sum.second).abs() < scale, "{spread}");
            let plain = over(Shape::Gaussian, 0.0, spread, (low, high), false);
            assert!((plain.mass - sum.mass).abs() < 1e-14);
        }
        for (side, low, high) in [(1.0, -4.0, 4.0), (9.0, -2.0, 90.0), (9.0, 2.0, 3.0)]
        {
            let found = over(Shape::Uniform, 5.0, side, (low + 5.0, high + 5.0), true);
            let reach = (side as i64 - 1) / 2;
            let inside =
                (-reach..=reach).filter(|d| low as i64 <= *d && *d <= high as i64);
            let sum = |power: u32| {
                inside.clone().map(|d| d.pow(power) as f64).sum::<f64>() / side
            };
            assert!((found.mass - sum(0)).abs() < 1e-15);
            assert!((found.first - sum(1)).abs() < 1e-14);
            assert!((found.second - sum(2)).abs() < 1e-14);
        }
        assert_eq!(over(Shape::Uniform, 0.0, 5.0, (3.0, 9.0), true), Over::default());
        assert_eq!(over(Shape::Gaussian, 0.0, 5.0, (3.0, 2.0), true), Over::default());
        assert_eq!(over(Shape::Gaussian, 7.0, 0.0, (7.0, 7.0), true).mass, 1.0);
    }

    #[test]
    fn quantiles_give_every_number_its_mass() {
        let n = 200_000;
        let cases = [
            (Shape::Gaussian, 3.2, (-20.0, 20.0)),
            (Shape::Gaussian, 3.2, (-2.0, 4.0)),
            // Far out, on either side.
            (Shape::Gaussian, 1.0, (7.0, 12.0)),
            (Shape::Gaussian, 1.0, (-12.0, -7.0)),
            (Shape::Uniform, 9.0, (-2.0, 30.0)),
            (Shape::Gaussian, 0.3, (-2.0, 2.0)),
        ];
        for (shape, spread, (low, high)) in cases {
            let z = 5.0;
            let bounds = (low + z, high + z);
            let mut counts = vec![0.0; (high - low) as usize + 1];
            for t in 0..n {
                let point = (f64::from(t) + 0.5) / f64::from(n);
                let x = quantile(shape, z, spread, bounds, point);
                counts[(x - bounds.0) as usize] += 1.0 / f64::from(n);
            }
            let all = over(shape, z, spread, bounds, false).mass;
            for (place, share) in counts.iter().enumerate() {
                let x = bounds.0 + place as f64;
                let mass = over(shape, z, spread, (x, x), false).mass / all;
                assert!((share - mass).abs() < 2e-5, "{x}: {share} is not {mass}");
            }
        }
        assert_eq!(quantile(Shape::Gaussian, 7.0, 0.0, (0.0, 9.0), 0.2), 7.0);
    }

    #[test]
    fn variances_of_rounded_noise() {
        for spread in [0.1, 0.4, 0.9, 1.0, 1.1, 3.0] {
            let all = one_by_one(spread, -60.0, 60.0);
            let found = variance(Shape::Gaussian, spread);
            assert!((found - all.second).abs() < 1e-6, "{spread}: {found}");
        }
        assert_eq!(variance(Shape::Uniform, 3.0), 2.0 / 3.0);
        assert_eq!(variance(Shape::Uniform, 0.0), 0.0);
    }
}
