//! Average group size, rows that are left out counted as one group.
//!
//! # Source
//! `lefevre2006mondrian`, without the division by k.

use crate::loss::{SizeLoss, Sizes};

/// Rows over groups.
#[derive(Debug, Clone, Copy)]
pub struct AverageGroup;

impl SizeLoss for AverageGroup {
    fn name(&self) -> &'static str {
        "average-group"
    }

    fn total(&self, sizes: &Sizes) -> f64 {
        let groups = sizes.n_groups + u64::from(sizes.left_out > 0);
        sizes.n_rows as f64 / groups.max(1) as f64
    }

    /// Left-out groups become one, so there are never more than before.
    fn bound(&self, n_rows: u64, n_groups: f64, _left_out: u64, _limit: u64) -> f64 {
        n_rows as f64 / n_groups
    }
}
