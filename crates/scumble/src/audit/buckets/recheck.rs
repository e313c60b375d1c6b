//! Every promise of a release of buckets, measured on its files.
//!
//! # Guarantee
//! Shares of values and distances are compared as whole numbers. Of r-robustness every
//! belief of every row and value under every set of columns is computed anew; where all rows
//! of a group are alike, beliefs are shares of whole numbers, elsewhere they must stay below
//! 1/r by [`MARGIN`], which is far more than rounding can do. A manifest that claims more
//! groups to be certified over all worlds than can be found here fails.
//!
//! # Limits
//! r-robustness speaks of the knowledge that was asked for. Groups too large for all their
//! worlds are judged by a bound on all beliefs; where that does not do, against somebody who
//! only tells x from not x, and counted apart.
//!
//! # Cost
//! O(values) a group; of r-robustness see `worlds`.
//!
//! # Source
//! `machanavajjhala2006ldiversity`, `li2007tcloseness`, `wong2010inference`.

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::audit::Checked;
use crate::audit::buckets::priors::{Priors, Work};
use crate::audit::buckets::view::View;
use crate::audit::buckets::worlds::{Found, How};
use crate::audit::measure::{Finding, Values, closeness, diversity};
use crate::audit::recheck::{Asked, Distance, Diversity, asked, finite};
use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::release::{Manifest, PromiseNote};
use crate::table::{Histogram, Role};

/// The name of the promise.
pub(super) const ROBUST: &str = "r-robustness";

/// By which share of 1/r a belief must be below it that is not a share of whole numbers. Less
/// than publishers are to leave, so that rounding the other way does not matter.
pub(super) const MARGIN: f64 = 5e-10;

/// What r-robustness asks.
#[derive(Debug, Clone)]
pub(super) struct Robust {
    /// No belief above 1/r.
    pub(super) r: Decimal,
    /// Where the adversary's knowledge comes from.
    pub(super) from: From,
    /// The sets of columns it is known by.
    pub(super) sets: Vec<Vec<String>>,
}

/// Where knowledge comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// The original, by signatures with so many rows.
    Table { support: u64 },
    /// A file.
    File,
}

/// Rechecks all promises. `priors` finds what the adversary of r-robustness believes.
pub(super) fn recheck(
    manifest: &Manifest,
    view: &View,
    priors: impl Fn(&Robust) -> Result<Vec<Priors>>,
) -> Result<Vec<Checked>> {
    let check = |note: &PromiseNote| -> Result<Checked> {
        let (measured, rows_at_risk) = match note.name.as_str() {
            ROBUST => {
                let robust = Robust::of(note, manifest)?;
                robustness(note, &robust, view, &priors(&robust)?)?
            }
            _ => check_values(note, view)?,
        };
        let (name, asked) = (note.name.clone(), note.asked.clone());
        Ok(Checked { name, asked, measured, holds: rows_at_risk == 0, rows_at_risk })
    };
    manifest.promises.iter().map(check).collect()
}

/// Diversity and closeness.
fn check_values(note: &PromiseNote, view: &View) -> Result<(Value, u64)> {
    let asked = asked(note)?;
    if matches!(asked, Asked::K(_) | Asked::Presence(..)) {
        return Err(Error::input(format!(
            "the manifest promises {}, which says nothing of rows in buckets",
            note.name
        ))
        .with_hint("quasi columns of such a release are untouched"));
    }
    let by_tree = matches!(asked, Asked::Closeness(_, Distance::Hierarchical));
    if by_tree && view.column.lost {
        return Err(Error::input(format!(
            "{} of column `{}` cannot be rechecked: the leaves of its hierarchy are not \
             written as YYYY-MM-DD",
            note.name, view.column.name
        )));
    }
    // Where values stand apart more is promised: that none has more than its share.
    let parts = match asked {
        Asked::Diversity(Diversity::Distinct(l) | Diversity::Recursive { l, .. }) => {
            Some(l)
        }
        Asked::Diversity(Diversity::Entropy(l)) => Some(l.to_f64().ceil() as u64),
        _ => None,
    };
    let (groups, whole) = (&view.groups, view.whole());
    let judge = |values: &mut Histogram, group: usize| {
        values.clear();
        groups.values(group).iter().for_each(|(code, n)| values.add(*code, *n));
        let mut found = match asked {
            Asked::Closeness(t, distance) => {
                let hierarchy = view.column.hierarchy.as_ref();
                let values = Values { group: values, whole: &whole, hierarchy };
                closeness(&values, t, distance)
            }
            Asked::Diversity(asked) => diversity(values, asked),
            Asked::K(_) | Asked::Presence(..) => Finding::NOTHING,
        };
        let (most, size) = (groups.most(group), groups.size(group));
        if let Some(parts) = parts {
            found.holds &= u128::from(most) * u128::from(parts) <= u128::from(size);
        }
        let rows = if found.holds { 0 } else { size };
        (found.risk, most as f64 / size.max(1) as f64, rows)
    };
    let (worst, share, at_risk) = (0..groups.len())
        .into_par_iter()
        .with_min_len(256)
        .map_init(|| Histogram::new(view.column.domain.len()), judge)
        .reduce(
            || (f64::NEG_INFINITY, 0.0, 0),
            |a, b| (a.0.max(b.0), a.1.max(b.1), a.2 + b.2),
        );
    let measured = match asked {
        Asked::Diversity(Diversity::Recursive { .. }) => {
            json!({ "c": finite(worst), "share": share })
        }
        Asked::Diversity(Diversity::Distinct(_)) => {
            json!({ "l": -worst as u64, "share": share })
        }
        Asked::Diversity(Diversity::Entropy(_)) => {
            json!({ "l": finite((-worst).exp()), "share": share })
        }
        _ => json!({ "t": finite(worst) }),
    };
    Ok((measured, at_risk))
}

/// What was found out about a group under all sets.
#[derive(Debug, Clone, Copy)]
struct Judged {
    holds: bool,
    exact: bool,
    posterior: f64,
}

fn robustness(
    note: &PromiseNote,
    robust: &Robust,
    view: &View,
    priors: &[Priors],
) -> Result<(Value, u64)> {
    let groups = &view.groups;
    let judge = |work: &mut Work, group: usize| {
        let mut all = Judged { holds: true, exact: true, posterior: 0.0 };
        for priors in priors {
            let found = priors.believe(groups, group, work);
            let found =
                judged(robust.r, &found, groups.size(group), groups.most(group));
            all.holds &= found.holds;
            all.exact &= found.exact;
            all.posterior = all.posterior.max(found.posterior);
        }
        all
    };
    let judged: Vec<Judged> =
        (0..groups.len()).into_par_iter().map_init(Work::default, judge).collect();
    let exact = judged.iter().filter(|group| group.exact).count() as u64;
    let posterior = judged.iter().map(|group| group.posterior).fold(0.0, f64::max);
    let too_much = claimed(note, groups.len() as u64)? > exact;
    let at_risk = (0..)
        .zip(&judged)
        .filter(|(_, group)| !group.holds || (too_much && !group.exact));
    let mut at_risk: u64 = at_risk.map(|(group, _)| groups.size(group)).sum();
    if too_much {
        // More groups are claimed than there are.
        at_risk = at_risk.max(1);
    }
    let measured =
        json!({ "posterior": posterior, "groups": groups.len(), "exact": exact });
    Ok((measured, at_risk))
}

fn judged(r: Decimal, found: &Found, size: u64, most: u64) -> Judged {
    match found {
        Found::Shares(found) if found.how == How::Alike => {
            let holds = !r.exceeds(size.into(), most.into());
            Judged { holds, exact: true, posterior: most as f64 / size.max(1) as f64 }
        }
        Found::Shares(found) => {
            let below = |belief: f64| belief * r.to_f64() <= 1.0 - MARGIN;
            if let How::Binary { bound } = found.how
                && below(bound)
            {
                return Judged { holds: true, exact: true, posterior: bound };
            }
            let posterior = found.largest();
            let exact = found.how == How::Worlds;
            Judged { holds: below(posterior), exact, posterior }
        }
        Found::Impossible => Judged { holds: false, exact: true, posterior: 1.0 },
        Found::TooLarge => Judged { holds: false, exact: false, posterior: 1.0 },
    }
}

/// How many groups the manifest says were certified over all worlds: none before anything
/// is measured, all if it does not say.
fn claimed(note: &PromiseNote, n_groups: u64) -> Result<u64> {
    match note.measured.get("exact") {
        None if note.measured.is_null() => Ok(0),
        None => Ok(n_groups),
        Some(exact) => exact.as_u64().ok_or_else(|| {
            Error::input(format!(
                "the manifest's promise `{}` is malformed: `measured` has no whole number \
                 `exact`",
                note.name
            ))
        }),
    }
}

impl Robust {
    /// What the manifest asks, if it does.
    pub(super) fn asked(manifest: &Manifest) -> Option<Self> {
        let note = manifest.promises.iter().find(|note| note.name == ROBUST)?;
        Self::of(note, manifest).ok()
    }

    /// Reads what was asked.
    fn of(note: &PromiseNote, manifest: &Manifest) -> Result<Self> {
        let malformed = |what: &str| {
            Error::input(format!(
                "the manifest's promise `{}` is malformed: `asked` has no {what}",
                note.name
            ))
        };
        let asked = note.asked.as_object();
        let asked = asked.ok_or_else(|| malformed("number `r` above 1"))?;
        let r = asked.get("r").and_then(Value::as_f64);
        let r = r.and_then(|r| Decimal::from_f64("r", r).ok());
        let r = r.filter(|r| r.exceeds(1, 1));
        let r = r.ok_or_else(|| malformed("number `r` above 1"))?;
        let from = match asked.get("knowledge").and_then(Value::as_str) {
            Some("file") => From::File,
            Some("table") => {
                let support = asked.get("support").and_then(Value::as_u64);
                let support = support.filter(|support| *support > 0);
                let support = support
                    .ok_or_else(|| malformed("whole number `support` from 1 on"))?;
                From::Table { support }
            }
            _ => return Err(malformed("known `knowledge`")),
        };
        let sets = signatures(asked, manifest)
            .ok_or_else(|| malformed("list of sets of quasi columns `signatures`"))?;
        Ok(Self { r, from, sets })
    }
}

/// The sets of columns: none empty, of quasi columns, no column twice in one.
fn signatures(
    asked: &Map<String, Value>,
    manifest: &Manifest,
) -> Option<Vec<Vec<String>>> {
    let quasi = |name: &str| {
        let mut columns = manifest.columns.iter();
        columns.any(|column| column.name == name && column.role == Role::Quasi)
    };
    let set = |set: &Value| -> Option<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        for name in set.as_array()? {
            let name = name.as_str().filter(|name| quasi(name))?;
            if names.iter().any(|known| known == name) {
                return None;
            }
            names.push(name.to_owned());
        }
        (!names.is_empty()).then_some(names)
    };
    let sets = asked.get("signatures")?.as_array()?;
    let sets: Vec<Vec<String>> = sets.iter().map(set).collect::<Option<_>>()?;
    (!sets.is_empty()).then_some(sets)
}
