//! Taking groups out of a plan that break a promise on another table.

use crate::method::{Branch, Grouping, NOWHERE, Route};
use crate::promise::{Group, Promises};
use crate::table::{Census, Histogram};

/// A group, counted.
struct Tally {
    rows: u64,
    people: u64,
    values: Vec<Histogram>,
}

impl Tally {
    fn group(&self) -> Group<'_> {
        Group { rows: self.rows, people: self.people, values: &self.values }
    }
}

/// How many people are not published.
pub(super) fn unpublished(grouping: &Grouping, census: &Census) -> u64 {
    let mut rows = vec![0; grouping.covers.len()];
    for (group, n) in grouping.group_of.iter().zip(&census.rows) {
        if let Some(group) = group {
            rows[*group as usize] += n;
        }
    }
    let groups = grouping.group_of.iter().zip(census.people());
    groups
        .filter(|(group, _)| group.is_none_or(|group| rows[group as usize] == 0))
        .map(|(_, people)| *people)
        .sum()
}

/// What had to be taken out of a plan.
pub(super) struct Failing {
    /// How many rows.
    pub(super) rows: u64,
    /// Whether a promise fails of people without rows, whom nobody can take out.
    pub(super) without_rows: bool,
}

/// Takes groups out that break a promise, until none does.
pub(super) fn leave_out_failing(
    grouping: &mut Grouping,
    census: &Census,
    promises: &Promises,
) -> Failing {
    let mut taken = Failing { rows: 0, without_rows: false };
    loop {
        let empty = || Tally { rows: 0, people: 0, values: census.histograms() };
        let mut groups: Vec<Tally> = grouping.covers.iter().map(|_| empty()).collect();
        let mut whole = empty();
        for (tuple, group) in grouping.group_of.iter().enumerate() {
            if let Some(group) = group {
                for tally in [&mut groups[*group as usize], &mut whole] {
                    tally.rows += census.rows[tuple];
                    tally.people += census.people()[tuple];
                    census.add_to(tuple, &mut tally.values);
                }
            }
        }
        let published = whole.group();
        let fails: Vec<bool> = groups
            .iter()
            .map(|tally| tally.people > 0 && !promises.hold(tally.group(), published))
            .collect();
        if !fails.contains(&true) {
            break;
        }
        taken.without_rows |=
            fails.iter().zip(&groups).any(|(fails, tally)| *fails && tally.rows == 0);
        for (tuple, group) in grouping.group_of.iter_mut().enumerate() {
            if group.is_some_and(|group| fails[group as usize]) {
                *group = None;
                taken.rows += census.rows[tuple];
            }
        }
    }
    drop_empty(grouping);
    taken
}

/// Renumbers the groups that still have tuples.
fn drop_empty(grouping: &mut Grouping) {
    let mut used = vec![false; grouping.covers.len()];
    for group in grouping.group_of.iter().flatten() {
        used[*group as usize] = true;
    }
    let mut number = Vec::with_capacity(used.len());
    let mut next = 0;
    for used in &used {
        number.push(next);
        next += u32::from(*used);
    }
    let mut place = 0;
    grouping.covers.retain(|_| {
        place += 1;
        used[place - 1]
    });
    for group in grouping.group_of.iter_mut().flatten() {
        *group = number[*group as usize];
    }
    if let Route::Cuts(branches) = &mut grouping.route {
        for branch in branches {
            if let Branch::Group(group) = branch {
                let place = *group as usize;
                let kept = used.get(place).copied().unwrap_or(false);
                *group = if kept { number[place] } else { NOWHERE };
            }
        }
    }
}
