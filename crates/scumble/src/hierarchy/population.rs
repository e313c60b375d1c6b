//! A table as a part of a population.
//!
//! # Guarantee
//! Everybody of the table is one person of the population: there is a way to give each row,
//! or each person where these have several, a person with the same quasi values and nobody
//! two. With a key, it is the key that gives it; without, only how often each quasi tuple
//! occurs is compared. People who are named in both are joined by their names.
//!
//! # Cost
//! One pass over the population; with a key, a second one over both, and memory for the
//! keys.

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::hierarchy::{ColumnSpec, Microdata};
use crate::table::{Code, ColumnId, Role, Source};
use crate::watch::{Quiet, Watch};

/// Everyone who may be in the table.
#[derive(Debug, Clone, Copy)]
pub struct Population<'a> {
    /// Where they are.
    pub source: &'a Source,
    /// The columns that tell people apart, in the population and in the table; none if
    /// only quasi values are compared.
    pub key: &'a [String],
}

/// A row of the table, or of the population.
struct KeyedRow {
    key: Box<str>,
    /// Who it is of, if it says.
    person: Option<Box<str>>,
    tuple: Box<[Code]>,
}

impl<'a> Population<'a> {
    /// The quasi columns, in the order of `specs`.
    pub(super) fn columns(&self, specs: &[ColumnSpec]) -> Result<Vec<ColumnId>> {
        let quasi = specs.iter().filter(|spec| spec.role == Role::Quasi);
        quasi.map(|spec| self.source.column(&spec.name)).collect()
    }

    /// Checks that the key joins every row of the table with a person who has the same
    /// quasi values: each with one row or, if `person` says whose rows are whose, with those
    /// of one person.
    pub(super) fn check(
        &self,
        table: &Source,
        data: &Microdata,
        person: Option<&ColumnSpec>,
        watch: &dyn Watch,
    ) -> Result<()> {
        let key = self.joined_by(person);
        if key.is_empty() {
            return Ok(());
        }
        let by_name = person.filter(|person| key[..] == [person.name.as_str()]);
        let read = |source: &Source| -> Result<Vec<KeyedRow>> {
            let mut rows = keyed(source, &key, person, data, watch)?;
            if by_name.is_some() {
                // Who is not named can be joined by quasi values only, which was done.
                rows.retain(|row| row.person.is_some());
            }
            Ok(rows)
        };
        let people = each_once(read(self.source)?, by_name, self.source)?;
        let rows = read(table)?;
        let rows: HashMap<Box<str>, Box<[Code]>> = match person {
            None => each_once(rows, None, table)?,
            Some(_) => {
                check_people(&rows, table)?;
                rows.into_iter().map(|row| (row.key, row.tuple)).collect()
            }
        };
        let lost = rows.keys().filter(|key| !people.contains_key(*key)).count();
        if lost > 0 {
            let by = if self.key.is_empty() { key[0] } else { "key" };
            return Err(not_in_population(lost as u64, person.is_some(), self.source)
                .in_file(table.name())
                .with_hint(format!("rows and people are joined by `{by}`")));
        }
        let differ =
            rows.iter().filter(|(key, tuple)| people.get(*key) != Some(*tuple)).count();
        if differ > 0 {
            return Err(Error::input(format!(
                "{} other quasi values than the person with the same key in {}",
                having(differ, person.is_some()),
                self.source.name(),
            ))
            .in_file(table.name())
            .with_hint("the table must agree with the population it is a part of"));
        }
        Ok(())
    }

    /// The columns that join both: the key or, without one, people's names if both have
    /// them.
    fn joined_by(&self, person: Option<&'a ColumnSpec>) -> Vec<&'a str> {
        let named = person.filter(|person| {
            self.key.is_empty() && self.source.header().contains(&person.name)
        });
        let named = named.map(|person| person.name.as_str());
        self.key.iter().map(String::as_str).chain(named).collect()
    }
}

/// The rows of a table with their keys.
fn keyed(
    source: &Source,
    key: &[&str],
    person: Option<&ColumnSpec>,
    data: &Microdata,
    watch: &dyn Watch,
) -> Result<Vec<KeyedRow>> {
    // The population need not say whose its rows are.
    let named = person.filter(|person| source.header().contains(&person.name));
    let quasi = data.quasi.iter().map(|column| column.name.as_str());
    let names = key.iter().copied().chain(named.map(|p| p.name.as_str())).chain(quasi);
    let columns: Vec<ColumnId> =
        names.map(|name| source.column(name)).collect::<Result<_>>()?;
    let read = source.fold(
        &columns,
        Vec::new,
        |rows: &mut Vec<KeyedRow>, _, cells| {
            let changed = || Error::input("the table has changed since it was counted");
            let (keys, rest) = cells.split_at(key.len());
            let (who, quasi) = rest.split_at(usize::from(named.is_some()));
            let quasi = quasi.iter().zip(&data.codes);
            let codes = quasi.map(|(text, codes)| codes.get(*text).copied());
            let tuple: Option<Box<[Code]>> = codes.collect();
            // Lengths keep ("a", "bc") and ("ab", "c") apart.
            let key: String = keys.iter().map(|t| format!("{}:{t}", t.len())).collect();
            let known = named.zip(who.first());
            let person = known.filter(|(spec, text)| !spec.reading.is_missing(text));
            rows.push(KeyedRow {
                key: key.into(),
                person: person.map(|(_, text)| (*text).into()),
                tuple: tuple.ok_or_else(changed)?,
            });
            Ok(())
        },
        &Quiet(watch),
    )?;
    Ok(read.states.into_iter().flatten().collect())
}

/// The quasi tuple of every key, of rows that are of one person each.
fn each_once(
    rows: Vec<KeyedRow>,
    by_name: Option<&ColumnSpec>,
    source: &Source,
) -> Result<HashMap<Box<str>, Box<[Code]>>> {
    let mut index = HashMap::new();
    let mut named: HashMap<Box<str>, bool> = HashMap::new();
    let mut repeated = 0;
    for KeyedRow { key, person, tuple } in rows {
        repeated += usize::from(index.insert(key, tuple).is_some());
        if let Some(person) = person {
            named.entry(person).and_modify(|twice| *twice = true).or_insert(false);
        }
    }
    if repeated > 0 {
        let key = match by_name {
            Some(person) => Cow::Owned(format!("`{}`", person.name)),
            None => Cow::Borrowed("`key`"),
        };
        return Err(Error::input(format!(
            "{key} does not tell people apart: {} {} that another row has already",
            having(repeated, false),
            if by_name.is_some() { "one" } else { "a key" },
        ))
        .in_file(source.name())
        .with_hint(match by_name {
            Some(_) => "one person, one row, whatever the table has of them",
            None => "one person, one row; name more columns in `key`",
        }));
    }
    match named.values().filter(|twice| **twice).count() {
        0 => Ok(index),
        n => Err(several_keys(n, source)
            .with_hint("one person, one row: otherwise they are counted twice")),
    }
}

/// That rows of a person have one key, which nobody else has.
fn check_people(rows: &[KeyedRow], table: &Source) -> Result<()> {
    let mut key_of: HashMap<&str, &str> = HashMap::new();
    // Whose a key is: nobody's name, if the first of its rows names nobody.
    let mut owner_of: HashMap<&str, Option<&str>> = HashMap::new();
    let (mut several, mut shared) = (HashSet::new(), HashSet::new());
    for row in rows {
        let person = row.person.as_deref();
        if let Some(person) = person
            && *key_of.entry(person).or_insert(&row.key) != &*row.key
        {
            several.insert(person);
        }
        match owner_of.get(&*row.key) {
            None => _ = owner_of.insert(&row.key, person),
            // A row that names nobody is a person of its own.
            Some(owner) if owner.is_none() || *owner != person => {
                shared.insert(&*row.key);
            }
            Some(_) => {}
        }
    }
    if !several.is_empty() {
        return Err(several_keys(several.len(), table)
            .with_hint("all rows of a person must have the key of that person"));
    }
    if !shared.is_empty() {
        let (n, keys) = match shared.len() {
            1 => (1, "key is"),
            n => (n, "keys are"),
        };
        return Err(Error::input(format!(
            "{n} {keys} of several people, but each is one person of the population"
        ))
        .in_file(table.name())
        .with_hint(
            "name more columns in `key`; a row without a name is a person of its own",
        ));
    }
    Ok(())
}

/// That people have several keys.
fn several_keys(people: usize, source: &Source) -> Error {
    Error::input(format!(
        "{} rows under several keys, but {} one person of the population",
        having(people, true),
        if people == 1 { "is" } else { "each is" },
    ))
    .in_file(source.name())
}

/// That the rows of people do not agree with each other.
pub(super) fn rows_differ(people: usize, table: &Source) -> Error {
    Error::input(format!(
        "{} rows with different quasi values, but {} one person of the population",
        having(people, true),
        if people == 1 { "is" } else { "each is" },
    ))
    .in_file(table.name())
    .with_hint(
        "the quasi values of a person must be the same in all their rows, as they are in the \
         population; a column that changes from row to row can be `sensitive`, `other` or \
         `drop`",
    )
}

/// So many rows, or people, who have something.
fn having(n: usize, people: bool) -> String {
    match (n, people) {
        (1, true) => "1 person has".to_owned(),
        (1, false) => "1 row has".to_owned(),
        (n, true) => format!("{n} people have"),
        (n, false) => format!("{n} rows have"),
    }
}

/// That some rows of a table, or people, are not in the population.
pub(super) fn not_in_population(n: u64, people: bool, population: &Source) -> Error {
    let what = match (n, people) {
        (1, true) => "person of the table is",
        (_, true) => "people of the table are",
        (1, false) => "row of the table is",
        (_, false) => "rows of the table are",
    };
    Error::input(format!("{n} {what} not in the population {}", population.name()))
}
