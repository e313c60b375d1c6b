//! The published rows, or a sample of them, and what tells them apart.

use hashbrown::HashMap;

use crate::audit::cells::published_reading;
use crate::error::Result;
use crate::learn::SeenTexts;
use crate::release::PublishedColumn;
use crate::table::{ColumnId, Kind, RowPlace, Source};
use crate::watch::Watch;

/// Rows of a release, with some of its columns.
#[derive(Debug)]
pub(super) struct Rows {
    /// How many.
    pub(super) n: usize,
    /// Whether there are more.
    pub(super) sampled: bool,
    /// The columns, in the order in which they were asked for.
    pub(super) columns: Vec<Coded>,
}

/// A column of texts.
#[derive(Debug, Default)]
pub(super) struct Coded {
    /// The different texts, ascending.
    pub(super) texts: Vec<Box<str>>,
    /// The text of each row.
    pub(super) of_row: Vec<u32>,
}

impl Rows {
    /// Reads about `most` rows, all if there are no more. Which, a hash decides: of the first
    /// column's text, so that rows with the same text stay together, or of the row's place.
    pub(super) fn read(
        source: &Source,
        names: &[&str],
        (rows, most): (u64, usize),
        together: bool,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let columns = names.iter().map(|name| source.column(name));
        let columns: Vec<ColumnId> = columns.collect::<Result<_>>()?;
        let sampled = rows > most as u64;
        let share = (most as f64 / rows.max(1) as f64 * u64::MAX as f64) as u64;
        let is_taken = |spot: RowPlace, cells: &[&str]| {
            let place = (u64::from(spot.block) << 32) | u64::from(spot.row);
            let key = match together {
                true => cells.first().map_or(0, |text| hashed(text.as_bytes())),
                false => hashed(&place.to_le_bytes()),
            };
            !sampled || key <= share
        };
        let start = || Taken {
            places: Vec::new(),
            columns: vec![(HashMap::new(), Vec::new()); names.len()],
        };
        let folded = source.fold(
            &columns,
            start,
            |taken: &mut Taken, spot, cells| {
                if is_taken(spot, cells) {
                    taken.push(spot, cells);
                }
                Ok(())
            },
            watch,
        )?;
        // Which worker saw a row is up to chance.
        let workers = folded.states;
        let mut order: Vec<(RowPlace, usize, usize)> = Vec::new();
        for (worker, taken) in workers.iter().enumerate() {
            let rows = taken.places.iter().enumerate();
            order.extend(rows.map(|(row, place)| (*place, worker, row)));
        }
        order.sort_unstable();
        let coded = (0..names.len()).map(|place| Coded::of(&workers, place, &order));
        Ok(Self { n: order.len(), sampled, columns: coded.collect() })
    }
}

/// The rows that a worker takes.
struct Taken {
    places: Vec<RowPlace>,
    /// For each column its texts, numbered as they came, and which each row has.
    columns: Vec<(HashMap<String, u32>, Vec<u32>)>,
}

impl Taken {
    fn push(&mut self, place: RowPlace, cells: &[&str]) {
        self.places.push(place);
        for ((texts, codes), cell) in self.columns.iter_mut().zip(cells) {
            let next = texts.len() as u32;
            codes.push(*texts.entry_ref(*cell).or_insert(next));
        }
    }
}

impl Coded {
    /// Numbers the texts of a column in their order, for rows in this order.
    fn of(
        workers: &[Taken],
        column: usize,
        order: &[(RowPlace, usize, usize)],
    ) -> Self {
        let own = || workers.iter().map(|taken| &taken.columns[column]);
        let mut all: Vec<&str> =
            own().flat_map(|(texts, _)| texts.keys().map(String::as_str)).collect();
        all.sort_unstable();
        all.dedup();
        let ranks = own().map(|(texts, _)| {
            let mut ranks = vec![0; texts.len()];
            for (rank, text) in (0..).zip(&all) {
                if let Some(code) = texts.get(*text) {
                    ranks[*code as usize] = rank;
                }
            }
            ranks
        });
        let ranks: Vec<Vec<u32>> = ranks.collect();
        let rank = |(_, worker, row): &(RowPlace, usize, usize)| {
            let (_, codes) = &workers[*worker].columns[column];
            ranks[*worker][codes[*row] as usize]
        };
        let of_row = order.iter().map(rank).collect();
        Self { texts: all.into_iter().map(Into::into).collect(), of_row }
    }

    /// The text of a row.
    pub(super) fn text(&self, row: usize) -> &str {
        &self.texts[self.of_row[row] as usize]
    }
}

/// The same for the same bytes, today and tomorrow (FNV-1a, mixed once more).
pub(super) fn hashed(bytes: &[u8]) -> u64 {
    let fold = |hash: u64, byte: &u8| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    };
    let mut hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// What a reader sees of a column, coarse enough to be learned from.
#[derive(Debug)]
pub(super) struct Feature {
    /// The column.
    pub(super) name: String,
    /// What is seen in each row.
    pub(super) of_row: Vec<u32>,
    /// How likely each value is where something is seen.
    pub(super) values: Vec<Vec<(u32, f64)>>,
    /// How many values there are.
    pub(super) n_values: usize,
    /// Whether values stand in an order.
    pub(super) ordered: bool,
}

impl Feature {
    /// Of a column in the rows.
    pub(super) fn of(column: &PublishedColumn, coded: &Coded) -> Self {
        let reading = published_reading(column);
        let number = |text: &str| match reading.kind {
            Kind::Number | Kind::Date => reading.number_of(text),
            Kind::Category => None,
        };
        let mut rows = vec![0u64; coded.texts.len()];
        coded.of_row.iter().for_each(|code| rows[*code as usize] += 1);
        let numbers: Vec<Option<f64>> =
            coded.texts.iter().map(|text| number(text)).collect();
        let texts = SeenTexts::of(&numbers, &rows);
        let seen = texts.at(coded.of_row.iter().map(|code| *code as usize));
        Self::certain(&column.name, seen.codes, seen.n_codes, texts.ordered)
    }

    /// Of values that are seen as they are.
    pub(super) fn certain(
        name: &str,
        of_row: Vec<u32>,
        n_values: usize,
        ordered: bool,
    ) -> Self {
        let values = (0..n_values as u32).map(|code| vec![(code, 1.0)]).collect();
        Self { name: name.to_owned(), of_row, values, n_values, ordered }
    }
}
