//! How a table is to be read, where that does not follow from the table.

use std::fmt;

use crate::error::{Error, Result};

/// How a table is to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadOptions {
    /// What stands between the cells of a text file; found out if not given.
    pub delimiter: Option<u8>,
    /// How the characters of a text file are written, by the name that the web has for it;
    /// UTF-8 if not given, or what a byte order mark says.
    pub encoding: Option<String>,
    /// How numbers are written in a text file, if not plainly.
    pub notation: Option<Notation>,
    /// Which sheet of a workbook.
    pub sheet: Option<String>,
    /// What to ask a database.
    pub query: Option<String>,
    /// The password for a database.
    pub password: Option<Password>,
    /// Whether what is said of text files is meant for another table, too, so that this one
    /// need not be text.
    pub shared: bool,
    /// Whether cells of a text file may have a guard against spreadsheets, which is no part of
    /// them.
    pub guarded: bool,
    /// How much a worker takes at a time; only tests have a reason to choose.
    #[doc(hidden)]
    pub block_bytes: Option<usize>,
}

impl ReadOptions {
    /// That nothing was said that is for tables of another kind; `kind` is what this one is.
    pub(super) fn check_only(&self, kind: &str, used: &[&str]) -> Result<()> {
        let said = [
            ("encoding", self.encoding.is_some() && !self.shared, "text files"),
            ("decimal", self.notation.is_some() && !self.shared, "text files"),
            ("sheet", self.sheet.is_some(), "workbooks"),
            ("query", self.query.is_some(), "databases"),
            ("password", self.password.is_some(), "PostgreSQL databases"),
        ];
        let stray = said.iter().find(|(name, said, _)| *said && !used.contains(name));
        match stray {
            None => Ok(()),
            Some((name, _, whose)) => Err(Error::recipe(format!(
                "`{name}` is for {whose}, but this table is {kind}"
            ))
            .with_hint(format!("leave `{name}` out"))),
        }
    }
}

/// How numbers are written, if not with a point before the decimals and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Notation {
    /// What stands before the decimals.
    pub decimal: char,
    /// What stands between groups of three digits, if anything.
    pub thousands: Option<char>,
}

impl Notation {
    /// Checks what was typed: one character each, and not the same.
    pub fn new(decimal: Option<&str>, thousands: Option<&str>) -> Result<Option<Self>> {
        let one = |name: &str, text: Option<&str>, allowed: &[char]| {
            let Some(text) = text else { return Ok(None) };
            let mut letters = text.chars();
            match (letters.next(), letters.next()) {
                (Some(letter), None) if allowed.contains(&letter) => Ok(Some(letter)),
                _ => {
                    let known: Vec<String> =
                        allowed.iter().map(|letter| format!("`{letter}`")).collect();
                    let wanted = format!("one of {}", known.join(", "));
                    Err(Error::out_of_range(name, format!("`{text}`"), wanted))
                }
            }
        };
        let decimal = one("decimal", decimal, &['.', ','])?;
        let groups = ['.', ',', '\'', '’', ' ', '\u{a0}', '\u{202f}'];
        let thousands = one("thousands", thousands, &groups)?;
        if decimal.is_none() && thousands.is_none() {
            return Ok(None);
        }
        let decimal = decimal.unwrap_or('.');
        if thousands == Some(decimal) {
            let error = Error::recipe(format!(
                "`decimal` and `thousands` are both `{decimal}`"
            ));
            return Err(match decimal {
                '.' => error.with_hint("say also `decimal = \",\"`"),
                _ => error.with_hint("they must differ"),
            });
        }
        let is_plain = decimal == '.' && thousands.is_none();
        Ok((!is_plain).then_some(Self { decimal, thousands }))
    }
}

/// A password, which nobody is shown.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notation_has_two_signs_that_differ() {
        let of = |decimal, thousands| Notation::new(decimal, thousands);
        let comma = Notation { decimal: ',', thousands: None };
        assert_eq!(of(None, None).unwrap(), None);
        assert_eq!(of(Some("."), None).unwrap(), None);
        assert_eq!(of(Some(","), None).unwrap(), Some(comma));
        let grouped = of(None, Some("'")).unwrap().unwrap();
        assert_eq!((grouped.decimal, grouped.thousands), ('.', Some('\'')));
        let error = of(Some("x"), None).unwrap_err();
        assert_eq!(error.to_string(), "`decimal` is `x`, but must be one of `.`, `,`");
        let error = of(None, Some(".")).unwrap_err();
        assert_eq!(error.to_string(), "`decimal` and `thousands` are both `.`");
        assert_eq!(error.hints(), ["say also `decimal = \",\"`"]);
    }

    #[test]
    fn a_password_is_never_shown() {
        let options = ReadOptions {
            password: Some(Password("geheim".to_owned())),
            ..ReadOptions::default()
        };
        assert!(!format!("{options:?}").contains("geheim"));
    }

    #[test]
    fn what_is_for_another_kind_of_table_is_refused() {
        let options =
            ReadOptions { sheet: Some("a".to_owned()), ..ReadOptions::default() };
        assert!(options.check_only("a workbook", &["sheet"]).is_ok());
        let error = options.check_only("a Parquet file", &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`sheet` is for workbooks, but this table is a Parquet file"
        );
    }
}
