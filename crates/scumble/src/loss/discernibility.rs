//! Discernibility: from how many rows each row cannot be told apart.
//!
//! The sum over groups of the square of their size; a row that is left out costs as many as
//! the table has rows.
//!
//! # Source
//! `bayardo2005optimal`.

use crate::loss::{SizeLoss, Sizes};

/// Sum of squared group sizes.
#[derive(Debug, Clone, Copy)]
pub struct Discernibility;

impl SizeLoss for Discernibility {
    fn name(&self) -> &'static str {
        "discernibility"
    }

    fn total(&self, sizes: &Sizes) -> f64 {
        let left_out = u128::from(sizes.left_out) * u128::from(sizes.n_rows);
        (sizes.squares + left_out) as f64
    }

    /// Squares sum to at least `n^2 / groups`; leaving a group G out costs `|G| n` instead
    /// of `|G|^2`, so each of its rows at least `n - limit` more.
    fn bound(&self, n_rows: u64, n_groups: f64, left_out: u64, limit: u64) -> f64 {
        let n = n_rows as f64;
        n * n / n_groups + left_out as f64 * (n_rows - limit.min(n_rows)) as f64
    }
}
