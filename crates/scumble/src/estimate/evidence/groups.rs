//! The groups of a release whose sensitive values stand in a file of their own.

use std::sync::OnceLock;

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::estimate::evidence::taught::Taught;
use crate::estimate::evidence::{Column, Nature, coded};
use crate::estimate::laws::MOST_ROWS;
use crate::release::{Bucket, Parameters, PublishedColumn, Seen, Treatment};
use crate::watch::Watch;

/// Which rows and which values each group has.
#[derive(Debug)]
pub(crate) struct GroupMembers {
    /// The place of the sensitive column.
    pub(crate) sensitive: usize,
    /// The group of each distinct row.
    pub(crate) group_of: Vec<u32>,
    /// The distinct rows of each group.
    entries: Lists,
    /// Values and how many rows have each, group by group.
    values: Vec<(u32, u64)>,
    /// Where each group begins there.
    value_starts: Vec<usize>,
    /// How many rows each group has.
    sizes: Vec<u64>,
    /// What the groups teach of themselves, once it was asked for.
    pub(crate) taught: OnceLock<Option<Taught>>,
}

/// How many rows a group has, which distinct rows, and which values how often.
pub(crate) type ValueGroup<'g> = (u64, &'g [u32], &'g [(u32, u64)]);

impl GroupMembers {
    /// Reads the values of every column that stands apart, and adds these columns to those of
    /// the data.
    pub(crate) fn read_all(
        seen: &Seen<'_>,
        columns: &mut Vec<Column>,
        rows: &[u64],
        watch: &dyn Watch,
    ) -> Result<Vec<Self>> {
        let layout = seen.manifest().layout();
        let apart = layout.columns.iter().filter(|c| c.treatment == Treatment::Apart);
        apart.map(|listed| Self::read(seen, listed, columns, rows, watch)).collect()
    }

    fn read(
        seen: &Seen<'_>,
        listed: &PublishedColumn,
        columns: &mut Vec<Column>,
        rows: &[u64],
        watch: &dyn Watch,
    ) -> Result<Self> {
        let layout = seen.manifest().layout();
        let nowhere = || Error::input("values stand apart, but nowhere");
        let class = layout.class(&listed.name).ok_or_else(nowhere)?;
        let Parameters::Values { file, .. } = &class.parameters else {
            return Err(nowhere());
        };
        let buckets = seen.values(file, watch)?;
        let wrong = |what: String| Error::input(what).in_file(file.as_str());
        let told = |column: &&Column| class.column.as_ref() == Some(&column.name);
        let groups = columns.iter().find(told).ok_or_else(|| {
            wrong("no column of the rows tells the groups".to_owned())
        })?;
        let mut sizes = vec![0; groups.texts.len()];
        for (code, n) in groups.codes.iter().zip(rows) {
            sizes[*code as usize] += n;
        }
        let bucket_of = by_group(groups, &buckets)
            .ok_or_else(|| wrong("a group has values, but no rows".to_owned()))?;

        let all = buckets.iter().flat_map(|bucket| &bucket.values);
        let (texts, codes) = coded(all.map(|(text, _)| &**text), &listed.reading());
        let (mut values, mut value_starts) = (Vec::new(), vec![0]);
        for (bucket, size) in bucket_of.iter().zip(&sizes) {
            let bucket = bucket
                .ok_or_else(|| wrong("a group has rows, but no values".to_owned()))?;
            let total =
                bucket.values.iter().try_fold(0u64, |sum, (_, n)| sum.checked_add(*n));
            if total != Some(*size) {
                return Err(wrong("a group has not as many values as rows".to_owned()));
            }
            if *size > MOST_ROWS {
                return Err(wrong(format!("a group has more than {MOST_ROWS} rows")));
            }
            let coded = bucket.values.iter().map(|(text, n)| (codes[&**text], *n));
            let mut coded: Vec<(u32, u64)> = coded.collect();
            coded.sort_unstable();
            // Two texts can mean the same number.
            coded.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0 };
                same
            });
            values.extend(coded);
            value_starts.push(values.len());
        }

        let entries = Lists::of(&groups.codes, sizes.len());
        let group_of = groups.codes.clone();
        let column = Column::new(listed, texts, Vec::new(), Nature::Apart);
        columns.push(Column { shared: false, ..column });
        let sensitive = columns.len() - 1;
        let taught = OnceLock::new();
        Ok(Self { sensitive, group_of, entries, values, value_starts, sizes, taught })
    }

    /// How many rows a group has, and its values with how many rows have each.
    pub(crate) fn values(&self, group: u32) -> (u64, &[(u32, u64)]) {
        let group = group as usize;
        let values = self.value_starts[group]..self.value_starts[group + 1];
        (self.sizes[group], &self.values[values])
    }

    /// How many groups there are.
    pub(crate) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The groups.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ValueGroup<'_>> {
        self.sizes.iter().enumerate().map(|(group, size)| {
            let values = self.value_starts[group]..self.value_starts[group + 1];
            (*size, self.entries.of_list(group), &self.values[values])
        })
    }
}

/// Things that are in one list each, one list after the other.
#[derive(Debug)]
pub(crate) struct Lists {
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Lists {
    /// The numbers of things, in order, by the list that each is in.
    pub(crate) fn of(list_of: &[u32], n_lists: usize) -> Self {
        let mut starts = vec![0; n_lists + 1];
        list_of.iter().for_each(|list| starts[*list as usize + 1] += 1);
        for list in 0..n_lists {
            starts[list + 1] += starts[list];
        }
        let (mut next, mut items) = (starts.clone(), vec![0; list_of.len()]);
        for (item, list) in (0..).zip(list_of) {
            items[next[*list as usize]] = item;
            next[*list as usize] += 1;
        }
        Self { starts, items }
    }

    pub(crate) fn of_list(&self, list: usize) -> &[u32] {
        &self.items[self.starts[list]..self.starts[list + 1]]
    }
}

/// The values of each group of the rows; nothing if there are values of another.
fn by_group<'a>(
    groups: &Column,
    buckets: &'a [Bucket],
) -> Option<Vec<Option<&'a Bucket>>> {
    let names = groups.texts.iter().enumerate();
    let numbers: HashMap<&str, usize> = names.map(|(n, text)| (&**text, n)).collect();
    let mut found = vec![None; groups.texts.len()];
    for bucket in buckets {
        found[*numbers.get(&*bucket.group)?] = Some(bucket);
    }
    Some(found)
}
