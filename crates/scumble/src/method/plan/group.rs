//! How rows are grouped and which cells stand for them, in words that do not depend on the
//! table.

use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

use crate::hierarchy::{Cells, Column, ColumnSpec, Cover, Grid, Rule};
use crate::method::{Branch, BranchId, Grouping, Route};
use crate::table::{Census, ClassId, Code, GroupId, Of, Reading, TupleId};

/// How rows are grouped and published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupPlan {
    /// The quasi columns it is for, in order.
    pub columns: Vec<PlanColumn>,
    /// How a row finds its group.
    pub route: PlanRoute,
    /// The groups, each with a cell per column.
    pub groups: Of<GroupId, PlanGroup>,
    /// By levels only: the labels of groups that are left out.
    pub left_out: Vec<Vec<String>>,
}

/// A quasi column as a plan needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanColumn {
    /// Its name.
    pub name: String,
    /// How its texts are read.
    pub reading: Reading,
    /// How its values coarsen.
    pub rule: Rule,
    /// What its cells are.
    pub cells: Cells,
    /// The finest level that may be published.
    pub lowest: usize,
    /// Where its ranges end, if that is on a grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<Grid>,
}

/// How a row finds its group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanRoute {
    /// By the labels above its values on one level per column.
    Levels(Vec<usize>),
    /// By cuts, from the first on.
    Cuts(Of<BranchId, PlanBranch>),
}

/// What is at a place in a tree of cuts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanBranch {
    /// Values that stand before `value` go `below`, others to `rest`.
    Cut {
        /// The quasi column.
        column: usize,
        /// The first value of the other side; nothing stands for "not known", the last.
        value: Option<String>,
        /// Where values before it go.
        below: BranchId,
        /// Where the others go.
        rest: BranchId,
    },
    /// One group, or `LEFT_OUT`.
    Group(GroupId),
}

/// Instead of a group: rows that lead here are left out.
pub(super) const LEFT_OUT: GroupId = GroupId::new(u32::MAX);

/// A group of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanGroup {
    /// By levels: the labels that lead here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// How many rows of the table are in it.
    pub rows: u64,
    /// Its number in the release, from 0, in the order of what is published of groups;
    /// nothing if it has no rows. Groups that nobody can tell apart have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<ClassId>,
    /// The cells.
    pub cells: Vec<PlanCell>,
}

/// A cell of a plan. Nothing in place of a value stands for "not known".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanCell {
    /// A node: its level and a value below it.
    Node {
        /// The level.
        level: usize,
        /// A value below the node.
        value: Option<String>,
    },
    /// A range.
    Range {
        /// The first value.
        low: Option<String>,
        /// The last value.
        high: Option<String>,
        /// Whether "not known" is in it, too.
        missing: bool,
    },
    /// These values.
    Set(Vec<Option<String>>),
}

impl GroupPlan {
    /// Writes down what a method decided.
    pub fn of(
        columns: &[Column],
        specs: &[ColumnSpec],
        census: &Census,
        grouping: &Grouping,
    ) -> Self {
        let n_groups = grouping.covers.len();
        let mut rows: Of<GroupId, u64> = Of::repeat(0, n_groups);
        let mut first: Of<GroupId, Option<TupleId>> = Of::repeat(None, n_groups);
        let mut left_out = Vec::new();
        for (tuple, group) in grouping.group_of.pairs() {
            match (group, &grouping.route) {
                (Some(group), _) => {
                    rows[*group] += census.rows[tuple];
                    first[*group].get_or_insert(tuple);
                }
                (None, Route::Levels(levels)) => {
                    left_out.push(labels(columns, census, levels, tuple));
                }
                (None, Route::Cuts(_)) => {}
            }
        }
        left_out.sort_unstable();
        left_out.dedup();
        let route = match &grouping.route {
            Route::Levels(levels) => PlanRoute::Levels(levels.clone()),
            Route::Cuts(branches) => PlanRoute::Cuts(
                branches
                    .iter()
                    .map(|branch| plan_branch(columns, specs, branch))
                    .collect(),
            ),
        };
        let groups = grouping.covers.iter().zip(first).zip(rows);
        let groups = groups.map(|((covers, first), rows)| PlanGroup {
            labels: match (&grouping.route, first) {
                (Route::Levels(levels), Some(tuple)) => {
                    labels(columns, census, levels, tuple)
                }
                _ => Vec::new(),
            },
            rows,
            number: None,
            cells: covers
                .iter()
                .zip(columns.iter().zip(specs))
                .map(|(cover, (column, spec))| plan_cell(column, &spec.reading, cover))
                .collect(),
        });
        let groups = groups.collect();
        let columns = specs.iter().map(|spec| PlanColumn {
            name: spec.name.clone(),
            reading: spec.reading.clone(),
            rule: spec.rule.clone(),
            cells: spec.cells,
            lowest: spec.lowest,
            grid: spec.grid.clone(),
        });
        Self { columns: columns.collect(), route, groups, left_out }
    }

    /// Whether everything in it points at something.
    pub(super) fn is_sound(&self) -> bool {
        let n = self.columns.len();
        let whole = self.groups.iter().all(|group| group.cells.len() == n);
        let fits = match &self.route {
            PlanRoute::Levels(levels) => {
                levels.len() == n
                    && self.left_out.iter().all(|labels| labels.len() == n)
            }
            PlanRoute::Cuts(branches) => {
                !branches.is_empty()
                    && branches.pairs().all(|(place, branch)| match branch {
                        PlanBranch::Group(group) => {
                            *group == LEFT_OUT || self.groups.at(*group).is_some()
                        }
                        // Cuts lead onward only, so following them ends.
                        PlanBranch::Cut { column, below, rest, .. } => {
                            let onward = |next: BranchId| {
                                place < next && branches.at(next).is_some()
                            };
                            *column < n && onward(*below) && onward(*rest)
                        }
                    })
            }
        };
        whole && fits
    }

    /// Whether a cell of a column stands for "not known", perhaps among others.
    pub(super) fn mentions_missing(&self, column: usize) -> bool {
        self.groups.iter().any(|group| match &group.cells[column] {
            PlanCell::Node { value, .. } => value.is_none(),
            PlanCell::Range { missing, .. } => *missing,
            PlanCell::Set(set) => set.contains(&None),
        })
    }

    /// Every value of a column that the plan mentions.
    pub fn values(&self, column: usize) -> Vec<String> {
        let mut values: HashSet<&str> = HashSet::new();
        if let PlanRoute::Cuts(branches) = &self.route {
            for branch in branches {
                match branch {
                    PlanBranch::Cut { column: cut, value, .. } if *cut == column => {
                        values.extend(value.as_deref());
                    }
                    _ => {}
                }
            }
        }
        for group in &self.groups {
            match &group.cells[column] {
                PlanCell::Node { value, .. } => values.extend(value.as_deref()),
                PlanCell::Range { low, high, .. } => {
                    values.extend(low.as_deref().into_iter().chain(high.as_deref()));
                }
                PlanCell::Set(set) => values.extend(set.iter().flatten().map(|v| &**v)),
            }
        }
        let mut values: Vec<String> = values.into_iter().map(str::to_owned).collect();
        values.sort_unstable();
        values
    }
}

pub(super) fn labels(
    columns: &[Column],
    census: &Census,
    levels: &[usize],
    tuple: TupleId,
) -> Vec<String> {
    let nodes = columns.iter().zip(&census.quasi).zip(levels);
    nodes
        .map(|((column, codes), level)| {
            column.hierarchy.label(*level, codes[tuple]).to_owned()
        })
        .collect()
}

fn value_of(column: &Column, reading: &Reading, code: Code) -> Option<String> {
    // A plan may cut before "not known" where nothing is: that is behind all values.
    let known = code.index() < column.domain.len();
    let missing = !known || column.domain.missing() == Some(code);
    (!missing).then(|| reading.as_typed(column.domain.text(code)))
}

fn plan_branch(
    columns: &[Column],
    specs: &[ColumnSpec],
    branch: &Branch,
) -> PlanBranch {
    match *branch {
        Branch::Group(group) => PlanBranch::Group(group.unwrap_or(LEFT_OUT)),
        Branch::Cut { column, code, below, rest } => {
            let (bound, reading) = (&columns[column], &specs[column].reading);
            let line = bound.grid.as_ref().and_then(|grid| grid.line_below(code));
            let value = match line {
                Some(line) => Some(reading.as_typed(line)),
                None => value_of(bound, reading, code),
            };
            PlanBranch::Cut { column, value, below, rest }
        }
    }
}

fn plan_cell(column: &Column, reading: &Reading, cover: &Cover) -> PlanCell {
    let value = |code: &Code| value_of(column, reading, *code);
    match cover {
        Cover::Node { level, node } => {
            let mut nodes = column.hierarchy.levels()[*level].node_of.pairs();
            let below = nodes.find(|(_, above)| *above == node);
            let below = below.map_or(Code::default(), |(code, _)| code);
            PlanCell::Node { level: *level, value: value(&below) }
        }
        Cover::Range { low, high, missing } => {
            PlanCell::Range { low: value(low), high: value(high), missing: *missing }
        }
        Cover::Set(codes) => PlanCell::Set(codes.iter().map(value).collect()),
    }
}
