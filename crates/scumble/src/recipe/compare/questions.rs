//! Questions that somebody wants answered, from a file, with their true answers.
//!
//! # Guarantee
//! Truths are what SQL gives on the table: conditions mean what they mean to a release, and
//! sums are over rows where the number is known. What is not understood is an error with its
//! line, before anything is published.
//!
//! # Limits
//! Questions are about columns that all recipes publish. `CELL(column)` is about a release,
//! and is refused. A question that asks for several numbers, or counts groups apart, counts
//! as so many questions, at most [`MOST_NUMBERS`] in all.
//!
//! # Cost
//! A pass over the distinct rows for each number.
//!
//! # Source
//! docs/compare.md.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::estimate::{FittedCondition, Measure, Query, Tester, Truth};
use crate::recipe::compare::original::Original;
use crate::recipe::compare::workload::{Asked, BANDS, SANITY, Workload};
use crate::table::{Code, Kind, Of, TupleId};
use crate::watch::Watch;
use crate::words::no_column;

/// More numbers than this are not asked for.
pub const MOST_NUMBERS: usize = 10_000;

/// Questions from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Questions {
    file: String,
    asked: Vec<WrittenQuestion>,
}

/// A number that is asked for, and where.
#[derive(Debug, Clone, PartialEq)]
struct WrittenQuestion {
    line: usize,
    column: usize,
    query: Query,
}

impl Questions {
    /// Reads questions: each on a line, or each ended by `;`. What follows `--` is a comment.
    pub fn parse(text: &str, file: &str) -> Result<Self> {
        let mut asked = Vec::new();
        for (line, column, text) in statements(text) {
            let queries = Query::parse_all(&text)
                .map_err(|error| error.at(file, line, column))?;
            asked.extend(queries.into_iter().map(|(_, query)| WrittenQuestion {
                line,
                column,
                query,
            }));
        }
        if asked.is_empty() {
            return Err(Error::recipe("the file has no questions")
                .with_hint(
                    "write SQL, a question on each line: SELECT COUNT(*) WHERE age > 30",
                )
                .in_file(file));
        }
        Ok(Self { file: file.to_owned(), asked })
    }

    /// The columns that they name.
    pub(super) fn columns(&self) -> Vec<&str> {
        self.asked.iter().flat_map(|written| written.query.columns()).collect()
    }

    /// The questions with their true answers.
    pub(super) fn workload(
        &self,
        original: &Original,
        watch: &dyn Watch,
    ) -> Result<Workload> {
        let mut questions = Vec::new();
        for WrittenQuestion { line, column, query } in &self.asked {
            watch.check()?;
            let place = |error: Error| error.at(&*self.file, *line, *column);
            questions.extend(original.answers(query).map_err(place)?);
            if questions.len() > MOST_NUMBERS {
                let error = Error::recipe(format!(
                    "up to here these are {} numbers, but at most {MOST_NUMBERS} are asked for",
                    questions.len()
                ));
                let hint = "count fewer groups apart";
                return Err(place(error.with_hint(hint)));
            }
        }
        Ok(Workload { questions })
    }
}

/// The statements of a file without its comments, each with its line and column.
fn statements(text: &str) -> Vec<(usize, usize, String)> {
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    let by_semicolon = pieces(text).any(|(.., sign)| sign == FileSign::End);
    let mut current: Option<(usize, usize, String)> = None;
    for (line, column, sign) in pieces(text) {
        let ends = match sign {
            FileSign::End => true,
            FileSign::NewLine => !by_semicolon,
            FileSign::Text(_) => false,
        };
        if ends {
            found.extend(current.take());
            continue;
        }
        let character = match sign {
            FileSign::Text(character) => character,
            FileSign::NewLine | FileSign::End => '\n',
        };
        if let Some((.., text)) = &mut current {
            text.push(character);
        } else if !character.is_whitespace() {
            current = Some((line, column, character.to_string()));
        }
    }
    found.extend(current);
    found
}

/// A character of a file, for what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileSign {
    Text(char),
    /// A `;` outside of quotes.
    End,
    NewLine,
}

/// The characters outside of comments, each with its line and column.
fn pieces(text: &str) -> impl Iterator<Item = (usize, usize, FileSign)> + '_ {
    let (mut line, mut column) = (1, 0);
    let (mut quote, mut comment) = (None, false);
    let mut characters = text.trim_start_matches('\u{feff}').chars().peekable();
    std::iter::from_fn(move || {
        loop {
            let character = characters.next()?;
            column += 1;
            if character == '\n' {
                let here = (line, column, FileSign::NewLine);
                (line, column, comment) = (line + 1, 0, false);
                return Some(here);
            }
            if comment {
                continue;
            }
            match quote {
                Some(open) if open == character => quote = None,
                Some(_) => {}
                None if character == '-' && characters.peek() == Some(&'-') => {
                    comment = true;
                    continue;
                }
                None if character == ';' => return Some((line, column, FileSign::End)),
                None if matches!(character, '\'' | '"' | '`') => {
                    quote = Some(character)
                }
                None => {}
            }
            return Some((line, column, FileSign::Text(character)));
        }
    })
}

/// What a group of rows has.
#[derive(Debug, Clone, Copy, Default)]
struct RowSums {
    rows: u64,
    /// Of them, those that satisfy the condition of a share.
    part: u64,
    sum: f64,
}

impl Original {
    /// The place of a column, as releases find it.
    fn place(&self, name: &str) -> Result<usize> {
        let names = || self.columns.iter().map(|column| column.name.as_str());
        let alike = |other: &str| other.eq_ignore_ascii_case(name);
        let exact = names().position(|other| other == name);
        let place = exact.or_else(|| match names().filter(|o| alike(o)).count() {
            1 => names().position(alike),
            _ => None,
        });
        if name.starts_with("CELL(") {
            return Err(Error::recipe(format!("`{name}` is about a release"))
                .with_hint(
                    "questions here are about the table: ask about its columns",
                ));
        }
        place.ok_or_else(|| {
            let listed: Vec<String> = names().map(str::to_owned).collect();
            no_column(&listed, name)
                .with_hint("questions are about columns that all recipes publish")
        })
    }

    /// A condition, and which values of which columns satisfy its tests.
    fn fitted(
        &self,
        condition: &crate::estimate::Condition,
    ) -> Result<impl Fn(TupleId) -> Truth + '_> {
        let mut tests: Vec<(usize, Of<Code, Truth>)> = Vec::new();
        let fitted = FittedCondition::of(condition, &mut |test| {
            let place = self.place(&test.column)?;
            let column = &self.columns[place];
            let texts = || column.texts.iter().map(String::as_str);
            let tester = Tester::new(test, &column.reading, texts())?;
            tests.push((place, texts().map(|text| tester.test(text)).collect()));
            Ok(FittedCondition::Test(tests.len() - 1))
        })?;
        Ok(move |tuple: TupleId| {
            fitted.truth(&|number| {
                let (place, truths) = &tests[number];
                truths[self.columns[*place].codes[tuple]]
            })
        })
    }

    /// The true answers to a question, for every group that is counted apart.
    pub(in crate::recipe) fn answers(&self, query: &Query) -> Result<Vec<Asked>> {
        let by: Vec<usize> = query
            .group_by
            .iter()
            .map(|name| self.place(name))
            .collect::<Result<_>>()?;
        let meant = self.fitted(&query.condition)?;
        let part = match &query.measure {
            Measure::Share(Some(part)) => Some(self.fitted(part)?),
            _ => None,
        };
        let added = query.measure.column().map(|name| self.place(name)).transpose()?;
        if let Some(column) = added.map(|place| &self.columns[place])
            && column.reading.kind != Kind::Number
        {
            return Err(Error::recipe(format!("`{}` has no numbers", column.name))
                .with_hint("sums and means are of columns of numbers"));
        }
        let number = |tuple: TupleId| {
            let column = added.map(|place| &self.columns[place])?;
            column.numbers[column.codes[tuple]]
        };
        let mut groups: BTreeMap<Vec<Code>, RowSums> = BTreeMap::new();
        if by.is_empty() {
            groups.insert(Vec::new(), RowSums::default());
        }
        let (mut size, mut known) = (0.0, 0u64);
        for (tuple, rows) in self.rows.pairs() {
            if let Some(number) = number(tuple) {
                size += number.abs() * *rows as f64;
                known += rows;
            }
            if meant(tuple) != Some(true) {
                continue;
            }
            let key =
                by.iter().map(|place| self.columns[*place].codes[tuple]).collect();
            let group = groups.entry(key).or_default();
            group.rows += rows;
            group.sum += number(tuple).unwrap_or(0.0) * *rows as f64;
            if part.as_ref().is_some_and(|part| part(tuple) == Some(true)) {
                group.part += rows;
            }
        }
        let all: u64 = groups.values().map(|group| group.rows).sum();
        // A share of rows without groups is one of all rows.
        let whole = if by.is_empty() { self.n_rows } else { all };
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        let mut answers = Vec::with_capacity(groups.len());
        for (key, group) in groups {
            let RowSums { rows, part, sum } = group;
            let (truth, usual) = match &query.measure {
                Measure::Count => (rows as f64, self.n_rows as f64),
                Measure::Sum(_) => (sum, size),
                Measure::Mean(_) => (sum / rows as f64, size / known.max(1) as f64),
                Measure::Share(None) => (share(rows, whole), 1.0),
                Measure::Share(Some(_)) => (share(part, rows), 1.0),
            };
            let of_rows =
                matches!(query.measure, Measure::Mean(_) | Measure::Share(Some(_)));
            if rows == 0 && of_rows {
                return Err(Error::recipe("no row of the table is meant")
                    .with_hint("a mean or share of no rows cannot be compared"));
            }
            let relative_to = match truth.abs().max(SANITY * usual) {
                0.0 => 1.0,
                positive => positive,
            };
            let selected = rows as f64 / self.n_rows.max(1) as f64;
            let band = BANDS.iter().position(|band| selected < band.below).unwrap_or(0);
            let texts = by.iter().zip(&key);
            let texts = texts.map(|(place, code)| &self.columns[*place].texts[*code]);
            let values = texts.cloned().collect();
            answers.push(Asked {
                query: query.clone(),
                values,
                truth,
                relative_to,
                band,
            });
        }
        Ok(answers)
    }
}

#[cfg(test)]
#[path = "questions_tests.rs"]
mod tests;
