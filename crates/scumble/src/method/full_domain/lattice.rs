//! The lattice of generalizations: one level per column.

use crate::hierarchy::Column;

/// One level per column.
pub(super) type LatticeNode = Vec<u8>;

/// Which levels each column may take.
#[derive(Debug, Clone)]
pub(super) struct Lattice {
    pub(super) lowest: LatticeNode,
    pub(super) highest: LatticeNode,
}

impl Lattice {
    pub(super) fn of(columns: &[Column]) -> Self {
        Self {
            lowest: columns.iter().map(|column| column.lowest as u8).collect(),
            highest: columns.iter().map(|column| column.highest as u8).collect(),
        }
    }

    /// How many nodes it has.
    pub(super) fn size(&self) -> u128 {
        self.lowest
            .iter()
            .zip(&self.highest)
            .map(|(low, high)| u128::from(high - low) + 1)
            .product()
    }

    /// The levels of one column.
    pub(super) fn levels(&self, column: usize) -> std::ops::RangeInclusive<u8> {
        self.lowest[column]..=self.highest[column]
    }

    /// The coarsest node, but with `column` on `level`.
    pub(super) fn top_with(&self, levels: &[(usize, u8)]) -> LatticeNode {
        let mut node = self.highest.clone();
        for (column, level) in levels {
            node[*column] = *level;
        }
        node
    }
}

/// Whether `fine` lies at or below `coarse` in every column.
pub(super) fn below(fine: &[u8], coarse: &[u8]) -> bool {
    fine.iter().zip(coarse).all(|(fine, coarse)| fine <= coarse)
}

/// The sum of the levels.
pub(super) fn height(node: &[u8]) -> u32 {
    node.iter().map(|level| u32::from(*level)).sum()
}
