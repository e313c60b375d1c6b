//! What promises are about, and which of them can speak of the same columns.

use crate::promise::{About, Promise};
use crate::recipe::methods::Treats;
use crate::recipe::{MethodSpec, PromiseSpec, Spec};
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

    /// The same of a promise in its recipe. r-robustness means values that stand apart, unless
    /// rows get cells and no method is asked to set its values apart.
    pub(super) fn within(spec: &Spec, typed: &PromiseSpec) -> Self {
        let family = Self::of(typed.kind.promise());
        let speaks_of = |method: &MethodSpec| {
            let mut named = method.columns.iter().flatten();
            method.columns.is_none() || named.any(|(name, _)| typed.speaks_of(name))
        };
        let apart = methods(spec)
            .any(|method| treats(method, Treats::Apart) && speaks_of(method));
        match family {
            Self::Apart if gets_cells(spec) && !apart => Self::Values,
            family => family,
        }
    }

    /// Whether a promise about values apart is about values in the rows, too: of those of its
    /// columns that no method sets apart, where rows get cells.
    pub(super) fn is_of_rows(self, spec: &Spec, typed: &PromiseSpec) -> bool {
        self == Self::Apart && typed.columns.is_some() && gets_cells(spec)
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

fn methods(spec: &Spec) -> impl Iterator<Item = &MethodSpec> {
    [&spec.method].into_iter().chain(&spec.more_methods)
}

fn treats(method: &MethodSpec, what: Treats) -> bool {
    method.name.is_some_and(|method| method.treats() == what)
}

/// Whether rows get cells.
fn gets_cells(spec: &Spec) -> bool {
    let mut promises = spec.promises.iter().map(|typed| typed.kind.promise());
    promises.any(|promise| Family::of(promise) == Family::Cells)
        || methods(spec).any(|method| treats(method, Treats::Cells))
}

/// Whether a method is asked to set a column apart.
pub(super) fn sets_apart(spec: &Spec, column: &str) -> bool {
    methods(spec).any(|method| {
        let mut named = method.columns.iter().flatten();
        let meant = method.columns.is_none() || named.any(|(name, _)| name == column);
        meant && treats(method, Treats::Apart)
    })
}
