//! Randomized columns: promises rechecked, and attacks on what was drawn.
//!
//! Quasi columns of such a release are untouched: linkage is possible by design, and no
//! attack pretends otherwise.

pub(crate) mod columns;
pub(crate) mod matrix;
pub(crate) mod shares;
pub(crate) mod truth;

#[cfg(test)]
mod tests;

pub(crate) use columns::{DrawnColumn, Subtable, canonical};
pub(crate) use matrix::Matrix;
pub(crate) use shares::margin;
pub(crate) use truth::TrueCounts;

use std::collections::BTreeMap;

use crate::audit::attacks::inference;
use crate::audit::drawn::shares::Estimate;
use crate::error::Result;
use crate::release::{Manifest, PromiseNote, Seen};
use crate::watch::Watch;

/// What a reader believes of the rows of a sub-table.
#[derive(Debug)]
pub(crate) struct Believed {
    /// By the inverse of the matrix, if it has one.
    pub(crate) estimate: Option<Estimate>,
    /// The likeliest shares.
    pub(crate) shares: Vec<f64>,
}

impl Believed {
    /// If bounds tell how common values are, a reader knows that, too.
    pub(crate) fn of(
        column: &DrawnColumn,
        told: bool,
        watch: &dyn Watch,
    ) -> Result<Vec<Self>> {
        let tables = column.tables.iter();
        let believe = |table: &Subtable| {
            watch.check()?;
            let estimate = Estimate::of(&table.matrix, &table.published);
            let mut shares =
                shares::likely(&table.matrix, &table.published, estimate.as_ref());
            if told {
                let caps: Vec<Option<f64>> =
                    table.bounds.iter().map(|b| b.map(|bound| bound.prior)).collect();
                shares = shares::capped(shares, &caps);
            }
            Ok(Self { estimate, shares })
        };
        tables.map(believe).collect()
    }
}

/// The randomized columns, and what a reader believes of their true values.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// The columns.
    pub(crate) columns: Vec<DrawnColumn>,
    /// What is believed of each sub-table of each of them.
    pub(crate) believed: Vec<Vec<Believed>>,
    /// Whether published rows are a sample of one from each group.
    pub(crate) sampled: bool,
}

impl Drawn {
    /// Counts the columns, and estimates their true values.
    pub(crate) fn read(
        seen: &Seen<'_>,
        sample: Option<&[(u64, u64)]>,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let manifest = seen.manifest();
        let columns = columns::read(seen, sample, watch)?;
        let factor = |promise: &PromiseNote| promise.asked.get("factor").is_some();
        let told = |column: &DrawnColumn| {
            is_partitioned(manifest, column) || manifest.promises.iter().any(factor)
        };
        let believed = columns.iter().map(|c| Believed::of(c, told(c), watch));
        let believed = believed.collect::<Result<_>>()?;
        Ok(Self { columns, believed, sampled: sample.is_some() })
    }

    /// Every column with its place and what is believed of it.
    pub(crate) fn each(
        &self,
    ) -> impl Iterator<Item = (usize, &DrawnColumn, &[Believed])> + Clone {
        let columns = self.columns.iter().zip(&self.believed).enumerate();
        columns.map(|(place, (column, believed))| (place, column, &**believed))
    }
}

/// Whether all rows of a column were randomized as one.
pub(crate) fn single(column: &DrawnColumn) -> bool {
    column.tables.len() == 1
}

/// Whether the priors of a column are shares in its sub-tables, even if there is but one.
pub(crate) fn apart(manifest: &Manifest, column: &DrawnColumn) -> bool {
    let dealt = column.subtable_column.is_some() && column.condition.is_none();
    dealt || is_partitioned(manifest, column)
}

/// Whether a column was to be divided into sub-tables.
fn is_partitioned(manifest: &Manifest, column: &DrawnColumn) -> bool {
    let mut methods = column.names.iter().map(|name| manifest.method_of(name));
    methods.any(|method| method.name == "partitioned-perturbation")
}

/// The likeliest shares of a column's values over all its sub-tables.
pub(crate) fn overall(column: &DrawnColumn, believed: &[Believed]) -> Vec<f64> {
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
pub(crate) fn losses(
    drawn: &Drawn,
    truth: Option<&TrueCounts>,
) -> BTreeMap<String, f64> {
    let mut loss = BTreeMap::new();
    let kept = drawn.each().map(|(place, column, believed)| {
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
    note(&mut loss, drawn, "record-utility", &kept, f64::min);
    // Of a sample the table is not estimated, and without an inverse nothing is.
    let errors = truth.filter(|truth| truth.exact && !drawn.sampled);
    let errors: Option<Vec<f64>> = errors.and_then(|truth| {
        let columns = drawn.each().map(|(place, column, believed)| {
            reconstruction_error(column, believed, &truth.counts[place])
        });
        columns.collect()
    });
    if let Some(errors) = errors {
        note(&mut loss, drawn, "reconstruction-error", &errors, f64::max);
    }
    loss
}

/// Notes a loss of each column, and that of the column where it is worst.
fn note(
    loss: &mut BTreeMap<String, f64>,
    drawn: &Drawn,
    name: &str,
    each: &[f64],
    worse: fn(f64, f64) -> f64,
) {
    loss.extend(each.iter().copied().reduce(worse).map(|all| (name.to_owned(), all)));
    if each.len() > 1 {
        let columns = drawn.columns.iter().zip(each);
        loss.extend(columns.map(|(c, value)| (format!("{name}.{}", c.name()), *value)));
    }
}

/// How far counts estimated by the inverse are off, as shares of the true ones, on average
/// over the values that occur; nothing if a matrix has no inverse.
fn reconstruction_error(
    column: &DrawnColumn,
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
