//! k-anonymity of a private table, and what it happens to do for presence.

use scumble::error::Result;
use scumble::hierarchy::{Column, Microdata};
use scumble::loss::Loss;
use scumble::method::{Branch, FullDomain, Grouping, Mondrian, Route, Task};
use scumble::promise::{KAnonymity, Promises};

use crate::reproduce::delta::Delta;

/// How a table is made k-anonymous.
#[derive(Debug, Clone, Copy)]
pub(crate) enum How {
    /// The least-loss levels.
    FullDomain(Loss),
    /// Cuts.
    Mondrian(Mondrian),
}

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
    pub(crate) loss: f64,
    pub(crate) discernibility: f64,
}

/// The releases for every k from 2 on, until all rows are one group.
///
/// A release for k whose smallest group has m rows is the release for every k up to m: the
/// best levels stay allowed while fewer others are, and every cut that was taken, or
/// passed over, would be again. So one search serves all of them, and this is exhaustive.
pub(crate) fn rungs(
    how: How,
    table: &Microdata,
    population: &Microdata,
) -> Result<Vec<Rung>> {
    let lm = Loss::by_name("loss")?;
    let dm = Loss::by_name("discernibility")?;
    let mut rungs = Vec::new();
    let mut k = 2;
    while k <= table.n_rows() {
        let promises = Promises::new(vec![Box::new(KAnonymity::new(k)?)]);
        let loss = if let How::FullDomain(loss) = how { loss } else { lm };
        let task = Task {
            columns: &table.quasi,
            census: &table.census,
            promises: &promises,
            loss,
            limit: 0,
        };
        let grouping = match how {
            How::FullDomain(_) => FullDomain.find(&task)?.grouping,
            How::Mondrian(mondrian) => mondrian.find(&task)?,
        };
        let shape = grouping.shape(&table.census);
        let actual = shape.groups.iter().map(|(rows, _)| *rows).min().unwrap_or(0);
        let (lowest, highest) = presence(&grouping, table, population);
        rungs.push(Rung {
            k,
            actual,
            lowest,
            highest,
            loss: lm.of(&table.quasi, &shape),
            discernibility: dm.of(&table.quasi, &shape),
        });
        k = actual.max(k) + 1;
    }
    Ok(rungs)
}

/// The first release, that of the smallest k, whose presence is allowed.
pub(crate) fn smallest(rungs: &[Rung], delta: Delta) -> Option<&Rung> {
    rungs.iter().find(|rung| delta.admits(rung.lowest, rung.highest))
}

/// The smallest and the largest presence of anybody in the population, for who sees the
/// release: rows of the table over rows of the population that a published row fits, and
/// nought for whom none fits.
fn presence(
    grouping: &Grouping,
    table: &Microdata,
    population: &Microdata,
) -> (f64, f64) {
    let mut counts: Vec<(u64, u64)> = grouping
        .shape(&table.census)
        .groups
        .iter()
        .map(|(present, _)| (*present, 0))
        .collect();
    let mut outside = 0;
    let finder = Finder::new(grouping, table);
    let mut codes = Vec::new();
    for (tuple, rows) in population.census.rows.iter().enumerate() {
        codes.clear();
        codes.extend(population.census.quasi.iter().map(|column| column[tuple]));
        match finder.group(&codes) {
            Some(group) => counts[group as usize].1 += rows,
            None => outside += rows,
        }
    }
    let shares = counts.iter().map(|(present, all)| *present as f64 / *all as f64);
    let lowest = if outside > 0 { 0.0 } else { 1.0 };
    shares.fold((lowest, 0.0), |(low, high), share| (low.min(share), high.max(share)))
}

/// Finds the published group that a person's values fit.
struct Finder<'a> {
    grouping: &'a Grouping,
    columns: &'a [Column],
    /// For levels: the nodes of every group, and its number, ascending.
    nodes: Vec<(Vec<u32>, u32)>,
}

impl<'a> Finder<'a> {
    fn new(grouping: &'a Grouping, table: &'a Microdata) -> Self {
        let mut finder = Self { grouping, columns: &table.quasi, nodes: Vec::new() };
        if let Route::Levels(levels) = &grouping.route {
            for (tuple, group) in grouping.group_of.iter().enumerate() {
                let codes: Vec<u32> =
                    table.census.quasi.iter().map(|column| column[tuple]).collect();
                if let Some(group) = group {
                    finder.nodes.push((finder.nodes_of(levels, &codes), *group));
                }
            }
            finder.nodes.sort_unstable();
            finder.nodes.dedup();
        }
        finder
    }

    fn nodes_of(&self, levels: &[usize], codes: &[u32]) -> Vec<u32> {
        let columns = self.columns.iter().zip(levels).zip(codes);
        columns
            .map(|((column, level), code)| column.hierarchy.node(*level, *code))
            .collect()
    }

    fn group(&self, codes: &[u32]) -> Option<u32> {
        match &self.grouping.route {
            Route::Levels(levels) => {
                let nodes = self.nodes_of(levels, codes);
                let place = self.nodes.binary_search_by(|(known, _)| known.cmp(&nodes));
                place.ok().map(|place| self.nodes[place].1)
            }
            Route::Cuts(branches) => {
                let group = follow(branches, codes);
                let covers =
                    self.columns.iter().zip(&self.grouping.covers[group as usize]);
                let fits = covers.zip(codes).all(|((column, cover), code)| {
                    cover.contains(&column.domain, &column.hierarchy, *code)
                });
                fits.then_some(group)
            }
        }
    }
}

/// The group at the end of the cuts.
fn follow(branches: &[Branch], codes: &[u32]) -> u32 {
    let mut place = 0;
    loop {
        match branches[place] {
            Branch::Group(group) => return group,
            Branch::Cut { column, code, below, rest } => {
                let next = if codes[column] < code { below } else { rest };
                place = next as usize;
            }
        }
    }
}
