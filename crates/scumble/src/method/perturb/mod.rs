//! Randomizing a sensitive column: each value is published as one drawn from a known
//! distribution that depends on it alone.
//!
//! An *operator* is the matrix of these distributions. Every probability in it is a
//! multiple of [`GRAIN`], so that a draw follows it exactly and a decimal number says it
//! exactly.

mod condition;
mod fine_grain;
mod general;
mod linear;
mod operator;
pub mod partition;
mod sample;
#[cfg(test)]
mod testing;
mod uniform;
mod verify;

pub use condition::condition;
pub use fine_grain::fine_grain;
pub use general::{Floor, general, general_watched};
pub use operator::{GRAIN, Operator, round_down};
pub use sample::{Sampler, below};
pub use uniform::uniform;
pub use verify::keeps;

use crate::promise::Breaches;
use crate::table::ids;

ids! {
    /// A value that is randomized: of one column, or of several as one.
    ValueId
}

/// What an operator must keep: for each value of a domain, how many times as likely it may
/// lead to a published value as another.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    /// At least 1 for each value, infinite for values that need no protection.
    pub gammas: &'a [f64],
    /// Which way a belief must not move.
    pub breaches: Breaches,
}
