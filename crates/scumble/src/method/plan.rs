//! A plan: what a method decided, in words that do not depend on the table.
//!
//! A plan can be saved, read back, and applied to other rows of the same kind. It holds
//! values of the table it was made from, so it is private.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hierarchy::{Cells, Column, ColumnSpec, Cover, Rule};
use crate::method::{Branch, Grouping, Route};
use crate::table::{Census, Reading};

/// The version of the format this library writes and reads.
const VERSION: u32 = 1;

/// What a method decided about a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    version: u32,
    /// The method that made it.
    pub method: String,
    /// The quasi columns it is for, in order.
    pub columns: Vec<PlanColumn>,
    /// How a row finds its group.
    pub route: PlanRoute,
    /// For each group a cell per column. Empty if rows are grouped by levels and cells are
    /// nodes: then the labels are the cells.
    pub groups: Vec<PlanGroup>,
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
}

/// How a row finds its group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanRoute {
    /// By the labels above its values on one level per column.
    Levels(Vec<usize>),
    /// By cuts, from the first on.
    Cuts(Vec<PlanBranch>),
}

/// A place in a tree of cuts.
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
        below: u32,
        /// Where the others go.
        rest: u32,
    },
    /// One group.
    Group(u32),
}

/// A group of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanGroup {
    /// By levels: the labels that lead here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
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

impl Plan {
    /// Writes down what a method decided.
    pub fn of(
        method: &str,
        columns: &[Column],
        specs: &[ColumnSpec],
        census: &Census,
        grouping: &Grouping,
    ) -> Self {
        let plain = columns.iter().all(|column| column.cells == Cells::Taxonomy);
        let mut first: Vec<Option<usize>> = vec![None; grouping.covers.len()];
        let mut left_out = Vec::new();
        for (tuple, group) in grouping.group_of.iter().enumerate() {
            match (group, &grouping.route) {
                (Some(group), _) => {
                    first[*group as usize].get_or_insert(tuple);
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
                branches.iter().map(|branch| plan_branch(columns, branch)).collect(),
            ),
        };
        let groups = match &grouping.route {
            Route::Levels(_) if plain => Vec::new(),
            route => grouping
                .covers
                .iter()
                .zip(first)
                .map(|(covers, first)| PlanGroup {
                    labels: match (route, first) {
                        (Route::Levels(levels), Some(tuple)) => {
                            labels(columns, census, levels, tuple)
                        }
                        _ => Vec::new(),
                    },
                    cells: covers
                        .iter()
                        .zip(columns)
                        .map(|(cover, column)| plan_cell(column, cover))
                        .collect(),
                })
                .collect(),
        };
        let columns = specs.iter().map(|spec| PlanColumn {
            name: spec.name.clone(),
            reading: spec.reading.clone(),
            rule: spec.rule.clone(),
            cells: spec.cells,
            lowest: spec.lowest,
        });
        Self {
            version: VERSION,
            method: method.to_owned(),
            columns: columns.collect(),
            route,
            groups,
            left_out,
        }
    }

    /// Reads a saved plan.
    pub fn from_json(text: &str, file: &str) -> Result<Self> {
        let plan: Self = serde_json::from_str(text).map_err(|error| {
            Error::input("this is not a plan")
                .at(file, error.line(), error.column())
                .with_hint("`publish --plan FILE` writes one")
        })?;
        if plan.version != VERSION {
            return Err(Error::input(format!(
                "the plan has version {}, but this program reads version {VERSION}",
                plan.version
            ))
            .in_file(file));
        }
        plan.check().map_err(|what| Error::input(what).in_file(file))?;
        Ok(plan)
    }

    /// As it is saved.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| {
            Error::input(format!("the plan cannot be written: {error}"))
        })
    }

    /// Whether everything in it points at something.
    fn check(&self) -> Result<(), &'static str> {
        let n = self.columns.len();
        let whole = self.groups.iter().all(|group| group.cells.len() == n);
        let fits = match &self.route {
            PlanRoute::Levels(levels) => {
                levels.len() == n
                    && self.left_out.iter().all(|labels| labels.len() == n)
            }
            PlanRoute::Cuts(branches) => {
                !branches.is_empty()
                    && branches.iter().enumerate().all(|(place, branch)| match branch {
                        PlanBranch::Group(group) => {
                            (*group as usize) < self.groups.len()
                        }
                        // Cuts lead onward only, so following them ends.
                        PlanBranch::Cut { column, below, rest, .. } => {
                            let onward = |next: u32| {
                                (place + 1..branches.len()).contains(&(next as usize))
                            };
                            *column < n && onward(*below) && onward(*rest)
                        }
                    })
            }
        };
        if whole && fits { Ok(()) } else { Err("the plan is damaged") }
    }

    /// Every value of a column that the plan mentions.
    pub fn values(&self, column: usize) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        if let PlanRoute::Cuts(branches) = &self.route {
            for branch in branches {
                match branch {
                    PlanBranch::Cut { column: cut, value, .. } if *cut == column => {
                        values.extend(value.clone());
                    }
                    _ => {}
                }
            }
        }
        for group in &self.groups {
            match &group.cells[column] {
                PlanCell::Node { value, .. } => values.extend(value.clone()),
                PlanCell::Range { low, high, .. } => {
                    values.extend(low.iter().chain(high).cloned());
                }
                PlanCell::Set(set) => values.extend(set.iter().flatten().cloned()),
            }
        }
        values.sort_unstable();
        values.dedup();
        values
    }
}

pub(super) fn labels(
    columns: &[Column],
    census: &Census,
    levels: &[usize],
    tuple: usize,
) -> Vec<String> {
    let nodes = columns.iter().zip(&census.quasi).zip(levels);
    nodes
        .map(|((column, codes), level)| {
            column.hierarchy.label(*level, codes[tuple]).to_owned()
        })
        .collect()
}

fn value_of(column: &Column, code: u32) -> Option<String> {
    // A plan may cut before "not known" where nothing is: that is behind all values.
    let known = (code as usize) < column.domain.len();
    let missing = !known || column.domain.missing() == Some(code);
    (!missing).then(|| column.domain.text(code).to_owned())
}

fn plan_branch(columns: &[Column], branch: &Branch) -> PlanBranch {
    match *branch {
        Branch::Group(group) => PlanBranch::Group(group),
        Branch::Cut { column, code, below, rest } => {
            let value = value_of(&columns[column], code);
            PlanBranch::Cut { column, value, below, rest }
        }
    }
}

fn plan_cell(column: &Column, cover: &Cover) -> PlanCell {
    let value = |code: &u32| value_of(column, *code);
    match cover {
        Cover::Node { level, node } => {
            let nodes = &column.hierarchy.levels()[*level].node_of;
            let below =
                nodes.iter().position(|above| above == node).unwrap_or(0) as u32;
            PlanCell::Node { level: *level, value: value(&below) }
        }
        Cover::Range { low, high, missing } => {
            PlanCell::Range { low: value(low), high: value(high), missing: *missing }
        }
        Cover::Set(codes) => PlanCell::Set(codes.iter().map(value).collect()),
    }
}
