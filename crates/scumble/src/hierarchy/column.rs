//! A quasi column as methods see it: domain, hierarchy, and which levels are allowed.

use crate::hierarchy::{BoundGrid, Hierarchy};
use crate::table::{Code, Domain, Of};

/// A quasi column with its hierarchy bound to its domain.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its values.
    pub domain: Domain,
    /// How they coarsen.
    pub hierarchy: Hierarchy,
    /// How many rows have each value.
    pub rows: Of<Code, u64>,
    /// The finest level that may be published.
    pub lowest: usize,
    /// The coarsest level that may be published.
    pub highest: usize,
    /// How much a cell of this column counts in a loss; above 0.
    pub weight: f64,
    /// What its published cells are.
    pub cells: Cells,
    /// Where its ranges may end; at any value if nothing is said.
    pub grid: Option<BoundGrid>,
}

impl Column {
    /// Whether a cut between two values would part a range of the grid.
    pub fn joins(&self, one: Code, other: Code) -> bool {
        self.grid.as_ref().is_some_and(|grid| grid.joins(one, other))
    }

    /// Where a range from one value to another begins and ends; nothing for words and for
    /// "not known".
    pub fn span(&self, low: Code, high: Code) -> Option<(f64, f64)> {
        match &self.grid {
            Some(grid) => grid.span(low, high),
            None => self.domain.number(low).zip(self.domain.number(high)),
        }
    }
}

/// What published cells are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cells {
    /// Nodes of the hierarchy.
    Taxonomy,
    /// Ranges in the order of the domain.
    Interval,
    /// Sets of the values that occur.
    Set,
    /// Values with weights, in a file of their own.
    Pdf,
}
