//! The published rows of a release, in memory, and what its manifest says of their columns.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::estimate::blur::Blurred;
use crate::estimate::cells::{Cells, generalized};
use crate::estimate::groups::Groups;
use crate::estimate::matrix::Channel;
use crate::estimate::sample::of_table;
use crate::hierarchy::Rule;
use crate::release::{PerturbationNote, PublishedColumn, Release};
use crate::table::{Dictionary, Kind, Reading, Role, parse_number, scan};
use crate::words::nearest;

/// What an analyst has: published rows and how they were made.
#[derive(Debug)]
pub struct Evidence {
    pub(super) columns: Vec<Column>,
    pub(super) noises: Vec<Noise>,
    /// How many published rows are the same in all columns.
    pub(super) rows: Vec<u64>,
    /// How many rows of the table each of them stands for, if they are a sample.
    pub(super) stands_for: Option<Vec<f64>>,
    /// Rows and values of each group, if values are in a file of their own.
    pub(super) groups: Option<Groups>,
    /// Numbers row by row, if they were blurred or drawn anew; rows that share all other
    /// columns are one distinct row.
    pub(super) blurred: Option<Blurred>,
    /// What generalized cells stand for.
    pub(super) cells: Vec<Cells>,
    /// The places of the columns that the table has, too.
    pub(super) table: Vec<usize>,
}

/// A published column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) reading: Reading,
    /// Its values in their own order; of a randomized column, those of all its domains.
    pub(super) texts: Vec<Box<str>>,
    /// The value of each distinct row; of a generalized column, its cell.
    pub(super) codes: Vec<u32>,
    pub(super) nature: Nature,
    /// How values coarsen, if the release says so.
    pub(super) rule: Option<Rule>,
    /// Whether all rows of a group of people have the same.
    pub(super) shared: bool,
}

/// What was done to a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    /// Published as it was.
    Untouched,
    /// Randomized: which noise, and which of its columns this is.
    Noisy(usize, usize),
    /// Coarsened: which of the generalized columns it is.
    Uncertain(usize),
    /// In a file of its own, by group.
    Apart,
    /// Blurred or drawn anew: which of these columns it is. It has neither texts nor codes.
    Blurred(usize),
}

/// A randomized column, or several that were randomized as one.
#[derive(Debug)]
pub(super) struct Noise {
    /// The columns' names, for messages.
    pub(super) name: String,
    pub(super) subtables: Vec<Subtable>,
    /// The sub-table of each distinct row.
    pub(super) subtable_of: Vec<u32>,
    /// The place of its published value in the domain of the sub-table.
    pub(super) value_of: Vec<u32>,
}

/// Rows that were randomized within one domain.
#[derive(Debug)]
pub(super) struct Subtable {
    pub(super) channel: Channel,
    /// Each value as the codes of the columns.
    pub(super) domain: Vec<Vec<u32>>,
}

impl Evidence {
    /// Reads a release, once its files are found to be those that were published.
    pub fn read(release: &Release, progress: &(dyn Fn(u64) + Sync)) -> Result<Self> {
        release.verify()?;
        let manifest = &release.manifest;
        if manifest.blur.is_some() || manifest.condensed.is_some() {
            let (columns, rows, blurred) = Blurred::read(release, progress)?;
            return Ok(Self {
                table: of_table(manifest, &columns),
                columns,
                noises: Vec::new(),
                rows,
                stands_for: None,
                groups: None,
                blurred: Some(blurred),
                cells: Vec::new(),
            });
        }
        let source = release.rows()?;
        let header = source.header();
        let places: Vec<usize> = (0..header.len()).collect();
        let found = scan(&source, &places, progress)?;
        let listed = |name: &str| manifest.columns.iter().find(|c| c.name == name);
        let raw = header.iter().zip(found.dictionaries).zip(found.counts.columns);
        let mut columns: Vec<Column> = raw
            .map(|((name, dictionary), codes)| {
                Column::untouched(name, listed(name), dictionary, codes)
            })
            .collect();
        let rows = found.counts.rows;
        let cells = generalized(release, &mut columns, &rows)
            .map_err(|error| error.in_file(source.name()))?;
        let mut noises = Vec::new();
        for (number, note) in manifest.perturbation.iter().enumerate() {
            let noise = Noise::read(note, number, &mut columns)
                .map_err(|error| error.in_file(source.name()))?;
            noises.push(noise);
        }
        let stands_for = match &manifest.sampled {
            None => None,
            Some(name) => {
                let column = columns.iter().find(|column| column.name == *name);
                let sizes = column.and_then(|column| column.whole_numbers());
                Some(sizes.ok_or_else(|| {
                    Error::input(format!(
                        "column `{name}` must tell how many rows each row stands for"
                    ))
                    .in_file(source.name())
                })?)
            }
        };
        let groups = match &manifest.buckets {
            None => None,
            Some(note) => Some(Groups::read(release, note, &mut columns, &rows)?),
        };
        let (table, blurred) = (of_table(manifest, &columns), None);
        Ok(Self { columns, noises, rows, stands_for, groups, blurred, cells, table })
    }

    /// How many rows of the table the release stands for.
    pub fn n_rows(&self) -> f64 {
        (0..self.rows.len()).map(|entry| self.weight(entry).0).sum()
    }

    /// For how many rows of the table a distinct row stands, and the sum of the squares of
    /// these numbers over the published rows.
    pub(super) fn weight(&self, entry: usize) -> (f64, f64) {
        let rows = self.rows[entry] as f64;
        match &self.stands_for {
            None => (rows, rows),
            Some(sizes) => (rows * sizes[entry], rows * sizes[entry].powi(2)),
        }
    }

    /// The place of a column that questions can be asked of. Case matters only if two
    /// names differ by nothing else.
    pub(super) fn column(&self, name: &str) -> Result<usize> {
        let names = || self.columns.iter().map(|column| column.name.as_str());
        let alike = |other: &str| other.eq_ignore_ascii_case(name);
        let exact = names().position(|other| other == name);
        let place = exact.or_else(|| match names().filter(|o| alike(o)).count() {
            1 => names().position(alike),
            _ => None,
        });
        match place {
            Some(place) => Ok(place),
            None => {
                let cell = name.strip_prefix("CELL(").and_then(|n| n.strip_suffix(')'));
                if let Some(own) = cell
                    .filter(|own| names().any(|other| other.eq_ignore_ascii_case(own)))
                {
                    return Err(Error::recipe(format!(
                        "`{own}` has no generalized cells here"
                    ))
                    .with_hint(format!("ask about `{own}` itself")));
                }
                let error = Error::recipe(format!("no column is called `{name}`"));
                Err(match nearest(name, names()) {
                    Some(near) => error.with_hint(format!("the release has `{near}`")),
                    None => error.with_hint(format!(
                        "the release has {}",
                        names()
                            .map(|n| format!("`{n}`"))
                            .collect::<Vec<_>>()
                            .join(", ")
                    )),
                })
            }
        }
    }
}

impl Column {
    /// A column as it is in the data.
    fn untouched(
        name: &str,
        listed: Option<&PublishedColumn>,
        dictionary: Dictionary,
        codes: Vec<u32>,
    ) -> Self {
        let reading = listed.map_or_else(Reading::category, PublishedColumn::reading);
        let (texts, ranks) = in_order(dictionary.texts, &reading);
        let codes = codes.into_iter().map(|code| ranks[code as usize]).collect();
        let rule = listed.and_then(|column| column.hierarchy.clone());
        let shared = listed.is_some_and(|column| column.role == Role::Quasi);
        let (name, nature) = (name.to_owned(), Nature::Untouched);
        Self { name, reading, texts, codes, nature, rule, shared }
    }

    /// The values as whole numbers of at least 1.
    fn whole_numbers(&self) -> Option<Vec<f64>> {
        let number = |text: &str| {
            let number = parse_number(text)?;
            (number >= 1.0 && number.fract() == 0.0).then_some(number)
        };
        let numbers: Vec<f64> =
            self.texts.iter().map(|text| number(text)).collect::<Option<_>>()?;
        Some(self.codes.iter().map(|code| numbers[*code as usize]).collect())
    }
}

impl Noise {
    /// Checks what the manifest says of randomized columns, and finds the published
    /// values in their domains.
    fn read(
        note: &PerturbationNote,
        number: usize,
        columns: &mut [Column],
    ) -> Result<Self> {
        let name = note.columns.join(", ");
        let place = |name: &str| {
            let found = columns.iter().position(|column| column.name == name);
            let missing = || Error::input(format!("there is no column `{name}`"));
            found.ok_or_else(missing)
        };
        let places: Vec<usize> =
            note.columns.iter().map(|name| place(name)).collect::<Result<_>>()?;
        let n_rows = columns.first().map_or(0, |column| column.codes.len());
        let subtable_of = match &note.subtable_column {
            None if note.subtables.len() == 1 => vec![0; n_rows],
            None => {
                return Err(Error::input(format!(
                    "`{name}` has {} sub-tables, but no column tells them apart",
                    note.subtables.len()
                )));
            }
            Some(column) => {
                let numbers = columns[place(column)?].whole_numbers();
                let known = numbers.filter(|numbers| {
                    numbers.iter().all(|number| *number <= note.subtables.len() as f64)
                });
                let wrong = || {
                    Error::input(format!(
                        "column `{column}` must have numbers from 1 to {}",
                        note.subtables.len()
                    ))
                };
                let numbers = known.ok_or_else(wrong)?;
                numbers.into_iter().map(|number| number as u32 - 1).collect()
            }
        };
        if places.is_empty() || note.subtables.is_empty() {
            return Err(Error::input("the manifest randomizes nothing"));
        }

        for (part, place) in places.iter().enumerate() {
            let column = &mut columns[*place];
            if column.nature != Nature::Untouched {
                return Err(Error::input(format!(
                    "`{}` is changed twice",
                    column.name
                )));
            }
            column.nature = Nature::Noisy(number, part);
            let values = note.subtables.iter().flat_map(|note| &note.domain);
            let known: Vec<Box<str>> = values
                .filter_map(|value| value.get(part))
                .map(|text| text.as_str().into())
                .collect();
            column.extend(known);
        }
        let codes: Vec<HashMap<&str, u32>> = places
            .iter()
            .map(|place| {
                let texts = columns[*place].texts.iter().zip(0u32..);
                texts.map(|(text, code)| (&**text, code)).collect()
            })
            .collect();
        let mut subtables = Vec::with_capacity(note.subtables.len());
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        for (place, note) in note.subtables.iter().enumerate() {
            let wrong = |message: String| {
                Error::input(format!("sub-table {} of `{name}`: {message}", place + 1))
            };
            let channel =
                Channel::new(note).map_err(|error| wrong(error.to_string()))?;
            let mut domain = Vec::with_capacity(note.domain.len());
            for (code, value) in note.domain.iter().enumerate() {
                let parts = value.iter().zip(&codes).zip(&places);
                let codes: Vec<u32> = parts
                    .filter_map(|((text, codes), place)| {
                        let text = canonical(text, &columns[*place].reading);
                        codes.get(text.as_str()).copied()
                    })
                    .collect();
                if codes.len() != places.len() || value.len() != places.len() {
                    return Err(wrong("a value must have one text a column".into()));
                }
                let key = key(place as u32, codes.iter().copied());
                if known.insert(key, code as u32).is_some() {
                    return Err(wrong("a value is listed twice".into()));
                }
                domain.push(codes);
            }
            subtables.push(Subtable { channel, domain });
        }
        let possible: Vec<Vec<f64>> = subtables
            .iter()
            .map(|subtable| subtable.channel.apply(&vec![1.0; subtable.domain.len()]))
            .collect();
        let value_of = (0..n_rows).map(|entry| {
            let subtable = subtable_of[entry];
            let codes = places.iter().map(|place| columns[*place].codes[entry]);
            let value = known
                .get(&key(subtable, codes))
                .copied()
                .filter(|value| possible[subtable as usize][*value as usize] > 0.0);
            value.ok_or_else(|| {
                Error::input(format!(
                    "`{name}` has a value that sub-table {} cannot have been published \
                     with",
                    subtable + 1
                ))
            })
        });
        let value_of = value_of.collect::<Result<_>>()?;
        Ok(Self { name, subtables, subtable_of, value_of })
    }
}

impl Column {
    /// Adds values that may not occur among the rows.
    fn extend(&mut self, texts: Vec<Box<str>>) {
        let all = std::mem::take(&mut self.texts).into_iter().chain(texts).collect();
        let (texts, ranks) = in_order(all, &self.reading);
        for code in &mut self.codes {
            *code = ranks[*code as usize];
        }
        self.texts = texts;
    }
}

/// A sub-table and the values of a row in it.
fn key(subtable: u32, codes: impl Iterator<Item = u32>) -> Vec<u32> {
    std::iter::once(subtable).chain(codes).collect()
}

/// The one text for what `text` means.
pub(super) fn canonical(text: &str, reading: &Reading) -> String {
    if reading.is_missing(text) {
        return reading.missing_text().to_owned();
    }
    // Sensitive dates are published in ISO 8601, whatever they were before.
    let iso = Reading { date_format: None, ..reading.clone() };
    let number = iso.number_of(text).or_else(|| reading.number_of(text));
    number.map_or_else(|| text.to_owned(), |number| reading.canonical(text, number))
}

/// Distinct values in their own order, missing last, and the place of each given text.
pub(super) fn in_order(
    texts: Vec<Box<str>>,
    reading: &Reading,
) -> (Vec<Box<str>>, Vec<u32>) {
    let texts: Vec<String> =
        texts.iter().map(|text| canonical(text, reading)).collect();
    let numbers: Vec<Option<f64>> = match reading.kind {
        // ISO 8601 is in the order of its bytes.
        Kind::Date => vec![None; texts.len()],
        _ => texts.iter().map(|text| parse_number(text)).collect(),
    };
    let all_numbers = texts
        .iter()
        .zip(&numbers)
        .all(|(text, number)| number.is_some() || reading.is_missing(text));
    let number = |place: usize| match numbers[place] {
        Some(number) if all_numbers || reading.kind == Kind::Number => number,
        _ => f64::INFINITY,
    };
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by(|a, b| {
        let missing = |place: usize| reading.is_missing(&texts[place]);
        missing(*a)
            .cmp(&missing(*b))
            .then(number(*a).total_cmp(&number(*b)))
            .then_with(|| texts[*a].cmp(&texts[*b]))
    });
    let mut sorted: Vec<Box<str>> = Vec::new();
    let mut ranks = vec![0; texts.len()];
    for place in order {
        if sorted.last().is_none_or(|last| **last != *texts[place]) {
            sorted.push(texts[place].as_str().into());
        }
        ranks[place] = sorted.len() as u32 - 1;
    }
    (sorted, ranks)
}
