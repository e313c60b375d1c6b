//! Comparing recipes: a grid of them, and what each of their releases is still good for.
//!
//! A [`Grid`] is a recipe with some of its keys varied, or several recipes for one table. A [`Yardstick`] holds what is asked
//! of every release of a table: random questions with their true answers, the rules that
//! the table teaches, rows to test learners with. It measures a release without knowing
//! how it was made.

mod edit;
mod grid;
mod measure;
mod original;
mod questions;
mod risk;
mod score;
mod vary;
mod workload;

pub use grid::{Grid, MOST_POINTS, Point};
pub use measure::{Ends, Measured, Yardstick, YardstickOptions};
pub use original::MOST_WORDS;
pub(in crate::recipe) use original::Original;
pub use questions::{MOST_NUMBERS, Questions};
pub use risk::{RiskFound, RiskKind, risks};
pub use vary::Vary;
pub(in crate::recipe) use workload::{Aim, Maker};
pub use workload::{Asked, BANDS, Band, Workload};
