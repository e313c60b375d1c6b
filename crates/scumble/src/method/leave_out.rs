//! Taking groups out of a plan that break a promise on another table.

use crate::method::{Branch, Grouping, Route};
use crate::promise::{Group, Promises};
use crate::table::{Census, GroupId, Histogram, Of};

/// A group, counted.
struct GroupSize {
    rows: u64,
    people: u64,
    values: Vec<Histogram>,
}

impl GroupSize {
    fn group(&self) -> Group<'_> {
        Group { rows: self.rows, people: self.people, values: &self.values }
    }
}

/// How many people are not published.
pub(super) fn unpublished(grouping: &Grouping, census: &Census) -> u64 {
    let mut rows: Of<GroupId, u64> = Of::repeat(0, grouping.covers.len());
    for (group, n) in grouping.group_of.iter().zip(&census.rows) {
        if let Some(group) = group {
            rows[*group] += n;
        }
    }
    let groups = grouping.group_of.iter().zip(census.people());
    groups
        .filter(|(group, _)| group.is_none_or(|group| rows[group] == 0))
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
        let empty = || GroupSize { rows: 0, people: 0, values: census.histograms() };
        let mut groups: Of<GroupId, GroupSize> =
            grouping.covers.iter().map(|_| empty()).collect();
        let mut whole = empty();
        for (tuple, group) in grouping.group_of.pairs() {
            if let Some(group) = group {
                for tally in [&mut groups[*group], &mut whole] {
                    tally.rows += census.rows[tuple];
                    tally.people += census.people()[tuple];
                    census.add_to(tuple, &mut tally.values);
                }
            }
        }
        let published = whole.group();
        let fails: Of<GroupId, bool> = groups
            .iter()
            .map(|tally| tally.people > 0 && !promises.hold(tally.group(), published))
            .collect();
        if !fails.contains(&true) {
            break;
        }
        taken.without_rows |=
            fails.iter().zip(&groups).any(|(fails, tally)| *fails && tally.rows == 0);
        for (group, rows) in grouping.group_of.iter_mut().zip(&census.rows) {
            if group.is_some_and(|group| fails[group]) {
                *group = None;
                taken.rows += rows;
            }
        }
    }
    drop_empty(grouping);
    taken
}

/// Renumbers the groups that still have tuples.
fn drop_empty(grouping: &mut Grouping) {
    let mut used: Of<GroupId, bool> = Of::repeat(false, grouping.covers.len());
    for group in grouping.group_of.iter().flatten() {
        used[*group] = true;
    }
    let mut covers = Of::new();
    let mut number: Of<GroupId, Option<GroupId>> = Of::new();
    for (cells, used) in std::mem::take(&mut grouping.covers).into_iter().zip(used) {
        number.push(used.then(|| covers.push(cells)));
    }
    grouping.covers = covers;
    for group in &mut grouping.group_of {
        *group = group.and_then(|group| number[group]);
    }
    if let Route::Cuts(branches) = &mut grouping.route {
        for branch in branches {
            if let Branch::Group(group) = branch {
                *group = group.and_then(|group| number[group]);
            }
        }
    }
}
