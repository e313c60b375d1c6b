//! How rows that share a class depend on each other: independent given the class, or
//! exchangeable within it. Answers are written once for each law, and laws
//! multiply.

mod answer;
mod arranged;
mod arrangement;
mod calibrated;
pub(crate) mod effects;
pub(crate) mod estimate;
mod exchangeable;
pub(crate) mod independent;
pub(crate) mod joint;
mod jointly;
mod learned;
mod margins;
pub(crate) mod matrix;
pub(crate) mod moments;
pub(crate) mod numbers;
pub(crate) mod perturbed;
mod prospect;
pub(crate) mod reconstruct;
mod rows;
mod shares;
mod valuation;
mod worth;

pub(crate) use arrangement::MOST_ROWS;

pub use arrangement::Arranged;
pub use estimate::{Basis, Estimate};
pub use joint::{Joint, JointInverse, MOST_CELLS};
pub use matrix::{Channel, Inverse};
pub use reconstruct::{
    ErrorTerms, LIKELIHOOD_GAP, MOST_ROUNDS, Reconstruction, VarianceTerms, Way,
    reconstruct,
};
