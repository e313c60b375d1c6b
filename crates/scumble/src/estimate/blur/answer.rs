//! Answers from blurred rows.

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::estimate::blur::law::{Over, over, variance};
use crate::estimate::blur::measured::Measured;
use crate::estimate::blur::{Blurred, Noise, condensed};
use crate::estimate::evidence::Nature;
use crate::estimate::perturbed::Estimate;
use crate::estimate::query::{Measure, Truth};
use crate::estimate::question::Question;
use crate::estimate::ranges::{Cut, Grid};
use crate::estimate::reconstruct::Way;
use crate::estimate::tally::{Tally, answers};

/// A question, fitted to blurred rows.
pub(super) struct Asked<'a> {
    pub(super) blurred: &'a Blurred,
    pub(super) measured: Measured,
    /// The blurred columns it is about; the one that is added up is among them.
    pub(super) cuts: Vec<Cut>,
    pub(super) grid: Grid,
    /// The place of the column that is added up among them.
    pub(super) added: Option<usize>,
    /// For each distinct row of the other columns, which answer it belongs to and what it
    /// leaves open.
    pub(super) answer_of: Vec<u32>,
    pub(super) open_of: Vec<u32>,
    /// For each thing left open, which cells satisfy the condition.
    pub(super) sets: Vec<Vec<bool>>,
}

/// What rows of the same kind, with numbers in the same columns, contribute.
struct Plan {
    open: usize,
    /// Whether they count, if that does not depend on their numbers.
    decided: Option<bool>,
    /// The cells that satisfy the condition, as classes.
    cells: Vec<Vec<usize>>,
}

impl Question<'_> {
    /// The answers, in the order of the values that are counted apart.
    pub(in crate::estimate) fn answer_blurred(
        &self,
        blurred: &Blurred,
        measure: &Measure,
        way: Way,
    ) -> Result<Vec<Estimate>> {
        if way != Way::Inverse {
            let error =
                Error::recipe("no matrix is undone, so there is no way to choose");
            return Err(error.with_hint("leave out `--way`"));
        }
        let blurry = |place: &&usize| {
            matches!(self.evidence.columns[**place].nature, Nature::Blurred(_))
        };
        if let Some(place) = self.group_by.iter().find(blurry) {
            let name = &self.evidence.columns[*place].name;
            return Err(Error::recipe(format!(
                "`{name}` is blurred: its published numbers are not groups"
            ))
            .with_hint(format!("ask for ranges: WHERE {name} BETWEEN 30 AND 39")));
        }
        let (groups, answer_of) = self.groups();
        let asked = Asked::new(self, blurred, measure, answer_of)?;
        let mut sums = vec![Tally::default(); groups.len()];
        if matches!(blurred.noise, Noise::Anew { .. }) {
            condensed::add(&asked, &mut sums);
        } else {
            asked.add(&mut sums);
        }
        let estimates = groups.iter().zip(&sums).filter_map(|(codes, sum)| {
            let values = self.group_by.iter().zip(codes).map(|(place, code)| {
                self.evidence.columns[*place].texts[*code as usize].to_string()
            });
            let listed = self.group_by.is_empty() || sum.possible > 0.0;
            if listed { sum.estimate(measure, values.collect()) } else { None }
        });
        answers(estimates.collect(), &self.group_by)
    }

    /// The answers as codes of the columns that are counted apart, in order, and the answer
    /// of each distinct row.
    fn groups(&self) -> (Vec<Vec<u32>>, Vec<u32>) {
        let columns = &self.evidence.columns;
        let codes = |entry: usize| -> Vec<u32> {
            self.group_by.iter().map(|place| columns[*place].codes[entry]).collect()
        };
        let n_entries = self.evidence.rows.len();
        let mut known: Vec<Vec<u32>> = (0..n_entries).map(codes).collect();
        let all = known.clone();
        known.sort_unstable();
        known.dedup();
        let place = |codes: &Vec<u32>| known.partition_point(|k| k < codes) as u32;
        let answer_of = all.iter().map(place).collect();
        (known, answer_of)
    }
}

impl<'a> Asked<'a> {
    fn new(
        question: &Question,
        blurred: &'a Blurred,
        measure: &Measure,
        answer_of: Vec<u32>,
    ) -> Result<Self> {
        let evidence = question.evidence;
        let measured = Measured::new(evidence, measure)?;
        let mut cuts = Vec::new();
        for column in &evidence.columns {
            let Nature::Blurred(number) = column.nature else {
                continue;
            };
            let own = |test: &usize| {
                let place = question.tests[*test].0;
                evidence.columns[place].nature == Nature::Blurred(number)
            };
            let tests = (0..question.tests.len()).filter(own);
            let tests: Vec<_> =
                tests.map(|test| (test, &question.checks[test])).collect();
            let added = matches!(measured, Measured::Blurred(m) if m == number);
            if added || !tests.is_empty() {
                let lattice = &blurred.lattices[number];
                cuts.push(Cut::new(number, lattice, &column.reading, tests));
            }
        }
        let grid = Grid::new(&cuts)?;
        let added = match measured {
            Measured::Blurred(number) => {
                cuts.iter().position(|cut| cut.column == number)
            }
            _ => None,
        };
        let mut numbers: HashMap<Vec<Truth>, u32> = HashMap::new();
        let mut sets = Vec::new();
        let mut open_of = Vec::with_capacity(evidence.rows.len());
        for entry in 0..evidence.rows.len() {
            let truths = question.truths(entry);
            let open = *numbers.entry(truths).or_insert_with_key(|truths| {
                sets.push(satisfied(question, truths, &cuts, &grid));
                sets.len() as u32 - 1
            });
            open_of.push(open);
        }
        Ok(Self { blurred, measured, cuts, grid, added, answer_of, open_of, sets })
    }

    /// Adds up what rows contribute. Shares are found on all threads and added in the order
    /// of the rows, so that the sum does not depend on the threads.
    fn add(&self, sums: &mut [Tally]) {
        let (plans, plan_of) = self.plans();
        let rows = plan_of.par_iter().enumerate();
        let shares: Vec<Tally> = rows
            .map_init(Vec::new, |scratch, (row, plan)| {
                self.share(row, &plans[*plan as usize], scratch)
            })
            .collect();
        for (share, kind) in shares.iter().zip(&self.blurred.kinds) {
            sums[self.answer_of[*kind as usize] as usize].add(share);
        }
    }

    /// How rows are treated, and how each row is.
    fn plans(&self) -> (Vec<Plan>, Vec<u32>) {
        let mut plans = Vec::new();
        let mut numbers: HashMap<(u32, Vec<bool>), u32> = HashMap::new();
        let mut plan_of = Vec::with_capacity(self.blurred.kinds.len());
        for (row, kind) in self.blurred.kinds.iter().enumerate() {
            let values = self.blurred.row(row);
            let missing = self.cuts.iter().map(|cut| values[cut.column].is_nan());
            let key = (self.open_of[*kind as usize], missing.collect());
            let plan = *numbers.entry(key).or_insert_with_key(|(open, missing)| {
                plans.push(self.plan(*open as usize, missing));
                plans.len() as u32 - 1
            });
            plan_of.push(plan);
        }
        (plans, plan_of)
    }

    fn plan(&self, open: usize, missing: &[bool]) -> Plan {
        let set = &self.sets[open];
        let (mut cells, mut n_cells) = (Vec::new(), 0);
        for (cell, satisfied) in set.iter().enumerate() {
            let classes = self.grid.classes(cell);
            let fits =
                classes.iter().zip(&self.cuts).zip(missing).all(
                    |((class, cut), missing)| (*class == cut.missing()) == *missing,
                );
            if fits {
                n_cells += 1;
                if *satisfied {
                    cells.push(classes);
                }
            }
        }
        let decided = match cells.len() {
            0 => Some(false),
            n if n == n_cells => Some(true),
            _ => None,
        };
        Plan { open, decided, cells }
    }

    fn share(&self, row: usize, plan: &Plan, scratch: &mut Vec<Vec<Over>>) -> Tally {
        match plan.decided {
            Some(false) => Tally::default(),
            Some(true) => self.whole(row),
            None => {
                let inside = match &self.blurred.noise {
                    Noise::Turned { .. } => self.tried(row, plan),
                    _ => self.multiplied(row, plan, scratch),
                };
                self.weighed(row, inside)
            }
        }
    }

    /// What a row adds that counts in any case: as published, with the variance of its noise.
    fn whole(&self, row: usize) -> Tally {
        let kind = self.blurred.kinds[row] as usize;
        let (sum, sum_variance) = match &self.measured {
            Measured::Rows => (0.0, 0.0),
            Measured::Known(numbers) => (numbers[kind], 0.0),
            Measured::Blurred(column) => {
                let scale = self.blurred.lattices[*column].scale;
                let variance = self.blurred.variance(row, *column);
                (self.blurred.row(row)[*column] / scale, variance / (scale * scale))
            }
        };
        let one = Tally { count: 1.0, sure: 1.0, possible: 1.0, ..Tally::default() };
        Tally { sum, sum_variance, ..one }
    }

    /// The probability of the condition, by products over columns, with moments of the
    /// column that is added up.
    fn multiplied(
        &self,
        row: usize,
        plan: &Plan,
        scratch: &mut Vec<Vec<Over>>,
    ) -> Over {
        let blurred = self.blurred;
        let Noise::Straight { shape, spreads, box_of, boxes } = &blurred.noise else {
            return Over::default();
        };
        let values = blurred.row(row);
        let spreads = &spreads[row * values.len()..][..values.len()];
        let bounds = &boxes[box_of[row] as usize];
        scratch.resize_with(self.cuts.len(), Vec::new);
        for (number, (cut, overs)) in
            self.cuts.iter().zip(scratch.iter_mut()).enumerate()
        {
            overs.clear();
            let (z, spread) = (values[cut.column], spreads[cut.column]);
            let (low, high) = bounds[cut.column];
            if z.is_nan() {
                overs.resize(cut.classes.len(), Over::default());
                overs[cut.missing()].mass = 1.0;
                continue;
            }
            let moments = self.added == Some(number);
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
        let mut inside = Over::default();
        for cell in &plan.cells {
            let mut product = Over { mass: 1.0, ..Over::default() };
            let mut others = 1.0;
            for (number, (class, overs)) in cell.iter().zip(scratch.iter()).enumerate()
            {
                if self.added == Some(number) {
                    product = overs[*class];
                } else {
                    others *= overs[*class].mass;
                }
            }
            let Over { mass, first, second } = product;
            inside.add(Over {
                mass: mass * others,
                first: first * others,
                second: second * others,
            });
        }
        inside
    }

    /// The same by trying noises.
    fn tried(&self, row: usize, plan: &Plan) -> Over {
        let Noise::Turned { frame_of, level_of, frames, .. } = &self.blurred.noise
        else {
            return Over::default();
        };
        let values = self.blurred.row(row);
        let set = &self.sets[plan.open];
        let added = self.added.map(|number| self.cuts[number].column);
        let mut inside = Over::default();
        let frame = &frames[frame_of[row] as usize];
        let seen = frame.visit(row, values, level_of[row], |x| {
            let classes = self.cuts.iter().map(|cut| cut.class_of(x[cut.column]));
            if set[self.grid.cell(classes)] {
                let d = added.map_or(0.0, |column| x[column] - values[column]);
                inside.add(Over { mass: 1.0, first: d, second: d * d });
            }
        });
        inside.share_of(seen as f64)
    }

    /// What a row adds that counts with some probability.
    fn weighed(&self, row: usize, inside: Over) -> Tally {
        let Over { mass, first, second } = inside;
        let mass = mass.clamp(0.0, 1.0);
        let (sum, sum_variance, covariance) = match &self.measured {
            Measured::Rows => (0.0, 0.0, 0.0),
            Measured::Known(numbers) => {
                let number = numbers[self.blurred.kinds[row] as usize];
                let open = mass * (1.0 - mass);
                (number * mass, number * number * open, number * open)
            }
            Measured::Blurred(column) => {
                let scale = self.blurred.lattices[*column].scale;
                let z = self.blurred.row(row)[*column];
                let sum = (z * mass + first) / scale;
                let variance = (z * z * mass + 2.0 * z * first) * (1.0 - mass) + second
                    - first * first;
                (sum, variance.max(0.0) / (scale * scale), sum * (1.0 - mass))
            }
        };
        Tally {
            count: mass,
            sum,
            count_variance: mass * (1.0 - mass),
            sum_variance,
            covariance,
            sure: f64::from(u8::from(mass == 1.0)),
            possible: f64::from(u8::from(mass > 0.0)),
            ..Tally::default()
        }
    }
}

impl Blurred {
    /// The variance of the noise of a number, in steps.
    fn variance(&self, row: usize, column: usize) -> f64 {
        match &self.noise {
            Noise::Straight { shape, spreads, .. } => {
                variance(*shape, spreads[row * self.lattices.len() + column])
            }
            Noise::Turned { frame_of, level_of, frames, .. } => {
                frames[frame_of[row] as usize].variances(level_of[row])[column]
            }
            Noise::Anew { .. } => 0.0,
        }
    }
}

/// Which cells satisfy the condition, given the truth of tests of other columns.
fn satisfied(
    question: &Question,
    truths: &[Truth],
    cuts: &[Cut],
    grid: &Grid,
) -> Vec<bool> {
    let mut known = truths.to_vec();
    let cell = |cell: usize| {
        for (cut, class) in cuts.iter().zip(grid.classes(cell)) {
            for (test, truth) in cut.tests.iter().zip(&cut.truths[class]) {
                known[*test] = *truth;
            }
        }
        question.satisfied_by(&|test| known[test])
    };
    (0..grid.len()).map(cell).collect()
}
