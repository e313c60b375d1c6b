//! What a release teaches about values that are known by group only: how they depend on what
//! is seen of rows, and how likely that makes each arrangement of a group's values.
//!
//! The attacker (`audit`) and the analyst (`estimate`) learn the same.

pub(crate) mod arrangements;
mod groups;
mod model;
mod seen;

pub(crate) use groups::Groups;
pub(crate) use model::{Learned, half_of};
pub(crate) use seen::{SeenColumn, SeenTexts};
