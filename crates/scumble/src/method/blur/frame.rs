//! A part of the table that is blurred along the same axes.

use hashbrown::{HashMap, HashSet};

use crate::promise::{Law, shape};
use crate::space::Shape;

/// Rows that share axes, and their coordinates.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The rows of the table.
    pub rows: Vec<u32>,
    /// How many axes there are.
    pub dims: usize,
    /// Coordinates along the axes, row after row, in the columns' own units.
    pub coordinates: Vec<f64>,
    /// The standard deviation along each axis; zero where all rows are equal.
    pub scales: Vec<f64>,
    /// The step of the lattice along each axis, if axes are columns; else zero.
    pub steps: Vec<f64>,
    /// How wide a cell of rounding is along each axis; zero if rounding is exact.
    pub cuts: Vec<f64>,
    /// The shape of the noise.
    pub shape: Shape,
    /// Whose each row is; `u32::MAX` if it is all that its person has here. Empty if that is
    /// so of all rows.
    pub people: Vec<u32>,
}

/// The only row of its person in a frame.
pub(super) const ALONE: u32 = u32::MAX;

/// Numbers the people of rows who have several of them; nothing if nobody has.
pub(super) fn people_of(persons: impl Iterator<Item = u32> + Clone) -> Vec<u32> {
    let mut rows: HashMap<u32, u32> = HashMap::new();
    persons.clone().for_each(|person| *rows.entry(person).or_default() += 1);
    if rows.values().all(|n| *n == 1) {
        return Vec::new();
    }
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let number = |person: u32| match rows[&person] {
        1 => ALONE,
        _ => {
            let next = numbers.len() as u32;
            *numbers.entry(person).or_insert(next)
        }
    };
    persons.map(number).collect()
}

impl Frame {
    /// Whose a row of the frame is, if its person has others there.
    pub(super) fn person(&self, row: u32) -> Option<u32> {
        self.people.get(row as usize).copied().filter(|person| *person != ALONE)
    }

    /// How many people some rows of the frame are of.
    pub(super) fn n_people<'a>(&self, rows: impl Iterator<Item = &'a u32>) -> usize {
        let (mut alone, mut several) = (0, HashSet::new());
        for row in rows {
            match self.person(*row) {
                None => alone += 1,
                Some(person) => {
                    several.insert(person);
                }
            }
        }
        alone + several.len()
    }

    /// How many people the frame has.
    pub(super) fn n_all_people(&self) -> usize {
        match self.people.is_empty() {
            true => self.rows.len(),
            false => {
                let rows: Vec<u32> = (0..self.rows.len() as u32).collect();
                self.n_people(rows.iter())
            }
        }
    }

    /// One row of everybody among some rows: first, as many as there are, those at the places
    /// `first`.
    pub(super) fn one_each(&self, rows: &[u32], first: &[u32]) -> (Vec<u32>, usize) {
        let mut seen = HashSet::new();
        let mut is_new = |row: &u32| match self.person(*row) {
            Some(person) => seen.insert(person),
            None => true,
        };
        let asked = first.iter().map(|place| rows[*place as usize]);
        let mut chosen: Vec<u32> = asked.filter(&mut is_new).collect();
        let n_asked = chosen.len();
        let is_asked: HashSet<u32> = chosen.iter().copied().collect();
        let others = rows.iter().copied().filter(|row| !is_asked.contains(row));
        chosen.extend(others.filter(is_new));
        (chosen, n_asked)
    }

    /// Some rows of the frame as a frame of their own.
    pub(super) fn part(&self, rows: &[u32]) -> Self {
        let points = rows.iter().flat_map(|row| {
            &self.coordinates[*row as usize * self.dims..][..self.dims]
        });
        let named = |row: &u32| self.people[*row as usize];
        Self {
            rows: rows.iter().map(|row| self.rows[*row as usize]).collect(),
            dims: self.dims,
            coordinates: points.copied().collect(),
            scales: self.scales.clone(),
            steps: self.steps.clone(),
            cuts: self.cuts.clone(),
            shape: self.shape,
            people: match self.people.is_empty() {
                true => Vec::new(),
                false => rows.iter().map(named).collect(),
            },
        }
    }

    /// The law whose spreads are at least `factor` standard deviations, as they are
    /// published: with few digits, and sides of boxes an odd number of steps long.
    pub fn law(&self, factor: f64) -> Law {
        self.law_of(factor, SHARED)
    }

    /// For comparison only: the same for one row alone, as exact as the paper has it.
    pub(super) fn own_law(&self, factor: f64) -> Law {
        self.law_of(factor, OWN)
    }

    fn law_of(&self, factor: f64, digits: i32) -> Law {
        let spreads = self
            .scales
            .iter()
            .zip(&self.steps)
            .map(|(scale, step)| published(factor * scale, *step, self.shape, digits))
            .collect();
        Law { shape: self.shape, spreads, cuts: self.cuts.clone() }
    }
}

/// Digits of spreads that many rows share, and of those of single rows.
const SHARED: i32 = 4;
pub(super) const OWN: i32 = 10;

/// A spread that can be published and is not below `wanted`.
pub(super) fn published(wanted: f64, step: f64, shape: Shape, digits: i32) -> f64 {
    if wanted <= 0.0 {
        return 0.0;
    }
    if shape::of(shape).in_steps() && step > 0.0 {
        let half = ((wanted / step - 1.0) / 2.0).ceil().max(0.0);
        // Steps are powers of ten, and dividing rounds as reading the text does.
        let side = (2.0 * half + 1.0) / (1.0 / step).round();
        let side = if step < 1.0 { side } else { (2.0 * half + 1.0) * step };
        // A box of one step is no noise at all.
        return if half == 0.0 { 0.0 } else { side };
    }
    // Few digits, rounded up.
    let unit = 10f64.powi(wanted.log10().floor() as i32 + 1 - digits);
    let text = format!("{:.12e}", (wanted / unit).ceil() * unit);
    let rounded: f64 = text.parse().unwrap_or(wanted);
    if rounded < wanted { (rounded + unit).max(wanted) } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_spreads_are_short_and_not_below() {
        for wanted in [1e-7, 0.012_345_6, 0.999_96, 1.0, 37.0, 123_456.7] {
            let spread = published(wanted, 0.0, Shape::Gaussian, SHARED);
            assert!(spread >= wanted && spread <= wanted * 1.0011, "{wanted} {spread}");
            assert!(spread.to_string().trim_matches(['0', '.']).len() < 10, "{spread}");
        }
        assert_eq!(published(0.9, 1.0, Shape::Uniform, SHARED), 0.0);
        assert_eq!(published(1.1, 1.0, Shape::Uniform, SHARED), 3.0);
        assert_eq!(published(3.0, 1.0, Shape::Uniform, SHARED), 3.0);
        assert_eq!(published(3.1, 0.5, Shape::Uniform, SHARED), 3.5);
    }
}
