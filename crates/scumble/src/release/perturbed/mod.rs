//! Writing rows whose sensitive values are randomized, in an order that tells nothing.
//!
//! The table is read once more. Each block of it has random streams of its own, so the
//! same table and seed give the same bytes whatever the threads.

mod routes;

use std::path::Path;

use hashbrown::HashMap;
use rand::Rng;
use rand_chacha::ChaCha20Rng;

use crate::error::{Error, Result};
use crate::method::perturb::{Operator, Sampler};
use crate::random::{Key, Randomness};
use crate::release::DataFormat;
use crate::release::perturbed::routes::{Reader, Route, routes};
use crate::release::shuffle::{Pile, Shuffle};
use crate::release::sink::{Sink, push_quoted, quoted};
use crate::table::{ColumnForm, Source, Spot};

/// What is written.
#[derive(Debug)]
pub struct PerturbedTask<'a> {
    /// The table.
    pub source: &'a Source,
    /// The published columns, in order.
    pub columns: &'a [(String, Place)],
    /// The randomized columns.
    pub randomized: &'a [Randomized],
    /// Where noise and order come from.
    pub randomness: &'a Randomness,
    /// What makes the noise of a person the same in every release, if it is to be.
    pub keyed: Option<Keyed<'a>>,
    /// How the file is written.
    pub format: DataFormat,
}

/// Noise that depends on a key and a person alone.
#[derive(Debug, Clone, Copy)]
pub struct Keyed<'a> {
    /// The key.
    pub key: &'a Key,
    /// The columns of the table that tell people apart.
    pub id: &'a [usize],
}

/// Where a published cell comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A column of the table, as it is.
    Plain(usize),
    /// The column `part` of the randomized column `of`.
    Drawn {
        /// The randomized column.
        of: usize,
        /// Which of its parts.
        part: usize,
    },
    /// The number of the sub-table in the randomized column, from 1.
    Subtable(usize),
}

/// A column that is randomized, or several as one.
#[derive(Debug)]
pub struct Randomized {
    /// The names of its parts.
    pub names: Vec<String>,
    /// Their places in the table.
    pub places: Vec<usize>,
    /// For each part, the code of every text in the table.
    pub codes: Vec<HashMap<Box<str>, u32>>,
    /// The value that codes of several parts stand for; empty if there is one part, whose
    /// codes are the values.
    pub tuples: HashMap<Vec<u32>, u32>,
    /// For each value, the text of each part.
    pub texts: Vec<Vec<String>>,
    /// The sub-tables, at least one.
    pub subtables: Vec<Subtable>,
}

/// Rows that are randomized by one operator.
#[derive(Debug, Clone)]
pub struct Subtable {
    /// The values of its domain.
    pub values: Vec<u32>,
    /// How many rows have each of them.
    pub rows: Vec<u64>,
    /// How they are randomized.
    pub operator: Operator,
}

/// Writes the rows to `path`, and says how many there are.
pub fn write_perturbed(
    task: &PerturbedTask<'_>,
    path: &Path,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<u64> {
    let header: Vec<&str> =
        task.columns.iter().map(|(name, _)| name.as_str()).collect();
    let forms: Vec<ColumnForm> = task
        .columns
        .iter()
        .map(|(_, place)| match place {
            Place::Plain(place) => task.source.forms()[*place],
            Place::Drawn { of, part } => {
                task.source.forms()[task.randomized[*of].places[*part]]
            }
            Place::Subtable(_) => ColumnForm::Integer,
        })
        .collect();
    let mut sink = Sink::create(path, task.format, &header, &forms)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let shuffle = Shuffle::new(task.source.bytes(), folder);
    let writer = Writer::new(task, progress)?;
    let folded = task.source.fold(
        &writer.reader.places,
        || (shuffle.pile(), Streams::new(task.randomness)),
        |(pile, streams): &mut (Pile, Streams), spot, cells| {
            streams.enter(task.randomness, spot);
            let key = streams.order.next_u64();
            writer.draw(cells, spot, streams)?;
            shuffle
                .push(pile, key, |line| writer.push_line(line, cells, &streams.drawn))
        },
        progress,
    )?;
    let piles = folded.states.into_iter().map(|(pile, _)| pile).collect();
    let n_rows = shuffle.write(piles, &mut sink)?;
    sink.finish()?;
    Ok(n_rows)
}

/// The random streams of a block.
struct Streams {
    block: Option<u32>,
    order: ChaCha20Rng,
    parts: ChaCha20Rng,
    noise: ChaCha20Rng,
    /// What was drawn for each randomized column: the value, and the sub-table.
    drawn: Vec<(u32, u32)>,
    id: Vec<u8>,
}

impl Streams {
    fn new(randomness: &Randomness) -> Self {
        Self {
            block: None,
            order: randomness.stream("order", 0),
            parts: randomness.stream("sub-tables", 0),
            noise: randomness.stream("noise", 0),
            drawn: Vec::new(),
            id: Vec::new(),
        }
    }

    /// Begins a block, if it is a new one.
    fn enter(&mut self, randomness: &Randomness, spot: Spot) {
        if self.block != Some(spot.block) {
            self.block = Some(spot.block);
            let block = u64::from(spot.block);
            self.order = randomness.stream("order", block);
            self.parts = randomness.stream("sub-tables", block);
            self.noise = randomness.stream("noise", block);
        }
    }
}

/// Draws the values of rows.
struct Writer<'a> {
    reader: Reader<'a>,
    columns: Vec<Draws>,
    /// Each published column: where its text comes from.
    sources: Vec<TextSource>,
}

/// How the values of one randomized column are drawn.
struct Draws {
    /// The text of each value, part by part, quoted.
    texts: Vec<Vec<Vec<u8>>>,
    parts: Vec<Part>,
    /// For each value, its sub-tables in order, each with the last ticket that leads there.
    routes: Vec<Route>,
}

/// A sub-table, ready to draw from.
struct Part {
    values: Vec<u32>,
    sampler: Sampler,
    key: Option<Key>,
}

/// Where the text of a published cell comes from.
enum TextSource {
    Cell(usize),
    Drawn { of: usize, part: usize },
    Subtable(usize),
}

impl<'a> Writer<'a> {
    fn new(
        task: &'a PerturbedTask<'a>,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Self> {
        let reader = Reader::new(task, true);
        let routes = routes(task, progress)?;
        let column = |(column, routes): (&Randomized, Vec<Route>)| Draws {
            texts: column
                .texts
                .iter()
                .map(|texts| texts.iter().map(|text| quoted(text)).collect())
                .collect(),
            parts: column
                .subtables
                .iter()
                .map(|part| Part::new(task, column, part))
                .collect(),
            routes,
        };
        let columns = task.randomized.iter().zip(routes).map(column).collect();
        let source = |(_, place): &(String, Place)| match place {
            Place::Plain(place) => {
                let known = reader.places.iter().position(|known| known == place);
                TextSource::Cell(known.unwrap_or_default())
            }
            Place::Drawn { of, part } => TextSource::Drawn { of: *of, part: *part },
            Place::Subtable(of) => TextSource::Subtable(*of),
        };
        let sources = task.columns.iter().map(source).collect();
        Ok(Self { reader, columns, sources })
    }

    /// Draws what is published of a row.
    fn draw(&self, cells: &[&str], spot: Spot, streams: &mut Streams) -> Result<()> {
        streams.drawn.clear();
        self.reader.write_id(cells, &mut streams.id);
        for (of, column) in self.columns.iter().enumerate() {
            let value = self.reader.value(of, cells)?;
            let subtable = match column.routes.get(value as usize) {
                None => 0,
                Some(route) => {
                    let ticket =
                        self.reader.ticket(of, &mut streams.parts, &streams.id);
                    let place =
                        route.partition_point(|(_, last)| *last < (ticket, spot));
                    let (subtable, _) = route.get(place).ok_or_else(|| {
                        Error::input("the table has changed since it was counted")
                    })?;
                    *subtable
                }
            };
            let part = &column.parts[subtable as usize];
            let original = part.place(value);
            let drawn = match &part.key {
                Some(key) => {
                    // The noise is that of the person with this value. If it did not depend
                    // on the value, whoever is published with two values has both of them.
                    let length = streams.id.len();
                    streams.id.extend_from_slice(&original.to_le_bytes());
                    let mut words = key.words(&streams.id);
                    streams.id.truncate(length);
                    part.sampler.draw(original, &mut words)
                }
                None => part.sampler.draw(original, &mut streams.noise),
            };
            streams.drawn.push((part.values[drawn as usize], subtable));
        }
        Ok(())
    }

    fn push_line(&self, line: &mut Vec<u8>, cells: &[&str], drawn: &[(u32, u32)]) {
        let start = line.len();
        for (place, source) in self.sources.iter().enumerate() {
            if place > 0 {
                line.push(b',');
            }
            match source {
                TextSource::Cell(cell) => push_quoted(line, cells[*cell]),
                TextSource::Drawn { of, part } => {
                    let (value, _) = drawn[*of];
                    line.extend_from_slice(
                        &self.columns[*of].texts[value as usize][*part],
                    );
                }
                TextSource::Subtable(of) => {
                    line.extend_from_slice((drawn[*of].1 + 1).to_string().as_bytes());
                }
            }
        }
        if line.len() == start {
            // A line with one empty cell would be a blank line, which readers skip.
            line.extend_from_slice(b"\"\"");
        }
        line.push(b'\n');
    }
}

impl Part {
    fn new(task: &PerturbedTask<'_>, column: &Randomized, part: &Subtable) -> Self {
        let key = task.keyed.map(|keyed| {
            let names = column.names.iter().map(String::as_str);
            let texts =
                part.values.iter().flat_map(|value| &column.texts[*value as usize]);
            let domain = texts.map(String::as_str);
            keyed.key.narrowed(["noise"].into_iter().chain(names).chain(domain))
        });
        let sampler = Sampler::new(&part.operator);
        Self { values: part.values.clone(), sampler, key }
    }

    /// The place of a value in the domain, which need not have all values of the column.
    fn place(&self, value: u32) -> u32 {
        match self.values.get(value as usize) {
            Some(known) if *known == value => value,
            _ => self.values.partition_point(|known| *known < value) as u32,
        }
    }
}
