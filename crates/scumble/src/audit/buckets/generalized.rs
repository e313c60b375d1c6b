//! Background knowledge against a generalized release: rows with the same cells are a group,
//! the people who fit into it are known with all their quasi values, and the group's
//! sensitive values are published.

use crate::audit::buckets::background::Target;
use crate::audit::buckets::bound;
use crate::audit::buckets::original::{Original, codes_of};
use crate::audit::buckets::priors::{Priors, Texts, Values};
use crate::audit::buckets::view::Groups;
use crate::audit::covers::Covers;
use crate::audit::fits::{Knowledge as Known, fitting};
use crate::audit::homogeneity::commonest;
use crate::audit::original::no_column;
use crate::audit::view::View;
use crate::audit::{Attack, Knowledge};
use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::release::Manifest;
use crate::table::{Reading, Role};

/// A generalized release and the table it was made from.
#[derive(Debug, Clone, Copy)]
pub(in crate::audit) struct Release<'a> {
    pub(in crate::audit) manifest: &'a Manifest,
    pub(in crate::audit) view: &'a View,
    pub(in crate::audit) covers: &'a Covers,
    pub(in crate::audit) known: &'a Known<'a>,
    pub(in crate::audit) original: &'a Microdata,
}

/// Tries the attack on every sensitive column.
pub(in crate::audit) fn attack(
    release: Release<'_>,
    knowledge: &Knowledge,
) -> Result<Vec<Attack>> {
    let Release { manifest, view, original: table, .. } = release;
    if matches!(knowledge, Knowledge::Stated(_)) && view.sensitive.len() > 1 {
        return Err(Error::input(
            "what is known is about one sensitive column, but the release has several",
        )
        .with_hint("`--knowledge table` looks at each of them"));
    }
    let (members, left_aside) = members(release);
    let mut attacks = Vec::new();
    for (place, column) in view.sensitive.iter().enumerate() {
        let known = table.sensitive.iter();
        let sensitive = known.clone().position(|known| known.name == column.name);
        let sensitive = sensitive.ok_or_else(|| no_column("original", &column.name))?;
        let domain = &table.sensitive[sensitive].domain;
        let mut groups = Groups::new();
        let mut values = view.histogram(place);
        for (group, members) in members.iter().enumerate() {
            if let Some(members) = members {
                values.clear();
                view.add_to(group, place, &mut values);
                let mut present: Vec<(u32, u64)> = values.present().collect();
                present.sort_unstable();
                groups.push(members.iter().copied(), present);
            }
        }
        let codes = codes_of(&column.domain, domain);
        let original = Original::itself(table, sensitive, &codes);
        let priors = match knowledge {
            Knowledge::Table => original.by_single_columns(),
            Knowledge::Stated(stated) => {
                let reading = |name: &str| -> Reading {
                    let known = manifest.columns.iter().find(|c| c.name == name);
                    known.map_or_else(Reading::category, |column| column.reading())
                };
                let readings: Vec<Reading> =
                    table.quasi.iter().map(|column| reading(&column.name)).collect();
                let quasi = |name: &str| {
                    let mut columns = manifest.columns.iter();
                    columns.any(|c| c.name == name && c.role == Role::Quasi)
                };
                let texts = table.quasi.iter().zip(&table.census.quasi).zip(&readings);
                let texts = texts.map(|((column, codes), reading)| Texts {
                    name: &column.name,
                    reading,
                    texts: column.domain.texts(),
                    codes,
                });
                let texts: Vec<Texts<'_>> = texts.filter(|t| quasi(t.name)).collect();
                let reading = &reading(&column.name);
                let (published, table) = (&column.domain, Some(domain));
                let values = Values { reading, published, table };
                let sets = stated.sets.iter();
                sets.map(|set| Priors::stated(set, &texts, values))
                    .collect::<Result<_>>()?
            }
        };
        let blind = commonest(&view.whole(place));
        let target = Target {
            column: &column.name,
            groups: &groups,
            n_tuples: table.census.n_tuples(),
            n_values: column.domain.len(),
            blind: (blind.value, blind.support as f64 / view.rows.max(1) as f64),
            bound: bound(manifest),
            left_aside,
        };
        attacks.extend(target.attack(&priors, Some(&original)));
    }
    Ok(attacks)
}

/// A group's people: tuples, and how many have each.
type People = Vec<(u32, u64)>;

/// The people of each group, if it is certain who they are; also of how many groups it is
/// not.
fn members(release: Release<'_>) -> (Vec<Option<People>>, u64) {
    let Release { view, covers, known, .. } = release;
    let mut members: Vec<Option<People>> = vec![Some(Vec::new()); view.n_groups()];
    let mut fits = fitting(view, covers, known);
    fits.sort_unstable();
    for (tuple, groups) in fits {
        let n = known.people[tuple as usize];
        match groups.as_slice() {
            [group] => {
                if let Some(members) = &mut members[*group as usize] {
                    members.push((tuple, n));
                }
            }
            several => several.iter().for_each(|group| members[*group as usize] = None),
        }
    }
    for (members, size) in members.iter_mut().zip(&view.sizes) {
        let people = members.iter().flatten().map(|(_, n)| n).sum::<u64>();
        if people != *size {
            *members = None;
        }
    }
    let left_aside = members.iter().filter(|members| members.is_none()).count();
    (members, left_aside as u64)
}
