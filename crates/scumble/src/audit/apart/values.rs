//! A release of buckets as any reader sees it: who is in which group, and which values each
//! group has.

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::audit::cells::ValueColumn;
use crate::audit::given::in_cell_classes;
use crate::error::{Error, Result};
use crate::learn::Groups;
use crate::release::{Bucket, BucketsNote, Manifest, PublishedColumn, Seen, Treatment};
use crate::table::{Code, Id, Of, Reading, Role};
use crate::watch::Watch;

/// The rows and the values of each group.
#[derive(Debug)]
pub(crate) struct ApartValues {
    /// Published rows; at least one.
    pub(crate) rows: u64,
    /// The quasi columns, in the order of the manifest.
    pub(crate) quasi: Vec<QuasiColumn>,
    /// How many published rows have each distinct tuple of quasi values.
    pub(crate) tuples: Vec<u64>,
    /// The sensitive column.
    pub(crate) column: ValueColumn,
    /// Who and what is in each group.
    pub(crate) groups: Groups,
}

/// A quasi column, published as it was.
#[derive(Debug)]
pub(crate) struct QuasiColumn {
    /// Its name.
    pub(crate) name: String,
    /// How its texts are read.
    pub(crate) reading: Reading,
    /// The different texts.
    pub(crate) texts: Of<Code, Box<str>>,
    /// The text of each distinct tuple.
    pub(crate) codes: Vec<Code>,
}

impl ApartValues {
    /// Every column that stands apart.
    pub(crate) fn read_all(seen: &Seen<'_>, watch: &dyn Watch) -> Result<Vec<Self>> {
        let described = described(seen.manifest())?;
        let each = described.iter();
        each.map(|(note, column)| Self::read(seen, note, column, watch)).collect()
    }

    /// Counts both files, and checks that they fit each other and the manifest.
    fn read(
        seen: &Seen<'_>,
        note: &BucketsNote,
        sensitive: &PublishedColumn,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let manifest = seen.manifest();
        let quasi: Vec<&PublishedColumn> =
            manifest.columns.iter().filter(|column| in_cell_classes(column)).collect();
        let mut names = vec![&*note.told_by];
        names.extend(quasi.iter().map(|column| &*column.name));
        let found = seen.count(&names, watch)?;
        let buckets = seen.values(&note.file, watch)?;
        let mut dictionaries = found.dictionaries.into_iter().map(|found| found.texts);
        let names = dictionaries.next().unwrap_or_default();
        let bucket_of = matched(&names, &buckets, note, seen.name())?;

        let mut codes = found.counts.columns;
        let quasi_codes = codes.split_off(1);
        let (tuple_of, examples) = numbered(&quasi_codes, found.counts.rows.len());
        let mut tuples = vec![0; examples.len()];
        for (tuple, n) in tuple_of.iter().zip(&found.counts.rows) {
            tuples[*tuple as usize] += n;
        }
        let (column, values) = values(&buckets, sensitive, &note.file)?;
        let mut groups = Groups::new();
        let mut entry = 0;
        for (code, bucket) in names.ids().zip(bucket_of) {
            let start = entry;
            // Tuples are sorted, groups first.
            while codes[0].get(entry) == Some(&code) {
                entry += 1;
            }
            let rows = &found.counts.rows[start..entry];
            let values = &values[bucket];
            let counted =
                values.iter().try_fold(0u64, |sum, (_, n)| sum.checked_add(*n));
            if counted != Some(rows.iter().sum()) {
                return Err(Error::input(
                    "the values of a group are not as many as its rows",
                )
                .in_file(note.file.clone())
                .with_hint("the release was changed"));
            }
            let members = tuple_of[start..entry].iter().zip(rows);
            groups.push(members.map(|(t, n)| (*t, *n)), values.iter().copied());
        }
        let columns = quasi.into_iter().zip(dictionaries).zip(quasi_codes);
        let columns = columns.map(|((column, texts), codes)| QuasiColumn {
            name: column.name.clone(),
            reading: column.reading(),
            texts,
            codes: examples.iter().map(|entry| codes[*entry as usize]).collect(),
        });
        let quasi = columns.collect();
        Ok(Self { rows: found.n_rows, quasi, tuples, column, groups })
    }
}

/// The notes of a manifest, if they can be, each with its sensitive column.
fn described(manifest: &Manifest) -> Result<Vec<(BucketsNote, &PublishedColumn)>> {
    let malformed = |what: &str| {
        Error::input(format!("the manifest's `buckets` is malformed: {what}"))
            .with_hint("the release was changed")
    };
    let notes = manifest.buckets();
    let apart = manifest.columns.iter().filter(|c| c.treatment == Treatment::Apart);
    if notes.len() != apart.count() {
        return Err(malformed("it is not there"));
    }
    if manifest.weights().is_some() || manifest.sampled.is_some() {
        return Err(malformed(
            "rows in buckets are neither distributions nor a sample",
        ));
    }
    let mut files: Vec<&str> = notes.iter().map(|note| &*note.file).collect();
    files.sort_unstable();
    if files.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(malformed("two columns have their values in the same file"));
    }
    let described = notes.into_iter().map(|note| {
        let column = manifest.column(&note.column);
        let column = column.filter(|column| column.role == Role::Sensitive);
        let column =
            column.ok_or_else(|| malformed("`column` is not a sensitive column"))?;
        if note.file == manifest.data.file {
            return Err(malformed("the values are in the file of the rows"));
        }
        Ok((note, column))
    });
    described.collect()
}

/// For each group of the rows, its bucket. Groups are called 1, 2, 3 and so on.
fn matched(
    names: &[Box<str>],
    buckets: &[Bucket],
    note: &BucketsNote,
    file: &str,
) -> Result<Vec<usize>> {
    let wrong = |what: &str| {
        Error::input(what).in_file(file).with_hint("the release was changed")
    };
    if names.len() as u64 != note.groups || buckets.len() as u64 != note.groups {
        return Err(wrong(&format!(
            "the manifest says {} groups, but the rows have {} and the values {}",
            note.groups,
            names.len(),
            buckets.len()
        )));
    }
    let index: HashMap<&str, usize> = buckets
        .iter()
        .zip(0..)
        .map(|(bucket, place)| (&*bucket.group, place))
        .collect();
    let bucket = |name: &str| {
        let number = name.parse::<u64>().ok();
        let number = number.filter(|n| *n <= note.groups && n.to_string() == *name);
        number.filter(|number| *number > 0).and(index.get(name).copied())
    };
    names
        .iter()
        .map(|name| bucket(name))
        .collect::<Option<_>>()
        .ok_or_else(|| wrong("the groups of the rows are not those of the values"))
}

/// Values by their codes, and how many rows have each.
type ValueCounts = Vec<(u32, u64)>;

/// The sensitive column, and the values of each bucket.
fn values(
    buckets: &[Bucket],
    sensitive: &PublishedColumn,
    file: &str,
) -> Result<(ValueColumn, Vec<ValueCounts>)> {
    let mut texts: Vec<Box<str>> = buckets
        .iter()
        .flat_map(|bucket| bucket.values.iter().map(|(text, _)| text.clone()))
        .collect();
    texts.par_sort_unstable();
    texts.dedup();
    let (column, codes) = ValueColumn::of(sensitive, &texts, file)?;
    let index: HashMap<&str, u32> =
        texts.iter().zip(&codes).map(|(text, code)| (&**text, code.get())).collect();
    let mut values = Vec::with_capacity(buckets.len());
    for bucket in buckets {
        let known = bucket.values.iter();
        let mut codes: ValueCounts = known
            .filter_map(|(text, n)| Some((index.get(&**text).copied()?, *n)))
            .collect();
        codes.sort_unstable();
        if codes.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::input("a group has two lines for the same value")
                .in_file(file.to_owned()));
        }
        values.push(codes);
    }
    Ok((column, values))
}

/// Numbers the distinct tuples of codes: the number of each entry, and an entry of each
/// number.
pub(crate) fn numbered<I: Id + Ord>(
    columns: &[Vec<I>],
    n_entries: usize,
) -> (Vec<u32>, Vec<u32>) {
    let mut keys = vec![0u128; n_entries];
    let mut room = u128::MAX;
    for codes in columns {
        let size = codes.iter().max().map_or(1, |most| u128::from(most.get()) + 1);
        if room / size == 0 {
            let (numbers, examples) = ranked(&keys);
            keys = numbers.into_iter().map(u128::from).collect();
            room = u128::MAX / (examples.len() as u128).max(1);
        }
        room /= size;
        for (key, code) in keys.iter_mut().zip(codes) {
            *key = *key * size + u128::from(code.get());
        }
    }
    ranked(&keys)
}

fn ranked(keys: &[u128]) -> (Vec<u32>, Vec<u32>) {
    let mut sorted: Vec<(u128, u32)> = keys.iter().copied().zip(0u32..).collect();
    sorted.par_sort_unstable();
    let mut numbers = vec![0; keys.len()];
    let mut examples: Vec<u32> = Vec::new();
    let mut last = None;
    for (key, entry) in sorted {
        if last != Some(key) {
            examples.push(entry);
            last = Some(key);
        }
        numbers[entry as usize] = examples.len() as u32 - 1;
    }
    (numbers, examples)
}
