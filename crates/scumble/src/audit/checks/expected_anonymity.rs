//! expected-anonymity: everybody is hidden among as many as they ask for, on average over the
//! noise; or in a group of so many whose numbers were drawn anew.
//!
//! # Guarantee
//! Who is at which level is found again from the true table by the public rule, in code of
//! the audit's own; everybody's company is counted there, and published numbers must lie
//! around the true ones as the stated noise would have them.
//!
//! # Limits
//! Without the table only that the promise is broken can be seen, not that it holds. Of
//! numbers that were drawn anew see `redrawn`.
//!
//! # Cost
//! See `measure` and `noise`.
//!
//! # Source
//! `aggarwal2008unifying`; groups: `aggarwal2004condensation`.

use serde_json::{Value, json};

use crate::audit::checks::{Check, columns_of, malformed, says_nothing};
use crate::audit::given::needs_original;
use crate::audit::noisy::{
    MeasuredCompany, NoisyFindings, NoisyRows, NoisyTruth, PROMISE, Wish, noise_asked,
    shortened, wish,
};
use crate::audit::redrawn::RedrawnGroups;
use crate::audit::{Case, Checked};
use crate::error::{Error, Result};
use crate::release::{Manifest, PromiseNote, PublishedColumn, Treatment};

/// What is said if published numbers are not around true ones as they should be.
const NOT_AS_STATED: &str = "the noise is not as stated";

/// Rechecks expected-anonymity.
#[derive(Debug)]
pub struct ExpectedAnonymity;

impl Check for ExpectedAnonymity {
    fn name(&self) -> &'static str {
        PROMISE
    }

    fn recheck(&self, promise: &PromiseNote, case: &Case<'_>) -> Result<Checked> {
        let (mut noisy, mut redrawn) = (false, false);
        for column in columns_of(promise, case.manifest)? {
            match &column.treatment {
                Treatment::Noisy { .. } => noisy = true,
                Treatment::Redrawn => redrawn = true,
                // Exact columns: only rows that share them count.
                Treatment::Kept | Treatment::Coarse { .. } | Treatment::Weighted => {}
                Treatment::Drawn { .. } | Treatment::Apart => {
                    return Err(says_nothing(promise, case));
                }
            }
        }
        match (case.views.noisy()?, case.views.redrawn()?) {
            (Some(rows), _) if noisy => of_noisy(promise, rows, case),
            (_, Some(groups)) if redrawn => of_redrawn(promise, groups, case),
            _ => Err(says_nothing(promise, case)),
        }
    }

    fn undecided(
        &self,
        promise: &PromiseNote,
        case: &Case<'_>,
    ) -> Result<Option<&'static str>> {
        let columns = columns_of(promise, case.manifest)?;
        let is_noisy =
            |c: &&PublishedColumn| matches!(c.treatment, Treatment::Noisy { .. });
        let rows = case.views.noisy()?.filter(|_| columns.iter().any(is_noisy));
        let Some(rows) = rows else { return Ok(None) };
        if case.noisy_truth()?.is_some() || seen_broken(rows, case.manifest)?.is_some()
        {
            return Ok(None);
        }
        Ok(Some("who counts as company is found in the original"))
    }
}

fn of_noisy(
    promise: &PromiseNote,
    rows: &NoisyRows,
    case: &Case<'_>,
) -> Result<Checked> {
    match case.noisy_truth()?.map(|NoisyTruth { found, .. }| found) {
        None => without_table(promise, rows, case.manifest),
        Some(NoisyFindings::Strict { measured, unlike, .. }) => {
            Ok(strict(promise, rows, measured, *unlike))
        }
        Some(NoisyFindings::Loose(found)) => {
            let mut measured = json!({
                "k": shortened(found.smallest, 1000.0),
                "strict": false,
                "counted": if found.sampled { "a sample" } else { "all company" },
            });
            let mut failing = found.at_risk;
            if !found.noise_fits {
                measured["noise"] = NOT_AS_STATED.into();
                failing = rows.n_rows() as u64;
            }
            Ok(Checked::of(promise, measured, failing))
        }
    }
}

fn strict(
    promise: &PromiseNote,
    rows: &NoisyRows,
    measured: &MeasuredCompany,
    unlike: u64,
) -> Checked {
    let mut found = json!({
        "k": shortened(measured.smallest, 1000.0),
        "mean": shortened(measured.mean, 10.0),
        "levels": measured.classes,
        "counted": if measured.all { "all company" } else { "company within reach" },
    });
    let mut holds = measured.at_risk == 0 && unlike == 0;
    if let Some(bound) = rows.note.best_guess {
        found["best-guess"] = measured.best_guess.into();
        holds &= measured.best_guess <= bound;
    }
    if unlike > 0 {
        found["noise"] = NOT_AS_STATED.into();
    }
    let at_risk = measured.at_risk.max(unlike);
    Checked { holds, ..Checked::of(promise, found, at_risk) }
}

/// Without the table only that the promise is broken can be seen.
fn without_table(
    promise: &PromiseNote,
    rows: &NoisyRows,
    manifest: &Manifest,
) -> Result<Checked> {
    match seen_broken(rows, manifest)? {
        Some((measured, failing)) => Ok(Checked::of(promise, measured, failing)),
        None => Err(needs_original(&format!("{PROMISE} cannot be rechecked"))),
    }
}

/// What is measured of classes that are too small, and how many rows they have, if some are.
fn seen_broken(rows: &NoisyRows, manifest: &Manifest) -> Result<Option<(Value, u64)>> {
    let sizes = rows.classes().into_iter().flatten().map(|rows| rows.len());
    let sizes: Vec<usize> = sizes.filter(|n| *n > 0).collect();
    let smallest = sizes.iter().min().copied().unwrap_or(0);
    match noise_asked(manifest)? {
        Wish::Same(k) if rows.note.strict && (smallest as f64) < k => {
            let failing = sizes.iter().filter(|n| (**n as f64) < k).sum::<usize>();
            let measured = json!({ "k": smallest, "levels": sizes.len() });
            Ok(Some((measured, failing as u64)))
        }
        _ => Ok(None),
    }
}

fn of_redrawn(
    promise: &PromiseNote,
    groups: &RedrawnGroups,
    case: &Case<'_>,
) -> Result<Checked> {
    let numbers = case.redrawn_numbers()?;
    let failing = match wish(&promise.asked) {
        Some(Wish::Same(k)) => groups.below(k),
        Some(Wish::Column(name)) => {
            let numbers = numbers.filter(|n| n.wishes.len() == n.n_rows);
            let numbers = numbers.ok_or_else(|| {
                Error::input(format!(
                    "{} cannot be rechecked without the original’s column `{name}`",
                    promise.name
                ))
                .with_hint("give it with `--original FILE`")
            })?;
            groups.crowded(&numbers.wishes, case.manifest.left_out)
        }
        None => return Err(malformed(promise, "number `k` from 1 on")),
    };
    Ok(Checked::of(promise, json!({ "k": groups.smallest() }), failing))
}
