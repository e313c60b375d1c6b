//! The counting adversary: who is present, if the table's counts on some columns are known.
//!
//! Weights of the table's own are counts: `n f(v)` rows have value `v`. The worlds that fit
//! are the sets of `n` people of the group with these counts, and all are equally likely.
//!
//! # Guarantee
//! [`presence`] is the share of those worlds that contain a person, exactly or within 1e-9.
//!
//! *Proof.* Project people on the columns that are known; `m` people share a projected
//! tuple, and a world that has `x` of them could have them in `C(m, x)` ways. So the number
//! of worlds is a sum, over all `x` that fit, of products of binomials, and each of the `m`
//! is in a share `E[x] / m` of them. The sum is taken tuple by tuple. What happens later
//! depends on what came before only through the counts that remain: these are the states,
//! `before` in how many ways one is reached, `after` in how many it is completed. All terms
//! are positive, so relative errors add up and never grow: at most some 4e-15 for a person.
//! Numbers of worlds below 2^53 are exact integers, and then so is the ratio.
//!
//! In large groups binomials overflow. There each `C(m, x)` is multiplied by `o^x`, where
//! `o` is a product of one factor for each value: a world has `c(v)` people of value `v`
//! whatever it is, so all worlds are multiplied by the same number. Factors that make the
//! counts what is expected keep the sum near 1. Weights below 1e-308 are lost; together they
//! are far below the smallest sum that is accepted. ∎
//!
//! # Limits
//! With two or more columns the number of states can be exponential; beyond `work` steps,
//! or a quarter of a million people, the answer is that it is not known. Which columns are
//! published is not held to tell anything.
//!
//! # Cost
//! One column: O(tuples). Several: a step for each state and each `x` that may follow it.
//!
//! # Source
//! docs/methods.md, "The counting adversary"; ours.

use hashbrown::HashMap;

use super::chance::Chance;
use super::states::{Fields, binomials, shares, sum};
use super::{PdfGroup, ValueTally};
use crate::table::Code;

/// No sum over worlds takes more steps than this: each is remembered, in four bytes.
pub const MOST_STEPS: u64 = 1 << 23;

/// Below this many worlds (e^600) binomials are summed as they are.
const PLAIN: f64 = 600.0;

/// Integers up to here are exact as floats.
const EXACT: f64 = (1u64 << 53) as f64;

/// How often factors are adjusted to each column.
const SWEEPS: usize = 20;

/// Beyond this many people the errors of a scaled sum could add up to 1e-9.
const MOST_PEOPLE: u64 = 250_000;

/// A scaled sum below this has lost too much to underflow.
const SMALLEST: f64 = 1e-200;

/// The probability that a person with each tuple of `part` is present, given how many rows
/// have each value of each of `columns`. Takes the steps it needs off `work`; nothing if
/// they are too many.
pub fn presence(
    part: &PdfGroup,
    columns: &[usize],
    work: &mut u64,
) -> Option<Vec<Chance>> {
    let tallies: Vec<Vec<ValueTally>> =
        columns.iter().map(|column| part.tally(*column)).collect();
    let chance = |rows, people: u64| Chance::Exact { part: rows, whole: people.max(1) };
    match (columns, &tallies[..]) {
        ([], _) => {
            let chance = chance(part.n_rows(), part.n_people());
            Some(vec![chance; part.people.len()])
        }
        ([column], [tallies]) => {
            let codes = part.codes[*column].iter();
            let of = |code: &Code| {
                let place = tallies.binary_search_by_key(code, |tally| tally.code);
                place.map_or(Chance::NEVER, |place| {
                    chance(tallies[place].rows, tallies[place].people)
                })
            };
            Some(codes.map(of).collect())
        }
        _ => {
            // Settling tuples can only make this smaller, and rarely does.
            let open = |tally: &ValueTally| {
                if tally.rows < tally.people { tally.rows } else { 0 }
            };
            let rows: Vec<Vec<u64>> =
                tallies.iter().map(|of| of.iter().map(open).collect()).collect();
            Fields::new(&rows)?;
            let (mut projection, tuple_of) = Projection::new(part, columns, &tallies);
            projection.settle();
            let chances = projection.chances(projection.scale(), work)?;
            Some(tuple_of.into_iter().map(|tuple| chances[tuple as usize]).collect())
        }
    }
}

/// People who agree on all columns that are known.
pub(super) struct Tuple {
    /// For each column, the place of the value.
    pub(super) values: Vec<u32>,
    pub(super) people: u64,
    /// How many of them are present, if that is the same in every world.
    settled: Option<u64>,
}

/// How many rows and people with one value are not settled.
#[derive(Clone, Copy)]
struct Value {
    rows: u64,
    people: u64,
}

/// What worlds are weighed by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WorldScale {
    /// Each counts once.
    Plain,
    /// Each counts the same, and all of them about as much as they are likely if people
    /// are present independently, with the counts as expected.
    Expected,
}

/// A group on the columns that are known.
struct Projection {
    tuples: Vec<Tuple>,
    values: Vec<Vec<Value>>,
}

impl Projection {
    /// Also, for each tuple of the part, its projection. Tuples are sorted, first by the
    /// column with most values: the counts of a value that has passed need no room in the
    /// state.
    fn new(
        part: &PdfGroup,
        columns: &[usize],
        tallies: &[Vec<ValueTally>],
    ) -> (Self, Vec<u32>) {
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by_key(|place| std::cmp::Reverse(tallies[*place].len()));
        let place_of: Vec<HashMap<Code, u32>> = order
            .iter()
            .map(|place| {
                let codes = tallies[*place].iter().map(|tally| tally.code);
                codes.zip(0..).collect()
            })
            .collect();
        let mut keyed: Vec<(Vec<u32>, usize)> = (0..part.people.len())
            .filter(|tuple| part.people[*tuple] > 0)
            .map(|tuple| {
                let key = order
                    .iter()
                    .zip(&place_of)
                    .map(|(place, places)| places[&part.codes[columns[*place]][tuple]]);
                (key.collect(), tuple)
            })
            .collect();
        keyed.sort_unstable();
        let mut tuples: Vec<Tuple> = Vec::new();
        let mut tuple_of = vec![0; part.people.len()];
        for (values, tuple) in keyed {
            let people = part.people[tuple];
            match tuples.last_mut().filter(|last| last.values == values) {
                Some(last) => last.people += people,
                None => tuples.push(Tuple { values, people, settled: None }),
            }
            tuple_of[tuple] = tuples.len() as u32 - 1;
        }
        let value =
            |tally: &ValueTally| Value { rows: tally.rows, people: tally.people };
        let values = order
            .iter()
            .map(|place| tallies[*place].iter().map(value).collect())
            .collect();
        (Self { tuples, values }, tuple_of)
    }

    /// Settles the tuples of values that nobody present has, or everybody; and again, as
    /// that leaves less to be told of other values.
    fn settle(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for tuple in self.tuples.iter_mut().filter(|tuple| tuple.settled.is_none())
            {
                let values = || tuple.values.iter().zip(&self.values);
                let is = |test: fn(&Value) -> bool| {
                    values().any(|(value, column)| test(&column[*value as usize]))
                };
                let settled = if is(|value| value.rows == 0) {
                    0
                } else if is(|value| value.rows == value.people) {
                    tuple.people
                } else {
                    continue;
                };
                tuple.settled = Some(settled);
                for (value, column) in tuple.values.iter().zip(&mut self.values) {
                    let value = &mut column[*value as usize];
                    value.rows = value.rows.saturating_sub(settled);
                    value.people = value.people.saturating_sub(tuple.people);
                }
                changed = true;
            }
        }
    }

    /// The probability of presence for each tuple.
    fn chances(&self, scale: WorldScale, work: &mut u64) -> Option<Vec<Chance>> {
        let open: Vec<&Tuple> =
            self.tuples.iter().filter(|tuple| tuple.settled.is_none()).collect();
        let people: u64 = open.iter().map(|tuple| tuple.people).sum();
        if scale == WorldScale::Expected && people > MOST_PEOPLE {
            return None;
        }
        let rows: Vec<Vec<u64>> = self
            .values
            .iter()
            .map(|column| column.iter().map(|value| value.rows).collect())
            .collect();
        let most = |tuple: &Tuple| {
            let known = tuple.values.iter().zip(&rows);
            let most = known.map(|(value, rows)| rows[*value as usize]).min();
            most.unwrap_or(0).min(tuple.people)
        };
        let weights: Vec<Vec<f64>> = match scale {
            WorldScale::Plain => {
                open.iter().map(|tuple| binomials(tuple.people, most(tuple))).collect()
            }
            WorldScale::Expected => open
                .iter()
                .zip(self.odds(&open))
                .map(|(tuple, odds)| shares(tuple.people, most(tuple), odds))
                .collect(),
        };
        let (worlds, sums) = sum(&open, &rows, &weights, work)?;
        if !(worlds.is_finite() && worlds >= SMALLEST) {
            return None;
        }
        let mut sums = sums.into_iter();
        let mut open = |people: u64| {
            let (sum, whole) = (sums.next()?, worlds * people as f64);
            Some(if scale == WorldScale::Plain && whole < EXACT {
                Chance::Exact { part: sum as u64, whole: whole as u64 }
            } else {
                Chance::Near(sum / whole)
            })
        };
        let chance = |tuple: &Tuple| match tuple.settled {
            Some(0) => Some(Chance::NEVER),
            Some(_) => Some(Chance::ALWAYS),
            None => open(tuple.people),
        };
        self.tuples.iter().map(chance).collect()
    }

    /// Plain if there are few ways to choose as many people, or fewer, from all.
    fn scale(&self) -> WorldScale {
        let Some(column) = self.values.first() else { return WorldScale::Plain };
        let people: u64 = column.iter().map(|value| value.people).sum();
        let rows: u64 = column.iter().map(|value| value.rows).sum();
        let mut ln = 0.0;
        for chosen in 0..rows.min(people / 2) {
            ln += ((people - chosen) as f64 / (chosen + 1) as f64).ln();
            if ln > PLAIN {
                return WorldScale::Expected;
            }
        }
        WorldScale::Plain
    }

    /// For each open tuple the product of a factor for each of its values, such that about
    /// as many people are expected as are counted.
    fn odds(&self, open: &[&Tuple]) -> Vec<f64> {
        let odds = |of: f64, whole: f64| of / (whole - of);
        let mut factors: Vec<Vec<f64>> =
            self.values.iter().map(|column| vec![1.0; column.len()]).collect();
        let product = |tuple: &Tuple, factors: &[Vec<f64>]| -> f64 {
            let known = tuple.values.iter().zip(factors);
            known.map(|(value, factors)| factors[*value as usize]).product()
        };
        // Any factors are right, so it does not matter if these are not quite there.
        for _ in 0..SWEEPS {
            for (place, column) in self.values.iter().enumerate() {
                let mut expected = vec![0.0; column.len()];
                for tuple in open {
                    let odds = product(tuple, &factors);
                    let share = odds / (1.0 + odds);
                    expected[tuple.values[place] as usize] +=
                        tuple.people as f64 * share;
                }
                let values = column.iter().zip(expected).zip(&mut factors[place]);
                for ((value, expected), factor) in values {
                    let people = value.people as f64;
                    if value.rows > 0 {
                        *factor *=
                            odds(value.rows as f64, people) / odds(expected, people);
                    }
                }
            }
        }
        open.iter().map(|tuple| product(tuple, &factors)).collect()
    }
}

#[cfg(test)]
#[path = "worlds_tests.rs"]
mod tests;
