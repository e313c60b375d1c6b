//! Parts of the lattice that are still in question.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::method::full_domain::lattice::height;

/// The nodes from one up to another.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Region {
    /// No release at any of these nodes costs less.
    pub(super) bound: f64,
    height: u32,
    // The lowest node, then the highest.
    ends: Box<[u8]>,
}

impl Region {
    pub(super) fn new(bound: f64, low: &[u8], high: &[u8]) -> Self {
        let ends = low.iter().chain(high).copied().collect();
        Self { bound, height: height(low), ends }
    }

    pub(super) fn low(&self) -> &[u8] {
        &self.ends[..self.ends.len() / 2]
    }

    pub(super) fn high(&self) -> &[u8] {
        &self.ends[self.ends.len() / 2..]
    }

    /// Whether it is one node.
    pub(super) fn is_node(&self) -> bool {
        self.low() == self.high()
    }

    /// The region's nodes that are higher than `node` in some column, in regions that have
    /// none in common. `node` is at or above its lowest node.
    pub(super) fn beyond(
        &self,
        node: &[u8],
        bound: impl Fn(&[u8]) -> f64,
        mut each: impl FnMut(Self),
    ) {
        let (mut low, mut high) = (self.low().to_vec(), self.high().to_vec());
        for (column, level) in node.iter().enumerate() {
            if *level >= high[column] {
                continue;
            }
            let (own_low, own_high) = (low[column], high[column]);
            low[column] = *level + 1;
            each(Self::new(self.bound.max(bound(&low)), &low, &high));
            // The others are at most as high as the node here.
            (low[column], high[column]) = (own_low, (*level).min(own_high));
        }
    }
}

impl Eq for Region {}

impl Ord for Region {
    /// The one that is taken first is the greatest: of the least bound, then of the least
    /// height, then the first in order.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_bound = other.bound.total_cmp(&self.bound);
        by_bound
            .then_with(|| other.height.cmp(&self.height))
            .then_with(|| other.ends.cmp(&self.ends))
    }
}

impl PartialOrd for Region {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Regions in the order of their bounds.
pub(super) type OpenRegions = BinaryHeap<Region>;
