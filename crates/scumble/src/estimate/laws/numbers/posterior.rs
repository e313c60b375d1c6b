//! How likely the numbers of a row are in each cell of a grid of ranges, given what was
//! published in their place.

use crate::estimate::laws::numbers::law::{Over, over, variance};
use crate::estimate::laws::numbers::{Blurred, Noise};
use crate::estimate::query::ranges::{ClassGrid, CutColumn};

/// Cells of a grid, in order, each with its classes.
#[derive(Debug, Default)]
pub(crate) struct GridCells {
    numbers: Vec<usize>,
    classes: Vec<Vec<usize>>,
}

impl GridCells {
    /// Adds a cell, which must come after those before it.
    pub(crate) fn push(&mut self, cell: usize, grid: &ClassGrid) {
        self.numbers.push(cell);
        self.classes.push(grid.classes(cell));
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The classes of each cell.
    pub(crate) fn classes(&self) -> &[Vec<usize>] {
        &self.classes
    }

    /// Where a cell stands among them.
    pub(crate) fn place(&self, cell: usize) -> Option<usize> {
        self.numbers.binary_search(&cell).ok()
    }
}

impl Blurred {
    /// For each cell, how likely the true numbers are in it, and first and second moment of
    /// the difference between true and published number of the cut `added`, into `overs`.
    pub(crate) fn posterior(
        &self,
        row: usize,
        (cuts, grid): (&[CutColumn], &ClassGrid),
        added: Option<usize>,
        cells: &GridCells,
        scratch: &mut Vec<Vec<Over>>,
        overs: &mut Vec<Over>,
    ) {
        overs.clear();
        match &self.noise {
            Noise::Straight { .. } => {
                self.along_columns(row, cuts, added, scratch);
                let shares = cells.classes.iter();
                overs.extend(shares.map(|classes| product(classes, scratch, added)));
            }
            Noise::Turned { frame_of, level_of, frames, .. } => {
                let values = self.row(row);
                let column = added.map(|number| cuts[number].column);
                overs.resize(cells.len(), Over::default());
                let frame = &frames[frame_of[row] as usize];
                let seen = frame.visit(row, values, level_of[row], |x| {
                    let classes = cuts.iter().map(|cut| cut.class_of(x[cut.column]));
                    if let Some(place) = cells.place(grid.cell(classes)) {
                        let d = column.map_or(0.0, |column| x[column] - values[column]);
                        overs[place].add(Over { mass: 1.0, first: d, second: d * d });
                    }
                });
                overs.iter_mut().for_each(|over| *over = over.share_of(seen as f64));
            }
            Noise::Anew { .. } => {
                let cell = self.cell(row, cuts, grid);
                overs.resize(cells.len(), Over::default());
                if let Some(place) = cells.place(cell) {
                    overs[place].mass = 1.0;
                }
            }
        }
    }

    /// The cell that the published numbers of a row are in.
    pub(crate) fn cell(
        &self,
        row: usize,
        cuts: &[CutColumn],
        grid: &ClassGrid,
    ) -> usize {
        let values = self.row(row);
        grid.cell(cuts.iter().map(|cut| cut.class_of(values[cut.column])))
    }

    /// Which of the columns that are cut a row has no number in; nothing if it was drawn anew,
    /// so that its own numbers say nothing.
    pub(crate) fn missing(&self, row: usize, cuts: &[CutColumn]) -> Option<Vec<bool>> {
        let values = self.row(row);
        let missing = || cuts.iter().map(|cut| values[cut.column].is_nan()).collect();
        (!self.is_anew()).then(missing)
    }

    /// For each cut and class, how likely the true number is in it.
    fn along_columns(
        &self,
        row: usize,
        cuts: &[CutColumn],
        added: Option<usize>,
        scratch: &mut Vec<Vec<Over>>,
    ) {
        let Noise::Straight { shape, spreads, box_of, boxes } = &self.noise else {
            return;
        };
        let values = self.row(row);
        let spreads = &spreads[row * values.len()..][..values.len()];
        let bounds = &boxes[box_of[row] as usize];
        scratch.resize_with(cuts.len(), Vec::new);
        for (number, (cut, overs)) in cuts.iter().zip(scratch.iter_mut()).enumerate() {
            overs.clear();
            let (z, spread) = (values[cut.column], spreads[cut.column]);
            let (low, high) = bounds[cut.column];
            if z.is_nan() {
                overs.resize(cut.classes.len(), Over::default());
                overs[cut.missing()].mass = 1.0;
                continue;
            }
            let moments = added == Some(number);
            let all = over(*shape, z, spread, (low, high), false).mass;
            overs.extend(cut.classes.iter().map(|stretches| {
                let mut sum = Over::default();
                for (from, to) in stretches {
                    let part = (from.max(low), to.min(high));
                    sum.add(over(*shape, z, spread, part, moments));
                }
                sum.share_of(all)
            }));
        }
    }

    /// The published number of a row in a column, and the variance of its noise; zero
    /// where it is missing.
    pub(crate) fn number(&self, row: usize, column: usize) -> (f64, f64) {
        let scale = self.lattices[column].scale;
        let z = self.row(row)[column];
        let variance = match &self.noise {
            _ if z.is_nan() => return (0.0, 0.0),
            Noise::Straight { shape, spreads, .. } => {
                variance(*shape, spreads[row * self.lattices.len() + column])
            }
            Noise::Turned { frame_of, level_of, frames, .. } => {
                frames[frame_of[row] as usize].variances(level_of[row])[column]
            }
            Noise::Anew { .. } => 0.0,
        };
        (z / scale, variance / (scale * scale))
    }
}

/// What a cell has if columns are independent of each other.
fn product(classes: &[usize], overs: &[Vec<Over>], added: Option<usize>) -> Over {
    let mut product = Over { mass: 1.0, ..Over::default() };
    let mut others = 1.0;
    for (number, (class, overs)) in classes.iter().zip(overs).enumerate() {
        if added == Some(number) {
            product = overs[*class];
        } else {
            others *= overs[*class].mass;
        }
    }
    let Over { mass, first, second } = product;
    Over { mass: mass * others, first: first * others, second: second * others }
}
