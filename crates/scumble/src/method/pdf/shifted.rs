//! For comparison only: the paper's weights, even ones shifted towards the table's own as
//! far as presence allows in the eyes of its adversary.

use super::existence::{Likelihood, bounds, extremes};
use super::{Pdf, PdfGroup, Range, Whose};
use crate::table::Code;

/// How far weights are shifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// As far as the existence probabilities allow.
    Exact,
    /// As far as their closed-form bounds allow (PPALM).
    Bounds,
    /// By whole steps, this many to the table's own weights, until one is too far (WPALM).
    Steps(u32),
}

/// How often the interval of the shift is halved.
const HALVINGS: usize = 40;

/// Even weights over `bases`, for each column the values below its published node, shifted
/// together towards the table's own as far as everybody's existence probability stays in
/// `range`. What is returned was itself tested, as the very floats that are published.
///
/// A group without rows of the table, or out of range whatever is published, gets even
/// weights.
///
/// # Limits
/// Everything, against an adversary who counts: the table's counts follow from the weights,
/// as even weights are public and counts are whole numbers (docs/methods.md,
/// "The counting adversary").
pub fn shifted(
    part: &PdfGroup,
    bases: &[Vec<Code>],
    range: &Range,
    shift: Shift,
) -> Vec<Pdf> {
    let scheme = ShiftScheme::new(part, bases);
    let far = if part.n_rows() == 0 { 0.0 } else { scheme.furthest(range, shift) };
    scheme.pdfs(far)
}

struct ShiftScheme<'a> {
    part: &'a PdfGroup,
    columns: Vec<ShiftedColumn>,
    n_rows: u64,
}

struct ShiftedColumn {
    /// Code and how many rows of the table have it.
    values: Vec<(Code, u64)>,
    /// For each tuple the place of its value; nothing if it is not below the node.
    place_of: Vec<Option<usize>>,
}

impl<'a> ShiftScheme<'a> {
    fn new(part: &'a PdfGroup, bases: &[Vec<Code>]) -> Self {
        let column = |(codes, base): (&Vec<Code>, &Vec<Code>)| {
            let mut values: Vec<(Code, u64)> =
                base.iter().map(|code| (*code, 0)).collect();
            values.sort_unstable();
            values.dedup();
            let place =
                |code: &Code| values.binary_search_by_key(code, |value| value.0).ok();
            let places: Vec<Option<usize>> = codes.iter().map(place).collect();
            for (place, rows) in places.iter().zip(&part.rows) {
                if let Some(place) = place {
                    values[*place].1 += rows;
                }
            }
            ShiftedColumn { values, place_of: places }
        };
        let columns = part.codes.iter().zip(bases).map(column).collect();
        Self { part, columns, n_rows: part.n_rows() }
    }

    /// The largest shift found that keeps presence in range.
    fn furthest(&self, range: &Range, shift: Shift) -> f64 {
        let holds = |far: f64| self.holds(far, range, shift);
        if let Shift::Steps(steps) = shift {
            let far = |step: u32| f64::from(step) / f64::from(steps);
            let safe = (1..=steps).map(far).take_while(|far| holds(*far));
            return safe.last().unwrap_or(0.0);
        }
        if holds(1.0) {
            return 1.0;
        }
        // Presence need not change one way only; `safe` was tested in any case, save at
        // the start, where everybody is equally likely.
        let (mut safe, mut too_far) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = (safe + too_far) / 2.0;
            if holds(middle) {
                safe = middle;
            } else {
                too_far = middle;
            }
        }
        safe
    }

    fn holds(&self, far: f64, range: &Range, shift: Shift) -> bool {
        let likelihoods = self.likelihoods(far);
        let ends = match shift {
            Shift::Bounds => bounds(&likelihoods, self.n_rows),
            Shift::Exact | Shift::Steps(_) => extremes(&likelihoods, self.n_rows),
        };
        ends.is_some_and(|(least, most)| range.holds(least) && range.holds(most))
    }

    /// How likely each tuple is under the weights that would be published.
    fn likelihoods(&self, far: f64) -> Vec<Likelihood> {
        let mut likelihoods: Vec<Likelihood> = self
            .part
            .people
            .iter()
            .map(|people| Likelihood { ln: 0.0, people: *people })
            .collect();
        for column in &self.columns {
            let ln: Vec<f64> =
                self.weights(column, far).map(|weight| weight.ln()).collect();
            for (likelihood, place) in likelihoods.iter_mut().zip(&column.place_of) {
                likelihood.ln += place.map_or(f64::NEG_INFINITY, |place| ln[place]);
            }
        }
        likelihoods
    }

    fn pdfs(&self, far: f64) -> Vec<Pdf> {
        let pdf = |column: &ShiftedColumn| {
            let codes = column.values.iter().map(|(code, _)| *code);
            let values = codes.zip(self.weights(column, far)).collect();
            Pdf { values, whose: Whose::Shifted }
        };
        self.columns.iter().map(pdf).collect()
    }

    fn weights(&self, column: &ShiftedColumn, far: f64) -> impl Iterator<Item = f64> {
        let n_rows = self.n_rows.max(1) as f64;
        let even = 1.0 / column.values.len() as f64;
        column.values.iter().map(move |(_, rows)| {
            let own = *rows as f64 / n_rows;
            // At the end exactly the table's own: even + (own - even) is not always own.
            if far == 1.0 { own } else { even + far * (own - even) }
        })
    }
}
