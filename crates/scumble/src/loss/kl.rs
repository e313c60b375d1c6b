//! KL: how unlikely the true values are under the published cells.
//!
//! A cell is a distribution over its values, uniform for nodes, ranges and sets; a true
//! value v costs `-ln f(v)`, so a cell of M values costs ln M. The sum over cells.
//!
//! # Source
//! `nergiz2007pdf`: `KL(G) = - sum_a sum_v c_a(v) ln f_a(v)`.

use crate::hierarchy::{Column, Cover};
use crate::loss::CellLoss;

/// Surprise at the true values, in sum.
#[derive(Debug, Clone, Copy)]
pub struct Kl;

impl CellLoss for Kl {
    fn name(&self) -> &'static str {
        "kl"
    }

    fn cell(&self, column: &Column, cover: &Cover) -> f64 {
        (cover.n_values(&column.hierarchy).max(1) as f64).ln()
    }

    fn is_mean(&self) -> bool {
        false
    }
}
