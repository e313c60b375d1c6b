//! t-closeness: in every group sensitive values are spread as in the whole table.
//!
//! # Guarantee
//! For every group and sensitive column, the earth mover's distance between the group's
//! and the published table's distribution of values is at most t. Distances between values:
//! - *equal*: 1 between any two;
//! - *ordered*: difference of ranks over the largest difference, among values that occur;
//! - *hierarchical*: level of the lowest common node over the height of the hierarchy.
//!
//! *Why merging keeps it.* The distribution of a union is a mixture, and each distance is
//! convex in its first argument; the whole table stays the same. ∎
//!
//! When rows are left out, the whole table is the *published* one: a reader of the release
//! knows no other. Counts are whole numbers, so distances are compared exactly.
//!
//! # Limits
//! Bounds the change of belief about the distribution, not the probability of a value.
//! Several sensitive columns are each looked at alone.
//!
//! # Cost
//! O(values of the domain) a group.
//!
//! # Source
//! `li2007tcloseness`.

use serde_json::json;

use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::hierarchy::Hierarchy;
use crate::promise::{About, Group, GroupPromise, Promise};
use crate::table::{Code, Histogram, NodeId, Of};

/// How far two sensitive values are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// Any two are equally far.
    Equal,
    /// By rank in the order of the domain.
    Ordered,
    /// By the level of their lowest common node.
    Hierarchical,
}

impl Distance {
    /// All of them, in the order in which they are listed to users.
    pub const ALL: [Self; 3] = [Self::Equal, Self::Ordered, Self::Hierarchical];

    /// Its name in recipes and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Ordered => "ordered",
            Self::Hierarchical => "hierarchical",
        }
    }
}

/// Every group's values are spread like the whole table's.
#[derive(Debug, Clone)]
pub struct TCloseness {
    t: Decimal,
    distance: Distance,
    // That of the column, once bound, where the distance is by hierarchy.
    hierarchy: Option<Hierarchy>,
}

impl TCloseness {
    /// The promise; t must be above 0 and at most 1.
    /// A distance by hierarchy must be bound to that of a column ([`GroupPromise::along`]).
    pub fn new(t: Decimal, distance: Distance) -> Result<Self> {
        if !t.exceeds(0, 1) || t.exceeds(1, 1) {
            return Err(Error::out_of_range("t", t, "above 0 and at most 1"));
        }
        Ok(Self { t, distance, hierarchy: None })
    }

    fn close(&self, group: &Histogram, whole: &Histogram) -> bool {
        let (work, scale) = match self.distance {
            Distance::Equal => equal(group, whole),
            Distance::Ordered => ordered(group, whole),
            Distance::Hierarchical => {
                let bound = self.hierarchy.as_ref();
                let hierarchy = bound.expect("bound to the hierarchy of its column");
                hierarchical(group, whole, hierarchy)
            }
        };
        self.t.at_least(work, scale)
    }
}

/// Earth to move, times `|group| |whole|`: what the group has of a value beyond its share.
fn surplus(group: &Histogram, whole: &Histogram, code: Code) -> i128 {
    i128::from(group.count(code)) * i128::from(whole.total())
        - i128::from(whole.count(code)) * i128::from(group.total())
}

fn unit(group: &Histogram, whole: &Histogram) -> u128 {
    u128::from(group.total()) * u128::from(whole.total())
}

/// Half the sum of absolute differences is the sum of the positive ones, and only values
/// of the group can be positive.
fn equal(group: &Histogram, whole: &Histogram) -> (u128, u128) {
    let work: i128 =
        group.present().map(|(code, _)| surplus(group, whole, code).max(0)).sum();
    (work.unsigned_abs(), unit(group, whole))
}

/// Earth crosses from rank i to i + 1 as often as the first i + 1 values have too much.
fn ordered(group: &Histogram, whole: &Histogram) -> (u128, u128) {
    let (mut work, mut carried, mut ranks) = (0u128, 0i128, 0u128);
    for code in whole.counts().ids() {
        if whole.count(code) > 0 {
            work += carried.unsigned_abs();
            carried += surplus(group, whole, code);
            ranks += 1;
        }
    }
    (work, unit(group, whole) * ranks.saturating_sub(1).max(1))
}

/// At a node of level h, earth moves between children: as much as those with too much have
/// over, or those with too little lack, whichever is less; each unit costs h / height.
fn hierarchical(
    group: &Histogram,
    whole: &Histogram,
    hierarchy: &Hierarchy,
) -> (u128, u128) {
    let values = Code::first(hierarchy.n_values());
    // On level 0 every value is a node.
    let mut below: Of<NodeId, i128> =
        values.map(|code| surplus(group, whole, code)).collect();
    let mut work = 0u128;
    for (height, pair) in hierarchy.levels().windows(2).enumerate() {
        let (fine, coarse) = (&pair[0], &pair[1]);
        let mut over: Of<NodeId, i128> = Of::repeat(0, coarse.nodes.len());
        let mut under = over.clone();
        let mut counted: Of<NodeId, bool> = Of::repeat(false, fine.nodes.len());
        for (child, parent) in fine.node_of.iter().zip(&coarse.node_of) {
            if !std::mem::replace(&mut counted[*child], true) {
                let surplus = below[*child];
                over[*parent] += surplus.max(0);
                under[*parent] += (-surplus).max(0);
            }
        }
        for (over, under) in over.iter().zip(&under) {
            work += (*over.min(under)).unsigned_abs() * (height as u128 + 1);
        }
        below = over.iter().zip(&under).map(|(over, under)| over - under).collect();
    }
    (work, unit(group, whole) * hierarchy.height() as u128)
}

impl Promise for TCloseness {
    fn name(&self) -> &'static str {
        "t-closeness"
    }

    fn asked(&self) -> serde_json::Value {
        json!({ "t": self.t.to_f64(), "distance": self.distance.name() })
    }

    fn title(&self) -> String {
        format!("{}-closeness", self.t)
    }

    fn about(&self) -> About<'_> {
        About::Groups(self)
    }
}

impl GroupPromise for TCloseness {
    fn looks_at_values(&self) -> bool {
        true
    }

    fn looks_at_whole(&self) -> bool {
        true
    }

    fn needs_hierarchy(&self) -> bool {
        self.distance == Distance::Hierarchical
    }

    fn along(&self, hierarchy: &Hierarchy) -> Option<Box<dyn GroupPromise>> {
        match self.distance {
            Distance::Equal | Distance::Ordered => None,
            Distance::Hierarchical => {
                let hierarchy = Some(hierarchy.clone());
                Some(Box::new(Self { hierarchy, ..self.clone() }))
            }
        }
    }

    fn holds(&self, group: Group<'_>, whole: Group<'_>) -> bool {
        let mut columns = group.values.iter().zip(whole.values);
        columns.all(|(group, whole)| self.close(group, whole))
    }

    fn obstacle(&self, _whole: Group<'_>) -> String {
        "no grouping keeps every group this close to the whole table".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio((work, scale): (u128, u128)) -> f64 {
        work as f64 / scale as f64
    }

    /// Table 3 of `li2007tcloseness`: nine salaries 3k to 11k, each once. The group
    /// {3k, 4k, 5k} is 0.375 away, {6k, 8k, 11k} only 0.167.
    #[test]
    fn the_salaries_of_the_paper() {
        let whole = Histogram::of(&[1; 9]);
        let low = Histogram::of(&[1, 1, 1, 0, 0, 0, 0, 0, 0]);
        let spread = Histogram::of(&[0, 0, 0, 1, 0, 1, 0, 0, 1]);
        assert!((ratio(ordered(&low, &whole)) - 0.375).abs() < 1e-12);
        assert!((ratio(ordered(&spread, &whole)) - 1.0 / 6.0).abs() < 1e-12);
        assert!((ratio(equal(&low, &whole)) - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_flat_hierarchy_is_the_equal_distance() {
        let labels =
            ["a", "b", "c"].iter().map(|text| ((*text).into(), None)).collect();
        let flat = Hierarchy::from_labels(vec![labels]);
        let (whole, group) = (Histogram::of(&[5, 3, 2]), Histogram::of(&[0, 3, 1]));
        assert_eq!(hierarchical(&group, &whole, &flat), equal(&group, &whole));
    }

    #[test]
    fn exactly_t_is_close_enough() {
        let t = Decimal::from_f64("t", 0.3).expect("a decimal");
        let promise = TCloseness::new(t, Distance::Equal).expect("good parameters");
        let (whole, group) = ([Histogram::of(&[5, 5])], [Histogram::of(&[8, 2])]);
        let whole = Group { rows: 10, people: 10, values: &whole };
        assert!(promise.holds(Group { rows: 10, people: 10, values: &group }, whole));
    }
}
