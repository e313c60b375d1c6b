//! The nodes of tuples, in as few bytes as they need.

use crate::table::{NodeId, Of, TupleId};

/// The node of every tuple in one column.
#[derive(Debug, Clone)]
pub(super) enum NodeCodes {
    /// At most 256 nodes.
    Narrow(Vec<u8>),
    /// At most 65,536.
    Middle(Vec<u16>),
    /// More.
    Wide(Vec<u32>),
}

/// The share of a key that each node stands for.
#[derive(Debug)]
pub(super) enum KeyShares {
    /// With a place for every code of one byte, so that none can lie outside.
    Narrow(Box<[u64; 256]>),
    /// As many as there are nodes.
    Wide(Of<NodeId, u64>),
}

impl NodeCodes {
    /// The nodes of tuples in order, of a level that has `n_nodes`.
    pub(super) fn of(n_nodes: usize, nodes: impl Iterator<Item = NodeId>) -> Self {
        match n_nodes {
            0..=0x100 => Self::Narrow(nodes.map(|node| node.get() as u8).collect()),
            0x101..=0x1_0000 => {
                Self::Middle(nodes.map(|node| node.get() as u16).collect())
            }
            _ => Self::Wide(nodes.map(NodeId::get).collect()),
        }
    }

    /// The node of a tuple.
    pub(super) fn node(&self, tuple: TupleId) -> NodeId {
        let place = tuple.index();
        NodeId::new(match self {
            Self::Narrow(codes) => u32::from(codes[place]),
            Self::Middle(codes) => u32::from(codes[place]),
            Self::Wide(codes) => codes[place],
        })
    }

    /// What each node adds to a key, if `share` says so of its node on a coarser level.
    pub(super) fn shares(
        &self,
        map: &Of<NodeId, NodeId>,
        share: impl Fn(NodeId) -> u64,
    ) -> KeyShares {
        match self {
            Self::Narrow(_) => {
                let mut shares = Box::new([0; 256]);
                for (place, node) in shares.iter_mut().zip(map) {
                    *place = share(*node);
                }
                KeyShares::Narrow(shares)
            }
            _ => KeyShares::Wide(map.iter().map(|node| share(*node)).collect()),
        }
    }

    /// Adds the shares of the tuples from `start` on to their keys.
    pub(super) fn add(&self, shares: &KeyShares, start: usize, keys: &mut [u64]) {
        let end = start + keys.len();
        match (self, shares) {
            (Self::Narrow(codes), KeyShares::Narrow(shares)) => {
                for (key, code) in keys.iter_mut().zip(&codes[start..end]) {
                    *key += shares[usize::from(*code)];
                }
            }
            (Self::Middle(codes), KeyShares::Wide(shares)) => {
                for (key, code) in keys.iter_mut().zip(&codes[start..end]) {
                    *key += shares[NodeId::new(u32::from(*code))];
                }
            }
            (Self::Wide(codes), KeyShares::Wide(shares)) => {
                for (key, code) in keys.iter_mut().zip(&codes[start..end]) {
                    *key += shares[NodeId::new(*code)];
                }
            }
            // Shares are made by `shares`, of the same codes.
            (Self::Narrow(_), KeyShares::Wide(_))
            | (Self::Middle(_) | Self::Wide(_), KeyShares::Narrow(_)) => {
                unreachable!("shares of other codes")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_every_width_say_the_same() {
        for n_nodes in [3, 256, 257, 65_536, 65_537] {
            let nodes: Vec<u32> = (0..500u32).map(|i| (i * 7_919) % n_nodes).collect();
            let each = || nodes.iter().map(|node| NodeId::new(*node));
            let codes = NodeCodes::of(n_nodes as usize, each());
            let map: Of<NodeId, NodeId> =
                (0..n_nodes).map(|node| NodeId::new(node / 2)).collect();
            let shares = codes.shares(&map, |node| u64::from(node.get()) * 5);
            let mut keys = vec![1; 100];
            codes.add(&shares, 300, &mut keys);
            for (place, key) in keys.iter().enumerate() {
                let node = nodes[300 + place];
                assert_eq!(*key, 1 + u64::from(node / 2) * 5);
                assert_eq!(codes.node(TupleId::new(300 + place as u32)).get(), node);
            }
        }
    }
}
