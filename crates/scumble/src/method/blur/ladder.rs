//! Which levels of noise a frame has, and who is at which.
//!
//! # Guarantee
//! [`Ladder::levels`] is what the public rule gives for [`Ladder::laws`]: nothing of the
//! search is left in it.
//!
//! # Limits
//! The search tries ladders; it does not prove that there is none with less noise.
//!
//! # Cost
//! A handful of looks at every row, more where rows are few.
//!
//! # Source
//! Ours.

use super::Frame;
use super::calibrate::least_factors;
use super::core::{Needs, largest_set};
use crate::promise::Law;

/// The levels of a frame.
#[derive(Debug, Clone)]
pub struct Ladder {
    /// The law of each level, ascending.
    pub laws: Vec<Law>,
    /// The level of each row of the frame, from 0; nothing for rows left out.
    pub levels: Vec<Option<u32>>,
}

/// The public rule: levels are filled in turn, each with the largest set of the rows left
/// in which everybody has enough company.
pub fn peel(frame: &Frame, laws: Vec<Law>, needs: Needs<'_>) -> Ladder {
    let mut levels = vec![None; frame.rows.len()];
    let mut left: Vec<u32> = (0..frame.rows.len() as u32).collect();
    for (level, law) in laws.iter().enumerate() {
        let kept =
            largest_set(frame, law, &left, needs, left.len()).unwrap_or_default();
        for row in &kept {
            levels[*row as usize] = Some(level as u32);
        }
        left.retain(|row| levels[*row as usize].is_none());
    }
    Ladder { laws, levels }
}
