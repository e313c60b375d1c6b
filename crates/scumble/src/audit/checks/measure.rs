//! How diverse and how close the values of one group are.

use crate::audit::checks::l_diversity::Diversity;
use crate::audit::checks::t_closeness::Distance;
use crate::decimal::Decimal;
use crate::hierarchy::Hierarchy;
use crate::table::{Code, Histogram, Of};

/// What was found in a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Finding {
    /// Whether it is enough.
    pub(crate) holds: bool,
    /// The measure, turned so that larger is worse.
    pub(crate) risk: f64,
    /// The rows of the group.
    pub(crate) rows: u64,
}

/// The values of a group and of the whole table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ComparedValues<'a> {
    pub(crate) group: &'a Histogram,
    pub(crate) whole: &'a Histogram,
    /// How they coarsen; nothing if only into one.
    pub(crate) hierarchy: Option<&'a Hierarchy>,
}

impl Finding {
    /// Nothing looked at yet.
    pub(crate) const NOTHING: Self =
        Self { holds: true, risk: f64::NEG_INFINITY, rows: 0 };

    /// Both must hold.
    pub(crate) fn worse(self, other: Self) -> Self {
        let (holds, risk) = (self.holds && other.holds, self.risk.max(other.risk));
        Self { holds, risk, rows: self.rows.max(other.rows) }
    }
}

/// Risk: minus the number of values, minus the entropy, or the ratio c.
pub(crate) fn diversity(values: &Histogram, asked: Diversity) -> Finding {
    let (holds, risk) = match asked {
        Diversity::Distinct(l) => {
            let n = values.n_present() as u64;
            (n >= l, -(n as f64))
        }
        Diversity::Entropy(l) => entropy(values, l),
        Diversity::Recursive { l, c } => {
            let mut counts: Vec<u64> = values.present().map(|(_, n)| n).collect();
            counts.sort_unstable();
            let common = counts.last().copied().unwrap_or(0);
            let n_rare = counts.len().saturating_sub(l as usize - 1);
            let rare: u64 = counts[..n_rare].iter().sum();
            let holds = rare > 0 && c.exceeds(common.into(), rare.into());
            (holds, common as f64 / rare as f64)
        }
    };
    Finding { holds, risk, rows: values.total() }
}

/// Evenly spread values have the entropy ln n, exactly. Others must pass ln l by more than
/// the sum can be off: each of the terms by a few units in the last place.
fn entropy(values: &Histogram, l: Decimal) -> (bool, f64) {
    let n_present = values.n_present();
    let mut counts = values.present().map(|(_, n)| n);
    let first = counts.next();
    if counts.all(|n| Some(n) == first) {
        return (!l.exceeds(n_present as u128, 1), -(n_present as f64).ln());
    }
    let total = values.total() as f64;
    let surprise = |n: u64| {
        let share = n as f64 / total;
        -share * share.ln()
    };
    // Terms are added in the order of the domain, whichever rows came first.
    let entropy: f64 =
        values.counts().iter().filter(|n| **n > 0).map(|n| surprise(*n)).sum();
    let margin = 1e-15 * (n_present as f64 + 1000.0) * (1.0 + total.ln());
    (entropy - l.to_f64().ln() > margin, -entropy)
}

/// Risk: the earth mover's distance, as a fraction of whole numbers until the last step.
pub(crate) fn closeness(
    values: &ComparedValues<'_>,
    t: Decimal,
    distance: Distance,
) -> Finding {
    let (work, scale) = match (distance, values.hierarchy) {
        (Distance::Ordered, _) => ordered(values),
        (Distance::Hierarchical, Some(hierarchy)) => hierarchical(values, hierarchy),
        (Distance::Equal, _) | (Distance::Hierarchical, None) => equal(values),
    };
    let (holds, risk) = (t.at_least(work, scale), work as f64 / scale as f64);
    Finding { holds, risk, rows: values.group.total() }
}

impl ComparedValues<'_> {
    /// By how much a value is commoner in the group, times the sizes of both.
    fn excess(&self, code: Code) -> i128 {
        let here = i128::from(self.group.count(code)) * i128::from(self.whole.total());
        let all = i128::from(self.whole.count(code)) * i128::from(self.group.total());
        here - all
    }

    fn unit(&self) -> u128 {
        (u128::from(self.group.total()) * u128::from(self.whole.total())).max(1)
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

    fn decimal(value: f64) -> Decimal {
        Decimal::from_f64("number", value).unwrap()
    }

    fn tree(levels: &[&[&str]]) -> Hierarchy {
        let labels = |level: &&[&str]| {
            level.iter().map(|label| ((*label).into(), None)).collect()
        };
        Hierarchy::from_labels(levels.iter().map(labels).collect())
    }

    fn distance(
        group: &[u64],
        whole: &[u64],
        how: Distance,
        tree: Option<&Hierarchy>,
    ) -> f64 {
        let (group, whole) = (Histogram::of(group), Histogram::of(whole));
        let values = ComparedValues { group: &group, whole: &whole, hierarchy: tree };
        closeness(&values, decimal(1.0), how).risk
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
        let (group, whole) = (Histogram::of(&[8, 2]), Histogram::of(&[5, 5]));
        let values = ComparedValues { group: &group, whole: &whole, hierarchy: None };
        assert!(closeness(&values, decimal(0.3), Distance::Equal).holds);
        assert!(!closeness(&values, decimal(0.299999), Distance::Equal).holds);
    }

    #[test]
    fn evenly_spread_values_reach_their_entropy() {
        let found = |counts: &[u64], l| {
            diversity(&Histogram::of(counts), Diversity::Entropy(decimal(l))).holds
        };
        for l in 2..40u64 {
            assert!(found(&vec![7; l as usize], l as f64), "{l}");
            assert!(!found(&vec![7; l as usize], l as f64 + 0.001), "{l}");
        }
        assert!(!found(&[2, 1], 2.0));
        assert!(found(&[2, 1], 1.8), "its entropy is ln 1.89");
    }

    #[test]
    fn the_commonest_value_is_compared_with_the_rare_ones() {
        let found = |counts: &[u64], c| {
            let asked = Diversity::Recursive { l: 2, c: decimal(c) };
            diversity(&Histogram::of(counts), asked)
        };
        let three = Finding { holds: true, risk: 2.5, rows: 7 };
        assert_eq!(found(&[5, 1, 1], 3.0), three);
        assert!(!found(&[5, 1, 1], 2.5).holds, "5 < 2.5 * 2 is false");
        let alone = Finding { holds: false, risk: f64::INFINITY, rows: 5 };
        assert_eq!(found(&[5], 100.0), alone);
    }
}
