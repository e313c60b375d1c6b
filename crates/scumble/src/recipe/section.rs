//! A table of a recipe that hands out typed values and complains about the rest.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::words::nearest;

/// A place in a recipe: line and column, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// The text of a recipe, and what it is called in errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) file: &'a str,
    /// Whether places in the text are those of what was typed.
    pub(super) typed: bool,
}

impl Source<'_> {
    /// The line and column of a byte.
    pub(super) fn spot(self, span: &Range<usize>) -> Spot {
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        Spot { line, column: before[line_start..].chars().count() + 1 }
    }

    /// The error with its place.
    pub(super) fn at(self, span: &Range<usize>, error: Error) -> Error {
        let Spot { line, column } = self.spot(span);
        match self.typed {
            true => error.at(self.file, line, column),
            false => error.in_file(self.file),
        }
    }

    /// A recipe error with its place.
    pub(super) fn error(
        self,
        span: &Range<usize>,
        message: impl Into<String>,
    ) -> Error {
        self.at(span, Error::recipe(message))
    }
}

/// A value of a recipe, its name and its place.
#[derive(Clone)]
pub(super) struct Item<'a> {
    pub(super) source: Source<'a>,
    pub(super) name: String,
    pub(super) value: &'a Spanned<DeValue<'a>>,
    /// Keys that somebody else takes, if it is a table.
    pub(super) beside: &'static [&'static str],
}

impl<'a> Item<'a> {
    pub(super) fn spot(&self) -> Spot {
        self.source.spot(&self.value.span())
    }

    /// A recipe error at the value.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        self.source.error(&self.value.span(), message)
    }

    /// The error with the value's place.
    pub(super) fn at(&self, error: Error) -> Error {
        self.source.at(&self.value.span(), error)
    }

    /// The parameter is outside its range.
    pub(super) fn out_of_range(&self, wanted: &str) -> Error {
        let found = match self.value.get_ref() {
            DeValue::Integer(integer) => integer.to_string(),
            DeValue::Float(float) => float.to_string(),
            other => describe(other),
        };
        self.at(Error::out_of_range(&*self.name, found, wanted))
    }

    /// The value is not of the type wanted.
    pub(super) fn mistyped(&self, wanted: &str) -> Error {
        let found = describe(self.value.get_ref());
        self.error(format!("`{}` is {found}, but must be {wanted}", self.name))
    }

    pub(super) fn string(&self) -> Result<&'a str> {
        self.value.get_ref().as_str().ok_or_else(|| self.mistyped("a string"))
    }

    pub(super) fn truth(&self) -> Result<bool> {
        let truth = self.value.get_ref().as_bool();
        truth.ok_or_else(|| self.mistyped("true or false"))
    }

    pub(super) fn integer(&self) -> Result<i64> {
        match self.value.get_ref() {
            DeValue::Integer(integer) => {
                i64::from_str_radix(integer.as_str(), integer.radix())
                    .map_err(|_| self.out_of_range("a 64-bit integer"))
            }
            _ => Err(self.mistyped("an integer")),
        }
    }

    /// A level or a count: an integer from zero.
    pub(super) fn natural(&self) -> Result<usize> {
        let integer = self.integer()?;
        usize::try_from(integer).map_err(|_| self.out_of_range("at least 0"))
    }

    pub(super) fn float(&self) -> Result<f64> {
        match self.value.get_ref() {
            DeValue::Integer(_) => Ok(self.integer()? as f64),
            DeValue::Float(float) => match float.as_str().parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(number),
                _ => Err(self.out_of_range("a finite number")),
            },
            _ => Err(self.mistyped("a number")),
        }
    }

    pub(super) fn decimal(&self) -> Result<Decimal> {
        Decimal::from_f64(&self.name, self.float()?).map_err(|error| self.at(error))
    }

    /// The elements of a list.
    pub(super) fn list(&self, wanted: &str) -> Result<Vec<Item<'a>>> {
        let array = self.value.get_ref().as_array();
        let array = array.ok_or_else(|| self.mistyped(wanted))?;
        Ok(array.iter().map(|value| Item { value, ..self.clone() }).collect())
    }

    pub(super) fn strings(&self) -> Result<Vec<String>> {
        let items = self.list("a list of strings")?;
        items.iter().map(|item| item.string().map(str::to_owned)).collect()
    }

    pub(super) fn floats(&self) -> Result<Vec<f64>> {
        self.list("a list of numbers")?.iter().map(Item::float).collect()
    }

    pub(super) fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    pub(super) fn is_list(&self) -> bool {
        self.value.get_ref().is_array()
    }

    /// Names of columns, each once and with its place.
    pub(super) fn columns(&self) -> Result<Vec<(String, Spot)>> {
        let items = self.list("a list of columns, as in `[\"age\", \"sex\"]`")?;
        let mut names: Vec<(String, Spot)> = Vec::with_capacity(items.len());
        for item in &items {
            let name = item.string()?.to_owned();
            if names.iter().any(|(known, _)| *known == name) {
                return Err(item.error(format!("`{name}` is there twice")));
            }
            names.push((name, item.spot()));
        }
        match names.is_empty() {
            true => Err(self
                .error("`columns` is empty")
                .with_hint("leave it out, or say which columns are meant")),
            false => Ok(names),
        }
    }

    pub(super) fn section(&self) -> Result<Section<'a>> {
        match self.value.get_ref() {
            DeValue::Table(table) => {
                let name = self.name.clone();
                let section = Section::new(self.source, name, table, self.value.span());
                Ok(Section { known: self.beside.to_vec(), ..section })
            }
            _ => Err(self.mistyped("a table")),
        }
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(
        &self,
        what: &str,
        choices: &[(&str, T)],
    ) -> Result<T> {
        let word = self.string()?;
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == word) {
            return Ok(*choice);
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let error = self.error(format!("unknown {what} `{word}`"));
        Err(error.with_hint(suggestion(word, &names)))
    }
}

/// A table of a recipe. What is not taken from it is an unknown key.
pub(super) struct Section<'a> {
    source: Source<'a>,
    /// What the table is called in the recipe.
    pub(super) name: String,
    table: &'a DeTable<'a>,
    span: Range<usize>,
    known: Vec<&'static str>,
}

impl<'a> Section<'a> {
    pub(super) fn new(
        source: Source<'a>,
        name: String,
        table: &'a DeTable<'a>,
        span: Range<usize>,
    ) -> Self {
        Self { source, name, table, span, known: Vec::new() }
    }

    /// The value of a key, if it is there.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Item<'a>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        let value = self.table.get(key)?;
        Some(Item { source: self.source, name: key.to_owned(), value, beside: &[] })
    }

    /// The value of a key that must be there.
    pub(super) fn need(&mut self, key: &'static str) -> Result<Item<'a>> {
        self.take(key).ok_or_else(|| self.missing(key))
    }

    fn missing(&self, key: &str) -> Error {
        // A key that is almost right is more likely than one forgotten.
        if let Err(error) = self.done() {
            return error;
        }
        let message = match &*self.name {
            "" => format!("`[{key}]` is missing"),
            name => format!("`{key}` is missing in `{name}`"),
        };
        self.error(message)
    }

    /// A recipe error at the head of the table.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        self.source.error(&self.span, message)
    }

    /// All keys with their values in the order of the file, and the place of each key.
    pub(super) fn items(&self) -> Vec<(Range<usize>, Item<'a>)> {
        let mut items: Vec<(Range<usize>, Item<'a>)> = self
            .table
            .iter()
            .map(|(key, value)| {
                let name = key.get_ref().to_string();
                (key.span(), Item { source: self.source, name, value, beside: &[] })
            })
            .collect();
        items.sort_by_key(|(span, _)| span.start);
        items
    }

    /// Checks that there is nothing but what was taken or asked for.
    pub(super) fn done(&self) -> Result<()> {
        for (span, item) in self.items() {
            if !self.known.contains(&&*item.name) {
                let message = match &*self.name {
                    "" => format!("unknown key `{}`", item.name),
                    name => format!("unknown key `{}` in `{name}`", item.name),
                };
                let error = self.source.error(&span, message);
                return Err(error.with_hint(suggestion(&item.name, &self.known)));
            }
        }
        Ok(())
    }
}

/// The nearest of the known words or, if none is near, all of them.
pub(super) fn suggestion(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("known: {}", listed(known)),
    }
}

/// Words in backticks with commas between them.
pub(super) fn listed(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the string \"{text}\""),
        DeValue::Integer(integer) => format!("the integer {integer}"),
        DeValue::Float(float) => format!("the number {float}"),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
