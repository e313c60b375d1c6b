//! r-robustness: nobody's value becomes likelier than 1/r, even to somebody who knows how
//! values depend on quasi columns.

mod delta;
mod priors;
mod worlds;

pub use delta::{binary_posteriors, delta_ceil, delta_max, within_bound};
pub use priors::{PriorSet, Priors};
pub use worlds::{MOST_STATES, Scratch, posteriors};

use crate::decimal::Decimal;
use crate::error::{Error, Result};
use worlds::Worlds;

/// No posterior above 1/r.
#[derive(Debug, Clone, Copy)]
pub struct RRobustness {
    r: Decimal,
}

/// What is found of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Whether no posterior is above 1/r.
    pub holds: bool,
    /// Whether that is of all possible worlds; else only of each value against all others.
    pub exact: bool,
    /// The largest posterior; 1 if what is believed rules the group out.
    pub posterior: f64,
}

/// A posterior is a sum of positive floats and errs by a share far below 1e-10
/// (`worlds.rs`). It is taken to be above 1/r unless it is below by more than that.
const MARGIN: f64 = 1e-9;

impl RRobustness {
    /// Its name in recipes and manifests.
    pub const NAME: &'static str = "r-robustness";

    /// The promise; r must be above 1.
    pub fn new(r: Decimal) -> Result<Self> {
        if !r.exceeds(1, 1) {
            return Err(Error::out_of_range("r", r, "above 1")
                .with_hint("no belief passes 1/r: r = 1 asks for no protection"));
        }
        Ok(Self { r })
    }

    /// The bound is 1/r.
    pub fn r(&self) -> Decimal {
        self.r
    }

    /// Whether it holds of a group with `n` rows and `n` values, each value once, where
    /// `priors[row * n + value]` is what is believed before.
    pub fn judge(&self, priors: &[f64], n: usize, scratch: &mut Scratch) -> Verdict {
        let enough = n > 0 && !self.r.exceeds(n as u128, 1);
        let below =
            |posterior: f64| enough && posterior * self.r.to_f64() <= 1.0 - MARGIN;
        match scratch.sum(priors, n) {
            Worlds::Alike => {
                Verdict { holds: enough, exact: true, posterior: 1.0 / n as f64 }
            }
            Worlds::Largest(posterior) => {
                Verdict { holds: below(posterior), exact: true, posterior }
            }
            Worlds::None => Verdict { holds: false, exact: true, posterior: 1.0 },
            Worlds::TooMany => {
                let posterior = delta::largest_binary(priors, n);
                Verdict { holds: below(posterior), exact: false, posterior }
            }
        }
    }
}

#[cfg(test)]
mod tests;
