//! For comparison only: releases in which every row has spreads of its own, the source's
//! scheme, which is not safe. Somebody who holds the true table computes everybody's spread
//! and looks up whose was published.
//!
//! # Guarantee
//! The smallest spread of a row is found by bisection on plain sums over all rows of its
//! kind. If every published spread is at least the smallest one of its row, then also the
//! i-th smallest of all published ones is at least the i-th smallest of all computed ones;
//! that is what is checked, as nothing says which row is whose.
//!
//! # Limits
//! Of large tables a sample is looked at, and ranks are compared up to what its size allows.
//! Spreads scaled by the neighbours of each row (`local`) are checked by who could have been
//! published there.
//!
//! # Cost
//! O(n) for each row of the sample and each step of the bisection.
//!
//! # Source
//! `aggarwal2008unifying`; the attack: docs/methods.md, "The calibration attack".

use std::collections::BTreeMap;

use serde_json::json;

use crate::audit::given::canonical_number;
use crate::audit::noisy::{AlikeRows, NoisyRows, another_table, local, variances};
use crate::audit::{Attacked, detail};
use crate::error::Result;
use crate::space::FrameKind;
use crate::table::{Numbers, Reading};
use crate::watch::Watched;

/// Spreads of steps of a bisection agree to about this.
pub(crate) const ROUNDING: f64 = 1e-6;

/// What was found out.
#[derive(Debug)]
pub(crate) struct LooseFindings {
    /// The least company anybody has.
    pub(crate) smallest: f64,
    /// Rows with less than they need.
    pub(crate) at_risk: u64,
    /// Whether only a sample was looked at.
    pub(crate) sampled: bool,
    /// The attack.
    pub(crate) attack: Attacked,
    /// Whether published numbers lie around true ones as far as they should.
    pub(crate) noise_fits: bool,
}

/// True and published rows of one kind, with numbers in the same columns.
#[derive(Debug, Default)]
pub(crate) struct RowsOfKind {
    /// Rows of the table.
    pub(crate) rows: Vec<u32>,
    /// Published rows.
    pub(crate) published: Vec<u32>,
}

/// Scores of the attack, in sum.
#[derive(Debug, Default)]
pub(crate) struct CalibrationScores {
    /// People looked at.
    pub(crate) people: f64,
    /// One by the number of published rows that could be theirs.
    pub(crate) hits: f64,
    /// People with a single one.
    pub(crate) alone: f64,
    /// The largest of these shares.
    pub(crate) worst: f64,
    /// One by the number of rows without looking at ratios of spreads, where these differ.
    pub(crate) without_ratios: f64,
}

impl CalibrationScores {
    /// Counts a person whom so many published rows could be of.
    pub(crate) fn add(&mut self, candidates: usize) {
        self.people += 1.0;
        if candidates > 0 {
            self.hits += 1.0 / candidates as f64;
            self.worst = self.worst.max(1.0 / candidates as f64);
        }
        self.alone += f64::from(u8::from(candidates == 1));
    }
}

/// Rechecks and attacks a release without `strict`.
pub(crate) fn recheck(
    view: Watched<'_, NoisyRows>,
    readings: &[Reading],
    numbers: &Numbers,
    wishes: &[f64],
) -> Result<LooseFindings> {
    let groups = groups(view, readings, numbers)?;
    let mut scores = CalibrationScores::default();
    let mut found = LooseFindings {
        smallest: f64::INFINITY,
        at_risk: 0,
        sampled: false,
        attack: calibration(&CalibrationScores::default(), numbers.n_rows),
        noise_fits: true,
    };
    let rows = (0..numbers.n_rows).map(|row| numbers.row(row));
    let table = variances(view.note.columns.len(), rows);
    let everybody: usize = groups.iter().map(|group| group.rows.len()).sum();
    for (number, group) in (0u64..).zip(&groups) {
        view.watch.check()?;
        let first = numbers.row(group.rows[0] as usize);
        let n_columns = view.note.columns.len();
        let columns: Vec<usize> =
            (0..n_columns).filter(|c| !first[*c].is_nan()).collect();
        if view.note.frame == FrameKind::Local {
            let part = group.rows.len() as f64 / everybody as f64;
            local::look(
                view,
                numbers,
                wishes,
                (group, &columns, part),
                &table,
                &mut found,
                &mut scores,
            );
            continue;
        }
        let kind = AlikeRows::of(view, numbers, wishes, (group, columns), &table);
        found.sampled |= kind.sample.len() < group.rows.len();
        kind.look(number, &mut found, &mut scores);
    }
    view.watch.check()?;
    found.attack = calibration(&scores, numbers.n_rows);
    Ok(found)
}

fn calibration(scores: &CalibrationScores, n_rows: usize) -> Attacked {
    let people = scores.people.max(1.0);
    let mut detail = detail(json!({
        "alone": scores.alone / people, "people": scores.people,
    }));
    if scores.without_ratios > 0.0 {
        detail.insert("without_ratios".into(), json!(scores.without_ratios / people));
    }
    Attacked {
        name: "calibration".to_owned(),
        success: scores.hits / people,
        chance: 1.0 / n_rows.max(1) as f64,
        worst: scores.worst,
        detail,
    }
}

/// Divides true and published rows by exact cells and missing numbers.
fn groups(
    view: Watched<'_, NoisyRows>,
    readings: &[Reading],
    numbers: &Numbers,
) -> Result<Vec<RowsOfKind>> {
    let key = |cells: &[Box<str>], readings: &[Reading], row: &[f64]| {
        let cells = cells.iter().zip(readings).map(|(cell, reading)| {
            canonical_number(reading, cell).unwrap_or_else(|| cell.to_string())
        });
        let missing: Vec<bool> = row.iter().map(|value| value.is_nan()).collect();
        (cells.collect::<Vec<String>>(), missing)
    };
    let n_columns = view.note.columns.len();
    let mut groups: BTreeMap<_, RowsOfKind> = BTreeMap::new();
    for row in 0..numbers.n_rows {
        let cells = &numbers.kind_cells[numbers.kinds[row] as usize];
        let key = key(cells, readings, &numbers.row(row)[..n_columns]);
        groups.entry(key).or_default().rows.push(row as u32);
    }
    let plain = readings.iter().map(|r| Reading { date_format: None, ..r.clone() });
    let plain: Vec<Reading> = plain.collect();
    for row in 0..view.n_rows() {
        let cells = &view.numbers.kind_cells[view.numbers.kinds[row] as usize];
        let key = key(cells, &plain, view.row(row));
        groups.entry(key).or_default().published.push(row as u32);
    }
    let mut groups: Vec<RowsOfKind> = groups.into_values().collect();
    if groups.iter().any(|group| group.published.len() > group.rows.len()) {
        return Err(another_table());
    }
    groups.retain(|group| !group.published.is_empty());
    Ok(groups)
}
