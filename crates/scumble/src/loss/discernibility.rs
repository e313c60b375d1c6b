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
}
