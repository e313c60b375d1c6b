//! Numbers that are not written plainly, `1.234,5`, as the plain text for them.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::table::options::Notation;
use crate::table::source::RowPlace;

/// What a cell is in a notation.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    /// A number in this notation, as a plain one.
    Number(String),
    /// It stays as it is.
    Other,
    /// `1.234`: a thousand and more, or little more than one.
    Ambiguous,
}

impl Notation {
    /// Reads a cell. What is no number in this notation stays a text.
    fn read(self, cell: &str) -> Read {
        let digits = cell.strip_prefix(['-', '−']).unwrap_or(cell);
        let minus = if digits.len() < cell.len() { "-" } else { "" };
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return Read::Other;
        }
        let (whole, fraction) = match digits.split_once(self.decimal) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (digits, None),
        };
        let are_digits =
            |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if fraction.is_some_and(|fraction| !are_digits(fraction)) {
            return Read::Other;
        }
        let Some(whole) = self.ungrouped(whole) else {
            return self.with_the_other_point(digits);
        };
        // Codes such as `007` stay what they are, and so does a plain number.
        if fraction.is_none() && whole == digits {
            return Read::Other;
        }
        let fraction = fraction.map(|text| format!(".{text}")).unwrap_or_default();
        Read::Number(format!("{minus}{whole}{fraction}"))
    }

    /// Digits without the signs between groups of three.
    fn ungrouped(self, whole: &str) -> Option<Cow<'_, str>> {
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if are_digits(whole) {
            return Some(Cow::Borrowed(whole));
        }
        let mut groups = whole.split(self.thousands?);
        let first = groups.next().filter(|first| (1..=3).contains(&first.len()))?;
        let fits = are_digits(first)
            && !first.starts_with('0')
            && groups.all(|group| group.len() == 3 && are_digits(group));
        fits.then(|| whole.chars().filter(char::is_ascii_digit).collect())
    }

    /// With a decimal comma and nothing said of points, `1.234` may be either; `1.2` may not.
    fn with_the_other_point(self, digits: &str) -> Read {
        let points = Self { decimal: ',', thousands: Some('.') };
        let one_point = digits.matches('.').count() == 1;
        let is_said = self.thousands.is_some() || self.decimal != ',';
        match points.ungrouped(digits) {
            Some(_) if one_point && !is_said => Read::Ambiguous,
            _ => Read::Other,
        }
    }
}

/// Where a pass over a table met the first number that may be read in two ways.
#[derive(Debug, Default)]
pub(super) struct Doubts(Mutex<Option<(RowPlace, usize)>>);

impl Doubts {
    /// The cells of a row in plain notation.
    pub(super) fn plain<'c>(
        &self,
        notation: Notation,
        place: RowPlace,
        cells: &[&'c str],
    ) -> Vec<Cow<'c, str>> {
        let read = |(column, cell): (usize, &&'c str)| match notation.read(cell) {
            Read::Number(text) => Cow::Owned(text),
            Read::Other => Cow::Borrowed(*cell),
            Read::Ambiguous => {
                self.add(place, column);
                Cow::Borrowed(*cell)
            }
        };
        cells.iter().enumerate().map(read).collect()
    }

    fn add(&self, place: RowPlace, column: usize) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *first =
            Some(first.map_or((place, column), |first| first.min((place, column))));
    }

    /// An error if there was one; `name` is a column's by its place among those read.
    pub(super) fn check(
        self,
        row_number: impl Fn(RowPlace) -> u64,
        name: impl Fn(usize) -> String,
    ) -> Result<()> {
        let first = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some((place, column)) = first else { return Ok(()) };
        Err(Error::input(format!(
            "row {}, column `{}`: a point before three digits may be a decimal point or stand \
             between thousands",
            row_number(place),
            name(column)
        ))
        .with_hint(
            "say `thousands = \".\"` if it stands between thousands; else write the table with \
             one sign for decimals",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_plain_and_all_else_stays() {
        let german = Notation { decimal: ',', thousands: Some('.') };
        let comma = Notation { decimal: ',', thousands: None };
        let swiss = Notation { decimal: '.', thousands: Some('\'') };
        let french = Notation { decimal: ',', thousands: Some('\u{202f}') };
        for (notation, text, plain) in [
            (german, "1.234,50", "1234.50"),
            (german, "-12.345.678", "-12345678"),
            (german, "−0,5", "-0.5"),
            (german, "3,5", "3.5"),
            (german, "1.234", "1234"),
            (comma, "3,5", "3.5"),
            (comma, "12345,5", "12345.5"),
            (swiss, "1'234.5", "1234.5"),
            (french, "1\u{202f}234,5", "1234.5"),
        ] {
            assert_eq!(notation.read(text), Read::Number(plain.to_owned()), "{text}");
        }
        for (notation, text) in [
            (german, "42"),
            (german, "007"),
            (german, "250.01"),
            (german, "12.34,5"),
            (german, "1.23,4,5"),
            (german, "0.123"),
            (german, "a,5"),
            (german, ",5"),
            (german, "5,"),
            (german, "1,5e3"),
            (german, "17.05.2024"),
            (german, ""),
            (german, "-"),
            (german, "1234.567"),
            (comma, "250.01"),
            (comma, "0.123"),
            (comma, "1.234.567"),
            (swiss, "1,234"),
            (swiss, "1234.5678"),
        ] {
            let read = notation.read(text);
            let stays = matches!(&read, Read::Number(same) if same == text);
            assert!(stays || read == Read::Other, "{text}: {read:?}");
        }
        assert_eq!(comma.read("1.234"), Read::Ambiguous);
        assert_eq!(comma.read("-999.999"), Read::Ambiguous);
    }
}
