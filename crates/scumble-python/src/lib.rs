//! The engine behind the Python package `scumble`.
//!
//! What users see is in `python/scumble`, in Python; here is only what must be Rust. Tables
//! come in and go out as Arrow streams, results as JSON, and nothing is computed that the
//! library does not compute.

mod compare;
mod errors;
mod inspect;
mod recipe;
mod release;
mod report;
mod run;
mod table;

use pyo3::prelude::*;

/// The engine of scumble; use the package `scumble`.
#[pymodule]
mod _internal {
    #[pymodule_export]
    use crate::compare::compare;
    #[pymodule_export]
    use crate::inspect::inspect;
    #[pymodule_export]
    use crate::recipe::{Plan, Recipe};
    #[pymodule_export]
    use crate::release::Release;
    #[pymodule_export]
    use crate::table::Table;
}
