//! Groups, ready for rows.

use std::sync::Arc;

use crate::error::Result;
use crate::method::{BoundGroups, FoundGroup, GroupPlan};
use crate::release::apply::{Binding, Hand, Inputs, changed};

/// Groups, ready for rows.
pub(super) struct BoundGroup<'a> {
    pub(super) bound: BoundGroups<'a>,
    pub(super) inputs: Vec<usize>,
    pub(super) cells: Vec<Option<Arc<GroupCells>>>,
    /// What is published of the groups of each number.
    pub(super) by_number: Vec<Arc<GroupCells>>,
    /// For each number of a group, a key that puts rows in the order of groups.
    pub(super) keys: Vec<u64>,
}

/// What is published of a group.
#[derive(Debug)]
pub(in crate::release) struct GroupCells {
    /// Its place in the plan.
    pub(super) place: usize,
    pub(super) number: Option<u32>,
    pub(super) texts: Vec<String>,
    pub(super) rows: u64,
}

impl<'a> BoundGroup<'a> {
    pub(super) fn new(
        plan: &'a GroupPlan,
        binding: Binding<'a>,
        inputs: &mut Inputs,
    ) -> Result<Self> {
        let bound = match (binding.data, binding.covers) {
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
        let cells = bound.group_texts().into_iter().zip(&plan.groups);
        let cells = cells.enumerate().map(|(place, (texts, group))| {
            let (number, rows) = (group.number, group.rows);
            texts.map(|texts| Arc::new(GroupCells { place, number, texts, rows }))
        });
        let cells: Vec<_> = cells.collect();
        let n_numbers = plan.groups.iter().filter_map(|group| group.number).max();
        let mut rows = vec![0u64; n_numbers.map_or(0, |last| last as usize + 1)];
        let mut firsts: Vec<Option<Arc<GroupCells>>> = vec![None; rows.len()];
        for (group, cells) in plan.groups.iter().zip(&cells) {
            if let (Some(number), Some(cells)) = (group.number, cells) {
                rows[number as usize] += group.rows;
                firsts[number as usize].get_or_insert(cells.clone());
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
                place: usize::MAX,
                number: None,
                texts: self.bound.texts(&covers),
                rows: 0,
            })),
        });
        hand.known.insert(key, found.clone());
        Ok(found)
    }
}
