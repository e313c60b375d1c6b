//! The values that a column may have, as its steward says in public.

use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::table::{ColumnId, Kind, Reading, RowPlace, Source, parse_date};
use crate::watch::Watch;

/// The values that a column may have, whatever the table has. It was typed, not found in the
/// table, so that it may be published. "Not known" belongs to every domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PublicDomain {
    /// Numbers from the first to the last, both included.
    Numbers([f64; 2]),
    /// These values, in order; of dates, the first day and the last.
    Words(Vec<String>),
}

impl PublicDomain {
    /// Checks that it can be the domain of a column that is read this way: ends in order, no
    /// value twice or unreadable.
    pub fn check(&self, reading: &Reading) -> Result<()> {
        let kind = reading.kind;
        let refused =
            |what: String, hint: &str| Err(Error::recipe(what).with_hint(hint));
        match self {
            Self::Numbers(_) if kind == Kind::Date => refused(
                "a `domain` of two numbers is not for dates".to_owned(),
                "write the first and the last day: `[\"2020-01-01\", \"2029-12-31\"]`",
            ),
            Self::Numbers(_) if kind == Kind::Category => refused(
                "a `domain` of two numbers is for columns of type `number`".to_owned(),
                "words have a list: `domain = [\"yes\", \"no\"]`",
            ),
            Self::Numbers([low, high]) => {
                match low < high && (high - low).is_finite() {
                    true => Ok(()),
                    false => refused(
                        "the first number of `domain` is not below the second"
                            .to_owned(),
                        "write `[0, 120]` for numbers from 0 to 120",
                    ),
                }
            }
            Self::Words(_) if kind == Kind::Date => match self.span(reading) {
                Some([first, last]) if first < last => Ok(()),
                _ => refused(
                    "the `domain` of dates is the first day and a later one, the last"
                        .to_owned(),
                    "write both as the column has them, or as `YYYY-MM-DD`",
                ),
            },
            Self::Words(words) => self.check_words(words, reading),
        }
    }

    fn check_words(&self, words: &[String], reading: &Reading) -> Result<()> {
        if words.is_empty() {
            return Err(Error::recipe(
                "`domain` is empty, but needs at least one value",
            ));
        }
        let mut seen = HashSet::new();
        for word in words {
            // "Not known" may be listed: then everybody knows that there are such cells.
            if !reading.is_missing(word) && reading.number_of(word).is_none() {
                let error = format!("`domain` has `{word}`, which is not a number");
                return Err(Error::recipe(error));
            }
            if !seen.insert(reading.one_text(word)) {
                return Err(Error::recipe(format!("`domain` has `{word}` twice")));
            }
        }
        Ok(())
    }

    /// From where to where its numbers or days go, both included; nothing if it is a list.
    pub fn span(&self, reading: &Reading) -> Option<[f64; 2]> {
        match (self, reading.kind) {
            (Self::Numbers(ends), _) => Some(*ends),
            (Self::Words(days), Kind::Date) => {
                let day = |text: &String| {
                    reading.number_of(text).or_else(|| parse_date(text, None))
                };
                match &days[..] {
                    [first, last] => Some([day(first)?, day(last)?]),
                    _ => None,
                }
            }
            (Self::Words(_), Kind::Category | Kind::Number) => None,
        }
    }

    /// Its list of values, unless it says from where to where they go.
    pub fn words(&self, reading: &Reading) -> Option<&[String]> {
        match (self, reading.kind) {
            (Self::Words(words), Kind::Category | Kind::Number) => Some(words),
            (Self::Words(_), Kind::Date) | (Self::Numbers(_), _) => None,
        }
    }

    /// Prepares to look many texts up.
    pub fn members<'a>(&'a self, reading: &'a Reading) -> Members<'a> {
        let words = self.words(reading).unwrap_or_default();
        let words = words.iter().map(|word| reading.one_text(word)).collect();
        Members { reading, span: self.span(reading), words }
    }
}

/// A public domain made ready for many texts.
#[derive(Debug)]
pub struct Members<'a> {
    reading: &'a Reading,
    span: Option<[f64; 2]>,
    words: HashSet<String>,
}

impl Members<'_> {
    /// Whether a text of the column is a value of the domain, or not known.
    pub fn contains(&self, text: &str) -> bool {
        if self.reading.is_missing(text) {
            return true;
        }
        match self.span {
            Some([low, high]) => {
                // Dates may be published in ISO 8601, whatever they were before.
                let iso = || match self.reading.kind {
                    Kind::Date => parse_date(text, None),
                    Kind::Category | Kind::Number => None,
                };
                let number = self.reading.number_of(text).or_else(iso);
                number.is_some_and(|number| (low..=high).contains(&number))
            }
            None if self.reading.kind == Kind::Category => self.words.contains(text),
            None => self.words.contains(&self.reading.one_text(text)),
        }
    }
}

/// Cells of a column that are not as they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Strays {
    /// How many there are.
    pub(crate) cells: u64,
    /// The row of the first, from 1.
    pub(crate) first_row: u64,
}

/// Looks at every cell of some columns. Returns for each which cells fail its test, if any do.
pub(crate) fn strays(
    source: &Source,
    columns: &[ColumnId],
    is_right: impl Fn(usize, &str) -> bool + Sync,
    watch: &dyn Watch,
) -> Result<Vec<Option<Strays>>> {
    if columns.is_empty() {
        return Ok(Vec::new());
    }
    let folded = source.fold(
        columns,
        || vec![None; columns.len()],
        |found: &mut Vec<Option<(u64, RowPlace)>>, spot, cells| {
            for (place, cell) in cells.iter().enumerate() {
                if !is_right(place, cell) {
                    let (cells, first) = found[place].unwrap_or((0, spot));
                    found[place] = Some((cells + 1, first));
                }
            }
            Ok(())
        },
        watch,
    )?;
    let of_column = |place: usize| {
        let found = folded.states.iter().filter_map(|state| state[place]);
        found
            .map(|(cells, spot)| (cells, folded.row_number(spot)))
            .reduce(|(cells, first), (more, other)| (cells + more, first.min(other)))
    };
    let strays = (0..columns.len()).map(of_column);
    Ok(strays
        .map(|found| found.map(|(cells, first_row)| Strays { cells, first_row }))
        .collect())
}

/// Whether a table leaves the domain that is said of a column: which of the columns given, and
/// an error that names it and a row, never a value.
pub fn left_domain(
    source: &Source,
    columns: &[(&str, &PublicDomain, &Reading)],
    watch: &dyn Watch,
) -> Result<Option<(usize, Error)>> {
    let places = columns.iter().map(|(name, ..)| source.column(name));
    let places: Vec<ColumnId> = places.collect::<Result<_>>()?;
    let members = columns.iter().map(|(_, domain, reading)| domain.members(reading));
    let members: Vec<Members<'_>> = members.collect();
    let found = strays(source, &places, |at, cell| members[at].contains(cell), watch)?;
    let mut found = found.into_iter().enumerate();
    let Some((place, Strays { cells, first_row })) =
        found.find_map(|(place, strays)| Some((place, strays?)))
    else {
        return Ok(None);
    };
    let (name, domain, reading) = columns[place];
    let is = match domain {
        PublicDomain::Numbers([low, high]) => format!("is from {low} to {high}"),
        PublicDomain::Words(days) if reading.kind == Kind::Date => {
            format!("is from {}", days.join(" to "))
        }
        PublicDomain::Words(words) if words.len() == 1 => "has 1 value".to_owned(),
        PublicDomain::Words(words) => format!("has {} values", words.len()),
    };
    let (one, many) = match reading.kind {
        Kind::Number => ("number", "numbers"),
        Kind::Date => ("date", "dates"),
        Kind::Category => ("cell", "cells"),
    };
    let what = match cells {
        1 => format!("1 {one} is"),
        _ => format!("{cells} {many} are"),
    };
    let error = Error::recipe(format!(
        "`domain` of `{name}` {is}, but {what} outside; the first is in row {first_row}"
    ));
    let hint = "widen it, or take the rows out: it must be true";
    Ok(Some((place, error.with_hint(hint))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ReadOptions;
    use crate::watch::Unwatched;

    fn words(words: &[&str]) -> PublicDomain {
        PublicDomain::Words(words.iter().map(|word| (*word).to_owned()).collect())
    }

    fn refused(domain: &PublicDomain, kind: Kind) -> String {
        let missing = vec!["?".to_owned()];
        let reading = Reading { kind, missing, date_format: None };
        domain
            .check(&reading)
            .map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn what_cannot_be_a_domain() {
        use Kind::{Category, Date, Number};
        let numbers = PublicDomain::Numbers;
        for (domain, kind, expected) in [
            (numbers([0.0, 9.0]), Number, ""),
            (words(&["a", "b"]), Category, ""),
            (words(&["1", "2.50"]), Number, ""),
            (words(&["2020-01-01", "2020-12-31"]), Date, ""),
            (numbers([9.0, 9.0]), Number, "is not below the second"),
            (numbers([0.0, f64::INFINITY]), Number, "is not below the second"),
            (numbers([0.0, 9.0]), Category, "is for columns of type `number`"),
            (numbers([0.0, 9.0]), Date, "is not for dates"),
            (words(&[]), Category, "is empty"),
            (words(&["a", "b", "a"]), Category, "has `a` twice"),
            (words(&["1", "1.0"]), Number, "has `1.0` twice"),
            (words(&["1", "one"]), Number, "has `one`, which is not a number"),
            (words(&["2020-01-01"]), Date, "the first day and a later one"),
            (words(&["2020-01-02", "2020-01-01"]), Date, "the first day and a later"),
        ] {
            let found = refused(&domain, kind);
            assert_eq!(found.is_empty(), expected.is_empty(), "{found}");
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn a_table_that_leaves_its_domain_is_told_by_row() {
        let text = b"n,w,d\n1,a,2020-01-01\n9.5,,2020-02-01\n?,c,\n10,c,2021-01-01\n";
        let options = ReadOptions { block_bytes: Some(8), ..ReadOptions::default() };
        let source = Source::from_bytes("t", text.to_vec(), &options).unwrap();
        let read = |kind| Reading {
            kind,
            missing: vec![String::new(), "?".to_owned()],
            date_format: None,
        };
        let said = |name: &str, domain: &PublicDomain, kind| {
            let reading = read(kind);
            let found = left_domain(&source, &[(name, domain, &reading)], &Unwatched);
            found.unwrap().map(|(_, error)| error.to_string())
        };
        let numbers = PublicDomain::Numbers;
        assert_eq!(said("n", &numbers([1.0, 10.0]), Kind::Number), None);
        assert_eq!(
            said("n", &numbers([1.0, 9.0]), Kind::Number).unwrap(),
            "`domain` of `n` is from 1 to 9, but 2 numbers are outside; the first is in row 2"
        );
        assert_eq!(said("w", &words(&["c", "a"]), Kind::Category), None);
        assert_eq!(
            said("w", &words(&["a"]), Kind::Category).unwrap(),
            "`domain` of `w` has 1 value, but 2 cells are outside; the first is in row 3"
        );
        assert_eq!(
            said("d", &words(&["2020-01-01", "2020-12-31"]), Kind::Date).unwrap(),
            "`domain` of `d` is from 2020-01-01 to 2020-12-31, but 1 date is outside; the first \
             is in row 4"
        );
        assert_eq!(said("n", &words(&["1.0", "9.5", "10"]), Kind::Number), None);
    }
}
