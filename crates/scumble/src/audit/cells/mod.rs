//! Coarse cells and distributions: rows with the same cells, what cells stand for, and who
//! may be in which class.

pub(crate) mod classes;
pub(crate) mod cost;
pub(crate) mod counting;
pub(crate) mod covers;
pub(crate) mod draws;
pub(crate) mod existence;
pub(crate) mod fits;
pub(crate) mod members;
pub(crate) mod people;
pub(crate) mod presence;
pub(crate) mod score;
pub(crate) mod shares;
pub(crate) mod ways;
pub(crate) mod weights;
pub(crate) mod worlds;
