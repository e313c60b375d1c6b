//! What one column holds, gathered cell by cell.

use crate::inspect::sample::{Sample, hash};
use crate::table::{Kind, is_plain_number, parse_date, parse_number};

/// Texts that may stand for "not known".
pub(super) const MARKERS: [&str; 8] =
    ["", "?", "NA", "N/A", "null", "NULL", "NaN", "-"];

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
    total_length: u64,
    facts: Facts,
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
        };
        let values = Sample::new(CAPACITY);
        Self { values, markers: [0; MARKERS.len()], total_length: 0, facts }
    }

    #[inline]
    pub(super) fn add(&mut self, cell: &str) {
        if cell.len() <= 4
            && let Some(marker) = MARKERS.iter().position(|marker| *marker == cell)
        {
            self.markers[marker] += 1;
            return;
        }
        self.total_length += cell.len() as u64;
        if self.values.add(hash(cell)) {
            self.facts.add(cell);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.values.merge(other.values);
        for (mine, theirs) in self.markers.iter_mut().zip(other.markers) {
            *mine += theirs;
        }
        self.total_length += other.total_length;
        self.facts.merge(&other.facts);
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

impl Facts {
    fn add(&mut self, cell: &str) {
        self.any = true;
        self.lengths = (self.lengths.0.min(cell.len()), self.lengths.1.max(cell.len()));
        self.numbers = self.numbers && is_plain_number(cell);
        let number = parse_number(cell);
        self.whole = self.whole && number.is_some_and(|number| number.fract() == 0.0);
        if let Some(number) = number {
            self.range = (self.range.0.min(number), self.range.1.max(number));
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

    fn tally(cells: &[&str]) -> Tally {
        let mut tally = Tally::new();
        cells.iter().for_each(|cell| tally.add(cell));
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
