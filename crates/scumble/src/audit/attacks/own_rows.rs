//! Own rows: what the groups of one person have in common.
//!
//! The adversary knows several rows of a person by their quasi values, and so several groups.
//! A value that does not change from row to row must occur in all of them: of those that do,
//! the commonest is guessed.
//!
//! # Guarantee
//! Where a value does not change and candidates are equally likely, no value outside the
//! intersection can be theirs.
//!
//! # Limits
//! Only people whose value is the same in all their rows are counted. The commonest of the
//! values that are left, over all groups together, is a good guess and need not be the best.
//!
//! # Cost
//! O(values of their groups) for each person with several rows.
//!
//! # Source
//! Ours; docs/methods.md, "People".

use serde_json::json;

use crate::audit::attacks::{
    Attack, NEEDS_ORIGINAL, NO_SENSITIVE, Stopped, found_or, no_cell_classes,
};
use crate::audit::cells::{CellClasses, GroupPeople};
use crate::audit::{Attacked, Case, detail};
use crate::error::Result;
use crate::table::{Code, Histogram};

/// Tries to guess the value of people by what all their groups have in common.
#[derive(Debug)]
pub struct OwnRows;

impl Attack for OwnRows {
    fn name(&self) -> &'static str {
        "own-rows"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        if case.manifest.person.is_none() {
            return Err("every row is taken for a person".into());
        }
        let mut found = Vec::new();
        if let Some((view, people)) = case.views.cells()?.zip(case.group_people()?) {
            let columns = 0..view.sensitive.len();
            found.extend(columns.filter_map(|place| attacked(view, people, place)));
        }
        found_or(found, || {
            Ok(match case.views.cells()? {
                None => no_cell_classes(case),
                Some(classes) if classes.sensitive.is_empty() => NO_SENSITIVE,
                Some(_) if case.linked()?.is_none() => NEEDS_ORIGINAL,
                Some(_) => {
                    "nobody has rows in several groups and always the same value"
                }
            })
        })
    }
}

/// How a column fares; nothing if nobody can be attacked.
fn attacked(
    view: &CellClasses,
    people: &GroupPeople,
    place: usize,
) -> Option<Attacked> {
    let (mut n_people, mut right, mut alone, mut certain) = (0u64, 0u64, 0u64, 0u64);
    let mut worst = 0.0f64;
    for rows in &people.several {
        let mut groups: Vec<u32> = rows.iter().map(|(group, _)| *group).collect();
        groups.sort_unstable();
        groups.dedup();
        let value = rows[0].1[place];
        let changes = rows.iter().any(|(_, values)| values[place] != value);
        if groups.len() < 2 || changes {
            continue;
        }
        n_people += 1;
        let all = groups.iter().map(|group| values_of(view, *group, place));
        let all: Vec<Histogram> = all.collect();
        alone +=
            u64::from(commonest(all[0].present()).is_some_and(|(v, _)| v == value));
        let common = all[0]
            .present()
            .filter(|(code, _)| all.iter().all(|values| values.count(*code) > 0));
        let summed = common
            .map(|(code, _)| (code, all.iter().map(|values| values.count(code)).sum()));
        let left: Vec<(Code, u64)> = summed.collect();
        let total: u64 = left.iter().map(|(_, n)| n).sum();
        let Some((guess, n)) = commonest(left.iter().copied()) else { continue };
        right += u64::from(guess == value);
        certain += u64::from(left.len() == 1);
        worst = worst.max(n as f64 / total as f64);
    }
    let share = |n: u64| n as f64 / n_people as f64;
    (n_people > 0).then(|| Attacked {
        name: "own-rows".into(),
        success: share(right),
        chance: share(alone),
        worst,
        detail: detail(json!({
            "column": view.sensitive[place].name, "people": n_people,
            "certain": share(certain),
        })),
    })
}

/// The values of a group.
fn values_of(view: &CellClasses, group: u32, place: usize) -> Histogram {
    let mut values = view.histogram(place);
    view.add_to(group as usize, place, &mut values);
    values
}

/// The value that most rows have; of several the first.
fn commonest(values: impl Iterator<Item = (Code, u64)>) -> Option<(Code, u64)> {
    values.max_by_key(|(code, n)| (*n, std::cmp::Reverse(*code)))
}
