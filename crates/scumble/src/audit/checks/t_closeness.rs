//! t-closeness: the sensitive values of a group are spread as in the whole release.
//!
//! # Guarantee
//! Distances are fractions of whole numbers, compared as such with t.
//!
//! # Limits
//! Columns are looked at one by one. A hierarchy whose leaves are dates in another form than
//! YYYY-MM-DD cannot be compared with published values.
//!
//! # Cost
//! O(values) for each group.
//!
//! # Source
//! `li2007tcloseness`.

use serde_json::json;

use crate::audit::checks::values::{
    AskedOfValues, ComparedValues, Finding, PromisedValues,
};
use crate::audit::checks::{Check, decimal, finite, malformed, word};
use crate::audit::{Case, Checked};
use crate::decimal::Decimal;
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::release::PromiseNote;
use crate::table::{Code, Of};

/// Rechecks t-closeness.
#[derive(Debug)]
pub struct TCloseness;

/// How close the values of a group must be to those of the whole release.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closeness {
    t: Decimal,
    distance: Distance,
}

/// How far values are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Distance {
    Equal,
    Ordered,
    Hierarchical,
}

impl Check for TCloseness {
    fn name(&self) -> &'static str {
        "t-closeness"
    }

    fn recheck(&self, promise: &PromiseNote, case: &Case<'_>) -> Result<Checked> {
        let promised = PromisedValues::of(promise, case)?;
        let found = promised.measure(&asked(promise)?, case)?;
        Ok(Checked::of(promise, json!({ "t": finite(found.worst) }), found.at_risk))
    }
}

/// What was asked.
pub(super) fn asked(promise: &PromiseNote) -> Result<Closeness> {
    let distance = match word(promise, "distance") {
        Some("equal") => Distance::Equal,
        Some("ordered") => Distance::Ordered,
        Some("hierarchical") => Distance::Hierarchical,
        _ => return Err(malformed(promise, "known `distance`")),
    };
    let t = decimal(promise, "t", |t| t.exceeds(0, 1), "number `t` above 0")?;
    match t.exceeds(1, 1) {
        true => Err(malformed(promise, "number `t` of at most 1")),
        false => Ok(Closeness { t, distance }),
    }
}

impl AskedOfValues for Closeness {
    /// Risk: the earth mover's distance, as a fraction of whole numbers until the last step.
    fn judge(&self, values: &ComparedValues<'_>) -> Finding {
        let (work, scale) = match (self.distance, values.hierarchy) {
            (Distance::Ordered, _) => ordered(values),
            (Distance::Hierarchical, Some(hierarchy)) => {
                hierarchical(values, hierarchy)
            }
            (Distance::Equal, _) | (Distance::Hierarchical, None) => equal(values),
        };
        let (holds, risk) = (self.t.at_least(work, scale), work as f64 / scale as f64);
        Finding { holds, risk, rows: values.group.total() }
    }

    fn needs_hierarchy(&self) -> bool {
        self.distance == Distance::Hierarchical
    }
}

/// Half the sum of the differences.
fn equal(values: &ComparedValues<'_>) -> (u128, u128) {
    let codes = Code::first(values.whole.counts().len());
    let sum: u128 = codes.map(|code| values.excess(code).unsigned_abs()).sum();
    (sum, 2 * values.unit())
}

/// The difference of both running sums, summed over the steps between ranks.
fn ordered(values: &ComparedValues<'_>) -> (u128, u128) {
    let codes = Code::first(values.whole.counts().len());
    let occurring = codes.filter(|code| values.whole.count(*code) > 0);
    let (mut running, mut work, mut n_values) = (0i128, 0u128, 0u128);
    for code in occurring {
        running += values.excess(code);
        work += running.unsigned_abs();
        n_values += 1;
    }
    (work, values.unit() * n_values.saturating_sub(1).max(1))
}

/// In a tree, whatever a branch has too much crosses the edge above it. Two leaves whose
/// lowest common node is on level h are 2h edges apart and h / height far; so an edge is
/// 1 / (2 height) long, and the distance is the sum over all edges.
fn hierarchical(values: &ComparedValues<'_>, hierarchy: &Hierarchy) -> (u128, u128) {
    let mut work = 0u128;
    for level in &hierarchy.levels()[..hierarchy.height()] {
        let mut branches = Of::repeat(0i128, level.nodes.len());
        for (code, node) in level.node_of.pairs() {
            branches[*node] += values.excess(code);
        }
        work += branches.iter().map(|excess| excess.unsigned_abs()).sum::<u128>();
    }
    (work, values.unit() * 2 * hierarchy.height() as u128)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Histogram;

    fn found(
        t: f64,
        (group, whole): (&[u64], &[u64]),
        distance: Distance,
        hierarchy: Option<&Hierarchy>,
    ) -> Finding {
        let (group, whole) = (&Histogram::of(group), &Histogram::of(whole));
        let t = Decimal::from_f64("t", t).unwrap();
        let values = ComparedValues { group, whole, hierarchy, apart: false };
        Closeness { t, distance }.judge(&values)
    }

    fn distance(
        group: &[u64],
        whole: &[u64],
        how: Distance,
        tree: Option<&Hierarchy>,
    ) -> f64 {
        found(1.0, (group, whole), how, tree).risk
    }

    fn tree(levels: &[&[&str]]) -> Hierarchy {
        let labels = |level: &&[&str]| {
            level.iter().map(|label| ((*label).into(), None)).collect()
        };
        Hierarchy::from_labels(levels.iter().map(labels).collect())
    }

    /// `li2007tcloseness`, Table 3: nine salaries, 3k to 11k.
    #[test]
    fn the_salaries_of_the_paper_are_375_and_167_thousandths_away() {
        let low =
            distance(&[1, 1, 1, 0, 0, 0, 0, 0, 0], &[1; 9], Distance::Ordered, None);
        let wide =
            distance(&[0, 0, 0, 1, 0, 1, 0, 0, 1], &[1; 9], Distance::Ordered, None);
        assert!((low - 0.375).abs() < 1e-12);
        assert!((wide - 1.0 / 6.0).abs() < 1e-12);
        let equal =
            distance(&[1, 1, 1, 0, 0, 0, 0, 0, 0], &[1; 9], Distance::Equal, None);
        assert!((equal - 2.0 / 3.0).abs() < 1e-12);
    }

    /// Two of four leaves under each of two nodes: half of the earth crosses the root.
    #[test]
    fn a_tree_is_measured_by_its_edges() {
        let tree = tree(&[&["a", "b", "c", "d"], &["x", "x", "y", "y"]]);
        let far = distance(&[1, 1, 0, 0], &[1; 4], Distance::Hierarchical, Some(&tree));
        let near =
            distance(&[1, 0, 1, 0], &[1; 4], Distance::Hierarchical, Some(&tree));
        assert_eq!((far, near), (0.5, 0.25));
    }

    #[test]
    fn exactly_t_is_close_enough() {
        let both: (&[u64], &[u64]) = (&[8, 2], &[5, 5]);
        assert!(found(0.3, both, Distance::Equal, None).holds);
        assert!(!found(0.299999, both, Distance::Equal, None).holds);
    }
}
