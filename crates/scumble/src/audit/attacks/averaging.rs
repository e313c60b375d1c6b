//! The averaging attack, foretold: what further releases of the same people would tell.
//!
//! # Guarantee
//! Of people drawn from the likeliest shares, so many would be guessed right by somebody
//! who sees them in so many releases made by the same matrix with fresh noise, and
//! multiplies the likelihoods. Always the same numbers for the same release.
//!
//! # Limits
//! A simulation of a few thousand people: right to a percent or so. Takes rows of different
//! releases as linked. With keyed noise every release shows the same draw, and all numbers
//! are the first one; whether the noise is keyed is what the manifest says. Several real
//! releases are compared by [`averaging()`].
//!
//! # Cost
//! O(m) a person and release.
//!
//! # Source
//! `chaytor2010randomization`, open problem; docs/methods.md, "Random numbers".

mod linked;

pub use linked::averaging;

use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use serde_json::{Map, Value, json};

use crate::audit::attacks::inference::commonest;
use crate::audit::attacks::{Attack, NOT_RANDOMIZED, PublicAttacks, Stopped};
use crate::audit::drawn::{Believed, DrawnColumn, Matrix};
use crate::audit::{Attacked, Case, Public, detail};
use crate::error::Result;
use crate::random::Randomness;

/// After how many releases it is looked.
const LOOKS: [usize; 4] = [1, 2, 5, 10];

/// Foretells what further releases would tell.
#[derive(Debug)]
pub struct Averaging;

impl Attack for Averaging {
    fn name(&self) -> &'static str {
        "averaging"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        let drawn = case.views.drawn()?.ok_or(NOT_RANDOMIZED)?;
        let truth = case.true_counts()?;
        let attacks = drawn.each().map(|(place, column, believed)| {
            let mut told = foretold(column, believed);
            if column.keyed {
                told = [told[0]; LOOKS.len()];
            }
            let [.., (success, worst)] = told;
            let after = LOOKS.iter().zip(told);
            let after: Map<String, Value> = after
                .map(|(releases, (right, _))| (releases.to_string(), json!(right)))
                .collect();
            let detail = detail(json!({
                "column": column.name(), "after": after, "noise": column.noise(),
                "foretold": true,
            }));
            let chance = commonest(column, place, believed, truth);
            Attacked { name: self.name().to_owned(), success, chance, worst, detail }
        });
        Ok(attacks.collect())
    }

    /// What is foretold comes from the release alone; only the chance may be the truth's.
    fn shown(&self, tried: &[Attacked], readers: &Case<'_>) -> Result<PublicAttacks> {
        let truth = readers.true_counts()?;
        let columns = readers.views.drawn()?.into_iter().flat_map(|drawn| drawn.each());
        let chances = columns
            .map(|(place, column, believed)| commonest(column, place, believed, truth));
        let told = tried.iter().zip(chances);
        let told = told.map(|(tried, chance)| Attacked { chance, ..tried.clone() });
        Ok(Public::because("anybody who has the release can try it", told.collect()))
    }
}

/// The share of people guessed right, and the surest guess, after each number of releases.
fn foretold(column: &DrawnColumn, believed: &[Believed]) -> [(f64, f64); LOOKS.len()] {
    let largest = column.tables.iter().map(|table| table.values.len()).max();
    let people = (4_000_000 / largest.unwrap_or(1).max(1)).clamp(200, 2000);
    let mut draws = Randomness::of_seed(1).stream("audit averaging", 0);
    let rows: Vec<f64> = column.tables.iter().map(|t| t.n_published()).collect();
    let mut told = [(0.0, 0.0f64); LOOKS.len()];
    let mut weights = Vec::new();
    for _ in 0..people {
        let place = pick(&mut draws, rows.iter().copied());
        let (table, shares) = (&column.tables[place], &believed[place].shares);
        let value = pick(&mut draws, shares.iter().copied());
        let mut belief = shares.clone();
        let mut releases = 0;
        for (look, (right, surest)) in LOOKS.iter().zip(&mut told) {
            while releases < *look {
                let published = publish(&mut draws, &table.matrix, value);
                table.matrix.weigh(published, &belief, &mut weights);
                believe(&mut belief, &weights);
                releases += 1;
            }
            let (guess, likely) = likeliest(&belief);
            *right += if guess == value { 1.0 / people as f64 } else { 0.0 };
            *surest = surest.max(likely);
        }
    }
    told
}

/// Scales `weights` to a belief and says whether anything is possible; if not, the belief stays.
fn believe(belief: &mut [f64], weights: &[f64]) -> bool {
    let total: f64 = weights.iter().sum();
    let possible = total > 0.0;
    if possible {
        belief
            .iter_mut()
            .zip(weights)
            .for_each(|(held, weight)| *held = weight / total);
    }
    possible
}

/// The value believed in most, and how much.
pub(crate) fn likeliest(belief: &[f64]) -> (usize, f64) {
    let mut top = (0, 0.0);
    for (value, belief) in belief.iter().enumerate() {
        if *belief > top.1 {
            top = (value, *belief);
        }
    }
    top
}

/// A place drawn by weights.
fn pick(draws: &mut ChaCha20Rng, weights: impl Iterator<Item = f64> + Clone) -> usize {
    let total: f64 = weights.clone().sum();
    let mut left = draws.random::<f64>() * total;
    let mut last = 0;
    for (place, weight) in weights.enumerate() {
        if weight <= 0.0 {
            continue;
        }
        last = place;
        left -= weight;
        if left < 0.0 {
            break;
        }
    }
    last
}

/// What a value is published as.
fn publish(draws: &mut ChaCha20Rng, matrix: &Matrix, value: usize) -> usize {
    match matrix {
        Matrix::Mixed { keep, .. } => {
            if draws.random::<f64>() < keep[value] {
                value
            } else {
                draws.random_range(0..keep.len())
            }
        }
        Matrix::General(rows) => pick(draws, rows.iter().map(|row| row[value])),
    }
}
