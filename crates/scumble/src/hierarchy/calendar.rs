//! Days, months, quarters, years, decades.

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hierarchy::Step;

/// A part of the calendar. Each lies within one of every coarser kind.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Grain {
    /// `2024-05-17`.
    Day,
    /// `2024-05`.
    Month,
    /// `2024-Q2`.
    Quarter,
    /// `2024`.
    Year,
    /// `2020s`.
    Decade,
}

impl Grain {
    /// All grains, finest first.
    pub const ALL: [Self; 5] =
        [Self::Day, Self::Month, Self::Quarter, Self::Year, Self::Decade];

    /// The grain's name in a recipe.
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
            Self::Decade => "decade",
        }
    }
}

/// Parts of the calendar, level by level coarser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "CalendarAsTyped")]
pub struct Calendar {
    // Ascending. A leading day stands for the value itself and makes no level.
    grains: Vec<Grain>,
}

#[derive(Deserialize)]
struct CalendarAsTyped {
    grains: Vec<Grain>,
}

impl Calendar {
    /// Checks that grains get coarser.
    pub fn new(grains: Vec<Grain>) -> Result<Self> {
        if grains.is_empty() {
            return Err(Error::recipe(
                "`dates` is empty, but needs at least one level",
            ));
        }
        for pair in grains.windows(2) {
            if pair[0] >= pair[1] {
                return Err(Error::recipe(format!(
                    "`{}` comes after `{}`, but levels must get coarser",
                    pair[1].name(),
                    pair[0].name()
                ))
                .with_hint(
                    "the order is `day`, `month`, `quarter`, `year`, `decade`",
                ));
            }
        }
        Ok(Self { grains })
    }

    /// The grains, finest first.
    pub fn grains(&self) -> &[Grain] {
        &self.grains
    }

    /// How many levels lie between the values and the root.
    pub(super) fn n_steps(&self) -> usize {
        self.coarse().count()
    }

    /// The parts of the calendar around a day; nothing for a number that is no day.
    pub(super) fn steps(&self, days: f64) -> Option<Vec<Step>> {
        // The cast stops at the ends of the 32-bit numbers, which are no days.
        let date = NaiveDate::from_epoch_days(days.floor() as i32)?;
        Some(self.coarse().map(|grain| step(grain, date)).collect())
    }

    /// Whether a text, such as `2024` or `2024-Q2`, could be one of the labels.
    pub(super) fn is_label(text: &str) -> bool {
        let unsigned = text.trim_start_matches(['+', '-']);
        let rest = unsigned.trim_start_matches(|letter: char| letter.is_ascii_digit());
        rest.len() < unsigned.len()
            && match rest.as_bytes() {
                b"" | b"s" => true,
                [b'-', b'Q' | b'0'..=b'9', last] => last.is_ascii_digit(),
                _ => false,
            }
    }

    /// The first day of the part of the calendar that is called so, and the first after it.
    pub(super) fn span(&self, label: &str) -> Option<(f64, f64)> {
        let sign = usize::from(label.starts_with(['+', '-']));
        let digits = label[sign..].bytes().take_while(u8::is_ascii_digit).count();
        let (year, rest) = label.split_at(sign + digits);
        let year: i32 = year.parse().ok()?;
        let month = match rest.as_bytes() {
            [b'-', b'Q', quarter @ b'1'..=b'4'] => 3 * u32::from(quarter - b'1') + 1,
            [b'-', _, _] => rest[1..].parse().ok()?,
            b"" | b"s" => 1,
            _ => return None,
        };
        let date = NaiveDate::from_ymd_opt(year, month, 1)?;
        let mut steps = self.coarse().map(|grain| step(grain, date));
        steps.find(|(found, _)| **found == *label)?.1
    }

    fn coarse(&self) -> impl Iterator<Item = Grain> + '_ {
        self.grains.iter().copied().filter(|grain| *grain != Grain::Day)
    }
}

impl TryFrom<CalendarAsTyped> for Calendar {
    type Error = Error;

    fn try_from(typed: CalendarAsTyped) -> Result<Self> {
        Self::new(typed.grains)
    }
}

/// The label of the part around a date, the first day in it and the first after it.
fn step(grain: Grain, date: NaiveDate) -> Step {
    let (year, month) = (date.year(), date.month());
    // As ISO 8601 writes years: four digits, or a sign before them.
    let text = |year: i32| match year {
        0..=9999 => format!("{year:04}"),
        _ => format!("{year:+05}"),
    };
    let (label, first, n_months) = match grain {
        Grain::Day | Grain::Month => {
            (format!("{}-{month:02}", text(year)), (year, month), 1)
        }
        Grain::Quarter => {
            let quarter = (month - 1) / 3;
            let label = format!("{}-Q{}", text(year), quarter + 1);
            (label, (year, quarter * 3 + 1), 3)
        }
        Grain::Year => (text(year), (year, 1), 12),
        Grain::Decade => {
            let first = year.div_euclid(10) * 10;
            (format!("{}s", text(first)), (first, 1), 120)
        }
    };
    let months = first.0 * 12 + first.1 as i32 - 1;
    // At the ends of the calendar there is no day before or after.
    let low = day_of_month(months).unwrap_or(f64::NEG_INFINITY);
    let high = day_of_month(months + n_months).unwrap_or(f64::INFINITY);
    (label.into_boxed_str(), Some((low, high)))
}

/// The first day of a month that is counted from the year zero.
fn day_of_month(months: i32) -> Option<f64> {
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) as u32 + 1);
    NaiveDate::from_ymd_opt(year, month, 1).map(|day| f64::from(day.to_epoch_days()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::parse_date;

    fn steps(date: &str) -> Vec<(String, f64)> {
        let days = parse_date(date, None).expect("a date");
        let calendar = Calendar::new(Grain::ALL.to_vec()).expect("nested");
        let steps = calendar.steps(days).expect("a day");
        steps
            .into_iter()
            .map(|(label, span)| {
                let (low, high) = span.expect("a span");
                assert!(low <= days && days < high, "{date} in {label}");
                (label.into(), high - low)
            })
            .collect()
    }

    #[test]
    fn a_day_lies_in_month_quarter_year_and_decade() {
        let expected =
            [("2024-05", 31.0), ("2024-Q2", 91.0), ("2024", 366.0), ("2020s", 3653.0)];
        assert_eq!(steps("2024-05-17"), expected.map(|(l, n)| (l.to_owned(), n)));
    }

    #[test]
    fn years_before_zero_have_decades_too() {
        let date = NaiveDate::from_ymd_opt(-5, 12, 31).expect("a date");
        let labels = Grain::ALL[1..].iter().map(|grain| step(*grain, date).0);
        let expected = ["-0005-12", "-0005-Q4", "-0005", "-0010s"];
        assert_eq!(labels.collect::<Vec<_>>(), expected.map(Box::from));
    }

    #[test]
    fn a_label_tells_its_days() {
        let calendar = Calendar::new(Grain::ALL.to_vec()).expect("nested");
        for year in ["2024-05-17", "1969-12-31", "0007-02-01"] {
            let days = parse_date(year, None).expect("a date");
            for (label, span) in calendar.steps(days).expect("a day") {
                assert_eq!(calendar.span(&label), span, "{label}");
            }
        }
        for label in ["", "2024-Q5", "2024-13", "2024-5", "x", "2024-05-17", "2025s"] {
            assert_eq!(calendar.span(label), None, "{label}");
        }
        let years = Calendar::new(vec![Grain::Year]).expect("nested");
        assert_eq!(years.span("2024-05"), None);
    }

    #[test]
    fn the_end_of_the_calendar_is_no_accident() {
        let last = f64::from(NaiveDate::MAX.to_epoch_days());
        let calendar = Calendar::new(vec![Grain::Decade]).expect("nested");
        let steps = calendar.steps(last).expect("a day");
        assert_eq!(steps[0].1.map(|span| span.1), Some(f64::INFINITY));
        assert!(calendar.steps(1e300).is_none());
    }

    #[test]
    fn grains_that_do_not_get_coarser_are_refused() {
        let error =
            Calendar::new(vec![Grain::Year, Grain::Month]).expect_err("refused");
        assert_eq!(
            error.to_string(),
            "`month` comes after `year`, but levels must get coarser"
        );
        assert!(Calendar::new(vec![]).is_err());
    }
}
