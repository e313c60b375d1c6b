//! Randomized columns: promises rechecked, and attacks on what was drawn.
//!
//! Quasi columns of such a release are untouched: linkage is possible by design, and no
//! attack pretends otherwise.

mod averaging;
mod corruption;
mod inference;
mod linked;
mod matrix;
mod recheck;
mod shares;
mod truth;
mod view;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use linked::averaging;

use crate::audit::Report;
use crate::audit::perturbed::shares::Estimate;
use crate::audit::perturbed::truth::Truth;
use crate::audit::perturbed::view::{Randomized, View};
use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::release::{Manifest, PromiseNote, Release};

/// What a reader believes of the rows of a sub-table.
#[derive(Debug)]
struct Believed {
    /// By the inverse of the matrix, if it has one.
    estimate: Option<Estimate>,
    /// The likeliest shares.
    shares: Vec<f64>,
}

impl Believed {
    /// If bounds tell how common values are, a reader knows that, too.
    fn of(column: &Randomized, told: bool) -> Vec<Self> {
        let tables = column.tables.iter();
        let believe = |table: &view::Subtable| {
            let estimate = Estimate::of(&table.matrix, &table.published);
            let mut shares =
                shares::likely(&table.matrix, &table.published, estimate.as_ref());
            if told {
                let caps: Vec<Option<f64>> =
                    table.bounds.iter().map(|b| b.map(|bound| bound.prior)).collect();
                shares = shares::capped(shares, &caps);
            }
            Self { estimate, shares }
        };
        tables.map(believe).collect()
    }
}

/// A release with randomized columns, read.
pub(super) struct Seen<'a> {
    manifest: &'a Manifest,
    view: View,
    believed: Vec<Vec<Believed>>,
}

impl<'a> Seen<'a> {
    /// Reads the files.
    pub(super) fn read(
        release: &'a Release,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Self> {
        let view = View::read(release, progress)?;
        let manifest = &release.manifest;
        let factor = |promise: &PromiseNote| promise.asked.get("factor").is_some();
        let told = manifest.method.name == "partitioned-perturbation"
            || manifest.promises.iter().any(factor);
        let believed = view.columns.iter().map(|c| Believed::of(c, told)).collect();
        Ok(Self { manifest, view, believed })
    }

    /// Audits what was read.
    pub(super) fn audit(&self, original: Option<&Microdata>) -> Result<Report> {
        let Self { manifest, view, believed } = self;
        let truth = original.map(|data| Truth::of(manifest, view, data)).transpose()?;
        let truth = truth.as_ref();
        let promises = recheck::recheck(manifest, view, believed, truth)?;
        let mut attacks = Vec::new();
        attacks.extend(inference::attack(view, believed, truth));
        attacks.extend(corruption::attack(manifest, view, believed, truth));
        attacks.extend(averaging::attack(view, believed, truth));
        Ok(Report {
            rows: view.rows,
            promises,
            attacks,
            loss: losses(view, believed, truth),
            group_sizes: view.stands_for.clone().unwrap_or_default(),
            risks: inference::risks(view, believed),
            widths: Vec::new(),
        })
    }
}

/// Whether all rows of a column were randomized as one.
fn single(column: &Randomized) -> bool {
    column.tables.len() == 1
}

/// Whether the priors of a column are shares in its sub-tables, even if there is but one.
fn apart(manifest: &Manifest, column: &Randomized) -> bool {
    column.subtable_column.is_some()
        || manifest.method.name == "partitioned-perturbation"
}

/// The likeliest shares of a column's values over all its sub-tables.
fn overall(column: &Randomized, believed: &[Believed]) -> Vec<f64> {
    let mut shares = vec![0.0; column.values.len()];
    for (table, believed) in column.tables.iter().zip(believed) {
        for (code, share) in table.values.iter().zip(&believed.shares) {
            shares[*code] += share * table.n_published();
        }
    }
    shares::scaled(shares)
}

/// What randomizing costs, in the column where it costs most; if there are several, also in
/// each.
fn losses(
    view: &View,
    believed: &[Vec<Believed>],
    truth: Option<&Truth>,
) -> BTreeMap<String, f64> {
    let mut loss = BTreeMap::new();
    let columns = || view.columns.iter().zip(believed).enumerate();
    let kept = columns().map(|(place, (column, believed))| {
        if let (Some(shares), [table]) =
            (inference::true_shares(column, place, truth), column.tables.as_slice())
        {
            let shares: Vec<f64> =
                table.values.iter().map(|code| shares[*code]).collect();
            return table.matrix.kept(&shares);
        }
        let tables = column.tables.iter().zip(believed);
        let (mut kept, mut rows) = (0.0, 0.0);
        for (table, believed) in tables {
            kept += table.matrix.kept(&believed.shares) * table.n_published();
            rows += table.n_published();
        }
        kept / f64::max(rows, 1.0)
    });
    let kept: Vec<f64> = kept.collect();
    note(&mut loss, view, "record-utility", &kept, f64::min);
    // Of a sample the table is not estimated, and without an inverse nothing is.
    let errors = truth.filter(|truth| truth.exact && view.stands_for.is_none());
    let errors: Option<Vec<f64>> = errors.and_then(|truth| {
        let error =
            |(place, (column, believed)): (usize, (&Randomized, &Vec<Believed>))| {
                reconstruction_error(column, believed, &truth.counts[place])
            };
        columns().map(error).collect()
    });
    if let Some(errors) = errors {
        note(&mut loss, view, "reconstruction-error", &errors, f64::max);
    }
    loss
}

/// Notes a loss of each column, and that of the column where it is worst.
fn note(
    loss: &mut BTreeMap<String, f64>,
    view: &View,
    name: &str,
    each: &[f64],
    worse: fn(f64, f64) -> f64,
) {
    loss.extend(each.iter().copied().reduce(worse).map(|all| (name.to_owned(), all)));
    if each.len() > 1 {
        let columns = view.columns.iter().zip(each);
        loss.extend(columns.map(|(c, value)| (format!("{name}.{}", c.name()), *value)));
    }
}

/// How far counts estimated by the inverse are off, as shares of the true ones, on average
/// over the values that occur; nothing if a matrix has no inverse.
fn reconstruction_error(
    column: &Randomized,
    believed: &[Believed],
    counts: &[u64],
) -> Option<f64> {
    let mut estimated = vec![0.0; column.values.len()];
    for (table, believed) in column.tables.iter().zip(believed) {
        let estimate = believed.estimate.as_ref()?;
        for (code, count) in table.values.iter().zip(&estimate.counts) {
            estimated[*code] += count;
        }
    }
    let occurring = counts.iter().zip(&estimated).filter(|(count, _)| **count > 0);
    let (mut sum, mut n) = (0.0, 0u64);
    for (count, estimated) in occurring {
        sum += (estimated - *count as f64).abs() / *count as f64;
        n += 1;
    }
    Some(sum / n.max(1) as f64)
}
