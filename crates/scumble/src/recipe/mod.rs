//! What a recipe says: the spec as typed, with places for errors.

mod column;
mod method;
#[cfg(test)]
mod mistakes;
mod promise;
mod section;
mod spec;
#[cfg(test)]
mod spec_tests;

pub use column::{ColumnSpec, HierarchySpec};
pub use method::{
    CellForm, ColumnChoice, Format, LossName, MethodName, MethodSpec, ReleaseSpec,
    ValueChoice,
};
pub use promise::{Distance, DiversityKind, PromiseKind, PromiseSpec};
pub use section::Spot;
pub use spec::{InputSpec, Spec};
