//! How a randomized column was made, as the manifest says it.

use serde::{Deserialize, Serialize};

use crate::release::{Class, Parameters, RangesNote, Treatment};

/// A randomized column, or several that were randomized as one.
#[derive(Debug, Clone, PartialEq)]
pub struct PerturbationNote {
    /// The columns: one, or the parts of a compound column.
    pub columns: Vec<String>,
    /// `upward` or `both`.
    pub breaches: String,
    /// How each row was drawn: `fresh`, or `keyed` by a secret key and the row's identifier.
    pub noise: String,
    /// How the numbers of each column were taken as ranges, if they were.
    pub ranges: Vec<Option<RangesNote>>,
    /// The column of the data that tells the sub-table of a row, counted from 1; nothing if
    /// all rows are one.
    pub subtable_column: Option<String>,
    /// The sub-tables, each randomized within its own domain.
    pub subtables: Vec<SubtableNote>,
}

impl PerturbationNote {
    /// What was done to one of its columns.
    pub fn treatment(&self, part: usize) -> Treatment {
        let (breaches, noise) = (self.breaches.clone(), self.noise.clone());
        let ranges = self.ranges.get(part).copied().flatten();
        Treatment::Drawn { breaches, noise, ranges }
    }

    /// Its sub-tables.
    pub fn class(self) -> Class {
        let Self { columns: of, subtable_column: column, subtables, .. } = self;
        Class { column, of, parameters: Parameters::Subtables { subtables } }
    }
}

/// Rows that were randomized within one domain, by one matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubtableNote {
    /// How many rows.
    pub rows: u64,
    /// The values, each as the texts of the columns.
    pub domain: Vec<Vec<String>>,
    /// For each value, the largest prior belief that was assumed, and the largest belief
    /// that may follow; nothing for values that are not protected.
    pub bounds: Vec<Option<BoundNote>>,
    /// The rows it is for, if a column tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<ConditionNote>,
    /// The matrix.
    #[serde(flatten)]
    pub operator: OperatorNote,
}

/// The rows of a sub-table, where a column that is published as it is tells them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionNote {
    /// The column.
    pub column: String,
    /// What its rows have in it; nothing if they have what no other sub-table names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// What is promised of a value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BoundNote {
    /// Largest belief before.
    pub prior: f64,
    /// Largest belief after.
    pub posterior: f64,
    /// How many times as likely the value may lead to what is published as another.
    pub gamma: f64,
}

/// A matrix, by as few numbers as will do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "operator", rename_all = "kebab-case")]
pub enum OperatorNote {
    /// Kept with this probability, otherwise drawn from the whole domain, itself included.
    Uniform {
        /// The probability.
        keep: f64,
    },
    /// The same with a probability for each value.
    FineGrain {
        /// The probabilities.
        keep: Vec<f64>,
    },
    /// Any matrix.
    General {
        /// A row for each published value, a column for each original value.
        matrix: Vec<Vec<f64>>,
    },
}
