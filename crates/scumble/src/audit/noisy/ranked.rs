//! How well rows of a class fit a published row, by somebody who holds the true table and
//! knows the public rule.
//!
//! # Guarantee
//! Noise is drawn by the auditor himself, from the stated law: published rows do not say
//! whose they are.
//!
//! # Limits
//! Each row is looked at alone; how often the best guess is right at worst leaves a person's
//! other rows aside, which can only raise it. Draws are for at most [`SAMPLE`] rows.
//!
//! # Cost
//! Rows nearer than the true one, for every draw.
//!
//! # Source
//! docs/methods.md, "The calibration attack" and "Audit and attacks".

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;
use serde_json::json;

use crate::audit::noisy::shape;
use crate::audit::noisy::{Company, Framed, MeasuredCompany};
use crate::audit::{Attacked, detail};
use crate::watch::Watch;

/// The most rows that noise is drawn for.
const SAMPLE: usize = 5_000;

/// How one published row looks: how many people have a row that fits it as well as the true
/// one, and with which probability the right person is picked as the best.
#[derive(Debug, Clone, Copy)]
struct Draw {
    rank: f64,
    picked: f64,
    below: bool,
}

/// How the attackers fare who look for the true row by how well rows fit.
#[derive(Debug)]
pub(crate) struct RankAttacks {
    /// That of somebody who ranks all rows of the class.
    pub(crate) rank: Attacked,
    /// That of somebody who takes the one that fits best.
    pub(crate) best_guess: Attacked,
}

/// Draws noise anew, and ranks the rows of the class by how well they fit.
pub(crate) fn ranked(
    frames: &[Framed],
    measured: &MeasuredCompany,
    watch: &dyn Watch,
) -> RankAttacks {
    let sizes = frames.iter().flat_map(|frame| frame.levels.iter().map(Vec::len));
    let rows: usize = sizes.sum();
    let step = rows.div_ceil(SAMPLE).max(1);
    let mut draws: Vec<Draw> = Vec::new();
    let (mut skip, mut stream) = (0, 0);
    let mut least = f64::INFINITY;
    for frame in frames {
        least = frame.wishes.iter().copied().fold(least, f64::min);
        for level in 0..frame.laws.len() {
            stream += 1;
            for company in frame.companies(level) {
                let n = company.rows.len();
                if watch.is_cancelled() {
                    break;
                }
                let sample: Vec<usize> = (skip..n).step_by(step).collect();
                skip = sample
                    .last()
                    .map_or(skip.saturating_sub(n), |last| last + step - n);
                draws.par_extend(sample.into_par_iter().map(|row| {
                    if watch.is_cancelled() {
                        return Draw { rank: 0.0, picked: 0.0, below: false };
                    }
                    // Each row has a stream of its own, whatever the threads.
                    let mut rng = ChaCha20Rng::seed_from_u64(0x7261_6e6b + stream);
                    rng.set_stream(u64::from(company.rows[row]));
                    let wish = frame.wishes[company.rows[row] as usize];
                    let noise = frame.axes.noise(&company.law.spreads, &mut rng);
                    rank(&company, &frame.axes.cells, row, &noise, wish)
                }));
            }
        }
    }
    let n = draws.len().max(1) as f64;
    let mean = |of: fn(&Draw) -> f64| draws.iter().map(of).sum::<f64>() / n;
    let (people, sampled) = (draws.len(), draws.len() < rows);
    let rank = Attacked {
        name: "rank".to_owned(),
        success: measured.at_risk as f64 / rows.max(1) as f64,
        chance: 0.0,
        worst: 1.0 / measured.smallest.max(1.0),
        detail: detail(json!({
            "mean_rank": mean(|draw| draw.rank), "expected": measured.mean,
            "smallest": measured.smallest, "k": least,
            "below": mean(|draw| f64::from(u8::from(draw.below))),
            "people": people, "sampled": sampled,
        })),
    };
    let best_guess = Attacked {
        name: "best-guess".to_owned(),
        success: mean(|draw| draw.picked),
        chance: measured.classes as f64 / rows.max(1) as f64,
        worst: measured.best_guess,
        detail: detail(json!({ "people": people, "sampled": sampled })),
    };
    RankAttacks { rank, best_guess }
}

/// The people who fit a row that was blurred by this noise.
fn rank(
    company: &Company<'_>,
    cells: &[f64],
    row: usize,
    noise: &[f64],
    wish: f64,
) -> Draw {
    if company.n_moving() == 0 {
        let n = company.n_left() as f64;
        return Draw { rank: n, picked: 1.0 / n, below: n < wish };
    }
    let place = company.coordinates(row).iter().zip(noise).map(|(x, e)| x + e);
    let place = company.scaled(&place.collect::<Vec<f64>>());
    let shape = shape::of(company.law.shape);
    let fitting = shape.fitting(company, cells, row, &place);
    let rows = |fitting: &[(usize, f64)]| -> Vec<usize> {
        fitting.iter().map(|(row, _)| *row).collect()
    };
    let people = company.n_people(rows(&fitting).into_iter()).max(1) as f64;
    // Whoever has the row that fits best is picked; of several one by chance.
    let least = fitting.iter().map(|(_, misfit)| *misfit).fold(f64::INFINITY, f64::min);
    let best =
        fitting.into_iter().filter(|(_, misfit)| *misfit <= least * (1.0 + 1e-9));
    let best = rows(&best.collect::<Vec<_>>());
    let is_own = |other: &usize| match company.person(row) {
        Some(person) => company.person(*other) == Some(person),
        None => *other == row,
    };
    let picked = match best.iter().any(is_own) {
        true => 1.0 / company.n_people(best.into_iter()) as f64,
        false => 0.0,
    };
    Draw { rank: people, picked, below: people < wish }
}
