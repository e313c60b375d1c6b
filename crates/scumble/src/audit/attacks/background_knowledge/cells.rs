//! Background knowledge against a generalized release: rows with the same cells are a group,
//! the people who fit into it are known with all their quasi values, and the group's
//! sensitive values are published.

use crate::audit::apart::{
    ApartTruth, Groups, Priors, SensitiveTexts, TupleTexts, bound, codes_of, reading_of,
};
use crate::audit::attacks::background_knowledge::Target;
use crate::audit::attacks::homogeneity::commonest;
use crate::audit::case::Linked;
use crate::audit::cells::{CellClasses, fitting};
use crate::audit::given::sensitive_place;
use crate::audit::{Attacked, Case, Knowledge};
use crate::error::{Error, Result};
use crate::hierarchy::Column;
use crate::table::{Reading, Role};

/// Tries the attack on every sensitive column.
pub(super) fn attack(
    case: &Case<'_>,
    view: &CellClasses,
    linked: &Linked<'_>,
    knowledge: &Knowledge,
) -> Result<Vec<Attacked>> {
    let (manifest, table) = (case.manifest, linked.table);
    if matches!(knowledge, Knowledge::Stated(_)) && view.sensitive.len() > 1 {
        return Err(Error::input(
            "what is known is about one sensitive column, but the release has several",
        )
        .with_hint("`--knowledge table` looks at each of them"));
    }
    let (members, left_aside) = members(view, linked)?;
    let mut attacks = Vec::new();
    for published in view.columns() {
        let column = published.column();
        let sensitive = sensitive_place(table, &column.name)?;
        let domain = &table.sensitive[sensitive].domain;
        let mut groups = Groups::new();
        let values = published.each(|values| {
            let present = values.present().map(|(code, n)| (code.get(), n));
            present.collect::<Vec<_>>()
        });
        for (members, mut values) in members.iter().zip(values) {
            if let Some(members) = members {
                values.sort_unstable();
                groups.push(members.iter().copied(), values);
            }
        }
        let codes = codes_of(&column.domain, domain);
        let original = ApartTruth::itself(table, sensitive, &codes);
        let priors = match knowledge {
            Knowledge::Table => original.by_single_columns(),
            Knowledge::Stated(stated) => {
                let reading = |column: &Column| reading_of(manifest, &column.name);
                let readings: Vec<Reading> = table.quasi.iter().map(reading).collect();
                let quasi = |name: &str| {
                    manifest.column(name).is_some_and(|c| c.role == Role::Quasi)
                };
                let texts = table.quasi.iter().zip(&table.census.quasi).zip(&readings);
                let texts = texts.map(|((column, codes), reading)| TupleTexts {
                    name: &column.name,
                    reading,
                    texts: column.domain.texts(),
                    codes,
                });
                let texts: Vec<TupleTexts<'_>> =
                    texts.filter(|texts| quasi(texts.name)).collect();
                let reading = &reading_of(manifest, &column.name);
                let (published, table) = (&column.domain, Some(domain));
                let values = SensitiveTexts { reading, published, table };
                let sets = stated.sets.iter();
                sets.map(|set| Priors::stated(set, &texts, values))
                    .collect::<Result<_>>()?
            }
        };
        let blind = commonest(&published.whole());
        let target = Target {
            column: &column.name,
            groups: &groups,
            n_tuples: table.census.n_tuples(),
            n_values: column.domain.len(),
            blind: (blind.value, blind.support as f64 / view.rows.max(1) as f64),
            bound: bound(manifest, &column.name),
            left_aside,
            watch: case.watch,
        };
        attacks.extend(target.attack(&priors, Some(&original))?);
    }
    Ok(attacks)
}

/// A group's people: tuples, and how many have each.
type MemberCounts = Vec<(u32, u64)>;

/// The people of each group, if it is certain who they are; also of how many groups it is
/// not.
fn members(
    view: &CellClasses,
    linked: &Linked<'_>,
) -> Result<(Vec<Option<MemberCounts>>, u64)> {
    let Linked { covers, known, .. } = linked;
    let mut members: Vec<Option<MemberCounts>> =
        vec![Some(Vec::new()); view.n_groups()];
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
