//! Tables of words and numbers, as learners want them.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::estimate::CodeTable;

/// An ordinary table of words and numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct MixedTable {
    // All of the same length.
    columns: Vec<MixedColumn>,
    n_rows: usize,
}

/// A column of words or numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum MixedColumn {
    /// Words by their codes.
    Words(Vec<u32>),
    /// Numbers; NaN where one is missing.
    Numbers(Vec<f64>),
}

impl MixedColumn {
    fn len(&self) -> usize {
        match self {
            Self::Words(codes) => codes.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }
}

impl MixedTable {
    /// A table of these columns, which must be equally long.
    pub fn new(columns: Vec<MixedColumn>) -> Result<Self> {
        let n_rows = columns.first().map_or(0, MixedColumn::len);
        match columns.iter().map(MixedColumn::len).find(|other| *other != n_rows) {
            Some(other) => Err(Error::input(format!(
                "one column has {n_rows} rows, another {other}"
            ))),
            None => Ok(Self { columns, n_rows }),
        }
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The columns.
    pub fn columns(&self) -> &[MixedColumn] {
        &self.columns
    }

    /// The rows at these places, in this order.
    #[must_use]
    pub fn rows(&self, places: &[u32]) -> Self {
        let columns = self.columns.iter().map(|column| match column {
            MixedColumn::Words(codes) => {
                let codes = places.iter().map(|row| codes[*row as usize]);
                MixedColumn::Words(codes.collect())
            }
            MixedColumn::Numbers(numbers) => {
                let numbers = places.iter().map(|row| numbers[*row as usize]);
                MixedColumn::Numbers(numbers.collect())
            }
        });
        Self { columns: columns.collect(), n_rows: places.len() }
    }

    /// At most `most` rows, chosen by a seed; all of them in their order if they are few.
    #[must_use]
    pub fn sample(&self, most: usize, seed: u64) -> Self {
        if self.n_rows <= most {
            return self.clone();
        }
        self.rows(&shuffled(self.n_rows, most, seed))
    }

    /// Where to cut each column of numbers, so that at most `most` bins are left; nothing
    /// for words.
    pub fn cuts(&self, most: usize) -> Vec<Option<Cuts>> {
        let cuts = |column: &MixedColumn| match column {
            MixedColumn::Words(_) => None,
            MixedColumn::Numbers(numbers) => Some(Cuts::of(numbers, most)),
        };
        self.columns.iter().map(cuts).collect()
    }

    /// The table as codes: words as they are, numbers by their bins.
    pub fn coded(&self, cuts: &[Option<Cuts>]) -> Result<CodeTable> {
        let code = |(column, cuts): (&MixedColumn, &Option<Cuts>)| match (column, cuts)
        {
            (MixedColumn::Words(codes), None) => Ok(codes.clone()),
            (MixedColumn::Numbers(numbers), Some(cuts)) => {
                Ok(numbers.iter().map(|number| cuts.bin(*number)).collect())
            }
            _ => Err(Error::input("numbers and nothing else have cuts")),
        };
        let columns = self.columns.iter().zip(cuts).map(code);
        CodeTable::new(columns.collect::<Result<_>>()?)
    }
}

/// So many different numbers below `n`, in an order that a seed fixes.
pub(crate) fn shuffled(n: usize, most: usize, seed: u64) -> Vec<u32> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut all: Vec<u32> = (0..n as u32).collect();
    for place in 0..most.min(n) {
        let other = random.random_range(place..n);
        all.swap(place, other);
    }
    all.truncate(most);
    all
}

/// Where numbers are cut into bins that about as many rows are in, as far as equal numbers
/// allow.
#[derive(Debug, Clone, PartialEq)]
pub struct Cuts {
    // The largest number of each bin but the last, ascending.
    ends: Vec<f64>,
}

impl Cuts {
    /// At most `most` bins of these numbers; one for each number if they are not more.
    pub fn of(numbers: &[f64], most: usize) -> Self {
        let mut known: Vec<f64> =
            numbers.iter().copied().filter(|number| !number.is_nan()).collect();
        known.sort_by(f64::total_cmp);
        let mut ends = known.clone();
        ends.dedup();
        if ends.len() > most {
            let n = known.len();
            ends = (1..most).map(|bin| known[(bin * n).div_ceil(most) - 1]).collect();
            ends.dedup();
        }
        // Whatever is above the last end but one is in the last bin.
        if ends.last() == known.last() {
            ends.pop();
        }
        Self { ends }
    }

    /// The bin of a number, from 1; 0 if it is missing.
    pub fn bin(&self, number: f64) -> u32 {
        if number.is_nan() {
            return 0;
        }
        1 + self.ends.partition_point(|end| *end < number) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(numbers: &[f64], most: usize) -> Vec<u32> {
        let cuts = Cuts::of(numbers, most);
        numbers.iter().map(|number| cuts.bin(*number)).collect()
    }

    #[test]
    fn bins_are_equally_full_as_far_as_they_can() {
        let numbers: Vec<f64> = (0..100).map(f64::from).collect();
        let found = bins(&numbers, 10);
        for bin in 1..=10 {
            assert_eq!(found.iter().filter(|found| **found == bin).count(), 10);
        }
        // Few numbers each have a bin, and most people have the same one.
        assert_eq!(bins(&[3.0, 1.0, 2.0, 1.0, f64::NAN], 10), [3, 1, 2, 1, 0]);
        assert_eq!(
            bins(&[0.0, 0.0, 0.0, 0.0, 0.0, 7.0, 9.0], 2),
            [1, 1, 1, 1, 1, 2, 2]
        );
        let cuts = Cuts::of(&[1.0, 2.0], 10);
        assert_eq!(
            [0.5, 1.0, 1.5, 2.0, 90.0].map(|number| cuts.bin(number)),
            [1, 1, 2, 2, 2]
        );
        assert_eq!(Cuts::of(&[], 10).bin(4.0), 1);
    }

    #[test]
    fn a_table_is_coded_and_sampled() {
        let columns = vec![
            MixedColumn::Words((0..50).collect()),
            MixedColumn::Numbers((0..50).map(f64::from).collect()),
        ];
        let table = MixedTable::new(columns).unwrap();
        let coded = table.coded(&table.cuts(5)).unwrap();
        assert_eq!(coded.columns()[0], (0..50).collect::<Vec<u32>>());
        assert_eq!(
            coded.columns()[1],
            (0..50).map(|n| 1 + n / 10).collect::<Vec<u32>>()
        );
        assert_eq!(table.sample(50, 1), table);
        let some = table.sample(20, 1);
        assert_eq!((some.n_rows(), &some), (20, &table.sample(20, 1)));
        assert_ne!(some, table.sample(20, 2));
        // Rows stay whole, and none comes twice.
        let [MixedColumn::Words(words), MixedColumn::Numbers(numbers)] = some.columns()
        else {
            panic!("two columns");
        };
        assert!(
            words.iter().zip(numbers).all(|(word, number)| f64::from(*word) == *number)
        );
        let mut seen = words.clone();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 20);
        let uneven =
            vec![MixedColumn::Words(vec![1]), MixedColumn::Numbers(Vec::new())];
        assert!(MixedTable::new(uneven).is_err());
    }
}
