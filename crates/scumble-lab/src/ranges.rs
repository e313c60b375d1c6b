//! Count queries on ranges of numbers, answered from blurred ones.

use rand::RngExt;
use scumble::random::Randomness;
use scumble::space::Shape;

use crate::blurred::{ClassedRows, PublishedNumbers};

/// How many rows the queries of a class select, at least and at most.
pub(crate) const SIZES: [(usize, usize); 4] =
    [(51, 100), (101, 200), (201, 300), (301, 400)];

/// Queries of each class, and how many ranges are tried for them.
const QUERIES: usize = 100;
const TRIES: usize = 60_000;

/// A range in every column, and how many rows are in it.
#[derive(Debug, Clone)]
struct RangeQuery {
    ranges: Vec<(f64, f64)>,
    rows: usize,
}

/// Queries of every class of sizes.
pub(crate) struct Queries<'a> {
    table: &'a ClassedRows,
    /// Lowest and highest number of each column.
    domain: Vec<(f64, f64)>,
    classes: [Vec<RangeQuery>; 4],
}

impl<'a> Queries<'a> {
    /// Ranges with ends anywhere in the unit cube, or, where numbers come from people, between
    /// those of two rows drawn for each column; kept if they select as many rows as some
    /// class still needs.
    pub(crate) fn drawn(table: &'a ClassedRows) -> Self {
        let (n_rows, dims) = (table.n_rows(), table.dims());
        let mut words = Randomness::of_seed(33).stream("ranges", 0);
        let column = |axis: usize| table.numbers.values.iter().skip(axis).step_by(dims);
        let domain = (0..dims)
            .map(|axis| {
                let low = column(axis).copied().fold(f64::INFINITY, f64::min);
                (low, column(axis).copied().fold(f64::NEG_INFINITY, f64::max))
            })
            .collect();
        let mut classes: [Vec<RangeQuery>; 4] = Default::default();
        for _ in 0..TRIES {
            if classes.iter().all(|class| class.len() == QUERIES) {
                break;
            }
            let ranges: Vec<(f64, f64)> = (0..dims)
                .map(|axis| {
                    let mut end = || match table.in_cube {
                        true => words.random(),
                        false => table.numbers.row(words.random_range(0..n_rows))[axis],
                    };
                    let (a, b) = (end(), end());
                    (a.min(b), a.max(b))
                })
                .collect();
            let inside = |row: &&[f64]| {
                let mut pairs = row.iter().zip(&ranges);
                pairs.all(|(value, (low, high))| low <= value && value <= high)
            };
            let rows = table.numbers.values.chunks_exact(dims).filter(inside).count();
            let class =
                SIZES.iter().position(|(least, most)| (*least..=*most).contains(&rows));
            if let Some(class) = class
                && classes[class].len() < QUERIES
            {
                classes[class].push(RangeQuery { ranges, rows });
            }
        }
        Self { table, domain, classes }
    }

    /// How many there are of a class.
    pub(crate) fn number(&self, class: usize) -> usize {
        self.classes[class].len()
    }

    /// The mean error of a class in percent of the true answers.
    pub(crate) fn error(
        &self,
        class: usize,
        published: &PublishedNumbers,
    ) -> Option<f64> {
        let queries = &self.classes[class];
        let error = |query: &RangeQuery| {
            let estimate = self.estimate(query, published);
            100.0 * (estimate - query.rows as f64).abs() / query.rows as f64
        };
        let sum: f64 = queries.iter().map(error).sum();
        (!queries.is_empty()).then(|| sum / queries.len() as f64)
    }

    /// The expected number of rows in a range, if within the domain every number is as
    /// likely.
    fn estimate(&self, query: &RangeQuery, published: &PublishedNumbers) -> f64 {
        let dims = self.table.dims();
        let halves: Vec<f64> = self
            .table
            .numbers
            .decimals
            .iter()
            .map(|decimals| 0.5 * 10f64.powi(-(*decimals as i32)))
            .collect();
        let mut sum = 0.0;
        let rows = published.values.chunks_exact(dims);
        let spreads = published.spreads.chunks_exact(dims);
        for ((row, spreads), there) in rows.zip(spreads).zip(&published.there) {
            if !there {
                continue;
            }
            let mut share = 1.0;
            for axis in 0..dims {
                let wide = |(low, high): (f64, f64)| {
                    // A number stands for all that are rounded to it.
                    (low - halves[axis], high + halves[axis])
                };
                let (value, spread) = (row[axis], spreads[axis]);
                let asked =
                    mass(published.shape, value, spread, wide(query.ranges[axis]));
                if asked == 0.0 {
                    share = 0.0;
                    break;
                }
                if spread > 0.0 {
                    share *= asked
                        / mass(published.shape, value, spread, wide(self.domain[axis]));
                } else {
                    share *= asked;
                }
            }
            sum += share;
        }
        sum
    }
}

/// The probability of a range around a published number.
fn mass(shape: Shape, value: f64, spread: f64, (low, high): (f64, f64)) -> f64 {
    if spread == 0.0 {
        return f64::from(u8::from(low <= value && value <= high));
    }
    // From the nearer side: differences of small shares are exact.
    let (a, b) = ((low - value) / spread, (high - value) / spread);
    let (a, b) = if a > 0.0 { (a, b) } else { (-b, -a) };
    shape.above(a) - shape.above(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_noise_every_answer_is_exact() {
        let table = ClassedRows::uniform(1500);
        let queries = Queries::drawn(&table);
        assert_eq!(queries.number(0), 100);
        let published = PublishedNumbers {
            shape: Shape::Gaussian,
            values: table.numbers.values.clone(),
            spreads: vec![0.0; 7500],
            there: vec![true; 1500],
        };
        for class in 0..4 {
            assert_eq!(queries.error(class, &published).unwrap_or(0.0), 0.0);
        }
        // With next to no noise nearly so.
        let little = PublishedNumbers { spreads: vec![1e-7; 7500], ..published };
        assert!(queries.error(0, &little).unwrap() < 1e-6);
    }

    #[test]
    fn ranges_share_out_the_noise() {
        for shape in Shape::ALL {
            let all = mass(shape, 3.0, 2.0, (-50.0, 50.0));
            assert!((all - 1.0).abs() < 1e-12);
            let below = mass(shape, 3.0, 2.0, (-50.0, 3.5));
            let above = mass(shape, 3.0, 2.0, (3.5, 50.0));
            assert!((below + above - 1.0).abs() < 1e-12);
        }
        assert_eq!(mass(Shape::Uniform, 3.0, 2.0, (3.5, 9.0)), 0.25);
    }
}
