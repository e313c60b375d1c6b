//! The rearranging phase: orders that put groups with the same values side by side.

use std::cmp::Reverse;

use sprs::CsMat;
use sprs::linalg::ordering::{
    cuthill_mckee_custom, order, reverse_cuthill_mckee, start,
};

use super::Entries;

/// The name of the order in which the balancing phase made the groups.
pub(super) const AS_FORMED: &str = "as formed";

/// At most this many chains are followed.
const MOST_CHAINS: usize = 16;

/// Orders to compare, by name. The reverse of an order has the same runs, so that it never
/// needs to be compared.
pub(super) fn orders(groups: &[Entries]) -> Vec<(&'static str, Vec<usize>)> {
    let n_groups = groups.len();
    let shared = shared_values(groups);
    let mut found = vec![(AS_FORMED, (0..n_groups).collect())];
    if n_groups < 3 {
        return found;
    }
    let graph = graph(&shared);
    found.push((
        "reverse Cuthill-McKee",
        reverse_cuthill_mckee(graph.view()).perm.vec(),
    ));
    found.push((
        "Cuthill-McKee from the least degree",
        cuthill_mckee_custom(
            graph.view(),
            start::MinimumDegree(),
            order::Forward::new(),
        )
        .perm
        .vec(),
    ));
    let mut by_size: Vec<usize> = (0..n_groups).collect();
    let size = |at: &usize| groups[*at].iter().map(|(_, rows)| rows).sum::<u64>();
    by_size.sort_by_key(|at| Reverse(size(at)));
    found.push(("by size", by_size));
    let step = n_groups.div_ceil(MOST_CHAINS);
    for first in (0..n_groups).step_by(step) {
        found.push(("chain of similar groups", chain(first, groups, &shared)));
    }
    found
}

/// For each two groups, how many values they share.
fn shared_values(groups: &[Entries]) -> Vec<Vec<usize>> {
    let size = groups.iter().flatten().map(|(at, _)| at + 1).max().unwrap_or(0);
    let mut shared = vec![vec![0; groups.len()]; groups.len()];
    let mut holds = vec![false; size];
    for (place, group) in groups.iter().enumerate() {
        group.iter().for_each(|(at, _)| holds[*at] = true);
        for (other, entries) in groups.iter().enumerate() {
            shared[place][other] = entries.iter().filter(|(at, _)| holds[*at]).count();
        }
        group.iter().for_each(|(at, _)| holds[*at] = false);
    }
    shared
}

/// Where A Aᵀ is not 0, A being the matrix of groups and values.
fn graph(shared: &[Vec<usize>]) -> CsMat<u8> {
    let (mut starts, mut neighbours) = (vec![0], Vec::new());
    for row in shared {
        neighbours.extend((0..row.len()).filter(|other| row[*other] > 0));
        starts.push(neighbours.len());
    }
    let ones = vec![1; neighbours.len()];
    CsMat::new((shared.len(), shared.len()), starts, neighbours, ones)
}

/// From `first` on, always the group that shares the largest part of its values with the
/// last.
fn chain(first: usize, groups: &[Entries], shared: &[Vec<usize>]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..groups.len()).filter(|at| *at != first).collect();
    let mut order = vec![first];
    let mut last = first;
    while !left.is_empty() {
        let mut best = 0;
        // The part is shared / (all - shared), compared without dividing.
        let part = |at: usize| {
            let both = shared[last][at];
            (both, groups[last].len() + groups[at].len() - both)
        };
        for place in 1..left.len() {
            let ((a, b), (c, d)) = (part(left[place]), part(left[best]));
            if a * d > c * b {
                best = place;
            }
        }
        last = left.remove(best);
        order.push(last);
    }
    order
}
