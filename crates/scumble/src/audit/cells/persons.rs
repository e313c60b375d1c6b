//! The people of every group of cells, counted from the table: each once, and each of their
//! values once.
//!
//! # Guarantee
//! Sets of people, made anew; nothing that was added up for the search is looked at.
//!
//! # Limits
//! Only where nobody's row fits several groups can groups be found in the table.

use hashbrown::{HashMap, HashSet};

use crate::audit::cells::{CellClasses, Covers, QuasiKnowledge, fitting};
use crate::audit::given::sensitive_place;
use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::table::{Code, Histogram, Owner, Persons, TupleId};

/// Who stands in which group.
#[derive(Debug)]
pub(crate) struct GroupPeople {
    /// How many people each group has; where rows of it were left out, at least.
    pub(crate) sizes: Vec<u64>,
    /// How many people have rows, but none in a group.
    pub(crate) unpublished: u64,
    /// For everybody in every group, which share of its rows is theirs.
    pub(crate) shares: Vec<f64>,
    /// For each sensitive column of the classes, how many people of each group have which
    /// value.
    pub(crate) values: Vec<Vec<Vec<(Code, u64)>>>,
    /// For each of these columns, how many people have each value.
    pub(crate) whole: Vec<Histogram>,
    /// For everybody with several rows their rows: the group and the values.
    pub(crate) several: Vec<PersonRows>,
}

/// The rows of a person: the group of each, and its values.
type PersonRows = Vec<(u32, Vec<Code>)>;

/// A person, or one of the rows of nobody known.
type Who = (Option<Code>, u64);

impl GroupPeople {
    /// Counts, in a table that tells people apart; nothing if their rows fit several groups.
    pub(crate) fn of(
        view: &CellClasses,
        covers: &Covers,
        known: &QuasiKnowledge<'_>,
        table: &Microdata,
        persons: &Persons,
    ) -> Result<Option<Self>> {
        let census = &table.census;
        let mut places = Vec::with_capacity(view.sensitive.len());
        let mut codes: Vec<Vec<Option<Code>>> =
            Vec::with_capacity(view.sensitive.len());
        for column in &view.sensitive {
            let place = sensitive_place(table, &column.name)?;
            let held = column.domain.index();
            let own = &table.sensitive[place].domain;
            let missing = column.domain.missing();
            let own_codes = own
                .texts()
                .iter()
                .map(|text| held.get(&**text).copied())
                .zip(own.texts().ids());
            codes.push(
                own_codes
                    .map(|(code, own_code)| {
                        code.or(missing.filter(|_| own.missing() == Some(own_code)))
                    })
                    .collect(),
            );
            places.push(place);
        }
        let mut people: Vec<HashMap<Who, u64>> = vec![HashMap::new(); view.n_groups()];
        let mut having: HashSet<(usize, u32, Code, Who)> = HashSet::new();
        let mut everybody: HashSet<(usize, Code, Who)> = HashSet::new();
        let mut rows_of: HashMap<Code, PersonRows> = HashMap::new();
        let mut unnamed = 0;
        // Who has rows that are not published, and how many of these name nobody.
        let (mut outside, mut nobody): (HashSet<Code>, u64) = (HashSet::new(), 0);
        for (tuple, groups) in fitting(view, covers, known)? {
            let tuple = TupleId::new(tuple);
            let group = match groups[..] {
                [] => {
                    for Owner { person, rows, .. } in persons.owners(tuple) {
                        nobody += if person.is_none() { *rows } else { 0 };
                        outside.extend(person);
                    }
                    continue;
                }
                [group] => group,
                _ => return Ok(None),
            };
            let entries = census.entries_of(tuple);
            for Owner { entry, person: owner, rows } in persons.owners(tuple) {
                let Some(entry) = entries.clone().nth(*entry as usize) else {
                    continue;
                };
                let (n, each) = if owner.is_some() { (1, *rows) } else { (*rows, 1) };
                for _ in 0..n {
                    unnamed += u64::from(owner.is_none());
                    let who = (*owner, if owner.is_none() { unnamed } else { 0 });
                    *people[group as usize].entry(who).or_default() += each;
                    let mut row = Vec::with_capacity(places.len());
                    for (column, place) in places.iter().enumerate() {
                        let code = census.sensitive[*place][entry];
                        let Some(code) = codes[column][code.index()] else {
                            return Err(super::cost::another_table());
                        };
                        having.insert((column, group, code, who));
                        everybody.insert((column, code, who));
                        row.push(code);
                    }
                    if let Some(owner) = owner {
                        rows_of.entry(*owner).or_default().push((group, row));
                    }
                }
            }
        }
        let n_groups = view.n_groups();
        let mut counts: Vec<Vec<HashMap<Code, u64>>> =
            vec![vec![HashMap::new(); n_groups]; places.len()];
        for (column, group, code, _) in having {
            *counts[column][group as usize].entry(code).or_default() += 1;
        }
        let mut whole: Vec<Histogram> =
            view.sensitive.iter().map(|c| Histogram::new(c.domain.len())).collect();
        for (column, code, _) in everybody {
            whole[column].add(code, 1);
        }
        let sorted = |counts: HashMap<Code, u64>| {
            let mut counts: Vec<(Code, u64)> = counts.into_iter().collect();
            counts.sort_unstable();
            counts
        };
        let values = counts.into_iter();
        outside.retain(|person| !rows_of.contains_key(person));
        let mut several: Vec<(Code, PersonRows)> =
            rows_of.into_iter().filter(|(_, rows)| rows.len() > 1).collect();
        several.sort_unstable();
        Ok(Some(Self {
            sizes: people
                .iter()
                .zip(&view.sizes)
                .map(|(people, published)| {
                    // Noise leaves rows out of a group, and nobody can tell whose: a row is
                    // of one person.
                    let rows: u64 = people.values().sum();
                    let left_out = rows.saturating_sub(*published);
                    (people.len() as u64).saturating_sub(left_out)
                })
                .collect(),
            unpublished: outside.len() as u64 + nobody,
            shares: people
                .iter()
                .zip(&view.sizes)
                .flat_map(|(people, rows)| {
                    let share = |own: &u64| *own as f64 / (*rows).max(1) as f64;
                    people.values().map(move |own| share(own).min(1.0))
                })
                .collect(),
            values: values.map(|all| all.into_iter().map(sorted).collect()).collect(),
            whole,
            several: several.into_iter().map(|(_, rows)| rows).collect(),
        }))
    }
}
