//! Rows whose spreads are scaled by their own neighbours: who could have been published with
//! them.
//!
//! A row's noise is known in full, so the company that anybody would have with it can be
//! counted. Somebody who has just enough, and would not with a little less, is a candidate:
//! publishers take the smallest spread. And spreads have the ratios of how far the rows around
//! a person lie apart along each column, which anybody computes who holds the table: of the
//! candidates those count whose neighbours have these ratios, if there are any.

use rayon::prelude::*;

use crate::audit::noisy::loose::{CalibrationScores, ROUNDING, RowsOfKind};
use crate::audit::noisy::shape;
use crate::audit::noisy::{Axes, LooseFindings, NoisyRows};
use crate::space::Space;
use crate::table::Numbers;
use crate::watch::Watched;

/// The most published rows that are looked at.
const SAMPLE: f64 = 300.0;

/// So many true rows near a published one are tried.
const NEAR: usize = 64;

/// How much more than the smallest spread may be published.
const ABOVE: f64 = 1.013;

/// Ratios of spreads agree to about this.
const RATIO: f64 = 1e-6;

/// Looks at a group; `part` of all rows are in it, and `table` has the variances of the
/// columns in the whole table.
pub(crate) fn look(
    view: Watched<'_, NoisyRows>,
    numbers: &Numbers,
    wishes: &[f64],
    (group, columns, part): (&RowsOfKind, &[usize], f64),
    table: &[f64],
    found: &mut LooseFindings,
    scores: &mut CalibrationScores,
) {
    let axes = Axes::straight(&view.note, columns.to_vec());
    let dims = axes.dims();
    let mut truth = Vec::new();
    for row in &group.rows {
        axes.place(numbers.row(*row as usize), &mut truth);
    }
    let pairs = 2.0 * NEAR as f64 * group.rows.len() as f64;
    let most = (1e9 / pairs).clamp(10.0, SAMPLE) * part;
    let step = (group.published.len() as f64 / most.max(1.0)).ceil().max(1.0) as usize;
    found.sampled = true;
    let around = Around::of(&truth, columns, table);
    let looked: Vec<(f64, bool, [usize; 2])> = group
        .published
        .par_iter()
        .step_by(step)
        .map(|published| {
            if view.watch.is_cancelled() {
                return (0.0, true, [0; 2]);
            }
            let of =
                |all: &[f64]| columns.iter().map(|c| all[*c]).collect::<Vec<f64>>();
            let place = of(view.row(*published as usize));
            let spreads = of(view.spreads(*published as usize));
            let less = spreads.iter().zip(&axes.cells).map(|(spread, cell)| {
                let steps =
                    if shape::of(axes.shape).in_steps() { 2.0 * cell } else { 0.0 };
                (spread / ABOVE - steps).max(0.0)
            });
            let laws = [axes.law(&spreads), axes.law(&less.collect::<Vec<f64>>())];
            let rows = || truth.chunks_exact(dims.max(1)).enumerate();
            let far = |row: &[f64]| -> f64 {
                let axes = row.iter().zip(&place).zip(&spreads);
                axes.map(|((x, z), s)| if x == z { 0.0 } else { ((x - z) / s).powi(2) })
                    .sum()
            };
            let mut near: Vec<(f64, usize)> =
                rows().map(|(row, x)| (far(x), row)).collect();
            near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near.truncate(NEAR);
            let company = |row: usize, law: usize| -> f64 {
                let this = &truth[row * dims..][..dims];
                rows().map(|(_, x)| laws[law].count(this, x, f64::INFINITY)).sum()
            };
            let (mut most, mut enough, mut candidates) = (0.0f64, false, [0; 2]);
            for (_, row) in near {
                let need = wishes[group.rows[row] as usize];
                let with = company(row, 0);
                most = most.max(with);
                if with >= need * (1.0 - 10.0 * ROUNDING) {
                    enough = true;
                    let without = company(row, 1);
                    if without < need || without >= with {
                        candidates[0] += 1;
                        let fits = around.has_ratios(row, need, &spreads, &axes);
                        candidates[1] += usize::from(fits);
                    }
                }
            }
            (most, enough, candidates)
        })
        .collect();
    for (most, enough, candidates) in looked {
        found.smallest = found.smallest.min(most);
        found.at_risk += u64::from(!enough) * step as u64;
        let [by_company, by_ratios] = candidates;
        scores.without_ratios += 1.0 / by_company.max(1) as f64;
        scores.add(if by_ratios > 0 { by_ratios } else { by_company });
    }
}

/// The true rows, each among its neighbours.
struct Around<'a> {
    truth: &'a [f64],
    units: Vec<f64>,
    space: Space,
}

impl<'a> Around<'a> {
    fn of(truth: &'a [f64], columns: &[usize], table: &[f64]) -> Self {
        let units: Vec<f64> =
            columns.iter().map(|column| table[*column].sqrt()).collect();
        let unit = |unit: &f64| if *unit > 0.0 { *unit } else { 1.0 };
        let rows = truth.chunks_exact(units.len().max(1));
        let scaled =
            rows.flat_map(|row| row.iter().zip(&units).map(|(x, u)| x / unit(u)));
        let scaled: Vec<f64> = scaled.collect();
        let space = Space::new(units.len(), &scaled);
        Self { truth, units, space }
    }

    /// Whether the spreads are one multiple of how far the rows around one lie apart, as
    /// many as it needs, along every axis.
    fn has_ratios(&self, row: usize, need: f64, spreads: &[f64], axes: &Axes) -> bool {
        let dims = self.units.len();
        let near =
            self.space.nearest(self.space.point(row), (need.ceil() as usize).max(2));
        let in_steps = shape::of(axes.shape).in_steps();
        let (mut low, mut high) = (0.0f64, f64::INFINITY);
        for (axis, spread) in spreads.iter().enumerate() {
            let values = near.iter().map(|(_, other)| self.truth[other * dims + axis]);
            let own = deviation(values);
            let scale = if own > 0.0 { own } else { self.units[axis] };
            if scale <= 0.0 {
                continue;
            }
            // Sides of boxes were rounded up to an odd number of steps; one step is none.
            let cell = axes.cells[axis];
            let (least, most) = match in_steps {
                true => (spread - 2.0 * cell, spread.max(cell)),
                false => (*spread, *spread),
            };
            low = low.max(least / scale * (1.0 - RATIO));
            high = high.min(most / scale * (1.0 + RATIO));
        }
        low <= high
    }
}

/// The standard deviation of some numbers.
fn deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = values.clone().count().max(1) as f64;
    let first = values.clone().next().unwrap_or(0.0);
    let mean = values.clone().map(|value| value - first).sum::<f64>() / n;
    (values.map(|value| (value - first - mean).powi(2)).sum::<f64>() / n).sqrt()
}
