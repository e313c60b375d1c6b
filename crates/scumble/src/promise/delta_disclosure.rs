//! δ-disclosure: no group makes a sensitive value much likelier or unlikelier.
//!
//! # Guarantee
//! In every group and for every value of the published table, with share q in the group and
//! p in the table, |ln (q / p)| is below δ. In particular every value occurs in every group:
//! nobody can rule one out.
//!
//! *Why merging keeps it.* The share in a union lies between those in its parts, and the
//! numbers between p e^-δ and p e^δ are an interval that depends on the whole table only,
//! which stays the same. What is computed keeps it, too: q / p and p / q are compared as
//! whole numbers with one decimal that is certainly below e^δ. ∎ No logarithm of a fraction
//! other than 1 is a decimal, so nothing ever lies exactly on the bound.
//!
//! When rows are left out, the whole table is the *published* one, as with t-closeness.
//!
//! # Limits
//! Strict: a value of few rows allows only as many groups. Each value alone is bounded, not
//! sets of them. An adversary who knows how values depend on quasi columns concludes more.
//! Several sensitive columns are each looked at alone.
//!
//! # Cost
//! O(values of the domain) a group.
//!
//! # Source
//! `brickell2008cost`.

use serde_json::json;

use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::promise::{About, Group, GroupPromise, Promise};
use crate::table::Histogram;

/// No value gains or loses much in a group.
#[derive(Debug, Clone, Copy)]
pub struct DeltaDisclosure {
    // Above 0.
    delta: Decimal,
    // Certainly below e^delta.
    factor: Decimal,
}

impl DeltaDisclosure {
    /// The promise; δ must be above 0.
    pub fn new(delta: Decimal) -> Result<Self> {
        if !delta.exceeds(0, 1) {
            return Err(Error::out_of_range("delta", delta, "above 0"));
        }
        Ok(Self { delta, factor: Decimal::below(delta.to_f64().exp()) })
    }

    fn discloses_little(&self, group: &Histogram, whole: &Histogram) -> bool {
        let (here, all) = (u128::from(group.total()), u128::from(whole.total()));
        whole.present().all(|(code, of_all)| {
            // Both shares, times the sizes of both.
            let q = u128::from(group.count(code)) * all;
            let p = u128::from(of_all) * here;
            q == p || (q > 0 && self.factor.exceeds(q, p) && self.factor.exceeds(p, q))
        })
    }
}

impl Promise for DeltaDisclosure {
    fn name(&self) -> &'static str {
        "delta-disclosure"
    }

    fn asked(&self) -> serde_json::Value {
        json!({ "delta": self.delta.to_f64() })
    }

    fn title(&self) -> String {
        format!("{}-disclosure", self.delta)
    }

    fn about(&self) -> About<'_> {
        About::Groups(self)
    }
}

impl GroupPromise for DeltaDisclosure {
    fn looks_at_values(&self) -> bool {
        true
    }

    fn looks_at_whole(&self) -> bool {
        true
    }

    fn holds(&self, group: Group<'_>, whole: Group<'_>) -> bool {
        let mut columns = group.values.iter().zip(whole.values);
        columns.all(|(group, whole)| self.discloses_little(group, whole))
    }

    fn obstacle(&self, _whole: Group<'_>) -> String {
        "no grouping keeps every value of every group this near to its share".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(delta: f64, group: &[u64], whole: &[u64]) -> bool {
        let delta = Decimal::from_f64("delta", delta).expect("a decimal");
        let promise = DeltaDisclosure::new(delta).expect("good parameters");
        promise.discloses_little(&Histogram::of(group), &Histogram::of(whole))
    }

    #[test]
    fn both_ways_are_bounded() {
        // From a half to a fifth is a factor of 2.5, and ln 2.5 is 0.91629.
        assert!(holds(0.9163, &[2, 8], &[5, 5]));
        assert!(!holds(0.9162, &[2, 8], &[5, 5]));
        // From a half to 0.9 is only 1.8, but the other value goes down by 5.
        assert!(!holds(1.6, &[9, 1], &[5, 5]));
        assert!(holds(1.61, &[9, 1], &[5, 5]));
    }

    #[test]
    fn every_value_occurs_in_every_group() {
        assert!(!holds(900.0, &[7, 0], &[500, 1]));
        assert!(holds(900.0, &[7, 1], &[500, 1]), "e^900 is no number, and no matter");
    }

    #[test]
    fn the_whole_table_is_like_itself_however_small_delta_is() {
        assert!(holds(1e-12, &[7, 3], &[70, 30]));
        assert!(!holds(1e-12, &[7, 4], &[70, 30]));
    }

    #[test]
    fn delta_is_above_zero() {
        let error = DeltaDisclosure::new(Decimal::ZERO).expect_err("0");
        assert_eq!(error.to_string(), "`delta` is 0, but must be above 0");
    }
}
