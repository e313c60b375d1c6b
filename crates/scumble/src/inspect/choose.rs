//! Which columns are proposed as quasi: a dozen at most.

use crate::inspect::hints::is_known;
use crate::inspect::{ColumnFindings, MOST_QUASI, Sureness};
use crate::table::{ColumnId, Role, Source};

/// So many columns are measured together.
const MOST_CANDIDATES: usize = 20;

/// The columns that may become quasi: first those known by name, then those with most values.
pub(super) fn candidates(source: &Source, columns: &[ColumnFindings]) -> Vec<ColumnId> {
    let mut quasi: Vec<ColumnId> =
        source.columns().filter(|at| columns[at.index()].role == Role::Quasi).collect();
    quasi.sort_by_key(|at| {
        let column = &columns[at.index()];
        (!is_known(&column.name), std::cmp::Reverse(column.distinct), *at)
    });
    quasi
}

/// Keeps a dozen, and drops the others: columns known by name before those in doubt, and of
/// both those that contribute most. `shares` are the contributions of the first candidates.
pub(super) fn choose(
    columns: &mut [ColumnFindings],
    candidates: &[ColumnId],
    shares: &[f64],
) -> Vec<ColumnId> {
    for (at, share) in candidates.iter().zip(shares) {
        columns[at.index()].contribution = Some(*share);
    }
    let mut order = candidates.to_vec();
    let key = |at: &ColumnId| {
        let column = &columns[at.index()];
        (is_known(&column.name), column.contribution.unwrap_or(-1.0))
    };
    order.sort_by(|a, b| {
        key(b).partial_cmp(&key(a)).unwrap_or(std::cmp::Ordering::Equal)
    });
    for at in order.iter().skip(MOST_QUASI) {
        let column = &mut columns[at.index()];
        column.role = Role::Drop;
        column.sure = Sureness::Guess;
        column.reason = format!(
            "in doubt, and {MOST_QUASI} quasi columns contribute more or are known facts"
        );
    }
    order.truncate(MOST_QUASI);
    order
}

/// The candidates whose contributions are measured.
pub(super) fn measured(candidates: &[ColumnId]) -> &[ColumnId] {
    &candidates[..candidates.len().min(MOST_CANDIDATES)]
}
