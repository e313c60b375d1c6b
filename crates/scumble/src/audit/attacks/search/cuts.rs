//! Cuts: the adversary makes the cuts of Mondrian again.
//!
//! A cut that divides no published group has known groups on both sides, so whether it was
//! allowed is known. One that divides a group was not made. So at each part the cut that was
//! made is the best of those that are known to be allowed, and every better one that divides a
//! group was refused.
//!
//! # Guarantee
//! Every refusal found is one that the search saw, if the manifest tells the truth about its
//! choices: the search takes the first column, in its order, that has an allowed cut, and of
//! these the best.

use crate::audit::attacks::search::{Event, Placed, Seats, Side};
use crate::hierarchy::Column;
use crate::release::MethodNote;
use crate::table::Code;

/// More values than this are not cut again.
const MOST_VALUES: usize = 5_000_000;

/// Which cut is tried first.
#[derive(Debug, Clone, Copy)]
pub(in crate::audit::attacks) struct CutOrder {
    column: ColumnOrder,
    value: ValueOrder,
}

#[derive(Debug, Clone, Copy)]
enum ColumnOrder {
    Widest,
    Next,
    Priority,
    Best,
}

#[derive(Debug, Clone, Copy)]
enum ValueOrder {
    Balanced,
    First,
    BalancedValues,
}

impl CutOrder {
    /// What the manifest says; nothing if it does not.
    pub(in crate::audit::attacks) fn of(method: &MethodNote) -> Option<Self> {
        let word = |name: &str| method.parameters.get(name)?.as_str();
        let column = match word("column")? {
            "widest" => ColumnOrder::Widest,
            "next" => ColumnOrder::Next,
            "priority" => ColumnOrder::Priority,
            "best" => ColumnOrder::Best,
            _ => return None,
        };
        let value = match word("value")? {
            "balanced" => ValueOrder::Balanced,
            "first" => ValueOrder::First,
            "balanced-values" => ValueOrder::BalancedValues,
            _ => return None,
        };
        Some(Self { column, value })
    }
}

/// The parts that were cut or not, and the cuts that were refused.
#[derive(Debug, Default)]
pub(in crate::audit::attacks) struct Recut {
    /// The tuples of each part.
    pub(in crate::audit::attacks) parts: Vec<Vec<u32>>,
    pub(in crate::audit::attacks) refused: Vec<RefusedCut>,
}

/// A cut before a value of a column, which divides some group.
#[derive(Debug, Clone, Copy)]
pub(in crate::audit::attacks) struct RefusedCut {
    /// The place of the part.
    pub(in crate::audit::attacks) part: usize,
    pub(in crate::audit::attacks) column: usize,
    pub(in crate::audit::attacks) code: Code,
}

/// Groups of one side of a cut that divides none, and how many people there are.
#[derive(Debug, Default)]
pub(in crate::audit::attacks) struct KnownSide {
    pub(in crate::audit::attacks) groups: Vec<u32>,
    pub(in crate::audit::attacks) people: u64,
}

/// A cut of a part.
struct Cut {
    code: Code,
    below: u64,
    divides: bool,
}

impl Placed<'_> {
    /// Cuts again; `keeps` says whether a known side keeps the promises. Nothing if the groups
    /// do not come from such cuts, they are too many, or it is no longer wanted.
    pub(in crate::audit::attacks) fn recut(
        &self,
        order: CutOrder,
        keeps: impl Fn(&KnownSide) -> bool,
    ) -> Option<Recut> {
        let mut found = Recut::default();
        if self.people.len() * self.columns.len() > MOST_VALUES {
            return None;
        }
        let all: Vec<u32> = (0..self.people.len() as u32).collect();
        let mut open = vec![(all, None)];
        while let Some((part, last)) = open.pop() {
            if self.watch.is_cancelled() {
                return None;
            }
            let groups = self.groups_of(&part);
            if groups.is_empty() {
                continue;
            }
            let (place, mut made) = (found.parts.len(), None);
            for column in self.column_order(&part, order.column, last) {
                let cuts = self.cuts(&part, column);
                let n_values = cuts.len() as u64 + 1;
                let people = self.count(&part);
                // Smaller is tried first.
                let key = |at: usize, cut: &Cut| match order.value {
                    ValueOrder::First => (0, at),
                    ValueOrder::Balanced => ((2 * cut.below).abs_diff(people), at),
                    ValueOrder::BalancedValues => {
                        ((2 * (at as u64 + 1)).abs_diff(n_values), at)
                    }
                };
                let allowed = |cut: &Cut| {
                    let (below, rest) = self.sides(&part, column, cut.code);
                    !cut.divides
                        && keeps(&self.known(&below))
                        && keeps(&self.known(&rest))
                };
                let cuts = || cuts.iter().enumerate();
                let best = cuts()
                    .filter(|(_, cut)| allowed(cut))
                    .min_by_key(|(at, cut)| key(*at, cut));
                let before = best.map(|(at, cut)| key(at, cut));
                for (at, cut) in cuts().filter(|(_, cut)| cut.divides) {
                    if before.is_none_or(|before| key(at, cut) < before) {
                        let code = cut.code;
                        found.refused.push(RefusedCut { part: place, column, code });
                    }
                }
                if let Some((_, cut)) = best {
                    made = Some((column, cut.code));
                    break;
                }
            }
            match made {
                Some((column, code)) => {
                    let (below, rest) = self.sides(&part, column, code);
                    open.extend([(below, Some(column)), (rest, Some(column))]);
                }
                None if groups.len() > 1 => return None,
                None => {}
            }
            found.parts.push(part);
        }
        Some(found)
    }

    /// Every cut of parts that were not cut, each a published group.
    pub(in crate::audit::attacks) fn uncut(&self, parts: Vec<Vec<u32>>) -> Recut {
        let mut refused = Vec::new();
        for (part, tuples) in parts.iter().enumerate() {
            for column in 0..self.columns.len() {
                let cuts = self.cuts(tuples, column).into_iter();
                refused.extend(cuts.map(|cut| RefusedCut {
                    part,
                    column,
                    code: cut.code,
                }));
            }
        }
        Recut { parts, refused }
    }

    /// The published groups of some tuples, ascending.
    pub(in crate::audit::attacks) fn groups_of(&self, tuples: &[u32]) -> Vec<u32> {
        let groups = tuples.iter().filter_map(|tuple| self.group_of[*tuple as usize]);
        let mut groups: Vec<u32> = groups.collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    fn known(&self, tuples: &[u32]) -> KnownSide {
        KnownSide { groups: self.groups_of(tuples), people: self.count(tuples) }
    }

    /// The tuples of a part below a cut, and the others.
    pub(in crate::audit::attacks) fn sides(
        &self,
        part: &[u32],
        column: usize,
        code: Code,
    ) -> (Vec<u32>, Vec<u32>) {
        let codes = self.codes[column];
        part.iter().partition(|tuple| codes[**tuple as usize] < code)
    }

    /// Every cut between values of a part that occur, ascending.
    fn cuts(&self, part: &[u32], column: usize) -> Vec<Cut> {
        let codes = self.codes[column];
        let mut values: Vec<(Code, u32)> =
            part.iter().map(|tuple| (codes[*tuple as usize], *tuple)).collect();
        values.sort_unstable();
        let mut ends: Vec<(u32, Code, Code)> = values
            .iter()
            .filter_map(|(code, tuple)| {
                Some((self.group_of[*tuple as usize]?, *code, *code))
            })
            .collect();
        ends.sort_unstable();
        let ends: Vec<(Code, Code)> = ends
            .chunk_by(|one, other| one.0 == other.0)
            .filter_map(|own| Some((own.first()?.1, own.last()?.2)))
            .collect();
        let mut cuts: Vec<Cut> = Vec::new();
        let (mut below, mut last) = (0, None);
        for (code, tuple) in values {
            let apart =
                |last: Code| last != code && !self.columns[column].joins(last, code);
            if last.is_some_and(apart) {
                cuts.push(Cut { code, below, divides: false });
            }
            below += self.people[tuple as usize];
            last = Some(code);
        }
        for (low, high) in ends {
            let first = cuts.partition_point(|cut| cut.code <= low);
            let behind = cuts.partition_point(|cut| cut.code <= high);
            cuts[first..behind].iter_mut().for_each(|cut| cut.divides = true);
        }
        cuts
    }

    /// The columns in the order in which they were tried; `last` is the one cut before.
    fn column_order(
        &self,
        part: &[u32],
        order: ColumnOrder,
        last: Option<usize>,
    ) -> Vec<usize> {
        let n = self.columns.len();
        let mut columns: Vec<usize> = (0..n).collect();
        match order {
            ColumnOrder::Priority => {}
            ColumnOrder::Next => {
                columns.rotate_left(last.map_or(0, |last| (last + 1) % n));
            }
            ColumnOrder::Widest => {
                let width = |column: &usize| {
                    let codes = part.iter().map(|t| self.codes[*column][*t as usize]);
                    let (low, high) = (codes.clone().min(), codes.max());
                    low.zip(high).map_or(0.0, |(low, high)| {
                        width(&self.columns[*column], low, high)
                    })
                };
                let widths: Vec<f64> = columns.iter().map(width).collect();
                columns.sort_by(|a, b| widths[*b].total_cmp(&widths[*a]));
                columns.retain(|column| widths[*column] > 0.0);
            }
            ColumnOrder::Best => {
                let values: Vec<usize> =
                    columns.iter().map(|c| self.cuts(part, *c).len()).collect();
                columns.sort_by(|a, b| values[*b].cmp(&values[*a]));
            }
        }
        columns
    }
}

/// How much of its domain a column spans, as the search measures it.
fn width(column: &Column, low: Code, high: Code) -> f64 {
    if low == high {
        return 0.0;
    }
    let domain = &column.domain;
    match domain.number(low).zip(domain.number(high)).zip(domain.range()) {
        Some(((low, high), (least, most))) if most > least => {
            (high - low) / (most - least)
        }
        _ if domain.missing() == Some(high) => 2.0,
        _ => f64::from(high.get() - low.get()) / (domain.len() as f64 - 1.0),
    }
}

impl Recut {
    /// What was refused, as events; `labels` are those of each group. Only those that divide
    /// at most so many groups.
    pub(in crate::audit::attacks) fn events(
        &self,
        placed: &Placed<'_>,
        seats: &Seats,
        labels: &[Vec<u64>],
        most_divided: usize,
        is_hopeless: impl Fn(u64) -> bool,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        for refused in &self.refused {
            let part = &self.parts[refused.part];
            let (below, rest) = placed.sides(part, refused.column, refused.code);
            let people = [placed.count(&below), placed.count(&rest)];
            // It fails whatever anybody has, and tells nothing.
            if people.iter().any(|people| is_hopeless(*people)) {
                continue;
            }
            let groups = [placed.groups_of(&below), placed.groups_of(&rest)];
            let divided: Vec<u32> = groups[0]
                .iter()
                .filter(|group| groups[1].binary_search(group).is_ok())
                .copied()
                .collect();
            if divided.len() > most_divided {
                continue;
            }
            let is_divided = |group: &u32| divided.binary_search(group).is_ok();
            let side = |tuples: &[u32], groups: &[u32], people: u64| {
                let mut base = vec![0; labels.first().map_or(0, Vec::len)];
                for group in groups.iter().filter(|group| !is_divided(group)) {
                    let own = base.iter_mut().zip(&labels[*group as usize]);
                    own.for_each(|(base, n)| *base += n);
                }
                let mut members = placed.members(seats, tuples);
                members.retain(|(group, _)| is_divided(group));
                Side { base, people, members }
            };
            events.push(Event {
                sides: vec![
                    side(&below, &groups[0], people[0]),
                    side(&rest, &groups[1], people[1]),
                ],
            });
        }
        events
    }
}
