//! What a release costs the analyst, one file a loss. Smaller is better.
//!
//! A loss is a sum over cells or a function of group sizes. Either way a row that is left
//! out costs at least as much as any way of publishing it, and merging groups never makes a
//! release cheaper: the exact search relies on both, the contract suite checks both.

mod average_group;
mod discernibility;
mod entropy;
mod kl;
mod lm;
mod precision;

use std::fmt;

pub use average_group::AverageGroup;
pub use discernibility::Discernibility;
pub use entropy::Entropy;
pub use kl::Kl;
pub use lm::Lm;
pub use precision::Precision;

use crate::error::{Error, Result};
use crate::hierarchy::{Column, Cover};

/// A loss.
#[derive(Debug, Clone, Copy)]
pub enum Loss {
    /// A sum over the cells of the release.
    Cells(&'static dyn CellLoss),
    /// A function of the sizes of its groups.
    Sizes(&'static dyn SizeLoss),
}

/// A loss that adds up over cells.
pub trait CellLoss: fmt::Debug + Send + Sync {
    /// Its name in recipes.
    fn name(&self) -> &'static str;

    /// What one cell costs.
    fn cell(&self, column: &Column, cover: &Cover) -> f64;

    /// What a cell of a row that is left out costs.
    fn left_out(&self, column: &Column) -> f64 {
        self.cell(column, &Cover::root(&column.hierarchy))
    }

    /// What is subtracted once for the whole column.
    fn offset(&self, _column: &Column) -> f64 {
        0.0
    }

    /// Whether the loss is the mean over cells rather than their sum.
    fn is_mean(&self) -> bool;
}

/// A loss that depends on how large groups are.
pub trait SizeLoss: fmt::Debug + Send + Sync {
    /// Its name in recipes.
    fn name(&self) -> &'static str;

    /// The loss of a release.
    fn total(&self, sizes: &Sizes) -> f64;

    /// What a release of `n_rows` rows costs at least if it has at most `n_groups` groups
    /// before any are left out, and at least `left_out` rows are, in groups of at most
    /// `limit` rows.
    fn bound(&self, n_rows: u64, n_groups: f64, left_out: u64, limit: u64) -> f64;
}

/// The sizes of a release's groups, in sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Rows of the table.
    pub n_rows: u64,
    /// Rows left out.
    pub left_out: u64,
    /// Published groups.
    pub n_groups: u64,
    /// Sum of the squares of their sizes.
    pub squares: u128,
}

/// A release as a loss sees it: for each group its size and cells.
#[derive(Debug, Clone, Default)]
pub struct Shape<'a> {
    /// Size and one cover per quasi column.
    pub groups: Vec<(u64, &'a [Cover])>,
    /// Rows left out.
    pub left_out: u64,
}

/// Every loss.
pub const ALL: [Loss; 6] = [
    Loss::Cells(&Lm),
    Loss::Sizes(&Discernibility),
    Loss::Cells(&Kl),
    Loss::Sizes(&AverageGroup),
    Loss::Cells(&Entropy),
    Loss::Cells(&Precision),
];

impl Loss {
    /// The loss of this name.
    pub fn by_name(name: &str) -> Result<Self> {
        ALL.into_iter().find(|loss| loss.name() == name).ok_or_else(|| {
            let names: Vec<&str> = ALL.iter().map(Loss::name).collect();
            Error::recipe(format!("no loss is called `{name}`"))
                .with_hint(format!("there are {}", names.join(", ")))
        })
    }

    /// Its name in recipes.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Cells(loss) => loss.name(),
            Self::Sizes(loss) => loss.name(),
        }
    }

    /// The loss of a release.
    pub fn of(&self, columns: &[Column], shape: &Shape<'_>) -> f64 {
        match self {
            Self::Sizes(loss) => loss.total(&shape.sizes()),
            Self::Cells(loss) => {
                let per_column = columns.iter().enumerate().map(|(place, column)| {
                    let published: f64 = shape
                        .groups
                        .iter()
                        .map(|(rows, covers)| {
                            *rows as f64 * loss.cell(column, &covers[place])
                        })
                        .sum();
                    let left_out = match shape.left_out {
                        0 => 0.0,
                        rows => rows as f64 * loss.left_out(column),
                    };
                    column.weight * (published + left_out - loss.offset(column))
                });
                per_column.sum::<f64>() * scale(*loss, columns, shape.sizes().n_rows)
            }
        }
    }
}

/// What a sum over cells is multiplied with.
pub fn scale(loss: &dyn CellLoss, columns: &[Column], n_rows: u64) -> f64 {
    if !loss.is_mean() {
        return 1.0;
    }
    let weights: f64 = columns.iter().map(|column| column.weight).sum();
    1.0 / (weights * n_rows.max(1) as f64)
}

impl Shape<'_> {
    /// The sizes of the groups.
    pub fn sizes(&self) -> Sizes {
        let mut sizes = Sizes { left_out: self.left_out, ..Sizes::default() };
        for (rows, _) in &self.groups {
            sizes.add(*rows);
        }
        sizes.n_rows += self.left_out;
        sizes
    }
}

impl Sizes {
    /// Adds a published group; its rows count towards the table's.
    pub fn add(&mut self, rows: u64) {
        self.n_rows += rows;
        self.n_groups += 1;
        self.squares += u128::from(rows) * u128::from(rows);
    }
}
