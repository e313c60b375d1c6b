//! Cuts for a promise that does not survive merging: a part that fails is cut further.
//!
//! # Guarantee
//! Every group of the result keeps all promises, r-robustness too, and at most so many rows
//! are left out as the task allows.
//!
//! *Proof.* A part becomes a group in one place only, `cut_all`, which is given parts that
//! keep everything and takes a cut only if both sides do (`cut`). A part that fails is cut in
//! two, or left out. ∎
//!
//! # Limits
//! Greedy, with bounded effort: of a column only the [`MOST_TRIED`] cuts nearest to the chosen
//! one are tried; of a large part that fails one cut, of a small one a cut of each column,
//! [`MOST_PARTS`] parts in all. So "no group was found" does not prove that there is none.
//! Which rows are left out depends on their values.
//!
//! # Cost
//! That of Mondrian, and of judging each part that is tried.
//!
//! # Source
//! Ours.

use crate::error::{Error, Result};
use crate::method::mondrian::{Cutter, Piece, SortedTuples, ValueChoice, append};
use crate::table::TupleId;

/// So many cuts of a column are tried for one that both sides survive.
const MOST_TRIED: usize = 8;

/// Of a part with more rows that fails, one cut is followed.
const SMALL_PART: u64 = 64;

/// So many parts are followed below a small one.
const MOST_PARTS: usize = 200;

/// What became of a part that fails.
struct Descended {
    parts: Vec<Piece>,
    /// How many of its rows are left out.
    left: u64,
}

impl Cutter<'_> {
    /// Cuts until every group keeps everything; the first of the parts is the whole.
    pub(super) fn cut_robust(&self, tuples: Vec<TupleId>) -> Result<Vec<Piece>> {
        let n_rows = self.rows(&tuples);
        let Descended { parts, left } = self.complete(tuples, None, &mut 0)?;
        // What groups are compared with, and who is not published, would change.
        let promises = self.task.promises;
        let fixed = promises.look_at_whole() || promises.look_at_people();
        let limit = if fixed { 0 } else { self.task.limit };
        if left > limit || (left == n_rows && n_rows > 0) {
            return Err(self.unplaced(left, n_rows, fixed));
        }
        Ok(parts)
    }

    fn rows(&self, tuples: &[TupleId]) -> u64 {
        tuples.iter().map(|tuple| self.task.census.rows[*tuple]).sum()
    }

    fn is_robust(&self, tuples: &[TupleId]) -> bool {
        self.robust.iter().all(|column| column.hold(self.task.census, tuples))
    }

    /// The place of the value to cut before, so that both sides are robust, too.
    pub(super) fn robust_place(
        &self,
        sorted: &SortedTuples,
        mut cuts: Vec<(bool, u64)>,
    ) -> Option<usize> {
        for _ in 0..MOST_TRIED {
            if self.watch.is_cancelled() {
                return None;
            }
            let place = self.choose(sorted, &cuts, self.choice.value)?;
            let (below, rest) = sorted.tuples.split_at(sorted.values[place].1);
            if self.is_robust(below) && self.is_robust(rest) {
                return Some(place);
            }
            cuts[place - 1].0 = false;
        }
        None
    }

    /// Brings a part to keep everything; `budget` is how many parts may still be followed
    /// below a small one.
    fn complete(
        &self,
        tuples: Vec<TupleId>,
        last: Option<usize>,
        budget: &mut usize,
    ) -> Result<Descended> {
        self.watch.check()?;
        if self.is_robust(&tuples) {
            return Ok(Descended { parts: self.cut_all(tuples, last)?, left: 0 });
        }
        if let Some((column, code, below, rest)) = self.cut(&tuples, last) {
            let mut parts = vec![Piece::LeftOut];
            let below = append(&mut parts, self.cut_all(below, Some(column))?);
            let rest = append(&mut parts, self.cut_all(rest, Some(column))?);
            parts[0] = Piece::Cut { column, code, below, rest };
            return Ok(Descended { parts, left: 0 });
        }
        let n_rows = self.rows(&tuples);
        let is_large = n_rows > SMALL_PART;
        // Whatever is asked for, halves: else the way down could be long.
        let halves = ValueChoice::Balanced;
        let mut best = Descended { parts: vec![Piece::LeftOut], left: n_rows };
        for column in self.order(&tuples, last) {
            let sorted = self.sort(&tuples, column);
            let cuts = self.allowed(&sorted);
            let Some(place) = self.choose(&sorted, &cuts, halves) else { continue };
            let (column, code, below, rest) = sorted.cut(column, place);
            let mut parts = vec![Piece::LeftOut];
            let mut left = 0;
            let mut places = [0; 2];
            for (place, side) in places.iter_mut().zip([below, rest]) {
                // A small part of a large one begins anew.
                let mut own = MOST_PARTS;
                let budget = if is_large { &mut own } else { &mut *budget };
                *budget = budget.saturating_sub(1);
                let side = self.complete(side, Some(column), budget)?;
                left += side.left;
                *place = append(&mut parts, side.parts);
            }
            let [below, rest] = places;
            parts[0] = Piece::Cut { column, code, below, rest };
            if left < best.left {
                best = Descended { parts, left };
            }
            if best.left == 0 || is_large || *budget == 0 {
                break;
            }
        }
        Ok(best)
    }

    /// That rows are over for which no group was found.
    fn unplaced(&self, left: u64, n_rows: u64, fixed: bool) -> Error {
        let mut titles: Vec<String> = Vec::new();
        for column in self.robust {
            let title = format!("{}-robustness", column.robustness.r());
            if !titles.contains(&title) {
                titles.push(title);
            }
        }
        titles.extend(self.task.promises.iter().map(|promise| promise.title()));
        let mut reason = format!("no group was found for {left} of {n_rows} rows");
        let hopeless = self.robust.iter().map(|c| c.hopeless(self.task.census)).max();
        if let Some(hopeless @ 1..) = hopeless {
            reason.push_str(&format!(
                "; of {hopeless} rows a value is believed with more than 1/r from the \
                 start, and these can hardly be hidden"
            ));
        }
        let share = (1100.0 * left as f64 / n_rows.max(1) as f64).ceil() / 1000.0;
        let leave_out = match share < 1.0 && !fixed {
            true => format!(
                ", `suppression = {share}` (who is missing from the release is then known \
                 to be one of these)"
            ),
            false => String::new(),
        };
        Error::unsatisfiable(titles.join(" and "), reason).with_hint(format!(
            "a smaller `r`, fewer or other `signatures`{leave_out}, or values apart from \
             the rows (`robust`)"
        ))
    }
}
