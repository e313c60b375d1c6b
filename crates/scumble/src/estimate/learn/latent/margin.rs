//! How often the values of a column occur, where the release says so: what was learned starts
//! from that, and keeps to it.
//!
//! # Limits
//! Only where no row was left out, since shares are of the table, and what is learned is of the
//! published rows.

use crate::estimate::evidence::Evidence;
use crate::estimate::evidence::cells::Meaning;

/// How often the values of a column occur in the published rows.
pub(crate) struct ColumnMargin<'a> {
    /// What each entry stands for, and how many rows it is of.
    pub(crate) entries: &'a [Meaning],
    pub(crate) rows: &'a [u64],
}

impl ColumnMargin<'_> {
    pub(super) fn of_words(&self, n_values: usize) -> Vec<f64> {
        let mut shares = vec![0.0; n_values];
        for (entry, rows) in self.entries.iter().zip(self.rows) {
            if let Meaning::Values(values) = entry {
                for (code, chance) in values {
                    shares[*code as usize] += *rows as f64 * chance;
                }
            }
        }
        normal(shares)
    }

    /// Over stretches of numbers, and "not known" behind them.
    pub(super) fn of_stretches(&self, stretches: &[(f64, f64)]) -> Vec<f64> {
        let mut shares = vec![0.0; stretches.len() + 1];
        for (entry, rows) in self.entries.iter().zip(self.rows) {
            let rows = *rows as f64;
            for (low, high, chance) in pieces(entry) {
                for (share, (from, to)) in shares.iter_mut().zip(stretches) {
                    let both = (to.min(high) - from.max(low) + 1.0).max(0.0);
                    *share += rows * chance * both / (high - low + 1.0);
                }
            }
            shares[stretches.len()] += rows * unknown(entry);
        }
        normal(shares)
    }
}

/// The pieces of a cell of numbers, with the probability of each.
pub(super) fn pieces(meaning: &Meaning) -> Vec<(f64, f64, f64)> {
    match meaning {
        Meaning::Numbers { low, high, missing } => {
            let n = high - low + 1.0;
            vec![(*low, *high, if *missing { n / (n + 1.0) } else { 1.0 })]
        }
        Meaning::Pieces { pieces, .. } => pieces.clone(),
        _ => Vec::new(),
    }
}

/// How likely a cell of numbers stands for "not known".
pub(super) fn unknown(meaning: &Meaning) -> f64 {
    match meaning {
        Meaning::Numbers { low, high, missing: true } => 1.0 / (high - low + 2.0),
        Meaning::Pieces { missing, .. } => *missing,
        Meaning::Missing => 1.0,
        _ => 0.0,
    }
}

/// Made to add up to 1.
fn normal(mut shares: Vec<f64>) -> Vec<f64> {
    let all: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= all.max(f64::MIN_POSITIVE));
    shares
}

impl Evidence {
    /// How often the values of a column occur in the published rows, if the release says so of
    /// the table and no row was left out of it.
    pub(super) fn margin(&self, name: &str) -> Option<ColumnMargin<'_>> {
        let own = self.margins.iter().find(|own| own.columns[0].name == name);
        let own = own.filter(|_| self.left_out == 0.0)?;
        Some(ColumnMargin { entries: &own.cells[0].meanings, rows: &own.rows })
    }
}

/// The least and the largest number of a cell, as it is published.
pub(super) fn reach(meaning: &Meaning) -> Option<(f64, f64)> {
    let pieces = pieces(meaning);
    let low = pieces.iter().map(|piece| piece.0).reduce(f64::min)?;
    Some((low, pieces.iter().map(|piece| piece.1).reduce(f64::max)?))
}
