//! Everybody of the table by where several releases show them.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use crate::audit::Attacked;
use crate::audit::attacks::averaging::digest;
use crate::audit::attacks::intersection::belief::Belief;
use crate::audit::attacks::intersection::seen::{Common, Seen, Sums};
use crate::audit::attacks::intersection::sighted::{Sighted, ValueIndex, common_codes};
use crate::audit::attacks::intersection::{AskedTogether, NOWHERE};
use crate::audit::cells::another_table;
use crate::audit::given::sensitive_place;
use crate::error::{Error, Result};
use crate::release::Manifest;
use crate::table::{Code, ColumnId, Source};
use crate::watch::Watch;

/// People by where the releases show them.
pub(super) struct Met {
    /// The spot in each release, and how many rows have which value.
    classes: Vec<(Vec<u32>, BTreeMap<u32, u64>)>,
    /// For everybody with several rows known, the class and the value of each; empty if rows
    /// are people.
    people: Vec<Vec<(usize, u32)>>,
}

/// A row as the table has it: whose it is, where releases show it, and its value.
type TableRow = (Option<u128>, Vec<u32>, u32);

impl Met {
    /// Finds everybody of the table in all releases.
    pub(super) fn read(
        sighted: &[Sighted<'_>],
        manifests: &[&Manifest],
        name: &str,
        index: &mut ValueIndex,
        original: &Source,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let (Some(first), Some(manifest)) = (sighted.first(), manifests.first()) else {
            return Err(Error::input("there is no release to put together"));
        };
        let place = sensitive_place(first.table, name)?;
        let values = common_codes(&first.table.sensitive[place].domain, index);
        let texts = &first.table.codes[first.table.quasi.len() + place];
        let mut columns: Vec<ColumnId> = vec![original.column(name)?];
        let mut ends = vec![columns.len()];
        for own in sighted {
            for place in &own.places {
                columns.push(original.column(&own.table.quasi[*place].name)?);
            }
            ends.push(columns.len());
        }
        let person = manifest.person.as_ref();
        if let Some(person) = person {
            columns.push(original.column(&person.column)?);
        }
        type State = (HashMap<(Vec<u32>, u32), u64>, Vec<TableRow>);
        let folded = original.fold(
            &columns,
            State::default,
            |(counts, rows), _, cells| {
                let code = texts.get(cells[0]).ok_or_else(another_table)?;
                let value = values[code.index()];
                let spots: Vec<u32> = sighted
                    .iter()
                    .zip(ends.windows(2))
                    .map(|(own, ends)| own.spot(&cells[ends[0]..ends[1]]))
                    .collect();
                if let (Some(person), Some(text)) = (person, cells.last()) {
                    let unnamed = person.missing.iter().any(|missing| missing == text);
                    let who = (!unnamed).then(|| digest([text].into_iter()));
                    rows.push((who, spots.clone(), value));
                }
                *counts.entry((spots, value)).or_default() += 1;
                Ok(())
            },
            watch,
        )?;
        let mut classes: BTreeMap<Vec<u32>, BTreeMap<u32, u64>> = BTreeMap::new();
        let mut rows: Vec<TableRow> = Vec::new();
        for (counts, more) in folded.states {
            for ((spots, value), n) in counts {
                *classes.entry(spots).or_default().entry(value).or_default() += n;
            }
            rows.extend(more);
        }
        let numbers: HashMap<Vec<u32>, usize> =
            classes.keys().cloned().zip(0..).collect();
        let mut people: BTreeMap<u128, Vec<(usize, u32)>> = BTreeMap::new();
        let mut unnamed = Vec::new();
        for (who, spots, value) in rows {
            let row = (numbers[&spots], value);
            match who {
                Some(who) => people.entry(who).or_default().push(row),
                None => unnamed.push(vec![row]),
            }
        }
        unnamed.sort_unstable();
        let people = people.into_values().chain(unnamed).collect();
        Ok(Self { classes: classes.into_iter().collect(), people })
    }

    /// What is believed of everybody, compared with the truth.
    pub(super) fn score(
        &self,
        sighted: &[Sighted<'_>],
        asked: &AskedTogether,
        name: &str,
        watch: &dyn Watch,
    ) -> Result<Attacked> {
        let common = Common::of(&self.classes, sighted.len());
        let whole = self.whole();
        let believe = |(spots, values): &(Vec<u32>, BTreeMap<u32, u64>)| {
            if watch.is_cancelled() {
                return Seen::default();
            }
            Seen::of(sighted, spots, values.values().sum(), &common, &whole)
        };
        let seen: Vec<Seen> = self.classes.par_iter().map(believe).collect();
        watch.check()?;
        let mut sums = Sums::default();
        // How many people stand in each class.
        let sizes: Vec<u64> = match self.people.is_empty() {
            true => self.classes.iter().map(|(_, v)| v.values().sum()).collect(),
            false => {
                let mut sizes = vec![0; self.classes.len()];
                for rows in &self.people {
                    let own: HashSet<usize> = rows.iter().map(|(c, _)| *c).collect();
                    own.into_iter().for_each(|class| sizes[class] += 1);
                }
                sizes
            }
        };
        if self.people.is_empty() {
            for (class, (_, values)) in self.classes.iter().enumerate() {
                for (value, n) in values {
                    sums.add(*n, &[(class, *value)], &seen, &sizes, asked);
                }
            }
        }
        for rows in &self.people {
            sums.add(1, rows, &seen, &sizes, asked);
        }
        let blind = whole.values.iter().map(|(_, share)| *share).fold(0.0, f64::max);
        Ok(sums.attacked(sighted.len(), asked, name, blind))
    }

    /// The values of everybody, as shares.
    fn whole(&self) -> Belief {
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for (value, n) in self.classes.iter().flat_map(|(_, values)| values) {
            *counts.entry(*value).or_default() += n;
        }
        let total = counts.values().sum::<u64>().max(1) as f64;
        let shares = counts.into_iter().map(|(value, n)| (value, n as f64 / total));
        Belief { values: shares.collect() }
    }
}

impl Sighted<'_> {
    /// Where somebody with these quasi values stands.
    fn spot(&self, cells: &[&str]) -> u32 {
        let codes = self
            .places
            .iter()
            .zip(cells)
            .map(|(place, text)| self.table.codes[*place].get(*text).copied());
        let codes: Option<Vec<Code>> = codes.collect();
        let spot = codes.and_then(|codes| self.spot_of.get(&codes).copied());
        spot.unwrap_or(NOWHERE)
    }
}
