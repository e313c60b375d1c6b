//! What one column holds, gathered cell by cell.

use std::collections::BTreeSet;

use crate::hierarchy::{Band, Template};
use crate::inspect::sample::Sample;
use crate::table::{Kind, is_plain_number, parse_date, parse_number};

/// Texts that may stand for "not known".
pub(super) const MARKERS: [&str; 16] = [
    "",
    "?",
    "NA",
    "N/A",
    "null",
    "NULL",
    "NaN",
    "-",
    "n/a",
    "unknown",
    "Unknown",
    "UNKNOWN",
    "missing",
    "refused",
    "Refused",
    "unbekannt",
];

/// The longest of them.
const LONGEST_MARKER: usize = 9;

/// Numbers and days that often stand for "not known" or "no end".
pub(super) const STAND_INS: [&str; 20] = [
    "-1",
    "-8",
    "-9",
    "-77",
    "-88",
    "-99",
    "-999",
    "-9999",
    "99",
    "777",
    "888",
    "999",
    "9999",
    "99999",
    "999999",
    "1900-01-01",
    "1899-12-30",
    "1970-01-01",
    "2999-12-31",
    "9999-12-31",
];

/// Up to so many values of a column are kept as texts.
const FEW_TEXTS: usize = 64;

/// What a value looks like.
pub(super) mod looks {
    pub(in crate::inspect) const NUMBER: u16 = 1;
    pub(in crate::inspect) const BAND: u16 = 2;
    pub(in crate::inspect) const ICD9: u16 = 4;
    pub(in crate::inspect) const ICD10: u16 = 8;
    pub(in crate::inspect) const COUNTRY: u16 = 16;
    pub(in crate::inspect) const FINDING: u16 = 32;
    /// An ICD code that is more than a number.
    pub(in crate::inspect) const MARKED_CODE: u16 = 64;
}

/// Answers of tests.
const FINDINGS: [&str; 14] = [
    "positive",
    "negative",
    "pos",
    "neg",
    "reactive",
    "non-reactive",
    "nonreactive",
    "detected",
    "not detected",
    "norm",
    "normal",
    "abnormal",
    "benign",
    "malignant",
];

/// How many of the markers are taken for "not known" wherever they occur; the others only
/// in columns that otherwise hold numbers or dates, since `NA` may be a country.
const ALWAYS: usize = 2;

/// Ways to write a date, the likelier first. Nothing is ISO 8601.
const DATE_FORMATS: [Option<&str>; 6] = [
    None,
    Some("%d.%m.%Y"),
    Some("%d/%m/%Y"),
    Some("%m/%d/%Y"),
    Some("%Y/%m/%d"),
    Some("%d-%m-%Y"),
];

/// How many values of a column are kept: a distinct count is off by about 1 in 100 beyond.
const CAPACITY: usize = 1 << 15;

/// What is known about a column.
#[derive(Debug)]
pub(super) struct Tally {
    values: Sample,
    markers: [u64; MARKERS.len()],
    stand_ins: [u64; STAND_INS.len()],
    total_length: u64,
    facts: Facts,
    /// The values, while there are few.
    texts: Option<BTreeSet<Box<str>>>,
}

/// What holds of all values of a column; each field only ever moves in one direction.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    any: bool,
    numbers: bool,
    whole: bool,
    codes: bool,
    date_formats: [bool; DATE_FORMATS.len()],
    /// The shortest and the longest value, in bytes.
    pub(super) lengths: (usize, usize),
    /// The smallest and the largest number, if all are numbers.
    pub(super) range: (f64, f64),
    /// The same without those that may stand for "not known".
    pub(super) own_range: (f64, f64),
}

impl Tally {
    pub(super) fn new() -> Self {
        let facts = Facts {
            any: false,
            numbers: true,
            whole: true,
            codes: true,
            date_formats: [true; DATE_FORMATS.len()],
            lengths: (usize::MAX, 0),
            range: (f64::INFINITY, f64::NEG_INFINITY),
            own_range: (f64::INFINITY, f64::NEG_INFINITY),
        };
        Self {
            values: Sample::new(CAPACITY),
            markers: [0; MARKERS.len()],
            stand_ins: [0; STAND_INS.len()],
            total_length: 0,
            facts,
            texts: Some(BTreeSet::new()),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, cell: &str, hash: u64) {
        if cell.len() <= LONGEST_MARKER
            && let Some(marker) = MARKERS.iter().position(|marker| *marker == cell)
        {
            self.markers[marker] += 1;
            return;
        }
        self.total_length += cell.len() as u64;
        let stand_in = match cell.as_bytes() {
            [b'-' | b'7'..=b'9' | b'1' | b'2', _, ..] if cell.len() <= 10 => {
                STAND_INS.iter().position(|text| *text == cell)
            }
            _ => None,
        };
        if let Some(place) = stand_in {
            self.stand_ins[place] += 1;
        }
        if self.values.add_looking(hash, || looks_of(cell)) {
            self.facts.add(cell, stand_in.is_some());
            if let Some(texts) = &mut self.texts {
                texts.insert(cell.into());
                if texts.len() > FEW_TEXTS {
                    self.texts = None;
                }
            }
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.values.merge(other.values);
        for (mine, theirs) in self.markers.iter_mut().zip(other.markers) {
            *mine += theirs;
        }
        for (mine, theirs) in self.stand_ins.iter_mut().zip(other.stand_ins) {
            *mine += theirs;
        }
        self.total_length += other.total_length;
        self.facts.merge(&other.facts);
        self.texts =
            self.texts.take().zip(other.texts).and_then(|(mut mine, theirs)| {
                mine.extend(theirs);
                (mine.len() <= FEW_TEXTS).then_some(mine)
            });
    }

    /// Its values, if there are few.
    pub(super) fn texts(&self) -> Option<&BTreeSet<Box<str>>> {
        self.texts.as_ref()
    }

    /// The share of rows with a value whose value looks so.
    pub(super) fn share_that(&self, look: u16) -> f64 {
        let rows = self.values.rows_that(|looks| looks & look != 0);
        rows as f64 / self.values.rows_that(|_| true).max(1) as f64
    }

    /// The share of the most common value, or of "not known", among all rows.
    pub(super) fn top_share(&self, rows: u64, missing: &[usize]) -> f64 {
        let most = self.values.most().max(self.rows_missing(missing));
        most as f64 / rows.max(1) as f64
    }

    /// The chance that two rows with a value have the same.
    pub(super) fn evenness(&self) -> f64 {
        self.values.evenness()
    }

    /// The numbers and days in it that may stand for "not known": the text, and how many rows
    /// have it.
    pub(super) fn stand_ins(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let found = STAND_INS.into_iter().zip(self.stand_ins);
        found.filter(|(_, rows)| *rows > 0)
    }

    /// How many values two rows have, and how many have one.
    pub(super) fn values_of(&self, rows: u64) -> u64 {
        self.values.values_of(rows)
    }

    /// What its values are, and how dates are written.
    pub(super) fn kind(&self) -> (Kind, Option<&'static str>) {
        let facts = &self.facts;
        let format = facts.date_formats.iter().position(|possible| *possible);
        match format {
            _ if !facts.any => (Kind::Category, None),
            _ if facts.numbers => (Kind::Number, None),
            Some(format) => (Kind::Date, DATE_FORMATS[format]),
            None => (Kind::Category, None),
        }
    }

    /// Whether days and months could be the other way round.
    pub(super) fn ambiguous_dates(&self) -> bool {
        let formats = &self.facts.date_formats;
        self.kind().0 == Kind::Date && formats[2] && formats[3]
    }

    /// The markers in it that stand for "not known", as places in [`MARKERS`].
    pub(super) fn missing_markers(&self) -> impl Iterator<Item = usize> + '_ {
        let all = self.facts.any && self.kind().0 != Kind::Category;
        (0..MARKERS.len())
            .filter(move |marker| all || *marker < ALWAYS)
            .filter(|marker| self.markers[*marker] > 0)
    }

    /// Rows with one of these markers.
    pub(super) fn rows_missing(&self, missing: &[usize]) -> u64 {
        missing.iter().map(|marker| self.markers[*marker]).sum()
    }

    fn counted_markers(&self, missing: &[usize]) -> impl Iterator<Item = u64> {
        let counted = |place: &usize| !missing.contains(place);
        let places = (0..MARKERS.len()).filter(counted);
        let counts: Vec<u64> = places.map(|place| self.markers[place]).collect();
        counts.into_iter().filter(|n| *n > 0)
    }

    /// How many different values there are, those that stand for "not known" aside.
    pub(super) fn distinct(&self, missing: &[usize]) -> u64 {
        self.values.distinct() + self.counted_markers(missing).count() as u64
    }

    /// Rows whose value no other row has.
    pub(super) fn rows_alone(&self, missing: &[usize]) -> u64 {
        let markers = self.counted_markers(missing).filter(|n| *n == 1).count();
        self.values.rows_below(2) + markers as u64
    }

    /// Whether numbers of values are exact.
    pub(super) fn is_exact(&self) -> bool {
        self.values.is_exact()
    }

    /// How long values are on average, in bytes.
    pub(super) fn mean_length(&self, rows: u64) -> f64 {
        self.total_length as f64 / rows.max(1) as f64
    }

    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }
}

/// What a value looks like.
fn looks_of(cell: &str) -> u16 {
    let mut found = 0;
    let mut look = |is: bool, look: u16| found |= if is { look } else { 0 };
    if cell.len() > 40 {
        return 0;
    }
    let number = is_plain_number(cell);
    look(number, looks::NUMBER);
    look(!number && Band::of(cell).is_some(), looks::BAND);
    look(Template::Icd9.leaf(cell).is_some(), looks::ICD9);
    let icd10 = Template::Icd10.leaf(cell).is_some();
    look(icd10, looks::ICD10);
    look(Template::UnRegion.leaf(cell).is_some(), looks::COUNTRY);
    let marked =
        icd10 || cell.starts_with(['V', 'E']) && Template::Icd9.leaf(cell).is_some();
    look(marked, looks::MARKED_CODE);
    look(FINDINGS.contains(&cell.to_lowercase().as_str()), looks::FINDING);
    found
}

impl Facts {
    fn add(&mut self, cell: &str, stand_in: bool) {
        self.any = true;
        self.lengths = (self.lengths.0.min(cell.len()), self.lengths.1.max(cell.len()));
        self.numbers = self.numbers && is_plain_number(cell);
        let number = parse_number(cell);
        self.whole = self.whole && number.is_some_and(|number| number.fract() == 0.0);
        if let Some(number) = number {
            self.range = (self.range.0.min(number), self.range.1.max(number));
            if !stand_in {
                let (low, high) = self.own_range;
                self.own_range = (low.min(number), high.max(number));
            }
        }
        self.codes = self.codes
            && cell.bytes().any(|byte| byte.is_ascii_digit())
            && cell.bytes().all(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b' ')
            });
        for (possible, format) in self.date_formats.iter_mut().zip(DATE_FORMATS) {
            *possible = *possible && parse_date(cell, format).is_some();
        }
    }

    fn merge(&mut self, other: &Self) {
        self.any |= other.any;
        self.numbers &= other.numbers;
        self.whole &= other.whole;
        self.codes &= other.codes;
        self.lengths =
            (self.lengths.0.min(other.lengths.0), self.lengths.1.max(other.lengths.1));
        self.range = (self.range.0.min(other.range.0), self.range.1.max(other.range.1));
        let (low, high) = other.own_range;
        self.own_range = (self.own_range.0.min(low), self.own_range.1.max(high));
        for (mine, theirs) in self.date_formats.iter_mut().zip(other.date_formats) {
            *mine &= theirs;
        }
    }

    /// Whether all values are whole numbers.
    pub(super) fn is_whole(&self) -> bool {
        self.any && self.whole
    }

    /// Whether all values look like codes: short, with digits, of letters and digits.
    pub(super) fn is_code(&self) -> bool {
        self.any && self.codes && self.lengths.0 >= 2 && self.lengths.1 <= 12
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::sample::hash;

    fn tally(cells: &[&str]) -> Tally {
        let mut tally = Tally::new();
        cells.iter().for_each(|cell| tally.add(cell, hash(cell)));
        tally
    }

    #[test]
    fn types_are_what_all_values_agree_on() {
        let kind = |cells: &[&str]| tally(cells).kind();
        assert_eq!(kind(&["1", "2.5", "-3"]), (Kind::Number, None));
        assert_eq!(kind(&["1", "two"]), (Kind::Category, None));
        assert_eq!(kind(&["2024-05-17", "2024-05-18T10:00"]), (Kind::Date, None));
        assert_eq!(kind(&["17.05.2024"]), (Kind::Date, Some("%d.%m.%Y")));
        assert_eq!(kind(&["05/17/2024"]), (Kind::Date, Some("%m/%d/%Y")));
        assert_eq!(kind(&["", "?"]), (Kind::Category, None));
    }

    #[test]
    fn codes_with_leading_zeros_are_words() {
        assert_eq!(tally(&["01067", "10115"]).kind(), (Kind::Category, None));
        assert_eq!(tally(&["0", "0.5", "10"]).kind(), (Kind::Number, None));
    }

    #[test]
    fn some_markers_are_missing_only_among_numbers_and_dates() {
        let missing = |cells: &[&str]| {
            tally(cells)
                .missing_markers()
                .map(|place| MARKERS[place])
                .collect::<Vec<_>>()
        };
        assert_eq!(missing(&["1", "NA", "-", ""]), ["", "NA", "-"]);
        assert_eq!(missing(&["DE", "NA", "?"]), ["?"]);
    }

    #[test]
    fn days_and_months_that_could_be_swapped_are_noticed() {
        assert!(tally(&["01/02/2024"]).ambiguous_dates());
        assert!(!tally(&["01/02/2024", "31/01/2024"]).ambiguous_dates());
    }
}
