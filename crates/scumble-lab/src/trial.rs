//! Every operator tried on one column: what it keeps, and what is found again.

use scumble::error::Result;
use scumble::method::perturb::{Floor, Limits, Operator, fine_grain, general, uniform};
use scumble::promise::Breaches;
use scumble::random::Randomness;

use crate::perturbed::{
    DomainRows, estimate, fine_grain_bounds, found, gammas, mean, mean_error,
};

/// The operators.
pub(crate) const NAMES: [&str; 5] =
    ["UP", "fine-grain", "fine-grain, both", "general", "general, both"];

/// The shares of rows that a value must at least have.
pub(crate) const SELECTIVITIES: [f64; 3] = [0.001, 0.005, 0.01];

/// How many times each column is randomized.
const TIMES: u64 = 10;

/// A column, and what each operator makes of it.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) counts: Vec<u64>,
    pub(crate) theta: f64,
    /// For each of [`NAMES`].
    pub(crate) measured: Vec<OperatorErrors>,
    /// How likely Fine-grain keeps the most frequent value.
    pub(crate) first_kept: f64,
    /// The record utility of the general operator without a floor.
    pub(crate) open: f64,
}

/// What an operator does; errors in percent.
#[derive(Debug, Clone)]
pub(crate) struct OperatorErrors {
    /// The expected share of rows that are kept.
    pub(crate) utility: f64,
    /// The error of the most frequent value.
    pub(crate) most_frequent: Option<f64>,
    /// What it is on average, from the matrix.
    pub(crate) expected: Option<f64>,
    /// The mean error for each of [`SELECTIVITIES`].
    pub(crate) errors: [Option<f64>; 3],
}

impl Trial {
    /// A belief in a value may become `theta` times its frequency. The first value is the
    /// most frequent.
    pub(crate) fn new(counts: Vec<u64>, theta: f64) -> Result<Self> {
        let weights: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
        let gammas = gammas(&fine_grain_bounds(&counts, theta));
        let limits = |breaches| Limits { gammas: &gammas, breaches };
        let (upward, both) = (limits(Breaches::Upward), limits(Breaches::Both));
        let operators = [
            uniform(both),
            fine_grain(upward, &weights),
            fine_grain(both, &weights),
            general(upward, &weights, Floor::Default)?,
            general(both, &weights, Floor::Default)?,
        ];
        let open = general(upward, &weights, Floor::None)?.record_utility(&weights);
        let first_kept = operators[1].entry(0, 0);
        let measured = operators
            .into_iter()
            .map(|operator| {
                OperatorErrors::of(DomainRows::whole(&counts, operator, f64::NAN))
            })
            .collect();
        Ok(Self { counts, theta, measured, first_kept, open })
    }

    pub(crate) fn n_rows(&self) -> u64 {
        self.counts.iter().sum()
    }
}

impl OperatorErrors {
    fn of(part: DomainRows) -> Self {
        let weights: Vec<f64> = part.counts.iter().map(|count| *count as f64).collect();
        let utility = part.operator.record_utility(&weights);
        let expected = expected(&part.operator, &weights);
        let (counts, parts) = (part.counts.clone(), [part]);
        let randomness = Randomness::of_seed(25);
        let once = |number| {
            let mut words = randomness.stream("trial", number);
            estimate(&parts, counts.len(), &mut words)
        };
        let found: Vec<Vec<f64>> = (0..TIMES).filter_map(once).collect();
        let over = |error: &dyn Fn(&Vec<f64>) -> Option<f64>| {
            let errors: Vec<f64> = found.iter().filter_map(error).collect();
            mean(&errors).map(|error| 100.0 * error)
        };
        Self {
            utility,
            expected,
            most_frequent: over(&|found| mean_error(&counts[..1], &found[..1], 0.0)),
            errors: SELECTIVITIES.map(|s| over(&|found| mean_error(&counts, found, s))),
        }
    }
}

/// The mean relative error of the first value's frequency in percent, which is nearly
/// normal: its spread times the root of 2/pi.
fn expected(operator: &Operator, counts: &[f64]) -> Option<f64> {
    // What each published row adds to the estimate.
    let unit = |seen: usize| {
        let mut observed = vec![0.0; counts.len()];
        observed[seen] = 1.0;
        Some(found(operator, &observed)?[0])
    };
    let weights: Vec<f64> = (0..counts.len()).map(unit).collect::<Option<_>>()?;
    let variance = |(original, count): (usize, &f64)| {
        let (mut first, mut second) = (0.0, 0.0);
        for (seen, weight) in weights.iter().enumerate() {
            let share = operator.entry(seen, original);
            first += weight * share;
            second += weight * weight * share;
        }
        count * (second - first * first)
    };
    let variance: f64 = counts.iter().enumerate().map(variance).sum();
    Some(100.0 * (variance.max(0.0) * std::f64::consts::FRAC_2_PI).sqrt() / counts[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_error_is_the_mean_of_many() {
        let operator = Operator::FineGrain { keep: vec![0.5, 0.4, 0.2] };
        let counts = vec![5_000, 3_000, 2_000];
        let expected = expected(&operator, &[5_000.0, 3_000.0, 2_000.0]).unwrap();
        let parts = [DomainRows::whole(&counts, operator, f64::NAN)];
        let randomness = Randomness::of_seed(3);
        let error = |number| {
            let mut words = randomness.stream("expected", number);
            let found = estimate(&parts, 3, &mut words).unwrap();
            100.0 * (found[0] - 5_000.0).abs() / 5_000.0
        };
        let drawn = mean(&(0..400).map(error).collect::<Vec<f64>>()).unwrap();
        // Its own spread is 0.75 / 20 = 3.8 % of it: five times that.
        assert!((drawn / expected - 1.0).abs() < 0.19, "{drawn} {expected}");
    }
}
