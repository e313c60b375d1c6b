#![doc = include_str!("safe.md")]

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::hierarchy::Column;
use crate::loss::Loss;
use crate::method::mondrian::look::{Fate, LookRule, PartSizes};
use crate::method::mondrian::{Piece, check_whole, grouping};
use crate::method::{Grouping, GroupingTask, cover};
use crate::promise::Group;
use crate::table::{Code, Of, TupleId};
use crate::watch::Watched;

/// At most so many cuts of a column are thought of. Found by trying: on Adult 8 and 32 cost
/// more.
const MOST_CUTS: usize = 16;

/// What a look is worth: its chance to some power, times what it saves. A refusal ends all
/// cuts of a part, so the more rows it has, the more the chance counts, from the power 1
/// to 4. Found by trying: on Adult 4 for all costs 1 to 4 % more.
pub(super) fn worth(accept: f64, saved: f64, rows: u64) -> f64 {
    let rows = rows as f64;
    libm::pow(accept, 1.0 + 3.0 * rows / (rows + 8.0)) * saved
}

/// Groups rows by cuts that tell nothing harmful of anybody's presence. `coin` falls true
/// with a probability of its argument in 2^64.
pub fn safe_cuts<'a>(
    task: impl Into<Watched<'a, GroupingTask<'a>>>,
    mut coin: impl FnMut(u64) -> bool,
) -> Result<Grouping> {
    let Watched { task, watch } = task.into();
    let range = task.promises.presence().filter(|_| task.promises.count_only());
    let range = range.ok_or_else(|| {
        Error::recipe(
            "cuts are safe for promises about presence that look at nothing but the numbers \
             of rows and people",
        )
    })?;
    let census = task.census;
    let sizes = PartSizes { people: census.n_people(), rows: census.n_rows() };
    check_whole(task, Group { rows: sizes.rows, people: sizes.people, values: &[] })?;
    let chooser = Chooser { task, range, columns: public_columns(task) };
    let whole = Uncut { tuples: census.tuples().collect(), sizes };
    let mut pieces = vec![Piece::Group(Vec::new())];
    let mut open = vec![(0, whole)];
    while !open.is_empty() {
        watch.check()?;
        let cuts: Vec<Option<Cut>> =
            open.par_iter().map(|(_, part)| chooser.choose(part)).collect();
        let mut next = Vec::new();
        for ((place, part), cut) in open.into_iter().zip(cuts) {
            let halves = cut.and_then(|cut| {
                let halves = chooser.look(&part, &cut, &mut coin)?;
                Some((cut, halves))
            });
            let Some((cut, (one, other))) = halves else {
                pieces[place] = Piece::Group(part.tuples);
                continue;
            };
            let (below, rest) = (pieces.len(), pieces.len() + 1);
            pieces[place] =
                Piece::Cut { column: cut.column, code: cut.code, below, rest };
            pieces.extend([Piece::Group(Vec::new()), Piece::Group(Vec::new())]);
            next.extend([(below, one), (rest, other)]);
        }
        open = next;
    }
    let grouping = grouping(task, pieces);
    watch.check()?;
    Ok(grouping)
}

/// The columns with how many *people* have each value, so that no loss asks for rows.
pub(in crate::method) fn public_columns(task: &GroupingTask<'_>) -> Vec<Column> {
    let columns = task.columns.iter().zip(&task.census.quasi);
    columns
        .map(|(column, codes)| {
            let mut counts = Of::repeat(0, column.rows.len());
            for (code, people) in codes.iter().zip(task.census.people()) {
                counts[*code] += people;
            }
            Column { rows: counts, ..column.clone() }
        })
        .collect()
}

/// People who are not parted yet, ascending.
struct Uncut {
    tuples: Vec<TupleId>,
    sizes: PartSizes,
}

/// The cut of a part that is looked at, and how.
struct Cut {
    column: usize,
    code: Code,
    /// How many people are below.
    below: u64,
    look: LookRule,
}

/// Chooses cuts from what is public, and looks at them.
struct Chooser<'a> {
    task: &'a GroupingTask<'a>,
    range: (Decimal, Decimal),
    columns: Vec<Column>,
}

impl Chooser<'_> {
    /// Looks at a cut; the halves, if it is accepted. Nothing else reads who of a part is in
    /// the table.
    fn look(
        &self,
        part: &Uncut,
        cut: &Cut,
        coin: &mut impl FnMut(u64) -> bool,
    ) -> Option<(Uncut, Uncut)> {
        let census = self.task.census;
        let codes = &census.quasi[cut.column];
        let (below, rest): (Vec<TupleId>, Vec<TupleId>) =
            part.tuples.iter().partition(|tuple| codes[**tuple] < cut.code);
        let rows = below.iter().map(|tuple| census.rows[*tuple]).sum();
        let refused = match cut.look.fate(rows) {
            _ if !self.keep(part.sizes, cut.below, rows) => true,
            Fate::Accepted => false,
            Fate::Refused => true,
            Fate::Open(chance) => coin(chance),
        };
        if refused {
            return None;
        }
        let one = PartSizes { people: cut.below, rows };
        let other = PartSizes {
            people: part.sizes.people - one.people,
            rows: part.sizes.rows - one.rows,
        };
        Some((
            Uncut { tuples: below, sizes: one },
            Uncut { tuples: rest, sizes: other },
        ))
    }

    /// Whether the promises hold of both sides.
    fn keep(&self, part: PartSizes, below: u64, rows: u64) -> bool {
        let hold = |rows, people| {
            let group = Group { rows, people, values: &[] };
            self.task.promises.hold(group, group)
        };
        hold(rows, below) && hold(part.rows - rows, part.people - below)
    }

    /// The cut to look at, from what is public of a part: its people, and how many of them
    /// are in the table.
    fn choose(&self, part: &Uncut) -> Option<Cut> {
        // Nobody of it is published.
        if part.sizes.rows == 0 {
            return None;
        }
        let spread = PartValues::of(self.task, &part.tuples);
        let mut looks: HashMap<u64, Option<LookRule>> = HashMap::new();
        let mut best: Option<(f64, Cut)> = None;
        let costs = CellCosts { columns: &self.columns, loss: self.task.loss };
        let whole = costs.of_part(&spread);
        for column in 0..self.columns.len() {
            let mut cuts = Vec::new();
            for (rank, below) in
                spread.cuts((column, &self.columns[column]), part.sizes.people)
            {
                let look = *looks.entry(below).or_insert_with(|| {
                    LookRule::of(part.sizes, below, self.range, |rows| {
                        self.keep(part.sizes, below, rows)
                    })
                });
                if let Some(look) = look {
                    cuts.push((rank, below, look));
                }
            }
            let ranks: Vec<u32> = cuts.iter().map(|(rank, ..)| *rank).collect();
            let halves = costs.of_halves(&spread, column, &ranks);
            for ((rank, below, look), (one, other)) in cuts.into_iter().zip(halves) {
                let share = below as f64 / part.sizes.people as f64;
                let saved = match self.task.loss {
                    Loss::Cells(_) => whole - share * one - (1.0 - share) * other,
                    Loss::Sizes(_) => share * (1.0 - share),
                };
                let score = worth(look.accept, saved, part.sizes.rows);
                if score > best.as_ref().map_or(0.0, |(held, _)| *held) {
                    let code = spread.columns[column].codes[rank as usize];
                    best = Some((score, Cut { column, code, below, look }));
                }
            }
        }
        best.map(|(_, cut)| cut)
    }
}

/// The values of a part.
pub(super) struct PartValues {
    pub(super) columns: Vec<RankedValues>,
    /// How many people have each tuple.
    people: Vec<u64>,
}

/// The values of a part in one column.
pub(super) struct RankedValues {
    /// Those that occur, ascending.
    pub(super) codes: Vec<Code>,
    /// Which of them each tuple has.
    ranks: Vec<u32>,
}

impl PartValues {
    pub(super) fn of(task: &GroupingTask<'_>, tuples: &[TupleId]) -> Self {
        let people = task.census.people();
        let ranked = |codes: &Of<TupleId, Code>| {
            let own: Vec<Code> = tuples.iter().map(|tuple| codes[*tuple]).collect();
            let mut codes = own.clone();
            codes.sort_unstable();
            codes.dedup();
            let rank = |code| codes.partition_point(|known| *known < code) as u32;
            let ranks = own.into_iter().map(rank).collect();
            RankedValues { codes, ranks }
        };
        Self {
            columns: task.census.quasi.iter().map(ranked).collect(),
            people: tuples.iter().map(|tuple| people[*tuple]).collect(),
        }
    }

    /// Before which values a column may be cut, and how many people are below: all cuts, or
    /// those next to as many quantiles as are thought of.
    pub(super) fn cuts(
        &self,
        (column, bound): (usize, &Column),
        people: u64,
    ) -> Vec<(u32, u64)> {
        let RankedValues { codes, ranks } = &self.columns[column];
        let mut counts = vec![0; codes.len()];
        for (rank, people) in ranks.iter().zip(&self.people) {
            counts[*rank as usize] += people;
        }
        let mut below = 0;
        let cuts = (1u32..).zip(&counts).map(|(rank, n)| {
            below += n;
            (rank, below)
        });
        let cuts = cuts.take(codes.len() - 1);
        let parts_a_range = |(rank, _): &(u32, u64)| {
            bound.joins(codes[*rank as usize - 1], codes[*rank as usize])
        };
        let cuts: Vec<(u32, u64)> = cuts.filter(|cut| !parts_a_range(cut)).collect();
        if cuts.len() <= MOST_CUTS {
            return cuts;
        }
        let parts = MOST_CUTS as u128 + 1;
        let nearest = |quantile: u128| {
            let wanted = (u128::from(people) * quantile / parts) as u64;
            let after = cuts.partition_point(|(_, below)| *below < wanted);
            let near = &cuts[after.saturating_sub(1)..(after + 1).min(cuts.len())];
            near.iter().min_by_key(|(_, below)| below.abs_diff(wanted)).copied()
        };
        let mut some: Vec<(u32, u64)> = (1..parts).filter_map(nearest).collect();
        some.dedup();
        some
    }
}

/// What cells cost, each column by its weight.
pub(super) struct CellCosts<'a> {
    pub(super) columns: &'a [Column],
    pub(super) loss: Loss,
}

impl CellCosts<'_> {
    /// What a row of the part costs.
    pub(super) fn of_part(&self, spread: &PartValues) -> f64 {
        let columns = self.columns.iter().zip(&spread.columns);
        columns.map(|(column, ranked)| self.cell(column, &ranked.codes)).sum()
    }

    fn cell(&self, column: &Column, codes: &[Code]) -> f64 {
        match self.loss {
            Loss::Cells(loss) => {
                column.weight * loss.cell(column, &cover(column, codes, None))
            }
            Loss::Sizes(_) => 0.0,
        }
    }

    /// What a row costs below and not below each of some cuts of a column, ascending.
    pub(super) fn of_halves(
        &self,
        spread: &PartValues,
        column: usize,
        cuts: &[u32],
    ) -> Vec<(f64, f64)> {
        let mut costs = vec![(0.0, 0.0); cuts.len()];
        if cuts.is_empty() || matches!(self.loss, Loss::Sizes(_)) {
            return costs;
        }
        // For each tuple how many of the cuts it is not below.
        let own = &spread.columns[column].ranks;
        let sides: Vec<usize> =
            own.iter().map(|rank| cuts.partition_point(|cut| cut <= rank)).collect();
        for (place, ranked) in spread.columns.iter().enumerate() {
            let bound = &self.columns[place];
            let n = ranked.codes.len();
            // Of each value that occurs, the first and the last side it is on.
            let mut ends = vec![(usize::MAX, 0); n];
            for (rank, side) in ranked.ranks.iter().zip(&sides) {
                let (first, last) = &mut ends[*rank as usize];
                *first = (*first).min(*side);
                *last = (*last).max(*side);
            }
            let mut codes = Vec::with_capacity(n);
            for (cut, (below, rest)) in costs.iter_mut().enumerate() {
                let mut cost = |is_there: &dyn Fn((usize, usize)) -> bool| {
                    codes.clear();
                    let there = ranked.codes.iter().zip(&ends);
                    let there = there.filter(|(_, ends)| is_there(**ends));
                    codes.extend(there.map(|(code, _)| *code));
                    self.cell(bound, &codes)
                };
                *below += cost(&|(first, _)| first <= cut);
                *rest += cost(&|(_, last)| last > cut);
            }
        }
        costs
    }
}
