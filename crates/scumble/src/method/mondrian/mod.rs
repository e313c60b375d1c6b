#![doc = include_str!("mondrian.md")]

mod choice;
mod descend;
mod look;
mod safe;
mod values;

pub use choice::{ColumnChoice, ValueChoice};
pub(super) use safe::public_columns;
pub use safe::safe_cuts;
pub use values::{Chance, value_cuts};

use std::sync::Mutex;

use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::{Column, Cover};
use crate::method::{Branch, BranchId, Grouping, GroupingTask, Route, cover};
use crate::promise::{Group, RobustRows};
use crate::table::{Census, Code, GroupId, Histogram, Of, TupleId, pair, unpair};
use crate::watch::{Watch, Watched};

/// Groups rows by repeated cuts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mondrian {
    /// Which column is cut first.
    pub column: ColumnChoice,
    /// Where it is cut.
    pub value: ValueChoice,
}

/// A part below this many tuples is not worth another thread.
const SMALL: usize = 2_000;

impl Mondrian {
    /// Tries every choice of column and value and keeps the one with the least loss; of
    /// several the first.
    pub fn search<'a>(
        task: impl Into<Watched<'a, GroupingTask<'a>>>,
        robust: &[RobustRows<'_>],
    ) -> Result<(Self, Grouping)> {
        let task = task.into();
        let mut best: Option<(f64, Self, Grouping)> = None;
        let mut failure: Option<Error> = None;
        for column in ColumnChoice::ALL {
            for value in ValueChoice::ALL {
                let method = Self { column, value };
                let grouping = match method.find_robust(task, robust) {
                    Ok(grouping) => grouping,
                    Err(error)
                        if matches!(error.kind(), ErrorKind::Unsatisfiable { .. }) =>
                    {
                        failure.get_or_insert(error);
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let loss = task.loss.of(task.columns, &grouping.shape(task.census));
                if best.as_ref().is_none_or(|(held, ..)| loss < *held) {
                    best = Some((loss, method, grouping));
                }
            }
        }
        let none = || Error::recipe("there is no choice to try");
        best.map(|(_, method, grouping)| (method, grouping))
            .ok_or_else(|| failure.unwrap_or_else(none))
    }

    /// Groups the tuples of a census.
    pub fn find<'a>(
        &self,
        task: impl Into<Watched<'a, GroupingTask<'a>>>,
    ) -> Result<Grouping> {
        self.find_robust(task, &[])
    }

    /// The same so that the values of some columns, which stay in the rows, are robust, too.
    pub fn find_robust<'a>(
        &self,
        task: impl Into<Watched<'a, GroupingTask<'a>>>,
        robust: &[RobustRows<'_>],
    ) -> Result<Grouping> {
        let Watched { task, watch } = task.into();
        let census = task.census;
        let values = whole_values(census);
        let whole =
            Group { rows: census.n_rows(), people: census.n_people(), values: &values };
        check_whole(task, whole)?;
        let spare = Mutex::default();
        let cutter = Cutter { choice: *self, task, watch, whole, robust, spare };
        let tuples = census.tuples().collect();
        let parts = match robust {
            [] => cutter.cut_all(tuples, None)?,
            _ => cutter.cut_robust(tuples)?,
        };
        let grouping = grouping(task, parts);
        watch.check()?;
        Ok(grouping)
    }
}

/// The sensitive values of the whole table.
fn whole_values(census: &Census) -> Vec<Histogram> {
    let mut values = census.histograms();
    for tuple in census.tuples() {
        census.add_to(tuple, &mut values);
    }
    values
}

/// That the promises hold of the table as one group.
fn check_whole(task: &GroupingTask<'_>, whole: Group<'_>) -> Result<()> {
    for promise in task.promises.iter() {
        if !promise.holds(whole, whole) {
            return Err(Error::unsatisfiable(promise.title(), promise.obstacle(whole))
                .with_hint(if promise.looks_at_people() {
                    "the share of the population in the table must lie in the range"
                } else {
                    "add rows, or weaken the promise"
                }));
        }
    }
    Ok(())
}

/// A part of the table, cut or not. Parts of a list point at each other by their places.
enum Piece {
    Group(Vec<TupleId>),
    LeftOut,
    Cut { column: usize, code: Code, below: usize, rest: usize },
}

struct Cutter<'a> {
    choice: Mondrian,
    task: &'a GroupingTask<'a>,
    watch: &'a dyn Watch,
    whole: Group<'a>,
    /// What must hold of every group beside the promises, though it does not survive merging.
    robust: &'a [RobustRows<'a>],
    /// Histograms that are empty, for whoever needs some.
    spare: Mutex<Vec<Vec<Histogram>>>,
}

/// The values of a part in one column, ascending, with the part's tuples in that order. Values
/// between two lines of a grid are one, called by the first.
struct SortedTuples {
    tuples: Vec<TupleId>,
    /// Code and where its tuples begin.
    values: Vec<(Code, usize)>,
}

/// A column, the first code of the other side, and the two sides.
type TakenCut = (usize, Code, Vec<TupleId>, Vec<TupleId>);

impl SortedTuples {
    /// Cuts before the value at a place.
    fn cut(self, column: usize, place: usize) -> TakenCut {
        let (code, start) = self.values[place];
        let mut below = self.tuples;
        let mut rest = below.split_off(start);
        // Tuples stand in the order of the census, whatever the cuts before.
        below.sort_unstable();
        rest.sort_unstable();
        (column, code, below, rest)
    }
}

impl Cutter<'_> {
    /// Cuts until nothing more is allowed; the first of the parts is the whole. `last` is
    /// the column cut before.
    fn cut_all(&self, tuples: Vec<TupleId>, last: Option<usize>) -> Result<Vec<Piece>> {
        let mut parts = vec![Piece::Group(Vec::new())];
        let mut open = vec![(0, tuples, last)];
        while let Some((place, tuples, last)) = open.pop() {
            self.watch.check()?;
            let Some((column, code, below, rest)) = self.cut(&tuples, last) else {
                parts[place] = Piece::Group(tuples);
                continue;
            };
            drop(tuples);
            let last = Some(column);
            let places = if below.len().min(rest.len()) > SMALL {
                let (below, rest) = rayon::join(
                    || self.cut_all(below, last),
                    || self.cut_all(rest, last),
                );
                (append(&mut parts, below?), append(&mut parts, rest?))
            } else {
                let place = parts.len();
                parts.extend([Piece::Group(Vec::new()), Piece::Group(Vec::new())]);
                open.extend([(place, below, last), (place + 1, rest, last)]);
                (place, place + 1)
            };
            parts[place] = Piece::Cut { column, code, below: places.0, rest: places.1 };
        }
        Ok(parts)
    }

    /// One cut along the first column that allows one.
    fn cut(&self, part: &[TupleId], last: Option<usize>) -> Option<TakenCut> {
        for column in self.order(part, last) {
            let sorted = self.sort(part, column);
            let cuts = self.allowed(&sorted);
            let place = match self.robust {
                [] => self.choose(&sorted, &cuts, self.choice.value),
                _ => self.robust_place(&sorted, cuts),
            };
            if let Some(place) = place {
                return Some(sorted.cut(column, place));
            }
        }
        None
    }

    fn order(&self, part: &[TupleId], last: Option<usize>) -> Vec<usize> {
        let n = self.task.columns.len();
        let mut order: Vec<usize> = (0..n).collect();
        match self.choice.column {
            ColumnChoice::Priority => {}
            ColumnChoice::Next => {
                order.rotate_left(last.map_or(0, |last| (last + 1) % n))
            }
            ColumnChoice::Widest => {
                let width: Vec<f64> =
                    order.iter().map(|column| self.width(part, *column)).collect();
                // The sort is stable: of equally wide columns the first is tried first.
                order.sort_by(|a, b| width[*b].total_cmp(&width[*a]));
                order.retain(|column| width[*column] > 0.0);
            }
            ColumnChoice::Best => {
                let values: Vec<usize> = order
                    .iter()
                    .map(|column| self.sort(part, *column).values.len())
                    .collect();
                order.sort_by(|a, b| values[*b].cmp(&values[*a]));
            }
        }
        order
    }

    /// The extent of a part in a column over the column's own.
    fn width(&self, part: &[TupleId], column: usize) -> f64 {
        let codes = &self.task.census.quasi[column];
        let mut ends: Option<(Code, Code)> = None;
        for tuple in part {
            let code = codes[*tuple];
            ends =
                Some(ends.map_or((code, code), |(low, high)| {
                    (low.min(code), high.max(code))
                }));
        }
        let Some((low, high)) = ends else { return 0.0 };
        relative_width(&self.task.columns[column], low, high)
    }

    fn sort(&self, part: &[TupleId], column: usize) -> SortedTuples {
        let codes = &self.task.census.quasi[column];
        let bound = &self.task.columns[column];
        let mut keyed: Vec<u64> =
            part.iter().map(|tuple| pair(codes[*tuple], *tuple)).collect();
        keyed.sort_unstable();
        let mut values: Vec<(Code, usize)> = Vec::new();
        for (place, key) in keyed.iter().enumerate() {
            let (code, _): (Code, TupleId) = unpair(*key);
            let new = |last: Code| last != code && !bound.joins(last, code);
            if values.last().is_none_or(|(last, _)| new(*last)) {
                values.push((code, place));
            }
        }
        let tuple = |key| unpair::<Code, TupleId>(key).1;
        SortedTuples { tuples: keyed.into_iter().map(tuple).collect(), values }
    }

    /// For each value but the first: whether cutting before it keeps the promises on both
    /// sides, and how many people are below.
    fn allowed(&self, sorted: &SortedTuples) -> Vec<(bool, u64)> {
        let bounds: Vec<usize> = sorted
            .values
            .iter()
            .map(|(_, start)| *start)
            .chain([sorted.tuples.len()])
            .collect();
        let slices: Vec<&[TupleId]> =
            bounds.windows(2).map(|pair| &sorted.tuples[pair[0]..pair[1]]).collect();
        let below = self.sweep(slices.iter().copied());
        let mut rest = self.sweep(slices.iter().rev().copied());
        rest.reverse();
        let cuts = below.iter().zip(rest.iter().skip(1));
        cuts.map(|(below, rest)| (below.0 && rest.0, below.1)).collect()
    }

    /// After each slice: whether the promises hold of all so far, and how many people.
    fn sweep<'b>(
        &self,
        slices: impl Iterator<Item = &'b [TupleId]>,
    ) -> Vec<(bool, u64)> {
        let census = self.task.census;
        let with_values = self.task.promises.look_at_values();
        let mut values: Vec<Histogram> = match with_values {
            true => self.histograms(),
            false => Vec::new(),
        };
        let (mut rows, mut people) = (0, 0);
        let mut after = Vec::new();
        for slice in slices {
            for tuple in slice {
                rows += census.rows[*tuple];
                people += census.people()[*tuple];
                if with_values {
                    census.add_to(*tuple, &mut values);
                }
            }
            let group = Group { rows, people, values: &values };
            after.push((self.task.promises.hold(group, self.whole), people));
        }
        values.iter_mut().for_each(Histogram::clear);
        if let (true, Ok(mut spare)) = (with_values, self.spare.lock()) {
            spare.push(values);
        }
        after
    }

    /// Empty histograms: where people are told apart they are large, and small parts many.
    fn histograms(&self) -> Vec<Histogram> {
        let spare = self.spare.lock().ok().and_then(|mut spare| spare.pop());
        spare.unwrap_or_else(|| self.task.census.histograms())
    }

    /// The place of the value to cut before, if any cut is allowed.
    fn choose(
        &self,
        sorted: &SortedTuples,
        cuts: &[(bool, u64)],
        choice: ValueChoice,
    ) -> Option<usize> {
        let counts = self.task.census.people();
        let people: u64 = sorted.tuples.iter().map(|tuple| counts[*tuple]).sum();
        let n_values = sorted.values.len() as u64;
        let allowed = cuts.iter().enumerate().filter(|(_, (allowed, _))| *allowed);
        let place = match choice {
            ValueChoice::First => allowed.map(|(place, _)| place).next(),
            ValueChoice::Balanced => allowed
                .min_by_key(|(_, (_, below))| (2 * below).abs_diff(people))
                .map(|(place, _)| place),
            ValueChoice::BalancedValues => allowed
                .map(|(place, _)| place)
                .min_by_key(|place| (2 * (*place as u64 + 1)).abs_diff(n_values)),
        };
        place.map(|place| place + 1)
    }
}

/// How much of its domain a column spans from one code to another; beyond every range if
/// "not known" is among other values, which are then parted from it first.
pub(super) fn relative_width(column: &Column, low: Code, high: Code) -> f64 {
    if low == high {
        return 0.0;
    }
    let domain = &column.domain;
    let numbers = domain.number(low).zip(domain.number(high)).zip(domain.range());
    match numbers {
        Some(((low, high), (smallest, largest))) if largest > smallest => {
            (high - low) / (largest - smallest)
        }
        _ if domain.missing() == Some(high) => 2.0,
        _ => f64::from(high.get() - low.get()) / (domain.len() as f64 - 1.0),
    }
}

/// Adds a list of parts to another; returns the place of its first.
fn append(parts: &mut Vec<Piece>, more: Vec<Piece>) -> usize {
    let start = parts.len();
    parts.extend(more.into_iter().map(|part| match part {
        Piece::Cut { column, code, below, rest } => {
            Piece::Cut { column, code, below: below + start, rest: rest + start }
        }
        group => group,
    }));
    start
}

/// Numbers the groups from the lowest part to the highest and writes the cuts down.
fn grouping(task: &GroupingTask<'_>, mut parts: Vec<Piece>) -> Grouping {
    let mut group_of = Of::repeat(None, task.census.n_tuples());
    let mut groups: Of<GroupId, Vec<TupleId>> = Of::new();
    let mut branches: Of<BranchId, Branch> = Of::new();
    // A part, and the branch that leads to it as its `rest`.
    let mut open: Vec<(usize, Option<BranchId>)> = vec![(0, None)];
    while let Some((place, rest_of)) = open.pop() {
        let here = BranchId::from_index(branches.len());
        if let Some(Branch::Cut { rest, .. }) = rest_of.map(|cut| &mut branches[cut]) {
            *rest = here;
        }
        match std::mem::replace(&mut parts[place], Piece::Group(Vec::new())) {
            Piece::Group(tuples) => {
                let group = groups.push(tuples);
                branches.push(Branch::Group(Some(group)));
                for tuple in &groups[group] {
                    group_of[*tuple] = Some(group);
                }
            }
            Piece::LeftOut => {
                branches.push(Branch::Group(None));
            }
            Piece::Cut { column, code, below, rest } => {
                // What is below comes next, so its branch is the next one.
                let next = here.next();
                branches.push(Branch::Cut { column, code, below: next, rest: next });
                open.extend([(rest, Some(here)), (below, None)]);
            }
        }
    }
    let covers: Vec<_> = groups.par_iter().map(|tuples| cells(task, tuples)).collect();
    Grouping { group_of, covers: covers.into(), route: Route::Cuts(branches) }
}

/// The cells of a group: of everybody in it, also of those of a population who are not in
/// the table. Cells around the rows of the table alone, as the source has them, tell who is
/// absent (`reproduce mpalm-boxes`).
fn cells(task: &GroupingTask<'_>, tuples: &[TupleId]) -> Vec<Cover> {
    let columns = task.columns.iter().zip(&task.census.quasi);
    columns
        .map(|(column, codes)| {
            let mut present: Vec<Code> =
                tuples.iter().map(|tuple| codes[*tuple]).collect();
            present.sort_unstable();
            present.dedup();
            cover(column, &present, None)
        })
        .collect()
}
