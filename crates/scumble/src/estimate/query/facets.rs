//! What a question sees of a column with uncertain cells: values that it tells apart, and how
//! likely each cell stands for them.

use crate::error::{Error, Result};
use crate::estimate::evidence::Column;
use crate::estimate::evidence::cells::{ColumnCells, Meaning, hides};
use crate::estimate::evidence::lattice::Lattice;
use crate::estimate::query::classes::Numbered;
use crate::estimate::query::question::Question;
use crate::estimate::query::ranges::CutColumn;
use crate::estimate::query::{Check, Comparison, Literal, Truth};
use crate::table::{Kind, format_date, format_number};

/// The most numbers that are counted apart.
const MOST_NUMBERS: f64 = 100_000.0;

/// A column with uncertain cells, as a question sees it.
pub(crate) struct Facet<'a> {
    pub(crate) cells: &'a ColumnCells,
    /// The column.
    pub(crate) place: usize,
    /// The numbers of the tests of this column.
    pub(crate) tests: Vec<usize>,
    /// For each label, the truth of each of these tests.
    pub(crate) truths: Vec<Vec<Truth>>,
    /// For each label what it is called, if values are counted apart.
    pub(crate) names: Vec<String>,
    /// For each cell its labels; nothing if that cannot be told.
    pub(crate) odds: Vec<Option<Vec<Odd>>>,
    /// Cells with the same number are the same to the question.
    pub(crate) profiles: Vec<u32>,
    /// How many numbers there are.
    pub(crate) n_profiles: usize,
    labels: Labels,
}

/// How likely a cell stands for values with a label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Odd {
    pub(crate) label: u32,
    pub(crate) chance: f64,
    /// The chance times their mean and times the mean of their squares, if they are added
    /// up.
    pub(crate) first: f64,
    pub(crate) second: f64,
}

/// The values of a column that a question tells apart.
enum Labels {
    /// Listed values: the label of each, and its number if values are added up.
    Listed { label_of: Vec<u32>, numbers: Option<Vec<f64>> },
    /// Ranges of numbers.
    Ranges(CutColumn),
    /// Every number for itself, from the first of the lattice on, and then "not known".
    Numbers,
}

impl<'a> Facet<'a> {
    /// How a question sees the cells of a column; `numbers` are those of its listed values,
    /// if they are added up.
    pub(crate) fn new(
        question: &Question,
        place: usize,
        cells: &'a ColumnCells,
        numbers: Option<Vec<f64>>,
    ) -> Result<Self> {
        let column = &question.evidence.columns[place];
        // Randomized ranges are counted apart as ranges.
        let grouped = question.group_by.contains(&place) && column.within.is_none();
        let tests = question.tests_of(place);
        let (labels, mut truths, names) = match &cells.lattice {
            None => {
                let n_codes = column.texts.len();
                let (label_of, examples) = question.labels(place, n_codes);
                let truth = |code: &u32| -> Vec<Truth> {
                    tests.iter().map(|t| question.tests[*t].1[*code as usize]).collect()
                };
                let truths: Vec<Vec<Truth>> = examples.iter().map(truth).collect();
                let name = |code: &u32| column.texts[*code as usize].to_string();
                let names = examples.iter().filter(|_| grouped).map(name).collect();
                (Labels::Listed { label_of, numbers }, truths, names)
            }
            Some(lattice) => {
                let checks = tests.iter().map(|test| (*test, &question.checks[*test]));
                let cut = CutColumn::new(0, lattice, &column.reading, checks.collect());
                if grouped {
                    apart(column, lattice, &cut)?
                } else {
                    let truths = cut.truths.clone();
                    (Labels::Ranges(cut), truths, Vec::new())
                }
            }
        };
        let mut odds: Vec<Option<Vec<Odd>>> = cells
            .meanings
            .iter()
            .zip(&cells.texts)
            .map(|(meaning, text)| match meaning {
                Meaning::Open if !grouped => {
                    let checks = tests.iter().map(|test| &question.checks[*test]);
                    let known = checks.map(|check| open_truth(text, check, column));
                    let known: Vec<Truth> = known.collect::<Option<_>>()?;
                    truths.push(known);
                    let label = truths.len() as u32 - 1;
                    Some(vec![Odd { label, chance: 1.0, first: 0.0, second: 0.0 }])
                }
                Meaning::Open | Meaning::Like(_) => None,
                _ => Some(labels.odds(meaning, cells.lattice.as_ref())),
            })
            .collect();
        for (place, meaning) in cells.meanings.iter().enumerate() {
            if let Meaning::Like(others) = meaning {
                odds[place] = mixed(others, &odds);
            }
        }
        // Cells by what the question sees of them.
        let mut numbers = Numbered::default();
        let profile = |(cell, odds): (u32, &Option<Vec<Odd>>)| {
            // The groups of counted values are told apart.
            let counted = cells.counted[cell as usize];
            let own = (counted || odds.is_none()).then_some(cell);
            let bits = |o: &Odd| [o.chance, o.first, o.second].map(f64::to_bits);
            let odds: Vec<_> =
                odds.iter().flatten().map(|odd| (odd.label, bits(odd))).collect();
            let flags = (cells.is_guess(cell), cells.may_be_missing(cell));
            numbers.number((own, odds, flags))
        };
        let profiles = (0..).zip(&odds).map(profile).collect();
        let n_profiles = numbers.items.len();
        let found = Self {
            cells,
            place,
            tests,
            truths,
            names,
            odds,
            profiles,
            n_profiles,
            labels,
        };
        Ok(found)
    }

    /// How likely each label is of what a cell stands for.
    pub(crate) fn odds_of(&self, meaning: &Meaning) -> Vec<Odd> {
        self.labels.odds(meaning, self.cells.lattice.as_ref())
    }

    /// That what a cell stands for is not known.
    pub(crate) fn open(&self, question: &Question, cell: u32) -> Error {
        let name = &question.evidence.columns[self.place].name;
        let text = &self.cells.texts[cell as usize];
        Error::recipe(format!(
            "`{name}` has the cell `{text}`, and the release does not say which values that \
             stands for"
        ))
        .with_hint(format!("ask for cells as they are published: CELL({name}) = '{text}'"))
    }
}

/// The labels if every number is counted apart.
fn apart(
    column: &Column,
    lattice: &Lattice,
    cut: &CutColumn,
) -> Result<(Labels, Vec<Vec<Truth>>, Vec<String>)> {
    let n = lattice.high - lattice.low + 1.0;
    if n > MOST_NUMBERS {
        let name = &column.name;
        return Err(Error::recipe(format!(
            "`{name}` can have {n} different numbers, too many to count apart"
        ))
        .with_hint(format!(
            "ask for ranges (WHERE {name} BETWEEN ...), or GROUP BY CELL({name})"
        )));
    }
    let steps = (0..n as u64).map(|step| lattice.low + step as f64);
    let name = |step: f64| match column.reading.kind {
        Kind::Date => format_date(step),
        _ => format_number(step / lattice.scale),
    };
    let missing = column.reading.missing_text().to_owned();
    let names = steps.clone().map(name).chain(std::iter::once(missing)).collect();
    let class = steps.map(|step| cut.class_of(step));
    let class = class.chain(std::iter::once(cut.missing()));
    let truths = class.map(|class| cut.truths[class].clone()).collect();
    Ok((Labels::Numbers, truths, names))
}

impl Labels {
    fn odds(&self, meaning: &Meaning, lattice: Option<&Lattice>) -> Vec<Odd> {
        match (self, meaning, lattice) {
            (Self::Listed { label_of, numbers }, Meaning::Values(values), _) => {
                let odd = |(code, chance): &(u32, f64)| {
                    let number = numbers.as_ref().map_or(0.0, |n| n[*code as usize]);
                    Odd {
                        label: label_of[*code as usize],
                        chance: *chance,
                        first: chance * number,
                        second: chance * number * number,
                    }
                };
                collected(values.iter().map(odd).collect())
            }
            (_, Meaning::Numbers { low, high, missing }, Some(lattice)) => {
                let all = high - low + 1.0 + f64::from(u8::from(*missing));
                let mut odds = self.within(*low, *high, all, lattice);
                if *missing {
                    let (first, second) = (0.0, 0.0);
                    let label = self.missing(lattice);
                    odds.push(Odd { label, chance: 1.0 / all, first, second });
                }
                odds
            }
            (_, Meaning::Missing, Some(lattice)) => {
                let label = self.missing(lattice);
                vec![Odd { label, chance: 1.0, first: 0.0, second: 0.0 }]
            }
            // Lists and lattices have no other cells.
            _ => Vec::new(),
        }
    }

    fn missing(&self, lattice: &Lattice) -> u32 {
        match self {
            Self::Ranges(cut) => cut.missing() as u32,
            _ => (lattice.high - lattice.low) as u32 + 1,
        }
    }

    /// The numbers from `low` to `high`, each with the chance of one in `all`.
    fn within(&self, low: f64, high: f64, all: f64, lattice: &Lattice) -> Vec<Odd> {
        let over = |label: usize, from: f64, to: f64| {
            let (from, to) = (from.max(low), to.min(high));
            let n = to - from + 1.0;
            // The mean, and the variance of as many numbers in a row.
            let mean = (from + to) / 2.0;
            let square = mean * mean + (n * n - 1.0) / 12.0;
            let chance = n / all;
            (n > 0.0).then(|| Odd {
                label: label as u32,
                chance,
                first: chance * mean / lattice.scale,
                second: chance * square / (lattice.scale * lattice.scale),
            })
        };
        match self {
            Self::Ranges(cut) => {
                let stretches = cut.classes.iter().enumerate();
                let stretches =
                    stretches.flat_map(|(c, all)| all.iter().map(move |s| (c, s)));
                collected(stretches.filter_map(|(c, (a, b))| over(c, *a, *b)).collect())
            }
            _ => {
                let steps =
                    (0..(high - low + 1.0) as u64).map(|step| low + step as f64);
                let label = |step: f64| (step - lattice.low) as usize;
                steps.filter_map(|step| over(label(step), step, step)).collect()
            }
        }
    }
}

/// Adds up what has the same label. A single label is certain.
fn collected(mut odds: Vec<Odd>) -> Vec<Odd> {
    odds.sort_by_key(|odd| odd.label);
    odds.dedup_by(|next, kept| {
        let same = next.label == kept.label;
        if same {
            kept.chance += next.chance;
            kept.first += next.first;
            kept.second += next.second;
        }
        same
    });
    if let [odd] = odds.as_mut_slice()
        && (odd.chance - 1.0).abs() < 1e-9
    {
        odd.chance = 1.0;
    }
    odds
}

/// What a cell stands for that is like others.
fn mixed(others: &[(u32, f64)], odds: &[Option<Vec<Odd>>]) -> Option<Vec<Odd>> {
    let mut all = Vec::new();
    for (other, share) in others {
        let odds = odds[*other as usize].as_ref()?.iter();
        all.extend(odds.map(|odd| Odd {
            label: odd.label,
            chance: share * odd.chance,
            first: share * odd.first,
            second: share * odd.second,
        }));
    }
    Some(collected(all))
}

/// The truth of a test of a cell that stands for values nobody lists; nothing if it is not
/// the same for all of them.
fn open_truth(text: &str, check: &Check, column: &Column) -> Option<Truth> {
    let equal = |literal: &Literal| -> Option<bool> {
        match literal {
            // A mask that hides no less.
            Literal::Text(asked) if asked == text || hides(asked, text) => Some(true),
            Literal::Text(asked) if column.reading.is_missing(asked) => Some(false),
            Literal::Text(asked) if !hides(text, asked) => Some(false),
            _ => None,
        }
    };
    match check {
        Check::Missing if text.chars().count() > 1 => Some(Some(false)),
        Check::Compare(Comparison::Equal, literal) => equal(literal).map(Some),
        Check::Compare(Comparison::NotEqual, literal) => {
            equal(literal).map(|e| Some(!e))
        }
        Check::Among(literals) => {
            let each: Vec<Option<bool>> = literals.iter().map(equal).collect();
            if each.contains(&Some(true)) {
                return Some(Some(true));
            }
            each.iter().all(Option::is_some).then_some(Some(false))
        }
        _ => None,
    }
}
