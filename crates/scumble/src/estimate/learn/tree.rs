//! Decision trees: rows sorted by questions about one column at a time, until those that
//! are left are mostly of one class.
//!
//! Written here, not taken from a library of learning methods: words need no dummy numbers
//! to be asked about, nothing as large as an array library is compiled for it, and the
//! leaves are wanted themselves, as strata of rows that are alike.
//!
//! # Guarantee
//! Every question is the one of those tried that leaves the least impurity, over all
//! columns: of numbers all thresholds; of words, with two classes, the beginnings of their
//! values in the order of their share of one class, with more classes single values against
//! the rest. Leaves have at least as many rows as asked for, and no more questions lead to
//! them than asked for. The same table gives the same tree.
//!
//! *Why beginnings.* With two classes, no set of words leaves less impurity than the best
//! beginning (`breiman1984cart`, theorem 4.5), unless leaves must have more than one row.
//!
//! # Limits
//! Greedy: the best question now, not the best tree. Not pruned; the limits on depth and
//! leaves are all that keeps it from learning noise. A question that gains nothing is
//! asked, too, as long as a node is not pure: two columns may tell together what none of
//! them tells alone.
//! A value that was never seen goes where most rows went.
//!
//! # Cost
//! O(n d) a level for n rows and d columns, and sorting the values that a node has.
//!
//! # Source
//! `breiman1984cart`.

use crate::error::{Error, Result};
use crate::estimate::CodeTable;
use crate::watch::{Watch, Watched};

/// How the codes of a column are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnScale {
    /// Words: their codes have no order.
    Words,
    /// Numbers: larger codes are larger numbers.
    Ordered,
}

/// What makes rows of several classes worse than rows of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Impurity {
    /// How often two rows, drawn one after the other, are of different classes.
    #[default]
    Gini,
    /// How many bits it takes to tell the class of a row.
    Entropy,
}

/// How large a tree may grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Growth {
    /// What is made small.
    pub impurity: Impurity,
    /// How many questions may lead to a leaf.
    pub depth: usize,
    /// How many rows a leaf has at least.
    pub leaf: usize,
}

impl Default for Growth {
    fn default() -> Self {
        Self { impurity: Impurity::Gini, depth: 8, leaf: 20 }
    }
}

/// A decision tree.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionTree {
    // The first is the root; questions lead to later ones only.
    nodes: Vec<TreeNode>,
    leaves: Vec<Leaf>,
}

/// Where questions end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// The commonest class there; of several the first.
    pub class: u32,
    /// How many rows of the table came here.
    pub rows: usize,
}

#[derive(Debug, Clone, PartialEq)]
enum TreeNode {
    Leaf(usize),
    Question { column: usize, test: Test, yes: usize, no: usize },
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    /// Numbers up to this one.
    AtMost(u32),
    /// One of `yes`; not known are values that are in neither list.
    Among { yes: Vec<u32>, no: Vec<u32>, unknown: bool },
}

impl Test {
    fn holds(&self, code: u32) -> bool {
        match self {
            Self::AtMost(most) => code <= *most,
            Self::Among { yes, no, unknown } => {
                yes.binary_search(&code).is_ok()
                    || (*unknown && no.binary_search(&code).is_err())
            }
        }
    }
}

impl DecisionTree {
    /// A tree that tells the column `class` from the others. `scales` has one for every
    /// column; that of the class does not matter.
    pub fn fit<'a>(
        table: impl Into<Watched<'a, CodeTable>>,
        class: usize,
        scales: &[ColumnScale],
        growth: Growth,
    ) -> Result<Self> {
        let Watched { task: table, watch } = table.into();
        let n_columns = table.columns().len();
        if class >= n_columns || scales.len() != n_columns {
            return Err(Error::input(format!(
                "a tree needs a class and a scale for each column, but there are \
                 {n_columns} columns, {} scales, and the class is column {class}",
                scales.len()
            )));
        }
        if table.n_rows() == 0 {
            return Err(Error::input("a tree needs at least one row"));
        }
        let ranked: Vec<Ranked> =
            table.columns().iter().map(|codes| Ranked::of(codes)).collect();
        let grower = Grower {
            n_classes: ranked[class].values.len(),
            columns: ranked,
            class,
            scales,
            growth,
            watch,
        };
        let mut tree = Self { nodes: Vec::new(), leaves: Vec::new() };
        let mut rows: Vec<u32> = (0..table.n_rows() as u32).collect();
        grower.grow(&mut rows, 0, &mut tree);
        watch.check()?;
        Ok(tree)
    }

    /// The number of the leaf that a row belongs to. The row has codes for all columns;
    /// that of the class is not looked at.
    pub fn leaf_of(&self, row: &[u32]) -> usize {
        let mut place = 0;
        loop {
            match &self.nodes[place] {
                TreeNode::Leaf(leaf) => return *leaf,
                TreeNode::Question { column, test, yes, no } => {
                    place = if test.holds(row[*column]) { *yes } else { *no };
                }
            }
        }
    }

    /// The class that a row is likely of.
    pub fn classify(&self, row: &[u32]) -> u32 {
        self.leaves[self.leaf_of(row)].class
    }

    /// The leaves by their numbers.
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// How many leaves there are.
    pub fn n_leaves(&self) -> usize {
        self.leaves.len()
    }
}

/// A column whose codes are places in the list of its values, so that they can be counted
/// in an array.
struct Ranked {
    /// Ascending.
    values: Vec<u32>,
    ranks: Vec<u32>,
}

impl Ranked {
    fn of(codes: &[u32]) -> Self {
        let mut values = codes.to_vec();
        values.sort_unstable();
        values.dedup();
        let rank = |code: &u32| values.partition_point(|value| value < code) as u32;
        let ranks = codes.iter().map(rank).collect();
        Self { values, ranks }
    }
}

/// What stays the same while a tree grows.
struct Grower<'a> {
    columns: Vec<Ranked>,
    n_classes: usize,
    class: usize,
    scales: &'a [ColumnScale],
    growth: Growth,
    /// Whoever waits for the tree. Once it is no longer wanted, it means nothing.
    watch: &'a dyn Watch,
}

/// The values that rows of a node have, and how often with each class.
struct ClassCounts {
    /// Ranks, ascending.
    values: Vec<u32>,
    /// For each of them, the rows of each class.
    counts: Vec<u64>,
}

/// A question as ranks: those for which the answer is yes, in the order they were tried.
struct Split {
    column: usize,
    yes: Vec<u32>,
    no: Vec<u32>,
    impurity: f64,
}

impl Grower<'_> {
    /// Adds the tree of these rows, and tells where it begins.
    fn grow(&self, rows: &mut [u32], depth: usize, tree: &mut DecisionTree) -> usize {
        let place = tree.nodes.len();
        tree.nodes.push(TreeNode::Leaf(tree.leaves.len()));
        let classes = self.count_classes(rows);
        let wanted = !self.watch.is_cancelled();
        let split = match wanted && depth < self.growth.depth && !is_pure(&classes) {
            true => self.best(rows),
            false => None,
        };
        let Some(split) = split else {
            tree.leaves.push(self.leaf(&classes));
            return place;
        };
        let column = split.column;
        let mut chosen = vec![false; self.columns[column].values.len()];
        for rank in &split.yes {
            chosen[*rank as usize] = true;
        }
        let ranks = &self.columns[column].ranks;
        // Stable, so that the order of rows is that of the table in every node.
        rows.sort_by_key(|row| !chosen[ranks[*row as usize] as usize]);
        let n_yes = rows.partition_point(|row| chosen[ranks[*row as usize] as usize]);
        let (with, without) = rows.split_at_mut(n_yes);
        let test = self.test(&split, with.len() >= without.len());
        let yes = self.grow(with, depth + 1, tree);
        let no = self.grow(without, depth + 1, tree);
        tree.nodes[place] = TreeNode::Question { column, test, yes, no };
        place
    }

    fn count_classes(&self, rows: &[u32]) -> Vec<u64> {
        let mut counts = vec![0; self.n_classes];
        for row in rows {
            counts[self.columns[self.class].ranks[*row as usize] as usize] += 1;
        }
        counts
    }

    fn leaf(&self, classes: &[u64]) -> Leaf {
        let mut best = 0;
        for (class, rows) in classes.iter().enumerate() {
            if *rows > classes[best] {
                best = class;
            }
        }
        let rows = classes.iter().sum::<u64>() as usize;
        Leaf { class: self.columns[self.class].values[best], rows }
    }

    /// The question as codes; `unknown` is the answer for values that were never seen.
    fn test(&self, split: &Split, unknown: bool) -> Test {
        let values = &self.columns[split.column].values;
        if self.scales[split.column] == ColumnScale::Ordered {
            // Tried in ascending order, so the last is the largest.
            let most = split.yes.last().map_or(0, |rank| values[*rank as usize]);
            return Test::AtMost(most);
        }
        let codes = |ranks: &[u32]| {
            let mut codes: Vec<u32> =
                ranks.iter().map(|rank| values[*rank as usize]).collect();
            codes.sort_unstable();
            codes
        };
        Test::Among { yes: codes(&split.yes), no: codes(&split.no), unknown }
    }

    /// The question that leaves the least impurity; of several the first.
    fn best(&self, rows: &[u32]) -> Option<Split> {
        let mut best: Option<Split> = None;
        let columns = (0..self.columns.len()).filter(|column| *column != self.class);
        for column in columns {
            let found = self.values(rows, column);
            let least = best.as_ref().map_or(f64::INFINITY, |split| split.impurity);
            if let Some(split) = self.best_of(column, &found, least) {
                best = Some(split);
            }
        }
        best
    }

    fn values(&self, rows: &[u32], column: usize) -> ClassCounts {
        let (ranks, n) = (&self.columns[column].ranks, self.n_classes);
        let classes = &self.columns[self.class].ranks;
        let mut values: Vec<u32> =
            rows.iter().map(|row| ranks[*row as usize]).collect();
        values.sort_unstable();
        values.dedup();
        let mut place_of = vec![0u32; self.columns[column].values.len()];
        for (place, rank) in values.iter().zip(0..).map(|(rank, place)| (place, rank)) {
            place_of[*rank as usize] = place;
        }
        let mut counts = vec![0; values.len() * n];
        for row in rows {
            let place = place_of[ranks[*row as usize] as usize] as usize;
            counts[place * n + classes[*row as usize] as usize] += 1;
        }
        ClassCounts { values, counts }
    }

    /// The best question about a column, if it leaves less impurity than `least`.
    fn best_of(&self, column: usize, found: &ClassCounts, least: f64) -> Option<Split> {
        let n = self.n_classes;
        let n_values = found.values.len();
        let of = |place: usize| &found.counts[place * n..(place + 1) * n];
        let mut all = vec![0u64; n];
        (0..n_values).for_each(|place| add(&mut all, of(place)));
        let single = self.scales[column] == ColumnScale::Words && n > 2;
        let mut order: Vec<usize> = (0..n_values).collect();
        if self.scales[column] == ColumnScale::Words && n == 2 {
            // By the share of the second class, compared as fractions.
            let parts = |place: usize| {
                let counts = of(place);
                (u128::from(counts[1]), u128::from(counts[0] + counts[1]))
            };
            order.sort_by(|a, b| {
                let ((x, of_x), (y, of_y)) = (parts(*a), parts(*b));
                (x * of_y).cmp(&(y * of_x)).then(a.cmp(b))
            });
        }
        let mut with = vec![0u64; n];
        let mut best: Option<(usize, f64)> = None;
        // With two values, the second against the first is the first against the second.
        let n_tries =
            if single && n_values > 2 { n_values } else { n_values.max(1) - 1 };
        for (place, value) in order.iter().take(n_tries).enumerate() {
            if single {
                with.fill(0);
            }
            add(&mut with, of(*value));
            let without: Vec<u64> = all.iter().zip(&with).map(|(a, b)| a - b).collect();
            let smallest = with.iter().sum::<u64>().min(without.iter().sum());
            if smallest < self.growth.leaf.max(1) as u64 {
                continue;
            }
            let impurity = self.impurity(&with) + self.impurity(&without);
            if impurity < best.map_or(least, |(_, held)| held) {
                best = Some((place, impurity));
            }
        }
        let (place, impurity) = best?;
        let (mut yes, mut no): (Vec<u32>, Vec<u32>) = Default::default();
        for (number, value) in order.iter().enumerate() {
            let is_yes = if single { number == place } else { number <= place };
            if is_yes { &mut yes } else { &mut no }.push(found.values[*value]);
        }
        Some(Split { column, yes, no, impurity })
    }

    /// The impurity of rows times their number.
    fn impurity(&self, classes: &[u64]) -> f64 {
        let rows = classes.iter().sum::<u64>() as f64;
        let counts = classes.iter().filter(|n| **n > 0).map(|n| *n as f64);
        match self.growth.impurity {
            Impurity::Gini => rows - counts.map(|n| n * n / rows).sum::<f64>(),
            Impurity::Entropy => counts.map(|n| n * libm::log2(rows / n)).sum(),
        }
    }
}

fn add(sums: &mut [u64], more: &[u64]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

fn is_pure(classes: &[u64]) -> bool {
    classes.iter().filter(|rows| **rows > 0).count() < 2
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
