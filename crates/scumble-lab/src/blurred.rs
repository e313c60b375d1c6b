//! Numbers with noise: tables that are drawn, the numbers of Adult, and what is published of
//! them.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;
use scumble::error::Result;
use scumble::method::{
    BlurTask, Blurred, ClassRules, CondensationTask, blur, condense, draw_noise,
};
use scumble::random::Randomness;
use scumble::space::{FrameKind, Shape};
use scumble::table::{Numbers, NumbersTask, Reading};
use scumble::watch::Unwatched;

use crate::Data;
use crate::adult::{Adult, CLASS};
use crate::private::cannot_be_met;

/// The numbers of Adult.
const SIX: [&str; 6] = [
    "age",
    "fnlwgt",
    "education-num",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
];

/// Drawn numbers have so many columns, and so many decimals.
const DRAWN: usize = 5;
const DECIMALS: u32 = 7;

/// The most levels of a ladder.
const LEVELS: usize = 5;

/// Rows of numbers with a class each.
#[derive(Debug, Clone)]
pub(crate) struct ClassedRows {
    pub(crate) name: String,
    /// All of one kind.
    pub(crate) numbers: Numbers,
    pub(crate) classes: Vec<u32>,
    /// Whether the unit cube is where its rows, or the centres of its clusters, are.
    pub(crate) in_cube: bool,
}

/// Published numbers, row after row.
#[derive(Debug, Clone)]
pub(crate) struct PublishedNumbers {
    pub(crate) shape: Shape,
    pub(crate) values: Vec<f64>,
    /// Zero where a number is as it is.
    pub(crate) spreads: Vec<f64>,
    /// Whether the row is there at all.
    pub(crate) there: Vec<bool>,
}

/// How numbers are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// As in the source: every row with a spread of its own.
    Paper(Shape),
    /// From a ladder, with company at the same level only.
    Strict(Shape),
    /// Drawn anew in groups, those of each class on their own if so.
    Condensed(bool),
}

impl Scheme {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Paper(shape) => shape.name().to_owned(),
            Self::Strict(shape) => format!("{}, strict", shape.name()),
            Self::Condensed(_) => "condensation".to_owned(),
        }
    }
}

impl ClassedRows {
    /// Evenly in a cube: U10K, if there are so many rows. Two classes by halves.
    pub(crate) fn uniform(rows: usize) -> Self {
        let mut words = Randomness::of_seed(31).stream("U", rows as u64);
        let values: Vec<f64> = (0..rows * DRAWN).map(|_| words.random()).collect();
        let classes = values.chunks_exact(DRAWN).map(|row| u32::from(row[0] < 0.5));
        Self::drawn("U", rows, values.clone(), classes.collect())
    }

    /// Twenty clusters of different widths and sizes, and one row in a hundred anywhere:
    /// G20.D10K, if there are so many rows. A cluster has one of two classes, and one row in
    /// ten the other.
    pub(crate) fn clusters(rows: usize) -> Self {
        const CLUSTERS: usize = 20;
        let mut words = Randomness::of_seed(32).stream("G20", rows as u64);
        let mut even = |most: f64| -> Vec<f64> {
            (0..DRAWN).map(|_| most * words.random::<f64>()).collect()
        };
        let centres: Vec<Vec<f64>> = (0..CLUSTERS).map(|_| even(1.0)).collect();
        let widths: Vec<Vec<f64>> = (0..CLUSTERS).map(|_| even(0.5)).collect();
        let sizes: Vec<f64> =
            (0..CLUSTERS).map(|_| words.random_range(0.5..1.0)).collect();
        let of_cluster: Vec<u32> =
            (0..CLUSTERS).map(|_| words.random_range(0..2)).collect();
        let all: f64 = sizes.iter().sum();
        let outliers = rows / 100;
        // Rows up to which each cluster reaches.
        let mut ends = Vec::new();
        let mut sum = 0.0;
        for size in &sizes {
            sum += size / all;
            ends.push((sum * (rows - outliers) as f64).round() as usize);
        }
        let mut each: Vec<(Vec<f64>, u32)> = (0..rows)
            .map(|row| {
                let cluster = ends.partition_point(|end| *end <= row);
                if cluster == CLUSTERS {
                    let anywhere = (0..DRAWN).map(|_| words.random()).collect();
                    return (anywhere, words.random_range(0..2));
                }
                let place = (0..DRAWN).map(|axis| {
                    centres[cluster][axis] + widths[cluster][axis] * normal(&mut words)
                });
                let place = place.collect();
                let other = u32::from(words.random::<f64>() < 0.1);
                (place, of_cluster[cluster] ^ other)
            })
            .collect();
        each.shuffle(&mut words);
        let values = each.iter().flat_map(|(row, _)| row.iter().copied()).collect();
        let classes = each.iter().map(|(_, class)| *class).collect();
        Self::drawn("G20.D", rows, values, classes)
    }

    fn drawn(name: &str, rows: usize, values: Vec<f64>, classes: Vec<u32>) -> Self {
        let size = if rows >= 1000 && rows.is_multiple_of(1000) {
            format!("{}K", rows / 1000)
        } else {
            rows.to_string()
        };
        let mut numbers = Numbers {
            n_rows: rows,
            decimals: vec![DECIMALS; DRAWN],
            values,
            kinds: vec![0; rows],
            kind_cells: vec![Vec::new()],
            wishes: Vec::new(),
            persons: Vec::new(),
        };
        numbers.snap(&[DECIMALS; DRAWN]);
        Self { name: format!("{name}{size}"), numbers, classes, in_cube: true }
    }

    /// The numbers of Adult; classes by income.
    pub(crate) fn adult(data: &Data) -> Result<Self> {
        let task = NumbersTask {
            numbers: SIX.map(|name| (name, Reading::number())).to_vec(),
            exact: vec![(CLASS, Reading::category())],
            wish: None,
            person: None,
        };
        let source = Adult::read(data)?.source(None)?;
        let mut numbers = Numbers::read(&source, &task, &Unwatched)?;
        let classes = std::mem::replace(&mut numbers.kinds, vec![0; numbers.n_rows]);
        numbers.kind_cells = vec![Vec::new()];
        Ok(Self { name: "Adult".to_owned(), numbers, classes, in_cube: false })
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.numbers.n_rows
    }

    pub(crate) fn dims(&self) -> usize {
        self.numbers.n_columns()
    }

    /// Some of its rows.
    pub(crate) fn part(&self, rows: impl Iterator<Item = usize> + Clone) -> Self {
        let values: Vec<f64> =
            rows.clone().flat_map(|row| self.numbers.row(row).to_vec()).collect();
        let classes: Vec<u32> = rows.map(|row| self.classes[row]).collect();
        let n_rows = classes.len();
        let numbers =
            Numbers { n_rows, values, kinds: vec![0; n_rows], ..self.numbers.clone() };
        Self { numbers, classes, ..self.clone() }
    }

    /// How its rows are blurred.
    pub(crate) fn blurred(
        &self,
        shape: Shape,
        strict: bool,
        k: f64,
    ) -> Result<Blurred> {
        blur(&self.task(shape, strict, &vec![k; self.n_rows()]))
    }

    fn task<'a>(
        &'a self,
        shape: Shape,
        strict: bool,
        wishes: &'a [f64],
    ) -> BlurTask<'a> {
        BlurTask {
            numbers: &self.numbers,
            decimals: &self.numbers.decimals,
            shape,
            frame: FrameKind::Global,
            wishes,
            strict,
            best_guess: None,
            levels: LEVELS,
            parts: None,
            limit: 0,
            classes: ClassRules::default(),
        }
    }

    /// What is published, or nothing if no release hides everybody among k.
    pub(crate) fn published(
        &self,
        scheme: Scheme,
        k: f64,
        seed: u64,
    ) -> Result<Option<PublishedNumbers>> {
        let found = match scheme {
            Scheme::Paper(shape) => self
                .blurred(shape, false, k)
                .and_then(|found| self.noisy(&found, shape, seed)),
            Scheme::Strict(shape) => self
                .blurred(shape, true, k)
                .and_then(|found| self.noisy(&found, shape, seed)),
            Scheme::Condensed(by_class) => self.condensed(by_class, k, seed),
        };
        match found {
            Ok(found) => Ok(Some(found)),
            Err(error) if cannot_be_met(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Draws the noise.
    pub(crate) fn noisy(
        &self,
        blurred: &Blurred,
        shape: Shape,
        seed: u64,
    ) -> Result<PublishedNumbers> {
        let mut there = vec![true; self.n_rows()];
        let mut spreads = blurred.spreads.clone();
        let strict = spreads.is_empty();
        if strict {
            for (row, place) in blurred.places.iter().enumerate() {
                there[row] = place.is_some();
                match place {
                    Some((frame, level)) => {
                        let frame = &blurred.frames[*frame as usize];
                        spreads.extend(&frame.levels[*level as usize]);
                    }
                    None => spreads.extend(vec![0.0; self.dims()]),
                }
            }
        }
        let task = self.task(shape, strict, &[]);
        let values = draw_noise(&task, blurred, &Randomness::of_seed(seed))?;
        Ok(PublishedNumbers { shape, values, spreads, there })
    }

    fn condensed(&self, by_class: bool, k: f64, seed: u64) -> Result<PublishedNumbers> {
        let mut numbers = self.numbers.clone();
        if by_class {
            numbers.kinds.clone_from(&self.classes);
            let classes = self.classes.iter().max().map_or(0, |class| class + 1);
            numbers.kind_cells = vec![Vec::new(); classes as usize];
        }
        let randomness = Randomness::of_seed(seed);
        let found = condense(&CondensationTask {
            numbers: &numbers,
            decimals: &numbers.decimals,
            wishes: &vec![k; self.n_rows()],
            randomness: &randomness,
        })?;
        let values = found.values(&numbers.decimals, &randomness);
        Ok(PublishedNumbers {
            shape: Shape::Gaussian,
            spreads: vec![0.0; values.len()],
            values,
            there: vec![true; self.n_rows()],
        })
    }
}

/// A standard normal number.
fn normal(words: &mut ChaCha20Rng) -> f64 {
    let radius = (-2.0 * (1.0 - words.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * words.random::<f64>()).cos()
}

#[cfg(test)]
mod tests {
    use scumble::table::snapped;

    use super::*;

    #[test]
    fn drawn_tables_are_as_described() {
        let table = ClassedRows::uniform(2000);
        assert_eq!((table.name.as_str(), table.dims()), ("U2K", 5));
        let mean = table.numbers.values.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02);
        let table = ClassedRows::clusters(2500);
        assert_eq!((table.name.as_str(), table.n_rows()), ("G20.D2500", 2500));
        let ones = table.classes.iter().sum::<u32>();
        assert!((100..2400).contains(&ones), "{ones}");
        let half = table.part((0..2500).step_by(2));
        assert_eq!(half.n_rows(), 1250);
        assert_eq!(half.numbers.row(3), table.numbers.row(6));
        assert_eq!(half.classes[3], table.classes[6]);
    }

    #[test]
    fn noise_is_on_the_lattice_and_as_wide_as_said() {
        let table = ClassedRows::uniform(4000);
        for shape in Shape::ALL {
            let spread = 0.2001;
            let blurred = Blurred {
                frames: Vec::new(),
                places: Vec::new(),
                spreads: vec![spread; 20_000],
                drawn_as: Vec::new(),
            };
            let published = table.noisy(&blurred, shape, 5).unwrap();
            let pairs = published.values.iter().zip(&table.numbers.values);
            let square = pairs.map(|(z, x)| (z - x).powi(2)).sum::<f64>() / 20_000.0;
            let expected = shape.variance() * spread * spread;
            // The variance of a square is at most 2 variances squared: 5.2 errors.
            assert!((square / expected - 1.0).abs() < 5.2 * (2.0 / 20_000f64).sqrt());
            assert!(published.values.iter().all(|z| *z == snapped(*z, DECIMALS)));
        }
    }
}
