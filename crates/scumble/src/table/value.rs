//! Texts as values: numbers, dates, missing markers.

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

use crate::table::Kind;

/// How the texts of a column are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// What the values are.
    pub kind: Kind,
    /// Texts that stand for "not known". The first one is what is published.
    pub missing: Vec<String>,
    /// How dates are written, in the form of `strftime`; ISO 8601 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_format: Option<String>,
}

impl Reading {
    /// Words, with the empty text as missing.
    pub fn category() -> Self {
        Self { kind: Kind::Category, missing: vec![String::new()], date_format: None }
    }

    /// Numbers, with the empty text as missing.
    pub fn number() -> Self {
        Self { kind: Kind::Number, ..Self::category() }
    }

    /// Whether `text` stands for "not known".
    pub fn is_missing(&self, text: &str) -> bool {
        self.missing.iter().any(|marker| marker == text)
    }

    /// The text that is published for "not known".
    pub fn missing_text(&self) -> &str {
        self.missing.first().map_or("", String::as_str)
    }

    /// The number behind `text`: itself, or days since 1970-01-01; 0 for words.
    /// Nothing if `text` is not of the column's kind.
    pub fn number_of(&self, text: &str) -> Option<f64> {
        match self.kind {
            Kind::Category => Some(0.0),
            Kind::Number => parse_number(text),
            Kind::Date => parse_date(text, self.date_format.as_deref()),
        }
    }

    /// The one text for the value that `text` means; itself if it cannot be read.
    pub fn one_text(&self, text: &str) -> String {
        if self.is_missing(text) {
            return self.missing_text().to_owned();
        }
        let number = self.number_of(text);
        number.map_or_else(|| text.to_owned(), |number| self.canonical(text, number))
    }

    /// A text that a table could have for the value with this one text.
    pub fn as_typed(&self, one_text: &str) -> String {
        let Some(format) = self.date_format.as_deref() else {
            return one_text.to_owned();
        };
        let days = parse_date(one_text, None).map(|days| days as i32 + EPOCH);
        let date = days.and_then(NaiveDate::from_num_days_from_ce_opt);
        date.map_or_else(|| one_text.to_owned(), |d| d.format(format).to_string())
    }

    /// The one text for the value that `text` means, given its number.
    pub fn canonical(&self, text: &str, number: f64) -> String {
        match self.kind {
            Kind::Category => text.to_owned(),
            Kind::Number => format_number(number),
            Kind::Date => format_date(number),
        }
    }
}

/// Reads a finite number of at most 15 significant digits, so that no two different texts
/// fall together by rounding. With a fraction, it may also be the shortest text of a double.
pub fn parse_number(text: &str) -> Option<f64> {
    let text = text.trim();
    // Rust also reads "inf", "nan" and "infinity"; a table does not.
    if !text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) {
        return None;
    }
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let digits = mantissa.trim_start_matches(['+', '-', '0', '.']);
    let is_long = digits.bytes().filter(u8::is_ascii_digit).count() > 15;
    let number: f64 = text.parse().ok()?;
    if is_long && !(text.contains('.') && number.to_string() == text) {
        return None;
    }
    // Minus zero is zero.
    number.is_finite().then_some(if number == 0.0 { 0.0 } else { number })
}

/// Writes a number the shortest way that reads back as itself.
pub fn format_number(number: f64) -> String {
    number.to_string()
}

/// Reads a date as days since 1970-01-01. Without a format: ISO 8601, with or without a
/// time of day, which is cut off.
pub fn parse_date(text: &str, format: Option<&str>) -> Option<f64> {
    let text = text.trim();
    let date = match format {
        Some(format) => NaiveDate::parse_from_str(text, format).ok()?,
        None => {
            let day = match text.as_bytes().get(10) {
                None => text,
                Some(b'T' | b' ') => text.get(..10)?,
                Some(_) => return None,
            };
            NaiveDate::parse_from_str(day, "%Y-%m-%d").ok()?
        }
    };
    Some(f64::from(date.num_days_from_ce() - EPOCH))
}

/// Writes days since 1970-01-01 as an ISO 8601 date.
pub fn format_date(days: f64) -> String {
    match NaiveDate::from_num_days_from_ce_opt(days as i32 + EPOCH) {
        Some(date) => date.format("%Y-%m-%d").to_string(),
        None => "*".to_owned(),
    }
}

/// 1970-01-01 in days of the common era.
const EPOCH: i32 = 719_163;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain_numbers() {
        assert_eq!(parse_number(" 39 "), Some(39.0));
        assert_eq!(parse_number("-0.50"), Some(-0.5));
        assert_eq!(parse_number("1e3"), Some(1000.0));
        assert_eq!(parse_number("0.30000000000000004"), Some(0.1 + 0.2));
        assert_eq!(parse_number("-0").map(format_number).as_deref(), Some("0"));
        for text in [
            "",
            "nan",
            "inf",
            "1,5",
            "0x10",
            "12345678901234567",
            "1e999",
            "0.30000000000000003",
        ] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }

    #[test]
    fn dates_read_and_write_back() {
        let day = parse_date("2024-02-29T10:00", None).expect("a date");
        assert_eq!(format_date(day), "2024-02-29");
        assert_eq!(parse_date("1970-01-01", None), Some(0.0));
        assert_eq!(parse_date("29.02.2024", Some("%d.%m.%Y")), Some(day));
        assert_eq!(parse_date("2023-02-29", None), None);
        assert_eq!(parse_date("2023-02-2x", None), None);
    }
}
