//! Sensitive values by group, in a file of their own.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::release::{Class, GROUP_COLUMN, Parameters, Release};
use crate::watch::{Quiet, Watch};

/// The file's name.
pub const SENSITIVE_FILE: &str = "sensitive.csv";

/// Its columns.
pub(crate) const SENSITIVE_HEADER: [&str; 3] = [GROUP_COLUMN, "value", "count"];

/// Where sensitive values are, if rows only say which group they are in: the data then has
/// a first column `group`, and not the sensitive one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketsNote {
    /// The file with the values of each group.
    pub file: String,
    /// The sensitive column they belong to.
    pub column: String,
    /// How many groups there are.
    pub groups: u64,
}

impl BucketsNote {
    /// The groups.
    pub fn class(self) -> Class {
        let Self { file, column, groups } = self;
        let parameters = Parameters::Values { file, groups };
        Class { column: Some(GROUP_COLUMN.to_owned()), of: vec![column], parameters }
    }
}

/// The values of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// What the group is called in the data.
    pub group: Box<str>,
    /// Values, each once, and how many rows of the group have each, in the order of the
    /// file.
    pub values: Vec<(Box<str>, u64)>,
}

impl Release {
    /// The values of each group, if they are apart. Groups and their values are each there
    /// once, and counts are above zero; whether they fit the rows is not checked here.
    pub fn buckets(&self, watch: &dyn Watch) -> Result<Option<Vec<Bucket>>> {
        let Some(note) = self.manifest.buckets() else { return Ok(None) };
        let source = self.table(&note.file, Some(b','))?;
        let wrong = |what: &str| Error::input(what).in_file(source.name());
        if source.header() != SENSITIVE_HEADER {
            return Err(wrong("the columns are not `group,value,count`"));
        }
        let read = source.fold(
            &source.columns().collect::<Vec<_>>(),
            Vec::new,
            |lines: &mut Vec<(_, Box<str>, Box<str>, u64)>, spot, cells| {
                let count = cells[2].parse().ok().filter(|count| *count > 0);
                let count = count.ok_or_else(|| {
                    Error::input("a count is not a whole number from 1 on")
                })?;
                lines.push((spot, cells[0].into(), cells[1].into(), count));
                Ok(())
            },
            &Quiet(watch),
        )?;
        let mut lines: Vec<_> = read.states.into_iter().flatten().collect();
        lines.sort_unstable_by_key(|(spot, ..)| *spot);
        let mut index: HashMap<Box<str>, usize> = HashMap::new();
        let mut buckets: Vec<Bucket> = Vec::new();
        for (_, group, value, count) in lines {
            let number = *index.entry(group).or_insert_with_key(|group| {
                buckets.push(Bucket { group: group.clone(), values: Vec::new() });
                buckets.len() - 1
            });
            buckets[number].values.push((value, count));
        }
        for bucket in &buckets {
            let mut values: Vec<&str> =
                bucket.values.iter().map(|(v, _)| &**v).collect();
            values.sort_unstable();
            if values.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(wrong("a group has two lines for the same value"));
            }
        }
        Ok(Some(buckets))
    }
}
