//! Rows whose spreads are scaled by their own neighbours: who could have been published with
//! them.
//!
//! A row's noise is known in full, so the company that anybody would have with it can be
//! counted. Somebody who has just enough, and would not with a little less, is a candidate:
//! publishers take the smallest spread.

use rayon::prelude::*;

use crate::audit::noisy::loose::{CalibrationScores, ROUNDING, RowsOfKind};
use crate::audit::noisy::shape;
use crate::audit::noisy::{Axes, LooseFindings, NoisyRows};
use crate::table::Numbers;
use crate::watch::Watched;

/// The most published rows that are looked at.
const SAMPLE: f64 = 300.0;

/// So many true rows near a published one are tried.
const NEAR: usize = 64;

/// How much more than the smallest spread may be published.
const ABOVE: f64 = 1.013;

/// Looks at a group; `part` of all rows are in it.
pub(crate) fn look(
    view: Watched<'_, NoisyRows>,
    numbers: &Numbers,
    wishes: &[f64],
    (group, columns, part): (&RowsOfKind, &[usize], f64),
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
    let looked: Vec<(f64, bool, usize)> = group
        .published
        .par_iter()
        .step_by(step)
        .map(|published| {
            if view.watch.is_cancelled() {
                return (0.0, true, 0);
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
            let (mut most, mut enough, mut candidates) = (0.0f64, false, 0);
            for (_, row) in near {
                let need = wishes[group.rows[row] as usize];
                let with = company(row, 0);
                most = most.max(with);
                if with >= need * (1.0 - 10.0 * ROUNDING) {
                    enough = true;
                    let without = company(row, 1);
                    candidates += usize::from(without < need || without >= with);
                }
            }
            (most, enough, candidates)
        })
        .collect();
    for (most, enough, candidates) in looked {
        found.smallest = found.smallest.min(most);
        found.at_risk += u64::from(!enough) * step as u64;
        scores.add(candidates);
    }
}
