//! The values that cells of a column may stand for, as windows of values in order.

use crate::estimate::evidence::cells::{ColumnCells, Meaning};
use crate::estimate::evidence::lattice::Lattice;
use crate::estimate::learn::latent::margin::{ColumnMargin, pieces, reach, unknown};
use crate::estimate::learn::latent::read::{LearnedValues, cut, even_over};
use crate::hierarchy::Grid;

/// A cell's first value, how likely it is given each from there on, and how many values are in
/// its first and last step.
pub(super) type Window = (usize, Vec<f64>, Option<(usize, usize)>);

/// What the cells of a column stand for, in order.
pub(super) struct CellWindows {
    pub(super) values: LearnedValues,
    pub(super) even: Vec<f64>,
    pub(super) windows: Vec<Window>,
}

pub(super) fn of_words(own: &ColumnCells, n_values: usize) -> CellWindows {
    let plain = |meaning: &Meaning| -> Option<Window> {
        let Meaning::Values(values) = meaning else { return None };
        let low = values.iter().map(|(code, _)| *code as usize).min()?;
        let high = values.iter().map(|(code, _)| *code as usize).max()?;
        let mut window = vec![0.0; high - low + 1];
        values.iter().for_each(|(code, _)| window[*code as usize - low] = 1.0);
        let whole = window.len() == values.len() && window.len() > 1;
        Some((low, window, whole.then_some((1, 1))))
    };
    let windows = with_others(own, n_values, plain);
    let even = vec![1.0 / n_values.max(1) as f64; n_values];
    CellWindows { values: LearnedValues::Words, even, windows }
}

pub(super) fn of_numbers(
    own: &ColumnCells,
    lattice: &Lattice,
    ends: Option<&Option<Grid>>,
    margin: Option<&ColumnMargin<'_>>,
) -> (CellWindows, Vec<(f64, f64)>) {
    let step = |number: f64| -> (f64, f64) {
        let grid = ends.and_then(Option::as_ref);
        let span = grid.and_then(|grid| grid.step_around(number / lattice.scale));
        match span {
            // The first number of the step, and the last.
            Some((from, to)) => (lattice.around(from).0 + 1.0, lattice.around(to).0),
            None => (number, number),
        }
    };
    let mut starts = Vec::new();
    for meaning in own.meanings.iter() {
        if let Some((low, high)) = reach(meaning) {
            starts.extend([low, high + 1.0, step(low).1 + 1.0, step(high).0]);
        }
    }
    for entry in margin.iter().flat_map(|margin| margin.entries) {
        starts
            .extend(pieces(entry).iter().flat_map(|(low, high, _)| [*low, high + 1.0]));
    }
    let stretches = cut(lattice, starts);
    let plain = |meaning: &Meaning| -> Option<Window> {
        if let Meaning::Missing = meaning {
            return Some((stretches.len(), vec![1.0], None));
        }
        let (low, high) = reach(meaning)?;
        let missing = unknown(meaning) > 0.0;
        let first = stretches.partition_point(|(_, to)| *to < low);
        let last = stretches.partition_point(|(from, _)| *from <= high);
        let met = &stretches[first..last];
        let covered = met
            .iter()
            .map(|(from, to)| (to.min(high) - from.max(low) + 1.0) / (to - from + 1.0));
        let mut window: Vec<f64> = covered.collect();
        let (first_step, last_step) = (step(low), step(high));
        let known = !missing && first_step.1 < last_step.0;
        let ends = known.then(|| {
            let in_first = met.iter().filter(|(_, to)| *to <= first_step.1).count();
            let in_last = met.iter().filter(|(from, _)| *from >= last_step.0).count();
            (in_first, in_last)
        });
        if missing {
            window.resize(stretches.len() - first, 0.0);
            window.push(1.0);
        }
        Some((first, window, ends.filter(|(a, b)| *a > 0 && *b > 0)))
    };
    let windows = with_others(own, stretches.len() + 1, plain);
    let even = even_over(&stretches);
    let values = LearnedValues::Numbers(stretches.clone());
    (CellWindows { values, even, windows }, stretches)
}

/// The windows of all cells; what is like others may be all that they may be.
fn with_others(
    own: &ColumnCells,
    n_values: usize,
    plain: impl Fn(&Meaning) -> Option<Window>,
) -> Vec<Window> {
    let found: Vec<Option<Window>> = own.meanings.iter().map(plain).collect();
    let windows = own.meanings.iter().zip(&found).map(|(meaning, window)| {
        let mut all = vec![0f64; n_values];
        match (window, meaning) {
            (Some(window), _) => return window.clone(),
            (None, Meaning::Like(others)) => {
                for (other, _) in others {
                    let Some((first, window, _)) = &found[*other as usize] else {
                        continue;
                    };
                    let values = all[*first..].iter_mut().zip(window);
                    values.for_each(|(all, own)| *all = all.max(*own));
                }
            }
            (None, _) => all.fill(1.0),
        }
        (0, all, None)
    });
    windows.collect()
}
