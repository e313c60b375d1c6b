//! All ways to give the values of a group to its rows, each as likely as its values fit their
//! rows.
//!
//! # Guarantee
//! Of a group that is gone through everything is exact but for rounding: how many rows of each
//! kind have each value ([`deal`]), mean and variance of what rows add ([`moments`]), a draw
//! ([`draw`]), and how likely the values are that the group has ([`likelihood`]).
//!
//! *Why.* Rows take their values one after the other. What is left for the others depends on
//! how often each value was taken, and on nothing else: a state. What can be said of all ways
//! through a state, forwards or backwards, is added up over its neighbours.
//!
//! In larger groups rows are scaled so that every row has one value and every value is had as
//! often as it is there. Scaling alone forgets that whoever takes a value leaves another one:
//! two rows of which each fits its own value a times as well as the other have them with odds
//! of a² to 1, and scaled with a to 1. With n rows that fit nearly evenly the odds are those
//! of a^(n / (n - 1)), so fits are raised to that power before: exact for two rows, for nearly
//! even ones and for very many, and short of the truth, never beyond it, between. The variance
//! is then what is left of what rows add after the best sum of a part of the row and a part of
//! the value, times n / (n - 1): exact where all fits are the same (Hoeffding's), and to first
//! order for many rows.
//!
//! # Limits
//! Groups with more than [`MOST_STATES`] states are scaled. Draws from these start anywhere
//! and swap values of two rows, [`SWEEPS`] times as often as there are rows.
//!
//! # Cost
//! States times values: `2^n` for `n` rows with different values.
//!
//! # Source
//! `hoeffding1951combinatorial`; docs/methods.md, "Learned arrangements".

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;

/// Groups with more states are not gone through.
pub(crate) const MOST_STATES: usize = 1 << 10;

/// The most rounds in which the values of a large group are scaled.
const ROUNDS: usize = 60;

/// The same while something is learned, which need not be exact.
const FEW_ROUNDS: usize = 5;

/// How far the rows that have a value may be from those that there are.
const NEAR: f64 = 1e-9;

/// How often each row of a large group is asked to swap its value.
const SWEEPS: usize = 40;

/// Rows that are alike: how many they are, and how well each value of the group fits them.
pub(crate) type Alike = (f64, Vec<f64>);

/// First moments of two numbers, and their second moments: the first's, the other's, both.
pub(crate) type Moments = ([f64; 2], [f64; 3]);

/// For rows that are alike, how many of them have each value. `counts` says how often each
/// value is there.
pub(crate) fn deal(rows: &[Alike], counts: &[f64]) -> Vec<Vec<f64>> {
    let gone_through = States::of(rows, counts).and_then(|states| states.deal());
    gone_through.unwrap_or_else(|| scaled(rows, counts, ROUNDS))
}

/// The same for who learns from it: nearly, of large groups.
pub(crate) fn deal_nearly(rows: &[Alike], counts: &[f64]) -> Vec<Vec<f64>> {
    let gone_through = States::of(rows, counts).and_then(|states| states.deal());
    gone_through.unwrap_or_else(|| scaled(rows, counts, FEW_ROUNDS))
}

/// How much likelier such rows make the values of a group than rows of which nothing is seen,
/// in nats. Of a large group each row is taken for itself.
pub(crate) fn likelihood(rows: &[Alike], counts: &[f64]) -> f64 {
    const LEAST: f64 = 1e-9;
    let size: f64 = counts.iter().sum();
    if let Some(states) = States::of(rows, counts) {
        return (states.total().ln() - log_ways(counts)).max(LEAST.ln());
    }
    let of_row = |fits: &[f64]| -> f64 {
        let sum: f64 = fits.iter().zip(counts).map(|(fit, n)| fit * n).sum();
        (sum / size).max(LEAST).ln()
    };
    rows.iter().map(|(n, fits)| n * of_row(fits)).sum()
}

/// The mean and the (co)variances of two numbers that rows add: `adds` has them for each kind
/// of rows and each value.
pub(crate) fn moments(
    rows: &[Alike],
    counts: &[f64],
    adds: &dyn Fn(usize, usize) -> [f64; 2],
) -> Moments {
    let gone_through = States::of(rows, counts).and_then(|states| states.moments(adds));
    gone_through.unwrap_or_else(|| spread(rows, counts, adds))
}

/// A value for each row, one kind of rows after the other.
pub(crate) fn draw(
    rows: &[Alike],
    counts: &[f64],
    random: &mut ChaCha20Rng,
) -> Vec<usize> {
    let gone_through = States::of(rows, counts).and_then(|states| states.draw(random));
    gone_through.unwrap_or_else(|| swapped(rows, counts, random))
}

/// The logarithm of the number of different ways to give these values to rows.
fn log_ways(counts: &[f64]) -> f64 {
    let log_factorial =
        |n: f64| (2..=n.round() as usize).map(|n| (n as f64).ln()).sum();
    let log_factorial: &dyn Fn(f64) -> f64 = &log_factorial;
    let own: f64 = counts.iter().map(|n| log_factorial(*n)).sum();
    log_factorial(counts.iter().sum()) - own
}

/// The ways to give values to the rows of a small group. A state says how many rows have had
/// each value; the number of these is the row that is next.
struct States<'a> {
    /// The kind of each row and its fits.
    rows: Vec<(usize, &'a [f64])>,
    n_kinds: usize,
    /// By how much a state grows with each value.
    strides: Vec<usize>,
    /// For each state the row that is next.
    next: Vec<u32>,
    /// And the values that are left, as bits.
    left: Vec<u64>,
    /// What all ways to a state count together.
    before: Vec<f64>,
}

impl<'a> States<'a> {
    /// Nothing if there are too many.
    fn of(alike: &'a [Alike], counts: &[f64]) -> Option<Self> {
        if counts.len() > u64::BITS as usize {
            return None;
        }
        let mut n_states = 1usize;
        let mut strides = Vec::with_capacity(counts.len());
        for count in counts {
            strides.push(n_states);
            n_states = n_states.checked_mul(count.round() as usize + 1)?;
            if n_states > MOST_STATES {
                return None;
            }
        }
        let rows = alike.iter().enumerate().flat_map(|(kind, (n, fits))| {
            std::iter::repeat_n((kind, fits.as_slice()), n.round() as usize)
        });
        let (mut next, mut left) = (vec![0u32; n_states], vec![0u64; n_states]);
        for (value, (stride, count)) in strides.iter().zip(counts).enumerate() {
            let count = count.round() as usize;
            // States with this value: those without, shifted once, twice and so on.
            for taken in 1..=count {
                for state in 0..*stride {
                    let from = state + taken * stride;
                    next[from] = next[state] + taken as u32;
                    left[from] = left[state];
                }
            }
            for taken in 0..count {
                for state in 0..*stride {
                    left[state + taken * stride] |= 1 << value;
                }
            }
        }
        let n_kinds = alike.len();
        let mut states = Self {
            rows: rows.collect(),
            n_kinds,
            strides,
            next,
            left,
            before: vec![0.0; n_states],
        };
        states.before[0] = 1.0;
        for state in 0..n_states {
            let weight = states.before[state];
            let Some(fits) = states.fits(state).filter(|_| weight > 0.0) else {
                continue;
            };
            for value in bits(states.left[state]) {
                states.before[state + states.strides[value]] += weight * fits[value];
            }
        }
        Some(states)
    }

    /// How well values fit the row that is next.
    fn fits(&self, state: usize) -> Option<&'a [f64]> {
        self.rows.get(self.next[state] as usize).map(|(_, fits)| *fits)
    }

    /// What all ways count together.
    fn total(&self) -> f64 {
        self.before.last().copied().unwrap_or(0.0)
    }

    /// The same from every state on; nothing if there is no way.
    fn after(&self) -> Option<Vec<f64>> {
        let n_states = self.before.len();
        let mut after = vec![0.0; n_states];
        after[n_states - 1] = 1.0;
        for state in (0..n_states).rev() {
            let Some(fits) = self.fits(state) else { continue };
            let each = bits(self.left[state]);
            after[state] = each
                .map(|value| fits[value] * after[state + self.strides[value]])
                .sum();
        }
        (self.total() > 0.0 && self.total().is_finite()).then_some(after)
    }

    fn deal(&self) -> Option<Vec<Vec<f64>>> {
        let (after, total) = (self.after()?, self.total());
        let mut dealt = vec![vec![0.0; self.strides.len()]; self.n_kinds];
        for (state, before) in self.before.iter().enumerate() {
            let Some((kind, fits)) = self.rows.get(self.next[state] as usize) else {
                continue;
            };
            for value in bits(self.left[state]) {
                let rest = fits[value] * after[state + self.strides[value]];
                dealt[*kind][value] += before * rest / total;
            }
        }
        Some(dealt)
    }

    fn moments(&self, adds: &dyn Fn(usize, usize) -> [f64; 2]) -> Option<Moments> {
        // Of all ways to a state: sums of what was added, of its squares and products.
        let n_states = self.before.len();
        let mut sums = vec![[0.0; 5]; n_states];
        for state in 0..n_states {
            let weight = self.before[state];
            let Some((kind, fits)) = self.rows.get(self.next[state] as usize) else {
                continue;
            };
            let [x, y, xx, yy, xy] = sums[state];
            for value in bits(self.left[state]) {
                let ([a, b], fit) = (adds(*kind, value), fits[value]);
                let to = &mut sums[state + self.strides[value]];
                to[0] += fit * (x + weight * a);
                to[1] += fit * (y + weight * b);
                to[2] += fit * (xx + 2.0 * a * x + weight * a * a);
                to[3] += fit * (yy + 2.0 * b * y + weight * b * b);
                to[4] += fit * (xy + a * y + b * x + weight * a * b);
            }
        }
        let total = self.total();
        if !(total > 0.0 && total.is_finite()) {
            return None;
        }
        let [x, y, xx, yy, xy] = sums[n_states - 1].map(|sum| sum / total);
        // What is left by rounding.
        let variance = |square: f64, mean: f64| {
            let open = square - mean * mean;
            if open > 1e-12 * square.abs() { open } else { 0.0 }
        };
        let (first, second) = (variance(xx, x), variance(yy, y));
        let both = if first > 0.0 && second > 0.0 { xy - x * y } else { 0.0 };
        Some(([x, y], [first, second, both]))
    }

    fn draw(&self, random: &mut ChaCha20Rng) -> Option<Vec<usize>> {
        let after = self.after()?;
        let mut drawn = Vec::with_capacity(self.rows.len());
        let mut state = 0;
        while let Some(fits) = self.fits(state) {
            let weight =
                |value: usize| fits[value] * after[state + self.strides[value]];
            let mut point = random.random::<f64>() * after[state];
            let possible = bits(self.left[state]).filter(|value| weight(*value) > 0.0);
            let mut chosen = None;
            for value in possible {
                chosen = Some(value);
                point -= weight(value);
                if point < 0.0 {
                    break;
                }
            }
            let value = chosen?;
            drawn.push(value);
            state += self.strides[value];
        }
        Some(drawn)
    }
}

/// The places of the bits that are set.
fn bits(mut left: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = left.trailing_zeros() as usize;
        (left != 0).then(|| {
            left &= left - 1;
            place
        })
    })
}

fn scaled(rows: &[Alike], counts: &[f64], rounds: usize) -> Vec<Vec<f64>> {
    let size: f64 = counts.iter().sum();
    let power = size / (size - 1.0).max(1.0);
    let raised = rows.iter().map(|(n, fits)| {
        let fits = fits.iter().map(|fit| fit.powf(power));
        (*n, fits.collect::<Vec<f64>>())
    });
    let rows: Vec<Alike> = raised.collect();
    let mut weights = counts.to_vec();
    let mut dealt = vec![vec![0.0; counts.len()]; rows.len()];
    for _ in 0..rounds {
        let mut given = vec![0.0; counts.len()];
        for ((n, fits), dealt) in rows.iter().zip(&mut dealt) {
            let shares = fits.iter().zip(&weights).map(|(fit, w)| fit * w);
            let total: f64 = shares.clone().sum();
            for (place, share) in shares.enumerate() {
                dealt[place] = match total > 0.0 {
                    true => n * share / total,
                    false => n * counts[place] / size,
                };
                given[place] += dealt[place];
            }
        }
        let mut off = 0.0f64;
        for ((weight, n), given) in weights.iter_mut().zip(counts).zip(&given) {
            *weight *= n / given.max(1e-12);
            off = off.max((n - given).abs());
        }
        if off < NEAR * size {
            break;
        }
    }
    dealt
}

/// Moments in a large group.
fn spread(
    rows: &[Alike],
    counts: &[f64],
    adds: &dyn Fn(usize, usize) -> [f64; 2],
) -> Moments {
    const FITS: usize = 30;
    let dealt = scaled(rows, counts, ROUNDS);
    let size: f64 = counts.iter().sum();
    let mut mean = [0.0; 2];
    let mut left: Vec<Vec<[f64; 2]>> = Vec::with_capacity(rows.len());
    for (kind, dealt) in dealt.iter().enumerate() {
        let own: Vec<[f64; 2]> =
            (0..counts.len()).map(|value| adds(kind, value)).collect();
        for (n, own) in dealt.iter().zip(&own) {
            mean[0] += n * own[0];
            mean[1] += n * own[1];
        }
        left.push(own);
    }
    for _ in 0..FITS {
        let mut moved = 0.0f64;
        for (dealt, left) in dealt.iter().zip(&mut left) {
            moved = moved.max(centre(dealt.iter().zip(left.iter_mut())));
        }
        for value in 0..counts.len() {
            let of_value = left.iter_mut().map(|left| &mut left[value]);
            let n = dealt.iter().map(|dealt| &dealt[value]);
            moved = moved.max(centre(n.zip(of_value)));
        }
        if moved < 1e-9 {
            break;
        }
    }
    let mut open = [0.0; 3];
    for (n, [a, b]) in dealt.iter().flatten().zip(left.iter().flatten()) {
        open[0] += n * a * a;
        open[1] += n * b * b;
        open[2] += n * a * b;
    }
    (mean, open.map(|open| open * size / (size - 1.0).max(1.0)))
}

/// Takes the mean off; returns how large it was.
fn centre<'a>(each: impl Iterator<Item = (&'a f64, &'a mut [f64; 2])>) -> f64 {
    let mut each: Vec<(&f64, &mut [f64; 2])> = each.collect();
    let total: f64 = each.iter().map(|(n, _)| **n).sum();
    if total <= 0.0 {
        return 0.0;
    }
    let mean = [0, 1]
        .map(|place| each.iter().map(|(n, own)| **n * own[place]).sum::<f64>() / total);
    for (_, own) in &mut each {
        own[0] -= mean[0];
        own[1] -= mean[1];
    }
    mean[0].abs().max(mean[1].abs())
}

/// An arrangement of a large group: from any, by swaps of two rows.
fn swapped(rows: &[Alike], counts: &[f64], random: &mut ChaCha20Rng) -> Vec<usize> {
    let kinds: Vec<&[f64]> = rows
        .iter()
        .flat_map(|(n, fits)| std::iter::repeat_n(fits.as_slice(), n.round() as usize))
        .collect();
    let mut values: Vec<usize> = counts
        .iter()
        .enumerate()
        .flat_map(|(value, n)| std::iter::repeat_n(value, n.round() as usize))
        .collect();
    values.shuffle(random);
    let n = kinds.len().min(values.len());
    for _ in 0..SWEEPS * n {
        let (a, b) = (random.random_range(0..n), random.random_range(0..n));
        let (now, then) = (
            kinds[a][values[a]] * kinds[b][values[b]],
            kinds[a][values[b]] * kinds[b][values[a]],
        );
        if then >= now || random.random::<f64>() * now < then {
            values.swap(a, b);
        }
    }
    values
}

#[cfg(test)]
#[path = "arrangements_tests.rs"]
mod tests;
