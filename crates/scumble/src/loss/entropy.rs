//! Non-uniform entropy: how many bits a cell hides, given how common its values are.
//!
//! A cell published for a value v costs `log2(rows with a value of the cell / rows with
//! v)`; the sum over cells. A value that most rows of the cell have costs little.
//!
//! Summed over a table, the part that depends on v does not depend on the release:
//! `sum over v of n(v) log2 n(v)`. It is subtracted once per column.
//!
//! # Source
//! `gionis2009kanonymization`.

use crate::hierarchy::{Column, Cover};
use crate::loss::CellLoss;

/// Bits hidden in cells, in sum.
#[derive(Debug, Clone, Copy)]
pub struct Entropy;

impl CellLoss for Entropy {
    fn name(&self) -> &'static str {
        "entropy"
    }

    fn cell(&self, column: &Column, cover: &Cover) -> f64 {
        let rows: u64 = match cover {
            Cover::Set(codes) => codes.iter().map(|code| column.rows[*code]).sum(),
            _ => cover
                .codes(&column.domain, &column.hierarchy)
                .into_iter()
                .map(|code| column.rows[code])
                .sum(),
        };
        (rows.max(1) as f64).log2()
    }

    fn offset(&self, column: &Column) -> f64 {
        column
            .rows
            .iter()
            .filter(|n| **n > 0)
            .map(|n| *n as f64 * (*n as f64).log2())
            .sum()
    }

    fn is_mean(&self) -> bool {
        false
    }
}
