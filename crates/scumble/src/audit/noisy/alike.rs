//! Rows whose spreads are all scaled alike: everybody's smallest spread, and who could have
//! been published with which.

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::audit::noisy::law::Tails;
use crate::audit::noisy::loose::{CalibrationScores, ROUNDING, RowsOfKind};
use crate::audit::noisy::shape;
use crate::audit::noisy::{Axes, LooseFindings, NoisyRows, variances};
use crate::release::BlurNote;
use crate::space::{Shape, Space};
use crate::table::Numbers;
use crate::watch::{Watch, Watched};

/// The most rows whose smallest spread is computed.
const MOST: usize = 3000;

/// How much more than the smallest spread a publisher may take, before rounding.
const ABOVE: f64 = 0.011;

/// A group whose spreads are all scaled alike.
pub(crate) struct AlikeRows<'a> {
    note: &'a BlurNote,
    watch: &'a dyn Watch,
    axes: Axes,
    /// True rows: what they need, and coordinates in units of the scales.
    wishes: Vec<f64>,
    scaled: Vec<f64>,
    exact: Vec<f64>,
    scales: Vec<f64>,
    /// Those that are looked at.
    pub(crate) sample: Vec<usize>,
    /// Published rows: how many scales their spread is at least; numbers.
    factors: Vec<f64>,
    /// How many scales their spread was above before it was rounded up.
    lows: Vec<f64>,
    numbers: Vec<Vec<f64>>,
}

impl<'a> AlikeRows<'a> {
    /// The true and the published rows of a group.
    pub(crate) fn of(
        view: Watched<'a, NoisyRows>,
        numbers: &Numbers,
        wishes: &[f64],
        (group, columns): (&RowsOfKind, Vec<usize>),
        table: &[f64],
    ) -> Self {
        let axes = Axes::straight(&view.note, columns);
        let mut exact = Vec::new();
        for row in &group.rows {
            axes.place(numbers.row(*row as usize), &mut exact);
        }
        let dims = axes.dims();
        let of = |all: &[f64]| -> Vec<f64> {
            axes.columns.iter().map(|column| all[*column]).collect()
        };
        let published = group.published.iter();
        let spreads: Vec<Vec<f64>> =
            published.clone().map(|row| of(view.spreads(*row as usize))).collect();
        let seen = published.map(|row| of(view.row(*row as usize))).collect();
        let own = variances(dims, exact.chunks_exact(dims.max(1)));
        let whole = axes.columns.iter().map(|column| table[*column]).collect();
        let scales = scales(axes.shape, &spreads, [whole, own]);
        let scaled = exact.chunks_exact(dims.max(1)).flat_map(|row| {
            row.iter().zip(&scales).filter(|(_, s)| **s > 0.0).map(|(x, s)| x / s)
        });
        let scaled = scaled.collect();
        // For each row: how many scales the spread is at least, and was above before rounding.
        let in_scales = |spreads: &Vec<f64>| {
            let axes = spreads.iter().zip(&scales).zip(&axes.cells);
            let axes = axes.filter(|((_, scale), _)| **scale > 0.0);
            axes.fold(
                (f64::INFINITY, 0.0f64),
                |(least, low), ((spread, scale), cell)| {
                    let (most, unit) = match shape::of(view.note.shape).in_steps() {
                        // A box of one step is as good as none.
                        true => (spread.max(*cell), 2.0 * cell),
                        // Ten digits.
                        false if *spread > 0.0 => {
                            (*spread, 10f64.powi(spread.log10().floor() as i32 - 9))
                        }
                        false => (*spread, 0.0),
                    };
                    (least.min(most / scale), low.max((spread - unit).max(0.0) / scale))
                },
            )
        };
        let (factors, lows) = spreads.iter().map(in_scales).unzip();
        let n = group.rows.len();
        Self {
            note: &view.task.note,
            watch: view.watch,
            wishes: group.rows.iter().map(|row| wishes[*row as usize]).collect(),
            scaled,
            exact,
            scales,
            sample: (0..n).step_by(n.div_ceil(MOST)).collect(),
            factors,
            lows,
            numbers: seen,
            axes,
        }
    }

    /// How many axes are scaled.
    fn moving(&self) -> usize {
        self.scales.iter().filter(|scale| **scale > 0.0).count()
    }

    fn at(&self, row: usize) -> &[f64] {
        &self.scaled[row * self.moving()..][..self.moving()]
    }

    /// All others seen from a row, nearest first: how many are equal, and how far the rest
    /// is.
    fn seen_from(&self, row: usize) -> (f64, Vec<Vec<f64>>) {
        let (this, dims) = (self.at(row), self.moving());
        let mut equal = 0.0;
        let mut others: Vec<Vec<f64>> = Vec::with_capacity(self.wishes.len());
        for other in self.scaled.chunks_exact(dims.max(1)) {
            let apart = other.iter().zip(this).map(|(a, b)| (a - b).abs());
            let apart: Vec<f64> = apart.collect();
            if apart.iter().all(|v| *v == 0.0) {
                equal += 1.0;
            } else {
                others.push(shape::of(self.note.shape).seen(apart));
            }
        }
        if dims == 0 {
            equal = self.wishes.len() as f64;
        }
        others.sort_by(|a, b| a[0].total_cmp(&b[0]));
        (equal, others)
    }

    /// The company of a row at a spread of so many scales.
    fn company(&self, seen: &(f64, Vec<Vec<f64>>), f: f64, tails: &Tails) -> f64 {
        shape::of(self.note.shape).company(seen.0, &seen.1, f, tails)
    }

    /// The smallest spread, in scales, at which a row has what it needs.
    fn smallest(&self, row: usize, tails: &Tails) -> f64 {
        if self.watch.is_cancelled() {
            return 0.0;
        }
        let (seen, need) = (self.seen_from(row), self.wishes[row]);
        if seen.0 >= need {
            return 0.0;
        }
        let mut high = 1.0;
        while self.company(&seen, high, tails) < need {
            high *= 2.0;
            if high > 1e9 {
                return f64::INFINITY;
            }
        }
        let mut low = 0.0;
        while high - low > high * ROUNDING * 0.1 && high > 1e-12 {
            let middle = 0.5 * (low + high);
            match self.company(&seen, middle, tails) >= need {
                true => high = middle,
                false => low = middle,
            }
        }
        high
    }

    /// Compares computed and published spreads, and looks for the noise.
    pub(crate) fn look(
        &self,
        number: u64,
        found: &mut LooseFindings,
        scores: &mut CalibrationScores,
    ) {
        let tails = Tails::new(8.5);
        let smallest: Vec<f64> =
            self.sample.par_iter().map(|row| self.smallest(*row, &tails)).collect();
        let mut order: Vec<usize> = (0..smallest.len()).collect();
        order.sort_by(|a, b| smallest[*a].total_cmp(&smallest[*b]));
        let mut factors = self.factors.clone();
        factors.sort_by(f64::total_cmp);
        let (n, s, p) = (self.wishes.len(), self.sample.len(), factors.len());
        let slack = match s == n {
            true => 0.0,
            false => (1e9f64.ln() / (2.0 * s as f64)).sqrt() * p as f64,
        };
        // Left out are those that need most: they have no published spread.
        let paired = |place: usize| {
            let rank = place * n / s + slack as usize;
            (place * n / s < p).then(|| factors[rank.min(p - 1)])
        };
        let pairs = order
            .iter()
            .enumerate()
            .filter_map(|(place, i)| Some((*i, paired(place)?)));
        let pairs: Vec<(usize, f64)> = pairs.collect();
        let company: Vec<(f64, bool)> = pairs
            .par_iter()
            .map(|(i, factor)| {
                if self.watch.is_cancelled() {
                    return (0.0, false);
                }
                let row = self.sample[*i];
                let company = self.company(&self.seen_from(row), *factor, &tails);
                (company, company < self.wishes[row] * (1.0 - 10.0 * ROUNDING))
            })
            .collect();
        found.smallest = company.iter().fold(found.smallest, |least, c| least.min(c.0));
        let failing = company.iter().filter(|c| c.1).count();
        found.at_risk += (failing * n).div_ceil(s) as u64;
        let above =
            self.above(&order.iter().map(|i| smallest[*i]).collect::<Vec<f64>>());
        for least in smallest.iter().filter(|least| least.is_finite()) {
            scores.add(self.candidates(*least, above));
        }
        found.noise_fits &= self.noise_fits(number, &smallest);
    }

    /// How much publishers calibrate above the smallest spread, which is seen from the
    /// release itself; rounding left aside.
    fn above(&self, smallest: &[f64]) -> f64 {
        let mut lows = self.lows.clone();
        lows.sort_by(f64::total_cmp);
        if smallest.len() != lows.len() {
            return ABOVE;
        }
        let pairs = lows.iter().zip(smallest).filter(|(_, least)| **least > 0.0);
        let mut ratios: Vec<f64> =
            pairs.map(|(low, least)| low / least - 1.0).collect();
        ratios.sort_by(f64::total_cmp);
        let usual = ratios.get(ratios.len() * 99 / 100).copied().unwrap_or(ABOVE);
        usual.clamp(0.0, ABOVE)
    }

    /// How many published rows could be of somebody with this smallest spread.
    fn candidates(&self, least: f64, above: f64) -> usize {
        let published = self.lows.iter().zip(&self.factors);
        let fits = |(low, high): &(&f64, &f64)| {
            least <= **high * (1.0 + ROUNDING)
                && least * (1.0 + above) * (1.0 + ROUNDING) >= **low
        };
        published.filter(fits).count()
    }

    /// Whether published rows are as far from the nearest true row as rows are that the
    /// auditor blurs. Their spreads are the smallest ones, and published ones are up to a
    /// hundredth wider: that is allowed for.
    fn noise_fits(&self, number: u64, smallest: &[f64]) -> bool {
        let dims = self.moving();
        if dims == 0 {
            return true;
        }
        let space = Space::new(dims, &self.scaled);
        let far = |place: &[f64], factor: f64| -> Option<f64> {
            let scaled: Vec<f64> = place
                .iter()
                .zip(&self.scales)
                .filter(|(_, scale)| **scale > 0.0)
                .map(|(x, scale)| x / scale)
                .collect();
            let near = space.nearest(&scaled, 1);
            (factor > 0.0).then(|| near.first().map(|(far, _)| far.sqrt() / factor))?
        };
        let step = self.numbers.len().div_ceil(MOST);
        let published = self.numbers.iter().zip(&self.factors).step_by(step);
        let published: Vec<(&Vec<f64>, &f64)> = published.collect();
        let seen: Vec<f64> =
            published.par_iter().filter_map(|(place, f)| far(place, **f)).collect();
        let mut drawn = [Vec::new(), Vec::new()];
        let mut rng = ChaCha20Rng::seed_from_u64(0x6c6f_6f73);
        rng.set_stream(number);
        for drawn in &mut drawn {
            for (row, least) in self.sample.iter().zip(smallest) {
                if !(least.is_finite() && *least > 0.0) {
                    continue;
                }
                let spreads: Vec<f64> = self.law(*least);
                let noise = self.axes.noise(&spreads, &mut rng);
                let truth = &self.exact[row * self.axes.dims()..][..self.axes.dims()];
                let place: Vec<f64> =
                    truth.iter().zip(noise).map(|(x, e)| x + e).collect();
                drawn.extend(far(&place, *least));
            }
        }
        let [mut known, drawn] = drawn;
        known.sort_by(f64::total_cmp);
        let mean = |rows: &[f64]| {
            let ranks = rows.iter().map(|far| known.partition_point(|k| k <= far));
            ranks.sum::<usize>() as f64
                / (rows.len().max(1) * known.len().max(1)) as f64
        };
        let wide = |n: usize| (1e9f64.ln() / (2.0 * n.max(1) as f64)).sqrt();
        (mean(&seen) - mean(&drawn)).abs()
            <= 0.02 + wide(seen.len()) + wide(drawn.len())
    }

    /// Spreads of so many scales, as they can be drawn.
    fn law(&self, factor: f64) -> Vec<f64> {
        let axes = self.scales.iter().zip(&self.axes.cells);
        axes.map(|(scale, cell)| match shape::of(self.note.shape).in_steps() {
            false => factor * scale,
            true => {
                let half = ((factor * scale / cell - 1.0) / 2.0).ceil().max(0.0);
                if half == 0.0 { 0.0 } else { (2.0 * half + 1.0) * cell }
            }
        })
        .collect()
    }
}

/// What spreads are multiples of: standard deviations of the table or of the group, if the
/// published spreads agree with one of these, else the mean published spreads.
fn scales(shape: Shape, spreads: &[Vec<f64>], variances: [Vec<f64>; 2]) -> Vec<f64> {
    let dims = variances[0].len();
    let mean = |axis: usize| {
        let sum: f64 = spreads.iter().map(|spreads| spreads[axis]).sum();
        sum / spreads.len().max(1) as f64
    };
    let means: Vec<f64> = (0..dims).map(mean).collect();
    let off = |scales: &Vec<f64>| {
        let ratios = means.iter().zip(scales).filter(|(_, s)| **s > 0.0);
        let ratios: Vec<f64> = ratios.map(|(mean, s)| mean / s).collect();
        let high = ratios.iter().copied().fold(0.0, f64::max);
        let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        if low > 0.0 { high / low - 1.0 } else { 0.0 }
    };
    let known = variances.map(|all| all.into_iter().map(f64::sqrt).collect());
    let [table, own]: [Vec<f64>; 2] = known;
    let nearer = if off(&own) < off(&table) { own } else { table };
    // Steps are coarser than that.
    if !shape::of(shape).in_steps() && off(&nearer) > 0.005 { means } else { nearer }
}
