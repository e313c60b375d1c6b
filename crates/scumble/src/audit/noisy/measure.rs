//! Among how many people everybody is hidden, and how often the best guess is right.
//!
//! The smallest number is exact: every row is followed until it has more company than the
//! least of a sample. Means are over the sample.

use rayon::prelude::*;

use crate::audit::noisy::law::Tails;
use crate::audit::noisy::{Company, Framed, Guesses};
use crate::audit::{AtRisk, RiskBands};
use crate::watch::Watch;

/// The most rows for means.
const SAMPLE: usize = 2000;

/// Up to so many pairs of rows, company beyond the reach is counted, too.
const MOST_PAIRS: u64 = 40_000_000;

/// What was measured of all classes.
#[derive(Debug)]
pub(crate) struct MeasuredCompany {
    /// The least company that anybody has.
    pub(crate) smallest: f64,
    /// Company on average.
    pub(crate) mean: f64,
    /// Whether company beyond the reach was counted.
    pub(crate) all: bool,
    /// Rows with less company than they need.
    pub(crate) at_risk: u64,
    /// How often somebody is the best guess at most: of everybody if that was promised, else
    /// of the sample.
    pub(crate) best_guess: f64,
    /// Classes with rows.
    pub(crate) classes: u64,
    /// How much company everybody of the sample has, as the risk of being the one.
    pub(crate) risk: RiskBands,
}

/// Measures every class.
pub(crate) fn measure(
    frames: &[Framed],
    promised: Option<f64>,
    watch: &dyn Watch,
) -> MeasuredCompany {
    let sizes = || frames.iter().flat_map(|frame| frame.levels.iter().map(Vec::len));
    let pairs = sizes().fold(0u64, |sum, n| sum.saturating_add((n as u64).pow(2)));
    let all = pairs <= MOST_PAIRS;
    let rows: usize = sizes().sum();
    let mut measured = MeasuredCompany {
        smallest: f64::INFINITY,
        mean: 0.0,
        all,
        at_risk: 0,
        best_guess: 0.0,
        classes: 0,
        risk: RiskBands::new(AtRisk::Company),
    };
    let mut companies: Vec<f64> = Vec::new();
    let most = frames.iter().map(|frame| frame.axes.dims()).max().unwrap_or(0);
    let shape = frames.first().map(|frame| frame.axes.shape);
    let guesses = shape.map(|shape| Guesses::new(shape, most));
    // Every so many rows one is in the sample, across classes.
    let step = rows.div_ceil(SAMPLE).max(1);
    let mut skip = 0;
    for frame in frames {
        for level in 0..frame.laws.len() {
            measured.classes += u64::from(!frame.levels[level].is_empty());
            for company in frame.companies(level) {
                if watch.is_cancelled() {
                    return measured;
                }
                let n = company.rows.len();
                let reach = if all { f64::INFINITY } else { company.law.reach() };
                let sample: Vec<usize> = (skip..n).step_by(step).collect();
                skip = sample
                    .last()
                    .map_or(skip.saturating_sub(n), |last| last + step - n);
                // At least one row, for something to compare with.
                let looked = if sample.is_empty() { vec![0] } else { sample.clone() };
                let tails = Tails::new(company.law.reach() + 0.1);
                let found: Vec<f64> = looked
                    .par_iter()
                    .map(|row| match all {
                        _ if watch.is_cancelled() => 0.0,
                        true => company.anonymity(*row, reach, f64::INFINITY),
                        false => company.roughly(*row, &tails),
                    })
                    .collect();
                if !sample.is_empty() {
                    companies.extend(&found);
                }
                // A little more than the least that was found, so that it is found again.
                let least = found.into_iter().fold(f64::INFINITY, f64::min) * 1.001;
                let least = least.min(measured.smallest);
                let wishes = &frame.wishes;
                let (least, at_risk) =
                    least_of(&company, wishes, (reach, least), &tails, watch);
                measured.smallest = measured.smallest.min(least);
                measured.at_risk += at_risk;
                if let Some(guesses) = &guesses {
                    let rows: Vec<usize> = match promised {
                        Some(_) => (0..n).collect(),
                        None => sample.into_iter().step_by(4).collect(),
                    };
                    measured.best_guess = most_guessed(
                        &company,
                        guesses,
                        &rows,
                        measured.best_guess,
                        watch,
                    );
                }
            }
        }
    }
    measured.mean = companies.iter().sum::<f64>() / companies.len().max(1) as f64;
    for company in &companies {
        // What is roughly known of one cannot be less than what is exactly known of all.
        measured.risk.add(1.0 / company.max(measured.smallest).max(1.0), 1);
    }
    measured.risk.sampled = companies.len() < rows;
    measured
}

/// The least company of anybody, if it is below `least`, and how many need more.
fn least_of(
    company: &Company<'_>,
    wishes: &[f64],
    (reach, least): (f64, f64),
    tails: &Tails,
    watch: &dyn Watch,
) -> (f64, u64) {
    let rows = (0..company.rows.len()).into_par_iter().with_min_len(64);
    let cuts = company.cuts();
    let bounds = company.count_bounds(&cuts, tails);
    let looked = rows.map(|row| {
        if watch.is_cancelled() {
            return (f64::INFINITY, 0);
        }
        let wish = wishes[company.rows[row] as usize];
        // Most rows are known to have more after few neighbours.
        if company.n_moving() > 0
            && company.enough(row, least.max(wish), &bounds).enough
        {
            return (f64::INFINITY, 0);
        }
        let found = company.anonymity(row, reach, f64::INFINITY);
        (found, u64::from(found < wish))
    });
    looked.reduce(|| (f64::INFINITY, 0), |a, b| (a.0.min(b.0), a.1 + b.1))
}

/// How often one of these rows is the best guess at most, if it is more than `known`.
fn most_guessed(
    company: &Company<'_>,
    guesses: &Guesses,
    rows: &[usize],
    known: f64,
    watch: &dyn Watch,
) -> f64 {
    let few = rows.iter().step_by(rows.len().div_ceil(64).max(1)).copied();
    let few: Vec<usize> = few.collect();
    let look = |rows: &[usize], known: f64| {
        let found = rows.par_iter().map(|row| {
            if watch.is_cancelled() {
                return known;
            }
            let (share, _) = guesses.best_guess(company, *row, known);
            if share <= known { known } else { share }
        });
        found.reduce(|| known, f64::max)
    };
    look(rows, look(&few, known))
}
