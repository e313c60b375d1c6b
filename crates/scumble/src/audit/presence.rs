//! Presence: who of the population is in the table.
//!
//! The adversary holds the population with all its quasi values. A person fits the group
//! whose every cell contains their values; of the N people who fit a group of n rows, n
//! are in the table, and nothing in the group tells which. People who fit no group are one
//! group to a reader, and the rows that were left out are spread over them.
//!
//! # Guarantee
//! If no person fits two groups, the presence of everybody is the exact share of worlds
//! with them in the table, all tables that give these groups being equally likely; it is
//! compared with the range in whole numbers, or with a margin for rounding. Nobody is forgotten: people in groups that
//! were not published count, and so do cells that were taken from the rows of the table
//! alone, since then fewer people fit.
//!
//! # Limits
//! If somebody fits two groups, the number of worlds is not a matter of one group at a
//! time: the promise then counts as broken, and the attack takes the sum of the shares.
//! How many rows were left out is believed of the manifest, and so is what weights say of the
//! table; only who has the table can refute it, and then the audit does.
//! Knowing how the release was searched for helps a little: see `reversal`. Weights of pdf
//! cells may say more: see `counting`.
//!
//! # Cost
//! A way through a trie of the groups for each distinct tuple of the population, or one
//! lookup if no value is in two cells of a column.
//!
//! # Source
//! `nergiz2007presence`, section 3; METHODS A4.

use hashbrown::HashSet;
use serde_json::{Value, json};

use crate::audit::counting::{self, Counted};
use crate::audit::existence;
use crate::audit::people::People;
use crate::audit::recheck::Reader;
use crate::audit::shares::{Range, Share, Shares};
use crate::audit::view::View;
use crate::audit::weights::Whose;

/// The presence of everybody in the eyes of each adversary.
#[derive(Debug)]
pub(super) struct Presence {
    /// Who looks at cells alone.
    pub(super) plain: Shares,
    /// Who counts weights, if there are any.
    pub(super) counted: Option<Counted>,
    /// Who takes shifted weights for likelihoods, if there are any.
    likely: Option<Shares>,
}

impl Presence {
    pub(super) fn of(view: &View, people: &People<'_>) -> Self {
        let mut presence =
            Self { plain: plain(view, people), counted: None, likely: None };
        if let Some(weights) = &view.weights {
            let bound = weights.bind(&view.quasi, &people.columns);
            presence.counted = Some(counting::count(view, people, weights, &bound));
            if weights.whose.iter().flatten().any(|whose| *whose == Whose::Shifted) {
                presence.likely = Some(existence::shares(view, people, &bound));
            }
        }
        presence
    }

    /// In the eyes of the one that was promised against.
    pub(super) fn seen_by(&self, reader: Reader) -> &Shares {
        match (reader, &self.likely, &self.counted) {
            (Reader::Paper, Some(likely), _) => likely,
            (_, _, Some(counted)) => &counted.shares,
            _ => &self.plain,
        }
    }
}

/// What cells alone tell: the rows of a group, spread over the people who fit it.
fn plain(view: &View, people: &People<'_>) -> Shares {
    let groups = view.sizes.iter().zip(&people.of_group);
    let shares = groups.map(|(rows, n)| Share::of(*rows, *n));
    let others = Share::of(people.left_out, people.unpublished);
    Shares::by_group(people, shares.chain([others]).collect())
}

/// Measures presence, and counts the people at risk: those whose share is not known to be
/// in the range, and those who fit several groups.
pub(super) fn check(
    range: Range,
    shares: &Shares,
    people: &People<'_>,
) -> (Value, u64) {
    let keeps: Vec<bool> =
        shares.distinct.iter().map(|share| share.is_in(range)).collect();
    let several: HashSet<u32> =
        people.several.iter().map(|(tuple, _)| *tuple).collect();
    let (mut smallest, mut largest) = (1.0f64, 0.0f64);
    let (mut at_risk, mut uncertified) = (0, 0);
    for (tuple, n) in (0u32..).zip(people.known.people) {
        let place = shares.of_tuple[tuple as usize] as usize;
        match shares.distinct[place] {
            Share::Guess(_) => uncertified += n,
            share => {
                smallest = smallest.min(share.to_f64());
                largest = largest.max(share.to_f64());
            }
        }
        if !keeps[place] || several.contains(&tuple) {
            at_risk += n;
        }
    }
    let mut measured = match smallest <= largest {
        true => json!({ "min": smallest, "max": largest }),
        false => json!({ "min": null, "max": null }),
    };
    if people.unpublished > 0 {
        let share = people.left_out as f64 / people.unpublished as f64;
        measured["unpublished"] = json!(share);
    }
    if !people.several.is_empty() {
        measured["overlapping"] = json!(people.overlapping());
    }
    if uncertified > 0 {
        measured["uncertified"] = json!(uncertified);
    }
    (measured, at_risk)
}

/// What an adversary believes of each distinct tuple. Who fits several groups is in the
/// table if they are in any: the sum of the shares, which may be too much.
pub(super) fn believe(view: &View, people: &People<'_>, shares: &Shares) -> Vec<f64> {
    let mut beliefs = shares.beliefs();
    for (tuple, groups) in &people.several {
        let share = |group: &u32| {
            let group = *group as usize;
            view.sizes[group] as f64 / people.of_group[group].max(1) as f64
        };
        let sum: f64 = groups.iter().map(share).sum();
        beliefs[*tuple as usize] = sum.min(1.0);
    }
    beliefs
}
