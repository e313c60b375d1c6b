//! What promises are about, and which of them can speak of the same columns.

use crate::promise::{About, Promise};
use crate::table::Role;

/// What a promise is about, where several are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Groups of rows with the same cells.
    Cells,
    /// Sensitive values of groups.
    Values,
    /// Drawn values.
    Draws,
    /// Values that stand apart.
    Apart,
    /// Numbers with noise.
    Numbers,
}

impl Family {
    pub(super) fn of(promise: &dyn Promise) -> Self {
        match promise.about() {
            About::Groups(promise) if promise.looks_at_values() => Self::Values,
            About::Groups(_) => Self::Cells,
            About::Draws(_) => Self::Draws,
            About::Posteriors(_) => Self::Apart,
            About::Company(_) => Self::Numbers,
        }
    }

    /// The role of the columns that it is about.
    pub(super) fn role(self) -> Role {
        match self {
            Self::Cells | Self::Numbers => Role::Quasi,
            Self::Values | Self::Draws | Self::Apart => Role::Sensitive,
        }
    }

    /// Whether a column may be in promises of both.
    pub(super) fn shares_columns(self, other: Self) -> bool {
        match (self, other) {
            (Self::Cells, Self::Cells) | (Self::Values, Self::Values) => true,
            (Self::Values, Self::Apart) | (Self::Apart, Self::Values) => true,
            (Self::Cells | Self::Numbers, Self::Cells | Self::Numbers) => false,
            (Self::Values | Self::Draws | Self::Apart, _)
            | (_, Self::Values | Self::Draws | Self::Apart) => {
                self.role() != other.role()
            }
        }
    }
}
