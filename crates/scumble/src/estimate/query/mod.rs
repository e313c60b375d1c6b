//! Questions: which rows, counted by what.

mod ask;
pub(crate) mod classes;
pub(crate) mod facets;
mod like;
pub(crate) mod question;
pub(crate) mod ranges;
mod sql;
mod unknown;

pub use ask::{Ask, SortBy, SortKey};
pub use like::Pattern;
pub use unknown::{Guessed, Unknown};

use crate::error::{Error, Result};
use crate::table::{Kind, Reading, parse_date, parse_number};

/// How many rows satisfy a condition, or what their numbers come to, in all or for each value
/// of some columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// What is asked of these rows.
    pub measure: Measure,
    /// The columns whose values are counted apart.
    pub group_by: Vec<String>,
    /// Which rows are counted.
    pub condition: Condition,
}

/// What is asked of rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Measure {
    /// How many they are.
    #[default]
    Count,
    /// The sum of a column; the condition must leave out rows where it is missing.
    Sum(String),
    /// The mean of a column, likewise.
    Mean(String),
    /// The share of them that also satisfy a condition. Without one, their share of all that
    /// satisfy the query's condition, whatever columns are counted apart; if none are, of
    /// all rows.
    Share(Option<Condition>),
}

impl Measure {
    /// Its name in SQL.
    pub fn function(&self) -> &'static str {
        match self {
            Self::Count => "COUNT",
            Self::Sum(_) => "SUM",
            Self::Mean(_) => "AVG",
            Self::Share(_) => "SHARE",
        }
    }

    /// The column that is added up.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Count | Self::Share(_) => None,
            Self::Sum(column) | Self::Mean(column) => Some(column),
        }
    }
}

/// Which rows are meant. As in SQL, a test of a missing value is neither true nor false,
/// and only rows for which the whole is true are meant.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// A test of one column.
    Test(Test),
    /// All of these; of none, every row.
    And(Vec<Condition>),
    /// Any of these.
    Or(Vec<Condition>),
    /// Not this: true where it is false.
    Not(Box<Condition>),
    /// This is not true: it is false, or open because a value is missing.
    NotTrue(Box<Condition>),
}

impl Condition {
    /// Every row.
    pub fn always() -> Self {
        Self::And(Vec::new())
    }

    /// Both this and another.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self::And(vec![self.clone(), other.clone()])
    }
}

/// A test of the value of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// The column.
    pub column: String,
    /// What it is tested for.
    pub check: Check,
}

/// What a value is tested for.
#[derive(Debug, Clone, PartialEq)]
pub enum Check {
    /// Stands in this order to another.
    Compare(Comparison, Literal),
    /// Is one of these.
    Among(Vec<Literal>),
    /// Looks like a pattern; of words only.
    Like(Pattern),
    /// Is not known.
    Missing,
}

/// How two values stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// The same.
    Equal,
    /// Not the same.
    NotEqual,
    /// Before the other.
    Less,
    /// Before the other, or the same.
    AtMost,
    /// After the other.
    Greater,
    /// After the other, or the same.
    AtLeast,
}

/// A value as a question names it.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A number.
    Number(f64),
    /// A text in quotes.
    Text(String),
}

/// True, false, or nothing where a missing value leaves it open.
pub(crate) type Truth = Option<bool>;

/// A check that fits its column.
#[derive(Debug)]
pub(crate) struct Tester<'a> {
    reading: &'a Reading,
    scale: ComparedBy,
    check: FittedCheck,
}

/// What the texts of a column are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ComparedBy {
    Texts,
    Numbers,
    Dates,
}

#[derive(Debug)]
enum FittedCheck {
    Compare(Comparison, Point),
    Among(Vec<Point>),
    Like(Pattern),
    Missing,
}

#[derive(Debug)]
enum Point {
    Missing,
    Number(f64),
    Text(String),
}

impl<'a> Tester<'a> {
    /// Fits `test` to a column that is read so and has these values.
    pub(crate) fn new<'t>(
        test: &Test,
        reading: &'a Reading,
        mut texts: impl Iterator<Item = &'t str>,
    ) -> Result<Self> {
        let literals: &[Literal] = match &test.check {
            Check::Compare(_, literal) => std::slice::from_ref(literal),
            Check::Among(literals) => literals,
            Check::Like(_) | Check::Missing => &[],
        };
        let asked_for_number = literals.iter().any(|l| matches!(l, Literal::Number(_)));
        let scale = match reading.kind {
            Kind::Number => ComparedBy::Numbers,
            Kind::Date => ComparedBy::Dates,
            Kind::Category if asked_for_number => {
                let number =
                    |text| reading.is_missing(text) || parse_number(text).is_some();
                if !texts.all(number) {
                    let name = &test.column;
                    let error = Error::recipe(format!(
                        "`{name}` has words, but is compared with a number"
                    ));
                    return Err(error.with_hint("put the value in single quotes"));
                }
                ComparedBy::Numbers
            }
            Kind::Category => ComparedBy::Texts,
        };
        let point = |literal: &Literal| fitted(literal, scale, reading, &test.column);
        let check = match &test.check {
            Check::Compare(comparison, literal) => {
                FittedCheck::Compare(*comparison, point(literal)?)
            }
            Check::Among(literals) => {
                FittedCheck::Among(literals.iter().map(point).collect::<Result<_>>()?)
            }
            Check::Like(_) if scale != ComparedBy::Texts => {
                let name = &test.column;
                return Err(Error::recipe(format!(
                    "`{name}` has numbers or dates, but `LIKE` is for words"
                ))
                .with_hint("compare with `<`, `>`, `BETWEEN` or `IN`"));
            }
            Check::Like(pattern) => FittedCheck::Like(pattern.clone()),
            Check::Missing => FittedCheck::Missing,
        };
        Ok(Self { reading, scale, check })
    }

    /// Whether a value satisfies the check.
    pub(crate) fn test(&self, text: &str) -> Truth {
        match &self.check {
            FittedCheck::Missing => Some(self.reading.is_missing(text)),
            FittedCheck::Like(pattern) => {
                (!self.reading.is_missing(text)).then(|| pattern.matches(text))
            }
            FittedCheck::Compare(comparison, point) => {
                self.compare(text, *comparison, point)
            }
            FittedCheck::Among(points) => {
                let one = |point| self.compare(text, Comparison::Equal, point);
                any(points.iter().map(one))
            }
        }
    }

    fn compare(&self, text: &str, comparison: Comparison, point: &Point) -> Truth {
        let missing = self.reading.is_missing(text);
        let order = match point {
            // Whoever writes the text that stands for "not known" asks for it.
            Point::Missing => {
                return match comparison {
                    Comparison::Equal => Some(missing),
                    Comparison::NotEqual => Some(!missing),
                    _ => None,
                };
            }
            _ if missing => return None,
            Point::Number(number) => {
                number_of(text, self.scale, self.reading)?.partial_cmp(number)?
            }
            Point::Text(other) => text.cmp(other.as_str()),
        };
        Some(match comparison {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::AtMost => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::AtLeast => order.is_ge(),
        })
    }
}

fn fitted(
    literal: &Literal,
    scale: ComparedBy,
    reading: &Reading,
    name: &str,
) -> Result<Point> {
    let text = match literal {
        Literal::Text(text) if reading.is_missing(text) => return Ok(Point::Missing),
        Literal::Number(number) if scale == ComparedBy::Numbers => {
            return Ok(Point::Number(*number));
        }
        Literal::Text(text) => text.clone(),
        Literal::Number(number) => number.to_string(),
    };
    if scale == ComparedBy::Texts {
        return Ok(Point::Text(text));
    }
    let wanted = if scale == ComparedBy::Dates {
        "dates: write them as '2024-02-29'"
    } else {
        "numbers"
    };
    let wrong = || Error::recipe(format!("`{name}` has {wanted}, but not `{text}`"));
    number_of(&text, scale, reading).map(Point::Number).ok_or_else(wrong)
}

/// The number of a text that is compared by numbers or dates.
fn number_of(text: &str, scale: ComparedBy, reading: &Reading) -> Option<f64> {
    match scale {
        ComparedBy::Texts => None,
        ComparedBy::Numbers => parse_number(text),
        // Sensitive columns are published in ISO 8601, others as they were.
        ComparedBy::Dates => parse_date(text, None)
            .or_else(|| parse_date(text, reading.date_format.as_deref())),
    }
}

/// Whether one of them is true.
pub(crate) fn any(truths: impl Iterator<Item = Truth>) -> Truth {
    let mut open = false;
    for truth in truths {
        match truth {
            Some(true) => return truth,
            Some(false) => {}
            None => open = true,
        }
    }
    (!open).then_some(false)
}

/// Whether all of them are true.
pub(crate) fn all(truths: impl Iterator<Item = Truth>) -> Truth {
    let not = |truth: Truth| truth.map(|truth| !truth);
    not(any(truths.map(not)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth(reading: &Reading, check: Check, text: &str) -> Truth {
        let test = Test { column: "x".into(), check };
        Tester::new(&test, reading, [text].into_iter()).unwrap().test(text)
    }

    fn compare(comparison: Comparison, literal: Literal) -> Check {
        Check::Compare(comparison, literal)
    }

    #[test]
    fn values_compare_as_what_they_are() {
        let (words, numbers) = (Reading::category(), Reading::number());
        let less = |literal| compare(Comparison::Less, literal);
        assert_eq!(truth(&words, less(Literal::Text("9".into())), "10"), Some(true));
        assert_eq!(truth(&words, less(Literal::Number(9.0)), "10"), Some(false));
        assert_eq!(truth(&numbers, less(Literal::Text("9".into())), "10"), Some(false));
        let same = compare(Comparison::Equal, Literal::Number(7.5));
        assert_eq!(truth(&numbers, same, "7.50"), Some(true));
        let dates = Reading {
            kind: Kind::Date,
            date_format: Some("%d.%m.%Y".into()),
            ..Reading::category()
        };
        let before = less(Literal::Text("2024-03-01".into()));
        assert_eq!(truth(&dates, before.clone(), "29.02.2024"), Some(true));
        assert_eq!(truth(&dates, before, "2024-03-01"), Some(false));
    }

    #[test]
    fn a_missing_value_is_neither_in_nor_out() {
        let reading = Reading { missing: vec!["?".into()], ..Reading::number() };
        let low = compare(Comparison::Less, Literal::Number(3.0));
        assert_eq!(truth(&reading, low, "?"), None);
        let among = Check::Among(vec![Literal::Number(3.0)]);
        assert_eq!(truth(&reading, among, "?"), None);
        assert_eq!(truth(&reading, Check::Missing, "?"), Some(true));
        let asked = compare(Comparison::Equal, Literal::Text("?".into()));
        assert_eq!(truth(&reading, asked.clone(), "?"), Some(true));
        assert_eq!(truth(&reading, asked, "3"), Some(false));
        let (no, yes) = (Some(false), Some(true));
        assert_eq!(all([None, no].into_iter()), no);
        assert_eq!(all([None, yes].into_iter()), None);
        assert_eq!(all([yes, yes].into_iter()), yes);
        assert_eq!(any([None, yes].into_iter()), yes);
        assert_eq!(any([None, no].into_iter()), None);
        assert_eq!(any([no, no].into_iter()), no);
    }

    #[test]
    fn words_are_not_numbers() {
        let check = compare(Comparison::Less, Literal::Number(3.0));
        let test = Test { column: "x".into(), check };
        let words = Reading::category();
        let error = Tester::new(&test, &words, ["flu"].into_iter()).unwrap_err();
        let message = "`x` has words, but is compared with a number";
        assert_eq!(error.to_string(), message);
        let check = compare(Comparison::Less, Literal::Text("flu".into()));
        let test = Test { column: "x".into(), check };
        let numbers = Reading::number();
        let error = Tester::new(&test, &numbers, ["3"].into_iter()).unwrap_err();
        assert_eq!(error.to_string(), "`x` has numbers, but not `flu`");
    }
}
