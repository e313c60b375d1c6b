//! Public lines at which ranges of numbers and dates end.
//!
//! # Guarantee
//! The ends of a range are lines of the grid, whatever numbers are in it: the first line at or
//! below the least of them, and the first above the largest. Ranges that are parted at a line
//! do not overlap.
//!
//! # Limits
//! A range is as tight as its grid allows, so that somebody's number is in its first step, and
//! somebody's in its last. A grid that nobody declared is a function of an order of magnitude
//! of the column's extent, and of how many decimals its numbers have.
//!
//! # Cost
//! A look at every value of a column, once.
//!
//! # Source
//! Ours. Ends that are somebody's values single people out (GUARANTEES, "Ranges").

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hierarchy::{Grain, Rule, Step};
use crate::table::{Code, Domain, Kind, Of, format_date};

/// A grid that nobody declared has at most so many steps over the extent of its column. On
/// Adult (docs/methods.md, "Ranges on a grid") the low end of a range then singles out nobody
/// more often than any other number of it; with 60 steps it does.
const MOST_STEPS: f64 = 40.0;

/// A step that nobody declared is at least so many units of the last decimal: with one unit the
/// low end would be somebody's for certain.
const LEAST_UNITS: f64 = 2.0;

/// Where ranges of a column may end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Rule", into = "Rule")]
pub struct Grid {
    // Its first level has the ranges between neighbouring lines.
    rule: Rule,
}

impl Grid {
    /// A line at every multiple of a step.
    pub fn step(step: f64) -> Result<Self> {
        Ok(Self { rule: Rule::widths(vec![step], 0.0)? })
    }

    /// The lines of the lowest level of a hierarchy, if it has ranges.
    pub fn of_rule(rule: &Rule) -> Option<Self> {
        let rule = match rule {
            Rule::Widths(widths) => {
                let finest = widths.widths().first().copied()?;
                Rule::widths(vec![finest], widths.origin()).ok()?
            }
            Rule::Cuts(cuts) => {
                Rule::cuts(vec![cuts.levels().first()?.clone()]).ok()?
            }
            Rule::Calendar(calendar) => {
                let mut grains = calendar.grains().iter().copied();
                let finest = grains.find(|grain| *grain != Grain::Day)?;
                Rule::calendar(vec![finest]).ok()?
            }
            Rule::Plain | Rule::Tree(_) | Rule::Mask(_) | Rule::Quantiles(_) => {
                return None;
            }
        };
        Some(Self { rule })
    }

    /// Round lines for a column that has none: of numbers from the public domain, if there is
    /// one, or else from their extent; of dates from the calendar. Nothing for words, and for
    /// numbers of too many digits.
    pub fn round(domain: &Domain) -> Option<Self> {
        let (low, high) = domain.range()?;
        let extent = high - low;
        match domain.kind() {
            Kind::Category => None,
            Kind::Number => {
                let known = domain.codes().filter_map(|code| domain.number(code));
                let decimals = known.map(decimals_of).max().unwrap_or(0);
                let least = LEAST_UNITS * 10f64.powi(-(decimals as i32));
                round_step((extent / MOST_STEPS).max(least))
            }
            Kind::Date => {
                // Days are the units: no grain is finer than a month.
                let days = [30.0, 91.0, 365.0, 3652.0];
                let mut grains = Grain::ALL[1..].iter().zip(days);
                let fits = grains.find(|(_, days)| extent / days <= MOST_STEPS);
                let grain = fits.map_or(Grain::Decade, |(grain, _)| *grain);
                Some(Self { rule: Rule::calendar(vec![grain]).ok()? })
            }
        }
    }

    /// The neighbouring lines around a number: where its step begins, and where the next one
    /// does.
    pub fn step_around(&self, number: f64) -> Option<(f64, f64)> {
        self.around(number).map(|range| (range.from, range.to))
    }

    /// The range around a number, between neighbouring lines.
    fn around(&self, number: f64) -> Option<GridRange> {
        let steps: Vec<Step> = match &self.rule {
            Rule::Widths(widths) => widths.steps(number)?,
            Rule::Cuts(cuts) => cuts.steps(number),
            Rule::Calendar(calendar) => calendar.steps(number)?,
            Rule::Plain | Rule::Tree(_) | Rule::Mask(_) | Rule::Quantiles(_) => {
                return None;
            }
        };
        let (label, span) = steps.into_iter().next()?;
        let (from, to) = span?;
        let (first, last) = match &self.rule {
            Rule::Calendar(_) => (day(from, "(-inf"), day(to, "inf")),
            _ => label.split_once(", ").map(|(low, high)| (low.into(), high.into()))?,
        };
        let first = first.trim_start_matches('[').to_owned();
        let last = last.trim_end_matches(')').to_owned();
        let codes = (Code::default(), Code::default());
        Some(GridRange { from, to, first, last, codes })
    }

    /// Binds it to the values of a column; nothing if a number is beyond its reach.
    pub fn bind(&self, domain: &Domain) -> Option<BoundGrid> {
        let mut ranges: Vec<GridRange> = Vec::new();
        let mut range_of = Of::new();
        for code in domain.codes() {
            let Some(number) = domain.number(code) else {
                // "Not known" stands last, and in no range.
                range_of.push(u32::MAX);
                continue;
            };
            match ranges.last_mut().filter(|range| number < range.to) {
                Some(range) => range.codes.1 = code,
                None => {
                    let range = self.around(number)?;
                    ranges.push(GridRange { codes: (code, code), ..range });
                }
            }
            range_of.push(ranges.len() as u32 - 1);
        }
        Some(BoundGrid { grid: self.clone(), range_of, ranges })
    }
}

/// A line of the calendar.
fn day(days: f64, open: &str) -> String {
    match days.is_finite() {
        true => format_date(days),
        false => open.to_owned(),
    }
}

/// How many decimals a number has.
fn decimals_of(number: f64) -> usize {
    number.to_string().split_once('.').map_or(0, |(_, digits)| digits.len())
}

/// The least step of 1, 2 or 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> Option<Grid> {
    if !(least.is_finite() && least > 0.0) {
        return None;
    }
    let exponent = least.log10().floor() as i32;
    // A power of ten as it is written, not as it is multiplied.
    let step = |digit: u32, exponent: i32| format!("{digit}e{exponent}").parse().ok();
    let mut steps = (exponent - 1..=exponent + 1)
        .flat_map(|exponent| [1, 2, 5].map(|digit| step(digit, exponent)));
    let enough = |step: &f64| *step >= least * (1.0 - 1e-9);
    Grid::step(steps.find_map(|step| step.filter(enough))?).ok()
}

impl TryFrom<Rule> for Grid {
    type Error = Error;

    fn try_from(rule: Rule) -> Result<Self> {
        Self::of_rule(&rule).ok_or_else(|| Error::input("a grid needs ranges"))
    }
}

impl From<Grid> for Rule {
    fn from(grid: Grid) -> Self {
        grid.rule
    }
}

/// A grid with the values of a column.
#[derive(Debug, Clone)]
pub struct BoundGrid {
    grid: Grid,
    /// The place of the range of each value.
    range_of: Of<Code, u32>,
    /// The ranges that have values, ascending.
    ranges: Vec<GridRange>,
}

/// The range between two neighbouring lines.
#[derive(Debug, Clone)]
struct GridRange {
    from: f64,
    to: f64,
    /// The lines as they are written.
    first: String,
    last: String,
    /// The first and the last value in it.
    codes: (Code, Code),
}

impl BoundGrid {
    /// The grid itself.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    fn range(&self, code: Code) -> Option<&GridRange> {
        self.ranges.get(*self.range_of.at(code)? as usize)
    }

    /// Whether no line is between two values.
    pub fn joins(&self, one: Code, other: Code) -> bool {
        self.range_of.at(one) == self.range_of.at(other)
    }

    /// The first value of the range of one, and the last of the range of another.
    pub fn outward(&self, low: Code, high: Code) -> (Code, Code) {
        let first = self.range(low).map_or(low, |range| range.codes.0);
        (first, self.range(high).map_or(high, |range| range.codes.1))
    }

    /// Where the range of one value begins, and where that of another ends, which is no longer
    /// in it; nothing for "not known".
    pub fn span(&self, low: Code, high: Code) -> Option<(f64, f64)> {
        Some((self.range(low)?.from, self.range(high)?.to))
    }

    /// The line at or below a value, as it is written.
    pub fn line_below(&self, code: Code) -> Option<&str> {
        let range = self.range(code)?;
        range.from.is_finite().then_some(&*range.first)
    }

    /// How the range from one value to another is written, as in `[20, 25)`.
    pub fn text(&self, low: Code, high: Code) -> Option<String> {
        let (low, high) = (self.range(low)?, self.range(high)?);
        let open = if low.from.is_finite() { "[" } else { "" };
        Some(format!("{open}{}, {})", low.first, high.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Reading;

    fn domain(texts: &[&str], reading: &Reading) -> Domain {
        let texts: Vec<Box<str>> = texts.iter().map(|text| (*text).into()).collect();
        Domain::of(&texts, reading).expect("readable").0
    }

    fn code(place: u32) -> Code {
        Code::new(place)
    }

    #[test]
    fn ranges_end_on_lines_and_not_at_values() {
        let domain = domain(&["17", "21", "23", "24", "30", ""], &Reading::number());
        let grid = Grid::step(5.0).expect("a step").bind(&domain).expect("in reach");
        assert_eq!(grid.text(code(1), code(2)).as_deref(), Some("[20, 25)"));
        assert_eq!(grid.text(code(0), code(4)).as_deref(), Some("[15, 35)"));
        assert_eq!(grid.text(code(5), code(5)), None);
        assert_eq!(grid.outward(code(2), code(2)), (code(1), code(3)));
        assert_eq!(grid.outward(code(5), code(5)), (code(5), code(5)));
        assert!(grid.joins(code(1), code(3)) && !grid.joins(code(3), code(4)));
        assert_eq!(grid.line_below(code(2)), Some("20"));
        assert_eq!(grid.span(code(0), code(2)), Some((15.0, 25.0)));
    }

    #[test]
    fn lines_of_a_hierarchy_are_those_of_its_lowest_level() {
        let cuts = Rule::cuts(vec![vec![18.0, 65.0], vec![18.0]]).expect("nested");
        let ages = domain(&["17", "40", "70"], &Reading::number());
        let grid =
            Grid::of_rule(&cuts).and_then(|grid| grid.bind(&ages)).expect("lines");
        assert_eq!(grid.text(code(0), code(1)).as_deref(), Some("(-inf, 65)"));
        assert_eq!(grid.text(code(1), code(2)).as_deref(), Some("[18, inf)"));
        assert_eq!(grid.line_below(code(0)), None);
        let widths = Rule::widths(vec![0.5, 10.0], 0.25).expect("nested");
        let halves = domain(&["0.3", "1"], &Reading::number());
        let grid = Grid::of_rule(&widths).and_then(|g| g.bind(&halves)).expect("lines");
        assert_eq!(grid.text(code(0), code(1)).as_deref(), Some("[0.25, 1.25)"));
        assert!(Grid::of_rule(&Rule::Plain).is_none());
    }

    #[test]
    fn dates_end_on_the_calendar() {
        let reading = Reading { kind: Kind::Date, ..Reading::number() };
        let days = domain(&["2020-02-03", "2020-03-31", "2021-01-01"], &reading);
        let grid = Grid::round(&days).and_then(|grid| grid.bind(&days)).expect("lines");
        let text = grid.text(code(0), code(1));
        assert_eq!(text.as_deref(), Some("[2020-02-01, 2020-04-01)"));
        let years = Rule::calendar(vec![Grain::Day, Grain::Year]).expect("grains");
        let grid =
            Grid::of_rule(&years).and_then(|grid| grid.bind(&days)).expect("lines");
        let text = grid.text(code(0), code(2));
        assert_eq!(text.as_deref(), Some("[2020-01-01, 2022-01-01)"));
    }

    #[test]
    fn steps_that_nobody_declared_are_round() {
        let step = |texts: &[&str]| {
            let grid = Grid::round(&domain(texts, &Reading::number()));
            serde_json::to_value(grid.expect("a grid")).expect("json")["widths"][0]
                .as_f64()
                .expect("a width")
        };
        assert_eq!(step(&["17", "90"]), 2.0);
        assert_eq!(step(&["0", "99999"]), 5000.0);
        assert_eq!(step(&["0.5", "3"]), 0.2);
        assert_eq!(step(&["7"]), 2.0);
        assert_eq!(step(&["0", "4000"]), 100.0);
    }

    #[test]
    fn numbers_of_too_many_digits_are_beyond_reach() {
        let huge = domain(&["1", "1e300"], &Reading::number());
        assert!(Grid::round(&huge).and_then(|grid| grid.bind(&huge)).is_none());
    }

    #[test]
    fn a_grid_is_saved_as_the_rule_it_is() {
        let grid = Grid::step(0.5).expect("a step");
        let json = serde_json::to_string(&grid).expect("json");
        assert_eq!(json, r#"{"rule":"widths","widths":[0.5],"origin":0.0}"#);
        assert_eq!(serde_json::from_str::<Grid>(&json).expect("a grid"), grid);
        assert!(serde_json::from_str::<Grid>(r#"{"rule":"plain"}"#).is_err());
    }
}
