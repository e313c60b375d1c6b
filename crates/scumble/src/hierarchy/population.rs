//! A table as a part of a population.
//!
//! # Guarantee
//! Every row of the table is one person of the population: there is a way to give each row
//! a person with the same quasi values and no person two rows. With a key, it is the key
//! that gives it; without, only how often each quasi tuple occurs is compared.
//!
//! # Cost
//! One pass over the population; with a key, a second one over both, and memory for the
//! keys.

use hashbrown::HashMap;

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

impl Population<'_> {
    /// The quasi columns, in the order of `specs`.
    pub(super) fn columns(&self, specs: &[ColumnSpec]) -> Result<Vec<ColumnId>> {
        let quasi = specs.iter().filter(|spec| spec.role == Role::Quasi);
        quasi.map(|spec| self.source.column(&spec.name)).collect()
    }

    /// Checks that the key joins every row of the table with a person who has the same
    /// quasi values; each with one row, unless rows may be of the same person.
    pub(super) fn check(
        &self,
        table: &Source,
        data: &Microdata,
        is_repeated: bool,
        watch: &dyn Watch,
    ) -> Result<()> {
        if self.key.is_empty() {
            return Ok(());
        }
        let people = self.keyed(self.source, data, false, watch)?;
        let rows = self.keyed(table, data, is_repeated, watch)?;
        let lost = rows.keys().filter(|key| !people.contains_key(*key)).count();
        if lost > 0 {
            return Err(not_in_population(lost as u64, self.source)
                .with_hint("rows and people are joined by `key`"));
        }
        let differ =
            rows.iter().filter(|(key, tuple)| people.get(*key) != Some(*tuple)).count();
        if differ > 0 {
            return Err(Error::input(format!(
                "{} other quasi values than the person with the same key in {}",
                if differ == 1 {
                    "1 row has".into()
                } else {
                    format!("{differ} rows have")
                },
                self.source.name(),
            ))
            .in_file(table.name())
            .with_hint("the table must agree with the population it is a part of"));
        }
        Ok(())
    }

    /// The quasi tuple of every key.
    fn keyed(
        &self,
        source: &Source,
        data: &Microdata,
        may_repeat: bool,
        watch: &dyn Watch,
    ) -> Result<HashMap<Box<str>, Box<[Code]>>> {
        let quasi = data.quasi.iter().map(|column| &column.name);
        let names = self.key.iter().chain(quasi);
        let columns: Vec<ColumnId> =
            names.map(|name| source.column(name)).collect::<Result<_>>()?;
        let n_keys = self.key.len();
        let read = source.fold(
            &columns,
            Vec::new,
            |rows: &mut Vec<(Box<str>, Box<[Code]>)>, _, cells| {
                let changed =
                    || Error::input("the table has changed since it was counted");
                let quasi = cells[n_keys..].iter().zip(&data.codes);
                let codes = quasi.map(|(text, codes)| codes.get(*text).copied());
                let codes: Option<Box<[Code]>> = codes.collect();
                // Lengths keep ("a", "bc") and ("ab", "c") apart.
                let key: String = cells[..n_keys]
                    .iter()
                    .map(|t| format!("{}:{t}", t.len()))
                    .collect();
                rows.push((key.into(), codes.ok_or_else(changed)?));
                Ok(())
            },
            &Quiet(watch),
        )?;
        let mut index = HashMap::new();
        let mut repeated = 0;
        for (key, codes) in read.states.into_iter().flatten() {
            repeated += u64::from(index.insert(key, codes).is_some());
        }
        if repeated > 0 && !may_repeat {
            return Err(Error::input(format!(
                "`key` does not tell people apart: {} a key that another row has already",
                if repeated == 1 { "1 row has".into() } else { format!("{repeated} rows have") },
            ))
            .in_file(source.name())
            .with_hint("one person, one row; name more columns in `key`"));
        }
        Ok(index)
    }
}

/// That some rows of a table are not people of the population.
pub(super) fn not_in_population(rows: u64, population: &Source) -> Error {
    let (row, is) = if rows == 1 { ("row", "is") } else { ("rows", "are") };
    Error::input(format!(
        "{rows} {row} of the table {is} not in the population {}",
        population.name()
    ))
}
