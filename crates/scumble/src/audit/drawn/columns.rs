//! Randomized columns as any reader sees them: domains, matrices, and how often each value
//! was published.
//!
//! Only the randomized columns are read, and those that tell the sub-table of a row or how
//! many rows it stands for: quasi columns are published as they are, and counting them
//! would cost much and tell nothing.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use crate::audit::cells::published_reading;
use crate::audit::drawn::Matrix;
use crate::audit::given::canonical_number;
use crate::error::{Error, Result};
use crate::hierarchy::Ranges;
use crate::release::{
    BoundNote, ConditionNote, Manifest, PerturbationNote, PublishedColumn, Seen,
    SubtableNote, Treatment,
};
use crate::table::{ColumnId, Reading, Role, Source};
use crate::watch::Watch;

/// A randomized column, or several as one.
#[derive(Debug)]
pub(crate) struct DrawnColumn {
    /// The names of its columns.
    pub(crate) names: Vec<String>,
    /// Whether the manifest says that beliefs move neither up nor down.
    pub(crate) both: bool,
    /// Whether the same person gets the same draw in every release.
    pub(crate) keyed: bool,
    /// Whether a person's rows with the same value were drawn as one.
    pub(crate) by_person: bool,
    /// The column that tells the sub-table.
    pub(crate) subtable_column: Option<String>,
    /// All values of all sub-tables, ascending.
    pub(crate) values: Vec<Vec<String>>,
    /// The sub-tables.
    pub(crate) tables: Vec<Subtable>,
    /// The column that tells the sub-table of a row by what is in it, if one does.
    pub(crate) condition: Option<Condition>,
    index: HashMap<Vec<String>, usize>,
    readings: Vec<ValueReading>,
}

/// A column, published as it is, that says by which matrix a row was drawn.
#[derive(Debug)]
pub(crate) struct Condition {
    /// Its name.
    pub(crate) column: String,
    reading: Reading,
    tables: HashMap<String, usize>,
    others: Option<usize>,
}

impl Condition {
    /// What the sub-tables of a column say.
    fn of(manifest: &Manifest, note: &PerturbationNote) -> Result<Option<Self>> {
        let notes = note.subtables.iter().filter_map(|table| table.condition.as_ref());
        let notes: Vec<&ConditionNote> = notes.collect();
        let Some(first) = notes.first() else { return Ok(None) };
        let same = notes.iter().all(|note| note.column == first.column);
        if !same || notes.len() < note.subtables.len() {
            return Err(malformed("sub-tables depend on different columns"));
        }
        let column = manifest.column(&first.column);
        let kept = column.filter(|column| column.treatment == Treatment::Kept);
        let column = kept.ok_or_else(|| {
            malformed("sub-tables depend on a column that is not published as it is")
        })?;
        let reading = published_reading(column);
        let (mut tables, mut others) = (HashMap::new(), None);
        for (place, note) in notes.iter().enumerate() {
            let before = match &note.value {
                None => others.replace(place),
                Some(text) => {
                    let text = canonical(&reading, text);
                    let text =
                        text.ok_or_else(|| malformed("a value is not of its type"))?;
                    tables.insert(text, place)
                }
            };
            if before.is_some() {
                return Err(malformed("two sub-tables are for the same rows"));
            }
        }
        Ok(Some(Self { column: column.name.clone(), reading, tables, others }))
    }

    /// The sub-table of rows with this text.
    fn table_of(&self, text: &str) -> Option<usize> {
        let text = canonical(&self.reading, text)?;
        self.tables.get(&text).copied().or(self.others)
    }
}

/// How the texts of a randomized column are read.
#[derive(Debug)]
struct ValueReading {
    reading: Reading,
    /// The ranges that stand for its numbers, if they were randomized as ranges.
    ranges: Option<Ranges>,
}

/// Rows that were randomized within one domain.
#[derive(Debug)]
pub(crate) struct Subtable {
    /// How many rows.
    pub(crate) rows: u64,
    /// The domain, as places among all values.
    pub(crate) values: Vec<usize>,
    /// What is promised of each value.
    pub(crate) bounds: Vec<Option<BoundNote>>,
    /// How values are published.
    pub(crate) matrix: Matrix,
    /// How many rows were published with each value.
    pub(crate) published: Vec<u64>,
    places: HashMap<usize, usize>,
}

/// Counts the published values of every randomized column. Of a `sample` the manifest may
/// count the rows it was drawn from.
pub(crate) fn read(
    seen: &Seen<'_>,
    sample: Option<&[(u64, u64)]>,
    watch: &dyn Watch,
) -> Result<Vec<DrawnColumn>> {
    let mut columns = drawn_columns(seen.manifest())?;
    let behind = sample.map(|sizes| sizes.iter().map(|(size, rows)| size * rows).sum());
    for column in &mut columns {
        column.count(seen, watch)?;
        let fits = column.tables.iter().all(|table| {
            let published: u64 = table.published.iter().sum();
            published == table.rows
                || (column.tables.len() == 1 && behind == Some(table.rows))
        });
        if !fits {
            return Err(Error::input(
                "a sub-table does not have as many rows as the manifest says",
            )
            .in_file(seen.name()));
        }
    }
    Ok(columns)
}

/// The randomized columns of a manifest, with nothing counted yet.
pub(crate) fn drawn_columns(manifest: &Manifest) -> Result<Vec<DrawnColumn>> {
    let columns: Vec<DrawnColumn> = manifest
        .perturbation()
        .iter()
        .map(|note| DrawnColumn::of(manifest, note))
        .collect::<Result<_>>()?;
    let mut names = BTreeSet::new();
    if !columns.iter().flat_map(|column| &column.names).all(|name| names.insert(name)) {
        return Err(malformed("a column is randomized twice"));
    }
    Ok(columns)
}

impl DrawnColumn {
    fn of(manifest: &Manifest, note: &PerturbationNote) -> Result<Self> {
        let known = |name: &String| {
            let found = manifest.column(name);
            found.ok_or_else(|| malformed("it names a column that is not published"))
        };
        let columns: Vec<&PublishedColumn> =
            note.columns.iter().map(known).collect::<Result<_>>()?;
        if columns.is_empty() || columns.iter().any(|c| c.role != Role::Sensitive) {
            return Err(malformed("it must name sensitive columns"));
        }
        let is_second = |key: &str, word: &str, words: [&str; 2]| {
            let place = words.iter().position(|known| *known == word);
            place.map(|place| place == 1).ok_or_else(|| {
                malformed(&format!(
                    "`{key}` is neither `{}` nor `{}`",
                    words[0], words[1]
                ))
            })
        };
        let both = is_second("breaches", &note.breaches, ["upward", "both"])?;
        let keyed = is_second("noise", &note.noise, ["fresh", "keyed"])?;
        if note.subtables.is_empty()
            || (note.subtables.len() > 1 && note.subtable_column.is_none())
        {
            return Err(malformed("rows do not tell their sub-table"));
        }
        let reading = |column: &&PublishedColumn| {
            let (reading, ranges) = (published_reading(column), column.ranges()?);
            Ok(ValueReading { reading, ranges })
        };
        let readings: Vec<ValueReading> =
            columns.iter().map(reading).collect::<Result<_>>()?;
        let domains: Vec<Vec<Vec<String>>> = note
            .subtables
            .iter()
            .map(|table| domain(table, &readings))
            .collect::<Result<_>>()?;
        let values: BTreeSet<&Vec<String>> = domains.iter().flatten().collect();
        let values: Vec<Vec<String>> = values.into_iter().cloned().collect();
        let index: HashMap<Vec<String>, usize> =
            values.iter().cloned().zip(0..).collect();
        let subtable = |(table, domain): (&SubtableNote, &Vec<Vec<String>>)| {
            let values = domain.iter().filter_map(|value| index.get(value).copied());
            Subtable::of(table, values.collect())
        };
        let tables =
            note.subtables.iter().zip(&domains).map(subtable).collect::<Result<_>>()?;
        Ok(Self {
            names: note.columns.clone(),
            both,
            keyed,
            by_person: manifest.person.is_some(),
            subtable_column: note.subtable_column.clone(),
            condition: Condition::of(manifest, note)?,
            values,
            tables,
            index,
            readings,
        })
    }

    /// Its names in one text.
    pub(crate) fn name(&self) -> String {
        self.names.join(" + ")
    }

    /// Whether the same person gets the same draw in every release, in a word.
    pub(crate) fn noise(&self) -> &'static str {
        if self.keyed { "keyed" } else { "fresh" }
    }

    /// The code of a value among all values, by the texts of its columns as they stand in a
    /// file.
    pub(crate) fn code(&self, texts: &[&str]) -> Option<usize> {
        self.code_of(&all_canonical(&self.readings, texts)?)
    }

    /// The sub-table a text tells, from 0.
    pub(crate) fn table_of(&self, text: &str) -> Option<usize> {
        let number = text.parse::<usize>().ok()?;
        number.checked_sub(1).filter(|table| *table < self.tables.len())
    }

    /// The code of a value by its texts in their one form.
    pub(crate) fn code_of(&self, value: &[String]) -> Option<usize> {
        self.index.get(value).copied()
    }

    /// The columns to read of a table: those of the value, then, of a release, that of the
    /// sub-table.
    pub(crate) fn places(
        &self,
        source: &Source,
        published: bool,
    ) -> Result<Vec<ColumnId>> {
        let apart = self.subtable_column.iter().filter(|_| published);
        let names = self.names.iter().chain(apart);
        names.map(|name| source.column(name)).collect()
    }

    /// Counts the published values.
    fn count(&mut self, seen: &Seen<'_>, watch: &dyn Watch) -> Result<()> {
        let condition = self.condition.as_ref();
        let names = self.names.iter().chain(&self.subtable_column);
        let names = names.chain(condition.map(|condition| &condition.column));
        let names: Vec<&str> = names.map(String::as_str).collect();
        let found = seen.count(&names, watch)?;
        let n_parts = self.names.len();
        let wrong = |what: &str| {
            let message = format!("column `{}`: {what}", self.name());
            Error::input(message).in_file(seen.name())
        };
        let mut counted: Vec<Vec<u64>> =
            self.tables.iter().map(|table| vec![0; table.values.len()]).collect();
        for (tuple, rows) in found.counts.rows.iter().enumerate() {
            let texts = found.counts.columns.iter().zip(&found.dictionaries);
            let texts: Vec<&str> =
                texts.map(|(codes, known)| &*known.texts[codes[tuple]]).collect();
            let table = match (&self.subtable_column, texts.get(n_parts)) {
                (Some(_), Some(text)) => self.table_of(text).ok_or_else(|| {
                    wrong("a row is of a sub-table that is not there")
                })?,
                _ => 0,
            };
            if let (Some(condition), Some(text)) = (condition, texts.last())
                && condition.table_of(text) != Some(table)
            {
                let what = "a row is of another sub-table than the one it must be of";
                return Err(wrong(what).with_hint(format!(
                    "`{}` says by which matrix a row is drawn",
                    condition.column
                )));
            }
            let place = self.code(&texts[..n_parts]);
            let place = place.and_then(|code| self.tables[table].place(code));
            let place = place.ok_or_else(|| {
                wrong("a published value is not in the domain of its sub-table")
            })?;
            counted[table][place] += rows;
        }
        for (table, counted) in self.tables.iter_mut().zip(counted) {
            table.published = counted;
        }
        Ok(())
    }
}

impl Subtable {
    fn of(note: &SubtableNote, values: Vec<usize>) -> Result<Self> {
        let size = values.len();
        if note.bounds.len() != size {
            return Err(malformed("as many bounds as values are needed"));
        }
        let is_share = |number: f64| (0.0..=1.0).contains(&number);
        let fine = |bound: &BoundNote| {
            is_share(bound.prior)
                && is_share(bound.posterior)
                && bound.prior <= bound.posterior
                && bound.gamma >= 0.0
        };
        if !note.bounds.iter().flatten().all(fine) {
            return Err(malformed("a bound is not a belief and a larger one"));
        }
        Ok(Self {
            rows: note.rows,
            bounds: note.bounds.clone(),
            matrix: Matrix::of(&note.operator, size)?,
            published: vec![0; size],
            places: values.iter().copied().zip(0..).collect(),
            values,
        })
    }

    /// The place of a value in the domain.
    pub(crate) fn place(&self, code: usize) -> Option<usize> {
        self.places.get(&code).copied()
    }

    /// The rows that were published.
    pub(crate) fn n_published(&self) -> f64 {
        self.published.iter().sum::<u64>() as f64
    }
}

/// A domain with every text in its one form.
fn domain(table: &SubtableNote, readings: &[ValueReading]) -> Result<Vec<Vec<String>>> {
    if table.domain.is_empty() {
        return Err(malformed("a domain is empty"));
    }
    let mut domain = Vec::with_capacity(table.domain.len());
    for texts in &table.domain {
        if texts.len() != readings.len() {
            return Err(malformed("a value needs one text for each column"));
        }
        let value = all_canonical(readings, texts);
        domain.push(value.ok_or_else(|| malformed("a value is not of its type"))?);
    }
    let different: BTreeSet<&Vec<String>> = domain.iter().collect();
    if different.len() < domain.len() {
        return Err(malformed("a domain has a value twice"));
    }
    Ok(domain)
}

/// The same for each of several columns.
fn all_canonical(
    readings: &[ValueReading],
    texts: &[impl AsRef<str>],
) -> Option<Vec<String>> {
    let cells = readings.iter().zip(texts);
    let one = |(own, text): (&ValueReading, &str)| match &own.ranges {
        Some(ranges) => ranges.text(&own.reading, text),
        None => canonical(&own.reading, text),
    };
    cells.map(|(own, text)| one((own, text.as_ref()))).collect()
}

/// The one text for the value that a text means.
pub(crate) fn canonical(reading: &Reading, text: &str) -> Option<String> {
    if reading.is_missing(text) {
        return Some(reading.missing_text().to_owned());
    }
    canonical_number(reading, text)
}

/// That a manifest says something that cannot be.
pub(crate) fn malformed(what: &str) -> Error {
    Error::input(format!("the manifest's `perturbation` is malformed: {what}"))
        .with_hint("the release was changed")
}
