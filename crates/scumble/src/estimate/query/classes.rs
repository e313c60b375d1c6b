//! Rows that a question treats alike have the same number.

use hashbrown::HashMap;

use crate::estimate::evidence::Nature;
use crate::estimate::query::Truth;
use crate::estimate::query::facets::Facet;
use crate::estimate::query::question::Question;

/// The largest table that numbers pairs; more pairs are hashed.
const LARGEST_TABLE: usize = 1 << 20;

/// Rows that are alike in all that a question is about, but for published noise.
pub(crate) struct Alike {
    /// One of them.
    pub(crate) entry: usize,
    /// Published combinations of randomized values, the rows of the table they stand for,
    /// and the squares of that.
    pub(crate) published: Vec<(usize, f64, f64)>,
}

impl Alike {
    /// How many rows of the table they stand for.
    pub(crate) fn n_rows(&self) -> f64 {
        self.published.iter().map(|(_, rows, _)| rows).sum()
    }
}

impl Question<'_> {
    /// Sorts distinct rows by what the question tells apart: values of kept columns, what
    /// facets see of cells, sub-tables; and every value of the column that is added up. The
    /// class of each, and how many classes there are.
    pub(crate) fn sorted(
        &self,
        measured: Option<usize>,
        facets: &[Facet<'_>],
    ) -> (Vec<u32>, usize) {
        let evidence = self.evidence;
        let (mut class_of, mut n_classes) = (vec![0; evidence.rows.len()], 1);
        for place in self.asked(measured) {
            let column = &evidence.columns[place];
            let facet = facets.iter().find(|facet| facet.place == place);
            let (labels, n_labels) = match (column.nature, facet) {
                (Nature::Drawn(..), _) => continue,
                (_, Some(facet)) => (facet.profiles.clone(), facet.n_profiles),
                (Nature::Kept, None) if measured == Some(place) => {
                    every(column.texts.len())
                }
                (Nature::Kept, None) => {
                    let (labels, examples) = self.labels(place, column.texts.len());
                    (labels, examples.len())
                }
                _ => continue,
            };
            n_classes =
                refine(&mut class_of, n_classes, &column.codes, &labels, n_labels);
        }
        for noise in self.noises.iter().map(|noise| &evidence.noises[*noise]) {
            let (labels, n) = every(noise.subtables.len());
            n_classes =
                refine(&mut class_of, n_classes, &noise.subtable_of, &labels, n);
        }
        (class_of, n_classes)
    }

    /// The published combination of drawn values of a distinct row.
    pub(crate) fn published(&self, entry: usize) -> usize {
        let noises = self.noises.iter().map(|noise| &self.evidence.noises[*noise]);
        noises.fold(0, |cell, noise| {
            let subtable = &noise.subtables[noise.subtable_of[entry] as usize];
            cell * subtable.domain.len() + noise.value_of[entry] as usize
        })
    }

    /// Sorted rows, those of a class together.
    pub(crate) fn alike(
        &self,
        measured: Option<usize>,
        facets: &[Facet<'_>],
    ) -> Vec<Alike> {
        let evidence = self.evidence;
        let (class_of, n_classes) = self.sorted(measured, facets);
        let (mut finer, mut n_finer) = (class_of.clone(), n_classes);
        for noise in self.noises.iter().map(|noise| &evidence.noises[*noise]) {
            let sizes = noise.subtables.iter().map(|subtable| subtable.domain.len());
            let (labels, n) = every(sizes.max().unwrap_or(0));
            n_finer = refine(&mut finer, n_finer, &noise.value_of, &labels, n);
        }
        let mut sums = vec![(usize::MAX, 0.0, 0.0); n_finer];
        for (entry, finer) in finer.iter().enumerate() {
            let (example, rows, squares) = &mut sums[*finer as usize];
            let weight = evidence.weight(entry);
            *example = (*example).min(entry);
            *rows += weight.0;
            *squares += weight.1;
        }
        let mut found: Vec<Alike> = Vec::new();
        let mut number_of = vec![usize::MAX; n_classes];
        for (entry, rows, squares) in sums.into_iter().filter(|s| s.0 != usize::MAX) {
            let number = &mut number_of[class_of[entry] as usize];
            if *number == usize::MAX {
                *number = found.len();
                found.push(Alike { entry, published: Vec::new() });
            }
            found[*number].published.push((self.published(entry), rows, squares));
        }
        found
    }

    /// Labels the values of a column that the question treats alike, with the first code of
    /// each label.
    pub(crate) fn labels(&self, place: usize, n_codes: usize) -> (Vec<u32>, Vec<u32>) {
        if self.group_by.contains(&place) {
            let codes: Vec<u32> = (0..n_codes as u32).collect();
            return (codes.clone(), codes);
        }
        let tests: Vec<&Vec<Truth>> = self
            .tests
            .iter()
            .filter(|test| test.0 == place)
            .map(|test| &test.1)
            .collect();
        let (mut found, mut examples) = (Numbered::default(), Vec::new());
        let label = |code: usize| {
            let truths: Vec<Truth> = tests.iter().map(|truths| truths[code]).collect();
            let label = found.number(truths);
            if label as usize == examples.len() {
                examples.push(code as u32);
            }
            label
        };
        ((0..n_codes).map(label).collect(), examples)
    }
}

/// Every value has a label of its own.
fn every(n: usize) -> (Vec<u32>, usize) {
    ((0..n as u32).collect(), n)
}

/// Things, each with a number in the order they come.
pub(crate) struct Numbered<T> {
    pub(crate) items: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { items: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    pub(crate) fn number(&mut self, item: T) -> u32 {
        *self.numbers.entry(item).or_insert_with_key(|item| {
            self.items.push(item.clone());
            self.items.len() as u32 - 1
        })
    }
}

/// Splits classes by the label of a column, and says how many there are then.
pub(crate) fn refine(
    class_of: &mut [u32],
    n_classes: usize,
    codes: &[u32],
    labels: &[u32],
    n_labels: usize,
) -> usize {
    let mut n_found = 0;
    let mut new = || {
        n_found += 1;
        n_found - 1
    };
    let pairs = class_of.iter_mut().zip(codes);
    let table = n_classes.checked_mul(n_labels).filter(|size| *size <= LARGEST_TABLE);
    if let Some(size) = table {
        let mut numbers = vec![u32::MAX; size];
        for (class, code) in pairs {
            let label = labels[*code as usize] as usize;
            let number = &mut numbers[*class as usize * n_labels + label];
            if *number == u32::MAX {
                *number = new();
            }
            *class = *number;
        }
    } else {
        let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
        for (class, code) in pairs {
            let key = (*class, labels[*code as usize]);
            *class = *numbers.entry(key).or_insert_with(&mut new);
        }
    }
    n_found as usize
}
