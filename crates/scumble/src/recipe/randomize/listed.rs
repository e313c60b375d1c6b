//! Bounds and weights of values, from a file.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::promise::Bound;
use crate::recipe::randomize::values::Values;
use crate::table::{Inputs, parse_number};

/// Stands for every value that has no line of its own.
const OTHERS: &str = "*";

/// A file with one line a value.
pub(super) struct Listed {
    file: String,
    header: Vec<String>,
    /// Each line with its number.
    lines: Vec<(usize, Vec<String>)>,
}

impl Listed {
    /// Reads the file that a recipe calls `typed`.
    pub(super) fn read(inputs: &Inputs, typed: &str) -> Result<Self> {
        let (file, text) = inputs.text(typed)?;
        let text = text.trim_start_matches('\u{feff}');
        let first = text.lines().next().unwrap_or_default();
        let delimiter =
            if first.contains(';') && !first.contains(',') { b';' } else { b',' };
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .trim(csv::Trim::Headers)
            .from_reader(text.as_bytes());
        let malformed = |error: csv::Error| {
            let line = error.position().map_or(1, csv::Position::line) as usize;
            Error::input("this line does not have as many cells as the first")
                .at(&*file, line, 1)
        };
        let header = reader.headers().map_err(malformed)?;
        let header = header.iter().map(str::to_owned).collect();
        let mut lines = Vec::new();
        for record in reader.records() {
            let record = record.map_err(malformed)?;
            let line = record.position().map_or(1, csv::Position::line) as usize;
            lines.push((line, record.iter().map(str::to_owned).collect()));
        }
        Ok(Self { file, header, lines })
    }

    fn error(&self, line: usize, message: impl Into<String>) -> Error {
        Error::input(message).at(&*self.file, line, 1)
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|known| known == name)
    }

    fn need(&self, name: &str, wanted: &str) -> Result<usize> {
        self.column(name).ok_or_else(|| {
            self.error(1, format!("no column is called `{name}`"))
                .with_hint(format!("the file needs the columns {wanted}"))
        })
    }

    /// An error about the first line.
    pub(super) fn at_header(&self, message: impl Into<String>) -> Error {
        self.error(1, message)
    }

    /// The column that bounds depend on, if there is one: any that does not say something
    /// else.
    pub(super) fn condition(&self, values: &Values) -> Result<Option<&str>> {
        let mut others = self.header.iter().filter(|name| {
            let known = ["value", "column", "prior", "posterior", "weight"];
            let part = values.names.len() > 1 && values.names.contains(name);
            !known.contains(&name.as_str()) && !part
        });
        // Without bounds it is another file, or one that lacks more.
        let bounds =
            self.column("prior").is_some() && self.column("posterior").is_some();
        match (others.next().filter(|_| bounds), others.next()) {
            (first, None) => Ok(first.map(String::as_str)),
            (Some(first), Some(second)) => Err(self
                .at_header(format!(
                    "bounds can depend on one column, but not on both `{first}` and `{second}`"
                ))
                .with_hint("leave one of them out")),
            (None, Some(_)) => Ok(None),
        }
    }

    /// The place of the column that bounds depend on.
    fn condition_place(&self, values: &Values) -> Option<usize> {
        let name = self.condition(values).ok()??;
        self.column(name)
    }

    /// Lines about a column's values, by their places.
    fn own_lines(&self, values: &Values) -> impl Iterator<Item = usize> {
        let of_column = self.column("column");
        (0..self.lines.len()).filter(move |place| {
            let cells = &self.lines[*place].1;
            of_column.is_none_or(|column| cells[column] == values.names[0])
        })
    }

    /// What lines say in the column that bounds depend on, ascending.
    pub(super) fn conditions(&self, values: &Values) -> Vec<String> {
        let Some(column) = self.condition_place(values) else { return Vec::new() };
        let texts = self.own_lines(values).map(|place| &self.lines[place].1[column]);
        let texts: BTreeSet<&String> = texts.collect();
        texts.into_iter().cloned().collect()
    }

    /// Whether lines are about rows that no other line names.
    pub(super) fn has_others(&self, values: &Values) -> bool {
        self.conditions(values).iter().any(String::is_empty)
    }

    /// An error about the first line with this text in the column that bounds depend on.
    pub(super) fn at_condition(
        &self,
        values: &Values,
        text: &str,
        message: impl Into<String>,
    ) -> Error {
        let column = self.condition_place(values);
        let has = |cells: &[String]| column.is_some_and(|place| cells[place] == text);
        let line = self.lines.iter().find(|(_, cells)| has(cells));
        self.error(line.map_or(1, |(number, _)| *number), message)
    }

    /// The lines about the values of this column and, if bounds depend on one, about rows that
    /// have this text there; each with the value, if it is one.
    fn lines_of(
        &self,
        values: &Values,
        condition: &str,
        wanted: &str,
    ) -> Result<Vec<(Option<usize>, usize)>> {
        let several = values.several;
        // A compound value has one cell for each of its columns.
        let places: Vec<usize> = match &*values.names {
            [_] => vec![self.need("value", wanted)?],
            names => names
                .iter()
                .map(|name| self.need(name, wanted))
                .collect::<Result<_>>()?,
        };
        let of_column = self.column("column");
        let of_rows = self.condition_place(values);
        let known: HashMap<Vec<&str>, usize> = values
            .texts
            .iter()
            .map(|texts| texts.iter().map(String::as_str).collect())
            .zip(0..)
            .collect();
        let mut seen: HashMap<Option<usize>, usize> = HashMap::new();
        let mut lines = Vec::new();
        for place in self.own_lines(values) {
            let (number, cells) = &self.lines[place];
            if of_rows.is_some_and(|column| cells[column] != condition) {
                continue;
            }
            let texts: Vec<&str> = places.iter().map(|place| &*cells[*place]).collect();
            let others = texts.iter().all(|text| *text == OTHERS);
            let value = match known.get(&texts) {
                Some(value) => Some(*value),
                None if others => None,
                None => {
                    let error = self.error(
                        *number,
                        format!("column {} does not have this value", values.title()),
                    );
                    let error = error.with_hint(
                        "values are written as in the table; `*` stands for all others",
                    );
                    return Err(match (several, of_column) {
                        (true, None) => error.with_hint(
                            "there are several sensitive columns: a column `column` says \
                             whose value a line is about",
                        ),
                        _ => error,
                    });
                }
            };
            if let Some(before) = seen.insert(value, *number) {
                let error = self.error(*number, "this value has a line already");
                return Err(error.with_hint(format!("it is line {before}")));
            }
            lines.push((value, place));
        }
        Ok(lines)
    }

    fn number(&self, place: usize, column: usize) -> Result<f64> {
        let (line, cells) = &self.lines[place];
        parse_number(cells[column].trim()).ok_or_else(|| {
            let name = &self.header[column];
            match cells[column].trim().is_empty() {
                true => self
                    .error(
                        *line,
                        format!("`{name}` is empty, but the other bound is not"),
                    )
                    .with_hint("leave both empty for no protection"),
                false => self
                    .error(*line, format!("`{name}` is not a number"))
                    .with_hint("numbers are written with a point, as in 0.01"),
            }
        })
    }

    /// The bounds of all values, of rows with this text in the column that bounds depend on:
    /// nothing for those whose prior is left empty.
    pub(super) fn bounds(
        &self,
        values: &Values,
        condition: &str,
    ) -> Result<Vec<Option<Bound>>> {
        let wanted = wanted(values, "prior, posterior");
        let prior = self.need("prior", &wanted)?;
        let posterior = self.need("posterior", &wanted)?;
        self.said(values, condition, &wanted, "bound", |place| {
            let (line, cells) = &self.lines[place];
            let empty =
                [prior, posterior].map(|column| cells[column].trim().is_empty());
            Ok(match empty {
                [true, true] => None,
                _ => {
                    let (before, after) =
                        (self.number(place, prior)?, self.number(place, posterior)?);
                    if !(0.0 < before && before < after && after < 1.0) {
                        let error = self.error(
                            *line,
                            format!(
                                "prior {before} and posterior {after} must be probabilities \
                                 with 0 < prior < posterior < 1"
                            ),
                        );
                        return Err(
                            error.with_hint("leave both empty for no protection")
                        );
                    }
                    Some(Bound { prior: before, posterior: after })
                }
            })
        })
    }

    /// How much each value counts.
    pub(super) fn weights(&self, values: &Values, condition: &str) -> Result<Vec<f64>> {
        let wanted = wanted(values, "weight");
        let weight = self.need("weight", &wanted)?;
        let weights = self.said(values, condition, &wanted, "weight", |place| {
            let number = self.number(place, weight)?;
            if number < 0.0 || !number.is_finite() {
                let message = format!("a weight of {number} is negative");
                return Err(self.error(self.lines[place].0, message));
            }
            Ok(number)
        })?;
        if weights.iter().all(|weight| *weight == 0.0) {
            return Err(self
                .error(1, "all weights are 0")
                .with_hint("a weight says how much it counts that a value is kept"));
        }
        Ok(weights)
    }

    /// Whether the file has weights.
    pub(super) fn has_weights(&self) -> bool {
        self.column("weight").is_some()
    }

    /// What lines say of every value, read by their places: a line of its own, or one of all
    /// others; if rows with a text have neither, that of all other rows.
    fn said<T: Clone>(
        &self,
        values: &Values,
        condition: &str,
        wanted: &str,
        what: &str,
        read: impl Fn(usize) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut said = vec![None; values.texts.len()];
        let texts = if condition.is_empty() { vec![""] } else { vec![condition, ""] };
        for text in texts {
            let (mut own, mut others) = (vec![None; said.len()], None);
            for (value, place) in self.lines_of(values, text, wanted)? {
                let found = Some(read(place)?);
                match value {
                    Some(value) => own[value] = found,
                    None => others = found,
                }
            }
            for (said, own) in said.iter_mut().zip(own) {
                *said = said.take().or(own).or_else(|| others.clone());
            }
        }
        let missing = said.iter().filter(|value| value.is_none()).count();
        said.into_iter().collect::<Option<Vec<T>>>().ok_or_else(|| {
            let them = if missing == 1 { "value has" } else { "values have" };
            Error::input(format!(
                "{missing} {them} no {what}, of {} in column {}",
                values.texts.len(),
                values.title()
            ))
            .in_file(&*self.file)
            .with_hint("a line with `*` as value stands for all others")
        })
    }
}

fn wanted(values: &Values, numbers: &str) -> String {
    match &*values.names {
        [_] => format!("value, {numbers}"),
        names => format!("{}, {numbers}", names.join(", ")),
    }
}
