//! Which class a new row is likely of: the published rows that fit it best.
//!
//! # Guarantee
//! A row fits a point by the logarithm of its own density there, with the published numbers
//! as its centre. The q best fits vote, each with the power e^fit: the class with the
//! largest sum is the most likely one, if the point is the true row behind one of them.
//! The answer is the same as that of looking at every row.
//!
//! # Limits
//! Rows with missing numbers do not vote. Among rows that fit equally well (even noise has
//! one density throughout) the nearest are taken, in units of their spread. If no row can
//! lie at the point, the nearest rows vote, one each, measured by the deviations of the
//! columns; so they do if nothing was blurred. A number without noise is as wide as a step.
//!
//! # Cost
//! One search in a tree for every different noise; trees are left out that cannot hold a
//! better fit. Where each row has noise of its own, all rows are looked at.
//!
//! # Source
//! `aggarwal2008unifying`, section 2.E; docs/methods.md, "Nearest neighbours".

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::estimate::evidence::{Evidence, Nature, canonical};
use crate::estimate::laws::numbers::{Placed, law, stretch};
use crate::space::{Shape, Space};
use crate::table::Reading;

/// Fewer rows are looked at one by one.
const FEW: usize = 48;

/// Tells the class of points from published rows.
#[derive(Debug)]
pub struct Classifier {
    columns: Vec<String>,
    /// The classes, in order, and how their texts are read.
    names: Vec<Box<str>>,
    reading: Reading,
    /// The class of each row.
    classes: Vec<u32>,
    n_classes: usize,
    shape: Option<Shape>,
    /// Rows with the same noise, those with the highest density first.
    parts: Vec<SameNoise>,
    /// All rows, in deviations of the columns.
    plain: Space,
    deviations: Vec<f64>,
}

/// Rows with the same noise.
#[derive(Debug)]
struct SameNoise {
    axes: Option<Vec<Vec<f64>>>,
    spreads: Vec<f64>,
    /// The logarithm of the density at the centre, without what all rows share.
    peak: f64,
    rows: Vec<u32>,
    /// The rows along the axes, in spreads.
    points: Vec<f64>,
    space: Option<Space>,
}

/// What the neighbours of a point say.
#[derive(Debug, Clone, PartialEq)]
pub struct Vote {
    /// The likeliest class.
    pub class: usize,
    /// How likely each class is, by the neighbours.
    pub shares: Vec<f64>,
}

impl Classifier {
    /// From numbers and spreads, `dims` for each row, and the class of each row. Spreads of
    /// zero are as wide as the smallest other one of their column.
    pub fn new(
        shape: Shape,
        values: &[f64],
        spreads: &[f64],
        classes: &[u32],
        dims: usize,
    ) -> Result<Self> {
        if values.len() != classes.len() * dims || spreads.len() != values.len() {
            return Err(Error::input(format!(
                "{} rows of {dims} numbers have {} numbers and {} spreads",
                classes.len(),
                values.len(),
                spreads.len()
            )));
        }
        let mut least = vec![f64::INFINITY; dims];
        for row in spreads.chunks_exact(dims.max(1)) {
            for (least, spread) in least.iter_mut().zip(row) {
                *least = if *spread > 0.0 { least.min(*spread) } else { *least };
            }
        }
        let blurred = least.iter().any(|least| least.is_finite());
        let spread_of = |row: usize| -> Vec<f64> {
            let own = spreads[row * dims..][..dims].iter().zip(&least);
            let width = |least: &f64| if least.is_finite() { *least } else { 1.0 };
            own.map(|(s, least)| if *s > 0.0 { *s } else { width(least) }).collect()
        };
        let rows = (0..classes.len()).map(|row| Placed {
            values: values[row * dims..][..dims].to_vec(),
            axes: None,
            spreads: spread_of(row),
        });
        let shape = blurred.then_some(shape);
        Ok(Self::gathered(shape, dims, rows.collect(), classes.to_vec()))
    }

    /// From a release with blurred or condensed numbers; classes are the values of a column
    /// that is neither. Rows without a class are left out.
    pub fn of(evidence: &Evidence, class: &str) -> Result<Self> {
        let Some(blurred) = &evidence.blurred else {
            return Err(Error::recipe(
                "the release has no blurred or condensed numbers to compare rows by",
            ));
        };
        let column = &evidence.columns[evidence.column(class)?];
        let why = match column.nature {
            Nature::Kept => None,
            Nature::Number(_) => Some("has numbers that were changed"),
            Nature::Coarse(_) | Nature::Drawn(..) | Nature::Apart => {
                Some("is not published as it is")
            }
        };
        if let Some(why) = why {
            let name = &column.name;
            return Err(Error::recipe(format!(
                "`{name}` {why}: it cannot be the class"
            ))
            .with_hint("choose a column that was published as it is"));
        }
        let mut known: Vec<bool> =
            column.texts.iter().map(|text| !column.reading.is_missing(text)).collect();
        let mut classes = Vec::new();
        let mut rows = Vec::new();
        for (row, placed) in blurred.complete() {
            let code = column.codes[blurred.kind(row)];
            if known[code as usize] {
                classes.push(code);
                rows.push(placed);
            }
        }
        // Missing values come last and are no class.
        known.retain(|known| *known);
        let columns: Vec<String> = blurred.names().map(str::to_owned).collect();
        if rows.is_empty() {
            return Err(Error::input("no row has all numbers and a class"));
        }
        let mut all = Self::gathered(blurred.shape(), columns.len(), rows, classes);
        all.names = column.texts[..known.len()].to_vec();
        all.n_classes = known.len();
        all.reading = column.reading.clone();
        all.columns = columns;
        Ok(all)
    }

    fn gathered(
        shape: Option<Shape>,
        dims: usize,
        rows: Vec<Placed>,
        classes: Vec<u32>,
    ) -> Self {
        let mut deviations = vec![0.0; dims];
        let n = rows.len().max(1) as f64;
        for (column, deviation) in deviations.iter_mut().enumerate() {
            let numbers = || rows.iter().map(|row| row.values[column]);
            let mean = numbers().sum::<f64>() / n;
            let variance = numbers().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
            *deviation = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        }
        let scaled = rows.iter().flat_map(|row| {
            row.values
                .iter()
                .zip(&deviations)
                .map(|(value, deviation)| value / deviation)
        });
        let plain = Space::new(dims, &scaled.collect::<Vec<f64>>());
        let mut parts: Vec<SameNoise> = Vec::new();
        let mut numbers: HashMap<Vec<u64>, usize> = HashMap::new();
        for (row, Placed { values, axes, spreads }) in rows.iter().enumerate() {
            if shape.is_none() {
                break;
            }
            let all = axes.iter().flat_map(|axes| axes.iter().flatten()).chain(spreads);
            let key = all.map(|number| number.to_bits()).collect();
            let number = *numbers.entry(key).or_insert_with(|| {
                parts.push(SameNoise {
                    axes: axes.map(<[Vec<f64>]>::to_vec),
                    spreads: spreads.clone(),
                    peak: stretch(axes.unwrap_or_default())
                        - spreads.iter().map(|spread| spread.ln()).sum::<f64>(),
                    rows: Vec::new(),
                    points: Vec::new(),
                    space: None,
                });
                parts.len() - 1
            });
            let part = &mut parts[number];
            let point = part.turned(values);
            part.points.extend(point);
            part.rows.push(row as u32);
        }
        parts.sort_by(|a, b| b.peak.total_cmp(&a.peak));
        for part in &mut parts {
            if part.rows.len() >= FEW {
                part.space = Some(Space::new(dims, &part.points));
            }
        }
        let n_classes = classes.iter().max().map_or(0, |class| *class as usize + 1);
        Self {
            columns: Vec::new(),
            names: Vec::new(),
            reading: Reading::category(),
            classes,
            n_classes,
            shape,
            parts,
            plain,
            deviations,
        }
    }

    /// The columns by which rows are compared, if they come from a release.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The classes, if they come from a release.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// The class that a text means.
    pub fn class_of(&self, text: &str) -> Option<usize> {
        let text = canonical(text, &self.reading);
        self.names.iter().position(|name| **name == *text)
    }

    /// The likeliest class of a point, by its `q` best neighbours.
    pub fn classify(&self, point: &[f64], q: usize) -> Vote {
        let mut votes = vec![0.0; self.n_classes];
        let mut fits = self.best(point, q.max(1));
        if fits.is_empty() {
            let place = point.iter().zip(&self.deviations).map(|(p, s)| p / s);
            let nearest = self.plain.nearest(&place.collect::<Vec<f64>>(), q.max(1));
            fits = nearest.into_iter().map(|(_, row)| (0.0, 0.0, row as u32)).collect();
        }
        // The best fit has the power 1, so that nothing overflows.
        let best = fits.first().map_or(0.0, |(fit, ..)| *fit);
        for (fit, _, row) in &fits {
            votes[self.classes[*row as usize] as usize] += (fit - best).exp();
        }
        let all: f64 = votes.iter().sum();
        let shares: Vec<f64> = votes.iter().map(|vote| vote / all).collect();
        let mut class = 0;
        for (other, share) in shares.iter().enumerate() {
            if *share > shares[class] {
                class = other;
            }
        }
        Vote { class, shares }
    }

    /// The best fits: fit, squared distance in spreads, and row.
    fn best(&self, point: &[f64], q: usize) -> Vec<(f64, f64, u32)> {
        let mut fits: Vec<(f64, f64, u32)> = Vec::new();
        let Some(shape) = self.shape else {
            return fits;
        };
        for part in &self.parts {
            if fits.len() == q && fits[q - 1].0 > part.peak {
                break;
            }
            part.gather(shape, point, q, &mut fits);
            fits.sort_by(|a, b| {
                b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
            });
            fits.truncate(q);
        }
        fits
    }
}

impl SameNoise {
    /// A point along the axes, in spreads.
    fn turned(&self, point: &[f64]) -> Vec<f64> {
        let along = |axis: usize| match &self.axes {
            None => point[axis],
            Some(axes) => axes[axis].iter().zip(point).map(|(a, p)| a * p).sum(),
        };
        self.spreads.iter().enumerate().map(|(axis, s)| along(axis) / s).collect()
    }

    /// Adds rows among which the `q` best of this part are.
    fn gather(
        &self,
        shape: Shape,
        point: &[f64],
        q: usize,
        fits: &mut Vec<(f64, f64, u32)>,
    ) {
        let point = self.turned(point);
        let places = match &self.space {
            Some(space) => law::best(shape, space, &point, q),
            None => (0..self.rows.len()).collect(),
        };
        let dims = point.len();
        for place in places {
            let other = &self.points[place * dims..][..dims];
            let apart = other.iter().zip(&point).map(|(a, b)| a - b);
            let misfit: f64 = apart.clone().map(|u| shape.misfit(u)).sum();
            if misfit.is_finite() {
                let distance = apart.map(|u| u * u).sum();
                fits.push((self.peak - 0.5 * misfit, distance, self.rows[place]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    use super::*;

    /// The shares by looking at every row.
    fn oracle(
        shape: Shape,
        (values, spreads, classes): (&[f64], &[f64], &[u32]),
        point: &[f64],
        q: usize,
    ) -> Option<Vec<f64>> {
        let dims = point.len();
        let mut fits = Vec::new();
        for (row, class) in classes.iter().enumerate() {
            let (mut fit, mut far) = (0.0, 0.0);
            for axis in 0..dims {
                let s = spreads[row * dims + axis];
                let u = (values[row * dims + axis] - point[axis]) / s;
                far += u * u;
                fit -= 0.5 * shape.misfit(u) + s.ln();
            }
            fits.push((fit, far, *class));
        }
        fits.retain(|(fit, ..)| fit.is_finite());
        // Sums in another order differ in the last digit.
        let key = |fit: f64| (fit * 1e9).round();
        fits.sort_by(|a, b| key(b.0).total_cmp(&key(a.0)).then(a.1.total_cmp(&b.1)));
        fits.truncate(q);
        let best = fits.first()?.0;
        let mut votes = vec![0.0; 3];
        fits.iter()
            .for_each(|(fit, _, class)| votes[*class as usize] += (fit - best).exp());
        let all: f64 = votes.iter().sum();
        Some(votes.into_iter().map(|vote| vote / all).collect())
    }

    #[test]
    fn votes_are_those_of_all_rows() {
        let mut random = ChaCha20Rng::seed_from_u64(5);
        for shape in Shape::ALL {
            for own in [false, true] {
                let n = 400;
                let dims = 2;
                let number = |random: &mut ChaCha20Rng| random.random_range(0.0..10.0);
                let values: Vec<f64> =
                    (0..n * dims).map(|_| number(&mut random)).collect();
                let classes: Vec<u32> =
                    (0..n).map(|_| random.random_range(0..3)).collect();
                let spreads: Vec<f64> = (0..n)
                    .flat_map(|row| {
                        let level = [0.5, 1.0, 2.5][row % 3];
                        let own = if own { random.random_range(0.9..1.1) } else { 1.0 };
                        [level * own, 1.3 * level * own]
                    })
                    .collect();
                let made =
                    Classifier::new(shape, &values, &spreads, &classes, dims).unwrap();
                let mut none = 0;
                for _ in 0..200 {
                    let point = [number(&mut random) * 1.4, number(&mut random)];
                    let found = made.classify(&point, 7);
                    let rows = (&values[..], &spreads[..], &classes[..]);
                    match oracle(shape, rows, &point, 7) {
                        None => none += 1,
                        Some(shares) => {
                            for (a, b) in found.shares.iter().zip(&shares) {
                                assert!((a - b).abs() < 1e-9, "{found:?} {shares:?}");
                            }
                            let best = shares.iter().copied().fold(0.0, f64::max);
                            assert!((shares[found.class] - best).abs() < 1e-9);
                        }
                    }
                }
                assert_eq!(none > 0, shape == Shape::Uniform);
            }
        }
    }

    #[test]
    fn without_noise_the_nearest_vote() {
        // The second column varies by less, so it counts for more.
        let values = [0.0, 0.0, 100.0, 0.0, 0.0, 1.0, 100.0, 1.0];
        let classes = [0, 0, 1, 1];
        let made =
            Classifier::new(Shape::Gaussian, &values, &[0.0; 8], &classes, 2).unwrap();
        let found = made.classify(&[40.0, 0.2], 1);
        assert_eq!((found.class, found.shares), (0, vec![1.0, 0.0]));
        assert_eq!(made.classify(&[60.0, 0.6], 3).class, 1);
        let wrong = Classifier::new(Shape::Gaussian, &values, &[0.0; 7], &classes, 2);
        assert_eq!(
            wrong.unwrap_err().to_string(),
            "4 rows of 2 numbers have 8 numbers and 7 spreads"
        );
        // Nothing reaches the point: the nearest row decides.
        let far = Classifier::new(Shape::Uniform, &values, &[0.1; 8], &classes, 2);
        assert_eq!(far.unwrap().classify(&[40.0, 0.9], 1).class, 1);
    }
}
