//! Nodes below which nothing keeps the necessary promises, found fast.

use crate::method::full_domain::lattice::{LatticeNode, below};

/// Of the nodes that cover another, so many are compared.
const COMPARED: usize = 16;

/// Nodes where the necessary promises fail: all below them fail, too.
#[derive(Debug)]
pub(super) struct HopelessNodes {
    lowest: LatticeNode,
    nodes: Vec<LatticeNode>,
    // [column][level above the lowest], a bit for each node: whether it is as high.
    reaching: Vec<Vec<Vec<u64>>>,
}

impl HopelessNodes {
    pub(super) fn new(lowest: &LatticeNode, highest: &LatticeNode) -> Self {
        let levels = lowest.iter().zip(highest);
        let reaching = levels.map(|(low, high)| {
            vec![Vec::new(); usize::from(high.saturating_sub(*low)) + 1]
        });
        Self { lowest: lowest.clone(), nodes: Vec::new(), reaching: reaching.collect() }
    }

    pub(super) fn push(&mut self, node: LatticeNode) {
        let (word, bit) = (self.nodes.len() / 64, 1 << (self.nodes.len() % 64));
        for (column, level) in node.iter().enumerate() {
            for (place, bits) in self.reaching[column].iter_mut().enumerate() {
                bits.resize(word + 1, 0);
                if self.lowest[column] + place as u8 <= *level {
                    bits[word] |= bit;
                }
            }
        }
        self.nodes.push(node);
    }

    /// Whether a node lies at or below one of these.
    pub(super) fn cover(&self, node: &[u8]) -> bool {
        self.covering(node).next().is_some()
    }

    /// The node at or above `low` that leaves the fewest columns to raise, if nothing may be
    /// higher than `high`.
    pub(super) fn narrowest(&self, low: &[u8], high: &[u8]) -> Option<&LatticeNode> {
        let open = |node: &&LatticeNode| {
            node.iter().zip(high).filter(|(level, high)| level < high).count()
        };
        self.covering(low).take(COMPARED).min_by_key(open)
    }

    fn covering(&self, node: &[u8]) -> impl Iterator<Item = &LatticeNode> {
        let columns = node.iter().zip(&self.lowest).zip(&self.reaching);
        let rows: Vec<&[u64]> = columns
            .filter(|((level, lowest), _)| level > lowest)
            .map(|((level, lowest), bits)| &bits[usize::from(level - lowest)][..])
            .collect();
        let last = self.nodes.len().div_ceil(64);
        let all = move |word: usize| match self.nodes.len() - word * 64 {
            n @ 0..64 => (1 << n) - 1,
            _ => u64::MAX,
        };
        (0..last).flat_map(move |word| {
            let mut bits = all(word);
            for row in &rows {
                bits &= row[word];
                if bits == 0 {
                    break;
                }
            }
            std::iter::from_fn(move || {
                let place = bits.trailing_zeros() as usize;
                bits &= bits.checked_sub(1)?;
                Some(&self.nodes[word * 64 + place])
            })
        })
    }
}

/// Nodes where the necessary promises hold: so they do above.
#[derive(Debug, Default)]
pub(super) struct HopefulNodes {
    nodes: Vec<LatticeNode>,
}

impl HopefulNodes {
    pub(super) fn push(&mut self, node: LatticeNode) {
        self.nodes.retain(|known| !below(&node, known));
        self.nodes.push(node);
    }

    /// Whether one of these lies at or below a node.
    pub(super) fn support(&self, node: &[u8]) -> bool {
        self.nodes.iter().any(|fine| below(fine, node))
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn nodes_are_covered_as_comparing_all_says() {
        let rng = &mut ChaCha8Rng::seed_from_u64(21);
        let (lowest, highest) = (vec![0, 1, 0, 2], vec![3, 2, 5, 4]);
        let mut draw = || -> LatticeNode {
            let ends = lowest.iter().zip(&highest);
            ends.map(|(low, high)| rng.random_range(*low..=*high)).collect()
        };
        let mut hopeless = HopelessNodes::new(&lowest, &highest);
        let mut nodes: Vec<LatticeNode> = Vec::new();
        let mut covered = 0;
        for _ in 0..150 {
            let asked = draw();
            let all = || nodes.iter().filter(|node| below(&asked, node));
            assert_eq!(hopeless.cover(&asked), all().next().is_some());
            let found = hopeless.narrowest(&asked, &highest);
            assert_eq!(found.is_some(), all().next().is_some());
            covered += usize::from(found.is_some_and(|node| below(&asked, node)));
            let new = draw();
            hopeless.push(new.clone());
            nodes.push(new);
        }
        assert!((20..150).contains(&covered), "{covered}");
    }
}
