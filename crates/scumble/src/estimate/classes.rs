//! Rows that a question treats alike have the same number.

use hashbrown::HashMap;

use crate::estimate::query::Truth;
use crate::estimate::question::Question;

/// The largest table that numbers pairs; more pairs are hashed.
const LARGEST_TABLE: usize = 1 << 20;

impl Question<'_> {
    /// Labels the values of a column that the question treats alike, with the first code of
    /// each label.
    pub(super) fn labels(&self, place: usize, n_codes: usize) -> (Vec<u32>, Vec<u32>) {
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
        let (mut found, mut examples) = (Numbers::default(), Vec::new());
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

/// Things, each with a number in the order they come.
pub(super) struct Numbers<T> {
    pub(super) items: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self { items: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbers<T> {
    pub(super) fn number(&mut self, item: T) -> u32 {
        *self.numbers.entry(item).or_insert_with_key(|item| {
            self.items.push(item.clone());
            self.items.len() as u32 - 1
        })
    }
}

/// Splits classes by the label of a column, and says how many there are then.
pub(super) fn refine(
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
