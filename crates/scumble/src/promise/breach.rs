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
//! `evfimievski2003limiting`; `chaytor2010randomization`, chapter 3; docs/methods.md,
//! "Uniform perturbation".

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::promise::{About, DrawPromise, Promise};

/// Which way a belief must not move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Breaches {
    /// Not up: nobody becomes sure of a value.
    Upward,
    /// Neither up nor down: nobody becomes sure that a value is not somebody's, either.
    Both,
}

impl Breaches {
    /// Its name in recipes and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Upward => "upward",
            Self::Both => "both",
        }
    }
}

/// What is promised of one value: a belief in it of at most `prior` does not pass
/// `posterior`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Above 0, below the posterior.
    pub prior: f64,
    /// Below 1.
    pub posterior: f64,
}

impl Bound {
    /// The amplification it allows.
    pub fn gamma(self) -> f64 {
        amplification(self.prior, self.posterior)
    }
}

/// The same bound for every value.
#[derive(Debug, Clone, Copy)]
pub struct Breach {
    // Above 0.
    prior: Decimal,
    // Above the prior, below 1.
    posterior: Decimal,
    breaches: Breaches,
}

impl Breach {
    /// The promise that a belief of at most `prior` does not pass `posterior`.
    pub fn new(prior: Decimal, posterior: Decimal, breaches: Breaches) -> Result<Self> {
        for (name, number) in [("prior", prior), ("posterior", posterior)] {
            if !number.exceeds(0, 1) || number.at_least(1, 1) {
                let error = Error::out_of_range(name, number, "above 0 and below 1");
                return Err(error.with_hint("it is a probability: 5 % is 0.05"));
            }
        }
        if !prior.less_than(posterior) {
            let wanted = format!("above the prior, {prior}");
            return Err(Error::out_of_range("posterior", posterior, wanted).with_hint(
                "`prior` is what somebody may believe before, `posterior` what they may \
                 believe after",
            ));
        }
        Ok(Self { prior, posterior, breaches })
    }

    /// The bound of every value.
    pub fn bound(&self) -> Bound {
        Bound { prior: self.prior.to_f64(), posterior: self.posterior.to_f64() }
    }

    /// Whether a value of `count` rows of `n` is rare enough to be protected, where rows
    /// are divided into sub-tables.
    pub fn protects(&self, count: u64, n: u64) -> bool {
        self.prior.at_least(u128::from(count), u128::from(n))
    }
}

impl Promise for Breach {
    fn name(&self) -> &'static str {
        "breach"
    }

    fn asked(&self) -> serde_json::Value {
        json!({
            "prior": self.prior.to_f64(),
            "posterior": self.posterior.to_f64(),
            "kind": self.breaches.name(),
        })
    }

    fn title(&self) -> String {
        format!("breach ({}, {})", self.prior, self.posterior)
    }

    fn about(&self) -> About<'_> {
        About::Draws(self)
    }
}

impl DrawPromise for Breach {
    fn breaches(&self) -> Breaches {
        self.breaches
    }

    fn is_fine_grain(&self) -> bool {
        false
    }

    fn bounds(&self, counts: &[u64]) -> Vec<Option<Bound>> {
        vec![Some(self.bound()); counts.len()]
    }
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
