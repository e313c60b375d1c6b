//! Counts of the true table, estimated from a release with randomized columns.
//!
//! # Guarantee
//! By the inverse way every estimate is unbiased: its mean over the noise is the number of
//! rows of the table (those that were published) that satisfy the condition. Its standard
//! error follows from the matrices. Where the release lost nothing (the condition is about
//! untouched columns, or every value is kept) the answer is exact and its error nought.
//!
//! *Why.* Rows are sorted by what their untouched cells leave open: which values of the
//! randomized columns would satisfy the condition. Within such a class and within one
//! sub-table, reconstruction gives how many rows had each value, and the answer is the sum
//! over the values that satisfy it. Noise is independent from row to row, so variances of
//! classes add up; and from column to column, so a question about several randomized
//! columns is one about their combinations.
//!
//! If rows are a sample, one of each group, a row counts for the rows of its group, and
//! which row was drawn is random, too: the variance is the expected sum of the squares of
//! weight times size, less the square of their mean. As if groups were alike: where they
//! are not, this is too large, never too small.
//!
//! # Limits
//! Intervals are normal: for a handful of rows they are rough. Iterative and simplex
//! counts are reconstructed class by class, so the sum over classes may differ from that
//! of all rows at once.
//!
//! # Cost
//! One pass over the distinct rows, and a reconstruction for each class; for each value
//! asked for, a solution of the matrix if the condition is about other randomized columns.
//!
//! # Source
//! METHODS C2 and F.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::estimate::evidence::{Evidence, Nature};
use crate::estimate::joint::Joint;
use crate::estimate::query::{Condition, Query, Tester, Truth, both, either};
use crate::estimate::reconstruct::{Moments, Spread, Way, reconstruct};

/// How many standard errors an interval of 95 % reaches to either side.
const NORMAL_95: f64 = 1.959_963_984_540_054;

/// How many rows of the table have something.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The values of the columns that are counted apart.
    pub values: Vec<String>,
    /// The estimate.
    pub count: f64,
    /// Its standard error; nothing if a matrix cannot be inverted.
    pub standard_error: Option<f64>,
    /// As many rows as could have it.
    pub at_most: f64,
}

impl Estimate {
    /// Where the true count lies with 95 %, as far as noise goes.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let reach = NORMAL_95 * self.standard_error?;
        Some((self.count - reach, self.count + reach))
    }

    /// The same within what is possible.
    pub fn possible_interval(&self) -> Option<(f64, f64)> {
        let (low, high) = self.interval()?;
        Some((low.clamp(0.0, self.at_most), high.clamp(0.0, self.at_most)))
    }
}

/// What is added up for an answer.
#[derive(Debug, Default)]
struct Sum {
    count: f64,
    moments: Moments,
    at_most: f64,
    unknown: bool,
}

impl Sum {
    fn add(&mut self, count: f64, at_most: f64, moments: Option<Moments>) {
        self.count += count;
        self.at_most += at_most;
        match moments {
            Some(moments) => {
                self.moments.squares += moments.squares;
                self.moments.rows += moments.rows;
            }
            None => self.unknown = true,
        }
    }
}

impl Evidence {
    /// Estimates how many rows of the table satisfy the condition, for all values of the
    /// columns that are counted apart, in the order of these values.
    pub fn answer(&self, query: &Query, way: Way) -> Result<Vec<Estimate>> {
        let question = Question::new(self, query)?;
        let mut sums: BTreeMap<Vec<u32>, Sum> = BTreeMap::new();
        if query.group_by.is_empty() {
            sums.entry(Vec::new()).or_default();
        }
        let (opens, classes) = question.classes()?;
        for class in &classes {
            question.add(class, &opens[class.open], way, &mut sums)?;
        }
        let all: f64 = (0..self.rows.len()).map(|entry| self.weight(entry).1).sum();
        let estimate = |(codes, sum): (Vec<u32>, Sum)| {
            let values = question.group_by.iter().zip(codes);
            let text = |(place, code): (&usize, u32)| {
                self.columns[*place].texts[code as usize].to_string()
            };
            let Moments { squares, rows } = sum.moments;
            let variance = match self.stands_for {
                None => sum.moments.variance(),
                Some(_) => (squares - rows * rows / all).max(0.0),
            };
            Estimate {
                values: values.map(text).collect(),
                count: sum.count,
                standard_error: (!sum.unknown).then(|| variance.sqrt()),
                at_most: sum.at_most,
            }
        };
        Ok(sums.into_iter().map(estimate).collect())
    }

    /// Estimates how many rows that satisfy the condition have each value of a column.
    pub fn distribution(
        &self,
        column: &str,
        condition: Condition,
        way: Way,
    ) -> Result<Vec<Estimate>> {
        self.answer(&Query { group_by: vec![column.to_owned()], condition }, way)
    }
}

/// A query, fitted to a release.
struct Question<'a> {
    evidence: &'a Evidence,
    /// The places of the columns that are counted apart.
    group_by: Vec<usize>,
    condition: Fitted,
    /// For each test, its column and the truth of each of its values.
    tests: Vec<(usize, Vec<Truth>)>,
    /// The noises that the question is about.
    noises: Vec<usize>,
}

/// A condition with its tests by number.
enum Fitted {
    Test(usize),
    And(Vec<Fitted>),
    Or(Vec<Fitted>),
    Not(Box<Fitted>),
}

impl Fitted {
    fn truth(&self, test: &dyn Fn(usize) -> Truth) -> Truth {
        let each = |parts: &[Self], start: bool, join: fn(Truth, Truth) -> Truth| {
            parts.iter().fold(Some(start), |truth, part| join(truth, part.truth(test)))
        };
        match self {
            Self::Test(number) => test(*number),
            Self::And(parts) => each(parts, true, both),
            Self::Or(parts) => each(parts, false, either),
            Self::Not(part) => part.truth(test).map(|truth| !truth),
        }
    }
}

/// What the untouched cells of a row leave open.
struct Open<'a> {
    /// The sub-table of each noise.
    subtables: Vec<u32>,
    joint: Joint<'a>,
    /// The codes of the columns that are counted apart, 0 for untouched ones, each with the
    /// combinations of values that have them and satisfy the condition.
    answers: Vec<(Vec<u32>, Vec<usize>)>,
}

/// Rows that leave the same open and are counted with the same untouched values.
struct Class {
    /// What they leave open.
    open: usize,
    /// The codes of the columns that are counted apart, 0 for randomized ones.
    group: Vec<u32>,
    /// Published combinations, the rows of the table they stand for, and the squares of
    /// that.
    published: Vec<(usize, f64, f64)>,
}

impl<'a> Question<'a> {
    fn new(evidence: &'a Evidence, query: &Query) -> Result<Self> {
        let places = query.group_by.iter().map(|name| evidence.column(name));
        let group_by: Vec<usize> = places.collect::<Result<_>>()?;
        let mut tests = Vec::new();
        let condition = fitted(&query.condition, evidence, &mut tests)?;
        let asked = group_by.iter().chain(tests.iter().map(|(place, _)| place));
        let mut noises: Vec<usize> = asked
            .filter_map(|place| match evidence.columns[*place].nature {
                Nature::Noisy(noise, _) => Some(noise),
                _ => None,
            })
            .collect();
        noises.sort_unstable();
        noises.dedup();
        Ok(Self { evidence, group_by, condition, tests, noises })
    }

    /// The value of a column in a combination of values of the noises.
    fn code(&self, place: usize, subtables: &[u32], values: &[usize]) -> Option<u32> {
        let Nature::Noisy(noise, part) = self.evidence.columns[place].nature else {
            return None;
        };
        let number = self.noises.iter().position(|other| *other == noise)?;
        let subtable =
            &self.evidence.noises[noise].subtables[subtables[number] as usize];
        Some(subtable.domain[values[number]][part])
    }

    /// Sorts the rows into classes; rows that cannot satisfy the condition are in none.
    fn classes(&self) -> Result<(Vec<Open<'a>>, Vec<Class>)> {
        let evidence = self.evidence;
        let (mut opens, mut classes) = (Vec::<Open<'a>>::new(), Vec::<Class>::new());
        let mut by_truths: HashMap<(Vec<u32>, Vec<Truth>), usize> = HashMap::new();
        let mut by_set: HashMap<(Vec<u32>, Vec<bool>), usize> = HashMap::new();
        let mut by_group: HashMap<(Vec<u32>, usize), usize> = HashMap::new();
        for entry in 0..evidence.rows.len() {
            let noises = self.noises.iter().map(|noise| &evidence.noises[*noise]);
            let subtables = noises.clone().map(|noise| noise.subtable_of[entry]);
            let key = (subtables.collect(), self.truths(entry));
            let open = match by_truths.get(&key) {
                Some(open) => *open,
                None => {
                    let (set, joint) = self.possible(&key.0, &key.1)?;
                    let subtables = key.0.clone();
                    let set_key = (subtables.clone(), set);
                    let open = *by_set.entry(set_key).or_insert_with_key(|(_, set)| {
                        let answers = self.answers(&joint, &subtables, set);
                        opens.push(Open { subtables, joint, answers });
                        opens.len() - 1
                    });
                    by_truths.insert(key, open);
                    open
                }
            };
            if opens[open].answers.is_empty() {
                continue;
            }
            let group = self.group_by.iter().map(|place| {
                let column = &evidence.columns[*place];
                match column.nature {
                    Nature::Noisy(..) => 0,
                    _ => column.codes[entry],
                }
            });
            let key = (group.collect(), open);
            let class = *by_group.entry(key).or_insert_with_key(|(group, open)| {
                let (open, group) = (*open, group.clone());
                classes.push(Class { open, group, published: Vec::new() });
                classes.len() - 1
            });
            let mut cell = 0;
            for (noise, size) in noises.zip(opens[open].joint.sizes()) {
                cell = cell * size + noise.value_of[entry] as usize;
            }
            let (rows, squares) = evidence.weight(entry);
            classes[class].published.push((cell, rows, squares));
        }
        Ok((opens, classes))
    }

    /// The truth of each test of an untouched column for a row.
    fn truths(&self, entry: usize) -> Vec<Truth> {
        let truth = |(place, truths): &(usize, Vec<Truth>)| {
            let column = &self.evidence.columns[*place];
            match column.nature {
                Nature::Noisy(..) => None,
                _ => truths[column.codes[entry] as usize],
            }
        };
        self.tests.iter().map(truth).collect()
    }

    /// Which combinations of values satisfy the condition, given the truth of tests of
    /// untouched columns.
    fn possible(
        &self,
        subtables: &[u32],
        truths: &[Truth],
    ) -> Result<(Vec<bool>, Joint<'a>)> {
        let noises = self.noises.iter().zip(subtables);
        let channels = noises.map(|(noise, subtable)| {
            &self.evidence.noises[*noise].subtables[*subtable as usize].channel
        });
        let joint = Joint::new(channels.collect())?;
        let sizes = joint.sizes();
        let set = (0..joint.size()).map(|cell| {
            let values = digits(cell, &sizes);
            let test = |number: usize| {
                let (place, known) = &self.tests[number];
                match self.code(*place, subtables, &values) {
                    Some(code) => known[code as usize],
                    None => truths[number],
                }
            };
            self.condition.truth(&test) == Some(true)
        });
        let set = set.collect();
        Ok((set, joint))
    }

    /// The answers that combinations of a set belong to.
    fn answers(
        &self,
        joint: &Joint,
        subtables: &[u32],
        set: &[bool],
    ) -> Vec<(Vec<u32>, Vec<usize>)> {
        let sizes = joint.sizes();
        let mut answers: Vec<(Vec<u32>, Vec<usize>)> = Vec::new();
        let mut numbers: HashMap<Vec<u32>, usize> = HashMap::new();
        for cell in (0..set.len()).filter(|cell| set[*cell]) {
            let values = digits(cell, &sizes);
            let codes = self.group_by.iter();
            let codes = codes.map(|place| self.code(*place, subtables, &values));
            let codes = codes.map(|code| code.unwrap_or(0)).collect();
            let number = *numbers.entry(codes).or_insert_with_key(|codes| {
                answers.push((codes.clone(), Vec::new()));
                answers.len() - 1
            });
            answers[number].1.push(cell);
        }
        answers
    }

    /// Adds the rows of a class to the answers they belong to.
    fn add(
        &self,
        class: &Class,
        open: &Open<'a>,
        way: Way,
        sums: &mut BTreeMap<Vec<u32>, Sum>,
    ) -> Result<()> {
        let size = open.joint.size();
        let (mut published, mut squares) = (vec![0.0; size], vec![0.0; size]);
        for (cell, rows, square) in &class.published {
            published[*cell] += rows;
            squares[*cell] += square;
        }
        let total: f64 = published.iter().sum();
        // A code is 0 on one side.
        let codes = |noisy: &[u32]| {
            noisy.iter().zip(&class.group).map(|(a, b)| a + b).collect()
        };
        if let [(noisy, cells)] = open.answers.as_slice()
            && cells.len() == size
        {
            // Whatever the values are, these rows count.
            let rows: f64 = squares.iter().sum();
            sums.entry(codes(noisy)).or_default().add(
                total,
                total,
                Some(Moments { squares: rows, rows }),
            );
            return Ok(());
        }
        let done = reconstruct(&open.joint, &published, way)
            .map_err(|place| self.singular(open, place))?;
        let spread = match self.evidence.stands_for {
            None => done.spread,
            Some(_) => Spread::new(&open.joint, &squares),
        };
        let alone = open.answers.iter().all(|(_, cells)| cells.len() == 1);
        let single = spread.as_ref().filter(|_| alone).map(Spread::single);
        let mut set = vec![false; size];
        for (noisy, cells) in &open.answers {
            let moments = match (&spread, &single) {
                (None, _) => None,
                (Some(_), Some(single)) => Some(single[cells[0]]),
                (Some(spread), None) => {
                    cells.iter().for_each(|cell| set[*cell] = true);
                    let moments = spread.of_set(&set);
                    cells.iter().for_each(|cell| set[*cell] = false);
                    Some(moments)
                }
            };
            let count = cells.iter().map(|cell| done.counts[*cell]).sum();
            sums.entry(codes(noisy)).or_default().add(count, total, moments);
        }
        Ok(())
    }

    fn singular(&self, open: &Open, place: usize) -> Error {
        let noise = &self.evidence.noises[self.noises[place]];
        let which = match noise.subtables.len() {
            1 => format!("the matrix of `{}`", noise.name),
            _ => format!(
                "the matrix of sub-table {} of `{}`",
                open.subtables[place] + 1,
                noise.name
            ),
        };
        Error::input(format!(
            "{which} cannot be inverted: it publishes different values alike"
        ))
        .with_hint("`--way iterative` still finds likely counts, but not their errors")
    }
}

/// Fits a condition to a release, and collects its tests.
fn fitted(
    condition: &Condition,
    evidence: &Evidence,
    tests: &mut Vec<(usize, Vec<Truth>)>,
) -> Result<Fitted> {
    let mut all = |parts: &[Condition]| {
        parts.iter().map(|part| fitted(part, evidence, tests)).collect::<Result<_>>()
    };
    Ok(match condition {
        Condition::And(parts) => Fitted::And(all(parts)?),
        Condition::Or(parts) => Fitted::Or(all(parts)?),
        Condition::Not(part) => Fitted::Not(Box::new(fitted(part, evidence, tests)?)),
        Condition::Test(test) => {
            let place = evidence.column(&test.column)?;
            let column = &evidence.columns[place];
            let texts = || column.texts.iter().map(|text| &**text);
            let tester = Tester::new(test, &column.reading, texts())?;
            tests.push((place, texts().map(|text| tester.test(text)).collect()));
            Fitted::Test(tests.len() - 1)
        }
    })
}

/// The value of each noise in a combination.
fn digits(mut cell: usize, sizes: &[usize]) -> Vec<usize> {
    let mut values = vec![0; sizes.len()];
    for (value, size) in values.iter_mut().zip(sizes).rev() {
        *value = cell % size;
        cell /= size;
    }
    values
}
