//! r-robustness: nobody with the knowledge that was asked for believes anything of anybody
//! more than 1/r.
//!
//! # Guarantee
//! Every posterior of every row and value under every set of columns is computed anew; where
//! all rows of a group are alike, posteriors are shares of whole numbers, elsewhere they must
//! stay below 1/r by [`MARGIN`], which is far more than rounding can do. A manifest that
//! claims more groups to be certified over all worlds than can be found here fails.
//!
//! # Limits
//! r-robustness speaks of the knowledge that was asked for. Groups too large for all their
//! worlds are judged by a bound on all beliefs; where that does not do, against somebody who
//! only tells x from not x, and counted apart. Where values stay in the rows, the original must
//! tell who is in which group, and such groups fail.
//!
//! # Cost
//! See `worlds`.
//!
//! # Source
//! `wong2010inference`.

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::audit::apart::{
    Believers, Groups, How, Posteriors, Priors, RowGroups, RowMembers, Work,
};
use crate::audit::checks::{Check, decimal, malformed, says_nothing, word};
use crate::audit::given::needs_original;
use crate::audit::{Case, Checked};
use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::release::{Manifest, PromiseNote};
use crate::table::Role;
use crate::watch::Watch;

/// The name of the promise.
pub(crate) const ROBUST: &str = "r-robustness";

/// By which share of 1/r a belief must be below it that is not a share of whole numbers. Less
/// than publishers are to leave, so that rounding the other way does not matter.
pub(crate) const MARGIN: f64 = 5e-10;

/// What r-robustness asks.
#[derive(Debug, Clone)]
pub(crate) struct AskedRobustness {
    /// No belief above 1/r.
    pub(crate) r: Decimal,
    /// Where the adversary's knowledge comes from.
    pub(crate) from: KnowledgeFrom,
    /// The sets of columns it is known by.
    pub(crate) sets: Vec<Vec<String>>,
}

/// Where knowledge comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnowledgeFrom {
    /// The original, by signatures with so many rows.
    Table { support: u64 },
    /// A file.
    File,
}

/// Rechecks r-robustness.
#[derive(Debug)]
pub struct RRobustness;

impl Check for RRobustness {
    fn name(&self) -> &'static str {
        ROBUST
    }

    fn recheck(&self, promise: &PromiseNote, case: &Case<'_>) -> Result<Checked> {
        let apart = case.apart()?;
        let [name] = &*promise.columns else {
            return Err(says_nothing(promise, case));
        };
        let robust = AskedRobustness::of(promise, case.manifest)?;
        let own = apart.into_iter().find(|(values, _)| values.column.name == *name);
        let Some(own) = own else { return in_rows(promise, &robust, name, case) };
        let priors = Believers::of(case, own).believed(&robust)?;
        let judged = Judgement::of(&robust, &own.0.groups, &priors, case.watch)?;
        let (measured, at_risk) = judged.found(promise, &own.0.groups, 0)?;
        Ok(Checked::of(promise, measured, at_risk))
    }
}

/// The promise of a column whose values stay in the rows: rows with the same cells are a
/// group. It holds only over all worlds, of groups whose people are certain.
fn in_rows(
    promise: &PromiseNote,
    robust: &AskedRobustness,
    name: &str,
    case: &Case<'_>,
) -> Result<Checked> {
    let nothing = || says_nothing(promise, case);
    let classes = case.views.cells()?.ok_or_else(nothing)?;
    let mut columns = classes.columns();
    let own = columns.find(|values| values.column().name == *name);
    let own = own.ok_or_else(nothing)?;
    let linked = case.linked()?;
    let linked =
        linked.ok_or_else(|| needs_original("r-robustness cannot be rechecked"))?;
    let members = RowMembers::of(classes, linked)?;
    let rows = RowGroups::of(case.manifest, own, linked, &members)?;
    let priors = Believers::in_rows(case, &rows).believed(robust)?;
    let mut judged = Judgement::of(robust, &rows.groups, &priors, case.watch)?;
    judged.0.iter_mut().for_each(|group| group.holds &= group.exact);
    let (measured, at_risk) =
        judged.found(promise, &rows.groups, members.left_aside)?;
    Ok(Checked::of(promise, measured, at_risk + members.rows_aside))
}

/// What was found out about a group under all sets.
#[derive(Debug, Clone, Copy)]
struct Judged {
    holds: bool,
    exact: bool,
    posterior: f64,
}

/// What was found out about every group.
#[derive(Debug)]
struct Judgement(Vec<Judged>);

impl Judgement {
    fn of(
        robust: &AskedRobustness,
        groups: &Groups,
        priors: &[Priors],
        watch: &dyn Watch,
    ) -> Result<Self> {
        let judge = |work: &mut Work, group: usize| {
            let mut all = Judged { holds: true, exact: true, posterior: 0.0 };
            for priors in priors {
                watch.check()?;
                let found = priors.believe(groups, group, work);
                let found =
                    judged(robust.r, &found, groups.size(group), groups.most(group));
                all.holds &= found.holds;
                all.exact &= found.exact;
                all.posterior = all.posterior.max(found.posterior);
            }
            Ok(all)
        };
        let groups = (0..groups.len()).into_par_iter();
        groups.map_init(Work::default, judge).collect::<Result<_>>().map(Self)
    }

    /// What was measured, and how many rows are at risk; `aside` groups could not be looked
    /// at.
    fn found(
        &self,
        note: &PromiseNote,
        groups: &Groups,
        aside: u64,
    ) -> Result<(Value, u64)> {
        let exact = self.0.iter().filter(|group| group.exact).count() as u64;
        let posterior = self.0.iter().map(|group| group.posterior).fold(0.0, f64::max);
        let n_groups = groups.len() as u64 + aside;
        let too_much = claimed(note, n_groups)? > exact;
        let at_risk = (0..)
            .zip(&self.0)
            .filter(|(_, group)| !group.holds || (too_much && !group.exact));
        let mut at_risk: u64 = at_risk.map(|(group, _)| groups.size(group)).sum();
        if too_much {
            // More groups are claimed than there are.
            at_risk = at_risk.max(1);
        }
        let measured =
            json!({ "posterior": posterior, "groups": n_groups, "exact": exact });
        Ok((measured, at_risk))
    }
}

fn judged(r: Decimal, found: &Posteriors, size: u64, most: u64) -> Judged {
    match found {
        Posteriors::Beliefs(found) if found.how == How::Alike => {
            let holds = !r.exceeds(size.into(), most.into());
            Judged { holds, exact: true, posterior: most as f64 / size.max(1) as f64 }
        }
        Posteriors::Beliefs(found) => {
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
        Posteriors::Impossible => Judged { holds: false, exact: true, posterior: 1.0 },
        Posteriors::TooLarge { bound } => {
            let holds = bound * r.to_f64() <= 1.0 - MARGIN;
            let posterior = if holds { *bound } else { 1.0 };
            Judged { holds, exact: holds, posterior }
        }
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

impl AskedRobustness {
    /// What the manifest asks of a column, if it does.
    pub(crate) fn asked(manifest: &Manifest, column: &str) -> Option<Self> {
        let about = |note: &&PromiseNote| {
            note.name == ROBUST && note.columns.iter().any(|name| name == column)
        };
        Self::of(manifest.promises.iter().find(about)?, manifest).ok()
    }

    /// Reads what was asked.
    fn of(note: &PromiseNote, manifest: &Manifest) -> Result<Self> {
        let malformed = |what: &str| malformed(note, what);
        let r = decimal(note, "r", |r| r.exceeds(1, 1), "number `r` above 1")?;
        let from = match word(note, "knowledge") {
            Some("file") => KnowledgeFrom::File,
            Some("table") => {
                let support = note.asked.get("support").and_then(Value::as_u64);
                let support = support.filter(|support| *support > 0);
                let support = support
                    .ok_or_else(|| malformed("whole number `support` from 1 on"))?;
                KnowledgeFrom::Table { support }
            }
            _ => return Err(malformed("known `knowledge`")),
        };
        let sets = signatures(&note.asked, manifest)
            .ok_or_else(|| malformed("list of sets of quasi columns `signatures`"))?;
        Ok(Self { r, from, sets })
    }
}

/// The sets of columns: none empty, of quasi columns, no column twice in one.
fn signatures(asked: &Value, manifest: &Manifest) -> Option<Vec<Vec<String>>> {
    let quasi = |name: &str| {
        manifest.column(name).is_some_and(|column| column.role == Role::Quasi)
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
