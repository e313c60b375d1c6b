//! Guesses about people from what is believed of the rows they may be.
//!
//! Somebody whose quasi values are in several groups may be in any of them: what is believed
//! of them is the mean over the rows with these values.

use rayon::prelude::*;

use crate::audit::apart::Groups;

/// The likeliest value of the people of each tuple.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TupleGuesses {
    /// The value.
    pub(crate) values: Vec<u32>,
    /// How likely it is taken to be.
    pub(crate) beliefs: Vec<f64>,
}

/// Beliefs of the people of a group, to be put together with those of other groups.
#[derive(Debug)]
pub(crate) struct Gathered<'a> {
    groups: &'a Groups,
    // In how many groups each tuple is, and with how many people.
    n_groups: Vec<u32>,
    people: Vec<u64>,
}

/// Tuple, value, and how likely it is, summed over people.
pub(crate) type BeliefPiece = (u32, u32, f64);

impl<'a> Gathered<'a> {
    /// For the tuples `0..n_tuples`.
    pub(crate) fn new(groups: &'a Groups, n_tuples: usize) -> Self {
        let (mut n_groups, mut people) = (vec![0; n_tuples], vec![0; n_tuples]);
        for group in 0..groups.len() {
            for (tuple, n) in groups.members(group) {
                n_groups[*tuple as usize] += 1;
                people[*tuple as usize] += n;
            }
        }
        Self { groups, n_groups, people }
    }

    /// How many people have a tuple, over all groups.
    pub(crate) fn people_of(&self, tuple: usize) -> u64 {
        self.people[tuple]
    }

    /// Adds what is believed of a group: `share(row, value)`, by places in the group. Of
    /// tuples that are nowhere else the likeliest value is enough.
    pub(crate) fn add(
        &self,
        group: usize,
        share: impl Fn(usize, usize) -> f64,
        found: &mut Vec<BeliefPiece>,
    ) {
        let values = self.groups.values(group);
        let mut row = 0;
        for (tuple, n) in self.groups.members(group) {
            let pieces = values.iter().enumerate().map(|(place, (code, _))| {
                (*tuple, *code, *n as f64 * share(row, place))
            });
            if self.n_groups[*tuple as usize] == 1 {
                found.extend(pieces.reduce(
                    |best, next| {
                        if next.2 > best.2 { next } else { best }
                    },
                ));
            } else {
                found.extend(pieces.filter(|(.., share)| *share > 0.0));
            }
            row += *n as usize;
        }
    }

    /// The guesses; `blind` and its share about tuples that are in no group.
    pub(crate) fn guesses(
        &self,
        mut found: Vec<BeliefPiece>,
        blind: (u32, f64),
    ) -> TupleGuesses {
        let n_tuples = self.people.len();
        let (mut values, mut beliefs) =
            (vec![blind.0; n_tuples], vec![blind.1; n_tuples]);
        found.par_sort_by_key(|(tuple, code, _)| (*tuple, *code));
        let mut last = None;
        for pieces in found.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (tuple, code, _) = pieces[0];
            let sum: f64 = pieces.iter().map(|(.., share)| share).sum();
            let tuple = tuple as usize;
            let belief = sum / self.people[tuple].max(1) as f64;
            if last != Some(tuple) || belief > beliefs[tuple] {
                (values[tuple], beliefs[tuple]) = (code, belief);
            }
            last = Some(tuple);
        }
        TupleGuesses { values, beliefs }
    }

    /// The share of people who are guessed right if beliefs are right.
    pub(crate) fn expected(&self, beliefs: &[f64]) -> f64 {
        let sum: f64 =
            beliefs.iter().zip(&self.people).map(|(b, n)| b * *n as f64).sum();
        sum / self.people.iter().sum::<u64>().max(1) as f64
    }
}
