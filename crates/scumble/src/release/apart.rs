//! Sensitive values by group, in a file of their own.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::release::{Class, GROUP_COLUMN, Parameters, Release};
use crate::watch::{Quiet, Watch};

/// The file's name, if one column stands apart.
pub const SENSITIVE_FILE: &str = "sensitive.csv";

/// Its columns.
pub(crate) const SENSITIVE_HEADER: [&str; 3] = [GROUP_COLUMN, "value", "count"];

/// Where sensitive values are, if rows only say which group they are in: the data then has
/// a column that tells the group, `group` if one column stands apart, and not the sensitive
/// one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketsNote {
    /// The file with the values of each group.
    pub file: String,
    /// The sensitive column they belong to.
    pub column: String,
    /// The column of the data that tells the group of a row.
    pub told_by: String,
    /// How many groups there are.
    pub groups: u64,
}

impl BucketsNote {
    /// The groups.
    pub fn class(self) -> Class {
        let Self { file, column, told_by, groups } = self;
        let parameters = Parameters::Values { file, groups };
        Class { column: Some(told_by), of: vec![column], parameters }
    }

    /// The groups of a column that alone stands apart.
    pub fn alone(column: String, groups: u64) -> Self {
        let (file, told_by) = (SENSITIVE_FILE.to_owned(), GROUP_COLUMN.to_owned());
        Self { file, column, told_by, groups }
    }
}

/// Names groups and files by their columns, if several columns stand apart: each has groups of
/// its own, so that what is published of one says nothing of the groups of another.
///
/// A file is called by its column if any system can have a file of that name beside the
/// others, else by the column's place among those that stand apart.
pub fn name_apart(classes: &mut [Class]) {
    let apart =
        |class: &&mut Class| matches!(class.parameters, Parameters::Values { .. });
    let apart: Vec<&mut Class> = classes.iter_mut().filter(apart).collect();
    if apart.len() < 2 {
        return;
    }
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    for (place, class) in (1..).zip(apart) {
        let (Parameters::Values { file, .. }, [name]) =
            (&mut class.parameters, class.of.as_slice())
        else {
            continue;
        };
        *file = match !name.is_empty() && name.len() <= 64 && name.chars().all(plain) {
            true => format!("sensitive-{name}.csv"),
            false => format!("sensitive-column-{place}.csv"),
        };
        class.column = Some(format!("{name}.{GROUP_COLUMN}"));
    }
}

/// Whether a file may have the values of one of several columns that stand apart.
pub(super) fn is_apart_file(name: &str) -> bool {
    name.starts_with("sensitive-") && name.ends_with(".csv")
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
    /// The values of each group of a column that stands apart, from its file. Groups and
    /// their values are each there once, and counts are above zero; whether they fit the rows
    /// is not checked here.
    pub fn buckets(&self, file: &str, watch: &dyn Watch) -> Result<Vec<Bucket>> {
        let source = self.table(file, Some(b','))?;
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
        Ok(buckets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_columns_have_names_of_their_own_and_one_keeps_the_plain_ones() {
        let class = |name: &str| BucketsNote::alone(name.to_owned(), 3).class();
        let named = |mut classes: Vec<Class>| {
            name_apart(&mut classes);
            let names = classes.into_iter().map(|class| match class.parameters {
                Parameters::Values { file, .. } => (class.column, file),
                _ => (class.column, String::new()),
            });
            names.collect::<Vec<_>>()
        };
        let pair = |column: &str, file: &str| (Some(column.into()), file.to_owned());
        assert_eq!(named(vec![class("ward")]), [pair("group", "sensitive.csv")]);
        assert_eq!(
            named(vec![class("ward"), class("Ward"), class("a/b"), class("column-2")]),
            [
                pair("ward.group", "sensitive-ward.csv"),
                pair("Ward.group", "sensitive-column-2.csv"),
                pair("a/b.group", "sensitive-column-3.csv"),
                pair("column-2.group", "sensitive-column-4.csv"),
            ]
        );
    }
}
