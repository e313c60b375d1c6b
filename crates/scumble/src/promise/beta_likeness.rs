//! β-likeness: no group makes a sensitive value much likelier than the whole table does.
//!
//! # Guarantee
//! In every group and for every value whose share q there is larger than its share p in the
//! published table, the gain (q - p) / p is
//! - *basic*: at most β;
//! - *enhanced*: at most the smaller of β and -ln p.
//!
//! So whoever finds somebody's group believes in a value at most 1 + β times as much as
//! before, rare values included. Enhanced, nobody becomes certain: q is at most p (1 - ln p),
//! which is below 1 for every p below 1. Values that become rarer are not bounded.
//!
//! *Why merging keeps it.* The share of a value in a union lies between those in its parts,
//! and the bound p + p min(β, -ln p) depends on the whole table only, which stays the same.
//! What is computed keeps it, too: gains are compared as whole numbers with decimals that
//! depend on the whole table only. ∎
//!
//! When rows are left out, the whole table is the *published* one, as with t-closeness.
//!
//! # Limits
//! What a value that is missing from a group tells is not bounded (see delta-disclosure).
//! Values that mean the same count as different; each value alone is bounded, not sets of
//! them. An adversary who knows how values depend on quasi columns concludes more. Several
//! sensitive columns are each looked at alone.
//!
//! # Cost
//! O(values present) a group.
//!
//! # Source
//! `cao2012betalikeness`: basic and enhanced β-likeness.

use serde_json::json;

use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::promise::{About, Group, GroupPromise, Promise};
use crate::table::Histogram;

/// How the gain of a value is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// By β.
    Basic,
    /// By β, and for common values by minus the logarithm of their share.
    Enhanced,
}

impl Likeness {
    /// Both, in the order in which they are listed to users.
    pub const ALL: [Self; 2] = [Self::Enhanced, Self::Basic];

    /// Its name in recipes and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Enhanced => "enhanced",
        }
    }
}

/// No value gains much in a group.
#[derive(Debug, Clone, Copy)]
pub struct BetaLikeness {
    // Above 0.
    beta: Decimal,
    form: Likeness,
}

impl BetaLikeness {
    /// The promise; β must be above 0.
    pub fn new(beta: Decimal, form: Likeness) -> Result<Self> {
        match beta.exceeds(0, 1) {
            true => Ok(Self { beta, form }),
            false => Err(Error::out_of_range("beta", beta, "above 0")),
        }
    }

    /// Only values of the group can gain.
    fn alike(&self, group: &Histogram, whole: &Histogram) -> bool {
        let (here, all) = (u128::from(group.total()), u128::from(whole.total()));
        group.present().all(|(code, count)| {
            let of_all = u128::from(whole.count(code));
            // Gain and unit, times the sizes of both.
            let unit = of_all * here;
            let gain = (u128::from(count) * all).saturating_sub(unit);
            gain == 0
                || (self.beta.at_least(gain, unit)
                    && (self.form == Likeness::Basic
                        || Decimal::below(surprise(of_all, all)).at_least(gain, unit)))
        })
    }
}

/// Minus the logarithm of a share.
fn surprise(part: u128, whole: u128) -> f64 {
    (whole as f64 / part as f64).ln()
}

impl Promise for BetaLikeness {
    fn name(&self) -> &'static str {
        "beta-likeness"
    }

    fn asked(&self) -> serde_json::Value {
        json!({ "beta": self.beta.to_f64(), "form": self.form.name() })
    }

    fn title(&self) -> String {
        format!("{} {}-likeness", self.form.name(), self.beta)
    }

    fn about(&self) -> About<'_> {
        About::Groups(self)
    }
}

impl GroupPromise for BetaLikeness {
    fn looks_at_values(&self) -> bool {
        true
    }

    fn looks_at_whole(&self) -> bool {
        true
    }

    fn holds(&self, group: Group<'_>, whole: Group<'_>) -> bool {
        let mut columns = group.values.iter().zip(whole.values);
        columns.all(|(group, whole)| self.alike(group, whole))
    }

    fn obstacle(&self, _whole: Group<'_>) -> String {
        "no grouping keeps every value of every group this near to its share".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(beta: f64, form: Likeness, group: &[u64], whole: &[u64]) -> bool {
        let beta = Decimal::from_f64("beta", beta).expect("a decimal");
        let promise = BetaLikeness::new(beta, form).expect("good parameters");
        promise.alike(&Histogram::of(group), &Histogram::of(whole))
    }

    #[test]
    fn exactly_beta_is_allowed() {
        // From one in ten to three in ten is a gain of two.
        let (group, whole) = ([3, 7], [10, 90]);
        assert!(holds(2.0, Likeness::Basic, &group, &whole));
        assert!(!holds(1.999_999, Likeness::Basic, &group, &whole));
        assert!(holds(2.0, Likeness::Enhanced, &group, &whole), "2 is below ln 10");
    }

    #[test]
    fn enhanced_leaves_nobody_certain() {
        // A value of half the table may gain ln 2 = 0.693: its share may be 0.846.
        assert!(holds(9.0, Likeness::Basic, &[5, 0], &[50, 50]));
        assert!(!holds(9.0, Likeness::Enhanced, &[5, 0], &[50, 50]));
        assert!(holds(9.0, Likeness::Enhanced, &[84, 16], &[50, 50]));
        assert!(!holds(9.0, Likeness::Enhanced, &[85, 15], &[50, 50]));
        // One value in all rows cannot gain.
        assert!(holds(0.1, Likeness::Enhanced, &[5], &[50]));
    }

    #[test]
    fn beta_is_above_zero() {
        let error = BetaLikeness::new(Decimal::ZERO, Likeness::Basic).expect_err("0");
        assert_eq!(error.to_string(), "`beta` is 0, but must be above 0");
    }
}
