//! Numbers taken as ranges: one level of a hierarchy, between public ends.
//!
//! # Guarantee
//! The ranges follow from the hierarchy, the level and the ends alone, never from the
//! numbers that happen to occur; every number between the ends is in exactly one of them.
//!
//! # Limits
//! How numbers lie within a range is lost. At the ends a range may reach beyond what is
//! possible: its name is that of the hierarchy, its numbers are those between the ends.
//!
//! # Cost
//! A binary search among the ranges for each number.
//!
//! # Source
//! `chaytor2010randomization` randomizes categories and leaves numbers open; docs/methods.md,
//! "Randomized numbers".

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hierarchy::{Rule, Uncovered};
use crate::table::{Code, Domain, Kind, Reading};

/// More ranges than these are a mistake: each is a value with a bound of its own.
const MOST: usize = 50_000;

/// The ranges of one level of a hierarchy, between public ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RangesAsSaid", into = "RangesAsSaid")]
pub struct Ranges {
    said: RangesAsSaid,
    /// Name, first number and the first number behind it, ascending.
    all: Vec<(Box<str>, f64, f64)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RangesAsSaid {
    hierarchy: Rule,
    level: usize,
    ends: [f64; 2],
}

impl Ranges {
    /// The ranges of a level of `hierarchy`, which must have ranges of numbers, that hold
    /// numbers from one end to the other, both included.
    pub fn new(hierarchy: Rule, level: usize, ends: [f64; 2]) -> Result<Self> {
        let [low, high] = ends;
        if !(low.is_finite() && high.is_finite() && low < high) {
            return Err(Error::recipe("ranges need two ends, the lower one first"));
        }
        let mut all: Vec<(Box<str>, f64, f64)> = Vec::new();
        let mut from = low;
        while from <= high {
            let found = hierarchy.range_around(from, level);
            let Some((label, from_to)) = found.filter(|(_, to)| to.1 > from) else {
                return Err(Error::recipe(format!(
                    "level {level} of the hierarchy has no ranges of numbers here"
                ))
                .with_hint(
                    "`widths` and `cuts` have them, on levels from 1 up to as many as are \
                     listed",
                ));
            };
            if all.len() == MOST {
                return Err(Error::recipe(format!(
                    "there are more than {MOST} ranges between the ends of the domain"
                ))
                .with_hint("take wider ranges, or a narrower `domain`"));
            }
            all.push((label, from_to.0, from_to.1));
            from = from_to.1;
        }
        Ok(Self { said: RangesAsSaid { hierarchy, level, ends }, all })
    }

    /// The level of the hierarchy.
    pub fn level(&self) -> usize {
        self.said.level
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &Rule {
        &self.said.hierarchy
    }

    /// The smallest and the largest number that is possible.
    pub fn ends(&self) -> [f64; 2] {
        self.said.ends
    }

    /// The names of all ranges, ascending.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|(label, ..)| &**label)
    }

    /// The place of the range that a number is in; nothing if it is beyond the ends.
    fn place(&self, number: f64) -> Option<usize> {
        let [low, high] = self.said.ends;
        if !(low..=high).contains(&number) {
            return None;
        }
        self.all.partition_point(|(_, from, _)| *from <= number).checked_sub(1)
    }

    /// The range that a text stands for: its own name, or a number in it. "Not known" stays
    /// what it is. Nothing for anything else.
    pub fn text(&self, reading: &Reading, text: &str) -> Option<String> {
        if reading.is_missing(text) {
            return Some(reading.missing_text().to_owned());
        }
        if let Some(number) = Reading::number().number_of(text) {
            return self.place(number).map(|place| self.all[place].0.to_string());
        }
        self.all.iter().find(|(label, ..)| **label == *text).map(|_| text.to_owned())
    }

    /// The first and the last number of a range with so many decimals, in units of the last
    /// one; nothing if there is no such range or no such number.
    pub fn steps(&self, label: &str, decimals: u32) -> Option<(i64, i64)> {
        let (_, from, behind) = self.all.iter().find(|(own, ..)| **own == *label)?;
        let [low, high] = self.said.ends;
        let first = below(from.max(low), decimals).1;
        let last = match *behind > high {
            true => below(high, decimals),
            false => {
                let (last, above) = below(*behind, decimals);
                (last - i64::from(last == above), above)
            }
        };
        (first <= last.0).then_some((first, last.0))
    }

    /// How many decimals the numbers among texts have.
    pub fn decimals(&self, texts: &[Box<str>], reading: &Reading) -> u32 {
        let known = texts.iter().filter(|text| !reading.is_missing(text));
        let digits = known.filter_map(|text| {
            let text = reading.number_of(text)?.to_string();
            Some(text.split_once('.').map_or(0, |(_, digits)| digits.len() as u32))
        });
        digits.max().unwrap_or(0)
    }

    /// The domain: all ranges, and "not known" if it occurs; and the code of each text.
    pub fn domain(
        &self,
        texts: &[Box<str>],
        reading: &Reading,
    ) -> Result<(Domain, Vec<Code>), Uncovered> {
        let with_missing = texts.iter().any(|text| reading.is_missing(text));
        let labels = self.labels().map(str::to_owned).collect();
        let words = Reading { kind: Kind::Category, ..reading.clone() };
        let domain = Domain::ordered(labels, &words, with_missing);
        let (mut codes, mut unread, mut beyond) = (Vec::new(), Vec::new(), Vec::new());
        for (place, text) in texts.iter().enumerate() {
            let code = match reading.number_of(text) {
                _ if reading.is_missing(text) => domain.missing(),
                None => {
                    unread.push(place);
                    None
                }
                Some(number) => {
                    let found = self.place(number);
                    beyond.extend(found.is_none().then_some(place));
                    found.map(Code::from_index)
                }
            };
            codes.push(code.unwrap_or_default());
        }
        match (unread.is_empty(), beyond.is_empty()) {
            (true, true) => Ok((domain, codes)),
            (false, _) => Err(Uncovered::NotOfKind(unread)),
            (true, false) => Err(Uncovered::Beyond(beyond)),
        }
    }
}

/// The last number with so many decimals up to `number`, and the first from it on, in units
/// of the last decimal: the same if it is one of them.
fn below(number: f64, decimals: u32) -> (i64, i64) {
    let steps = number * 10f64.powi(decimals as i32);
    let nearest = steps.round();
    // What was written with these decimals is one of them.
    match (steps - nearest).abs() <= 1e-9 * steps.abs().max(1.0) {
        true => (nearest as i64, nearest as i64),
        false => (steps.floor() as i64, steps.ceil() as i64),
    }
}

impl TryFrom<RangesAsSaid> for Ranges {
    type Error = Error;

    fn try_from(said: RangesAsSaid) -> Result<Self> {
        Self::new(said.hierarchy, said.level, said.ends)
    }
}

impl From<Ranges> for RangesAsSaid {
    fn from(ranges: Ranges) -> Self {
        ranges.said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuts() -> Ranges {
        let rule = Rule::cuts(vec![vec![0.0, 100.0, 500.0]]).expect("ascending");
        Ranges::new(rule, 1, [0.0, 1000.0]).expect("two ends")
    }

    #[test]
    fn ranges_are_those_between_the_ends_and_no_others() {
        let labels: Vec<String> = cuts().labels().map(str::to_owned).collect();
        assert_eq!(labels, ["[0, 100)", "[100, 500)", "[500, inf)"]);
        let rule = Rule::widths(vec![5.0, 50.0], 0.0).expect("nested");
        let wide = Ranges::new(rule.clone(), 2, [-10.0, 100.0]).expect("two ends");
        let labels: Vec<&str> = wide.labels().collect();
        assert_eq!(labels, ["[-50, 0)", "[0, 50)", "[50, 100)", "[100, 150)"]);
        assert!(Ranges::new(rule.clone(), 3, [0.0, 1.0]).is_err());
        assert!(Ranges::new(rule, 0, [0.0, 1.0]).is_err());
        assert!(Ranges::new(Rule::Plain, 1, [0.0, 1.0]).is_err());
    }

    #[test]
    fn numbers_of_a_range_end_where_the_domain_does() {
        assert_eq!(cuts().steps("[0, 100)", 0), Some((0, 99)));
        assert_eq!(cuts().steps("[0, 100)", 1), Some((0, 999)));
        assert_eq!(cuts().steps("[500, inf)", 0), Some((500, 1000)));
        let rule = Rule::cuts(vec![vec![0.5, 0.75]]).expect("ascending");
        let fine = Ranges::new(rule, 1, [0.0, 2.0]).expect("two ends");
        assert_eq!(fine.steps("(-inf, 0.5)", 0), Some((0, 0)));
        assert_eq!(fine.steps("[0.5, 0.75)", 0), None);
        assert_eq!(fine.steps("[0.5, 0.75)", 1), Some((5, 7)));
        assert_eq!(fine.steps("[0.75, inf)", 0), Some((1, 2)));
    }

    #[test]
    fn a_text_is_a_range_by_name_or_by_number() {
        let reading = Reading::number();
        let text = |text| cuts().text(&reading, text);
        assert_eq!(text("99.99").as_deref(), Some("[0, 100)"));
        assert_eq!(text("100").as_deref(), Some("[100, 500)"));
        assert_eq!(text("1000").as_deref(), Some("[500, inf)"));
        assert_eq!(text("[100, 500)").as_deref(), Some("[100, 500)"));
        assert_eq!(text("1000.1"), None);
        assert_eq!(text("-1"), None);
        assert_eq!(text("[1, 2)"), None);
    }

    #[test]
    fn too_many_ranges_are_refused() {
        let rule = Rule::widths(vec![0.01], 0.0).expect("positive");
        let error = Ranges::new(rule, 1, [0.0, 1e6]).expect_err("too many");
        assert!(error.to_string().contains("more than 50000 ranges"), "{error}");
    }
}
