//! Background knowledge: somebody knows how values depend on quasi columns, and in which
//! group everybody is.
//!
//! # Guarantee
//! Beliefs are exact over all worlds of a group (see `worlds`), or for x and not x where
//! that is said; each set of columns is an adversary of its own.
//!
//! # Limits
//! Of a generalized release only groups are looked at that exactly as many people fit as it
//! has rows, and nobody of them anywhere else. Where knowledge rules all worlds of a group
//! out it is wrong, and the shares of the group are taken instead; also where a group is too
//! large.
//!
//! # Cost
//! See `worlds`, for each set of columns.
//!
//! # Source
//! `wong2010inference`; METHODS B2, G.

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::audit::Attack;
use crate::audit::buckets::guesses::{Gathered, Guesses, Piece};
use crate::audit::buckets::original::Original;
use crate::audit::buckets::priors::{Priors, Work};
use crate::audit::buckets::view::Groups;
use crate::audit::buckets::worlds::{Found, How};

/// Beliefs above a bound by no more than this are rounding.
const ROUNDING: f64 = 1e-9;

/// Groups whose values are known, and which beliefs are too strong.
#[derive(Debug)]
pub(in crate::audit) struct Target<'a> {
    /// The sensitive column.
    pub(in crate::audit) column: &'a str,
    /// Who and what is in each group.
    pub(in crate::audit) groups: &'a Groups,
    /// How many tuples there are.
    pub(in crate::audit) n_tuples: usize,
    /// How many values there are.
    pub(in crate::audit) n_values: usize,
    /// The guess about somebody who is in no group, and its share.
    pub(in crate::audit) blind: (u32, f64),
    /// What nobody should be believed more than, if that is promised.
    pub(in crate::audit) bound: Option<f64>,
    /// How many groups cannot be looked at.
    pub(in crate::audit) left_aside: u64,
}

/// What one adversary concludes.
#[derive(Debug)]
struct Conclusions {
    guesses: Guesses,
    /// By knowledge alone.
    before: Vec<(u32, f64)>,
    worst: f64,
    /// Rows of which something is believed above the bound.
    above: u64,
    /// How each group was seen.
    seen: Vec<Seen>,
}

/// How a group was seen, the worse the later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Exact,
    Binary,
    Impossible,
    TooLarge,
}

impl Target<'_> {
    /// Lets somebody draw conclusions.
    fn conclude(&self, priors: &Priors, gathered: &Gathered<'_>) -> Conclusions {
        let groups = self.groups;
        let bound = self.bound.unwrap_or(1.0) + ROUNDING;
        let look = |work: &mut Work, group: usize| {
            let (values, size) = (groups.values(group), groups.size(group));
            let mut found: Vec<Piece> = Vec::new();
            let seen = match priors.believe(groups, group, work) {
                Found::Shares(shares) => {
                    let share = |row, place| shares.share(row, place);
                    gathered.add(group, share, &mut found);
                    let rows = (0..size as usize).map(|row| shares.largest_of(row));
                    let above = rows.filter(|share| *share > bound).count() as u64;
                    let how = match shares.how {
                        How::Binary { .. } => Seen::Binary,
                        How::Alike | How::Worlds => Seen::Exact,
                    };
                    (how, shares.largest(), above)
                }
                not => {
                    let share = |_, place: usize| values[place].1 as f64 / size as f64;
                    gathered.add(group, share, &mut found);
                    let how = match not {
                        Found::TooLarge => Seen::TooLarge,
                        _ => Seen::Impossible,
                    };
                    (how, groups.most(group) as f64 / size as f64, 0)
                }
            };
            (seen, found)
        };
        let looked: Vec<((Seen, f64, u64), Vec<Piece>)> =
            (0..groups.len()).into_par_iter().map_init(Work::default, look).collect();
        let worst = looked.iter().map(|((_, worst, _), _)| *worst).fold(0.0, f64::max);
        let above = looked.iter().map(|((.., above), _)| above).sum();
        let seen = looked.iter().map(|((seen, ..), _)| *seen).collect();
        let found = looked.into_iter().flat_map(|(_, found)| found).collect();
        let guesses = gathered.guesses(found, self.blind);
        let before = priors.guesses(self.n_values);
        Conclusions { guesses, before, worst, above, seen }
    }

    /// Tries the attack by every set of columns; nothing if nothing is known. Only the
    /// scores look at the original.
    pub(in crate::audit) fn attack(
        &self,
        known: &[Priors],
        original: Option<&Original<'_>>,
    ) -> Option<Attack> {
        let gathered = Gathered::new(self.groups, self.n_tuples);
        let rows: u64 =
            (0..self.groups.len()).map(|group| self.groups.size(group)).sum();
        let mut seen = vec![Seen::Exact; self.groups.len()];
        let (mut worst, mut above) = (0.0f64, 0u64);
        let mut posterior = Map::new();
        let mut best: Option<(f64, f64, String)> = None;
        for priors in known {
            let found = self.conclude(priors, &gathered);
            let (success, chance) = match original {
                Some(original) => {
                    let before: Vec<u32> = found.before.iter().map(|b| b.0).collect();
                    (
                        original.score(&found.guesses.values, self.blind.0),
                        original.score(&before, self.blind.0),
                    )
                }
                None => {
                    let before: Vec<f64> = found.before.iter().map(|b| b.1).collect();
                    (
                        gathered.expected(&found.guesses.beliefs),
                        gathered.expected(&before),
                    )
                }
            };
            for (all, this) in seen.iter_mut().zip(&found.seen) {
                *all = (*all).max(*this);
            }
            worst = worst.max(found.worst);
            above = above.max(found.above);
            posterior.insert(priors.name.clone(), json!(found.worst));
            if best.as_ref().is_none_or(|(known, ..)| success > *known) {
                best = Some((success, chance, priors.name.clone()));
            }
        }
        let (success, chance, set) = best?;
        let groups =
            |wanted: Seen| seen.iter().filter(|seen| **seen == wanted).count() as u64;
        let mut detail = Map::new();
        let mut note = |name: &str, value: Value| detail.insert(name.to_owned(), value);
        note("column", json!(self.column));
        note("set", json!(set));
        note("posterior", Value::Object(posterior));
        note("exact", json!(groups(Seen::Exact)));
        note("binary", json!(groups(Seen::Binary)));
        note("skipped", json!(groups(Seen::TooLarge) + self.left_aside));
        note("impossible", json!(groups(Seen::Impossible)));
        if let Some(bound) = self.bound {
            note("bound", json!(bound));
            note("above", json!(above as f64 / rows.max(1) as f64));
        }
        note("expected", json!(original.is_none()));
        let name = "background-knowledge".to_owned();
        Some(Attack { name, success, chance, worst, detail })
    }
}
