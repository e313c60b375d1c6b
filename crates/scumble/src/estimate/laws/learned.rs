//! Counts, sums and means row by row, if columns are independent given a row's cells and its
//! latent class.
//!
//! # Guarantee
//! If rows were drawn from the mixture that was learned, and cells tell of values only that
//! they are in them, every estimate is the mean of the true number given the release, and the
//! variance is that of rows given the mixture, with that of the mixture itself: the spread
//! over fits to rows of other weights (`rubin1981bootstrap`). Whether a row counts for certain,
//! and whether it may, does not depend on what was learned.
//!
//! *Why.* A row is of class `c` with the probability `r`, and then its values are independent:
//! what it adds is the mean over classes of what it adds in each, which is that of
//! `independent.rs` with the class's own probabilities. With one class in which all values are
//! as likely it is the same.
//!
//! # Limits
//! Cells that nothing was learned of are even in every class.
//!
//! # Cost
//! For each distinct row, classes times answers that it may count for.
//!
//! # Source
//! docs/methods.md, "Learned estimates".

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::error::Result;
use crate::estimate::evidence::cells::Meaning;
use crate::estimate::evidence::groups::Lists;
use crate::estimate::laws::estimate::Estimate;
use crate::estimate::laws::moments::{
    AnswerMoments, RowMoments, add_times, paired, products,
};
use crate::estimate::laws::valuation::{Added, Given, Valuation};
use crate::estimate::laws::worth::Worth;
use crate::estimate::learn::latent::Learned;
use crate::estimate::learn::latent::read::LearnedValues;
use crate::estimate::query::Measure;
use crate::estimate::query::classes::refine;
use crate::estimate::query::facets::Facet;
use crate::estimate::query::question::Question;

/// What rows add to an answer, and what they add by each fit.
#[derive(Debug, Clone, Default)]
pub(crate) struct LearnedMoments {
    pub(crate) moments: AnswerMoments,
    pub(crate) by_fit: Vec<[f64; 2]>,
}

impl LearnedMoments {
    pub(crate) fn add(&mut self, other: &Self) {
        self.moments.add(&other.moments);
        let n = self.by_fit.len().max(other.by_fit.len());
        self.by_fit.resize(n, [0.0; 2]);
        let pairs = self.by_fit.iter_mut().zip(&other.by_fit);
        pairs.for_each(|(sum, own)| add_times(sum, 1.0, *own));
    }

    /// With what fits differ by in the variance.
    pub(crate) fn settled(self) -> AnswerMoments {
        let Self { mut moments, by_fit } = self;
        let n = by_fit.len() as f64;
        if n >= 2.0 {
            let (mut mean, mut second) = ([0.0; 2], [0.0; 3]);
            by_fit.iter().for_each(|own| add_times(&mut mean, 1.0 / n, *own));
            for own in &by_fit {
                let off = paired(*own, mean, |own, mean| own - mean);
                add_times(&mut second, 1.0 / (n - 1.0), products(off));
            }
            add_times(&mut moments.variance, 1.0, second);
        }
        moments
    }
}

/// What a question sees of the cells of a learned column.
struct LearnedFacet {
    /// The facet.
    facet: usize,
    /// The cell of each distinct row.
    cell_of: Vec<u32>,
    /// For each cell and each odd of its published cell, chance, first and second moment in
    /// each class of each fit.
    odds: Vec<Vec<Vec<[f64; 3]>>>,
}

impl Question<'_> {
    /// The answers, in the order of the values that are counted apart.
    pub(crate) fn answer_learned(
        &self,
        learned: &Learned,
        measure: &Measure,
    ) -> Result<Vec<Estimate>> {
        let valuation = Valuation::new(self, measure)?;
        let facets = valuation.facets.iter().enumerate();
        let facets = facets.filter_map(|(number, facet)| {
            let column = learned.column(facet.place)?;
            Some(LearnedFacet::new(number, facet, learned, column))
        });
        let facets: Vec<LearnedFacet> = facets.collect();
        let (class_of, n_classes) = self.sorted(valuation.measured, &valuation.facets);
        // Rows whose cells have the same odds may have been learned other things of.
        let (mut finer, mut n_finer) = (class_of.clone(), n_classes);
        for own in &facets {
            let known = own.odds.iter().map(|odds| odds.len() == 1);
            let label = |(cell, known): (u32, bool)| if known { 0 } else { cell + 1 };
            let labels: Vec<u32> = (0..).zip(known).map(label).collect();
            let n = labels.len() + 1;
            n_finer = refine(&mut finer, n_finer, &own.cell_of, &labels, n);
        }
        let mut examples = vec![usize::MAX; n_classes];
        for (entry, class) in class_of.iter().enumerate() {
            let example = &mut examples[*class as usize];
            *example = (*example).min(entry);
        }
        let worths = examples.par_iter().map(|entry| {
            self.watch.check()?;
            let joint = self.joint(&[])?;
            let given = Given { lists: true, ..Given::default() };
            valuation.enumerate(*entry, &[], &joint, given)
        });
        let worths: Vec<Vec<Worth>> = worths.collect::<Result<_>>()?;
        let rows = Lists::of(&finer, n_finer);
        let each = (0..n_finer).into_par_iter().map(|class| {
            self.watch.check()?;
            let entries = rows.of_list(class);
            let Some(first) = entries.first() else { return Ok(Vec::new()) };
            let worths = &worths[class_of[*first as usize] as usize];
            let found = worths.iter().map(|worth| {
                let sum = valuation.learned_sum(worth, &facets, learned, entries);
                (worth.key.clone(), sum)
            });
            Ok(found.collect())
        });
        let each: Vec<Vec<(Vec<u32>, LearnedMoments)>> = each.collect::<Result<_>>()?;
        let mut sums: BTreeMap<Vec<u32>, LearnedMoments> = BTreeMap::new();
        for (key, found) in each.into_iter().flatten() {
            sums.entry(key).or_default().add(&found);
        }
        let settled = sums.into_iter().map(|(key, sum)| (key, sum.settled()));
        valuation.settled(settled.collect(), measure)
    }
}

impl Valuation<'_, '_> {
    /// What rows whose learned cells are the same add to an answer.
    fn learned_sum(
        &self,
        worth: &Worth,
        facets: &[LearnedFacet],
        learned: &Learned,
        entries: &[u32],
    ) -> LearnedMoments {
        let evidence = self.question.evidence;
        let mut found = LearnedMoments::default();
        let own_cells = matches!(self.added, Added::Cells(_));
        let by_class = (worth.open || own_cells)
            .then(|| self.by_class(worth, facets, learned, entries[0] as usize));
        let rows_of = |entry: &u32| evidence.rows[*entry as usize] as f64;
        let mut means = vec![RowMoments::default(); learned.fits.len()];
        found.by_fit.resize(means.len(), [0.0; 2]);
        for entry in entries {
            let rows = rows_of(entry);
            let moments = match &by_class {
                None => {
                    means.fill(worth.moments[0]);
                    worth.moments[0]
                }
                Some(by_class) => {
                    let of_classes = learned.classes_of_entry(*entry as usize);
                    let mean = mixed(learned, of_classes, by_class, &mut means);
                    // What is certain is so, whatever rounding says.
                    let count = if worth.open { mean.count } else { 1.0 };
                    RowMoments { count, ..mean }
                }
            };
            for (sum, mean) in found.by_fit.iter_mut().zip(&means) {
                add_times(sum, rows, mean.first());
            }
            let sum = &mut found.moments;
            sum.possible += rows;
            add_times(&mut sum.mean, rows, moments.first());
            if worth.guessed {
                sum.guess.add(rows, moments);
            } else {
                add_times(&mut sum.variance, rows, moments.variance());
                sum.sure += if worth.open { 0.0 } else { rows };
            }
        }
        found
    }

    /// What a row with these cells adds in each class of each fit.
    fn by_class(
        &self,
        worth: &Worth,
        facets: &[LearnedFacet],
        learned: &Learned,
        entry: usize,
    ) -> Vec<RowMoments> {
        let columns = &self.question.evidence.columns;
        let number = match &self.added {
            Added::Numbers(place, numbers) => {
                Some(numbers[columns[*place].codes[entry] as usize])
            }
            _ => None,
        };
        let mut found = vec![RowMoments::default(); learned.n_classes()];
        let mut products = vec![[1.0; 3]; found.len()];
        for combination in &worth.combinations {
            products.fill([1.0; 3]);
            for (place, (facet, chosen)) in
                self.facets.iter().zip(combination).enumerate()
            {
                let added = matches!(self.added, Added::Cells(own) if own == place);
                let times =
                    |product: &mut [f64; 3], [chance, first, second]: [f64; 3]| {
                        product[0] *= chance;
                        product[1] *= if added { first } else { chance };
                        product[2] *= if added { second } else { chance };
                    };
                match facets.iter().find(|own| own.facet == place) {
                    Some(own) => {
                        let cell = own.cell_of[entry] as usize;
                        let odds = &own.odds[cell][*chosen];
                        let pairs = products.iter_mut().zip(odds);
                        pairs.for_each(|(product, odd)| times(product, *odd));
                    }
                    None => {
                        let code = columns[facet.place].codes[entry] as usize;
                        let odds = facet.odds[code].as_deref().unwrap_or_default();
                        let odd = odds[*chosen];
                        let odd = [odd.chance, odd.first, odd.second];
                        products.iter_mut().for_each(|product| times(product, odd));
                    }
                }
            }
            for (moments, [chance, first, second]) in found.iter_mut().zip(&products) {
                moments.count += chance;
                moments.sum += number.map_or(*first, |number| chance * number);
                moments.square += number.map_or(*second, |n| chance * n * n);
            }
        }
        found
    }
}

/// The mean over classes, and in `means` that of each fit.
fn mixed(
    learned: &Learned,
    of_classes: &[f32],
    by_class: &[RowMoments],
    means: &mut [RowMoments],
) -> RowMoments {
    let mut all = RowMoments::default();
    let mut start = 0;
    for (fit, mean) in learned.fits.iter().zip(means.iter_mut()) {
        *mean = RowMoments::default();
        let own = start..start + fit.n_classes();
        start = own.end;
        let mut sum = 0.0;
        for (share, moments) in of_classes[own.clone()].iter().zip(&by_class[own]) {
            let share = f64::from(*share);
            sum += share;
            mean.count += share * moments.count;
            mean.sum += share * moments.sum;
            mean.square += share * moments.square;
        }
        mean.count = (mean.count / sum).clamp(0.0, 1.0);
        mean.sum /= sum;
        mean.square /= sum;
        all.count += mean.count;
        all.sum += mean.sum;
        all.square += mean.square;
    }
    let n = means.len() as f64;
    RowMoments { count: all.count / n, sum: all.sum / n, square: all.square / n }
}

impl LearnedFacet {
    fn new(number: usize, facet: &Facet<'_>, learned: &Learned, column: usize) -> Self {
        let own = &learned.columns[column];
        let n = learned.n_classes();
        let odds = own.codes.iter().enumerate().map(|(cell, code)| {
            let published = facet.odds[*code as usize].as_deref().unwrap_or_default();
            let mut odds = vec![vec![[0.0; 3]; n]; published.len()];
            let mut all = vec![0.0; n];
            if let [only] = published {
                let only = [only.chance, only.first, only.second];
                if only[1] == 0.0 && only[2] == 0.0 {
                    odds[0].fill(only);
                    return odds;
                }
            }
            let meaning = &facet.cells.meanings[*code as usize];
            learned.values_of_cell(column, cell, |value, likely| {
                let Some(part) = part(&own.values, value, meaning) else { return };
                for odd in facet.odds_of(&part) {
                    let place = published.iter().position(|own| own.label == odd.label);
                    let Some(place) = place else { continue };
                    let classes = odds[place].iter_mut().zip(&mut all).zip(likely);
                    for ((sum, all), likely) in classes {
                        let own = [odd.chance, odd.first, odd.second];
                        add_times(sum, *likely, own);
                        *all += likely * odd.chance;
                    }
                }
            });
            for odds in &mut odds {
                for (odd, all) in
                    odds.iter_mut().zip(&all).filter(|(_, all)| **all > 0.0)
                {
                    odd.iter_mut().for_each(|number| *number /= all);
                }
            }
            odds
        });
        Self { facet: number, cell_of: own.cell_of.clone(), odds: odds.collect() }
    }
}

/// What a value of a learned column is within a cell.
fn part(values: &LearnedValues, value: usize, cell: &Meaning) -> Option<Meaning> {
    match values {
        LearnedValues::Words => Some(Meaning::Values(vec![(value as u32, 1.0)])),
        LearnedValues::Numbers(stretches) => match stretches.get(value) {
            None => Some(Meaning::Missing),
            Some((from, to)) => {
                let (low, high) = match cell {
                    Meaning::Numbers { low, high, .. } => (*low, *high),
                    _ => (*from, *to),
                };
                let (low, high) = (from.max(low), to.min(high));
                let missing = false;
                (low <= high).then_some(Meaning::Numbers { low, high, missing })
            }
        },
        LearnedValues::Noisy { .. } | LearnedValues::Shown => None,
    }
}
