//! Precision: how high in its hierarchy a cell stands.
//!
//! A cell on level h of a hierarchy of height H costs h / H; a range or set stands on the
//! level of the lowest node above it. The mean over cells; 1 minus the usual precision.
//!
//! # Source
//! `sweeney2002achieving`.

use crate::hierarchy::{Column, Cover};
use crate::loss::CellLoss;

/// The height of a cell in its hierarchy, on average.
#[derive(Debug, Clone, Copy)]
pub struct Precision;

impl CellLoss for Precision {
    fn name(&self) -> &'static str {
        "precision"
    }

    fn cell(&self, column: &Column, cover: &Cover) -> f64 {
        let hierarchy = &column.hierarchy;
        let level = match cover {
            Cover::Node { level, .. } => *level,
            Cover::Set(codes) => hierarchy.common(codes).0,
            Cover::Range { .. } => {
                hierarchy.common(&cover.codes(&column.domain, hierarchy)).0
            }
        };
        level as f64 / hierarchy.height() as f64
    }

    fn is_mean(&self) -> bool {
        true
    }
}
