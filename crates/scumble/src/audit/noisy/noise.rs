//! Whether the noise is there: somebody may publish true numbers, or less noise than stated.
//!
//! # Guarantee
//! A release whose noise is as stated is refused with a probability below 1e-9.
//!
//! *Proof.* Given the table, rows of a class are blurred independently. (a) Let g be a
//! function with values from 0 to 1 that depends on the table and on draws made beforehand
//! alone. The sum of g over the published rows and over as many rows blurred by the auditor
//! have the same expectation, and each is within √(n x / 2) of it but with probability
//! 2 e^-x (Hoeffding; also if both are over random subsets). (b) The sum of the noise on
//! an axis, and that of noise times the true row's distance from the mean, are sums of
//! independent symmetric numbers; normal noise that was rounded is as concentrated as normal
//! noise of spread s + c/2, c the width of a cell, and bounded noise as its bound. (c) Sums
//! of squares of normal noise have the tails of Laurent and Massart, those of bounded noise
//! Hoeffding's; rounding changes the root of such a sum by at most c/2 √n. Sum of squares of
//! published numbers around their mean minus that of true ones is the one of (c) plus
//! twice the second of (b). All bounds are for x = ln(4 tests / 1e-9).
//! Where up to w rows are one fact of a person, and have the same noise, sums over n rows are
//! sums over facts with weights up to w, whose squares add up to at most w n: all bounds hold
//! with w x in the place of x. ∎
//!
//! # Limits
//! g looks at how near the nearest true row is: no noise brings a row upon it. Where few
//! rows lack noise nobody can tell, nor in a release of less than some fifty rows.
//!
//! # Cost
//! A nearest row for at most [`SAMPLE`] published rows, and for twice as many drawn ones.
//!
//! # Source
//! Ours. Tails of sums of squares: Laurent and Massart, 2000, lemma 1.

use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::audit::noisy::shape::NoiseBounds;
use crate::audit::noisy::{Company, Framed, NoisyRows};
use crate::watch::Watched;

/// How often all tests together may be wrong.
const FALSE_ALARM: f64 = 1e-9;

/// The most rows whose nearest one is looked for.
const SAMPLE: usize = 30_000;

/// Sums of two functions of how near the nearest true row is: published minus drawn.
#[derive(Debug, Clone, Copy, Default)]
struct Nearness {
    rows: f64,
    /// Which part of drawn rows is nearer, in sum.
    ranks: f64,
    /// How many are nearer than a tenth of drawn rows is.
    nearest: f64,
}

impl Nearness {
    fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.ranks += other.ranks;
        self.nearest += other.nearest;
    }

    fn fits(&self, x: f64) -> bool {
        let most = (2.0 * self.rows * x).sqrt();
        self.ranks.abs() <= most && self.nearest.abs() <= most
    }
}

/// The rows of classes whose noise is not as stated.
pub(crate) fn unlike(
    frames: &[Framed],
    classes: &[Vec<Vec<u32>>],
    view: Watched<'_, NoisyRows>,
) -> u64 {
    let n_classes: usize = classes.iter().map(Vec::len).sum();
    let dims = view.note.columns.len();
    let tests = 2 * (n_classes + 1) + 3 * n_classes * dims;
    let x = (4.0 * tests as f64 / FALSE_ALARM).ln();
    let n_rows = view.n_rows();
    let part = (SAMPLE as f64 / n_rows as f64).min(1.0);
    let mut pooled = Nearness::default();
    let mut most_alike = 1.0;
    let mut bad = 0;
    let mut stream = 0;
    for (frame, classes) in frames.iter().zip(classes) {
        for (level, published) in classes.iter().enumerate() {
            stream += 1;
            if published.is_empty() || view.watch.is_cancelled() {
                continue;
            }
            let mut seen = Vec::with_capacity(published.len() * frame.axes.dims());
            for row in published {
                frame.axes.place(view.row(*row as usize), &mut seen);
            }
            let class = BlurredClass { frame, level, published: &seen };
            let alike = frame.most_alike(level) as f64;
            most_alike = f64::max(most_alike, alike);
            let fits = match class.nearness(part, stream) {
                Some(found) => {
                    pooled.add(found);
                    found.fits(alike * x) && class.moments_fit(alike * x)
                }
                None => false,
            };
            if !fits {
                bad += published.len() as u64;
            }
        }
    }
    if pooled.fits(most_alike * x) { bad } else { n_rows as u64 }
}

/// True and published rows of a class; as many.
struct BlurredClass<'a> {
    frame: &'a Framed,
    level: usize,
    /// Coordinates of the published rows.
    published: &'a [f64],
}

impl BlurredClass<'_> {
    fn spreads(&self) -> &[f64] {
        &self.frame.laws[self.level].spreads
    }

    fn rows(&self) -> &[u32] {
        &self.frame.levels[self.level]
    }

    /// How near published rows are to true ones; nothing if numbers without noise differ.
    fn nearness(&self, part: f64, stream: u64) -> Option<Nearness> {
        let dims = self.frame.axes.dims();
        let still = self.spreads().iter().filter(|s| **s == 0.0).count();
        if dims == 0 {
            return Some(Nearness::default());
        }
        if still > 0 && self.frame.axes.is_turned() {
            // Rounding moves rows along these axes, too.
            return Some(Nearness::default());
        }
        let companies = self.frame.companies(self.level);
        let at = |row: usize| &self.published[row * dims..][..dims];
        let n_rows = self.rows().len();
        if still > 0 {
            let mut found = vec![0; companies.len()];
            for row in 0..n_rows {
                found[find(&companies, self.spreads(), at(row))?] += 1;
            }
            if companies.iter().zip(found).any(|(company, n)| company.rows.len() != n) {
                return None;
            }
            if still == dims {
                return Some(Nearness::default());
            }
        }
        let far = |place: &[f64]| {
            let company = find(&companies, self.spreads(), place)?;
            let company = &companies[company];
            let nearest = company.space.nearest(&company.scaled(place), 1);
            nearest.first().map(|(far, _)| *far)
        };
        let mut rng = ChaCha20Rng::seed_from_u64(0x626c_7572);
        rng.set_stream(stream);
        let n = ((n_rows as f64 * part).ceil() as usize).min(n_rows);
        let chosen = index::sample(&mut rng, n_rows, n).into_vec();
        let published: Vec<f64> =
            chosen.par_iter().filter_map(|row| far(at(*row))).collect();
        let mut drawn = [Vec::new(), Vec::new()];
        for drawn in &mut drawn {
            let chosen = index::sample(&mut rng, n_rows, n).into_vec();
            let places: Vec<Vec<f64>> = chosen
                .iter()
                .map(|row| {
                    let noise = self.frame.axes.noise(self.spreads(), &mut rng);
                    let true_row = self.frame.at(self.rows()[*row]);
                    true_row.iter().zip(noise).map(|(x, noise)| x + noise).collect()
                })
                .collect();
            *drawn = places.par_iter().filter_map(|place| far(place)).collect();
        }
        let [mut known, drawn] = drawn;
        known.sort_by(f64::total_cmp);
        let rank = |far: &f64| {
            // Sums of coordinates carry rounding: what is as near counts as nearer.
            let nearer = known.partition_point(|k| *k <= far * (1.0 + 1e-9) + 1e-18);
            nearer as f64 / known.len().max(1) as f64
        };
        let sums = |rows: &[f64]| {
            let ranks: Vec<f64> = rows.iter().map(rank).collect();
            let nearest = ranks.iter().filter(|rank| **rank <= 0.1).count();
            (ranks.iter().sum::<f64>(), nearest as f64)
        };
        let (seen, expected) = (sums(&published), sums(&drawn));
        Some(Nearness {
            rows: n as f64,
            ranks: seen.0 - expected.0,
            nearest: seen.1 - expected.1,
        })
    }

    /// Whether means and variances along the axes fit.
    fn moments_fit(&self, x: f64) -> bool {
        let dims = self.frame.axes.dims();
        let n = self.rows().len() as f64;
        (0..dims).all(|axis| {
            let spread = self.spreads()[axis];
            let truth = self.rows().iter().map(|row| self.frame.at(*row)[axis]);
            let seen = self.published.iter().skip(axis).step_by(dims).copied();
            let (truth, seen) = (Moments::of(truth), Moments::of(seen));
            let bounds = NoiseBounds::of(&self.frame.axes, axis, spread);
            let shift = n * (seen.mean - truth.mean);
            let rounding = 1e-9 * n * truth.mean.abs();
            if shift.abs() > bounds.most * (2.0 * n * x).sqrt() + rounding {
                return false;
            }
            if spread == 0.0 || n < 2.0 {
                return true;
            }
            let (low, high) = bounds.squares(n, x);
            let mixed = 2.0 * bounds.most * (2.0 * truth.squares * x).sqrt()
                + 1e-9 * truth.squares;
            let found = seen.squares - truth.squares;
            found >= low - mixed && found <= high + mixed
        })
    }
}

/// The company with the numbers of a place where there is no noise.
fn find(companies: &[Company<'_>], spreads: &[f64], place: &[f64]) -> Option<usize> {
    let order = |company: &Company<'_>| {
        let axes = (0..spreads.len()).filter(|axis| spreads[*axis] == 0.0);
        let known = company.coordinates(0);
        let mut orders = axes.map(|axis| known[axis].total_cmp(&(place[axis] + 0.0)));
        orders.find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    };
    companies.binary_search_by(order).ok()
}

/// Mean, and the sum of squares around it.
struct Moments {
    mean: f64,
    squares: f64,
}

impl Moments {
    fn of(numbers: impl Iterator<Item = f64> + Clone) -> Self {
        let (sum, n) = numbers
            .clone()
            .fold((0.0, 0.0), |(sum, n), number| (sum + number, n + 1.0));
        let mean = sum / f64::max(n, 1.0);
        let squares = numbers.map(|number| (number - mean).powi(2)).sum();
        Self { mean, squares }
    }
}
