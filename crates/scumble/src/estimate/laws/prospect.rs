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
use crate::estimate::laws::numbers::{Blurred, Over, PosteriorCells};
use crate::estimate::laws::tally::Tally;
use crate::estimate::laws::valuation::{Given, OwnNumber, Valuation};
use crate::estimate::laws::worth::Worth;

/// What rows of a class are worth, whatever their numbers are.
pub(crate) struct Prospects<'a> {
    pub(crate) subtables: Vec<u32>,
    pub(crate) joint: Joint<'a>,
    /// The cells of the grid in which rows may count.
    cells: PosteriorCells,
    pub(crate) answers: Vec<Prospect>,
}

/// What rows of a class are worth for an answer.
pub(crate) struct Prospect {
    pub(crate) key: Vec<u32>,
    /// Whether it is the same in all cells.
    whole: bool,
    /// The places of cells among those of all answers, and the worth there.
    worths: Vec<(usize, Worth)>,
    /// Whether something was taken from other rows.
    pub(crate) guessed: bool,
    /// Whether true drawn values make a difference.
    pub(crate) uneven: bool,
}

/// First and second moment of what a row adds, the number it adds in any case taken away, for
/// one combination of drawn values.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowMoments {
    pub(crate) count: f64,
    pub(crate) sum: f64,
    pub(crate) square: f64,
}

impl RowMoments {
    /// The same with a number that is added if the row counts.
    pub(crate) fn shifted(self, number: f64) -> Self {
        let Self { count, sum, square } = self;
        Self {
            count,
            sum: sum + number * count,
            square: square + 2.0 * number * sum + number * number * count,
        }
    }

    /// What a row adds if nothing was drawn.
    pub(crate) fn tally(self) -> Tally {
        let Self { count, sum, square } = self;
        let spread = square - sum * sum;
        Tally {
            count,
            sum,
            count_variance: count * (1.0 - count),
            // What is left by rounding.
            sum_variance: if spread > 1e-13 * square { spread } else { 0.0 },
            covariance: sum * (1.0 - count),
            ..Tally::default()
        }
    }
}

/// What is found out about the numbers of a row.
#[derive(Default)]
pub(crate) struct RowLaw {
    overs: Vec<Over>,
    scratch: Vec<Vec<Over>>,
    /// The number that it adds if it counts.
    pub(crate) number: f64,
    /// The variance of that as far as it is noise.
    noise: f64,
    /// By how much differences are to be scaled.
    scale: f64,
}

impl<'a> Valuation<'_, 'a> {
    /// What rows of the class of `entry` are worth, with a value in the column that stands
    /// apart, and numbers missing in these cuts.
    pub(crate) fn prospects(
        &self,
        entry: usize,
        code: Option<u32>,
        missing: Option<&[bool]>,
    ) -> Result<Prospects<'a>> {
        let (subtables, joint) = self.joint(entry)?;
        let mut cells = PosteriorCells::default();
        let mut answers: Vec<Prospect> = Vec::new();
        let mut n_cells = 0;
        for cell in 0..self.grid.len() {
            if missing.is_some_and(|missing| !self.fits(cell, missing)) {
                continue;
            }
            n_cells += 1;
            let worths =
                self.enumerate(entry, &subtables, &joint, Given { cell, code })?;
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
        law: &mut RowLaw,
    ) {
        (law.number, law.noise, law.scale) = (0.0, 0.0, 1.0);
        let mut added = None;
        match (&self.own, numbers) {
            (OwnNumber::Kept(place, numbers), _) => {
                let code = self.question.evidence.columns[*place].codes[entry];
                law.number = numbers[code as usize];
            }
            (OwnNumber::Cut(cut), Some((blurred, row))) => {
                added = Some(*cut);
                let column = self.cuts[*cut].column;
                (law.number, law.noise) = blurred.number(row, column);
                law.scale = blurred.lattice(column).scale;
            }
            (OwnNumber::Nought | OwnNumber::Cut(_), _) => {}
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

    /// What a row adds given its drawn values, without its own number.
    pub(crate) fn moments(
        &self,
        answer: &Prospect,
        law: &RowLaw,
        drawn: usize,
    ) -> RowMoments {
        let mut moments = RowMoments::default();
        let scale = law.scale;
        for (place, worth) in &answer.worths {
            let count = worth.count[drawn];
            let over = match answer.whole {
                true => {
                    let second = law.noise * scale * scale;
                    Over { mass: 1.0, first: 0.0, second }
                }
                false => law.overs[*place],
            };
            moments.count += over.mass * count;
            match self.own {
                OwnNumber::Nought => {
                    moments.sum += over.mass * worth.sum[drawn];
                    moments.square += over.mass * worth.square[drawn];
                }
                // The number that it adds in any case is left out here.
                OwnNumber::Kept(..) => {}
                OwnNumber::Cut(_) => {
                    moments.sum += over.first * count / scale;
                    moments.square += over.second * count / (scale * scale);
                }
            }
        }
        moments.count = moments.count.clamp(0.0, 1.0);
        moments
    }

    /// Whether a row counts for certain, and whether it may.
    pub(crate) fn limits(&self, answer: &Prospect, law: &RowLaw) -> (bool, bool) {
        if answer.whole {
            let worth = &answer.worths[0].1;
            return (!worth.open && !answer.uneven, true);
        }
        let mass = |(place, _): &(usize, Worth)| law.overs[*place].mass;
        let sure = answer.worths.iter().filter(|(_, worth)| !worth.open).map(mass);
        let sure = !answer.guessed && sure.sum::<f64>() == 1.0;
        (sure, answer.guessed || answer.worths.iter().any(|own| mass(own) > 0.0))
    }
}
