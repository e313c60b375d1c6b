//! Homogeneity: what the candidates have in common.
//!
//! For every person the adversary counts the sensitive values of all candidates (see
//! linkage) and guesses the commonest. Who has no candidates was left out; for them the
//! guess is the commonest value of the whole release.
//!
//! # Guarantee
//! Without further knowledge no other guess is right more often, if candidates are equally
//! likely.
//!
//! # Limits
//! Columns are looked at one by one. An adversary who knows how values depend on quasi
//! columns, or other people's values, guesses better.
//!
//! # Cost
//! O(values of the candidates) for each distinct tuple with several groups; O(1) for those
//! with one.
//!
//! # Source
//! `machanavajjhala2006ldiversity`, section 2; METHODS G.

use rayon::prelude::*;

use crate::audit::view::View;
use crate::table::Histogram;

/// A guess about the sensitive value of somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Guess {
    /// The value, as a code of the published column.
    pub(super) value: u32,
    /// How many of the candidates have it; 0 if there are none.
    pub(super) support: u64,
}

/// Guesses from groups.
#[derive(Debug)]
pub(super) struct Guesser<'a> {
    view: &'a View,
    // For each sensitive column, the guess from each group alone, and from no group.
    of_group: Vec<Vec<Guess>>,
    of_nobody: Vec<Guess>,
}

impl<'a> Guesser<'a> {
    pub(super) fn new(view: &'a View) -> Self {
        let places = 0..view.sensitive.len();
        let of_group = places.clone().map(|place| {
            (0..view.n_groups())
                .into_par_iter()
                .with_min_len(256)
                .map_init(
                    || view.histogram(place),
                    |values, group| {
                        values.clear();
                        view.add_to(group, place, values);
                        commonest(values)
                    },
                )
                .collect()
        });
        let of_group = of_group.collect();
        let of_nobody = places
            .map(|place| Guess { support: 0, ..commonest(&view.whole(place)) })
            .collect();
        Self { view, of_group, of_nobody }
    }

    /// A histogram for each sensitive column, to work with.
    pub(super) fn scratch(&self) -> Vec<Histogram> {
        (0..self.view.sensitive.len()).map(|place| self.view.histogram(place)).collect()
    }

    /// The guess about somebody who could be in any of `groups`.
    pub(super) fn guess(
        &self,
        place: usize,
        groups: &[u32],
        scratch: &mut Histogram,
    ) -> Guess {
        match groups {
            [] => self.of_nobody[place],
            [group] => self.of_group[place][*group as usize],
            _ => {
                scratch.clear();
                for group in groups {
                    self.view.add_to(*group as usize, place, scratch);
                }
                commonest(scratch)
            }
        }
    }
}

/// The commonest value; of several the first in the order of the domain.
pub(super) fn commonest(values: &Histogram) -> Guess {
    let best = values.present().max_by_key(|(code, n)| (*n, std::cmp::Reverse(*code)));
    let (value, support) = best.unwrap_or((0, 0));
    Guess { value, support }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equally_common_values_the_first_is_guessed() {
        let guess = commonest(&Histogram::of(&[1, 4, 4, 0]));
        assert_eq!(guess, Guess { value: 1, support: 4 });
    }
}
