//! A set of values that stand for one published cell.

use serde::{Deserialize, Serialize};

use crate::hierarchy::Hierarchy;
use crate::table::{Code, Domain, Ids, NodeId};

/// The values one published cell may stand for.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub enum Cover {
    /// What is below a node of the hierarchy.
    Node {
        /// The node's level.
        level: usize,
        /// Its place on the level.
        node: NodeId,
    },
    /// All values between two, in the order of the domain, both included; and "not known"
    /// or not.
    Range {
        /// The first value.
        low: Code,
        /// The last value.
        high: Code,
        /// Whether "not known" is in it, too.
        missing: bool,
    },
    /// These values, ascending.
    Set(Vec<Code>),
}

impl Cover {
    /// The smallest node above `codes`.
    pub fn node_over(hierarchy: &Hierarchy, codes: &[Code]) -> Self {
        let (level, node) = hierarchy.common(codes);
        Self::Node { level, node }
    }

    /// The smallest range around `codes`, which ascend. If "not known" alone occurs, the
    /// range is that one value.
    pub fn range_over(domain: &Domain, codes: &[Code]) -> Self {
        let missing =
            codes.last().copied().filter(|code| domain.missing() == Some(*code));
        let known = &codes[..codes.len() - usize::from(missing.is_some())];
        match (known, missing) {
            ([low, .., high], _) => {
                Self::Range { low: *low, high: *high, missing: missing.is_some() }
            }
            ([only], _) => {
                Self::Range { low: *only, high: *only, missing: missing.is_some() }
            }
            ([], Some(code)) => Self::Range { low: code, high: code, missing: false },
            ([], None) => Self::Set(Vec::new()),
        }
    }

    /// The whole domain.
    pub fn root(hierarchy: &Hierarchy) -> Self {
        Self::Node { level: hierarchy.height(), node: NodeId::default() }
    }

    /// Whether the cell may stand for `code`.
    pub fn contains(&self, domain: &Domain, hierarchy: &Hierarchy, code: Code) -> bool {
        match self {
            Self::Node { level, node } => hierarchy.node(*level, code) == *node,
            Self::Range { low, high, missing } => {
                (*low..=*high).contains(&code)
                    || (*missing && domain.missing() == Some(code))
            }
            Self::Set(codes) => codes.binary_search(&code).is_ok(),
        }
    }

    /// How many values of the domain it covers.
    pub fn n_values(&self, hierarchy: &Hierarchy) -> u64 {
        match self {
            Self::Node { level, node } => {
                u64::from(hierarchy.levels()[*level].nodes[*node].n_leaves)
            }
            Self::Range { low, high, missing } => {
                u64::from(high.get() - low.get()) + 1 + u64::from(*missing)
            }
            Self::Set(codes) => codes.len() as u64,
        }
    }

    /// All values it covers, ascending.
    pub fn codes(&self, domain: &Domain, hierarchy: &Hierarchy) -> Vec<Code> {
        match self {
            Self::Set(codes) => codes.clone(),
            Self::Range { low, high, missing } => {
                let end = high.next().min(Code::from_index(domain.len()));
                let own = Ids::between(*low, end);
                // "Not known" stands behind all values.
                let unknown = domain.missing().filter(|code| *missing && code > high);
                own.chain(unknown).collect()
            }
            Self::Node { .. } => domain
                .codes()
                .filter(|code| self.contains(domain, hierarchy, *code))
                .collect(),
        }
    }
}
