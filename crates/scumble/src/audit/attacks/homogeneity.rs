//! Homogeneity: what the candidates have in common.
//!
//! For every person the adversary counts the sensitive values of all candidates (see
//! linkage) and guesses the commonest. Somebody without candidates was left out; for
//! them the guess is the commonest value of the whole release. Where values stand apart, the
//! candidates are the rows of the person's group.
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
//! `machanavajjhala2006ldiversity`, section 2; docs/methods.md, "Audit and attacks".

use serde_json::json;

use crate::audit::apart::{ApartTruth, ApartValues, Gathered, TupleGuesses};
use crate::audit::attacks::{
    Attack, NEEDS_ORIGINAL, NO_SENSITIVE, PublicAttacks, Stopped, found_or,
    no_cell_classes,
};
use crate::audit::cells::{CellClasses, GroupPeople};
use crate::audit::grouped::{GroupedValues, largest_share};
use crate::audit::{Attacked, Case, Public, detail};
use crate::error::Result;
use crate::table::Histogram;

/// Tries to guess everybody's sensitive value by what candidates have in common.
#[derive(Debug)]
pub struct Homogeneity;

impl Attack for Homogeneity {
    fn name(&self) -> &'static str {
        "homogeneity"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        let mut found = Vec::new();
        if let Some((classes, people)) = case.views.cells()?.zip(case.group_people()?) {
            found.extend(of_people(classes, people));
        } else if let Some((classes, linked)) = case.views.cells()?.zip(case.linked()?)
        {
            found.extend(linked.truth.homogeneity(&linked.guesses, classes));
        }
        let apart = case.apart()?.into_iter();
        found.extend(apart.map(|(values, truth)| of_apart(values, truth)));
        found_or(found, || {
            Ok(match case.views.cells()? {
                None => no_cell_classes(case),
                Some(classes) if classes.sensitive.is_empty() => NO_SENSITIVE,
                Some(_) => NEEDS_ORIGINAL,
            })
        })
    }

    fn shown(&self, tried: &[Attacked], readers: &Case<'_>) -> Result<PublicAttacks> {
        let apart = readers.apart()?;
        let of_cells = &tried[..tried.len().saturating_sub(apart.len())];
        let mut found = match (&readers.manifest.person, readers.views.cells()?) {
            (None, Some(classes)) => by_group(classes).into_iter().collect(),
            _ => Public::rounded(of_cells).to_vec(),
        };
        found.extend(apart.into_iter().map(|(values, truth)| of_apart(values, truth)));
        let because =
            "counted on published groups; of people shares over all of them, rounded";
        Ok(Public::because(because, found))
    }
}

/// Guesses for everybody in every group the value that most people of it have; the numbers
/// are those of the column where the release helps most. Nothing without sensitive columns.
fn of_people(view: &CellClasses, people: &GroupPeople) -> Option<Attacked> {
    let total = people.sizes.iter().sum::<u64>().max(1) as f64;
    let of_column = |place: usize| {
        let most = people.values[place]
            .iter()
            .map(|values| values.iter().map(|(_, people)| *people).max().unwrap_or(0));
        let most: Vec<u64> = most.collect();
        let groups = || most.iter().zip(&people.sizes);
        let certain: u64 = groups().filter(|(m, n)| m == n).map(|(_, n)| n).sum();
        let whole = &people.whole[place];
        let common = whole.present().map(|(_, n)| n).max().unwrap_or(0);
        let shares = groups().map(|(m, n)| *m as f64 / (*n).max(1) as f64);
        Attacked {
            name: "homogeneity".into(),
            success: most.iter().sum::<u64>() as f64 / total,
            chance: common as f64 / whole.total().max(1) as f64,
            worst: shares.fold(0.0, f64::max),
            detail: detail(json!({
                "column": view.sensitive[place].name, "certain": certain as f64 / total,
            })),
        }
    };
    let columns = (0..view.sensitive.len()).map(of_column);
    columns.max_by(|a, b| (a.success - a.chance).total_cmp(&(b.success - b.chance)))
}

/// The same where everybody has a row: the value that most rows of a group have.
fn by_group(view: &CellClasses) -> Option<Attacked> {
    let rows = view.rows.max(1) as f64;
    let of_column = |values: GroupedValues<'_>| {
        let most = values.each(|values| commonest(values).support);
        let certain = values.each(|v| if v.n_present() == 1 { v.total() } else { 0 });
        let worst = values.each(largest_share).into_iter().fold(0.0, f64::max);
        Attacked {
            name: "homogeneity".into(),
            success: most.iter().sum::<u64>() as f64 / rows,
            chance: commonest(&values.whole()).support as f64 / rows,
            worst,
            detail: detail(json!({
                "column": values.column().name,
                "certain": certain.iter().sum::<u64>() as f64 / rows,
            })),
        }
    };
    let columns = view.columns().map(of_column);
    columns.max_by(|a, b| (a.success - a.chance).total_cmp(&(b.success - b.chance)))
}

/// A guess about the sensitive value of somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValueGuess {
    /// The value, as a code of the published column.
    pub(crate) value: u32,
    /// How many of the candidates have it; 0 if there are none.
    pub(crate) support: u64,
}

/// Guesses from groups.
#[derive(Debug)]
pub(crate) struct Guesser<'a> {
    view: &'a CellClasses,
    // For each sensitive column, the guess from each group alone, and from no group.
    of_group: Vec<Vec<ValueGuess>>,
    of_nobody: Vec<ValueGuess>,
}

impl<'a> Guesser<'a> {
    pub(crate) fn new(view: &'a CellClasses) -> Self {
        let of_group = view.columns().map(|values| values.each(commonest)).collect();
        let of_nobody = view
            .columns()
            .map(|values| ValueGuess { support: 0, ..commonest(&values.whole()) })
            .collect();
        Self { view, of_group, of_nobody }
    }

    /// A histogram for each sensitive column, to work with.
    pub(crate) fn scratch(&self) -> Vec<Histogram> {
        (0..self.view.sensitive.len()).map(|place| self.view.histogram(place)).collect()
    }

    /// The guess about somebody who could be in any of `groups`.
    pub(crate) fn guess(
        &self,
        place: usize,
        groups: &[u32],
        scratch: &mut Histogram,
    ) -> ValueGuess {
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
pub(crate) fn commonest(values: &Histogram) -> ValueGuess {
    let best = values.present().max_by_key(|(code, n)| (*n, std::cmp::Reverse(*code)));
    let (value, support) = best.unwrap_or_default();
    ValueGuess { value: value.get(), support }
}

/// Guesses everybody's value.
fn guess_apart(view: &ApartValues, gathered: &Gathered<'_>) -> TupleGuesses {
    let groups = &view.groups;
    let mut found = Vec::new();
    for group in 0..groups.len() {
        let (values, size) = (groups.values(group), groups.size(group) as f64);
        gathered.add(group, |_, place| values[place].1 as f64 / size, &mut found);
    }
    gathered.guesses(found, blind(view))
}

/// The commonest value of the whole release, and its share.
pub(crate) fn blind(view: &ApartValues) -> (u32, f64) {
    let guess = commonest(&GroupedValues::Apart(view).whole());
    (guess.value, guess.support as f64 / view.rows.max(1) as f64)
}

/// Tries the attack on values that stand apart; only the score looks at the truth.
fn of_apart(view: &ApartValues, original: Option<&ApartTruth<'_>>) -> Attacked {
    let gathered = Gathered::new(&view.groups, view.tuples.len());
    let guesses = guess_apart(view, &gathered);
    let (blindly, share) = blind(view);
    let (success, chance) = match original {
        Some(original) => (
            original.score(&guesses.values, blindly),
            original.score(&vec![blindly; guesses.values.len()], blindly),
        ),
        None => (gathered.expected(&guesses.beliefs), share),
    };
    let groups = GroupedValues::Apart(view);
    let worst = groups.each(largest_share).into_iter().fold(0.0, f64::max);
    let certain =
        groups.each(|values| if values.n_present() == 1 { values.total() } else { 0 });
    let certain = certain.into_iter().sum::<u64>() as f64 / view.rows.max(1) as f64;
    let detail = detail(json!({
        "column": view.column.name, "certain": certain, "expected": original.is_none(),
        "people": view.rows,
    }));
    Attacked { name: "homogeneity".into(), success, chance, worst, detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equally_common_values_the_first_is_guessed() {
        let guess = commonest(&Histogram::of(&[1, 4, 4, 0]));
        assert_eq!(guess, ValueGuess { value: 1, support: 4 });
    }
}
