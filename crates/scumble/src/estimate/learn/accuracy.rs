//! How well a class can be told after learning from a reconstruction: trained on what a
//! release gives, tested on the original.
//!
//! Two learners: a decision tree, and the vote of the nearest rows, where numbers are apart
//! by their difference as a share of the original's range (at most 1), words by 0 or 1, and
//! whatever is missing by 1.
//!
//! # Guarantee
//! Test rows, their number and the number of training rows are the same for every release
//! of a table, so that two accuracies differ by what was learned alone. The same tables and
//! seeds give the same accuracies.
//!
//! Two ends of a scale say how to read them: [`Examination::best`] is reached by training
//! on one half of the original, as many rows of it, and testing on the other, and
//! [`Examination::guess`] by always naming the commonest class.
//!
//! # Limits
//! For the steward alone: it takes the original, and how well a class can be told from it is
//! nothing that a release tells.
//! A release that lost little contains what it is tested on, so it may do slightly better
//! than the upper end. Test rows are at most 2,000, so an accuracy is known up to about
//! a hundredth; differences between releases are known better, because rows are the same.
//! A value that the original does not have is no neighbour of any.
//!
//! # Cost
//! The tree learns from at most 10,000 rows. Neighbours are found by trying all pairs of
//! at most 3,000 training rows and the test rows.
//!
//! # Source
//! docs/methods.md, "Mining evaluation"; `breiman1984cart`, `cover1967nearest`.

use crate::error::{Error, Result};
use crate::estimate::learn::mixed::{Cuts, MixedColumn, MixedTable, shuffled};
use crate::estimate::learn::tree::{ColumnScale, DecisionTree, Growth};
use crate::watch::{Watch, Watched};

const TEST_ROWS: usize = 2_000;
const TREE_ROWS: usize = 10_000;
const NEIGHBOUR_ROWS: usize = 3_000;
/// How many of the nearest rows vote.
const VOTES: usize = 15;
/// Numbers are cut this finely for the tree.
const FINE: usize = 256;

/// The share of test rows whose class is told rightly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// By a decision tree.
    pub tree: f64,
    /// By the nearest neighbours.
    pub neighbours: f64,
}

/// The same test for every release of a table.
#[derive(Debug, Clone)]
pub struct Examination {
    class: usize,
    test: MixedTable,
    classes: Vec<u32>,
    cuts: Vec<Option<Cuts>>,
    /// Least and range of each column of numbers.
    ranges: Vec<(f64, f64)>,
    n_train: usize,
    best: Accuracy,
    guess: f64,
}

impl Examination {
    /// Sets rows of the original aside for testing. The column `class` must be of words, and
    /// there must be a row to learn from and one to be tested with.
    pub fn new<'a>(
        original: impl Into<Watched<'a, MixedTable>>,
        class: usize,
        seed: u64,
    ) -> Result<Self> {
        let original = original.into();
        let n_rows = original.n_rows();
        let Some(MixedColumn::Words(classes)) = original.columns().get(class) else {
            return Err(Error::input("a class must be a column of words"));
        };
        if n_rows < 2 {
            return Err(Error::input(
                "accuracy takes a row to learn from and one to be tested with",
            ));
        }
        let n_train = (n_rows - n_rows / 2).min(TREE_ROWS);
        let n_test = (n_rows / 2).min(TEST_ROWS);
        let order = shuffled(n_rows, n_train + n_test, seed);
        let (for_test, for_training) = order.split_at(n_test);
        let test = original.rows(for_test);
        let test_classes: Vec<u32> =
            for_test.iter().map(|row| classes[*row as usize]).collect();
        let commonest = commonest(classes);
        let hits = test_classes.iter().filter(|class| **class == commonest).count();
        let mut examination = Self {
            class,
            test,
            classes: test_classes,
            cuts: original.cuts(FINE),
            ranges: original.columns().iter().map(range).collect(),
            n_train,
            best: Accuracy { tree: 0.0, neighbours: 0.0 },
            guess: hits as f64 / n_test as f64,
        };
        examination.best =
            examination.learned(&original.rows(for_training), original.watch)?;
        Ok(examination)
    }

    /// What a table that lost nothing teaches.
    pub fn best(&self) -> Accuracy {
        self.best
    }

    /// The share of the commonest class.
    pub fn guess(&self) -> f64 {
        self.guess
    }

    /// What a reconstruction with the columns of the original teaches; which of its rows
    /// are learned from is up to the seed.
    pub fn of<'a>(
        &self,
        reconstruction: impl Into<Watched<'a, MixedTable>>,
        seed: u64,
    ) -> Result<Accuracy> {
        let Watched { task: reconstruction, watch } = reconstruction.into();
        if reconstruction.n_rows() == 0 {
            return Err(Error::input("nothing can be learned from no rows"));
        }
        self.learned(&reconstruction.sample(self.n_train, seed), watch)
    }

    fn learned(&self, training: &MixedTable, watch: &dyn Watch) -> Result<Accuracy> {
        watch.check()?;
        let coded = training.coded(&self.cuts)?;
        let test = self.test.coded(&self.cuts)?;
        let scale = |column: &MixedColumn| match column {
            MixedColumn::Words(_) => ColumnScale::Words,
            MixedColumn::Numbers(_) => ColumnScale::Ordered,
        };
        let scales: Vec<ColumnScale> = training.columns().iter().map(scale).collect();
        let tree = DecisionTree::fit(
            watch.over(&coded),
            self.class,
            &scales,
            Growth::default(),
        )?;
        let mut row = Vec::new();
        let told = (0..test.n_rows()).map(|place| {
            row.clear();
            row.extend(test.columns().iter().map(|codes| codes[place]));
            tree.classify(&row)
        });
        let tree = self.share(told);
        let few: Vec<u32> = (0..training.n_rows().min(NEIGHBOUR_ROWS) as u32).collect();
        let voters = self.voters(&training.rows(&few));
        let test = self.voters(&self.test);
        let voted = |row: usize| match watch.is_cancelled() {
            true => 0,
            false => voters.vote(&test, row),
        };
        let neighbours = self.share((0..self.classes.len()).map(voted));
        watch.check()?;
        Ok(Accuracy { tree, neighbours })
    }

    /// How many classes are right.
    fn share(&self, told: impl Iterator<Item = u32>) -> f64 {
        let hits =
            told.zip(&self.classes).filter(|(told, class)| told == *class).count();
        hits as f64 / self.classes.len() as f64
    }

    fn voters(&self, table: &MixedTable) -> Voters {
        let mut voters = Voters::default();
        let columns = table.columns().iter().zip(&self.ranges);
        for (place, (column, (least, range))) in columns.enumerate() {
            match column {
                MixedColumn::Words(codes) if place == self.class => {
                    voters.classes = codes.clone();
                }
                MixedColumn::Words(codes) => voters.words.push(codes.clone()),
                MixedColumn::Numbers(numbers) => {
                    let scaled =
                        numbers.iter().map(|number| ((number - least) / range) as f32);
                    voters.numbers.push(scaled.collect());
                }
            }
        }
        voters
    }
}

/// Least and range of the numbers of a column; a range of 1 if there is none.
fn range(column: &MixedColumn) -> (f64, f64) {
    let MixedColumn::Numbers(numbers) = column else { return (0.0, 1.0) };
    // Missing numbers are neither smaller nor larger.
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most > least { (least, most - least) } else { (least.min(0.0), 1.0) }
}

/// The commonest class; of several the first.
fn commonest(classes: &[u32]) -> u32 {
    let mut sorted = classes.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    let mut best: &[u32] = &[];
    for run in runs {
        if run.len() > best.len() {
            best = run;
        }
    }
    best.first().copied().unwrap_or(0)
}

/// Rows that vote for their class where they are near.
#[derive(Default)]
struct Voters {
    words: Vec<Vec<u32>>,
    /// As shares of the original's range.
    numbers: Vec<Vec<f32>>,
    classes: Vec<u32>,
}

impl Voters {
    /// The class that most of the rows nearest to a row of another table have; of several
    /// that of the nearest.
    fn vote(&self, other: &Self, row: usize) -> u32 {
        let mut distances = vec![0f32; self.classes.len()];
        for (mine, theirs) in self.numbers.iter().zip(&other.numbers) {
            let there = theirs[row];
            for (distance, here) in distances.iter_mut().zip(mine) {
                let apart = (here - there).abs();
                // Missing is not smaller than 1.
                *distance += if apart < 1.0 { apart } else { 1.0 };
            }
        }
        for (mine, theirs) in self.words.iter().zip(&other.words) {
            let there = theirs[row];
            for (distance, here) in distances.iter_mut().zip(mine) {
                *distance += f32::from(u8::from(*here != there));
            }
        }
        // The nearest so far, ascending; of equally near ones those that come first.
        let mut nearest: Vec<(f32, u32)> = Vec::with_capacity(VOTES + 1);
        let mut worst = f32::INFINITY;
        for (distance, class) in distances.iter().zip(&self.classes) {
            if nearest.len() == VOTES && *distance >= worst {
                continue;
            }
            let place = nearest.partition_point(|(held, _)| held <= distance);
            nearest.insert(place, (*distance, *class));
            nearest.truncate(VOTES);
            worst = nearest.last().map_or(worst, |(held, _)| *held);
        }
        let votes =
            |class: u32| nearest.iter().filter(|(_, other)| *other == class).count();
        let mut best = (0, 0);
        for (_, class) in &nearest {
            if votes(*class) > best.0 {
                best = (votes(*class), *class);
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// A number decides the class of nine rows of ten, chance that of the others; a column
    /// of words says nothing.
    fn planted(n_rows: usize, seed: u64) -> MixedTable {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let numbers: Vec<f64> =
            (0..n_rows).map(|_| random.random::<f64>() * 60.0).collect();
        let words = (0..n_rows).map(|_| random.random_range(0..3)).collect();
        let classes = numbers.iter().map(|number| {
            let told = u32::from(*number > 20.0);
            if random.random_range(0..10) == 0 { 1 - told } else { told }
        });
        let classes = classes.collect();
        let columns = vec![
            MixedColumn::Numbers(numbers),
            MixedColumn::Words(classes),
            MixedColumn::Words(words),
        ];
        MixedTable::new(columns).unwrap()
    }

    #[test]
    fn a_planted_class_is_told_as_often_as_it_can_be() {
        let original = planted(6_000, 1);
        let examination = Examination::new(&original, 1, 7).unwrap();
        // 2/3 of .9 and 1/3 of .1; 2,000 rows leave 5 deviations of less than .06.
        assert!((examination.guess() - 0.633).abs() < 0.06);
        let same = examination.of(&original, 3).unwrap();
        let other = examination.of(&planted(6_000, 2), 3).unwrap();
        for accuracy in [examination.best(), same, other] {
            assert!((accuracy.tree - 0.9).abs() < 0.04, "{accuracy:?}");
            assert!((accuracy.neighbours - 0.9).abs() < 0.05, "{accuracy:?}");
        }
        assert_eq!(examination.of(&original, 3).unwrap(), same);
    }

    #[test]
    fn a_class_that_was_shuffled_teaches_nothing() {
        let original = planted(6_000, 1);
        let examination = Examination::new(&original, 1, 7).unwrap();
        let mut columns = original.columns().to_vec();
        let MixedColumn::Words(classes) = &mut columns[1] else { panic!("classes") };
        let order = shuffled(classes.len(), classes.len(), 4);
        *classes = order.iter().map(|row| classes[*row as usize]).collect();
        let lost = examination.of(&MixedTable::new(columns).unwrap(), 3).unwrap();
        assert!(lost.tree < examination.guess() + 0.06, "{lost:?}");
        assert!(lost.neighbours < examination.guess() + 0.06, "{lost:?}");
    }

    #[test]
    fn neighbours_are_those_of_brute_force() {
        let random = &mut ChaCha8Rng::seed_from_u64(8);
        let mut rows = |n: usize| {
            let number = |random: &mut ChaCha8Rng| match random.random_range(0..8) {
                0 => f64::NAN,
                _ => f64::from(random.random_range(0..1000)),
            };
            MixedTable::new(vec![
                MixedColumn::Words((0..n).map(|_| random.random_range(0..4)).collect()),
                MixedColumn::Numbers((0..n).map(|_| number(random)).collect()),
                MixedColumn::Words((0..n).map(|_| random.random_range(0..3)).collect()),
            ])
            .unwrap()
        };
        let (original, training) = (rows(80), rows(60));
        let examination = Examination::new(&original, 2, 1).unwrap();
        let (voters, test) =
            (examination.voters(&training), examination.voters(&original));
        let [MixedColumn::Words(w), MixedColumn::Numbers(x), MixedColumn::Words(c)] =
            training.columns()
        else {
            panic!("three columns");
        };
        let [MixedColumn::Words(v), MixedColumn::Numbers(y), _] = original.columns()
        else {
            panic!("three columns");
        };
        let (_, range) = examination.ranges[1];
        for row in 0..80 {
            let mut all: Vec<(f64, usize)> = (0..60)
                .map(|at| {
                    let apart = (x[at] - y[row]).abs() / range;
                    let apart = if apart.is_nan() { 1.0 } else { apart.min(1.0) };
                    (apart + if w[at] == v[row] { 0.0 } else { 1.0 }, at)
                })
                .collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let near = &all[..VOTES];
            // Rounding may exchange the last one.
            if all[VOTES].0 - near[VOTES - 1].0 < 1e-6 {
                continue;
            }
            let votes =
                |class: u32| near.iter().filter(|(_, at)| c[*at] == class).count();
            let told = voters.vote(&test, row);
            assert_eq!(votes(told), (0..3).map(votes).max().unwrap());
        }
    }

    #[test]
    fn what_cannot_be_learned_is_said() {
        let words = |codes: &[u32]| MixedColumn::Words(codes.to_vec());
        let one = MixedTable::new(vec![words(&[0]), words(&[1])]).unwrap();
        assert!(Examination::new(&one, 1, 1).is_err());
        let two = MixedTable::new(vec![words(&[0, 1]), words(&[1, 0])]).unwrap();
        assert!(Examination::new(&two, 2, 1).is_err());
        let examination = Examination::new(&two, 1, 1).unwrap();
        assert!(examination.of(&two.rows(&[]), 1).is_err());
        let numbers = MixedColumn::Numbers(vec![1.0, 2.0]);
        let numbers = MixedTable::new(vec![words(&[0, 1]), numbers]).unwrap();
        assert!(Examination::new(&numbers, 1, 1).is_err());
        // Other columns than those of the original.
        assert!(examination.of(&numbers, 1).is_err());
    }
}
