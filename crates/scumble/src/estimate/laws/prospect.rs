//! What a single row adds to an answer: worths of the cells its numbers may be in, weighed
//! with how likely they are there.
//!
//! # Guarantee
//! Numbers of a row are independent of its other cells given their classes. So the first and
//! second moment of what it adds, given its true drawn values, are sums over cells of the
//! grid: the probability of the cell, times the moments of the row's other cells there
//! (`worth.rs`). Where the cell makes no difference, the published number is added as it is,
//! with the variance of its noise: that is right on average whatever the data.
//!
//! # Cost
//! For each class of rows and answer one enumeration a cell; for each row its posterior.

use crate::error::Result;
use crate::estimate::laws::joint::Joint;
use crate::estimate::laws::moments::{RowMoments, add_times};
use crate::estimate::laws::numbers::{Blurred, GridCells, LearnedCuts, Over};
use crate::estimate::laws::valuation::{Added, Given, Valuation};
use crate::estimate::laws::worth::Worth;

/// What rows of a class are worth, whatever their numbers are.
pub(crate) struct Prospects<'a> {
    pub(crate) subtables: Vec<u32>,
    pub(crate) joint: Joint<'a>,
    /// The cells of the grid in which rows may count.
    cells: GridCells,
    pub(crate) answers: Vec<Prospect>,
}

/// What rows of a class are worth for an answer.
pub(crate) struct Prospect {
    pub(crate) key: Vec<u32>,
    /// Whether it is the same in all cells.
    pub(crate) whole: bool,
    /// The places of cells among those of all answers, and the worth there.
    worths: Vec<(usize, Worth)>,
    /// Whether something was taken from other rows.
    pub(crate) guessed: bool,
    /// Whether true drawn values make a difference.
    pub(crate) uneven: bool,
}

/// What is found out about the numbers of a row.
#[derive(Default)]
pub(crate) struct RowPosterior {
    overs: Vec<Over>,
    scratch: Vec<Vec<Over>>,
    /// The number that it adds if it counts.
    pub(crate) number: f64,
    /// The variance of that as far as it is noise.
    noise: f64,
    /// By how much differences are to be scaled.
    scale: f64,
    /// Whether published numbers say nothing of this row, only of its group.
    redrawn: bool,
    /// What each fit learned of them; nothing if none did.
    by_fit: Vec<Vec<Over>>,
}

impl Prospects<'_> {
    /// What rows are worth for an answer in a cell of the grid.
    pub(crate) fn worth<'p>(
        &self,
        answer: &'p Prospect,
        cell: usize,
    ) -> Option<&'p Worth> {
        if answer.whole {
            return answer.worths.first().map(|(_, worth)| worth);
        }
        let place = self.cells.place(cell)?;
        let found = answer.worths.binary_search_by_key(&place, |(place, _)| *place);
        found.ok().map(|found| &answer.worths[found].1)
    }
}

impl<'a> Valuation<'_, 'a> {
    /// What rows of the class of `entry` are worth, with values in the columns that stand
    /// apart, and numbers missing in these cuts.
    pub(crate) fn prospects(
        &self,
        entry: usize,
        codes: &[u32],
        missing: Option<&[bool]>,
    ) -> Result<Prospects<'a>> {
        let subtables = self.question.subtables(entry);
        let joint = self.question.joint(&subtables)?;
        let mut cells = GridCells::default();
        let mut answers: Vec<Prospect> = Vec::new();
        let mut n_cells = 0;
        for cell in 0..self.grid.len() {
            if missing.is_some_and(|missing| !self.fits(cell, missing)) {
                continue;
            }
            n_cells += 1;
            let worths = self.enumerate(
                entry,
                &subtables,
                &joint,
                Given { cell, codes, lists: false },
            )?;
            if worths.is_empty() {
                continue;
            }
            let place = cells.len();
            cells.push(cell, &self.grid);
            for worth in worths {
                match answers.iter_mut().find(|answer| answer.key == worth.key) {
                    Some(answer) => answer.worths.push((place, worth)),
                    None => answers.push(Prospect {
                        key: worth.key.clone(),
                        whole: false,
                        worths: vec![(place, worth)],
                        guessed: false,
                        uneven: false,
                    }),
                }
            }
        }
        for answer in &mut answers {
            let first = &answer.worths[0].1;
            answer.whole = answer.worths.len() == n_cells
                && answer.worths.iter().all(|(_, worth)| worth.is_like(first));
            answer.guessed = answer.worths.iter().any(|(_, worth)| worth.guessed);
            answer.uneven = answer.worths.iter().any(|(_, worth)| !worth.is_even());
            if answer.whole {
                answer.worths.truncate(1);
            }
        }
        Ok(Prospects { subtables, joint, cells, answers })
    }

    /// Whether a row with numbers missing in these cuts can be in a cell.
    fn fits(&self, cell: usize, missing: &[bool]) -> bool {
        let classes = self.grid.classes(cell);
        let each = classes.iter().zip(&self.cuts).zip(missing);
        each.into_iter()
            .all(|((class, cut), missing)| (*class == cut.missing()) == *missing)
    }

    /// Finds out where the numbers of a row may be.
    pub(crate) fn locate(
        &self,
        numbers: Option<(&Blurred, usize)>,
        entry: usize,
        prospects: &Prospects<'_>,
        law: &mut RowPosterior,
    ) {
        (law.number, law.noise, law.scale) = (0.0, 0.0, 1.0);
        law.redrawn = numbers.is_some_and(|(blurred, _)| blurred.is_anew());
        let mut added = None;
        match (&self.added, numbers) {
            (Added::OwnKept(place, numbers), _) => {
                let code = self.question.evidence.columns[*place].codes[entry];
                law.number = numbers[code as usize];
            }
            (Added::OwnCut(cut), Some((blurred, row))) => {
                added = Some(*cut);
                let column = self.cuts[*cut].column;
                (law.number, law.noise) = blurred.number(row, column);
                law.scale = blurred.lattice(column).scale;
            }
            _ => {}
        }
        if let Some((blurred, row)) = numbers
            && prospects.answers.iter().any(|answer| !answer.whole)
        {
            blurred.posterior(
                row,
                (&self.cuts, &self.grid),
                added,
                &prospects.cells,
                &mut law.scratch,
                &mut law.overs,
            );
        }
    }

    /// Finds out where the numbers of a row may be by what was learned, after it was located.
    pub(crate) fn locate_learned(
        &self,
        (blurred, row): (&Blurred, usize),
        prospects: &Prospects<'_>,
        learned: &LearnedCuts<'_>,
        law: &mut RowPosterior,
    ) {
        law.by_fit.clear();
        if prospects.answers.iter().all(|answer| answer.whole) {
            return;
        }
        let added = match self.added {
            Added::OwnCut(cut) => Some(cut),
            _ => None,
        };
        let grid = (self.cuts.as_slice(), &prospects.cells);
        let Some(by_fit) = blurred.learned_posterior(row, grid, added, learned) else {
            return;
        };
        for (place, over) in law.overs.iter_mut().enumerate() {
            // What is certain is so, whatever was learned.
            if over.mass > 0.0 && over.mass < 1.0 {
                let mut mean = Over::default();
                by_fit.iter().for_each(|overs| mean.add(overs[place]));
                *over = mean.share_of(by_fit.len() as f64);
            }
        }
        law.by_fit = by_fit;
    }

    /// What a row adds by each fit, without drawn values.
    pub(crate) fn by_fit(
        &self,
        answer: &Prospect,
        law: &mut RowPosterior,
        sums: &mut Vec<[f64; 2]>,
    ) {
        if answer.whole || law.by_fit.is_empty() {
            return;
        }
        sums.resize(law.by_fit.len(), [0.0; 2]);
        for (number, sum) in sums.iter_mut().enumerate() {
            std::mem::swap(&mut law.overs, &mut law.by_fit[number]);
            let moments = self.moments(answer, law, 0).shifted(law.number);
            std::mem::swap(&mut law.overs, &mut law.by_fit[number]);
            add_times(sum, 1.0, moments.first());
        }
    }

    /// What a row adds given its drawn values, without its own number.
    pub(crate) fn moments(
        &self,
        answer: &Prospect,
        law: &RowPosterior,
        drawn: usize,
    ) -> RowMoments {
        let mut moments = RowMoments::default();
        let scale = law.scale;
        for (place, worth) in &answer.worths {
            let own = worth.moments[drawn];
            let over = match answer.whole {
                true => {
                    let second = law.noise * scale * scale;
                    Over { mass: 1.0, first: 0.0, second }
                }
                false => law.overs[*place],
            };
            moments.count += over.mass * own.count;
            match self.added {
                Added::Rows | Added::Numbers(..) | Added::Cells(_) => {
                    moments.sum += over.mass * own.sum;
                    moments.square += over.mass * own.square;
                }
                // The number that it adds in any case is left out here.
                Added::OwnKept(..) => {}
                Added::OwnCut(_) => {
                    moments.sum += over.first * own.count / scale;
                    moments.square += over.second * own.count / (scale * scale);
                }
            }
        }
        moments.count = moments.count.clamp(0.0, 1.0);
        moments
    }

    /// Whether a row counts for certain, and whether it may.
    pub(crate) fn limits(&self, answer: &Prospect, law: &RowPosterior) -> (bool, bool) {
        if answer.whole {
            let worth = &answer.worths[0].1;
            return (!worth.open && !answer.uneven, true);
        }
        if law.redrawn {
            return (false, true);
        }
        let mass = |(place, _): &(usize, Worth)| law.overs[*place].mass;
        let sure = answer.worths.iter().filter(|(_, worth)| !worth.open).map(mass);
        let sure = !answer.guessed && sure.sum::<f64>() == 1.0;
        (sure, answer.guessed || answer.worths.iter().any(|own| mass(own) > 0.0))
    }
}
