//! Loss metric: how much of its column's domain a cell covers.
//!
//! A node or set of M values in a domain of D costs `(M - 1) / (D - 1)`, a range of numbers
//! its width over the column's range, at most 1; the mean over cells. A cell that is left out
//! costs as much as all values. "Not known" beside a range of numbers costs one value more.
//! A public domain is the one that counts: ranges are cut to it, and the extremes of the table
//! do not matter. Without one the column's range is from the least to the largest number there
//! is.
//!
//! # Source
//! `iyengar2002transforming`.

use crate::hierarchy::{Column, Cover};
use crate::loss::CellLoss;

/// The share of the domain that a cell covers, on average.
#[derive(Debug, Clone, Copy)]
pub struct Lm;

impl CellLoss for Lm {
    fn name(&self) -> &'static str {
        "loss"
    }

    fn cell(&self, column: &Column, cover: &Cover) -> f64 {
        let values = column.domain.len();
        if values < 2 && column.domain.limits().is_none() {
            return 0.0;
        }
        let values = values.max(2);
        let one_more = 1.0 / (values as f64 - 1.0);
        let share = match cover {
            Cover::Node { level, node } => {
                let span = column.hierarchy.levels()[*level].nodes[*node].span;
                span.and_then(|span| width_share(column, span))
            }
            Cover::Range { low, high, missing } => {
                let ends = column.span(*low, *high);
                let share = ends.and_then(|ends| width_share(column, ends));
                share.map(|share| if *missing { share + one_more } else { share })
            }
            Cover::Set(_) => None,
        };
        let by_values = || match cover {
            // Everything, however few numbers of the domain the table has.
            Cover::Node { level, .. }
                if column.domain.limits().is_some()
                    && *level > 0
                    && *level == column.hierarchy.height() =>
            {
                1.0
            }
            _ => (cover.n_values(&column.hierarchy) as f64 - 1.0) * one_more,
        };
        share.unwrap_or_else(by_values).min(1.0)
    }

    fn left_out(&self, _column: &Column) -> f64 {
        1.0
    }

    fn is_mean(&self) -> bool {
        true
    }
}

/// Width over range; open ends are where the data end.
fn width_share(column: &Column, (start, end): (f64, f64)) -> Option<f64> {
    let (smallest, largest) = column.domain.range()?;
    // Where it is public which numbers there may be, a cell stands for no others.
    let (start, end) = match column.domain.limits() {
        Some([low, high]) => (start.clamp(low, high), end.clamp(low, high)),
        None => (start, end),
    };
    let range = largest - smallest;
    let start = if start.is_finite() { start } else { smallest.min(end) };
    let end = if end.is_finite() { end } else { largest.max(start) };
    (range > 0.0).then(|| ((end - start) / range).min(1.0))
}
