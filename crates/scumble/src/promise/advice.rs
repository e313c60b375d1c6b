//! delta-presence from risk: how large a range somebody can live with.
//!
//! Everybody in the table has a condition, and a share `prior` of the population has it. An
//! adversary who believes somebody to be in the table with probability d believes them to
//! have the condition with
//! `d + (1 - d) (prior - r) / (1 - r)`, where r is the table's share of the population:
//! who is not in the table may have it all the same. Before the release d is r, and this is
//! the prior. The range is what keeps the change of belief within `change`, up and down.
//!
//! # Guarantee
//! `max` is rounded down and `min` up, so the change stays within what was accepted.
//!
//! # Limits
//! Taken for granted: all people in the table have the condition, and the adversary knows
//! the prior and nothing else about who has it.
//!
//! # Cost
//! O(1).
//!
//! # Source
//! `nergiz2007presence`, section 5.

use crate::decimal::Decimal;
use crate::error::{Error, Result};

/// What is known before a range is chosen.
#[derive(Debug, Clone, Copy)]
pub struct PresenceRisk {
    /// The share of the population with the condition.
    pub prior: f64,
    /// The change of belief that is acceptable, as a probability.
    pub change: f64,
    /// People in the population.
    pub people: u64,
    /// Rows of the table.
    pub rows: u64,
}

/// A range for delta-presence.
#[derive(Debug, Clone, Copy)]
pub struct PresenceAdvice {
    /// The least presence.
    pub min: Decimal,
    /// The largest presence.
    pub max: Decimal,
    /// What an adversary believes of somebody at `min`.
    pub least_belief: f64,
    /// What an adversary believes of somebody at `max`.
    pub largest_belief: f64,
}

/// Advice is rounded to this many parts.
const PARTS: f64 = 1e6;

impl PresenceRisk {
    /// The widest range that keeps the change of belief acceptable.
    pub fn advise(&self) -> Result<PresenceAdvice> {
        let between = |name: &str, value: f64| {
            if value > 0.0 && value < 1.0 {
                return Ok(());
            }
            Err(Error::out_of_range(name, value, "between 0 and 1"))
        };
        between("prior", self.prior)?;
        between("misuse", self.change)?;
        if self.rows == 0 || self.people == 0 {
            return Err(Error::recipe(
                "the table and the population must not be empty",
            ));
        }
        if self.rows >= self.people {
            return Err(Error::out_of_range(
                "rows of the table",
                self.rows,
                format!("fewer than the {} people of the population", self.people),
            ));
        }
        let share = self.rows as f64 / self.people as f64;
        if share > self.prior {
            return Err(Error::out_of_range(
                "prior",
                self.prior,
                format!("at least {share:.6}, the table's share of the population"),
            )
            .with_hint("everybody in the table is taken to have the condition"));
        }
        let range = |change: f64| {
            (change + (1.0 - change - self.prior) * share) / (1.0 - self.prior)
        };
        let min = (range(-self.change).max(0.0) * PARTS).ceil() / PARTS;
        let max = (range(self.change).min(1.0) * PARTS).floor() / PARTS;
        let belief = |presence: f64| {
            presence + (1.0 - presence) * (self.prior - share) / (1.0 - share)
        };
        Ok(PresenceAdvice {
            min: Decimal::from_f64("min", min)?,
            max: Decimal::from_f64("max", max)?,
            least_belief: belief(min),
            largest_belief: belief(max),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn risk(change: f64) -> PresenceRisk {
        PresenceRisk { prior: 0.07, change, people: 100_000, rows: 4_000 }
    }

    #[test]
    fn the_numbers_of_the_source() {
        let advice = risk(0.01).advise().expect("advice");
        assert!((advice.max.to_f64() - 0.0503).abs() < 5e-5, "{}", advice.max);
        let advice = risk(0.02).advise().expect("advice");
        assert!((advice.min.to_f64() - 0.0194).abs() < 5e-5, "{}", advice.min);
    }

    #[test]
    fn the_change_of_belief_stays_acceptable() {
        for step in 1..100 {
            let change = f64::from(step) / 100.0;
            let advice = risk(change).advise().expect("advice");
            assert!(advice.largest_belief - 0.07 <= change + 1e-12);
            assert!(0.07 - advice.least_belief <= change + 1e-12);
            assert!(advice.min.to_f64() <= 0.04 && advice.max.to_f64() >= 0.04);
        }
    }

    #[test]
    fn numbers_that_cannot_be() {
        let wrong = [
            PresenceRisk { prior: 0.0, ..risk(0.01) },
            PresenceRisk { change: 1.0, ..risk(0.01) },
            PresenceRisk { change: f64::NAN, ..risk(0.01) },
            PresenceRisk { rows: 0, ..risk(0.01) },
            PresenceRisk { rows: 100_000, ..risk(0.01) },
            PresenceRisk { prior: 0.03, ..risk(0.01) },
        ];
        for risk in wrong {
            assert!(risk.advise().is_err(), "{risk:?}");
        }
    }
}
