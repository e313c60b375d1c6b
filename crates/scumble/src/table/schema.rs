//! What the columns of a table are: decided once, and by one rule, for every method.
//!
//! # The rule
//! What a recipe says of a column's type holds. A column of which it says nothing holds
//! numbers if at least one of its texts is known and every known one is a *plain number*
//! ([`is_plain_number`]); else it holds words. Nothing is taken for a date unasked.
//!
//! Codes are words: `01067` begins with a zero, `1e5` and `+49` are not how a table of
//! numbers is written, and sixteen digits name somebody's card. Only where a file itself
//! says that a column holds floats, `1e-7` counts as one.

use crate::error::Result;
use crate::table::{
    ColumnForm, ColumnId, Dictionary, Kind, Reading, Role, RowPlace, Source, decimals,
    parse_number,
};
use crate::watch::Watch;

/// The columns of a table that a recipe speaks of, each with what it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// The columns, in the order in which they were said.
    pub columns: Vec<ColumnSchema>,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSchema {
    /// Where it is in the table.
    pub column: ColumnId,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// What it held before its cells became text.
    pub form: ColumnForm,
    /// Its type, what stands for "not known" in it, and how its dates are written.
    pub reading: Reading,
    /// How many decimals its numbers have, at most, trailing zeros aside; nothing if the
    /// recipe said the type, so
    /// that nobody looked.
    pub decimals: Option<u32>,
    /// The first row, from 1, with a text that is no plain number, in a column of words that
    /// has plain numbers, too: perhaps a slip turned numbers into words.
    pub doubt: Option<u64>,
}

/// What a recipe says of a column.
#[derive(Debug, Clone)]
pub struct Said {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// What its values are, if that is said.
    pub kind: Option<Kind>,
    /// How its dates are written; ISO 8601 if not said.
    pub date_format: Option<String>,
}

impl Schema {
    /// Decides by reading the columns whose type is not said; `missing` are the texts that
    /// stand for "not known".
    pub fn read(
        source: &Source,
        said: &[Said],
        missing: &[String],
        watch: &dyn Watch,
    ) -> Result<Self> {
        let open: Vec<ColumnId> = said
            .iter()
            .filter(|said| said.kind.is_none())
            .map(|said| source.column(&said.name))
            .collect::<Result<_>>()?;
        if open.is_empty() {
            return Self::decided(source, said, missing, &mut std::iter::empty());
        }
        let start = || {
            open.iter()
                .map(|c| TypeEvidence::<RowPlace>::new(source.form(*c)))
                .collect()
        };
        let folded = source.fold(
            &open,
            start,
            |seen: &mut Vec<TypeEvidence<RowPlace>>, spot, cells| {
                for (seen, cell) in seen.iter_mut().zip(cells) {
                    if !missing.iter().any(|marker| marker == cell) {
                        seen.add(cell, spot);
                    }
                }
                Ok(())
            },
            watch,
        )?;
        let mut all: Vec<TypeEvidence<RowPlace>> = start();
        for other in &folded.states {
            all.iter_mut().zip(other).for_each(|(all, other)| all.merge(other));
        }
        let mut all = all.into_iter().map(|seen| TypeEvidence {
            form: seen.form,
            number: seen.number.map(|spot| folded.row_number(spot)),
            other: seen.other.map(|spot| folded.row_number(spot)),
            decimals: seen.decimals,
        });
        Self::decided(source, said, missing, &mut all)
    }

    /// Decides from what a counting pass found, with a dictionary for each column said.
    pub fn of_scan(
        source: &Source,
        said: &[Said],
        missing: &[String],
        dictionaries: &[Dictionary],
    ) -> Result<Self> {
        let mut seen = Vec::new();
        for (said, dictionary) in said.iter().zip(dictionaries) {
            if said.kind.is_none() {
                let mut one =
                    TypeEvidence::new(source.form(source.column(&said.name)?));
                let texts = dictionary.texts.iter().zip(&dictionary.first_rows);
                for (text, row) in texts {
                    if !missing.iter().any(|marker| **marker == **text) {
                        one.add(text, *row);
                    }
                }
                seen.push(one);
            }
        }
        Self::decided(source, said, missing, &mut seen.into_iter())
    }

    /// `seen` has what was found in each column whose type is not said.
    fn decided(
        source: &Source,
        said: &[Said],
        missing: &[String],
        seen: &mut dyn Iterator<Item = TypeEvidence<u64>>,
    ) -> Result<Self> {
        let mut columns = Vec::with_capacity(said.len());
        for said in said {
            let column = source.column(&said.name)?;
            let seen = if said.kind.is_none() { seen.next() } else { None };
            let kind = said.kind.or(seen.map(|seen| seen.kind()));
            columns.push(ColumnSchema {
                column,
                name: said.name.clone(),
                role: said.role,
                form: source.form(column),
                reading: Reading {
                    kind: kind.unwrap_or(Kind::Category),
                    missing: missing.to_vec(),
                    date_format: said.date_format.clone(),
                },
                decimals: seen.map(|seen| seen.decimals),
                doubt: seen.and_then(|seen| seen.number.and(seen.other)),
            });
        }
        Ok(Self { columns })
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&ColumnSchema> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// What the known texts of a column say about its type: where the first of each sort is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TypeEvidence<At> {
    form: ColumnForm,
    number: Option<At>,
    other: Option<At>,
    decimals: u32,
}

impl<At: Ord + Copy> TypeEvidence<At> {
    /// Nothing seen yet of a column that held this.
    pub(crate) fn new(form: ColumnForm) -> Self {
        Self { form, number: None, other: None, decimals: 0 }
    }

    /// Looks at a text that is not missing.
    pub(crate) fn add(&mut self, text: &str, at: At) {
        let is_float =
            || self.form == ColumnForm::Float && parse_number(text).is_some();
        let first = match is_plain_number(text) || is_float() {
            true => {
                self.decimals = self.decimals.max(decimals(text));
                &mut self.number
            }
            false => &mut self.other,
        };
        *first = Some(first.map_or(at, |first| first.min(at)));
    }

    fn merge(&mut self, other: &Self) {
        let first =
            |one: Option<At>, other: Option<At>| one.into_iter().chain(other).min();
        self.number = first(self.number, other.number);
        self.other = first(self.other, other.other);
        self.decimals = self.decimals.max(other.decimals);
    }

    /// What the column holds by all that was seen.
    pub(crate) fn kind(&self) -> Kind {
        match (self.number.is_some(), self.other.is_some()) {
            (true, false) => Kind::Number,
            _ => Kind::Category,
        }
    }
}

/// Whether a text is a plain number: perhaps a minus, then `0` or digits that do not begin
/// with `0`, then perhaps a point and more digits; without blanks, plus or exponent, and
/// such that [`parse_number`] can read it.
pub fn is_plain_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let are_digits =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits(whole)
        && are_digits(fraction)
        && (whole == "0" || !whole.starts_with('0'))
        && parse_number(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{ReadOptions, scan};
    use crate::watch::Unwatched;

    #[test]
    fn what_a_plain_number_is() {
        for text in [
            "0",
            "7",
            "-7",
            "10",
            "123456789012345",
            "0.5",
            "-0.5",
            "12.50",
            "2.0",
            "100.000",
            "0.30000000000000004",
            "1234.5678901234567",
            "-0",
        ] {
            assert!(is_plain_number(text), "{text}");
        }
        for text in [
            "",
            "-",
            ".",
            "01234",
            "007",
            "-07",
            "00",
            "00.5",
            ".5",
            "5.",
            "+7",
            " 7",
            "7 ",
            "1e3",
            "1E-5",
            "1,5",
            "1.234.567",
            "1'000",
            "1_000",
            "0x10",
            "inf",
            "nan",
            "NaN",
            "--7",
            "٣",
            "1234567890123456",
            "4111111111111111",
            "0.12345678901234567890",
            "12a",
            "Ⅷ",
        ] {
            assert!(!is_plain_number(text), "{text}");
        }
    }

    /// Both ways to decide, which must agree.
    fn decide(cells: &[&str], kind: Option<Kind>) -> (Kind, Option<u32>, Option<u64>) {
        let text: String = cells.iter().map(|cell| format!("\"{cell}\",x\n")).collect();
        let options = ReadOptions { block_bytes: Some(8), ..ReadOptions::default() };
        let text = format!("n,w\n{text}").into_bytes();
        let source = Source::from_bytes("t.csv", text, &options).unwrap();
        let missing = ["?".to_owned(), String::new()];
        let name = "n".to_owned();
        let said = [Said { name, role: Role::Quasi, kind, date_format: None }];
        let read = Schema::read(&source, &said, &missing, &Unwatched).unwrap();
        let found = scan(&source, &[source.column("n").unwrap()], &Unwatched).unwrap();
        let dictionaries = &found.dictionaries;
        let scanned = Schema::of_scan(&source, &said, &missing, dictionaries).unwrap();
        assert_eq!(read, scanned);
        let column = read.column("n").unwrap();
        assert_eq!(column.reading.missing, missing);
        (column.reading.kind, column.decimals, column.doubt)
    }

    #[test]
    fn a_column_is_numbers_if_all_known_texts_are() {
        use Kind::{Category, Date, Number};
        for (cells, expected) in [
            (&["1", "?", "-2.50", ""][..], (Number, Some(1), None)),
            (&["?", ""], (Category, Some(0), None)),
            (&["a", "b"], (Category, Some(0), None)),
            (&["01067", "01069"], (Category, Some(0), None)),
            (&["10115", "20095", "01067", "01069"], (Category, Some(0), Some(3))),
            (&["1.5", "x", "2", "y"], (Category, Some(1), Some(2))),
            (&["2024-05-17"], (Category, Some(0), None)),
        ] {
            assert_eq!(decide(cells, None), expected, "{cells:?}");
        }
        for kind in [Category, Number, Date] {
            assert_eq!(decide(&["01067", "x", "3"], Some(kind)), (kind, None, None));
        }
    }

    #[test]
    fn floats_of_a_file_that_says_so_may_have_exponents() {
        let kind = |form| {
            let mut seen = TypeEvidence::new(form);
            seen.add("1e-7", 1);
            seen.add("2.0", 2);
            seen.kind()
        };
        assert_eq!(kind(ColumnForm::Float), Kind::Number);
        assert_eq!(kind(ColumnForm::Text), Kind::Category);
    }
}
