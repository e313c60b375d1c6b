//! Blur: numbers with calibrated noise.

mod frame;
mod guess;
mod local;
mod nearby;
#[cfg(test)]
mod testing;

pub use frame::Frame;

use crate::space::{FrameKind, Shape};
use crate::table::Numbers;

/// What to blur.
#[derive(Debug, Clone)]
pub struct BlurTask<'a> {
    /// The numbers, rounded to `decimals`.
    pub numbers: &'a Numbers,
    /// How many decimals each column has.
    pub decimals: &'a [u32],
    /// The shape of the noise.
    pub shape: Shape,
    /// Which way it is scaled and turned.
    pub frame: FrameKind,
    /// Among how many people each row is hidden.
    pub wishes: &'a [f64],
    /// Whether only rows of the same frame and level count.
    pub strict: bool,
    /// How often the best guess may be right.
    pub best_guess: Option<f64>,
    /// The most levels of a frame's ladder.
    pub levels: usize,
    /// The most parts of space with a frame of their own; chosen if not given.
    pub parts: Option<usize>,
    /// How many rows may be left out.
    pub limit: u64,
}

/// How every row is blurred.
#[derive(Debug, Clone)]
pub struct Blurred {
    /// The frames; without `strict`, none.
    pub frames: Vec<BlurredFrame>,
    /// For each row its frame and level, both from 0; nothing for rows left out. Empty
    /// without `strict`.
    pub places: Vec<Option<(u32, u32)>>,
    /// Without `strict`: the spread of each row on each column, row after row.
    pub spreads: Vec<f64>,
}

/// A frame and its ladder.
#[derive(Debug, Clone)]
pub struct BlurredFrame {
    /// The kind of its rows, by exact cells.
    pub kind: u32,
    /// The columns its rows have numbers in.
    pub columns: Vec<usize>,
    /// For each of these columns, from where and up to where its rows come.
    pub part: Vec<[Option<f64>; 2]>,
    /// The axes, each with a number for each of these columns, if they are turned.
    pub axes: Option<Vec<Vec<f64>>>,
    /// For each level the spread on each axis.
    pub levels: Vec<Vec<f64>>,
}
