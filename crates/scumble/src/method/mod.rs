//! How to get there: a method turns counts into groups and their cells.

mod anatomy;
mod blur;
mod buckets;
mod condensation;
mod full_domain;
mod leave_out;
mod mondrian;
pub mod pdf;
pub mod perturb;
mod plan;
mod robust;
#[cfg(test)]
mod testing;
mod weights;

pub use anatomy::{AnatomyTask, anatomy};
pub use blur::{
    BlurTask, Blurred, BlurredFrame, ClassRules, Frame, Ladder, NoiseDrawer, RowNeeds,
    anonymity, blur, draw_noise, ladder, largest_set, least_factors, most_company,
    need, peel,
};
pub use buckets::Buckets;
pub use condensation::{CondensationTask, Condensed, GroupMoments, condense};
pub use full_domain::{BestNode, EFFORT, FoundSafely, FullDomain, safe_levels};
pub use mondrian::{
    Chance, ColumnChoice, Mondrian, ValueChoice, safe_cuts, value_cuts,
};
pub use plan::{
    ApartPlan, BlurPlan, BoundGroups, DrawColumn, DrawCondition, DrawPlan, FoundGroup,
    GroupPlan, NumberColumn, Plan, PlanBranch, PlanCell, PlanColumn, PlanGroup,
    PlanRoute, RedrawPlan, Step, Subtable, SubtableId,
};
pub use robust::{Robust, RobustTask, robust};
pub use weights::Weighting;

use crate::hierarchy::{Cells, Column, Cover};
use crate::loss::{Loss, Shape};
use crate::promise::Promises;
use crate::table::{Census, Code, GroupId, Of, TupleId, ids};

ids! {
    /// A place in a tree of cuts.
    BranchId
}

/// What a method is asked to do.
#[derive(Debug, Clone, Copy)]
pub struct GroupingTask<'a> {
    /// The quasi columns.
    pub columns: &'a [Column],
    /// The counts.
    pub census: &'a Census,
    /// What must hold of every group.
    pub promises: &'a Promises,
    /// What to make small.
    pub loss: Loss,
    /// How many rows may be left out.
    pub limit: u64,
}

/// How the tuples of a census are grouped and published.
#[derive(Debug, Clone)]
pub struct Grouping {
    /// For each tuple its group, or nothing if its rows are left out.
    pub group_of: Of<TupleId, Option<GroupId>>,
    /// For each group a cell per quasi column.
    pub covers: Of<GroupId, Vec<Cover>>,
    /// How any row finds its group.
    pub route: Route,
}

/// How a row finds its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// By its nodes on one level per column.
    Levels(Vec<usize>),
    /// By cuts, from the first branch on.
    Cuts(Of<BranchId, Branch>),
}

/// What is at a place in a tree of cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Branch {
    /// Rows whose code in `column` is below `code` go to branch `below`, others to `rest`.
    Cut {
        /// The quasi column.
        column: usize,
        /// The first code of the other side.
        code: Code,
        /// Where smaller codes go.
        below: BranchId,
        /// Where the others go.
        rest: BranchId,
    },
    /// The rows of one group, or else rows that are left out.
    Group(Option<GroupId>),
}

impl Grouping {
    /// The level of each quasi column, if each has one.
    pub fn levels(&self) -> Option<&[usize]> {
        match &self.route {
            Route::Levels(levels) => Some(levels),
            Route::Cuts(_) => None,
        }
    }

    /// The sizes and cells, as a loss sees them.
    pub fn shape(&self, census: &Census) -> Shape<'_> {
        let mut rows: Of<GroupId, u64> = Of::repeat(0, self.covers.len());
        let mut left_out = 0;
        for (group, n) in self.group_of.iter().zip(&census.rows) {
            match group {
                Some(group) => rows[*group] += n,
                None => left_out += n,
            }
        }
        // Groups of the population without rows are not published.
        let groups = rows
            .into_iter()
            .zip(self.covers.iter().map(Vec::as_slice))
            .filter(|(rows, _)| *rows > 0)
            .collect();
        Shape { groups, left_out }
    }
}

/// The cell that stands for the values `codes` of a column, ascending and distinct.
/// `at_least` is the level of the hierarchy on which rows were grouped, if any.
pub fn cover(column: &Column, codes: &[Code], at_least: Option<usize>) -> Cover {
    match (column.cells, at_least) {
        (Cells::Taxonomy, Some(level)) => {
            Cover::Node { level, node: column.hierarchy.node(level, codes[0]) }
        }
        (Cells::Taxonomy, None) => {
            let lowest = Cover::node_over(&column.hierarchy, codes);
            match lowest {
                Cover::Node { level, .. } if level < column.lowest => Cover::Node {
                    level: column.lowest,
                    node: column.hierarchy.node(column.lowest, codes[0]),
                },
                other => other,
            }
        }
        (Cells::Interval, at_least) => match (&column.grid, at_least) {
            (None, _) => Cover::range_over(&column.domain, codes),
            // The value itself, which all of the group share.
            (Some(_), Some(0)) => Cover::node_over(&column.hierarchy, codes),
            (Some(grid), _) => match Cover::range_over(&column.domain, codes) {
                Cover::Range { low, high, missing } => {
                    let (low, high) = grid.outward(low, high);
                    Cover::Range { low, high, missing }
                }
                other => other,
            },
        },
        (Cells::Set | Cells::Pdf, _) => Cover::Set(codes.to_vec()),
    }
}
