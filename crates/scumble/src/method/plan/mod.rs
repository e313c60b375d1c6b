//! A plan: what a method decided, in words that do not depend on how the table is stored.
//!
//! A plan says how rows find their classes and what is done to each column. It is bound to
//! columns once and then applied to rows: what becomes of a row is a function of the plan,
//! the row and its random stream. It holds values of the table it was made from, so it is
//! private.

mod bind;
mod group;
mod regroup;

pub use bind::{BoundGroups, FoundGroup};
pub use group::{GroupPlan, PlanBranch, PlanCell, PlanColumn, PlanGroup, PlanRoute};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hierarchy::Ranges;
use crate::method::condensation::GroupMoments;
use crate::method::perturb::Operator;
use crate::method::perturb::ValueId;
use crate::method::{Blurred, Buckets};
use crate::space::Shape;
use crate::table::{ClassId, GroupId, Of, Reading, RowId, ids};

ids! {
    /// A sub-table of a draw.
    SubtableId
}

/// The version of the format this library writes and reads.
const VERSION: u32 = 2;

/// What a method decided about a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    version: u32,
    /// The method that made it.
    pub method: String,
    /// Whether one row of each group is published, chosen among all of them.
    #[serde(default)]
    pub sampled: bool,
    /// Whether the cells of groups are distributions, in a file of their own.
    #[serde(default)]
    pub weighted: bool,
    /// Whether its groups were cut so that they tell nothing harmful of anybody's presence.
    #[serde(default)]
    pub safe: bool,
    /// Whether its noise depends on a key, which the plan does not hold.
    #[serde(default)]
    pub keyed: bool,
    /// What is done to columns; those of no step are published as they are.
    pub steps: Vec<Step>,
}

/// What is done to some columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum Step {
    /// Rows are grouped, and the cells of a group stand for their values.
    Group(GroupPlan),
    /// Values are drawn by a matrix.
    Draw(DrawPlan),
    /// Values stand apart from the rows, by group.
    Apart(ApartPlan),
    /// Numbers get noise.
    Blur(BlurPlan),
    /// Numbers are drawn anew from the moments of a group.
    Redraw(RedrawPlan),
}

/// How the values of a column, or of several as one, are drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DrawPlan {
    /// The columns.
    pub columns: Vec<DrawColumn>,
    /// The text of each value, column by column.
    pub values: Of<ValueId, Vec<String>>,
    /// The sub-tables, at least one.
    pub subtables: Of<SubtableId, Subtable>,
    /// The column that tells the sub-table of a row, if one does; else rows are dealt by
    /// chance, as many of each value as a sub-table is to have.
    #[serde(default)]
    pub condition: Option<DrawCondition>,
}

/// A column, published as it is, whose values tell the sub-tables of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DrawCondition {
    /// Its name.
    pub column: String,
    /// The texts of values that have a sub-table of their own.
    pub values: Vec<(String, SubtableId)>,
    /// The sub-table of all others, if there may be any.
    pub others: Option<SubtableId>,
}

/// A column whose values are drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DrawColumn {
    /// Its name.
    pub name: String,
    /// How its texts are read.
    pub reading: Reading,
    /// The ranges its numbers are taken as, if they are: its values are the names of these.
    #[serde(default)]
    pub ranges: Option<Ranges>,
    /// If a number is to be drawn from the range that was: how many decimals it has.
    #[serde(default)]
    pub decimals: Option<u32>,
}

impl DrawColumn {
    /// The one text of the value that a text of the table means.
    pub fn one_text(&self, text: &str) -> Option<String> {
        match &self.ranges {
            Some(ranges) => ranges.text(&self.reading, text),
            None => Some(self.reading.one_text(text)),
        }
    }
}

/// Rows that are randomized by one operator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subtable {
    /// The values of its domain, ascending.
    pub values: Vec<ValueId>,
    /// How many rows have each of them.
    pub rows: Vec<u64>,
    /// How they are randomized.
    pub operator: Operator,
}

/// Which rows are in which group; their values stand apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApartPlan {
    /// The column whose values stand apart.
    pub column: String,
    /// The rows of each group, by their entries of the census.
    pub buckets: Buckets,
    /// The number of each group in the release, from 0.
    pub numbers: Of<GroupId, ClassId>,
}

/// How numbers get noise, row by row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlurPlan {
    /// The columns.
    pub columns: Vec<NumberColumn>,
    /// The shape of the noise.
    pub shape: Shape,
    /// Frames, ladders, and where each row of the table is.
    pub blurred: Blurred,
}

/// How numbers are drawn anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RedrawPlan {
    /// The columns.
    pub columns: Vec<NumberColumn>,
    /// The moments of each group.
    pub groups: Of<GroupId, GroupMoments>,
    /// The group of each row of the table, from 0.
    pub group_of_row: Of<RowId, GroupId>,
}

/// A column of numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumberColumn {
    /// Its name.
    pub name: String,
    /// How its texts are read.
    pub reading: Reading,
    /// How many decimals true and published numbers have.
    pub decimals: u32,
}

impl Plan {
    /// What a method decided.
    pub fn new(method: &str, steps: Vec<Step>) -> Self {
        let method = method.to_owned();
        Self {
            version: VERSION,
            method,
            sampled: false,
            weighted: false,
            safe: false,
            keyed: false,
            steps,
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
        let sound = plan.steps.iter().all(|step| match step {
            Step::Group(groups) => groups.is_sound(),
            Step::Draw(draw) => draw.is_sound(),
            Step::Apart(_) | Step::Blur(_) | Step::Redraw(_) => true,
        });
        match sound {
            true => Ok(plan),
            false => Err(Error::input("the plan is damaged").in_file(file)),
        }
    }

    /// As it is saved.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| {
            Error::input(format!("the plan cannot be written: {error}"))
        })
    }

    /// How rows are grouped, if they are.
    pub fn groups(&self) -> Option<&GroupPlan> {
        self.steps.iter().find_map(|step| match step {
            Step::Group(groups) => Some(groups),
            Step::Draw(_) | Step::Apart(_) | Step::Blur(_) | Step::Redraw(_) => None,
        })
    }

    /// Whether anything in it is left to chance, so that rows are shuffled.
    pub fn is_random(&self) -> bool {
        self.steps.iter().any(|step| match step {
            Step::Draw(_) | Step::Blur(_) | Step::Redraw(_) => true,
            Step::Group(_) | Step::Apart(_) => false,
        })
    }
}

impl DrawPlan {
    fn is_sound(&self) -> bool {
        let told = self.condition.iter().flat_map(|condition| {
            let own = condition.values.iter().map(|(_, table)| *table);
            own.chain(condition.others)
        });
        told.into_iter().all(|table| self.subtables.at(table).is_some())
            && self.values.iter().all(|texts| texts.len() == self.columns.len())
            && self.subtables.iter().all(|table| {
                table.operator.size() == table.values.len()
                    && table.rows.len() == table.values.len()
                    && table.values.iter().all(|value| self.values.at(*value).is_some())
            })
    }
}
