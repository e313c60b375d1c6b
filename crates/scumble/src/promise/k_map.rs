//! k-map: nobody stands in a group that fewer than k people of the population could be in.
//!
//! # Guarantee
//! Whoever is in the table shares their quasi cells with at least k people of the
//! population, so knowing a person's quasi values never narrows a row down to fewer than k
//! people who may be in the table. Groups of one row are allowed where many people could
//! be that row.
//!
//! It survives merging: people add up.
//!
//! # Limits
//! Holds against somebody who does not know who is in the table; to somebody who does,
//! a group of one row is one person. Says nothing about sensitive values, nor about
//! presence.
//!
//! # Cost
//! O(1) a group.
//!
//! # Source
//! `sweeney2002kanonymity`, section 4.3; `elemam2008kmap`.

use serde_json::json;

use crate::error::{Error, Result};
use crate::promise::{About, Group, GroupPromise, Promise};

/// Every group with rows has at least `k` people of the population.
#[derive(Debug, Clone, Copy)]
pub struct KMap {
    // At least 2.
    k: u64,
}

impl KMap {
    /// The promise for groups of at least `k` people, which must be 2 or more.
    pub fn new(k: u64) -> Result<Self> {
        if k < 2 {
            return Err(Error::out_of_range("k", k, "at least 2")
                .with_hint("k = 1 asks for no protection"));
        }
        Ok(Self { k })
    }
}

impl Promise for KMap {
    fn name(&self) -> &'static str {
        "k-map"
    }

    fn asked(&self) -> serde_json::Value {
        json!({ "k": self.k })
    }

    fn title(&self) -> String {
        format!("{}-map", self.k)
    }

    fn about(&self) -> About<'_> {
        About::Groups(self)
    }
}

impl GroupPromise for KMap {
    fn looks_at_values(&self) -> bool {
        false
    }

    fn needs_population(&self) -> bool {
        true
    }

    fn holds(&self, group: Group<'_>, _whole: Group<'_>) -> bool {
        group.people >= self.k
    }

    fn absorbing(&self) -> Option<Box<dyn GroupPromise>> {
        Some(Box::new(*self))
    }

    fn obstacle(&self, whole: Group<'_>) -> String {
        format!(
            "the population has {} people, a group needs at least {}",
            whole.people, self.k
        )
    }
}
