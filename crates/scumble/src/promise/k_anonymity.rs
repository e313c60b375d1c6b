//! k-anonymity: nobody stands in a group of fewer than k.
//!
//! # Guarantee
//! Each published tuple of quasi cells occurs at least k times, so knowing a person's
//! quasi values never narrows them down to fewer than k rows.
//!
//! # Limits
//! Says nothing about sensitive values: a group may share one. Presence in the table is
//! not hidden.
//!
//! # Cost
//! O(1) a group.
//!
//! # Source
//! `sweeney2002kanonymity`.

use serde_json::json;

use crate::error::{Error, Result};
use crate::promise::{About, Group, GroupPromise, Promise};

/// Every group has at least `k` rows.
#[derive(Debug, Clone, Copy)]
pub struct KAnonymity {
    // At least 2.
    k: u64,
}

impl KAnonymity {
    /// The promise for groups of at least `k`, which must be 2 or more.
    pub fn new(k: u64) -> Result<Self> {
        if k < 2 {
            return Err(Error::out_of_range("k", k, "at least 2")
                .with_hint("k = 1 asks for no protection"));
        }
        Ok(Self { k })
    }

    /// The smallest group allowed.
    pub fn k(self) -> u64 {
        self.k
    }
}

impl Promise for KAnonymity {
    fn name(&self) -> &'static str {
        "k-anonymity"
    }

    fn asked(&self) -> serde_json::Value {
        json!({ "k": self.k })
    }

    fn title(&self) -> String {
        format!("{}-anonymity", self.k)
    }

    fn about(&self) -> About<'_> {
        About::Groups(self)
    }
}

impl GroupPromise for KAnonymity {
    fn looks_at_values(&self) -> bool {
        false
    }

    fn holds(&self, group: Group<'_>, _whole: Group<'_>) -> bool {
        group.rows >= self.k
    }

    fn absorbing(&self) -> Option<Box<dyn GroupPromise>> {
        Some(Box::new(*self))
    }

    fn obstacle(&self, whole: Group<'_>) -> String {
        let rows = if whole.rows == 1 {
            "1 row".into()
        } else {
            format!("{} rows", whole.rows)
        };
        format!("the table has {rows}, a group needs at least {}", self.k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_protection() {
        let error = KAnonymity::new(1).expect_err("too small");
        assert_eq!(error.to_string(), "`k` is 1, but must be at least 2");
        assert_eq!(error.hints(), ["k = 1 asks for no protection"]);
    }
}
