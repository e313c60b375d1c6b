//! How good beliefs about values are. The truth, who has which value, is known here only.

use serde_json::json;

use crate::audit::apart::codes_of;
use crate::audit::attacks::minimality::rule::ValueRule;
use crate::audit::attacks::minimality::{Excluded, LEAST_WORLDS};
use crate::audit::attacks::search::Placed;
use crate::audit::case::Linked;
use crate::audit::cells::CellClasses;
use crate::audit::{Attacked, detail};
use crate::table::{Code, Histogram, TupleId};

/// What is believed of the people of a tuple.
struct Belief {
    /// In how many worlds they have which value.
    values: Histogram,
    /// Whether all worlds were gone through.
    exact: bool,
}

/// How a column fared.
#[derive(Default)]
struct Score {
    right: u64,
    by_group: u64,
    people: u64,
    worst: f64,
    certain: u64,
    certain_right: u64,
    outside: u64,
}

/// The attack on each column that something is promised of.
pub(super) fn scored(
    classes: &CellClasses,
    linked: &Linked<'_>,
    placed: &Placed<'_>,
    rule: &ValueRule<'_>,
    found: &Excluded,
) -> Vec<Attacked> {
    let counts = rule.counts(classes);
    let beliefs = beliefs(placed, rule, found);
    let score = |at: usize| {
        let column = &rule.columns[at];
        let census = &linked.table.census;
        let own = linked.table.sensitive.iter();
        let own = own.zip(&census.sensitive).find(|(own, _)| own.name == column.name());
        let published = &classes.sensitive[column.place].domain;
        let codes = own.map(|(own, codes)| (codes_of(published, &own.domain), codes));
        let true_count = |tuple: usize, value: Code| -> u64 {
            let Some((of, codes)) = &codes else { return 0 };
            let Some(own) = of[value.index()] else { return 0 };
            let entries = census.entries_of(TupleId::from_index(tuple));
            entries.filter(|e| codes[*e] == own).map(|e| census.entries[e]).sum()
        };
        let mut score = Score::default();
        for (tuple, group) in placed.group_of.iter().enumerate() {
            let Some(group) = group else { continue };
            let n = placed.people[tuple];
            let of_group = rule.values(at, &counts[*group as usize]);
            let (commonest, _) = likeliest(&of_group);
            score.people += n;
            score.by_group += true_count(tuple, commonest);
            let Some(belief) = beliefs[tuple].as_ref().map(|belief| &belief[at]) else {
                score.right += true_count(tuple, commonest);
                score.worst = score.worst.max(likeliest(&of_group).1);
                continue;
            };
            let (value, share) = likeliest(&belief.values);
            score.right += true_count(tuple, value);
            score.worst = score.worst.max(share);
            if belief.exact
                && belief.values.n_present() == 1
                && of_group.n_present() > 1
            {
                score.certain += n;
                score.certain_right += true_count(tuple, value);
            }
            if column.keeps(&of_group) && !column.keeps(&belief.values) {
                score.outside += n;
            }
        }
        score.attacked(column.name(), found)
    };
    (0..rule.columns.len()).map(score).collect()
}

/// The commonest value and its share; of several the first.
fn likeliest(values: &Histogram) -> (Code, f64) {
    let most = values.present().max_by_key(|(code, n)| (*n, std::cmp::Reverse(*code)));
    let (code, n) = most.unwrap_or((Code::new(0), 0));
    (code, n as f64 / values.total().max(1) as f64)
}

/// For each tuple what is believed of its people, by column; nothing where the search tells
/// nothing. People of a tuple are alike.
fn beliefs(
    placed: &Placed<'_>,
    rule: &ValueRule<'_>,
    found: &Excluded,
) -> Vec<Option<Vec<Belief>>> {
    let mut place_of = vec![None; found.seats.sizes.len()];
    for (at, (groups, _)) in found.tallies.iter().enumerate() {
        for (place, group) in groups.iter().enumerate() {
            place_of[*group as usize] = Some((at, place));
        }
    }
    let belief = |tuple: usize| {
        let group = placed.group_of[tuple]? as usize;
        let (at, place) = place_of[group]?;
        let tally = &found.tallies[at].1;
        // All that were drawn are left: nothing was excluded.
        let nothing = tally.drawn == Some(tally.worlds);
        let few = tally.worlds < LEAST_WORLDS && tally.drawn.is_some();
        if tally.worlds == 0 || nothing || few {
            return None;
        }
        let first = found.seats.first[tuple] as usize;
        let own = &tally.counts[place][first..first + placed.people[tuple] as usize];
        let mut kinds = vec![0; rule.kinds.len()];
        for counts in own {
            kinds.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        }
        if tally.drawn.is_some() {
            // A value that was not drawn may be possible.
            let all = &tally.counts[place];
            for (kind, sum) in kinds.iter_mut().enumerate() {
                *sum += u64::from(all.iter().any(|counts| counts[kind] > 0));
            }
        }
        let columns = 0..rule.columns.len();
        let exact = tally.drawn.is_none();
        Some(
            columns.map(|c| Belief { values: rule.values(c, &kinds), exact }).collect(),
        )
    };
    (0..placed.people.len()).map(belief).collect()
}

impl Score {
    fn attacked(self, column: &str, found: &Excluded) -> Attacked {
        let people = self.people.max(1) as f64;
        let drawn =
            || found.tallies.iter().filter_map(|(_, t)| Some((t.drawn?, t.worlds)));
        let exact = found.tallies.iter().filter(|(_, t)| t.drawn.is_none());
        let exact: usize = exact.map(|(groups, _)| groups.len()).sum();
        let least =
            drawn().map(|(_, worlds)| worlds).filter(|n| *n >= LEAST_WORLDS).min();
        let mut detail = detail(json!({
            "column": column, "people": self.people, "certain": self.certain,
            "certain_right": self.certain_right, "outside": self.outside,
            "events": found.n_events, "exact": exact, "drawn": drawn().count(),
            "skipped": found.skipped, "at_least": !found.is_all,
        }));
        if let Some((draws, _)) = drawn().next() {
            detail.insert("draws".into(), json!(draws));
        }
        if let Some(least) = least {
            // The standard deviation of a share of so many draws, at most.
            detail.insert("error".into(), json!(0.5 / (least as f64).sqrt()));
        }
        Attacked {
            name: "minimality".into(),
            success: self.right as f64 / people,
            chance: self.by_group as f64 / people,
            worst: self.worst,
            detail,
        }
    }
}
