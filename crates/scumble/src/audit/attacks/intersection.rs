//! Intersection: what groups of several releases have in common.
//!
//! Somebody who knows everybody's quasi values finds a person's group in each release. The
//! person's value is in all of them, and whoever stands with the person in all of them shares
//! what they have in common.
//!
//! # Guarantee
//! A value that is not in all groups is not the person's; where one is left, it is certain.
//! Beliefs are shares of all arrangements of values that give these groups their counts, the
//! other people of each group being free (see `belief`): the same group twice tells what it
//! tells once, and of groups that have one person in common the shares are multiplied. A
//! group that holds all people of another one tells nothing beside it.
//!
//! # Limits
//! The other people of the groups stand in groups, too, which is not followed: more may be
//! certain than is found, and beliefs from three releases and more are too sure where groups
//! have other people in common, too (`believed` stands beside `success`). Where people fit several groups of a release, these are mixed.
//! A release of another table is used as far as people of this one fit its groups: they may
//! not be in it, so nothing is certain by it unless its groups are just full. Columns are
//! looked at one by one. With `person`, rows are linked one by one, and everybody counts by
//! the row about which most is known.
//!
//! # Cost
//! One pass over the table for each release, and one for each column; for each set of groups
//! that people share, people times values.
//!
//! # Source
//! `ganta2008composition`; docs/methods.md, "Audit and attacks".

mod belief;
mod met;
mod seen;
mod sighted;

use crate::audit::apart;
use crate::audit::attacks::intersection::met::Met;
use crate::audit::attacks::intersection::sighted::{Sighted, ValueIndex};
use crate::audit::attacks::{Attack, Stopped};
use crate::audit::checks::{k_anonymity, l_diversity};
use crate::audit::given::Original;
use crate::audit::views::Views;
use crate::audit::{Attacked, Case};
use crate::error::Result;
use crate::release::{Manifest, Release};
use crate::table::{Role, Source};
use crate::watch::Watch;

/// Puts releases of the same people together; alone a release cannot be.
#[derive(Debug)]
pub struct Intersection;

impl Attack for Intersection {
    fn name(&self) -> &'static str {
        "intersection"
    }

    fn attempt(&self, _: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        Err("no other release of the same people was given".into())
    }
}

/// Nobody in a release.
const NOWHERE: u32 = u32::MAX;

/// Attacks people who are in several releases, in each sensitive column that at least two of
/// them show by group, and scores the guesses by the table of the first; nothing if there is
/// no such column.
pub(super) fn intersection(
    releases: &[&Release],
    original: &Source,
    watch: &dyn Watch,
) -> Result<Vec<Attacked>> {
    let views = releases.iter().map(|release| Views::open(release, watch));
    let views: Vec<Views<'_>> = views.collect::<Result<_>>()?;
    let read = |views: &Views<'_>| Original::read(original, views.manifest, watch);
    let originals: Vec<Original<'_>> = views.iter().map(read).collect::<Result<_>>()?;
    let mut names: Vec<&str> = Vec::new();
    for column in views.iter().flat_map(|views| &views.manifest.columns) {
        if column.role == Role::Sensitive && !names.contains(&&*column.name) {
            names.push(&column.name);
        }
    }
    let mut attacks = Vec::new();
    for name in names {
        let mut index = ValueIndex::new();
        let (mut sighted, mut manifests) = (Vec::new(), Vec::new());
        for (views, original) in views.iter().zip(&originals) {
            let Some(table) = original.counted.as_deref() else { continue };
            if let Some(found) = Sighted::of(views, table, name, &mut index)? {
                sighted.push(found);
                manifests.push(views.manifest);
            }
        }
        if sighted.len() < 2 {
            continue;
        }
        let met = Met::read(&sighted, &manifests, name, &mut index, original, watch)?;
        let asked = AskedTogether::of(&manifests, name);
        attacks.push(met.score(&sighted, &asked, name, watch)?);
    }
    Ok(attacks)
}

/// What the releases promise of a column, the strictest of each.
struct AskedTogether {
    /// 1/l or 1/r, where a share is promised.
    bound: Option<f64>,
    /// How many values there are at least.
    l: Option<u64>,
    k: Option<u64>,
}

impl AskedTogether {
    fn of(manifests: &[&Manifest], column: &str) -> Self {
        let bounds = manifests.iter().filter_map(|m| apart::bound(m, column));
        let diverse = |manifest: &&Manifest| {
            let notes = manifest.promises.iter();
            let about = |name: &String| name == column;
            let own = notes.filter(|note| note.columns.iter().any(about));
            own.filter_map(|note| Some(l_diversity::asked(note).ok()?.parts())).max()
        };
        Self {
            bound: bounds.reduce(f64::min),
            l: manifests.iter().filter_map(diverse).max(),
            k: manifests.iter().filter_map(|m| k_anonymity::first(m)).max(),
        }
    }
}
