//! How values coarsen: trees, number ladders, masks, calendars.
//!
//! A `Rule` is what a recipe says; bound to a column's domain it becomes a
//! [`Hierarchy`], arrays that map every code to its node on every level.

mod column;
mod cover;
mod levels;

pub use column::{Cells, Column};
pub use cover::Cover;
pub use levels::{Hierarchy, Level, Node, ROOT_LABEL};
