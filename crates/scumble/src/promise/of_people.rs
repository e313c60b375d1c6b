//! A promise about groups that counts people instead of rows.
//!
//! # Guarantee
//! A person counts once in a group, however many rows they have there, and so does each of
//! their values.
//!
//! # Limits
//! Somebody who knows several rows of a person sees several groups, and what all of them
//! have in common (the attack `own-rows`). Shares of values among people need not survive
//! merging: people of one value may be in both groups and those of another in one. Numbers of
//! people and of different values do.
//!
//! # Cost
//! What the promise costs, and O(people of a group who are in several tuples).
//!
//! # Source
//! Ours; docs/methods.md, "People".

use std::sync::Arc;

use crate::decimal::Decimal;
use crate::promise::{About, Group, GroupPromise, Promise};
use crate::table::{Histogram, Persons};

/// What another promise says, of people.
#[derive(Debug)]
pub struct OfPeople {
    promise: Arc<dyn GroupPromise>,
    persons: Arc<Persons>,
}

impl OfPeople {
    /// The same promise of these people.
    pub fn new(promise: Arc<dyn GroupPromise>, persons: &Arc<Persons>) -> Self {
        Self { promise, persons: persons.clone() }
    }

    /// How many people a group has, and, if the promise looks, how many have each value.
    fn count(&self, group: Group<'_>) -> (u64, Vec<Histogram>) {
        let values = match self.promise.looks_at_values() {
            true => self.persons.values_of_people(group.values),
            false => Vec::new(),
        };
        (Persons::n_people(group.values), values)
    }
}

impl Promise for OfPeople {
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

impl GroupPromise for OfPeople {
    /// People are counted as values are.
    fn looks_at_values(&self) -> bool {
        true
    }

    fn looks_at_whole(&self) -> bool {
        self.promise.looks_at_whole()
    }

    fn looks_at_people(&self) -> bool {
        self.promise.looks_at_people()
    }

    fn needs_population(&self) -> bool {
        self.promise.needs_population()
    }

    fn presence(&self) -> Option<(Decimal, Decimal)> {
        self.promise.presence()
    }

    fn survives_merging(&self) -> bool {
        let weaker = self.promise.absorbing();
        !self.promise.looks_at_values()
            || !self.persons.are_shared()
            || weaker.is_some_and(|weaker| weaker.asked() == self.asked())
    }

    fn holds(&self, group: Group<'_>, whole: Group<'_>) -> bool {
        let (rows, values) = self.count(group);
        let own = Group { rows, values: &values, ..group };
        if !self.looks_at_whole() {
            return self.promise.holds(own, own);
        }
        let (rows, values) = self.count(whole);
        self.promise.holds(own, Group { rows, values: &values, ..whole })
    }

    /// Numbers of people and of their different values only grow with a group.
    fn absorbing(&self) -> Option<Box<dyn GroupPromise>> {
        let weaker = Arc::from(self.promise.absorbing()?);
        Some(Box::new(Self::new(weaker, &self.persons)))
    }

    /// Everybody who is left out has a row at least.
    fn toll(&self, group: Group<'_>) -> u64 {
        let (rows, values) = self.count(group);
        match self.promise.toll(Group { rows, values: &values, ..group }) {
            all if all == rows => group.rows,
            people => people,
        }
    }

    fn parts(&self) -> u64 {
        self.promise.parts()
    }

    fn obstacle(&self, whole: Group<'_>) -> String {
        let (rows, values) = self.count(whole);
        let obstacle = self.promise.obstacle(Group { rows, values: &values, ..whole });
        format!("{obstacle} (people are counted, not rows)")
    }
}
