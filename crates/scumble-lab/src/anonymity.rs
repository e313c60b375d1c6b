//! k-anonymity of a private table, and what it happens to do for presence.

use scumble::error::Result;
use scumble::hierarchy::Column;
use scumble::method::{Branch, BranchId, Grouping, Route};
use scumble::promise::KAnonymity;
use scumble::table::{Census, Code, GroupId, NodeId, Of};

use crate::delta::Delta;
use crate::private::{How, Private, ReleaseCost};

/// A k-anonymous release and the presence it gives away.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rung {
    /// The smallest k for which this is the release.
    pub(crate) k: u64,
    /// The size of its smallest group, the largest such k.
    pub(crate) actual: u64,
    /// The smallest and the largest presence of anybody in the population.
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    pub(crate) measured: ReleaseCost,
}

/// The releases for every k from 2 on, until all rows are one group.
///
/// A release for k whose smallest group has m rows is the release for every k up to m: the
/// best levels stay allowed while fewer others are, and every cut that was taken, or
/// passed over, would be again. So one search serves all of them, and this is exhaustive.
pub(crate) fn rungs(how: How, private: &Private) -> Result<Vec<Rung>> {
    let table = &private.alone;
    let columns = how.columns(table);
    let mut rungs = Vec::new();
    let mut k = 2;
    while k <= table.n_rows() {
        let promise = Box::new(KAnonymity::new(k)?);
        let grouping = how.find(&columns, &table.census, promise)?;
        let shape = grouping.shape(&table.census);
        let actual = shape.groups.iter().map(|(rows, _)| *rows).min().unwrap_or(0);
        let finder = GroupFinder::new(&grouping, &columns, &table.census);
        let (lowest, highest) = finder.presence(&private.within.census);
        let measured = ReleaseCost::of(&columns, &shape)?;
        rungs.push(Rung { k, actual, lowest, highest, measured });
        k = actual.max(k) + 1;
    }
    Ok(rungs)
}

/// The first release, that of the smallest k, whose presence is allowed.
pub(crate) fn smallest(rungs: &[Rung], delta: Delta) -> Option<&Rung> {
    rungs.iter().find(|rung| delta.admits(rung.lowest, rung.highest))
}

/// Finds the published group that a person's values fit.
struct GroupFinder<'a> {
    grouping: &'a Grouping,
    columns: &'a [Column],
    /// How many rows each group has.
    rows: Of<GroupId, u64>,
    /// For levels: the nodes of every group, and its number, ascending.
    nodes: Vec<(Vec<NodeId>, GroupId)>,
}

impl<'a> GroupFinder<'a> {
    fn new(grouping: &'a Grouping, columns: &'a [Column], table: &Census) -> Self {
        let shape = grouping.shape(table);
        let rows = shape.groups.iter().map(|(rows, _)| *rows).collect();
        let mut finder = Self { grouping, columns, rows, nodes: Vec::new() };
        if let Route::Levels(levels) = &grouping.route {
            for (tuple, group) in grouping.group_of.pairs() {
                let codes: Vec<Code> =
                    table.quasi.iter().map(|column| column[tuple]).collect();
                if let Some(group) = group {
                    finder.nodes.push((finder.nodes_of(levels, &codes), *group));
                }
            }
            finder.nodes.sort_unstable();
            finder.nodes.dedup();
        }
        finder
    }

    /// The smallest and the largest presence of anybody in the population, for who sees
    /// the release: rows of the table over people whom a published row fits, and zero
    /// for whom none fits.
    fn presence(&self, population: &Census) -> (f64, f64) {
        let mut people: Of<GroupId, u64> = Of::repeat(0, self.rows.len());
        let mut outside = 0;
        let mut codes = Vec::new();
        for (tuple, n) in population.people().pairs() {
            codes.clear();
            codes.extend(population.quasi.iter().map(|column| column[tuple]));
            match self.group(&codes) {
                Some(group) => people[group] += n,
                None => outside += n,
            }
        }
        let shares = self.rows.iter().zip(&people);
        let shares = shares.map(|(rows, people)| *rows as f64 / *people as f64);
        let lowest = if outside > 0 { 0.0 } else { 1.0 };
        shares.fold((lowest, 0.0), |(low, high), share| {
            (f64::min(low, share), f64::max(high, share))
        })
    }

    fn group(&self, codes: &[Code]) -> Option<GroupId> {
        match &self.grouping.route {
            Route::Levels(levels) => {
                let nodes = self.nodes_of(levels, codes);
                let place = self.nodes.binary_search_by(|(known, _)| known.cmp(&nodes));
                place.ok().map(|place| self.nodes[place].1)
            }
            Route::Cuts(branches) => {
                let group = follow(branches, codes)?;
                let cells = &self.grouping.covers[group];
                let fits = self.columns.iter().zip(cells).zip(codes).all(
                    |((c, cell), code)| cell.contains(&c.domain, &c.hierarchy, *code),
                );
                fits.then_some(group)
            }
        }
    }

    fn nodes_of(&self, levels: &[usize], codes: &[Code]) -> Vec<NodeId> {
        let columns = self.columns.iter().zip(levels).zip(codes);
        columns
            .map(|((column, level), code)| column.hierarchy.node(*level, *code))
            .collect()
    }
}

/// The group at the end of the cuts.
fn follow(branches: &Of<BranchId, Branch>, codes: &[Code]) -> Option<GroupId> {
    let mut place = BranchId::default();
    loop {
        match branches[place] {
            Branch::Group(group) => return group,
            Branch::Cut { column, code, below, rest } => {
                place = if codes[column] < code { below } else { rest };
            }
        }
    }
}
