//! Presence: who of the population is in the table.
//!
//! The adversary holds the population with all its quasi values. A person fits the group
//! whose every cell contains their values; of the N people who fit a group of n rows, n
//! are in the table, and nothing in the group tells which. People who fit no group are one
//! group to a reader, and the rows that were left out are spread over them. Where people have
//! several rows, n is how many people these are of, which the original tells: somebody who
//! does not know it, but that the promise is kept, believes a mean of what it may be.
//!
//! # Guarantee
//! If no person fits two groups, the presence of everybody is the exact share of worlds
//! with them in the table, all tables that give these groups being equally likely; it is
//! compared with the range in whole numbers, or with a margin for rounding. Nobody is
//! forgotten: people in groups that were not published count, and so do cells that were
//! taken from the rows of the table alone, since then fewer people fit.
//!
//! # Limits
//! If somebody fits two groups, the number of worlds is not a matter of one group at a
//! time: the promise then counts as broken, and the attack takes the sum of the shares.
//! How many rows were left out is believed of the manifest, and so is what weights say of the
//! table; only somebody who has the table can refute it, and then the audit does.
//! Knowing how the release was searched for helps a little: see `reversal`. Weights of pdf
//! cells may say more: see `counting`.
//!
//! # Cost
//! A way through a trie of the groups for each distinct tuple of the population, or one
//! lookup if no value is in two cells of a column.
//!
//! # Source
//! `nergiz2007presence`, section 3; docs/methods.md, "delta-presence".

use crate::audit::cells::counting;
use crate::audit::cells::{
    CellClasses, CountedPresence, People, Share, Shares, Whose, existence,
};
use crate::audit::checks::delta_presence::WeightReader;
use crate::error::Result;

/// The presence of everybody in the eyes of each adversary.
#[derive(Debug)]
pub(crate) struct PresenceShares {
    /// To somebody who looks at cells alone.
    pub(crate) plain: Shares,
    /// To somebody who counts weights, if there are any.
    pub(crate) counted: Option<CountedPresence>,
    /// To somebody who takes shifted weights for likelihoods, if there are any.
    likely: Option<Shares>,
}

impl PresenceShares {
    pub(crate) fn of(view: &CellClasses, people: &People<'_>) -> Result<Self> {
        let mut presence = Self { plain: plain(people), counted: None, likely: None };
        if let Some(weights) = &view.weights {
            let bound = weights.bind(&view.quasi, &people.columns);
            presence.counted = Some(counting::count(view, people, weights, &bound));
            if weights.whose.iter().flatten().any(|whose| *whose == Whose::Shifted) {
                presence.likely = Some(existence::shares(view, people, &bound));
            }
        }
        people.known.watch.check()?;
        Ok(presence)
    }

    /// In the eyes of the one that was promised against.
    pub(crate) fn seen_by(&self, reader: WeightReader) -> &Shares {
        match (reader, &self.likely, &self.counted) {
            (WeightReader::Paper, Some(likely), _) => likely,
            (_, _, Some(counted)) => &counted.shares,
            _ => &self.plain,
        }
    }
}

/// What cells alone tell: those of a group who are in the table, spread over the people who
/// fit it.
fn plain(people: &People<'_>) -> Shares {
    let groups = people.inside.of_group.iter().zip(&people.of_group);
    let shares = groups.map(|(inside, n)| Share::of(*inside, *n));
    let others = Share::of(people.inside.left_out, people.unpublished);
    Shares::by_group(people, shares.chain([others]).collect())
}
