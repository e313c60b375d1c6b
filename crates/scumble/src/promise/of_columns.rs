//! A promise about sensitive values, of the columns it speaks of and of no other.
//!
//! # Guarantee
//! It holds of a group if and only if the promise holds of the values of each of its columns
//! alone.
//!
//! *Why merging keeps it.* The promise of each column survives merging, and a union has the
//! values of its parts in every column. ∎ What the promise implies is implied column by
//! column, too; a group pays the largest toll of the columns that fail, and each of these
//! does not shrink when the group is divided.
//!
//! # Limits
//! What one column tells about another is not looked at.
//!
//! # Cost
//! That of the promise, for each column.
//!
//! # Source
//! That of the promise.

use std::sync::Arc;

use crate::hierarchy::Hierarchy;
use crate::promise::{About, Group, GroupPromise, Promise};

/// A promise about values, bound to sensitive columns.
#[derive(Debug)]
pub struct OfColumns {
    promise: Arc<dyn GroupPromise>,
    // The place of each column among the sensitive ones, and the promise about it.
    each: Vec<(usize, Arc<dyn GroupPromise>)>,
}

impl OfColumns {
    /// The promise of the columns at these places, whose values coarsen like this.
    pub fn new<'a>(
        promise: Arc<dyn GroupPromise>,
        columns: impl IntoIterator<Item = (usize, &'a Hierarchy)>,
    ) -> Self {
        let each = columns.into_iter().map(|(place, hierarchy)| {
            let bound = promise.along(hierarchy).map(Arc::from);
            (place, bound.unwrap_or_else(|| Arc::clone(&promise)))
        });
        Self { each: each.collect(), promise }
    }

    /// The columns of which it fails.
    fn failing<'a>(
        &'a self,
        group: Group<'a>,
        whole: Group<'a>,
    ) -> impl Iterator<Item = (usize, &'a dyn GroupPromise)> {
        let each = self.each.iter().map(|(place, promise)| (*place, &**promise));
        each.filter(move |(place, promise)| {
            !promise.holds(group.in_column(*place), whole.in_column(*place))
        })
    }
}

impl Promise for OfColumns {
    fn name(&self) -> &'static str {
        self.promise.name()
    }

    fn asked(&self) -> serde_json::Value {
        self.promise.asked()
    }

    fn title(&self) -> String {
        self.promise.title()
    }

    fn about(&self) -> About<'_> {
        About::Groups(self)
    }
}

impl GroupPromise for OfColumns {
    fn looks_at_values(&self) -> bool {
        true
    }

    fn looks_at_whole(&self) -> bool {
        self.promise.looks_at_whole()
    }

    fn holds(&self, group: Group<'_>, whole: Group<'_>) -> bool {
        self.failing(group, whole).next().is_none()
    }

    fn absorbing(&self) -> Option<Box<dyn GroupPromise>> {
        let promise = Arc::from(self.promise.absorbing()?);
        let each = self.each.iter().map(|(place, promise)| {
            promise.absorbing().map(|weaker| (*place, Arc::from(weaker)))
        });
        Some(Box::new(Self { each: each.collect::<Option<_>>()?, promise }))
    }

    fn toll(&self, group: Group<'_>) -> u64 {
        let tolls = self.failing(group, group);
        let tolls = tolls.map(|(place, promise)| promise.toll(group.in_column(place)));
        tolls.max().unwrap_or(0)
    }

    fn parts(&self) -> u64 {
        self.promise.parts()
    }

    fn obstacle(&self, whole: Group<'_>) -> String {
        match self.failing(whole, whole).next() {
            Some((place, promise)) => promise.obstacle(whole.in_column(place)),
            None => self.promise.obstacle(whole),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promise::{Diversity, LDiversity};
    use crate::table::Histogram;

    #[test]
    fn only_its_own_columns_count() {
        let flat = |texts: &[&str]| {
            let labels = texts.iter().map(|text| ((*text).into(), None)).collect();
            Hierarchy::from_labels(vec![labels])
        };
        let trees = [flat(&["yes", "no"]), flat(&["a", "b", "c"])];
        let promise: Arc<dyn GroupPromise> =
            Arc::new(LDiversity::new(Diversity::Distinct(3)).expect("three values"));
        let of = |places: &[usize]| {
            let columns = places.iter().map(|place| (*place, &trees[*place]));
            OfColumns::new(Arc::clone(&promise), columns)
        };
        let values = [Histogram::of(&[2, 1]), Histogram::of(&[1, 1, 1])];
        let group = Group { rows: 3, people: 3, values: &values };
        assert!(of(&[1]).holds(group, group));
        assert!(!of(&[0]).holds(group, group) && !of(&[0, 1]).holds(group, group));
        assert_eq!((of(&[1]).toll(group), of(&[0, 1]).toll(group)), (0, 3));
        assert_eq!(
            of(&[0, 1]).obstacle(group),
            "a sensitive column has 2 different values, not 3"
        );
        let weaker = of(&[1]).absorbing().expect("itself");
        assert!(weaker.holds(group, group) && weaker.asked() == promise.asked());
    }
}
