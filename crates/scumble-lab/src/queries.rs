//! Count queries: conjunctions over quasi columns, times every sensitive value.

use rand::RngExt;
use scumble::method::perturb::Sampler;
use scumble::random::Randomness;

use crate::census::{Census, EIGHT};
use crate::perturbed::{DomainRows, deal, found, mean};

/// How many conjunctions are drawn.
pub(crate) const CONDITIONS: u64 = 200;

/// A sample of the census with one of its columns sensitive, and the queries on it.
pub(crate) struct Pool<'a> {
    /// The sensitive code of every row.
    pub(crate) sensitive: &'a [u16],
    pub(crate) counts: Vec<u64>,
    /// The conjunctions: columns of the census and values.
    pub(crate) conditions: Vec<Vec<(usize, u16)>>,
    /// The rows that fit each conjunction.
    fitting: Vec<Vec<u32>>,
}

/// A query's true answer and its estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Answer {
    pub(crate) actual: f64,
    pub(crate) estimate: f64,
}

impl<'a> Pool<'a> {
    /// The same conjunctions for every sample. Each has one to three quasi columns and a
    /// value of each, all drawn uniformly.
    pub(crate) fn new(census: &'a Census, sensitive: usize, fifths: usize) -> Self {
        let quasi: Vec<usize> =
            (0..EIGHT.len()).filter(|place| *place != sensitive).collect();
        let mut words = Randomness::of_seed(17).stream("conditions", sensitive as u64);
        let (mut conditions, mut fitting) = (Vec::new(), Vec::new());
        for _ in 0..CONDITIONS {
            let n_columns = words.random_range(1..=3);
            let mut left = quasi.clone();
            let mut condition = Vec::new();
            for _ in 0..n_columns {
                let place = left.swap_remove(words.random_range(0..left.len()));
                let value = words.random_range(0..census.size(place)) as u16;
                condition.push((place, value));
            }
            let columns: Vec<(&[u16], u16)> = condition
                .iter()
                .map(|(place, value)| (census.column(*place, fifths), *value))
                .collect();
            let fits = |row: &u32| {
                columns.iter().all(|(column, value)| column[*row as usize] == *value)
            };
            fitting.push((0..census.n_rows(fifths) as u32).filter(fits).collect());
            conditions.push(condition);
        }
        Self {
            sensitive: census.column(sensitive, fifths),
            counts: census.counts(sensitive, fifths),
            conditions,
            fitting,
        }
    }

    /// Publishes the rows in parts once, and answers every query whose true answer is not
    /// zero from what is published.
    pub(crate) fn answers(
        &self,
        parts: &[DomainRows],
        number: u64,
    ) -> Option<Vec<Answer>> {
        let mut words = Randomness::of_seed(18).stream("queries", number);
        let part_of = deal(self.sensitive, parts, &mut words);
        // For each part the place in its domain of each code.
        let place_of: Vec<Vec<u32>> = parts
            .iter()
            .map(|part| {
                let mut places = vec![0; self.counts.len()];
                (0..).zip(&part.codes).for_each(|(n, code)| places[*code as usize] = n);
                places
            })
            .collect();
        let samplers: Vec<Sampler> =
            parts.iter().map(|part| Sampler::new(&part.operator)).collect();
        let published: Vec<u32> = self
            .sensitive
            .iter()
            .zip(&part_of)
            .map(|(code, part)| {
                let part = *part as usize;
                samplers[part].draw(place_of[part][*code as usize], &mut words)
            })
            .collect();
        let mut answers = Vec::new();
        for rows in &self.fitting {
            let mut actual = vec![0.0; self.counts.len()];
            let mut observed: Vec<Vec<f64>> =
                parts.iter().map(|part| vec![0.0; part.codes.len()]).collect();
            for row in rows.iter().map(|row| *row as usize) {
                actual[self.sensitive[row] as usize] += 1.0;
                observed[part_of[row] as usize][published[row] as usize] += 1.0;
            }
            let mut estimate = vec![0.0; self.counts.len()];
            for (part, observed) in parts.iter().zip(&observed) {
                let found = found(&part.operator, observed)?;
                for (code, count) in part.codes.iter().zip(found) {
                    estimate[*code as usize] += count;
                }
            }
            let pairs = actual.into_iter().zip(estimate);
            let pairs = pairs.map(|(actual, estimate)| Answer { actual, estimate });
            answers.extend(pairs.filter(|answer| answer.actual > 0.0));
        }
        Some(answers)
    }

    /// The answers to queries that at least this share of all rows fit.
    pub(crate) fn selected(&self, answers: &[Answer], least: f64) -> Vec<Answer> {
        let least = least * self.sensitive.len() as f64;
        answers.iter().copied().filter(|answer| answer.actual >= least).collect()
    }
}

/// The mean relative error in percent.
pub(crate) fn mean_error(answers: &[Answer]) -> Option<f64> {
    let error = |answer: &Answer| {
        100.0 * (answer.estimate - answer.actual).abs() / answer.actual
    };
    mean(&answers.iter().map(error).collect::<Vec<f64>>())
}
