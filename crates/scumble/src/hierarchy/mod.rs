//! How values coarsen: trees, number ladders, masks, calendars.
//!
//! A [`Rule`] is what a recipe says; bound to a column's domain it becomes a
//! [`Hierarchy`], arrays that map every code to its node on every level.

mod band;
mod bind;
mod calendar;
pub mod cell;
mod column;
mod cover;
mod grid;
mod ladder;
mod leaves;
mod levels;
mod mask;
mod population;
#[cfg(test)]
mod properties;
mod quantiles;
mod ranges;
mod rule;
mod template;
mod tree;
mod uncovered;
mod within;

pub use band::Band;
pub(crate) use bind::beyond_grid;
pub use bind::{ColumnSpec, Microdata};
pub use calendar::{Calendar, Grain};
pub use column::{Cells, Column};
pub use cover::Cover;
pub use grid::{BoundGrid, Grid};
pub use ladder::{Cuts, Widths};
pub use levels::{Hierarchy, Level, Node, ROOT_LABEL};
pub use mask::{Mask, Side};
pub use population::Population;
pub use quantiles::Quantiles;
pub use ranges::Ranges;
pub use rule::{Rule, Uncovered};
pub use template::{NAMED_RULES, Template, named_rule};
pub use tree::Tree;

/// The label above a value on one level and, for a range, where it begins and ends.
type Step = (Box<str>, Option<(f64, f64)>);
