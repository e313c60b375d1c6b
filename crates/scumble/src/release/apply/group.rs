//! Groups, ready for rows.

use std::sync::Arc;

use crate::error::Result;
use crate::method::{BoundGroups, FoundGroup, GroupPlan};
use crate::release::apply::{Binding, Hand, ReadColumns, changed};
use crate::table::{ClassId, GroupId, Of};

/// Groups, ready for rows.
pub(super) struct BoundGroup<'a> {
    pub(super) bound: BoundGroups<'a>,
    pub(super) inputs: Vec<usize>,
    pub(super) cells: Of<GroupId, Option<Arc<GroupCells>>>,
    /// What is published of the groups of each number.
    pub(super) by_number: Of<ClassId, Arc<GroupCells>>,
    /// For each number of a group, a key that puts rows in the order of groups.
    pub(super) keys: Of<ClassId, u64>,
}

/// What is published of a group.
#[derive(Debug)]
pub(in crate::release) struct GroupCells {
    /// Which it is in the plan, if it is there.
    pub(super) group: Option<GroupId>,
    pub(super) number: Option<ClassId>,
    pub(super) texts: Vec<String>,
    pub(super) rows: u64,
}

impl<'a> BoundGroup<'a> {
    pub(super) fn new(
        plan: &'a GroupPlan,
        step: usize,
        binding: Binding<'a>,
        inputs: &mut ReadColumns,
    ) -> Result<Self> {
        let known = binding.known(step);
        let bound = match (known.data, known.covers) {
            (Some(data), Some(covers)) => {
                plan.bind_at_home(&data.quasi, &data.codes, covers)?
            }
            _ => {
                let texts = plan.columns.iter().map(|column| {
                    let known = binding.texts(&column.name).unwrap_or_default();
                    known.into_iter().map(|(raw, _)| raw).collect()
                });
                plan.bind(texts.collect::<Vec<Vec<&str>>>())?
            }
        };
        let cells = bound.group_texts().into_iter().zip(plan.groups.pairs());
        let cells = cells.map(|(texts, (group, planned))| {
            let (group, number, rows) = (Some(group), planned.number, planned.rows);
            texts.map(|texts| Arc::new(GroupCells { group, number, texts, rows }))
        });
        let cells: Of<GroupId, _> = cells.collect();
        let n_numbers = plan.groups.iter().filter_map(|group| group.number).max();
        let n_classes = n_numbers.map_or(0, |last| last.next().index());
        let mut rows: Of<ClassId, u64> = Of::repeat(0, n_classes);
        let mut firsts: Of<ClassId, Option<Arc<_>>> = Of::repeat(None, n_classes);
        for (group, cells) in plan.groups.iter().zip(&cells) {
            if let (Some(number), Some(cells)) = (group.number, cells) {
                rows[number] += group.rows;
                firsts[number].get_or_insert(cells.clone());
            }
        }
        let by_number = firsts.into_iter().flatten().collect();
        // About as many rows between keys as in groups, so that portions are alike.
        let step = u64::MAX / rows.iter().sum::<u64>().max(1);
        let mut before = 0;
        let key = |rows: u64| {
            before += rows;
            (before - rows) * step
        };
        let keys = rows.into_iter().map(key).collect();
        let places = plan.columns.iter();
        let places = places.map(|column| inputs.named(binding.source, &column.name));
        let inputs = places.collect::<Result<_>>()?;
        Ok(Self { bound, inputs, cells, by_number, keys })
    }

    /// What is published of the group of a row; nothing if it is left out.
    pub(super) fn find(
        &self,
        step: usize,
        hand: &mut Hand,
        cells: &[&str],
    ) -> Result<Option<Arc<GroupCells>>> {
        hand.codes.clear();
        for (column, input) in self.inputs.iter().enumerate() {
            let code = self.bound.code(column, cells[*input]);
            hand.codes.push(code.ok_or_else(changed)?);
        }
        // The key is cloned for new tuples only.
        let key = (step, std::mem::take(&mut hand.codes));
        if let Some(found) = hand.known.get(&key) {
            let found = found.clone();
            hand.codes = key.1;
            return Ok(found);
        }
        let found = self.bound.find(&key.1).and_then(|found| match found {
            FoundGroup::Planned(group) => self.cells[group].clone(),
            FoundGroup::New(covers) => Some(Arc::new(GroupCells {
                group: None,
                number: None,
                texts: self.bound.texts(&covers),
                rows: 0,
            })),
        });
        hand.known.insert(key, found.clone());
        Ok(found)
    }
}
