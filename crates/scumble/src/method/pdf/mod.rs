#![doc = include_str!("pdf.md")]

mod chance;
mod counted;
mod existence;
mod shifted;
mod states;
mod worlds;

pub use chance::{Chance, Range};
pub use counted::{MOST_WORK, WORK_FOR_A_GROUP, WORK_FOR_A_PERSON, counted};
pub use existence::{Likelihood, bounds, existence, extremes};
pub use shifted::{Shift, shifted};
pub use worlds::{MOST_STEPS, presence};

use crate::table::Code;

/// A group as pdf cells see it: its distinct quasi tuples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PdfGroup {
    /// For each quasi column, the code of every tuple.
    pub codes: Vec<Vec<Code>>,
    /// How many rows of the table have each tuple; may be 0.
    pub rows: Vec<u64>,
    /// How many people of the population have it, at least as many. Without a population
    /// the same numbers as `rows`.
    pub people: Vec<u64>,
}

/// Whose counts the weights are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The table's own.
    Table,
    /// The population's.
    Population,
    /// For comparison only: nobody's, even weights shifted towards the table's own.
    Shifted,
}

/// A published distribution over values of one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Pdf {
    /// Code and weight, ascending by code. Under a population every value of the group's
    /// people is listed, also with weight 0.
    pub values: Vec<(Code, f64)>,
    /// Whose counts the weights are.
    pub whose: Whose,
}

impl PdfGroup {
    /// How many rows of the table are in the group.
    pub fn n_rows(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// How many people of the population are in the group.
    pub fn n_people(&self) -> u64 {
        self.people.iter().sum()
    }

    /// The values of one column, ascending.
    fn tally(&self, column: usize) -> Vec<ValueTally> {
        let codes = &self.codes[column];
        let mut order: Vec<usize> =
            (0..codes.len()).filter(|tuple| self.people[*tuple] > 0).collect();
        order.sort_unstable_by_key(|tuple| codes[*tuple]);
        let mut tallies: Vec<ValueTally> = Vec::new();
        for tuple in order {
            let (rows, people) = (self.rows[tuple], self.people[tuple]);
            match tallies.last_mut().filter(|last| last.code == codes[tuple]) {
                Some(last) => {
                    last.rows += rows;
                    last.people += people;
                }
                None => tallies.push(ValueTally { code: codes[tuple], rows, people }),
            }
        }
        tallies
    }
}

/// How often one value of a column occurs in a group.
#[derive(Debug, Clone, Copy)]
struct ValueTally {
    code: Code,
    rows: u64,
    people: u64,
}

/// The table's own weights, which cost least; nothing is promised to the population.
pub fn own(part: &PdfGroup) -> Vec<Pdf> {
    (0..part.codes.len()).map(|column| weights(part, column, Whose::Table)).collect()
}

/// The population's weights, which tell nothing that is not public.
pub fn population(part: &PdfGroup) -> Vec<Pdf> {
    (0..part.codes.len())
        .map(|column| weights(part, column, Whose::Population))
        .collect()
}

/// What the true values cost under the published weights: minus the sum, over columns and
/// values, of the value's rows times the logarithm of its weight. Infinite if a value that
/// occurs has no weight.
pub fn kl(part: &PdfGroup, pdfs: &[Pdf]) -> f64 {
    let mut sum = 0.0;
    for (column, pdf) in pdfs.iter().enumerate() {
        for tally in part.tally(column).iter().filter(|tally| tally.rows > 0) {
            let place = pdf.values.binary_search_by_key(&tally.code, |(code, _)| *code);
            let weight = place.map_or(0.0, |place| pdf.values[place].1);
            sum -= tally.rows as f64 * weight.ln();
        }
    }
    sum
}

/// The shares of the values of a column, in the table or in the population. A group
/// without rows of the table has the population's.
fn weights(part: &PdfGroup, column: usize, whose: Whose) -> Pdf {
    let n_rows = part.n_rows();
    let whose = if n_rows == 0 { Whose::Population } else { whose };
    let n_people = part.n_people();
    let share = |tally: &ValueTally| match whose {
        Whose::Table => tally.rows as f64 / n_rows as f64,
        _ => tally.people as f64 / n_people as f64,
    };
    let tallies = part.tally(column);
    let values = tallies.iter().map(|tally| (tally.code, share(tally))).collect();
    Pdf { values, whose }
}
