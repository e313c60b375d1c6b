//! Losses that add up over cells, known from the columns alone.

use crate::hierarchy::Cover;
use crate::loss::{CellLoss, scale};
use crate::method::GroupingTask;
use crate::method::full_domain::groups::LevelMaps;
use crate::method::full_domain::judge::Scratch;
use crate::method::full_domain::lattice::LatticeNode;
use crate::method::full_domain::tuples::MergedTuples;
use crate::table::{NodeId, Of};

/// For losses that add up over cells, when cells are nodes: what each node costs, and how
/// many rows it has. The loss of any lattice node is then a sum over columns.
#[derive(Debug)]
pub(super) struct NodeCosts {
    // [column][level][node]
    cells: Vec<Vec<Vec<f64>>>,
    rows: Vec<Vec<Of<NodeId, u64>>>,
    // [column][level], weighted, without offset.
    sums: Vec<Vec<f64>>,
    // [column][level], the dearest cell that has rows, weighted.
    dearest: Vec<Vec<f64>>,
    left_out: Vec<f64>,
    offset: f64,
    weights: Vec<f64>,
    scale: f64,
}

impl NodeCosts {
    pub(super) fn of(task: &GroupingTask<'_>, loss: &dyn CellLoss) -> Self {
        let mut costs = Self {
            cells: Vec::new(),
            rows: Vec::new(),
            sums: Vec::new(),
            dearest: Vec::new(),
            left_out: Vec::new(),
            offset: 0.0,
            weights: Vec::new(),
            scale: scale(loss, task.columns, task.census.n_rows()),
        };
        for column in task.columns {
            let (mut cells, mut rows) = (Vec::new(), Vec::new());
            for (level, shape) in column.hierarchy.levels().iter().enumerate() {
                let cost = |node| loss.cell(column, &Cover::Node { level, node });
                cells.push(shape.nodes.ids().map(cost).collect::<Vec<f64>>());
                let mut n = Of::repeat(0, shape.nodes.len());
                for (node, code_rows) in shape.node_of.iter().zip(&column.rows) {
                    n[*node] += code_rows;
                }
                rows.push(n);
            }
            let priced = || cells.iter().zip(&rows);
            costs.sums.push(
                priced()
                    .map(|(cells, rows)| column.weight * dot(cells, rows))
                    .collect(),
            );
            costs.dearest.push(
                priced()
                    .map(|(cells, rows)| {
                        let used = cells.iter().zip(rows).filter(|(_, n)| **n > 0);
                        column.weight * used.map(|(cost, _)| *cost).fold(0.0, f64::max)
                    })
                    .collect(),
            );
            costs.left_out.push(column.weight * loss.left_out(column));
            costs.offset += column.weight * loss.offset(column);
            costs.weights.push(column.weight);
            costs.cells.push(cells);
            costs.rows.push(rows);
        }
        costs
    }

    pub(super) fn bound(&self, node: &[u8]) -> f64 {
        let sum: f64 = node
            .iter()
            .zip(&self.sums)
            .map(|(level, sums)| sums[usize::from(*level)])
            .sum();
        (sum - self.offset) * self.scale
    }

    /// What one level more costs in a column.
    pub(super) fn step(&self, column: usize, level: usize) -> f64 {
        self.sums[column][level + 1] - self.sums[column][level]
    }

    pub(super) fn per_left_out(&self, node: &[u8]) -> f64 {
        let saved: f64 = node
            .iter()
            .zip(&self.dearest)
            .map(|(level, dearest)| dearest[usize::from(*level)])
            .sum();
        let paid: f64 = self.left_out.iter().sum();
        (paid - saved).max(0.0) * self.scale
    }

    /// Rows are counted per node in whole numbers first, so the sum does not depend on the
    /// order of groups.
    pub(super) fn total(
        &self,
        ladder: &LevelMaps,
        tuples: &MergedTuples,
        node: &LatticeNode,
        scratch: &Scratch,
    ) -> f64 {
        let failing = || {
            let sized = scratch.groups.first.iter().zip(&scratch.groups.sizes);
            sized
                .zip(&scratch.fails)
                .filter(|(_, fails)| **fails)
                .map(|(sized, _)| sized)
        };
        let left_out: u64 = failing().map(|(_, rows)| *rows).sum();
        if left_out == 0 {
            return self.bound(node);
        }
        let mut sum = 0.0;
        for (column, level) in node.iter().enumerate() {
            let mut rows = self.rows[column][usize::from(*level)].clone();
            let map = ladder.map(column, tuples.at[column], *level);
            for (tuple, n) in failing() {
                rows[map[tuples.nodes[column].node(*tuple)]] -= n;
            }
            let cells = &self.cells[column][usize::from(*level)];
            sum += self.weights[column] * dot(cells, &rows);
            sum += self.left_out[column] * left_out as f64;
        }
        (sum - self.offset) * self.scale
    }
}

fn dot(cells: &[f64], rows: &[u64]) -> f64 {
    cells.iter().zip(rows).map(|(cost, n)| cost * *n as f64).sum()
}
