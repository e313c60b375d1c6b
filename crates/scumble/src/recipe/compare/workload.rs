//! Random questions with their true answers.
//!
//! # Guarantee
//! Every question is about at least one row of the table, and its truth is counted in the
//! table. The same table and seed give the same questions. As far as the table allows,
//! every band of selectivity has as many questions as any other.
//!
//! # Limits
//! Questions are conjunctions of one to three conditions, on numbers a range, on words a
//! set of values, around a row that is drawn; nobody's real questions. In a small table
//! some bands stay empty, because no question is about so few rows.
//!
//! # Cost
//! A pass over the distinct rows for each question tried, at most twelve for each wanted.
//!
//! # Source
//! The protocol of `xiao2006anatomy` and its successors, with truths sorted into bands.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::estimate::{Check, Comparison, Condition, Literal, Measure, Query, Test};
use crate::random::Randomness;
use crate::recipe::compare::original::{Original, OriginalColumn};
use crate::table::{Code, Kind, Of, TupleId, format_date};
use crate::watch::Watch;

/// Questions that about as many rows satisfy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// What it is called.
    pub name: &'static str,
    /// Up to which share of the rows, this share not included.
    pub below: f64,
}

/// The bands, from few rows to many.
pub const BANDS: [Band; 4] = [
    Band { name: "<0.5 %", below: 0.005 },
    Band { name: "0.5-2 %", below: 0.02 },
    Band { name: "2-10 %", below: 0.1 },
    Band { name: ">10 %", below: f64::INFINITY },
];

/// The least that a relative error is relative to, as a share of what there is.
pub(super) const SANITY: f64 = 0.001;

/// Questions are tried this many times as often as they are wanted.
const MOST_ROUNDS: usize = 12;

/// Questions about a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// The questions.
    pub questions: Vec<Asked>,
}

/// A question and its true answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// What is asked.
    pub query: Query,
    /// The values of the columns that are counted apart, if any are: which of the answers
    /// is meant.
    pub values: Vec<String>,
    /// The answer of the table.
    pub truth: f64,
    /// What errors are divided by: the truth, or a thousandth of what there is if that is
    /// more. Without that bound, questions about single rows would be all that counts.
    pub relative_to: f64,
    /// Which of the [`BANDS`] it belongs to.
    pub band: usize,
}

/// A condition on a column: its place, and which of its values satisfy it.
pub(in crate::recipe) struct Chosen {
    column: usize,
    passes: Of<Code, bool>,
    pub(in crate::recipe) condition: Condition,
}

impl Workload {
    /// So many questions about a table.
    pub(super) fn new(
        original: &Original,
        wanted: usize,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let random = &mut Randomness::of_seed(seed).stream("compare questions", 0);
        let maker = Maker::of(original);
        let mut room = [wanted / BANDS.len(); BANDS.len()];
        (0..wanted % BANDS.len()).for_each(|band| room[band] += 1);
        let mut questions: Vec<Asked> = Vec::new();
        for round in 0..MOST_ROUNDS {
            if questions.len() == wanted {
                break;
            }
            let aim = Aim::of(round, &room);
            let tried: Vec<Vec<Chosen>> =
                (0..wanted).map(|_| maker.conditions(aim, random)).collect();
            let count = |chosen: &Vec<Chosen>| {
                watch.check()?;
                Ok(original.count(chosen))
            };
            let truths: Vec<u64> =
                tried.par_iter().map(count).collect::<Result<_>>()?;
            for (chosen, truth) in tried.into_iter().zip(truths) {
                let share = truth as f64 / original.n_rows as f64;
                let band =
                    BANDS.iter().position(|band| share < band.below).unwrap_or(0);
                if chosen.is_empty() || room[band] == 0 {
                    continue;
                }
                room[band] -= 1;
                let parts = chosen.into_iter().map(|chosen| chosen.condition).collect();
                let query = Query {
                    measure: Measure::Count,
                    group_by: Vec::new(),
                    condition: Condition::And(parts),
                };
                let (truth, values) = (truth as f64, Vec::new());
                let relative_to = truth.max(SANITY * original.n_rows as f64);
                questions.push(Asked { query, values, truth, relative_to, band });
            }
        }
        questions.sort_by_key(|asked| asked.band);
        Ok(Self { questions })
    }
}

impl Original {
    /// How many rows satisfy all conditions.
    fn count(&self, chosen: &[Chosen]) -> u64 {
        let passes = |tuple: TupleId| {
            chosen
                .iter()
                .all(|chosen| chosen.passes[self.columns[chosen.column].codes[tuple]])
        };
        let tuples = self.rows.pairs();
        tuples.filter(|(tuple, _)| passes(*tuple)).map(|(_, rows)| rows).sum()
    }
}

/// How many rows a question should be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::recipe) enum Aim {
    Any,
    Few,
    Many,
}

impl Aim {
    /// What is missing still, once chance alone had some rounds.
    fn of(round: usize, room: &[usize; BANDS.len()]) -> Self {
        match room {
            _ if round < MOST_ROUNDS / 3 => Self::Any,
            [0, 0, ..] => Self::Many,
            _ => Self::Few,
        }
    }
}

/// What it takes to make questions.
pub(in crate::recipe) struct Maker<'a> {
    original: &'a Original,
    /// How many rows have a tuple up to each.
    ends: Vec<u64>,
    /// For each column of numbers its values in order, and how many rows have one up to
    /// each.
    ordered: Vec<Vec<(Code, u64)>>,
}

impl<'a> Maker<'a> {
    pub(in crate::recipe) fn of(original: &'a Original) -> Self {
        let sums = |rows: &mut dyn Iterator<Item = u64>| {
            let mut sum = 0;
            rows.map(|rows| {
                sum += rows;
                sum
            })
            .collect::<Vec<u64>>()
        };
        let ordered = original.columns.iter().map(|column| {
            let tally = column.tally(&original.rows);
            let mut values: Vec<(f64, Code)> = column
                .numbers
                .pairs()
                .filter_map(|(code, number)| Some(((*number)?, code)))
                .collect();
            values.sort_by(|a, b| a.0.total_cmp(&b.0));
            let ends = sums(&mut values.iter().map(|(_, code)| tally[*code]));
            values.iter().map(|(_, code)| *code).zip(ends).collect()
        });
        let ordered = ordered.collect();
        Self { original, ends: sums(&mut original.rows.iter().copied()), ordered }
    }

    /// One to three conditions that a random row satisfies; none if all is missing in it.
    fn conditions(&self, aim: Aim, random: &mut ChaCha20Rng) -> Vec<Chosen> {
        let tuple = self.tuple(random);
        let wanted = match aim {
            Aim::Any => random.random_range(1..=3usize),
            Aim::Few => 3,
            Aim::Many => 1,
        };
        let mut places: Vec<usize> = (0..self.original.columns.len()).collect();
        for place in 0..places.len() {
            let other = random.random_range(place..places.len());
            places.swap(place, other);
        }
        let each = places
            .into_iter()
            .filter_map(|place| self.condition(place, tuple, aim, random));
        each.take(wanted).collect()
    }

    /// A random row, as its tuple.
    pub(in crate::recipe) fn tuple(&self, random: &mut ChaCha20Rng) -> TupleId {
        let row = random.random_range(0..self.original.n_rows);
        TupleId::from_index(self.ends.partition_point(|end| *end <= row))
    }

    /// A condition on a column that a row satisfies; nothing if its value is not known.
    pub(in crate::recipe) fn condition(
        &self,
        place: usize,
        tuple: TupleId,
        aim: Aim,
        random: &mut ChaCha20Rng,
    ) -> Option<Chosen> {
        let column = &self.original.columns[place];
        let code = column.codes[tuple];
        let found = || match column.numbers[code] {
            Some(_) => self.range(place, code, aim, random),
            None => words(column, place, code, aim, random),
        };
        (!column.is_missing(code)).then(found)
    }

    /// A range of numbers around one, for a random share of the rows; small shares are
    /// likelier.
    fn range(
        &self,
        place: usize,
        code: Code,
        aim: Aim,
        random: &mut ChaCha20Rng,
    ) -> Chosen {
        let column = &self.original.columns[place];
        let ordered = &self.ordered[place];
        let all = ordered.last().map_or(0, |(_, end)| *end);
        let here = ordered.iter().position(|(other, _)| *other == code).unwrap_or(0);
        let power = match aim {
            Aim::Any => 2,
            Aim::Few => 6,
            Aim::Many => 1,
        };
        let width = random.random::<f64>().powi(power) * all as f64;
        let start = ordered[here].1 as f64 - random.random::<f64>() * width;
        let low = ordered.partition_point(|(_, end)| (*end as f64) < start).min(here);
        let high = ordered.partition_point(|(_, end)| (*end as f64) < start + width);
        let high = high.clamp(here, ordered.len() - 1);
        let mut passes: Of<Code, bool> = Of::repeat(false, column.texts.len());
        ordered[low..=high].iter().for_each(|(code, _)| passes[*code] = true);
        let end = |comparison, place: usize| {
            let number = column.numbers[ordered[place].0].unwrap_or(0.0);
            let literal = match column.reading.kind {
                Kind::Date => Literal::Text(format_date(number)),
                _ => Literal::Number(number),
            };
            let check = Check::Compare(comparison, literal);
            Condition::Test(Test { column: column.name.clone(), check })
        };
        let condition = Condition::And(vec![
            end(Comparison::AtLeast, low),
            end(Comparison::AtMost, high),
        ]);
        Chosen { column: place, passes, condition }
    }
}

/// A set of words with one of them: in half of all cases this one alone, otherwise up to
/// half of the others, too.
fn words(
    column: &OriginalColumn,
    place: usize,
    code: Code,
    aim: Aim,
    random: &mut ChaCha20Rng,
) -> Chosen {
    let mut passes: Of<Code, bool> = Of::repeat(false, column.texts.len());
    passes[code] = true;
    let mut others: Vec<Code> = column
        .texts
        .ids()
        .filter(|other| *other != code && !column.is_missing(*other))
        .collect();
    if random.random::<bool>() && aim != Aim::Few && !others.is_empty() {
        let n_more = random.random_range(1..=others.len().div_ceil(2));
        for place in 0..n_more {
            let other = random.random_range(place..others.len());
            others.swap(place, other);
            passes[others[place]] = true;
        }
    }
    let asked = passes.iter().zip(&column.texts).filter(|(passes, _)| **passes);
    let check =
        Check::Among(asked.map(|(_, text)| Literal::Text(text.clone())).collect());
    let condition = Condition::Test(Test { column: column.name.clone(), check });
    Chosen { column: place, passes, condition }
}
