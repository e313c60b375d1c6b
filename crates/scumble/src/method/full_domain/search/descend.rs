//! Making the best node better, without proof.

use super::LatticeSearch;
use crate::error::Result;
use crate::method::full_domain::ScratchPool;
use crate::method::full_domain::lattice::LatticeNode;

impl LatticeSearch<'_> {
    /// Makes the best node better, one column lower at a time; or one higher and others
    /// lower, if nothing else helps.
    pub(super) fn improve(&mut self, pool: &ScratchPool<'_>) -> Result<()> {
        let Some((_, mut node)) = self.best.clone() else { return Ok(()) };
        loop {
            node = self.descend(node, pool)?;
            let better = self.exchange(&node, pool)?;
            match better {
                Some(better) if !self.is_spent() => node = better,
                _ => return Ok(()),
            }
        }
    }

    /// Lowers the column that saves most, again and again.
    fn descend(
        &mut self,
        mut node: LatticeNode,
        pool: &ScratchPool<'_>,
    ) -> Result<LatticeNode> {
        loop {
            let lower = self.lower(&node, None);
            let Some((loss, best)) = self.best_of(lower, pool)? else {
                return Ok(node);
            };
            match self.looked.get(&node) {
                Some(Some(own)) if loss >= *own => return Ok(node),
                _ => node = best,
            }
        }
    }

    /// A better node with one column higher and another lower.
    fn exchange(
        &mut self,
        node: &LatticeNode,
        pool: &ScratchPool<'_>,
    ) -> Result<Option<LatticeNode>> {
        let own = self.looked.get(node).copied().flatten();
        for column in 0..node.len() {
            if node[column] >= self.highest[column] || self.is_spent() {
                continue;
            }
            let mut higher = node.clone();
            higher[column] += 1;
            let found = self.best_of(self.lower(&higher, Some(column)), pool)?;
            if let Some((loss, best)) = found
                && own.is_none_or(|own| loss < own)
            {
                return Ok(Some(best));
            }
        }
        Ok(None)
    }

    /// The nodes one level lower in one column, unless they are known to fail or to be
    /// worse than the best.
    fn lower(&self, node: &LatticeNode, but: Option<usize>) -> Vec<LatticeNode> {
        let columns = (0..node.len()).filter(|column| {
            node[*column] > self.facts.lowest[*column] && Some(*column) != but
        });
        let lower = columns.map(|column| {
            let mut lower = node.clone();
            lower[column] -= 1;
            lower
        });
        lower
            .filter(|node| {
                !self.beaten(self.judge.bound(node, 0)) && !self.hopeless.cover(node)
            })
            .collect()
    }

    /// The best of some nodes that is allowed, with its loss.
    fn best_of(
        &mut self,
        nodes: Vec<LatticeNode>,
        pool: &ScratchPool<'_>,
    ) -> Result<Option<(f64, LatticeNode)>> {
        let new = |node: &&LatticeNode| !self.looked.contains_key(*node);
        let unknown: Vec<LatticeNode> = nodes.iter().filter(new).cloned().collect();
        self.look_at(unknown, pool)?;
        let allowed = nodes.into_iter().filter_map(|node| {
            let loss = self.looked.get(&node).copied().flatten()?;
            Some((loss, node))
        });
        Ok(allowed.min_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1))))
    }
}
