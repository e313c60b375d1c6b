//! Fine-grain breach: a bound of its own for each sensitive value.
//!
//! # Guarantee
//! What `breach` promises, for each value with its own prior and posterior: nobody who gives
//! the value a probability of at most its prior gives it more than its posterior after
//! seeing a published value; in both directions if asked. Values without a bound are not
//! protected.
//!
//! # Limits
//! With a factor, priors are the shares of the values in the table, and the manifest tells
//! them: somebody who knows everybody else's value learns the last one by subtraction. A
//! list of bounds that does not come from the table avoids that.
//! The source's theorem 7 claims the downward direction from the upward condition alone;
//! that is wrong (`reproduce fine-grain-downward`).
//!
//! # Cost
//! O(m) for m values.
//!
//! # Source
//! `chaytor2010randomization`, chapter 5; docs/methods.md, "Fine-grain perturbation".

use serde_json::json;

use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::promise::{About, Bound, Breaches, DrawPromise, Promise};

/// Where the bounds come from.
#[derive(Debug, Clone)]
pub enum Sensitivity {
    /// A value's prior is its share of the table, its posterior so many times that.
    Factor(Decimal),
    /// Each value of the domain has its own; nothing where it needs no protection.
    Listed(Vec<Option<Bound>>),
}

/// A bound for each value.
#[derive(Debug, Clone)]
pub struct FineGrain {
    sensitivity: Sensitivity,
    breaches: Breaches,
}

impl FineGrain {
    /// The promise. A factor must be above 1.
    pub fn new(sensitivity: Sensitivity, breaches: Breaches) -> Result<Self> {
        if let Sensitivity::Factor(factor) = sensitivity
            && !factor.exceeds(1, 1)
        {
            return Err(Error::out_of_range("factor", factor, "above 1").with_hint(
                "it says how many times as sure somebody may become as they were before",
            ));
        }
        Ok(Self { sensitivity, breaches })
    }

    /// The same with bounds that were listed.
    pub fn listed(self, bounds: Vec<Option<Bound>>) -> Self {
        Self { sensitivity: Sensitivity::Listed(bounds), ..self }
    }

    /// Whether bounds were listed, and do not come from the table.
    pub fn is_listed(&self) -> bool {
        matches!(self.sensitivity, Sensitivity::Listed(_))
    }
}

impl Promise for FineGrain {
    fn name(&self) -> &'static str {
        "fine-grain"
    }

    fn asked(&self) -> serde_json::Value {
        let kind = self.breaches.name();
        match &self.sensitivity {
            Sensitivity::Factor(factor) => {
                json!({ "factor": factor.to_f64(), "kind": kind })
            }
            Sensitivity::Listed(_) => json!({ "values": "listed", "kind": kind }),
        }
    }

    fn title(&self) -> String {
        match &self.sensitivity {
            Sensitivity::Factor(factor) => {
                format!("fine-grain (factor {factor})")
            }
            Sensitivity::Listed(_) => "fine-grain".to_owned(),
        }
    }

    fn about(&self) -> About<'_> {
        About::Draws(self)
    }
}

impl DrawPromise for FineGrain {
    fn breaches(&self) -> Breaches {
        self.breaches
    }

    fn is_fine_grain(&self) -> bool {
        true
    }

    /// A value that nobody has is taken for one that one person has.
    fn bounds(&self, counts: &[u64]) -> Vec<Option<Bound>> {
        let n: u64 = counts.iter().sum();
        match &self.sensitivity {
            Sensitivity::Factor(factor) => {
                let bound = |count: &u64| {
                    let prior = (*count).max(1) as f64 / n as f64;
                    let posterior = factor.to_f64() * prior;
                    (posterior < 1.0).then_some(Bound { prior, posterior })
                };
                counts.iter().map(bound).collect()
            }
            Sensitivity::Listed(bounds) => bounds.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(number: f64) -> Result<FineGrain> {
        let factor = Decimal::from_f64("factor", number)?;
        FineGrain::new(Sensitivity::Factor(factor), Breaches::Upward)
    }

    #[test]
    fn common_values_need_no_bound() {
        let bounds = factor(3.0).unwrap().bounds(&[7, 4, 3, 0]);
        assert_eq!(bounds[0], None, "three halves");
        assert_eq!(
            bounds[1],
            Some(Bound { prior: 4.0 / 14.0, posterior: 12.0 / 14.0 })
        );
        assert_eq!(bounds[3], Some(Bound { prior: 1.0 / 14.0, posterior: 3.0 / 14.0 }));
    }

    #[test]
    fn a_factor_of_one_is_refused() {
        let error = factor(1.0).unwrap_err();
        assert_eq!(error.to_string(), "`factor` is 1, but must be above 1");
    }
}
