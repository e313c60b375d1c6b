//! delta-presence: nobody in the population becomes too sure to be in the table, or not.
//!
//! # Guarantee
//! The adversary holds the population P with all its quasi values, and the release. For
//! every group of P, published or not, the share of its people who are in the table lies
//! in `min..=max`; all of them look alike, so this is what the adversary can believe of
//! each. People whose group is not published are one group to a reader: the rows that were
//! left out are spread over all of them.
//!
//! *Why merging keeps it.* The share of a union lies between the shares of its parts. ∎
//!
//! # Limits
//! - The adversary is taken to believe all tables that give this release equally likely.
//!   Who knows how the release was searched for learns more, unless the search is made for
//!   that (`mondrian` by coins); the reversal attack of the audit measures it.
//! - Cells of two groups must not overlap, and must be taken from all of P's rows in the
//!   group. Methods see to both, the audit checks both.
//! - Nothing is said about sensitive values.
//!
//! # Cost
//! O(1) a group.
//!
//! # Source
//! `nergiz2007presence`; what left-out rows give away is ours.

use serde_json::json;

use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::promise::{About, Group, GroupPromise, Promise};

/// Every group of the population has between `min` and `max` of its people in the table.
#[derive(Debug, Clone, Copy)]
pub struct DeltaPresence {
    // At most `max`, which is at most 1.
    min: Decimal,
    max: Decimal,
    adversary: Adversary,
}

/// Who reads the weights of pdf cells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Adversary {
    /// Somebody who sees that weights are counts.
    #[default]
    Counting,
    /// For comparison only: the one of the source, who takes weights for likelihoods and
    /// nothing more.
    Paper,
}

impl DeltaPresence {
    /// The promise for shares from `min` to `max`.
    pub fn new(min: Decimal, max: Decimal) -> Result<Self> {
        for (name, share) in [("min", min), ("max", max)] {
            if share.exceeds(1, 1) {
                return Err(Error::out_of_range(name, share, "from 0 to 1"));
            }
        }
        if max.less_than(min) {
            return Err(Error::out_of_range(
                "min",
                min,
                format!("at most `max`, {max}"),
            )
            .with_hint("`min` and `max` bound the share of a group in the table"));
        }
        if max.at_least(0, 1) && !max.exceeds(0, 1) {
            return Err(Error::out_of_range("max", max, "above 0")
                .with_hint("with max = 0 nobody may be in the table"));
        }
        Ok(Self { min, max, adversary: Adversary::Counting })
    }

    /// The same promise against another reader of pdf cells.
    pub fn against(self, adversary: Adversary) -> Self {
        Self { adversary, ..self }
    }

    /// Who reads the weights of pdf cells.
    pub fn adversary(self) -> Adversary {
        self.adversary
    }

    /// The least share.
    pub fn min(self) -> Decimal {
        self.min
    }

    /// The largest share.
    pub fn max(self) -> Decimal {
        self.max
    }
}

impl Promise for DeltaPresence {
    fn name(&self) -> &'static str {
        "delta-presence"
    }

    fn asked(&self) -> serde_json::Value {
        let mut asked = json!({ "min": self.min.to_f64(), "max": self.max.to_f64() });
        if self.adversary == Adversary::Paper {
            asked["adversary"] = json!("paper");
        }
        asked
    }

    fn title(&self) -> String {
        format!("({}, {})-presence", self.min, self.max)
    }

    fn about(&self) -> About<'_> {
        About::Groups(self)
    }
}

impl GroupPromise for DeltaPresence {
    fn looks_at_values(&self) -> bool {
        false
    }

    fn looks_at_people(&self) -> bool {
        true
    }

    fn presence(&self) -> Option<(Decimal, Decimal)> {
        Some((self.min, self.max))
    }

    fn holds(&self, group: Group<'_>, _whole: Group<'_>) -> bool {
        let (rows, people) = (u128::from(group.rows), u128::from(group.people));
        !self.min.exceeds(rows, people) && self.max.at_least(rows, people)
    }

    /// What goes beyond `max` must be left out, with at most as many others.
    fn absorbing(&self) -> Option<Box<dyn GroupPromise>> {
        Some(Box::new(Excess(*self)))
    }

    fn obstacle(&self, whole: Group<'_>) -> String {
        let share = whole.rows as f64 / whole.people.max(1) as f64;
        format!(
            "{} of {} people in the population are in the table, a share of {share:.6}, which \
             is {} than {}",
            whole.rows,
            whole.people,
            if self.max.at_least(whole.rows.into(), whole.people.into()) {
                "less"
            } else {
                "more"
            },
            if self.max.at_least(whole.rows.into(), whole.people.into()) {
                self.min
            } else {
                self.max
            },
        )
    }
}

/// What delta-presence still asks of a group when parts of it may be left out.
///
/// *Toll.* Say a group has n of N people in the table, and parts with r of q are left out.
/// The rest must satisfy n - r <= max (N - q), and r <= q, so r >= (n - max N) / (1 - max).
/// The toll of a union is at most the sum of the tolls: it is the positive part of a
/// linear function. A part without anybody in the table cannot be left out, so where `min`
/// is above 0 it has no toll that could be paid. ∎
#[derive(Debug, Clone, Copy)]
struct Excess(DeltaPresence);

impl Promise for Excess {
    fn name(&self) -> &'static str {
        "delta-presence at most"
    }

    fn asked(&self) -> serde_json::Value {
        json!({ "max": self.0.max.to_f64() })
    }

    fn title(&self) -> String {
        self.0.title()
    }

    fn about(&self) -> About<'_> {
        About::Groups(self)
    }
}

impl GroupPromise for Excess {
    fn looks_at_values(&self) -> bool {
        false
    }

    fn looks_at_people(&self) -> bool {
        true
    }

    fn holds(&self, group: Group<'_>, _whole: Group<'_>) -> bool {
        let nobody = group.rows == 0 && self.0.min.exceeds(0, 1);
        !nobody && self.0.max.at_least(group.rows.into(), group.people.into())
    }

    fn toll(&self, group: Group<'_>) -> u64 {
        self.0.max.excess(group.rows, group.people)
    }

    fn absorbing(&self) -> Option<Box<dyn GroupPromise>> {
        Some(Box::new(*self))
    }

    fn obstacle(&self, whole: Group<'_>) -> String {
        self.0.obstacle(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presence(min: f64, max: f64) -> Result<DeltaPresence> {
        let decimal = |value| Decimal::from_f64("share", value);
        DeltaPresence::new(decimal(min)?, decimal(max)?)
    }

    fn holds(promise: DeltaPresence, rows: u64, people: u64) -> bool {
        let group = Group { rows, people, values: &[] };
        promise.holds(group, group)
    }

    #[test]
    fn both_ends_are_allowed() {
        let promise = presence(0.5, 0.7).expect("a range");
        assert!(holds(promise, 3, 6));
        assert!(holds(promise, 7, 10));
        assert!(!holds(promise, 8, 11));
        assert!(!holds(promise, 4, 9));
    }

    #[test]
    fn groups_without_rows_count() {
        assert!(holds(presence(0.0, 0.5).expect("a range"), 0, 1));
        assert!(!holds(presence(0.001, 0.5).expect("a range"), 0, 1_000_000));
    }

    #[test]
    fn ranges_that_are_none() {
        let error = presence(0.5, 0.2).expect_err("upside down");
        assert_eq!(error.to_string(), "`min` is 0.5, but must be at most `max`, 0.2");
        assert!(presence(0.0, 1.1).is_err());
        assert!(presence(0.0, 0.0).is_err());
        assert!(presence(0.3, 0.3).is_ok());
    }

    #[test]
    fn the_toll_is_the_least_that_can_be_left_out() {
        let promise = presence(0.0, 0.25).expect("a range");
        for (rows, people) in [(3, 4), (5, 8), (2, 8), (0, 3), (7, 7)] {
            let toll = Excess(promise).toll(Group { rows, people, values: &[] });
            // Leave out r of q for every r <= q: the cheapest way to come back to a quarter.
            let least = (0..=rows)
                .find(|r| (*r..=people).any(|q| 4 * (rows - r) <= people - q))
                .expect("leaving all out helps");
            assert_eq!(toll, least, "{rows} of {people}");
        }
    }
}
