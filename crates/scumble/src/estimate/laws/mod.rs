//! How rows that share a class depend on each other: independent given the class, or
//! exchangeable within it. Answers are written once a law, and laws multiply.

mod arranged;
mod arrangement;
pub(in crate::estimate) mod effects;
mod exchangeable;
pub(in crate::estimate) mod independent;
pub(in crate::estimate) mod joint;
pub(in crate::estimate) mod matrix;
pub(in crate::estimate) mod numbers;
pub(in crate::estimate) mod perturbed;
mod prospect;
pub(in crate::estimate) mod reconstruct;
mod rows;
mod shares;
pub(in crate::estimate) mod tally;
mod valuation;
mod worth;

pub(in crate::estimate) use arrangement::MOST_ROWS;

pub use arrangement::Arranged;
pub use joint::{Joint, JointInverse, MOST_CELLS};
pub use matrix::{Channel, Inverse};
pub use perturbed::Estimate;
pub use reconstruct::{
    LIKELIHOOD_GAP, MOST_ROUNDS, Moments, Reconstruction, Spread, Way, reconstruct,
};
