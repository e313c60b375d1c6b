//! Blurred numbers: what the manifest says about the noise, and how rows are written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::release::{Class, GROUP_COLUMN, Parameters, Treatment};
use crate::space::{FrameKind, Shape};

/// The data's column that tells at which level of the ladder a row is, under `strict`.
pub const LEVEL_COLUMN: &str = "level";

/// The data's column that tells which frame a row is in, if there are several.
pub const FRAME_COLUMN: &str = "frame";

/// The data's column that tells how wide the noise of a blurred column is.
pub fn spread_column(column: &str) -> String {
    format!("{column}.spread")
}

/// How numbers were blurred.
#[derive(Debug, Clone, PartialEq)]
pub struct BlurNote {
    /// The shape of the noise.
    pub shape: Shape,
    /// Which way it is scaled and turned.
    pub frame: FrameKind,
    /// Whether only rows of the same frame and level count as company.
    pub strict: bool,
    /// The blurred columns, in the order of the data.
    pub columns: Vec<BlurredColumn>,
    /// Quasi columns that are kept as they are: only rows that share them count.
    pub exact: Vec<String>,
    /// How often the best guess may be right, if that was asked.
    pub best_guess: Option<f64>,
    /// The frames, numbered from 1; empty unless strict.
    pub frames: Vec<FrameNote>,
}

/// A blurred column.
#[derive(Debug, Clone, PartialEq)]
pub struct BlurredColumn {
    /// Its name.
    pub name: String,
    /// How many decimals true and published numbers have; true ones with more were rounded
    /// to these before anything else.
    pub decimals: u32,
    /// Where true numbers may be, both ends included.
    pub domain: [f64; 2],
}

/// Rows that are blurred in the same way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameNote {
    /// Its number.
    pub frame: u32,
    /// The cells its rows share in exact columns.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exact: BTreeMap<String, String>,
    /// The blurred columns in which numbers of its rows are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Which part of space its rows come from: true numbers are from the first one up to
    /// below the second.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub part: BTreeMap<String, [Option<f64>; 2]>,
    /// The axes of the noise, each with a weight for every blurred column that is not
    /// missing, in order: the coordinate of a row along an axis is the sum of its numbers
    /// times these weights, and noise is drawn along coordinates. As many axes as columns,
    /// and the matrix can be inverted, but need not be a rotation: weights also scale.
    /// Without them the axes are the columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axes: Option<Vec<Vec<f64>>>,
    /// The ladder: for each level, from 1 on, the spread on every axis.
    pub levels: Vec<Vec<f64>>,
}

impl BlurNote {
    /// Whether the data has a column of spreads behind each blurred column.
    pub fn has_spreads(&self) -> bool {
        self.frame != FrameKind::Rotated
    }

    /// Whether the data has a column that tells the frame of a row.
    pub fn has_frames(&self) -> bool {
        self.strict && (!self.has_spreads() || self.frames.len() > 1)
    }

    /// What was done to the column of this name.
    pub fn treatment(&self, column: &str) -> Treatment {
        let spread = self.has_spreads().then(|| spread_column(column));
        Treatment::Noisy { shape: self.shape, spread }
    }

    /// Frames and levels.
    pub fn classes(self) -> Vec<Class> {
        let of: Vec<String> = self.columns.iter().map(|c| c.name.clone()).collect();
        let levels = Class {
            column: Some(LEVEL_COLUMN.to_owned()),
            of: of.clone(),
            parameters: Parameters::Levels,
        };
        let column = self.has_frames().then(|| FRAME_COLUMN.to_owned());
        let levels = self.strict.then_some(levels);
        let Self { frame, strict, exact, best_guess, frames, .. } = self;
        let parameters =
            Parameters::Frames { frame, strict, exact, best_guess, frames };
        [Class { column, of, parameters }].into_iter().chain(levels).collect()
    }

    /// The places of the blurred columns that a frame's rows have.
    pub fn present(&self, frame: &FrameNote) -> Vec<usize> {
        let missing = |name: &String| frame.missing.contains(name);
        (0..self.columns.len())
            .filter(|column| !missing(&self.columns[*column].name))
            .collect()
    }
}

/// How numbers were condensed: rows of a group are drawn anew from its mean and covariance.
/// The data then has a first column `group`.
#[derive(Debug, Clone, PartialEq)]
pub struct CondensedNote {
    /// How many groups there are.
    pub groups: u64,
    /// The columns that were drawn anew.
    pub columns: Vec<BlurredColumn>,
    /// Columns whose values all rows of a group share.
    pub exact: Vec<String>,
}

impl CondensedNote {
    /// The groups.
    pub fn class(self) -> Class {
        let of = self.columns.into_iter().map(|column| column.name).collect();
        let parameters = Parameters::Moments { groups: self.groups, exact: self.exact };
        Class { column: Some(GROUP_COLUMN.to_owned()), of, parameters }
    }
}
