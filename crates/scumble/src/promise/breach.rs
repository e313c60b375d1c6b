//! Breach: what somebody believes about a person's value cannot rise from at most one
//! probability to at least another by looking at the release, nor fall the other way.
//!
//! # Guarantee
//! If no value is published from one original value more than γ times as likely as from
//! another, where γ = ρ₂ (1 - ρ₁) / (ρ₁ (1 - ρ₂)), then nobody who gives a property a
//! probability of at most ρ₁ before gives it more than ρ₂ after seeing a published value
//! (no upward breach); and nobody who gives it at least ρ₂ before gives it less than ρ₁
//! after (no downward breach). This holds of any prior belief.
//!
//! # Limits
//! Bounds what one published value says. Releases of the same person with fresh noise add
//! up. Values that depend on each other, such as relatives' diseases, say more together.
//!
//! # Cost
//! O(1).
//!
//! # Source
//! `evfimievski2003limiting`; `thesis2010randomization`, chapter 3; METHODS C1.

use serde::{Deserialize, Serialize};

/// Which way a belief must not move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Breaches {
    /// Not up: nobody becomes sure of a value.
    Upward,
    /// Neither up nor down: nobody becomes sure that a value is not somebody's, either.
    Both,
}

/// How many times as likely one original value may lead to a published value as another, if
/// a belief in it of at most `prior` must not pass `posterior`: never above the exact
/// number. Infinite if the posterior is 1 or more, at most 1 if the prior reaches it.
pub fn amplification(prior: f64, posterior: f64) -> f64 {
    if posterior >= 1.0 {
        return f64::INFINITY;
    }
    let ratio = posterior * (1.0 - prior) / (prior * (1.0 - posterior));
    // Five roundings, each by less than 2^-52.
    ratio * (1.0 - 8.0 * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_numbers_of_the_source() {
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-12 && found <= expected, "{found}");
        };
        near(amplification(0.2, 0.25), 4.0 / 3.0);
        for (count, expected) in
            [(4.0, 15.0), (3.0, 6.6), (2.0, 4.5), (1.0, 39.0 / 11.0)]
        {
            near(amplification(count / 14.0, 3.0 * count / 14.0), expected);
        }
        assert!(amplification(0.4, 1.2).is_infinite());
    }
}
