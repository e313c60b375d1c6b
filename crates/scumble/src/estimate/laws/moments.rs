//! First and second moments of count and sum, which become an answer.

use crate::error::{Error, Result};
use crate::estimate::evidence::Column;
use crate::estimate::laws::estimate::{Basis, Estimate};
use crate::estimate::query::Measure;
use crate::table::{Kind, parse_number};

/// The numbers of a column's values, zero for missing ones.
pub(crate) fn numbers(column: &Column, measure: &Measure) -> Result<Vec<f64>> {
    let number = |text: &str| {
        let missing = column.reading.is_missing(text);
        if missing { Some(0.0) } else { parse_number(text) }
    };
    let numbers = match column.reading.kind {
        Kind::Date => None,
        _ => column.texts.iter().map(|text| number(text)).collect(),
    };
    numbers.ok_or_else(|| no_numbers(&column.name, measure))
}

/// That a column cannot be added up.
pub(crate) fn no_numbers(name: &str, measure: &Measure) -> Error {
    let function = measure.function();
    Error::recipe(format!("`{name}` does not have numbers to take {function} of"))
}

/// Count by count, sum by sum, count by sum.
pub(crate) fn products([count, sum]: [f64; 2]) -> [f64; 3] {
    [count * count, sum * sum, count * sum]
}

/// Adds numbers that occur `times` times.
pub(crate) fn add_times<const N: usize>(
    sums: &mut [f64; N],
    times: f64,
    numbers: [f64; N],
) {
    sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += times * number);
}

/// What each pair of numbers gives.
pub(crate) fn paired<const N: usize>(
    a: [f64; N],
    b: [f64; N],
    give: impl Fn(f64, f64) -> f64,
) -> [f64; N] {
    std::array::from_fn(|place| give(a[place], b[place]))
}

/// First and second moment of what a row adds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct RowMoments {
    /// How likely it counts.
    pub(crate) count: f64,
    /// The mean of the number it adds, and of its square.
    pub(crate) sum: f64,
    pub(crate) square: f64,
}

impl RowMoments {
    /// First moments of count and sum.
    pub(crate) fn first(self) -> [f64; 2] {
        [self.count, self.sum]
    }

    /// Second moments: count and count, sum and sum, count and sum.
    pub(crate) fn second(self) -> [f64; 3] {
        [self.count, self.square, self.sum]
    }

    /// The variances of count and sum, and their covariance.
    pub(crate) fn variance(self) -> [f64; 3] {
        let Self { count, sum, square } = self;
        let spread = square - sum * sum;
        // What is left by rounding.
        let spread = if spread > 1e-13 * square { spread } else { 0.0 };
        [count * (1.0 - count), spread, sum * (1.0 - count)]
    }

    /// The same with a number that is added if the row counts.
    pub(crate) fn shifted(self, number: f64) -> Self {
        let Self { count, sum, square } = self;
        Self {
            count,
            sum: sum + number * count,
            square: square + 2.0 * number * sum + number * number * count,
        }
    }
}

/// Moments of what rows add to an answer: how many they are, and the sum of their numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct AnswerMoments {
    /// The means of count and sum.
    pub(crate) mean: [f64; 2],
    /// The variances of count and sum, and their covariance.
    pub(crate) variance: [f64; 3],
    /// How many rows count for certain.
    pub(crate) sure: f64,
    /// How many may.
    pub(crate) possible: f64,
    /// What the draw of one row of each group adds to variances.
    pub(crate) draws: Draws,
    /// Rows of which something was taken from other rows.
    pub(crate) guess: Guess,
    /// By how much more the means would be by what one half of the groups taught than by
    /// what the other did.
    pub(crate) apart: [f64; 2],
}

/// Sums over rows of which something is guessed: how many, and their moments.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Guess {
    pub(crate) rows: f64,
    pub(crate) first: [f64; 2],
    pub(crate) square: f64,
}

impl Guess {
    /// Adds rows that have these moments.
    pub(crate) fn add(&mut self, rows: f64, moments: RowMoments) {
        self.rows += rows;
        add_times(&mut self.first, rows, moments.first());
        self.square += rows * moments.square;
    }
}

/// Sums over rows that were drawn, one of each group, of the squares of what they stand for:
/// alone, times weights, and times products of weights.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Draws {
    first: [f64; 2],
    second: [f64; 3],
}

impl Draws {
    /// Adds rows whose sizes have this sum of squares, with these weights in count and sum.
    pub(crate) fn add(&mut self, squares: f64, weights: [f64; 2]) {
        add_times(&mut self.first, squares, weights);
        add_times(&mut self.second, squares, products(weights));
    }
}

impl AnswerMoments {
    pub(crate) fn add(&mut self, other: &Self) {
        add_times(&mut self.mean, 1.0, other.mean);
        add_times(&mut self.variance, 1.0, other.variance);
        self.sure += other.sure;
        self.possible += other.possible;
        add_times(&mut self.draws.first, 1.0, other.draws.first);
        add_times(&mut self.draws.second, 1.0, other.draws.second);
        self.guess.rows += other.guess.rows;
        add_times(&mut self.guess.first, 1.0, other.guess.first);
        self.guess.square += other.guess.square;
        add_times(&mut self.apart, 1.0, other.apart);
    }

    /// The same for rows that also add a number if they count.
    pub(crate) fn shifted(self, number: f64) -> Self {
        let ([count, sum], [counts, sums, both]) = (self.mean, self.variance);
        let moved = number * counts;
        Self {
            mean: [count, sum + number * count],
            variance: [counts, sums + number * (moved + 2.0 * both), both + moved],
            ..self
        }
    }

    /// Adds the variance of guesses. All of them may be wrong in the same way, so it is that
    /// of one row, as often as there are such rows.
    pub(crate) fn guessed(&mut self) {
        let Guess { rows, first: [count, sum], square } = self.guess;
        if rows > 0.0 {
            let counts = (count * (rows - count)).max(0.0);
            let sums = (rows * square - sum * sum).max(0.0);
            add_times(&mut self.variance, 1.0, [counts, sums, sum * (rows - count)]);
        }
    }

    /// Adds the variance of the draw of one row of each group, as if groups were alike;
    /// `all` is the sum of the squares of all rows.
    pub(crate) fn centre(&mut self, all: f64) {
        let Draws { first, second } = self.draws;
        let [counts, sums, both] = paired(second, products(first), |a, b| a - b / all);
        add_times(&mut self.variance, 1.0, [counts.max(0.0), sums.max(0.0), both]);
    }

    /// The answer; nothing if it is the mean of no rows.
    pub(crate) fn estimate(
        &self,
        measure: &Measure,
        values: Vec<String>,
    ) -> Option<Estimate> {
        let unlimited = (f64::NEG_INFINITY, f64::INFINITY);
        let [count, sum] = self.mean;
        // Two halves of the groups, of which each teaches half as well as all of them.
        let taught = products(self.apart);
        let [counts, sums, both] =
            paired(self.variance, taught, |own, a| own + a / 4.0);
        let (number, variance, (at_least, at_most)) = match measure {
            Measure::Count => (count, counts, (self.sure, self.possible)),
            Measure::Sum(_) => (sum, sums, unlimited),
            Measure::Mean(_) if count > 0.0 => {
                // How the ratio moves with its parts.
                let mean = sum / count;
                let variance = sums - 2.0 * mean * both + mean * mean * counts;
                // What is left by rounding where both parts move alike.
                let variance = if variance > 1e-12 * sums { variance } else { 0.0 };
                (mean, variance / (count * count), unlimited)
            }
            Measure::Mean(_) | Measure::Share(_) => return None,
        };
        Some(Estimate {
            values,
            count: number,
            unbiased: Some(number),
            standard_error: Some(variance.max(0.0).sqrt()),
            at_least,
            at_most,
            rows: self.possible,
            basis: Basis::Law,
        })
    }
}
