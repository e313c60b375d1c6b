//! Which rows a question treats alike: rows sorted by what their untouched cells leave open.

use hashbrown::HashMap;

use crate::error::Result;
use crate::estimate::evidence::{Column, Evidence, Nature};
use crate::estimate::laws::joint::Joint;
use crate::estimate::query::classes::Alike;
use crate::estimate::query::{
    Check, Comparison, Condition, Literal, Query, Test, Tester, Truth, all, any,
};
use crate::hierarchy::Rule;
use crate::table::{Kind, format_date};
use crate::watch::{Watch, Watched};

/// A query, fitted to a release.
pub(crate) struct Question<'a> {
    pub(crate) evidence: &'a Evidence,
    /// Whoever waits for the answer.
    pub(crate) watch: &'a dyn Watch,
    /// The places of the columns that are counted apart.
    pub(crate) group_by: Vec<usize>,
    condition: FittedCondition,
    /// For each test, its column and the truth of each of its values.
    pub(crate) tests: Vec<(usize, Vec<Truth>)>,
    /// What each test asks for.
    pub(crate) checks: Vec<Check>,
    /// The noises that the question is about.
    pub(crate) noises: Vec<usize>,
    /// Whether it tells numbers within the ranges of a randomized column apart.
    pub(crate) splits: bool,
}

/// A condition with its tests by number.
#[derive(Debug)]
pub(crate) enum FittedCondition {
    Test(usize),
    And(Vec<FittedCondition>),
    Or(Vec<FittedCondition>),
    Not(Box<FittedCondition>),
    NotTrue(Box<FittedCondition>),
}

impl FittedCondition {
    /// A condition whose every test was fitted.
    pub(crate) fn of(
        condition: &Condition,
        fit: &mut dyn FnMut(&Test) -> Result<Self>,
    ) -> Result<Self> {
        let mut all = |parts: &[Condition]| {
            parts.iter().map(|part| Self::of(part, fit)).collect::<Result<_>>()
        };
        Ok(match condition {
            Condition::And(parts) => Self::And(all(parts)?),
            Condition::Or(parts) => Self::Or(all(parts)?),
            Condition::Not(part) => Self::Not(Box::new(Self::of(part, fit)?)),
            Condition::NotTrue(part) => Self::NotTrue(Box::new(Self::of(part, fit)?)),
            Condition::Test(test) => fit(test)?,
        })
    }

    /// Whether it is true, given which of its tests are.
    pub(crate) fn truth(&self, test: &dyn Fn(usize) -> Truth) -> Truth {
        let each = |part: &Self| part.truth(test);
        match self {
            Self::Test(number) => test(*number),
            Self::And(parts) => all(parts.iter().map(each)),
            Self::Or(parts) => any(parts.iter().map(each)),
            Self::Not(part) => part.truth(test).map(|truth| !truth),
            Self::NotTrue(part) => Some(part.truth(test) != Some(true)),
        }
    }
}

/// What the untouched cells of a row leave open.
pub(crate) struct Open<'a> {
    /// The sub-table of each noise.
    pub(crate) subtables: Vec<u32>,
    pub(crate) joint: Joint<'a>,
    pub(crate) answers: DrawnAnswers,
}

/// The codes of the columns that are counted apart, 0 for untouched ones, each with the
/// combinations of drawn values that have them and satisfy the condition.
type DrawnAnswers = Vec<(Vec<u32>, Vec<usize>)>;

/// Rows that leave the same open and are counted with the same untouched values.
pub(crate) struct OpenClass {
    /// What they leave open.
    pub(crate) open: usize,
    /// The codes of the columns that are counted apart, 0 for randomized ones.
    pub(crate) group: Vec<u32>,
    /// Published combinations, the rows of the table they stand for, and the squares of
    /// that.
    pub(crate) published: Vec<(usize, f64, f64)>,
}

impl<'a> Question<'a> {
    pub(crate) fn new(
        evidence: &'a Evidence,
        query: Watched<'a, Query>,
    ) -> Result<Self> {
        let places = query.group_by.iter().map(|name| evidence.column(name));
        let group_by: Vec<usize> = places.collect::<Result<_>>()?;
        let (mut tests, mut checks) = (Vec::new(), Vec::new());
        let condition =
            fitted(&query.condition, evidence, true, &mut |place, truths, check| {
                tests.push((place, truths));
                checks.push(check);
                tests.len() - 1
            })?;
        let asked = group_by.iter().chain(tests.iter().map(|(place, _)| place));
        let mut noises: Vec<usize> = asked
            .filter_map(|place| match evidence.columns[*place].nature {
                Nature::Drawn(noise, _) => Some(noise),
                _ => None,
            })
            .collect();
        noises.sort_unstable();
        noises.dedup();
        let watch = query.watch;
        let mut asked = tests.iter().map(|(place, _)| *place).zip(&checks);
        let splits = asked.any(|(place, check)| {
            let column = &evidence.columns[place];
            column.within.is_some_and(|number| {
                let truths = evidence.cells[number].truths(check, &column.reading);
                truths.contains(&None)
            })
        });
        Ok(Self { evidence, watch, group_by, condition, tests, checks, noises, splits })
    }

    /// The value of a column in a combination of values of the noises.
    pub(crate) fn code(
        &self,
        place: usize,
        subtables: &[u32],
        values: &[usize],
    ) -> Option<u32> {
        let Nature::Drawn(noise, part) = self.evidence.columns[place].nature else {
            return None;
        };
        let number = self.noises.iter().position(|other| *other == noise)?;
        let subtable =
            &self.evidence.noises[noise].subtables[subtables[number] as usize];
        Some(subtable.domain[values[number]][part])
    }

    /// The sub-table of a row in each noise.
    pub(crate) fn subtables(&self, entry: usize) -> Vec<u32> {
        let noises = self.noises.iter().map(|noise| &self.evidence.noises[*noise]);
        noises.map(|noise| noise.subtable_of[entry]).collect()
    }

    /// The matrices of sub-tables side by side.
    pub(crate) fn joint(&self, subtables: &[u32]) -> Result<Joint<'a>> {
        let noises = self.noises.iter().zip(subtables);
        let channels = noises.map(|(noise, subtable)| {
            &self.evidence.noises[*noise].subtables[*subtable as usize].channel
        });
        Joint::new(channels.collect())
    }

    /// Sorts the rows into classes; rows that cannot satisfy the condition are in none.
    pub(crate) fn classes(&self) -> Result<(Vec<Open<'a>>, Vec<OpenClass>)> {
        let (mut opens, mut classes) = (Vec::<Open<'a>>::new(), Vec::new());
        let mut by_truths: HashMap<(Vec<u32>, Vec<Truth>), usize> = HashMap::new();
        let mut by_answers: HashMap<(Vec<u32>, DrawnAnswers), usize> = HashMap::new();
        let mut by_group: HashMap<(Vec<u32>, usize), usize> = HashMap::new();
        for Alike { entry, published } in self.alike(None, &[]) {
            let key = (self.subtables(entry), self.truths(entry));
            let open = match by_truths.get(&key) {
                Some(open) => *open,
                None => {
                    let found = self.open(&key.0, &key.1)?;
                    let answers = (key.0.clone(), found.answers.clone());
                    let open = *by_answers.entry(answers).or_insert_with(|| {
                        opens.push(found);
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
                let column = &self.evidence.columns[*place];
                match column.nature {
                    Nature::Drawn(..) => 0,
                    _ => column.codes[entry],
                }
            });
            let key = (group.collect(), open);
            let class = *by_group.entry(key).or_insert_with_key(|(group, open)| {
                let (open, group) = (*open, group.clone());
                classes.push(OpenClass { open, group, published: Vec::new() });
                classes.len() - 1
            });
            classes[class].published.extend(published);
        }
        Ok((opens, classes))
    }

    /// The numbers of the tests of a column.
    pub(crate) fn tests_of(&self, place: usize) -> Vec<usize> {
        (0..self.tests.len()).filter(|test| self.tests[*test].0 == place).collect()
    }

    /// What the values that are counted apart are called.
    pub(crate) fn texts(&self, codes: &[u32]) -> Vec<String> {
        let own = self.group_by.iter().zip(codes);
        own.map(|(place, code)| self.evidence.columns[*place].text(*code)).collect()
    }

    /// The places of the columns it is about, `measured` being the one that is added up.
    pub(crate) fn asked(&self, measured: Option<usize>) -> Vec<usize> {
        let mut places: Vec<usize> = self.group_by.clone();
        places.extend(self.tests.iter().map(|(place, _)| *place));
        places.extend(measured);
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The truth of each test of an untouched column for a row.
    pub(crate) fn truths(&self, entry: usize) -> Vec<Truth> {
        let truth = |(place, truths): &(usize, Vec<Truth>)| {
            let column = &self.evidence.columns[*place];
            match column.nature {
                Nature::Kept => truths[column.codes[entry] as usize],
                Nature::Drawn(..)
                | Nature::Apart
                | Nature::Coarse(_)
                | Nature::Number(_) => None,
            }
        };
        self.tests.iter().map(truth).collect()
    }

    /// Whether the value with this code of a column satisfies the condition, given the truth
    /// of tests of all other columns.
    pub(crate) fn satisfied(
        &self,
        truths: &[Truth],
        place: usize,
        code: usize,
    ) -> bool {
        let test = |number: usize| {
            let (column, known) = &self.tests[number];
            if *column == place { known[code] } else { truths[number] }
        };
        self.satisfied_by(&test)
    }

    /// The truth of the condition, given that of each test.
    pub(crate) fn truth_by(&self, test: &dyn Fn(usize) -> Truth) -> Truth {
        self.condition.truth(test)
    }

    /// Whether the condition is satisfied, given the truth of each test.
    pub(crate) fn satisfied_by(&self, test: &dyn Fn(usize) -> Truth) -> bool {
        self.condition.truth(test) == Some(true)
    }

    /// Whether a combination of values of the noises satisfies the condition, given the truth
    /// of tests of other columns.
    pub(crate) fn satisfied_drawn(
        &self,
        truths: &[Truth],
        subtables: &[u32],
        values: &[usize],
    ) -> bool {
        self.satisfied_by(&|number: usize| {
            let (place, known) = &self.tests[number];
            let ranged = self.evidence.columns[*place].within.is_some();
            match self.code(*place, subtables, values) {
                Some(code) if !(ranged && self.splits) => known[code as usize],
                _ => truths[number],
            }
        })
    }

    /// What is open given the truth of tests of untouched columns.
    fn open(&self, subtables: &[u32], truths: &[Truth]) -> Result<Open<'a>> {
        let joint = self.joint(subtables)?;
        let sizes = joint.sizes();
        let mut answers: DrawnAnswers = Vec::new();
        let mut numbers: HashMap<Vec<u32>, usize> = HashMap::new();
        for cell in 0..joint.size() {
            let values = digits(cell, &sizes);
            if !self.satisfied_drawn(truths, subtables, &values) {
                continue;
            }
            let codes = self.group_by.iter();
            let codes = codes.map(|place| self.code(*place, subtables, &values));
            let codes = codes.map(|code| code.unwrap_or(0)).collect();
            let number = *numbers.entry(codes).or_insert_with_key(|codes| {
                answers.push((codes.clone(), Vec::new()));
                answers.len() - 1
            });
            answers[number].1.push(cell);
        }
        Ok(Open { subtables: subtables.to_vec(), joint, answers })
    }
}

impl Column {
    /// What a value is called.
    pub(crate) fn text(&self, code: u32) -> String {
        self.texts[code as usize].to_string()
    }

    /// A test that names nodes of the hierarchy, in terms of values; nothing if it names
    /// values only.
    pub(crate) fn spelled_out(&self, test: &Test) -> Option<Condition> {
        let rule = self.rule.as_ref().filter(|rule| **rule != Rule::Plain)?;
        let own = |check| Condition::Test(Test { column: self.name.clone(), check });
        let node = |literal: &Literal| {
            let Literal::Text(text) = literal else { return None };
            let known = self.reading.is_missing(text)
                || self.within.is_none()
                    && self.texts.iter().any(|own| **own == **text);
            if known {
                return None;
            }
            if let Some((low, high)) = rule.span(text) {
                let bound = |comparison, bound: f64| {
                    let literal = match self.reading.kind {
                        Kind::Date => Literal::Text(format_date(bound)),
                        _ => Literal::Number(bound),
                    };
                    bound.is_finite().then(|| own(Check::Compare(comparison, literal)))
                };
                let from = bound(Comparison::AtLeast, low);
                let to = bound(Comparison::Less, high);
                return Some(Condition::And(from.into_iter().chain(to).collect()));
            }
            let below = |value: &&str| {
                let path = rule.path(&self.reading, value);
                path.is_some_and(|path| path.contains(text))
            };
            let below = self.texts.iter().map(|text| &**text).filter(below);
            let mut below: Vec<Literal> =
                below.map(|value| Literal::Text(value.to_string())).collect();
            if below.is_empty() {
                return None;
            }
            // Cells can be called so, too.
            below.push(literal.clone());
            Some(own(Check::Among(below)))
        };
        match &test.check {
            Check::Compare(Comparison::Equal, literal) => node(literal),
            Check::Compare(Comparison::NotEqual, literal) => {
                node(literal).map(|found| Condition::Not(Box::new(found)))
            }
            Check::Among(literals) => {
                let found: Vec<_> = literals.iter().map(node).collect();
                if found.iter().all(Option::is_none) {
                    return None;
                }
                let rest = literals.iter().zip(&found).filter(|(_, f)| f.is_none());
                let rest = rest.map(|(literal, _)| literal.clone()).collect();
                let mut all = vec![own(Check::Among(rest))];
                all.extend(found.into_iter().flatten());
                Some(Condition::Or(all))
            }
            _ => None,
        }
    }
}

/// Fits a condition to a release, and collects its tests. Nodes that it names are spelled out,
/// once.
fn fitted(
    condition: &Condition,
    evidence: &Evidence,
    spell: bool,
    collect: &mut dyn FnMut(usize, Vec<Truth>, Check) -> usize,
) -> Result<FittedCondition> {
    FittedCondition::of(condition, &mut |test| {
        let place = evidence.column(&test.column)?;
        let column = &evidence.columns[place];
        if spell && let Some(spelled_out) = column.spelled_out(test) {
            return fitted(&spelled_out, evidence, false, collect);
        }
        // Tests of ranges are about the numbers in them.
        let listed = column.texts.iter().filter(|_| column.within.is_none());
        let texts = || listed.clone().map(|text| &**text);
        let tester = Tester::new(test, &column.reading, texts())?;
        let truths = match column.within {
            None => texts().map(|text| tester.test(text)).collect(),
            Some(number) => {
                let cells = &evidence.cells[number];
                let truths = cells.truths(&test.check, &column.reading);
                truths.into_iter().map(Option::flatten).collect()
            }
        };
        Ok(FittedCondition::Test(collect(place, truths, test.check.clone())))
    })
}

/// The place in each dimension of a combination, the last changing first.
pub(crate) fn digits(mut cell: usize, sizes: &[usize]) -> Vec<usize> {
    let mut values = vec![0; sizes.len()];
    for (value, size) in values.iter_mut().zip(sizes).rev() {
        *value = cell % size;
        cell /= size;
    }
    values
}
