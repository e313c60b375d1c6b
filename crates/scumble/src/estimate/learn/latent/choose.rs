//! How many classes, and how many steps: as many as make groups likely that were held out.
//!
//! # Guarantee
//! The same release gives the same choice: seeds are public, and sums in a fixed order.
//!
//! # Limits
//! One fifth is held out once. What is best for counts is not quite what is likeliest.
//!
//! # Source
//! docs/methods.md, "Learned estimates".

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use crate::error::Result;
use crate::estimate::learn::latent::em::Mixture;
use crate::estimate::learn::latent::likelihood::Observed;
use crate::estimate::learn::latent::smoothing::Smoothing;
use crate::random::Randomness;
use crate::watch::Watch;

/// Numbers of classes that are tried, in this order.
const CLASSES: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// The most steps.
const MOST_STEPS: usize = 40;

/// After so many steps that make held-out rows no likelier, no more are tried.
const PATIENCE: usize = 3;

/// One unit in so many is held out.
const HELD_OUT: f64 = 0.2;

/// A step must make held-out rows likelier by this share.
const LEAST_GAIN: f64 = 1e-5;

/// What was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) classes: usize,
    pub(crate) steps: usize,
}

/// The stream of random numbers for a purpose. What is learned is no secret.
pub(crate) fn stream(purpose: &str, number: u64) -> ChaCha20Rng {
    Randomness::of_seed(0).narrowed("learned").stream(purpose, number)
}

/// Chooses by what was held out.
pub(crate) fn choose(observed: &Observed, watch: &dyn Watch) -> Result<Choice> {
    let mut random = stream("held out", 0);
    let held: Vec<bool> =
        (0..observed.n_units).map(|_| random.random::<f64>() < HELD_OUT).collect();
    let of = |wanted: bool| -> Vec<f64> {
        let rows = observed.rows.iter().zip(&observed.unit_of);
        let own = |unit: &u32| held[*unit as usize] == wanted;
        rows.map(|(rows, unit)| if own(unit) { *rows } else { 0.0 }).collect()
    };
    let (rows, asked) = (of(false), of(true));
    let smoothing = Smoothing::default();
    let even = Mixture::even(observed);
    let (whole, _) = even.step(observed, &rows, smoothing, watch)?;
    let mut best = Choice { classes: 1, steps: 0 };
    let mut most = even.likelihood(observed, &asked, watch)?;
    let mut worse = 0;
    for classes in CLASSES {
        let mut random = stream("start", classes as u64);
        let mut mixture = Mixture::start(observed, &whole, classes, &rows, &mut random);
        let (mut own, mut idle) = (f64::NEG_INFINITY, 0);
        let before = most;
        for steps in 1..=MOST_STEPS {
            mixture = mixture.step(observed, &rows, smoothing, watch)?.0;
            let found = mixture.likelihood(observed, &asked, watch)?;
            if found > most {
                (most, best) = (found, Choice { classes, steps });
            }
            idle = if found > own + LEAST_GAIN * own.abs() { 0 } else { idle + 1 };
            own = own.max(found);
            if idle >= PATIENCE {
                break;
            }
        }
        worse = if most > before { 0 } else { worse + 1 };
        if worse >= 2 {
            break;
        }
    }
    Ok(best)
}

/// A mixture fitted as was chosen, to units that count as often as a stream of random numbers
/// says: their weights are exponential, as in the Bayesian bootstrap (`rubin1981bootstrap`).
pub(crate) fn fit(
    observed: &Observed,
    choice: Choice,
    number: u64,
    watch: &dyn Watch,
) -> Result<Mixture> {
    let mut random = stream("fit", number);
    let weights: Vec<f64> =
        (0..observed.n_units).map(|_| -(1.0 - random.random::<f64>()).ln()).collect();
    let rows = observed.rows.iter().zip(&observed.unit_of);
    let rows: Vec<f64> =
        rows.map(|(rows, unit)| rows * weights[*unit as usize]).collect();
    let smoothing = Smoothing::default();
    let even = Mixture::even(observed);
    if choice.steps == 0 {
        return Ok(even);
    }
    let (whole, _) = even.step(observed, &rows, smoothing, watch)?;
    let mut mixture =
        Mixture::start(observed, &whole, choice.classes, &rows, &mut random);
    for _ in 0..choice.steps {
        mixture = mixture.step(observed, &rows, smoothing, watch)?.0;
    }
    Ok(mixture)
}
