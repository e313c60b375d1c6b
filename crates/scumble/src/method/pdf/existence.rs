//! Existence probabilities: who is present, if likelihoods are all that is known.
//!
//! `n` of `N` people are present, and a set of `n` people is as likely as the product of
//! their likelihoods (docs/methods.md, "Shifted weights"; the literature calls it
//! conditional Bernoulli sampling).
//!
//! # Guarantee
//! The probabilities are within 1e-9 of the true ones, for any likelihoods and up to half
//! a million people.
//!
//! *Proof.* Multiplying all likelihoods by one number changes nothing, as every set has
//! `n` people. Choose it such that independent people, present with probability
//! `q = p / (1 + p)`, are `n` on average. With `S` their number,
//! `ex_j = Pr(j present and S = n) / Pr(S = n)`.
//! Both are coefficients of polynomials, which are means over `M` points of a circle:
//!
//! `Pr(S = n) + Pr(S = n - M) + Pr(S = n + M) + ... = mean of phi(a) exp(-i a n)`,
//!
//! where `phi(a)` is the product of `z = 1 - q + q exp(i a)` over the people; for the
//! numerator the factor of `j` is `q exp(i a)` instead.
//!
//! - *Aliases.* By Bernstein's inequality `Pr(|S - n| >= x)` is below
//!   `2 exp(-x^2 / (2 v + 2 x / 3))`, `v` the variance of `S`. `M` is such that this is
//!   below 1e-19, or more than `N`, when there are none.
//! - *Points left out.* `|phi(a)|` is at most `exp(-2 v sin^2(a / 2))`, so only points near
//!   1 matter: some fifteen when `v` is large, at most forty.
//! - *Rounding.* Each factor adds a relative error of at most six 2^-53, in all 7e-16 `N`,
//!   the angle `a n` some 1e-12. What is divided by, `M Pr(S = n)`, is not below 1, since `n` is where `S` is
//!   most likely; and it is a sum of a few terms not above 2. ∎
//!
//! # Limits
//! This is the adversary of the paper. One who counts finds more: see `worlds`.
//!
//! # Cost
//! O(distinct likelihoods), with a factor of about a hundred.
//!
//! # Source
//! Probabilities and bounds: `nergiz2007pdf`, section V; docs/methods.md,
//! "Shifted weights". The circle is ours.

use super::chance::Chance;

/// What is left out of a sum is below exp(-45) < 1e-19.
const NEGLIGIBLE: f64 = 45.0;

/// How likely some people are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likelihood {
    /// The logarithm of each one's likelihood; minus infinity for those who cannot be
    /// present. A logarithm, since products of many small weights underflow.
    pub ln: f64,
    /// How many people have it.
    pub people: u64,
}

/// The probability that each person is present, for each likelihood. Nothing if fewer than
/// `present` people can be.
pub fn existence(likelihoods: &[Likelihood], present: u64) -> Option<Vec<Chance>> {
    let sample = PeopleSample::new(likelihoods, present)?;
    Some(likelihoods.iter().map(|likelihood| sample.chance(likelihood.ln)).collect())
}

/// The smallest and the largest probability of presence, cheaper than all of them: who is
/// more likely is more likely present. Nothing if fewer than `present` people can be.
pub fn extremes(likelihoods: &[Likelihood], present: u64) -> Option<(Chance, Chance)> {
    let sample = PeopleSample::new(likelihoods, present)?;
    let spread = LikelihoodRange::of(likelihoods);
    let smallest = if spread.able < spread.people {
        Chance::NEVER
    } else {
        sample.chance(spread.lowest)
    };
    Some((smallest, sample.chance(spread.highest)))
}

/// Bounds of the smallest and the largest probability of presence from the extreme
/// likelihoods alone, as PPALM has them: all other people are made as likely as the most
/// likely one, or as the least likely one. Nothing if fewer than `present` people can be.
pub fn bounds(likelihoods: &[Likelihood], present: u64) -> Option<(Chance, Chance)> {
    let spread = LikelihoodRange::of(likelihoods);
    if present > spread.able || spread.people == 0 {
        return None;
    }
    let impossible = spread.able < spread.people;
    let even = !impossible && spread.lowest == spread.highest;
    if even || present == 0 || present == spread.people {
        let chance = Chance::Exact { part: present, whole: spread.people };
        return Some((chance, chance));
    }
    if impossible {
        return Some((Chance::NEVER, Chance::ALWAYS));
    }
    let ratio = (spread.lowest - spread.highest).exp();
    let (in_it, out) = (present as f64, (spread.people - present) as f64);
    let smallest = in_it * ratio / (in_it * ratio + out);
    let largest = in_it / (in_it + out * ratio);
    Some((Chance::Near(smallest), Chance::Near(largest)))
}

/// How likelihoods differ.
struct LikelihoodRange {
    /// The lowest logarithm of those who can be present.
    lowest: f64,
    highest: f64,
    /// How many people can be present.
    able: u64,
    people: u64,
}

impl LikelihoodRange {
    fn of(likelihoods: &[Likelihood]) -> Self {
        let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut able, mut people) = (0, 0);
        for likelihood in likelihoods.iter().filter(|some| some.people > 0) {
            people += likelihood.people;
            if likelihood.ln > f64::NEG_INFINITY {
                able += likelihood.people;
                lowest = lowest.min(likelihood.ln);
                highest = highest.max(likelihood.ln);
            }
        }
        Self { lowest, highest, able, people }
    }
}

/// A random set of people of a known size.
enum PeopleSample {
    /// All who can be present are equally likely.
    Even(Chance),
    /// They are not.
    Uneven(Circle),
}

impl PeopleSample {
    fn new(likelihoods: &[Likelihood], present: u64) -> Option<Self> {
        let spread = LikelihoodRange::of(likelihoods);
        if present > spread.able {
            return None;
        }
        let certain = present == 0 || present == spread.able;
        Some(if certain || spread.lowest == spread.highest {
            Self::Even(Chance::Exact { part: present, whole: spread.able.max(1) })
        } else {
            Self::Uneven(Circle::new(likelihoods, present, &spread))
        })
    }

    fn chance(&self, ln: f64) -> Chance {
        match self {
            _ if ln == f64::NEG_INFINITY => Chance::NEVER,
            Self::Even(chance) => *chance,
            Self::Uneven(circle) => Chance::Near(circle.chance(ln)),
        }
    }
}

/// `phi(a) exp(-i a n)` on the points of the circle that matter.
struct Circle {
    /// The logarithm of what all likelihoods are multiplied by.
    tilt: f64,
    points: Vec<(CirclePoint, Complex)>,
    /// The sum over the whole circle.
    sum: f64,
}

impl Circle {
    fn new(likelihoods: &[Likelihood], present: u64, spread: &LikelihoodRange) -> Self {
        let tilt = tilt(likelihoods, present, spread);
        let able: Vec<(f64, u64)> = likelihoods
            .iter()
            .filter(|some| some.people > 0 && some.ln > f64::NEG_INFINITY)
            .map(|some| (logistic(some.ln + tilt), some.people))
            .collect();
        let mean: f64 = able.iter().map(|(q, people)| *people as f64 * q).sum();
        let variance: f64 =
            able.iter().map(|(q, people)| *people as f64 * q * (1.0 - q)).sum();

        // The root of Bernstein's x^2 = 45 (2 v + 2 x / 3), one more since the numerator
        // has a person less, and what the tilt missed the mean by.
        let third = NEGLIGIBLE / 3.0;
        let reach = third + (third * third + 2.0 * NEGLIGIBLE * variance).sqrt();
        let reach = reach + 1.0 + (mean - present as f64).abs();
        let enough = reach.ceil().min(spread.able as f64 + 1.0) as u64;
        // Of an odd number of points none is -1, where the factor of q = 1/2 is 0.
        let n_points = enough | 1;

        let mut points = Vec::new();
        let mut sum = 0.0;
        for place in 0..=n_points / 2 {
            let point = CirclePoint::new(
                std::f64::consts::TAU * place as f64 / n_points as f64,
            );
            if 2.0 * variance * point.half_sine_squared > NEGLIGIBLE {
                break;
            }
            let mut value = Complex::turn(-point.angle * present as f64);
            for (q, people) in &able {
                value = value.times(point.factor(*q).power(*people));
            }
            // The other half of the circle is the mirror image.
            let value = if place == 0 { value } else { value.scaled(2.0) };
            sum += value.real;
            points.push((point, value));
        }
        Self { tilt, points, sum }
    }

    fn chance(&self, ln: f64) -> f64 {
        let q = logistic(ln + self.tilt);
        let with: f64 = self
            .points
            .iter()
            .map(|(point, value)| {
                value.times(point.turn.scaled(q)).over(point.factor(q)).real
            })
            .sum();
        (with / self.sum).clamp(0.0, 1.0)
    }
}

/// What to add to all logarithms such that `present` people are expected, about.
fn tilt(likelihoods: &[Likelihood], present: u64, spread: &LikelihoodRange) -> f64 {
    let wanted = present as f64;
    let logit = (wanted / (spread.able - present) as f64).ln();
    // Were all as likely as the most likely one, this would be it; and the least likely.
    let (mut low, mut high) = (logit - spread.highest, logit - spread.lowest);
    let mut tilt = low;
    // Newton's steps, and halves where they would leave the bracket. Any tilt is right;
    // one that is far off needs more points.
    for _ in 0..200 {
        let (mut mean, mut variance) = (0.0, 0.0);
        for likelihood in likelihoods {
            let q = logistic(likelihood.ln + tilt);
            mean += likelihood.people as f64 * q;
            variance += likelihood.people as f64 * q * (1.0 - q);
        }
        if (mean - wanted).abs() < 1e-3 {
            break;
        }
        if mean < wanted {
            low = tilt;
        } else {
            high = tilt;
        }
        let newton = tilt + (wanted - mean) / variance;
        let inside = newton > low && newton < high;
        tilt = if inside { newton } else { low + (high - low) / 2.0 };
    }
    tilt
}

/// `e^x / (1 + e^x)`.
fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// A point `exp(i a)` of the circle.
struct CirclePoint {
    angle: f64,
    turn: Complex,
    /// `sin^2(a / 2)`.
    half_sine_squared: f64,
}

impl CirclePoint {
    fn new(angle: f64) -> Self {
        let half = (angle / 2.0).sin();
        Self { angle, turn: Complex::turn(angle), half_sine_squared: half * half }
    }

    /// `1 - q + q exp(i a)`; the real part is `1 - 2 q sin^2(a / 2)`.
    fn factor(&self, q: f64) -> Complex {
        Complex {
            real: 1.0 - 2.0 * q * self.half_sine_squared,
            imaginary: q * self.turn.imaginary,
        }
    }
}

#[derive(Clone, Copy)]
struct Complex {
    real: f64,
    imaginary: f64,
}

impl Complex {
    fn turn(angle: f64) -> Self {
        let (imaginary, real) = angle.sin_cos();
        Self { real, imaginary }
    }

    fn scaled(self, by: f64) -> Self {
        Self { real: self.real * by, imaginary: self.imaginary * by }
    }

    fn times(self, other: Self) -> Self {
        Self {
            real: self.real * other.real - self.imaginary * other.imaginary,
            imaginary: self.real * other.imaginary + self.imaginary * other.real,
        }
    }

    fn over(self, other: Self) -> Self {
        let norm = other.real * other.real + other.imaginary * other.imaginary;
        let conjugate = Self { real: other.real, imaginary: -other.imaginary };
        self.times(conjugate).scaled(1.0 / norm)
    }

    fn power(self, mut exponent: u64) -> Self {
        let (mut base, mut result) = (self, Self { real: 1.0, imaginary: 0.0 });
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result.times(base);
            }
            base = base.times(base);
            exponent >>= 1;
        }
        result
    }
}

#[cfg(test)]
#[path = "existence_tests.rs"]
mod tests;
