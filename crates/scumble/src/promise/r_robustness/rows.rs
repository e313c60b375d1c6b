//! r-robustness of a column whose values stay in the rows.
//!
//! # Guarantee
//! Rows of a group have the same cells, and each its own value. Somebody who knows the quasi
//! values of everybody in the group, and by some quasi columns how likely each value is, does
//! not know whose row is whose: the worlds are all arrangements of the group's values over its
//! people. A group is said to hold only if no posterior is above 1/r for any of the sets of
//! columns, over all worlds.
//!
//! # Limits
//! It does not survive merging. A group with too many worlds, of which no bound does, counts as
//! failing, though it may be safe.
//!
//! # Cost
//! The entries of the group are sorted; then that of `worlds.rs` for each set of columns.
//!
//! # Source
//! `wong2010inference`, for groups of cells; docs/methods.md, "Robust groups of cells".

use crate::promise::r_robustness::{
    GroupBeliefs, Priors, RRobustness, Scratch, SignatureId,
};
use crate::table::{Census, Code, TupleId};

/// The promise of one sensitive column, and what its adversary believes.
#[derive(Debug, Clone, Copy)]
pub struct RobustRows<'a> {
    /// The promise.
    pub robustness: &'a RRobustness,
    /// What is believed before, by each set of columns.
    pub priors: &'a Priors,
    /// The place of the column among the sensitive ones.
    pub column: usize,
}

impl RobustRows<'_> {
    /// Whether it holds of the rows of some tuples as one group; of no rows it does.
    pub fn hold(&self, census: &Census, tuples: &[TupleId]) -> bool {
        let values = &census.sensitive[self.column];
        let entries = tuples.iter().flat_map(|tuple| census.entries_of(*tuple));
        let counted = entries.map(|entry| (values[entry], census.entries[entry]));
        let counted = added_up(counted.collect());
        if counted.is_empty() {
            return true;
        }
        let mut scratch = Scratch::default();
        let (codes, counts): (Vec<Code>, Vec<u64>) = counted.into_iter().unzip();
        let mut group = GroupBeliefs { counts, ..GroupBeliefs::default() };
        self.priors.sets.iter().all(|set| {
            let kinds =
                tuples.iter().map(|tuple| (set.of_tuple[*tuple], census.rows[*tuple]));
            let kinds: Vec<(SignatureId, u64)> = added_up(kinds.collect());
            group.sizes.clear();
            group.sizes.extend(kinds.iter().map(|(_, n)| *n));
            group.priors.clear();
            for (signature, _) in kinds {
                let shares = set.of_signature(signature);
                group.priors.extend(codes.iter().map(|code| shares[code.index()]));
            }
            self.robustness.judge_counts(&group, &mut scratch).holds
        })
    }

    /// How many rows can hardly be hidden.
    pub fn hopeless(&self, census: &Census) -> u64 {
        self.robustness.hopeless(self.priors, census)
    }
}

/// Each key once, ascending, with its numbers added up; none with zero.
fn added_up<K: Ord>(mut pairs: Vec<(K, u64)>) -> Vec<(K, u64)> {
    pairs.retain(|(_, n)| *n > 0);
    pairs.sort_unstable();
    pairs.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    pairs
}
