//! A hierarchy bound to a domain: for every level, the node above every value.

use crate::hierarchy::Step;
use crate::table::{Code, NodeId, Of};

/// The label of the one node that covers everything.
pub const ROOT_LABEL: &str = "*";

/// How the values of one column coarsen. Level 0 is the value itself; the last level has
/// one node, the root, labelled `*`. Nodes nest: values that share a node share all nodes
/// above it.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    levels: Vec<Level>,
}

/// One level: the node above every value.
#[derive(Debug, Clone)]
pub struct Level {
    /// For each code of the domain, its node.
    pub node_of: Of<Code, NodeId>,
    /// The nodes, in the order of the first value below each.
    pub nodes: Of<NodeId, Node>,
}

/// A set of values with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What is published.
    pub label: Box<str>,
    /// How many values of the domain are below it.
    pub n_leaves: u32,
    /// For a range of numbers or days: where it begins and where it ends.
    pub span: Option<(f64, f64)>,
}

impl Hierarchy {
    /// Builds a hierarchy from the label (and span) of every value on every level.
    /// `labels[level][code]`; level 0 holds the values themselves. A level whose labels
    /// are those of the level below is kept. A root is added unless the last level has a
    /// single node.
    ///
    /// Two values share a node of a level if their labels there are equal; the caller
    /// sees to it that nodes nest.
    pub fn from_labels(labels: Vec<Vec<Step>>) -> Self {
        let n_values = labels.first().map_or(0, Vec::len);
        let mut levels = Vec::with_capacity(labels.len() + 1);
        for (place, column) in labels.into_iter().enumerate() {
            levels.push(if place == 0 { identity(column) } else { gather(column) });
        }
        if levels.len() == 1 || levels.last().is_some_and(|last| last.nodes.len() > 1) {
            levels.push(root(n_values));
        } else if let Some(node) =
            levels.last_mut().and_then(|last| last.nodes.first_mut())
        {
            node.label = ROOT_LABEL.into();
            node.span = None;
        }
        Self { levels }
    }

    /// All levels, the values themselves first.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The highest level, that of the root.
    pub fn height(&self) -> usize {
        self.levels.len() - 1
    }

    /// The node above `code` on `level`.
    pub fn node(&self, level: usize, code: Code) -> NodeId {
        self.levels[level].node_of[code]
    }

    /// The label above `code` on `level`.
    pub fn label(&self, level: usize, code: Code) -> &str {
        let level = &self.levels[level];
        &level.nodes[level.node_of[code]].label
    }

    /// How many values the domain has.
    pub fn n_values(&self) -> usize {
        self.levels[0].node_of.len()
    }

    /// The lowest level on which all of `codes` share a node, and that node.
    pub fn common(&self, codes: &[Code]) -> (usize, NodeId) {
        let Some((first, rest)) = codes.split_first() else {
            return (self.height(), NodeId::default());
        };
        for (number, level) in self.levels.iter().enumerate() {
            let node = level.node_of[*first];
            if rest.iter().all(|code| level.node_of[*code] == node) {
                return (number, node);
            }
        }
        (self.height(), NodeId::default())
    }
}

/// Level 0: every value is its own node, even where two have the same text.
fn identity(column: Vec<Step>) -> Level {
    let node_of = NodeId::first(column.len()).collect();
    let nodes = column
        .into_iter()
        .map(|(label, span)| Node { label, n_leaves: 1, span })
        .collect();
    Level { node_of, nodes }
}

fn gather(column: Vec<Step>) -> Level {
    let mut index: hashbrown::HashMap<Box<str>, NodeId> = hashbrown::HashMap::new();
    let mut level = Level { node_of: Of::new(), nodes: Of::new() };
    for (label, span) in column {
        let node = *index
            .entry(label.clone())
            .or_insert_with(|| level.nodes.push(Node { label, n_leaves: 0, span }));
        level.nodes[node].n_leaves += 1;
        level.node_of.push(node);
    }
    level
}

fn root(n_values: usize) -> Level {
    let node = Node { label: ROOT_LABEL.into(), n_leaves: n_values as u32, span: None };
    Level { node_of: Of::repeat(NodeId::default(), n_values), nodes: vec![node].into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(texts: &[&str]) -> Vec<Step> {
        texts.iter().map(|text| ((*text).into(), None)).collect()
    }

    #[test]
    fn a_root_is_added_where_there_is_none() {
        let hierarchy = Hierarchy::from_labels(vec![
            labels(&["Rome", "Oslo", "Lima"]),
            labels(&["Europe", "Europe", "America"]),
        ]);
        assert_eq!(hierarchy.height(), 2);
        assert_eq!(hierarchy.label(1, Code::new(1)), "Europe");
        assert_eq!(hierarchy.label(2, Code::new(1)), "*");
        assert_eq!(hierarchy.levels()[1].nodes[NodeId::new(0)].n_leaves, 2);
    }

    #[test]
    fn the_common_node_is_the_lowest() {
        let hierarchy = Hierarchy::from_labels(vec![
            labels(&["Rome", "Oslo", "Lima"]),
            labels(&["Europe", "Europe", "America"]),
            labels(&["world", "world", "world"]),
        ]);
        assert_eq!(hierarchy.height(), 2);
        let root = NodeId::new(0);
        assert_eq!(hierarchy.common(&Code::of([0])), (0, root));
        assert_eq!(hierarchy.common(&Code::of([0, 1])), (1, root));
        assert_eq!(hierarchy.common(&Code::of([0, 2])), (2, root));
    }

    #[test]
    fn a_domain_of_one_value_still_has_a_root() {
        let hierarchy = Hierarchy::from_labels(vec![labels(&["only"])]);
        assert_eq!(hierarchy.height(), 1);
    }
}
