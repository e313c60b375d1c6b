//! Columns whose values were drawn by matrices.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::estimate::evidence::{Column, Nature, canonical};
use crate::estimate::laws::matrix::Channel;
use crate::release::{Class, SubtableNote};

/// A randomized column, or several that were randomized as one.
#[derive(Debug)]
pub(crate) struct DrawnColumns {
    /// The columns' names, for messages.
    pub(crate) name: String,
    pub(crate) subtables: Vec<Subtable>,
    /// The sub-table of each distinct row.
    pub(crate) subtable_of: Vec<u32>,
    /// The place of its published value in the domain of the sub-table.
    pub(crate) value_of: Vec<u32>,
}

/// Rows that were randomized within one domain.
#[derive(Debug)]
pub(crate) struct Subtable {
    pub(crate) channel: Channel,
    /// Each value as the codes of the columns.
    pub(crate) domain: Vec<Vec<u32>>,
}

impl DrawnColumns {
    /// Checks what the manifest says of randomized columns, and finds the published
    /// values in their domains.
    pub(crate) fn read(
        class: &Class,
        notes: &[SubtableNote],
        number: usize,
        columns: &mut [Column],
    ) -> Result<Self> {
        let name = class.of.join(", ");
        let place = |name: &str| {
            let found = columns.iter().position(|column| column.name == name);
            let missing = || Error::input(format!("there is no column `{name}`"));
            found.ok_or_else(missing)
        };
        let places: Vec<usize> =
            class.of.iter().map(|name| place(name)).collect::<Result<_>>()?;
        // Columns of numbers have no codes: those that were drawn do.
        let n_rows = places.first().map_or(0, |place| columns[*place].codes.len());
        let subtable_of = match &class.column {
            None if notes.len() == 1 => vec![0; n_rows],
            None => {
                return Err(Error::input(format!(
                    "`{name}` has {} sub-tables, but no column tells them apart",
                    notes.len()
                )));
            }
            Some(column) => {
                let numbers = columns[place(column)?].whole_numbers();
                let known = numbers.filter(|numbers| {
                    numbers.iter().all(|number| *number <= notes.len() as f64)
                });
                let wrong = || {
                    Error::input(format!(
                        "column `{column}` must have numbers from 1 to {}",
                        notes.len()
                    ))
                };
                let numbers = known.ok_or_else(wrong)?;
                numbers.into_iter().map(|number| number as u32 - 1).collect()
            }
        };
        if places.is_empty() || notes.is_empty() {
            return Err(Error::input("the manifest randomizes nothing"));
        }

        for (part, place) in places.iter().enumerate() {
            let column = &mut columns[*place];
            if column.nature != Nature::Kept {
                return Err(Error::input(format!(
                    "`{}` is changed twice",
                    column.name
                )));
            }
            column.nature = Nature::Drawn(number, part);
            let values = notes.iter().flat_map(|note| &note.domain);
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
        let mut subtables = Vec::with_capacity(notes.len());
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        for (place, note) in notes.iter().enumerate() {
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

/// A sub-table and the values of a row in it.
fn key(subtable: u32, codes: impl Iterator<Item = u32>) -> Vec<u32> {
    std::iter::once(subtable).chain(codes).collect()
}
