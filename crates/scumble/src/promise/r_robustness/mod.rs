//! r-robustness: nobody's value becomes likelier than 1/r, even to somebody who knows how
//! values depend on quasi columns.

mod priors;

pub use priors::{PriorSet, Priors};

use crate::decimal::Decimal;
use crate::error::{Error, Result};

/// No posterior above 1/r.
#[derive(Debug, Clone, Copy)]
pub struct RRobustness {
    r: Decimal,
}

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
}
