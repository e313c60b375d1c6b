//! Sensitive values by group: tables, count queries on them, and answers from groups.

use std::fmt::Write;

use rand::RngExt;
use scumble::error::Result;
use scumble::estimate::{Arranged, Basis, Estimate};
use scumble::hierarchy::{ColumnSpec, Microdata, Rule, Side, Tree};
use scumble::method::Buckets;
use scumble::random::Randomness;
use scumble::table::{
    Code, EntryId, GroupId, Of, ReadOptions, Reading, Role, Source, TupleId,
};
use scumble::watch::Unwatched;

use crate::Data;
use crate::adult::{Adult, NINE};
use crate::census::{Census, EIGHT};
use crate::city;
use crate::perturbed::mean;
use crate::queries::{Answer, CONDITIONS};

/// The sensitive column of Adult.
const OCCUPATION: &str = "occupation";

/// The patients of the city with their diseases.
pub(crate) fn patients() -> Result<Microdata> {
    let [patients, countries] = ["patients.csv", "nationality.csv"].map(city::sample);
    let source = Source::from_bytes(
        "patients.csv",
        patients.into_bytes(),
        &ReadOptions::default(),
    )?;
    let quasi = |name, reading, rule| ColumnSpec::new(name, Role::Quasi, reading, rule);
    let specs = [
        quasi(
            "age",
            Reading::number(),
            Rule::widths(vec![5.0, 10.0, 20.0, 40.0], 0.0)?,
        ),
        quasi("sex", Reading::category(), Rule::Plain),
        quasi("zip", Reading::category(), Rule::mask(Side::Right)),
        quasi(
            "nationality",
            Reading::category(),
            Rule::Tree(Tree::parse(&countries, "nationality.csv")?),
        ),
        sensitive("disease"),
    ];
    Microdata::read(&source, &specs, &Unwatched)
}

/// Adult with its occupations.
pub(crate) fn adult(data: &Data) -> Result<Microdata> {
    let adult = Adult::read(data)?;
    let quasi: Vec<&str> =
        NINE.into_iter().filter(|name| *name != OCCUPATION).collect();
    let mut specs = adult.specs(&quasi)?;
    specs.push(sensitive(OCCUPATION));
    adult.count(None, &specs)
}

/// A sample of the census with one of its columns sensitive.
pub(crate) fn records(
    census: &Census,
    column: usize,
    fifths: usize,
) -> Result<Microdata> {
    let mut text = EIGHT.join(",");
    for row in 0..census.n_rows(fifths) {
        for place in 0..EIGHT.len() {
            let end = if place == 0 { '\n' } else { ',' };
            // A text takes everything.
            _ = write!(text, "{end}{}", census.column(place, fifths)[row]);
        }
    }
    text.push('\n');
    let source =
        Source::from_bytes("records.csv", text.into_bytes(), &ReadOptions::default())?;
    let mut specs = Vec::new();
    for (place, name) in EIGHT.into_iter().enumerate() {
        let rule = match name {
            "Age" => Rule::widths(vec![5.0, 10.0, 20.0, 40.0], 0.0)?,
            _ => Rule::Plain,
        };
        specs.push(match place == column {
            true => sensitive(name),
            false => ColumnSpec::new(name, Role::Quasi, Reading::number(), rule),
        });
    }
    Microdata::read(&source, &specs, &Unwatched)
}

fn sensitive(name: &str) -> ColumnSpec {
    ColumnSpec::new(name, Role::Sensitive, Reading::category(), Rule::Plain)
}

/// Conjunctions over quasi columns, each asked with every sensitive value.
pub(crate) struct Conjunctions<'a> {
    data: &'a Microdata,
    /// The tuples that fit each conjunction.
    fitting: Vec<Vec<TupleId>>,
    /// The tuple of each entry.
    tuple_of: Of<EntryId, TupleId>,
}

/// A query's true answer, its estimate, and the interval around that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Counted {
    pub(crate) answer: Answer,
    pub(crate) interval: (f64, f64),
}

impl<'a> Conjunctions<'a> {
    /// These conjunctions of quasi columns and values, by their codes; no row has a value
    /// without one.
    pub(crate) fn new(
        data: &'a Microdata,
        conditions: &[Vec<(usize, Option<Code>)>],
    ) -> Self {
        let census = &data.census;
        let fitting = |condition: &Vec<(usize, Option<Code>)>| {
            let fits = |tuple: &TupleId| {
                let same = |(place, code): &(usize, Option<Code>)| {
                    Some(census.quasi[*place][*tuple]) == *code
                };
                condition.iter().all(same)
            };
            census.tuples().filter(fits).collect()
        };
        let tuple_of = census.tuple_of();
        Self { data, fitting: conditions.iter().map(fitting).collect(), tuple_of }
    }

    /// Conjunctions of one to three quasi columns and a value of each, all drawn uniformly.
    pub(crate) fn drawn(data: &'a Microdata) -> Self {
        let mut words = Randomness::of_seed(19).stream("conditions", 0);
        let condition = |_| {
            let mut left: Vec<usize> = (0..data.quasi.len()).collect();
            let n_columns = words.random_range(1..=3.min(left.len()));
            let column = |_| {
                let place = left.swap_remove(words.random_range(0..left.len()));
                let size = data.quasi[place].domain.len() as u32;
                (place, Some(Code::new(words.random_range(0..size))))
            };
            (0..n_columns).map(column).collect()
        };
        Self::new(data, &(0..CONDITIONS).map(condition).collect::<Vec<_>>())
    }

    /// Answers every query whose true answer is not zero from groups, as `scumble
    /// estimate` does.
    pub(crate) fn answers(&self, buckets: &Buckets) -> Vec<Counted> {
        let census = &self.data.census;
        let values = &census.sensitive[0];
        // The group of each row of each tuple, and the values of each group.
        let mut groups_of: Of<TupleId, Vec<GroupId>> =
            Of::repeat(Vec::new(), census.n_tuples());
        let mut groups: Of<GroupId, (u64, Vec<(Code, u64)>)> = Of::new();
        let numbers = GroupId::first(buckets.n_groups());
        for (number, entries) in numbers.zip(buckets.groups()) {
            let mut codes: Vec<Code> = Vec::with_capacity(entries.len());
            for entry in entries {
                groups_of[self.tuple_of[*entry]].push(number);
                codes.push(values[*entry]);
            }
            codes.sort_unstable();
            let each = codes.chunk_by(|a, b| a == b);
            let each = each.map(|same| (same[0], same.len() as u64)).collect();
            groups.push((entries.len() as u64, each));
        }
        let mut rows_of: Of<GroupId, u64> = Of::repeat(0, groups.len());
        let mut touched: Vec<GroupId> = Vec::new();
        let mut answers = Vec::new();
        for tuples in &self.fitting {
            let mut actual: Of<Code, u64> = Of::repeat(0, census.sensitive_sizes[0]);
            let mut sums: Of<Code, _> = Of::repeat(Arranged::default(), actual.len());
            for tuple in tuples {
                for entry in census.entries_of(*tuple) {
                    actual[values[entry]] += census.entries[entry];
                }
                for group in &groups_of[*tuple] {
                    if rows_of[*group] == 0 {
                        touched.push(*group);
                    }
                    rows_of[*group] += 1;
                }
            }
            for group in touched.drain(..) {
                let (size, values) = &groups[group];
                for (code, n) in values {
                    let found = Arranged::plain(*size, rows_of[group], *n);
                    let sum = &mut sums[*code];
                    sum.count += found.count;
                    sum.variance += found.variance;
                    sum.at_least += found.at_least;
                    sum.at_most += found.at_most;
                }
                rows_of[group] = 0;
            }
            let pairs = actual.into_iter().zip(sums).filter(|(actual, _)| *actual > 0);
            answers.extend(pairs.map(|(actual, sum)| counted(actual, sum)));
        }
        answers
    }
}

fn counted(actual: u64, sum: Arranged) -> Counted {
    let estimate = Estimate {
        values: Vec::new(),
        count: sum.count,
        unbiased: Some(sum.count),
        standard_error: Some(sum.variance.sqrt()),
        at_least: sum.at_least,
        at_most: sum.at_most,
        rows: sum.at_most,
        basis: Basis::Law,
    };
    let interval = estimate.possible_interval().unwrap_or((sum.count, sum.count));
    Counted { answer: Answer { actual: actual as f64, estimate: sum.count }, interval }
}

/// What many answers tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Summary {
    pub(crate) queries: u64,
    /// Relative errors in percent.
    pub(crate) median: Option<f64>,
    pub(crate) mean: Option<f64>,
    /// The share of intervals that cover the truth, in percent.
    pub(crate) covered: Option<f64>,
}

impl Summary {
    /// Of the answers that at least so many rows fit.
    pub(crate) fn of(answers: &[Counted], least: f64) -> Self {
        let chosen: Vec<&Counted> =
            answers.iter().filter(|counted| counted.answer.actual >= least).collect();
        let error = |counted: &&Counted| {
            let Answer { actual, estimate } = counted.answer;
            100.0 * (estimate - actual).abs() / actual
        };
        let mut errors: Vec<f64> = chosen.iter().map(error).collect();
        errors.sort_by(f64::total_cmp);
        let covers = |counted: &&Counted| {
            let (low, high) = counted.interval;
            // Sums of shares are off by the last digit.
            let slack = 1e-9 * counted.answer.actual;
            let truth = counted.answer.actual;
            if low - slack <= truth && truth <= high + slack { 100.0 } else { 0.0 }
        };
        let half = errors.len() / 2;
        let median = match errors.len() {
            0 => None,
            odd if odd % 2 == 1 => Some(errors[half]),
            _ => Some(f64::midpoint(errors[half - 1], errors[half])),
        };
        Self {
            queries: errors.len() as u64,
            median,
            mean: mean(&errors),
            covered: mean(&chosen.iter().map(covers).collect::<Vec<f64>>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight rows of two columns and three values.
    fn data() -> Microdata {
        let text = "x,y,v\n1,a,p\n1,b,q\n2,a,p\n2,b,r\n1,a,q\n2,a,q\n1,b,p\n2,b,r\n";
        let source =
            Source::from_bytes("t.csv", text.into(), &ReadOptions::default()).unwrap();
        let quasi =
            |name| ColumnSpec::new(name, Role::Quasi, Reading::category(), Rule::Plain);
        let specs = [quasi("x"), quasi("y"), sensitive("v")];
        Microdata::read(&source, &specs, &Unwatched).unwrap()
    }

    #[test]
    fn answers_are_those_of_the_groups() {
        let data = data();
        let census = &data.census;
        let rows: Vec<EntryId> = census
            .entries
            .pairs()
            .flat_map(|(entry, n)| vec![entry; *n as usize])
            .collect();
        // All rows in one group: x = 1 has four of eight, p three of eight.
        let one =
            Buckets { entries: rows.clone(), starts: vec![0, 8], left_out: Vec::new() };
        let asked =
            Conjunctions::new(&data, &[vec![(0, Some(Code::new(0)))], vec![(0, None)]]);
        let found = asked.answers(&one);
        let estimates: Vec<(f64, f64)> =
            found.iter().map(|c| (c.answer.actual, c.answer.estimate)).collect();
        assert_eq!(estimates, [(2.0, 1.5), (2.0, 1.5)]);
        let summary = Summary::of(&found, 2.0);
        assert_eq!((summary.queries, summary.median), (2, Some(25.0)));
        assert_eq!(summary.covered, Some(100.0));
        assert_eq!(Summary::of(&found, 3.0).median, None);
        // Each row on its own: nothing is lost.
        let alone =
            Buckets { entries: rows, starts: (0..=8).collect(), left_out: Vec::new() };
        for counted in Conjunctions::drawn(&data).answers(&alone) {
            let Answer { actual, estimate } = counted.answer;
            assert_eq!((actual, counted.interval), (estimate, (actual, actual)));
        }
    }
}
