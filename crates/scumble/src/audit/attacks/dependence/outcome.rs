//! How guesses fare, as far as rows or beliefs tell.

use crate::audit::attacks::dependence::problem::{Guess, Problem, Told};

/// Who is believed in as much is as good as known.
const SURE: f64 = 0.95;

/// How guesses fare.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    pub(super) success: f64,
    pub(super) worst: f64,
    pub(super) sure: f64,
}

impl Outcome {
    pub(super) fn of(problem: &Problem<'_>, guesses: &[Guess]) -> Self {
        let rows = guesses.len().max(1) as f64;
        let right = guesses.iter().zip(&problem.published).map(|(guess, published)| {
            match problem.told {
                Told::Shown => f64::from(u8::from(guess.value == *published)),
                Told::Drawn(_) | Told::Apart(_) => guess.belief,
            }
        });
        let sure = guesses.iter().filter(|guess| guess.belief >= SURE).count();
        Self {
            success: right.sum::<f64>() / rows,
            worst: guesses.iter().map(|guess| guess.belief).fold(0.0, f64::max),
            sure: sure as f64 / rows,
        }
    }
}
