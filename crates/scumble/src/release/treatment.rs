//! What was done to a column, and what rows of the same class share.
//!
//! Every published column is a *treatment* of the true column: a true value goes in, a
//! published cell comes out. Its parameters are shared by the rows of a *class*, and are
//! published: so a cell is a distribution over the column's values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::hierarchy::Cells;
use crate::release::{FrameNote, SubtableNote};
use crate::space::{FrameKind, Shape};

/// What was done to a column.
///
/// Given the class, the cells of different rows are independent of each other; but of
/// [`Treatment::Apart`] and [`Treatment::Redrawn`] the class only says which values its rows
/// have together, and any order of these is as likely.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Treatment {
    /// Published as it is.
    Kept,
    /// Published as a node, a range or a set that all rows of a group share.
    Coarse {
        /// What its cells are.
        cells: Cells,
        /// The level of the whole column, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        level: Option<usize>,
    },
    /// Published as a distribution that all rows of a group share.
    Weighted,
    /// A value drawn by a matrix, which the rows of a sub-table share.
    Drawn {
        /// `upward` or `both`: which way a belief is bounded.
        breaches: String,
        /// `fresh`, or `keyed` by a secret key and the row's identifier.
        noise: String,
        /// How numbers were taken as ranges, if they were: the values that were drawn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ranges: Option<RangesNote>,
    },
    /// A number with noise, whose width the rows of a frame and level share.
    Noisy {
        /// The shape of the noise.
        shape: Shape,
        /// The column of the data that tells how wide it is, unless axes are turned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spread: Option<String>,
    },
    /// Not in the rows: beside them stands which values each group has.
    Apart,
    /// A number drawn anew from the mean and covariance of a group.
    Redrawn,
}

/// How the numbers of a randomized column were taken as ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangesNote {
    /// The level of its hierarchy, between the ends of its domain.
    pub level: usize,
    /// What the rows have.
    pub published: PublishedRange,
}

/// What rows have where numbers were randomized as ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PublishedRange {
    /// The range that was drawn.
    Range,
    /// A number that was drawn evenly from that range.
    Number,
}

impl Treatment {
    /// Its name in the manifest.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Coarse { .. } => "coarse",
            Self::Weighted => "weighted",
            Self::Drawn { .. } => "drawn",
            Self::Noisy { .. } => "noisy",
            Self::Apart => "apart",
            Self::Redrawn => "redrawn",
        }
    }

    /// Whether the rows of the data have a cell of the column.
    pub fn is_in_rows(&self) -> bool {
        !matches!(self, Self::Weighted | Self::Apart)
    }
}

/// What rows of the same class share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// The column of the data that tells the class of a row; nothing if all rows are one
    /// class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The published columns it is about.
    pub of: Vec<String>,
    /// What is shared, or where it is.
    pub parameters: Parameters,
}

/// What the rows of a class share, or where it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Parameters {
    /// The distributions of a group, in a file.
    Cells {
        /// The file.
        file: String,
        /// Whose weights they have: `table`, `counted`, `population` or `paper`.
        weights: String,
        /// For `counted`: for each quasi column, the groups where they are the table's own.
        /// All others are the population's.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        table: BTreeMap<String, Vec<u64>>,
    },
    /// The values of a group, in a file.
    Values {
        /// The file.
        file: String,
        /// How many groups there are.
        groups: u64,
    },
    /// Matrices.
    Subtables {
        /// One for each sub-table, which are numbered from 1.
        subtables: Vec<SubtableNote>,
    },
    /// Axes of noise, and how wide it is on each level.
    Frames {
        /// Which way noise is scaled and turned.
        frame: FrameKind,
        /// Whether only rows of the same frame and level count as company.
        strict: bool,
        /// Quasi columns that are kept as they are: only rows that share them count.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        exact: Vec<String>,
        /// How often the best guess may be right, if that was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        best_guess: Option<f64>,
        /// The frames, numbered from 1; empty unless strict.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        frames: Vec<FrameNote>,
    },
    /// The level of a row in its frame, where the spreads are.
    Levels,
    /// Mean and covariance, which the rows of a group have together.
    Moments {
        /// How many groups there are.
        groups: u64,
        /// Columns whose values all rows of a group share.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        exact: Vec<String>,
    },
}

impl Parameters {
    /// Whether the classes are groups, which a column that is called so tells.
    pub fn is_of_groups(&self) -> bool {
        match self {
            Self::Cells { .. } | Self::Values { .. } | Self::Moments { .. } => true,
            Self::Subtables { .. } | Self::Frames { .. } | Self::Levels => false,
        }
    }

    /// Whether a column with this treatment may have such parameters.
    pub(super) fn suit(&self, treatment: &Treatment) -> bool {
        match self {
            Self::Cells { .. } => *treatment == Treatment::Weighted,
            Self::Values { .. } => *treatment == Treatment::Apart,
            Self::Subtables { .. } => matches!(treatment, Treatment::Drawn { .. }),
            Self::Frames { .. } | Self::Levels => {
                matches!(treatment, Treatment::Noisy { .. })
            }
            Self::Moments { .. } => *treatment == Treatment::Redrawn,
        }
    }
}
