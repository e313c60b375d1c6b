//! Everybody of a class matched to the rows of the class at once.
//!
//! # Guarantee
//! Noise is drawn by the auditor himself, from the stated law. How likely each drawn row is
//! each person's follows from how well they fit, and from that everybody has one row: rows
//! and columns of these likelihoods are scaled in turn until both add up. For each row the
//! likeliest person is guessed; of people with the same numbers one by chance.
//!
//! # Limits
//! What the scaling gives is near the shares of all matchings, not these themselves: to count
//! them is out of reach. The [`NEAR`] nearest true rows of a drawn one are looked at. Classes
//! of more than [`MOST_ROWS`] rows are not tried.
//!
//! # Cost
//! [`ROUNDS`] times the candidates of every row; no further class is begun after
//! [`MOST_STEPS`] of them. Of small tables noise is drawn several times.
//!
//! # Source
//! `sinkhorn1967doubly`; docs/methods.md, "Audit and attacks".

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde_json::json;

use crate::audit::noisy::{Company, Framed, MeasuredCompany, shape};
use crate::audit::{Attacked, detail};
use crate::space::Space;
use crate::watch::Watch;

/// So many different true rows near a drawn one are candidates.
const NEAR: usize = 64;

/// Larger classes are not tried.
const MOST_ROWS: usize = 20_000;

/// After so many steps no further class is begun.
const MOST_STEPS: u64 = 400_000_000;

/// How often rows and columns are scaled.
const ROUNDS: usize = 60;

/// Noise is drawn again until about so many rows were guessed.
const GUESSES: usize = 4_000;

/// Draws noise for everybody, and matches. Nothing if all classes are too large.
pub(crate) fn matched(
    frames: &[Framed],
    measured: &MeasuredCompany,
    watch: &dyn Watch,
) -> Option<Attacked> {
    let sizes = frames.iter().flat_map(|frame| frame.levels.iter().map(Vec::len));
    let draws = (GUESSES / sizes.sum::<usize>().max(1)).clamp(1, 8);
    let (mut people, mut right, mut alone) = (0u64, 0.0, 0.0);
    let (mut classes, mut skipped, mut steps, mut stream) = (0u64, 0u64, 0u64, 0u64);
    for frame in frames {
        for level in 0..frame.laws.len() {
            for company in frame.companies(level) {
                let n = company.rows.len();
                if n > MOST_ROWS || steps > MOST_STEPS || watch.is_cancelled() {
                    skipped += n as u64;
                    continue;
                }
                classes += 1;
                people += n as u64;
                if company.n_moving() == 0 {
                    right += 1.0;
                    alone += 1.0;
                    continue;
                }
                for _ in 0..draws {
                    stream += 1;
                    let found = attempt(&company, frame, stream);
                    right += found.matched / draws as f64;
                    alone += found.alone / draws as f64;
                    steps += found.steps;
                }
            }
        }
    }
    let n = people.max(1) as f64;
    (people > 0).then(|| Attacked {
        name: "matching".to_owned(),
        success: right / n,
        chance: classes as f64 / n,
        worst: measured.best_guess,
        detail: detail(json!({
            "row_by_row": alone / n, "people": people, "sampled": skipped > 0,
        })),
    })
}

/// How many rows of a class were given to the right person: all at once, and each alone.
struct Hits {
    matched: f64,
    alone: f64,
    steps: u64,
}

fn attempt(company: &Company<'_>, frame: &Framed, stream: u64) -> Hits {
    let spots = Spots::of(company);
    let mut rng = ChaCha20Rng::seed_from_u64(0x6d61_7463 + stream);
    let n = company.rows.len();
    let mut candidates: Vec<Vec<(usize, f64)>> = Vec::with_capacity(n);
    for row in 0..n {
        let noise = frame.axes.noise(&company.law.spreads, &mut rng);
        let place = company.coordinates(row).iter().zip(&noise).map(|(x, e)| x + e);
        let place = company.scaled(&place.collect::<Vec<f64>>());
        candidates.push(spots.candidates(company, &place));
    }
    let is_own = |row: usize, other: usize| match company.person(row) {
        Some(person) => company.person(other) == Some(person),
        None => row == other,
    };
    // Of all who are at these spots one is taken by chance.
    let share = |row: usize, taken: &[usize]| {
        let all = || taken.iter().flat_map(|spot| &spots.rows[*spot]);
        let own = all().filter(|other| is_own(row, **other)).count();
        own as f64 / all().count().max(1) as f64
    };
    let even = shape::of(company.law.shape).is_even();
    let alone = candidates.iter().enumerate().map(|(row, known)| {
        let most = known.iter().map(|(_, likely)| *likely).fold(0.0, f64::max);
        let fits = |likely: f64| even || likely >= most * (1.0 - 1e-12);
        let best = known.iter().filter(|(_, likely)| fits(*likely));
        share(row, &best.map(|(spot, _)| *spot).collect::<Vec<usize>>())
    });
    let alone = alone.sum();
    let room: Vec<f64> = spots.rows.iter().map(|rows| rows.len() as f64).collect();
    balance(&mut candidates, &room);
    let guess = |known: &[(usize, f64)]| {
        let each = known.iter().map(|(spot, likely)| (*spot, likely / room[*spot]));
        each.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
    };
    let guesses = candidates.iter().map(|known| guess(known)).enumerate();
    let matched = guesses.filter_map(|(row, spot)| Some(share(row, &[spot?.0]))).sum();
    let steps = candidates.iter().map(Vec::len).sum::<usize>() * ROUNDS;
    Hits { matched, alone, steps: steps as u64 }
}

/// Scales likelihoods until each row adds up to one, and each spot to the people there.
fn balance(rows: &mut [Vec<(usize, f64)>], room: &[f64]) {
    let mut sums = vec![0.0; room.len()];
    for _ in 0..ROUNDS {
        sums.iter_mut().for_each(|sum| *sum = 0.0);
        for row in rows.iter_mut() {
            let sum: f64 = row.iter().map(|(_, likely)| likely).sum();
            for (spot, likely) in row.iter_mut().filter(|_| sum > 0.0) {
                *likely /= sum;
                sums[*spot] += *likely;
            }
        }
        for (spot, likely) in rows.iter_mut().flatten() {
            if sums[*spot] > 0.0 {
                *likely *= room[*spot] / sums[*spot];
            }
        }
    }
}

/// The different numbers that people of a class have: whoever has the same cannot be told
/// apart.
struct Spots {
    space: Space,
    /// The rows at each.
    rows: Vec<Vec<usize>>,
}

impl Spots {
    fn of(company: &Company<'_>) -> Self {
        let mut sorted: Vec<usize> = (0..company.rows.len()).collect();
        let point = |row: usize| company.space.point(row);
        let compare = |a: usize, b: usize| {
            let mut orders = point(a).iter().zip(point(b)).map(|(a, b)| a.total_cmp(b));
            orders.find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        };
        sorted.sort_by(|a, b| compare(*a, *b).then(a.cmp(b)));
        let alike = sorted.chunk_by(|a, b| compare(*a, *b).is_eq());
        let rows: Vec<Vec<usize>> = alike.map(<[usize]>::to_vec).collect();
        let points: Vec<f64> = rows.iter().flat_map(|r| point(r[0]).to_vec()).collect();
        Self { space: Space::new(company.n_moving(), &points), rows }
    }

    /// Where somebody may have been who was published at a place, and how likely that is,
    /// relative to the likeliest.
    fn candidates(&self, company: &Company<'_>, place: &[f64]) -> Vec<(usize, f64)> {
        let shape = shape::of(company.law.shape);
        let near = self.space.nearest(place, NEAR).into_iter();
        let fits = near.filter_map(|(squared, spot)| {
            let row = self.rows[spot][0];
            Some((spot, shape.misfit(company, row, place, squared)?))
        });
        let fits: Vec<(usize, f64)> = fits.collect();
        let least =
            fits.iter().map(|(_, misfit)| *misfit).fold(f64::INFINITY, f64::min);
        let likely =
            fits.into_iter().map(|(spot, misfit)| (spot, (least - misfit).exp()));
        likely.collect()
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    /// How likely each row is each spot's, over all ways to give everybody one.
    fn counted(likely: &[Vec<f64>]) -> Vec<Vec<f64>> {
        fn go(likely: &[Vec<f64>], taken: &mut Vec<usize>, sums: &mut [Vec<f64>]) {
            let row = taken.len();
            if row == likely.len() {
                let all = taken.iter().enumerate();
                let weight: f64 =
                    all.clone().map(|(row, spot)| likely[row][*spot]).product();
                all.for_each(|(row, spot)| sums[row][*spot] += weight);
                return;
            }
            for spot in 0..likely.len() {
                if !taken.contains(&spot) && likely[row][spot] > 0.0 {
                    taken.push(spot);
                    go(likely, taken, sums);
                    taken.pop();
                }
            }
        }
        let mut sums = vec![vec![0.0; likely.len()]; likely.len()];
        go(likely, &mut Vec::new(), &mut sums);
        for row in &mut sums {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|share| *share /= sum);
        }
        sums
    }

    /// By exact shares of all matchings: the guesses are nearly the best there are, and better
    /// than those of one row at a time.
    #[test]
    fn guesses_are_nearly_as_good_as_exact_ones() {
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        let (mut found, mut alone, mut best) = (0.0, 0.0, 0.0);
        for _ in 0..200 {
            let places: Vec<f64> = (0..6).map(|_| rng.random::<f64>()).collect();
            let drawn: Vec<f64> =
                places.iter().map(|x| x + 0.8 * (rng.random::<f64>() - 0.5)).collect();
            let fit = |z: f64, x: f64| if (z - x).abs() <= 0.4 { 1.0 } else { 0.0 };
            let likely: Vec<Vec<f64>> = drawn
                .iter()
                .map(|z| places.iter().map(|x| fit(*z, *x)).collect())
                .collect();
            let exact = counted(&likely);
            let mut rows: Vec<Vec<(usize, f64)>> = likely
                .iter()
                .map(|row| {
                    (0..).zip(row.iter().copied()).filter(|c| c.1 > 0.0).collect()
                })
                .collect();
            let chosen = |row: &[(usize, f64)]| {
                row.iter()
                    .max_by(|a, b| a.1.total_cmp(&b.1))
                    .map(|(spot, _)| *spot)
                    .unwrap()
            };
            for (row, exact) in rows.iter().zip(&exact) {
                let n = row.len() as f64;
                alone += row.iter().map(|(spot, _)| exact[*spot]).sum::<f64>() / n;
            }
            balance(&mut rows, &[1.0; 6]);
            for (row, exact) in rows.iter().zip(&exact) {
                found += exact[chosen(row)];
                best += exact.iter().copied().fold(0.0, f64::max);
            }
        }
        assert!(found > 1.1 * alone && found > 0.97 * best, "{alone} {found} {best}");
    }
}
