//! Background knowledge against a generalized release: rows with the same cells are a group,
//! the people who fit into it are known with all their quasi values, and the group's
//! sensitive values are published.

use crate::audit::Knowledge;
use crate::audit::apart::bound;
use crate::audit::apart::priors::{Priors, Texts, Values};
use crate::audit::apart::truth::{ApartTruth, codes_of};
use crate::audit::apart::values::Groups;
use crate::audit::attacks::background_knowledge::Target;
use crate::audit::attacks::homogeneity::commonest;
use crate::audit::cells::classes::CellClasses;
use crate::audit::cells::fits::fitting;
use crate::audit::given::no_column;
use crate::audit::held::Linked;
use crate::audit::{Attacked, Views};
use crate::error::{Error, Result};
use crate::release::Manifest;
use crate::table::{Reading, Role};

/// Tries the attack on every sensitive column.
pub(super) fn attack(
    views: &Views<'_>,
    view: &CellClasses,
    linked: &Linked<'_>,
    knowledge: &Knowledge,
) -> Result<Vec<Attacked>> {
    let (manifest, table): (&Manifest, _) = (views.manifest, linked.table);
    if matches!(knowledge, Knowledge::Stated(_)) && view.sensitive.len() > 1 {
        return Err(Error::input(
            "what is known is about one sensitive column, but the release has several",
        )
        .with_hint("`--knowledge table` looks at each of them"));
    }
    let (members, left_aside) = members(view, linked)?;
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
                let present = values.present().map(|(code, n)| (code.get(), n));
                let mut present: Vec<(u32, u64)> = present.collect();
                present.sort_unstable();
                groups.push(members.iter().copied(), present);
            }
        }
        let codes = codes_of(&column.domain, domain);
        let original = ApartTruth::itself(table, sensitive, &codes);
        let priors = match knowledge {
            Knowledge::Table => original.by_single_columns(),
            Knowledge::Stated(stated) => {
                let reading = |name: &str| -> Reading {
                    let known = manifest.column(name);
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
            watch: views.watch,
        };
        attacks.extend(target.attack(&priors, Some(&original))?);
    }
    Ok(attacks)
}

/// A group's people: tuples, and how many have each.
type People = Vec<(u32, u64)>;

/// The people of each group, if it is certain who they are; also of how many groups it is
/// not.
fn members(
    view: &CellClasses,
    linked: &Linked<'_>,
) -> Result<(Vec<Option<People>>, u64)> {
    let Linked { covers, known, .. } = linked;
    let mut members: Vec<Option<People>> = vec![Some(Vec::new()); view.n_groups()];
    let mut fits = fitting(view, covers, known)?;
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
    Ok((members, left_aside as u64))
}
