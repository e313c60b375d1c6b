//! Condensed numbers: rows of a group are drawn anew from its mean and covariance.
//!
//! # Guarantee
//! Groups have the sizes that are promised, and as many rows as the manifest says.
//!
//! # Limits
//! That rows were drawn and not copied cannot be seen from the files: means and covariances
//! are not published. Rows of a group are around its members, and a group far from all
//! others tells where its members are.
//!
//! # Cost
//! One look at the data.
//!
//! # Source
//! `aggarwal2004condensation`.

use crate::error::{Error, Result};
use crate::release::{GROUP_COLUMN, Seen};
use crate::watch::Watch;

/// The groups whose numbers were drawn anew.
#[derive(Debug)]
pub(crate) struct RedrawnGroups {
    /// The rows of each.
    pub(crate) sizes: Vec<u64>,
}

impl RedrawnGroups {
    /// Counts the rows of every group.
    pub(crate) fn read(seen: &Seen<'_>, watch: &dyn Watch) -> Result<Self> {
        let manifest = seen.manifest();
        let wrong = |what: String| Error::input(what).in_file(seen.name());
        let note = manifest.condensed().ok_or_else(|| {
            wrong("the manifest does not say which groups were condensed".to_owned())
        })?;
        let mut names = vec![GROUP_COLUMN];
        names.extend(note.exact.iter().map(String::as_str));
        let found = seen.count(&names, watch)?;
        let groups = found.dictionaries.into_iter().next();
        let sizes = groups.map(|texts| texts.rows).unwrap_or_default();
        if sizes.len() as u64 != note.groups {
            return Err(wrong(format!(
                "the manifest says {} groups, but there are {}",
                note.groups,
                sizes.len()
            )));
        }
        // As many different tuples of group and exact cells as groups: each has its own.
        if found.counts.rows.len() != sizes.len() {
            return Err(wrong(
                "rows of a group do not share their exact cells".to_owned(),
            ));
        }
        Ok(Self { sizes: sizes.into_vec() })
    }

    /// The rows of the smallest group.
    pub(crate) fn smallest(&self) -> u64 {
        self.sizes.iter().min().copied().unwrap_or(0)
    }

    /// How many rows are in groups of fewer than `k`.
    pub(crate) fn below(&self, k: f64) -> u64 {
        self.sizes.iter().filter(|size| (**size as f64) < k).sum()
    }

    /// How many rows cannot all be in groups as large as they ask for: groups of at least t rows
    /// must have room for all who ask for t or more, for every t.
    pub(crate) fn crowded(&self, wishes: &[f64], left_out: u64) -> u64 {
        let mut wishes = wishes.to_vec();
        wishes.sort_by(|a, b| b.total_cmp(a));
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let (mut group, mut room, mut worst) = (0, left_out, 0);
        for (asking, wish) in (1u64..).zip(&wishes) {
            while sizes.get(group).is_some_and(|size| *size as f64 >= *wish) {
                room += sizes[group];
                group += 1;
            }
            worst = worst.max(asking.saturating_sub(room));
        }
        worst
    }
}
