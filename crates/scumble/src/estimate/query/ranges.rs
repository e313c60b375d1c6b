//! Which numbers of a column a question tells apart.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::estimate::evidence::lattice::Lattice;
use crate::estimate::query::question::digits;
use crate::estimate::query::{Check, Comparison, Literal, Truth};
use crate::table::{Kind, Reading, parse_date, parse_number};

/// A column that a question is about: its lattice, cut into stretches by the numbers
/// that tests name. Stretches that no test tells apart are one class.
#[derive(Debug)]
pub(crate) struct CutColumn {
    /// The place of the column among those of its kind.
    pub(crate) column: usize,
    /// The numbers of the tests of this column.
    pub(crate) tests: Vec<usize>,
    /// The first number of each stretch, and its class.
    starts: Vec<(f64, usize)>,
    /// The stretches of each class, both ends included. The last class has none: it is that
    /// of missing numbers.
    pub(crate) classes: Vec<Vec<(f64, f64)>>,
    /// For each class, the truth of each test of this column.
    pub(crate) truths: Vec<Vec<Truth>>,
}

/// What a test says of known numbers.
enum TrueOf {
    /// The same of all.
    Same(Truth),
    /// True of these stretches, in order, and false of others.
    Within(Vec<(f64, f64)>),
}

impl CutColumn {
    /// Cuts a column by these tests.
    pub(crate) fn new(
        column: usize,
        lattice: &Lattice,
        reading: &Reading,
        tests: Vec<(usize, &Check)>,
    ) -> Self {
        let meanings: Vec<TrueOf> =
            tests.iter().map(|(_, check)| meaning(check, lattice, reading)).collect();
        let mut starts = vec![lattice.low];
        for meaning in &meanings {
            if let TrueOf::Within(stretches) = meaning {
                let ends = stretches.iter().flat_map(|(low, high)| [*low, high + 1.0]);
                starts.extend(ends.filter(|s| *s > lattice.low && *s <= lattice.high));
            }
        }
        starts.sort_by(f64::total_cmp);
        starts.dedup();
        let mut numbers: HashMap<Vec<Truth>, usize> = HashMap::new();
        let (mut classes, mut truths) = (Vec::<Vec<(f64, f64)>>::new(), Vec::new());
        let mut class_of = Vec::with_capacity(starts.len());
        for (place, start) in starts.iter().enumerate() {
            let truth = meanings.iter().map(|meaning| meaning.of(*start));
            let class = *numbers.entry(truth.collect()).or_insert_with_key(|truth| {
                classes.push(Vec::new());
                truths.push(truth.clone());
                classes.len() - 1
            });
            let end = starts.get(place + 1).map_or(lattice.high, |next| next - 1.0);
            classes[class].push((*start, end));
            class_of.push((*start, class));
        }
        classes.push(Vec::new());
        truths
            .push(tests.iter().map(|(_, check)| of_missing(check, reading)).collect());
        let tests = tests.into_iter().map(|(number, _)| number).collect();
        Self { column, tests, starts: class_of, classes, truths }
    }

    /// The class of missing numbers.
    pub(crate) fn missing(&self) -> usize {
        self.classes.len() - 1
    }

    /// The class of a number, which may lie outside the domain.
    pub(crate) fn class_of(&self, z: f64) -> usize {
        if z.is_nan() {
            return self.missing();
        }
        let place = self.starts.partition_point(|(start, _)| *start <= z);
        self.starts[place.saturating_sub(1)].1
    }
}

impl TrueOf {
    fn of(&self, z: f64) -> Truth {
        match self {
            Self::Same(truth) => *truth,
            Self::Within(stretches) => {
                let after = stretches.partition_point(|(low, _)| *low <= z);
                Some(after > 0 && z <= stretches[after - 1].1)
            }
        }
    }
}

/// The number that a literal names; nothing if it asks for missing ones.
fn number(literal: &Literal, reading: &Reading) -> Option<f64> {
    match literal {
        Literal::Number(number) => Some(*number),
        Literal::Text(text) if reading.is_missing(text) => None,
        Literal::Text(text) if reading.kind == Kind::Date => parse_date(text, None)
            .or_else(|| parse_date(text, reading.date_format.as_deref())),
        Literal::Text(text) => parse_number(text),
    }
}

fn meaning(check: &Check, lattice: &Lattice, reading: &Reading) -> TrueOf {
    let everything = (f64::NEG_INFINITY, f64::INFINITY);
    match check {
        Check::Missing => TrueOf::Same(Some(false)),
        // It is refused for numbers and dates.
        Check::Like(_) => TrueOf::Same(None),
        Check::Compare(comparison, literal) => {
            let Some(value) = number(literal, reading) else {
                return TrueOf::Same(match comparison {
                    Comparison::Equal => Some(false),
                    Comparison::NotEqual => Some(true),
                    _ => None,
                });
            };
            // The last number below the value, and the first above it.
            let (below, above) = lattice.around(value);
            let mut stretches = match comparison {
                Comparison::Less => vec![(everything.0, below)],
                Comparison::AtMost => vec![(everything.0, above - 1.0)],
                Comparison::Greater => vec![(above, everything.1)],
                Comparison::AtLeast => vec![(below + 1.0, everything.1)],
                Comparison::Equal => vec![(below + 1.0, above - 1.0)],
                Comparison::NotEqual => {
                    vec![(everything.0, below), (above, everything.1)]
                }
            };
            stretches.retain(|(low, high)| low <= high);
            TrueOf::Within(stretches)
        }
        Check::Among(literals) => {
            let values = literals.iter().filter_map(|literal| number(literal, reading));
            let mut stretches: Vec<(f64, f64)> = values
                .map(|value| lattice.around(value))
                .map(|(below, above)| (below + 1.0, above - 1.0))
                .filter(|(low, high)| low <= high)
                .collect();
            stretches.sort_by(|a, b| a.0.total_cmp(&b.0));
            stretches.dedup();
            TrueOf::Within(stretches)
        }
    }
}

/// What a check says of a missing number.
fn of_missing(check: &Check, reading: &Reading) -> Truth {
    let asked = |literal: &Literal| number(literal, reading).is_none();
    match check {
        Check::Missing => Some(true),
        Check::Like(_) => None,
        Check::Compare(comparison, literal) => match comparison {
            Comparison::Equal => asked(literal).then_some(true),
            Comparison::NotEqual => asked(literal).then_some(false),
            _ => None,
        },
        Check::Among(literals) => literals.iter().any(asked).then_some(true),
    }
}

/// The cells of a grid of classes.
#[derive(Debug)]
pub(crate) struct ClassGrid {
    sizes: Vec<usize>,
}

/// The most cells that are looked at.
const MOST_CELLS: usize = 1 << 20;

impl ClassGrid {
    pub(crate) fn new(cuts: &[CutColumn]) -> Result<Self> {
        let sizes: Vec<usize> = cuts.iter().map(|cut| cut.classes.len()).collect();
        let all = sizes.iter().try_fold(1usize, |all, size| all.checked_mul(*size));
        match all {
            Some(all) if all <= MOST_CELLS => Ok(Self { sizes }),
            _ => Err(Error::recipe(
                "the question cuts columns into too many combinations of ranges",
            )
            .with_hint("ask about fewer columns or ranges at once")),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.sizes.iter().product()
    }

    /// The number of a cell.
    pub(crate) fn cell(&self, classes: impl Iterator<Item = usize>) -> usize {
        self.sizes
            .iter()
            .zip(classes)
            .fold(0, |cell, (size, class)| cell * size + class)
    }

    /// The classes of a cell.
    pub(crate) fn classes(&self, cell: usize) -> Vec<usize> {
        digits(cell, &self.sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_cut_the_lattice() {
        let lattice = Lattice::new("x", 1, [0.0, 10.0]);
        let reading = Reading { missing: vec!["?".into()], ..Reading::number() };
        let compare = |c, n| Check::Compare(c, Literal::Number(n));
        let low = compare(Comparison::AtLeast, 2.55);
        let high = compare(Comparison::AtMost, 4.0);
        let cut = CutColumn::new(0, &lattice, &reading, vec![(3, &low), (5, &high)]);
        assert_eq!(cut.tests, [3, 5]);
        let (no, yes) = (Some(false), Some(true));
        assert_eq!(
            cut.classes,
            [vec![(0.0, 25.0)], vec![(26.0, 40.0)], vec![(41.0, 100.0)], vec![]]
        );
        assert_eq!(
            cut.truths,
            [vec![no, yes], vec![yes, yes], vec![yes, no], vec![None, None]]
        );
        assert_eq!([25.0, 26.0, 200.0].map(|z| cut.class_of(z)), [0, 1, 2]);
        assert_eq!([-5.0, f64::NAN].map(|z| cut.class_of(z)), [0, 3]);

        // Between two numbers of the lattice there is nothing.
        let exact = compare(Comparison::Equal, 2.55);
        let cut = CutColumn::new(0, &lattice, &reading, vec![(0, &exact)]);
        assert_eq!(cut.classes, [vec![(0.0, 100.0)], vec![]]);
        let among = Check::Among(vec![
            Literal::Number(7.0),
            Literal::Text("0.3".into()),
            Literal::Text("?".into()),
        ]);
        let cut = CutColumn::new(0, &lattice, &reading, vec![(0, &among)]);
        assert_eq!(cut.classes[1], [(3.0, 3.0), (70.0, 70.0)]);
        assert_eq!(cut.truths, [vec![no], vec![yes], vec![yes]]);
        let other = Check::Compare(Comparison::NotEqual, Literal::Text("?".into()));
        let cut = CutColumn::new(0, &lattice, &reading, vec![(0, &other)]);
        assert_eq!(cut.truths, [vec![yes], vec![no]]);
        let grid = ClassGrid { sizes: vec![3, 4] };
        let cell = grid.cell([2, 1].into_iter());
        assert_eq!(grid.classes(cell), [2, 1]);
    }
}
