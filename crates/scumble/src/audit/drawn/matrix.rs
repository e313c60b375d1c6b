//! The matrix of a randomized column, and how much one published value can tell.
//!
//! # Guarantee
//! [`Matrix::amplified`] is the largest ratio over every published value and every pair of
//! original values with the one in question; tests compare it with all triples.
//!
//! # Limits
//! Entries are floats: whoever compares a ratio with a limit must leave a few units in the
//! last place, see [`UP`].
//!
//! # Cost
//! O(m) for matrices that keep a value or draw evenly, O(m²) for others.
//!
//! # Source
//! `evfimievski2003limiting`; docs/methods.md, "Randomization".

use crate::audit::drawn::columns::malformed;
use crate::error::Result;
use crate::release::OperatorNote;

/// An entry is right within a few roundings; a ratio times this is not below the exact one.
pub(crate) const UP: f64 = 1.0 + 16.0 * f64::EPSILON;

/// How likely each original value is published as each value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Matrix {
    /// Each value is kept with its own probability, otherwise drawn evenly.
    Mixed {
        /// The probability to be kept.
        keep: Vec<f64>,
        /// The probability to become any one other value.
        other: Vec<f64>,
    },
    /// A row for each published value.
    General(Vec<Vec<f64>>),
}

/// The largest ratios of one value's entries to those of others, over published values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Amplified {
    /// How many times as likely as another it leads to a published value.
    pub(crate) up: f64,
    /// How many times as likely another leads there.
    pub(crate) down: f64,
}

impl Matrix {
    /// Reads and checks a matrix over `size` values.
    pub(crate) fn of(note: &OperatorNote, size: usize) -> Result<Self> {
        let is_share = |number: &f64| (0.0..=1.0).contains(number);
        let mixed = |keep: Vec<f64>| {
            let share = |keep: &f64| (1.0 - keep) / size as f64;
            let other = keep.iter().map(share).collect();
            Self::Mixed { keep, other }
        };
        match note {
            OperatorNote::Uniform { keep } if is_share(keep) => {
                Ok(mixed(vec![*keep; size]))
            }
            OperatorNote::FineGrain { keep } if keep.len() != size => {
                Err(malformed("as many probabilities as values are needed"))
            }
            OperatorNote::FineGrain { keep } if keep.iter().all(is_share) => {
                Ok(mixed(keep.clone()))
            }
            OperatorNote::General { matrix } => {
                let square =
                    matrix.len() == size && matrix.iter().all(|row| row.len() == size);
                if !square {
                    return Err(malformed("a matrix must have all values both ways"));
                }
                if !matrix.iter().flatten().all(is_share) {
                    return Err(malformed("a probability is not from 0 to 1"));
                }
                let mut sums = vec![0.0; size];
                for row in matrix {
                    for (sum, entry) in sums.iter_mut().zip(row) {
                        *sum += entry;
                    }
                }
                if sums.iter().any(|sum| (sum - 1.0).abs() > 1e-9) {
                    return Err(malformed("a column of a matrix does not add up to 1"));
                }
                Ok(Self::General(matrix.clone()))
            }
            _ => Err(malformed("a probability is not from 0 to 1")),
        }
    }

    /// How many values there are.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Mixed { keep, .. } => keep.len(),
            Self::General(rows) => rows.len(),
        }
    }

    /// How likely `original` is published as `published`.
    pub(crate) fn entry(&self, published: usize, original: usize) -> f64 {
        match self {
            Self::Mixed { keep, other } if published == original => {
                keep[original] + other[original]
            }
            Self::Mixed { other, .. } => other[original],
            Self::General(rows) => rows[published][original],
        }
    }

    /// What is believed of each original value, times how likely it is published as
    /// `published`.
    pub(crate) fn weigh(
        &self,
        published: usize,
        belief: &[f64],
        weights: &mut Vec<f64>,
    ) {
        weights.clear();
        let row = match self {
            Self::Mixed { other, .. } => other,
            Self::General(rows) => &rows[published],
        };
        weights.extend(belief.iter().zip(row).map(|(held, entry)| held * entry));
        if let Self::Mixed { .. } = self {
            weights[published] = belief[published] * self.entry(published, published);
        }
    }

    /// How likely each value is published, if original values have these shares.
    pub(crate) fn published(&self, shares: &[f64]) -> Vec<f64> {
        match self {
            Self::Mixed { keep, other } => {
                let even: f64 = other.iter().zip(shares).map(|(o, f)| o * f).sum();
                keep.iter().zip(shares).map(|(keep, f)| even + keep * f).collect()
            }
            Self::General(rows) => {
                let sum =
                    |row: &Vec<f64>| row.iter().zip(shares).map(|(p, f)| p * f).sum();
                rows.iter().map(sum).collect()
            }
        }
    }

    /// For each original value the sum over published ones of entry times weight.
    pub(crate) fn gathered(&self, weights: &[f64]) -> Vec<f64> {
        match self {
            Self::Mixed { keep, other } => {
                let total: f64 = weights.iter().sum();
                let each = keep.iter().zip(other).zip(weights);
                each.map(|((keep, other), weight)| other * total + keep * weight)
                    .collect()
            }
            Self::General(rows) => {
                let mut sums = vec![0.0; rows.len()];
                for (row, weight) in rows.iter().zip(weights) {
                    for (sum, entry) in sums.iter_mut().zip(row) {
                        *sum += entry * weight;
                    }
                }
                sums
            }
        }
    }

    /// The expected share of rows published as they are.
    pub(crate) fn kept(&self, shares: &[f64]) -> f64 {
        shares.iter().enumerate().map(|(code, f)| f * self.entry(code, code)).sum()
    }

    /// For each value the largest ratios over all published values. With a single value in
    /// the domain everything is known, and they are infinite.
    pub(crate) fn amplified(&self) -> Vec<Amplified> {
        if self.size() == 1 {
            return vec![Amplified { up: f64::INFINITY, down: f64::INFINITY }];
        }
        let (extremes, values) = (Extremes::of(self), 0..self.size());
        match self {
            // Where a value is kept it stands out most from below, and where another is
            // kept it is most stood out from.
            Self::Mixed { .. } => {
                let diagonal = values.clone().map(|code| self.entry(code, code));
                let kept = largest(&diagonal.collect::<Vec<f64>>());
                let value = |value: usize| {
                    let other = kept.iter().find(|(_, code)| *code != value);
                    let other = other.map_or(value, |(_, code)| *code);
                    let down = extremes.ratios(other, value).down;
                    Amplified { up: extremes.ratios(value, value).up, down }
                };
                values.map(value).collect()
            }
            Self::General(_) => {
                let value = |value: usize| {
                    let all = values.clone().map(|row| extremes.ratios(row, value));
                    all.fold(Amplified { up: 0.0, down: 0.0 }, |a, b| Amplified {
                        up: a.up.max(b.up),
                        down: a.down.max(b.down),
                    })
                };
                values.clone().map(value).collect()
            }
        }
    }

    /// For each published value whether a ratio of one of the `values` passes its limit
    /// there, `both` ways or upwards only.
    pub(crate) fn passing(&self, values: &[(usize, f64)], both: bool) -> Vec<bool> {
        if self.size() == 1 {
            return vec![!values.is_empty()];
        }
        let extremes = Extremes::of(self);
        let passes = |published: usize| {
            values.iter().any(|(value, limit)| {
                let found = extremes.ratios(published, *value);
                found.up * UP > *limit || (both && found.down * UP > *limit)
            })
        };
        (0..self.size()).map(passes).collect()
    }
}

/// The smallest and largest entries of each row, enough of them to leave one value out.
struct Extremes<'a> {
    matrix: &'a Matrix,
    // One for each row; for mixed matrices a single one, of the entries off the diagonal.
    rows: Vec<([WeightedPlace; 3], [WeightedPlace; 3])>,
}

type WeightedPlace = (f64, usize);

impl<'a> Extremes<'a> {
    fn of(matrix: &'a Matrix) -> Self {
        let both = |row: &[f64]| (smallest(row), largest(row));
        let rows = match matrix {
            Matrix::Mixed { other, .. } => vec![both(other)],
            Matrix::General(rows) => rows.iter().map(|row| both(row)).collect(),
        };
        Self { matrix, rows }
    }

    /// The ratios of a value in the row of a published one.
    fn ratios(&self, published: usize, value: usize) -> Amplified {
        let own = self.matrix.entry(published, value);
        let first = |ranked: &[WeightedPlace; 3], but: usize| {
            let found = ranked.iter().find(|(_, code)| *code != value && *code != but);
            found.map(|(entry, _)| *entry)
        };
        let (low, high) = match self.matrix {
            Matrix::General(_) => {
                let (low, high) = &self.rows[published];
                (first(low, value), first(high, value))
            }
            Matrix::Mixed { .. } => {
                let (low, high) = &self.rows[0];
                let kept = (published != value)
                    .then(|| self.matrix.entry(published, published));
                let low = first(low, published).filter(|low| low.is_finite());
                let high = first(high, published).filter(|high| high.is_finite());
                (
                    low.into_iter().chain(kept).reduce(f64::min),
                    high.into_iter().chain(kept).reduce(f64::max),
                )
            }
        };
        let (low, high) = (low.unwrap_or(0.0), high.unwrap_or(0.0));
        Amplified { up: ratio(own, low), down: ratio(high, own) }
    }
}

/// Nothing is zero times anything.
fn ratio(above: f64, below: f64) -> f64 {
    if above == 0.0 { 0.0 } else { above / below }
}

/// The three smallest, with their places; filled up with infinity.
fn smallest(values: &[f64]) -> [WeightedPlace; 3] {
    let mut found = [(f64::INFINITY, usize::MAX); 3];
    for (place, value) in values.iter().enumerate() {
        if *value < found[2].0 {
            found[2] = (*value, place);
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
    }
    found
}

/// The three largest, with their places; filled up with minus infinity.
fn largest(values: &[f64]) -> [WeightedPlace; 3] {
    let negative: Vec<f64> = values.iter().map(|value| -value).collect();
    smallest(&negative).map(|(value, place)| (-value, place))
}
