#![doc = include_str!("values.md")]

use hashbrown::HashMap;
use rand::Rng;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::method::buckets::shuffle;
use crate::method::mondrian::safe::{CellCosts, PartValues, worth};
use crate::method::mondrian::{Piece, check_whole, grouping, whole_values};
use crate::method::{Grouping, GroupingTask};
use crate::promise::{Group, Promises};
use crate::random::Randomness;
use crate::table::{Code, EntryId, Histogram, Of, TupleId};
use crate::watch::Watched;

/// The chance of a refusal is a multiple of one in so many.
const SHARES: u64 = 64;

/// How often a cut would be accepted is judged by so many draws of what may be below it; by
/// fewer where the smaller side is large, and hardly anything is left to chance.
const DRAWS: u64 = 24;
const LARGE: u64 = 512;

/// Where the chance of cuts comes from.
pub trait Chance {
    /// Brings values into an order, each with equal probability.
    fn shuffle(&mut self, values: &mut [u32]);

    /// Falls true with a probability of its argument in 2^64.
    fn coin(&mut self, chance: u64) -> bool;
}

impl Chance for ChaCha20Rng {
    fn shuffle(&mut self, values: &mut [u32]) {
        shuffle(values, self);
    }

    fn coin(&mut self, chance: u64) -> bool {
        self.next_u64() < chance
    }
}

/// Groups rows by cuts whose refusals tell nobody's sensitive value beyond what is promised.
pub fn value_cuts<'a>(
    task: impl Into<Watched<'a, GroupingTask<'a>>>,
    chance: &mut impl Chance,
) -> Result<Grouping> {
    let Watched { task, watch } = task.into();
    let census = task.census;
    if census.people.is_some() || census.persons.is_some() {
        return Err(Error::recipe(
            "cuts hide sensitive values where rows are people, and there is no population",
        ));
    }
    let values = whole_values(census);
    let n_rows = census.n_rows();
    let whole = Group { rows: n_rows, people: n_rows, values: &values };
    check_whole(task, whole)?;
    let (of_values, of_counts) = task.promises.by_values();
    let kinds = Kinds::of(task);
    let cutter = ValueCutter { task, whole, of_values, of_counts, kinds };
    let mut pieces = vec![Piece::Group(Vec::new())];
    let mut open: Vec<(usize, Vec<TupleId>)> = vec![(0, census.tuples().collect())];
    while !open.is_empty() {
        watch.check()?;
        let cuts: Vec<Option<(usize, Code)>> =
            open.par_iter().map(|(_, part)| cutter.choose(part)).collect();
        let mut next = Vec::new();
        for ((place, part), cut) in open.into_iter().zip(cuts) {
            watch.check()?;
            let halves = cut.and_then(|(column, code)| {
                let codes = &census.quasi[column];
                let (below, rest): (Vec<TupleId>, Vec<TupleId>) =
                    part.iter().partition(|tuple| codes[**tuple] < code);
                let accepted = cutter.look(&below, &rest, chance);
                accepted.then_some((column, code, below, rest))
            });
            let Some((column, code, one, other)) = halves else {
                pieces[place] = Piece::Group(part);
                continue;
            };
            let (below, rest) = (pieces.len(), pieces.len() + 1);
            pieces[place] = Piece::Cut { column, code, below, rest };
            pieces.extend([Piece::Group(Vec::new()), Piece::Group(Vec::new())]);
            next.extend([(below, one), (rest, other)]);
        }
        open = next;
    }
    let grouping = grouping(task, pieces);
    watch.check()?;
    Ok(grouping)
}

/// What rows have in their sensitive columns, all of them together.
struct Kinds {
    /// For each kind a value of each column.
    codes: Vec<Vec<Code>>,
    of_entry: Of<EntryId, u32>,
}

impl Kinds {
    fn of(task: &GroupingTask<'_>) -> Self {
        let census = task.census;
        let codes = |entry: EntryId| -> Vec<Code> {
            census.sensitive.iter().map(|codes| codes[entry]).collect()
        };
        let mut all: Vec<Vec<Code>> = census.entries.ids().map(codes).collect();
        all.sort_unstable();
        all.dedup();
        let place = |entry| all.partition_point(|kind| *kind < codes(entry)) as u32;
        let of_entry = census.entries.ids().map(place).collect();
        Self { codes: all, of_entry }
    }

    /// The kinds of the rows of some tuples, ascending: nothing but how many there are of
    /// each.
    fn of_rows(&self, task: &GroupingTask<'_>, tuples: &[TupleId]) -> Vec<u32> {
        let census = task.census;
        let mut kinds = Vec::new();
        for entry in tuples.iter().flat_map(|tuple| census.entries_of(*tuple)) {
            let len = kinds.len() + census.entries[entry] as usize;
            kinds.resize(len, self.of_entry[entry]);
        }
        kinds.sort_unstable();
        kinds
    }

    fn add(&self, kind: u32, values: &mut [Histogram]) {
        for (code, values) in self.codes[kind as usize].iter().zip(values) {
            values.add(*code, 1);
        }
    }

    fn take(&self, kind: u32, values: &mut [Histogram]) {
        for (code, values) in self.codes[kind as usize].iter().zip(values) {
            values.take(*code, 1);
        }
    }
}

struct ValueCutter<'a> {
    task: &'a GroupingTask<'a>,
    whole: Group<'a>,
    of_values: Promises,
    of_counts: Promises,
    kinds: Kinds,
}

impl ValueCutter<'_> {
    fn histograms(&self, kinds: &[u32]) -> Vec<Histogram> {
        let mut values = self.task.census.histograms();
        kinds.iter().for_each(|kind| self.kinds.add(*kind, &mut values));
        values
    }

    /// Whether the promises about values hold.
    fn keep(&self, values: &[Histogram]) -> bool {
        let rows = values.first().map_or(0, Histogram::total);
        self.of_values.hold(Group { rows, people: rows, values }, self.whole)
    }

    /// The cut to look at, from what is public of a part: its quasi values, and how many rows
    /// have which sensitive values.
    fn choose(&self, part: &[TupleId]) -> Option<(usize, Code)> {
        let task = self.task;
        let spread = PartValues::of(task, part);
        let costs = CellCosts { columns: task.columns, loss: task.loss };
        let whole = costs.of_part(&spread);
        let rows: u64 = part.iter().map(|tuple| task.census.rows[*tuple]).sum();
        let mut draws: Option<Draws<'_>> = None;
        let mut best: Option<(f64, (usize, Code))> = None;
        let large = |rows| {
            let group = Group { rows, people: rows, values: &[] };
            self.of_counts.hold(group, group)
        };
        for column in 0..task.columns.len() {
            let mut cuts = spread.cuts((column, &task.columns[column]), rows);
            cuts.retain(|(_, below)| large(*below) && large(rows - below));
            let ranks: Vec<u32> = cuts.iter().map(|(rank, _)| *rank).collect();
            let halves = costs.of_halves(&spread, column, &ranks);
            for ((rank, below), (one, other)) in cuts.into_iter().zip(halves) {
                let share = below as f64 / rows as f64;
                let saved = match task.loss {
                    Loss::Cells(_) => whole - share * one - (1.0 - share) * other,
                    Loss::Sizes(_) => share * (1.0 - share),
                };
                let held = best.as_ref().map_or(0.0, |(held, _)| *held);
                if saved <= held {
                    continue;
                }
                let draws = draws.get_or_insert_with(|| Draws::of(self, part));
                let score = worth(draws.accepted(below), saved, rows);
                if score > held {
                    let code = spread.columns[column].codes[rank as usize];
                    best = Some((score, (column, code)));
                }
            }
        }
        best.map(|(_, cut)| cut)
    }

    /// Looks at a cut, and says whether it is made. Nothing else reads who of a part has
    /// which values.
    fn look(
        &self,
        below: &[TupleId],
        rest: &[TupleId],
        chance: &mut impl Chance,
    ) -> bool {
        let mut circle = self.kinds.of_rows(self.task, below);
        let mut others = self.kinds.of_rows(self.task, rest);
        let n_below = circle.len();
        chance.shuffle(&mut circle);
        chance.shuffle(&mut others);
        circle.extend(others);
        let turned = Turned::of(self, &circle, n_below);
        match turned.refused(self) {
            _ if !turned.keeps => false,
            0 => true,
            SHARES => false,
            refused => !chance.coin(refused * (u64::MAX / SHARES + 1)),
        }
    }
}

/// All values of a part on a circle, those below a cut first, and the cut turned around it.
struct Turned {
    /// Whether the promises hold where the cut is.
    keeps: bool,
    /// How many turns break and keep them, and the values below the cut over all of these.
    broken: (u64, Vec<Histogram>),
    kept: (u64, Vec<Histogram>),
    /// The values of the part.
    part: Vec<Histogram>,
}

impl Turned {
    fn of(cutter: &ValueCutter<'_>, circle: &[u32], n_below: usize) -> Self {
        let kinds = &cutter.kinds;
        let mut below = cutter.histograms(&circle[..n_below]);
        let mut rest = cutter.histograms(&circle[n_below..]);
        let mut turned = Self {
            keeps: false,
            broken: (0, cutter.task.census.histograms()),
            kept: (0, cutter.task.census.histograms()),
            part: cutter.histograms(circle),
        };
        for (turn, first) in circle.iter().enumerate() {
            let keeps = cutter.keep(&below) && cutter.keep(&rest);
            turned.keeps |= turn == 0 && keeps;
            let (n, sums) = if keeps { &mut turned.kept } else { &mut turned.broken };
            *n += 1;
            for (sum, values) in sums.iter_mut().zip(&below) {
                values.present().for_each(|(code, count)| sum.add(code, count));
            }
            let last = circle[(turn + n_below) % circle.len()];
            kinds.take(*first, &mut below);
            kinds.add(*first, &mut rest);
            kinds.take(last, &mut rest);
            kinds.add(last, &mut below);
        }
        turned
    }

    /// With which chance, in `SHARES`, a cut that keeps the promises is refused.
    fn refused(&self, cutter: &ValueCutter<'_>) -> u64 {
        if self.broken.0 == 0 {
            return 0;
        }
        // The mean of what is refused goes from that of broken turns to the part's own, and
        // does no harm from some place on.
        let (mut none, mut harmless) = (0, SHARES);
        while none < harmless {
            let middle = (none + harmless) / 2;
            match self.is_harmless(middle, cutter) {
                true => harmless = middle,
                false => none = middle + 1,
            }
        }
        harmless
    }

    /// Whether the values that are expected on each side after a refusal keep the promises.
    fn is_harmless(&self, refused: u64, cutter: &ValueCutter<'_>) -> bool {
        let turns = SHARES * self.broken.0 + refused * self.kept.0;
        let (mut below, mut rest) = (Vec::new(), Vec::new());
        for (place, part) in self.part.iter().enumerate() {
            let size = part.counts().len();
            let mut sides = (Histogram::new(size), Histogram::new(size));
            for (code, count) in part.present() {
                let broken = self.broken.1[place].count(code);
                let kept = self.kept.1[place].count(code);
                let expected = SHARES * broken + refused * kept;
                sides.0.add(code, expected);
                sides.1.add(code, turns * count - expected);
            }
            below.push(sides.0);
            rest.push(sides.1);
        }
        cutter.keep(&below) && cutter.keep(&rest)
    }
}

/// Draws of the values of a part, from nothing but how many rows have each.
struct Draws<'a> {
    cutter: &'a ValueCutter<'a>,
    circle: Vec<u32>,
    part: Vec<Histogram>,
    known: HashMap<u64, f64>,
}

impl<'a> Draws<'a> {
    fn of(cutter: &'a ValueCutter<'a>, part: &[TupleId]) -> Self {
        let mut circle = cutter.kinds.of_rows(cutter.task, part);
        let values = cutter.histograms(&circle);
        // Whoever knows the program may know these draws.
        shuffle(&mut circle, &mut Randomness::of_seed(0).stream("public draws", 0));
        Self { cutter, circle, part: values, known: HashMap::new() }
    }

    /// How often a cut with so many rows below would keep the promises.
    fn accepted(&mut self, below: u64) -> f64 {
        let n_rows = self.circle.len() as u64;
        let small = below.min(n_rows - below);
        if let Some(known) = self.known.get(&small) {
            return *known;
        }
        let n_draws = if small > LARGE { 2 } else { DRAWS.min(n_rows) };
        let accepted = (0..n_draws).filter(|draw| {
            let start = (draw * n_rows / n_draws) as usize;
            let drawn = self.circle.iter().cycle().skip(start).take(small as usize);
            let drawn: Vec<u32> = drawn.copied().collect();
            let one = self.cutter.histograms(&drawn);
            let mut other = self.part.clone();
            drawn.iter().for_each(|kind| self.cutter.kinds.take(*kind, &mut other));
            self.cutter.keep(&one) && self.cutter.keep(&other)
        });
        let share = accepted.count() as f64 / n_draws as f64;
        self.known.insert(small, share);
        share
    }
}
