//! Values that stay in the rows, seen as groups of people whose values are known: rows with
//! the same cells are a group, and who fits into it is known with all quasi values.

use crate::audit::apart::{ApartTruth, Groups, TupleTexts, codes_of, reading_of};
use crate::audit::case::Linked;
use crate::audit::cells::{CellClasses, ValueColumn, fitting};
use crate::audit::given::sensitive_place;
use crate::audit::grouped::GroupedValues;
use crate::error::Result;
use crate::release::Manifest;
use crate::table::{Reading, Role};

/// A group's people: tuples, and how many have each.
type MemberCounts = Vec<(u32, u64)>;

/// The people of each group, if it is certain who they are.
#[derive(Debug)]
pub(crate) struct RowMembers {
    members: Vec<Option<MemberCounts>>,
    /// Of how many groups it is not.
    pub(crate) left_aside: u64,
    /// How many rows these have.
    pub(crate) rows_aside: u64,
}

impl RowMembers {
    /// Exactly as many people fit a group as it has rows, and nobody of them any other.
    pub(crate) fn of(view: &CellClasses, linked: &Linked<'_>) -> Result<Self> {
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
                several => {
                    several.iter().for_each(|group| members[*group as usize] = None)
                }
            }
        }
        let (mut left_aside, mut rows_aside) = (0, 0);
        for (members, size) in members.iter_mut().zip(&view.sizes) {
            let people = members.iter().flatten().map(|(_, n)| n).sum::<u64>();
            if people != *size {
                *members = None;
            }
            if members.is_none() {
                left_aside += 1;
                rows_aside += size;
            }
        }
        Ok(Self { members, left_aside, rows_aside })
    }
}

/// A sensitive column by groups whose people are certain.
#[derive(Debug)]
pub(crate) struct RowGroups<'a> {
    /// Who and what is in each group.
    pub(crate) groups: Groups,
    /// The table.
    pub(crate) truth: ApartTruth<'a>,
    pub(super) column: &'a ValueColumn,
    // How each quasi column of the table is read, if it is published.
    readings: Vec<Option<Reading>>,
}

impl<'a> RowGroups<'a> {
    /// The groups of a column.
    pub(crate) fn of(
        manifest: &Manifest,
        published: GroupedValues<'a>,
        linked: &Linked<'a>,
        members: &RowMembers,
    ) -> Result<Self> {
        let (column, table) = (published.column(), linked.table);
        let sensitive = sensitive_place(table, &column.name)?;
        let mut groups = Groups::new();
        let values = published.each(|values| {
            let present = values.present().map(|(code, n)| (code.get(), n));
            present.collect::<Vec<_>>()
        });
        for (members, mut values) in members.members.iter().zip(values) {
            if let Some(members) = members {
                values.sort_unstable();
                groups.push(members.iter().copied(), values);
            }
        }
        let codes = codes_of(&column.domain, &table.sensitive[sensitive].domain);
        let truth = ApartTruth::itself(table, sensitive, &codes);
        let reading = |name: &str| {
            let quasi = manifest.column(name).is_some_and(|c| c.role == Role::Quasi);
            quasi.then(|| reading_of(manifest, name))
        };
        let readings = table.quasi.iter().map(|column| reading(&column.name)).collect();
        Ok(Self { groups, truth, column, readings })
    }

    /// The quasi columns of the table as texts.
    pub(crate) fn texts(&self) -> Vec<TupleTexts<'_>> {
        let table = self.truth.table;
        let columns = table.quasi.iter().zip(&table.census.quasi).zip(&self.readings);
        let texts = columns.filter_map(|((column, codes), reading)| {
            let texts = column.domain.texts();
            let reading = reading.as_ref()?;
            Some(TupleTexts { name: &column.name, reading, texts, codes })
        });
        texts.collect()
    }
}
