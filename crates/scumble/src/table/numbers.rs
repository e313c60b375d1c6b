//! The numbers of a table, row by row: what is needed where every row has a place in space.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::table::{ColumnId, Folded, Reading, RowPlace, Source};
use crate::watch::Watch;

/// Which columns to read.
#[derive(Debug, Clone)]
pub struct NumbersTask<'a> {
    /// Columns of numbers, and how they are read.
    pub numbers: Vec<(&'a str, Reading)>,
    /// Columns that are kept as they are, and what stands for "not known" in them.
    pub exact: Vec<(&'a str, Reading)>,
    /// A column that says how much each row asks for.
    pub wish: Option<&'a str>,
    /// The column that tells people apart, and what names nobody in it.
    pub person: Option<(&'a str, Reading)>,
}

/// Numbers of a table, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers {
    /// How many rows there are.
    pub n_rows: usize,
    /// How many decimals each column's numbers have, at most.
    pub decimals: Vec<u32>,
    /// The numbers, row after row; NaN where one is missing.
    pub values: Vec<f64>,
    /// Which kind of row each is, by its exact cells.
    pub kinds: Vec<u32>,
    /// The cells of each kind, in the order of their texts.
    pub kind_cells: Vec<Vec<Box<str>>>,
    /// What each row asks for; empty if nobody was asked.
    pub wishes: Vec<f64>,
    /// Whose each row is: the first row of the same person. Empty if nobody has several.
    pub persons: Vec<u32>,
}

impl Numbers {
    /// Reads them. Every cell of a column of numbers must be a finite number or missing,
    /// and every wish a number from 1 on.
    pub fn read(
        source: &Source,
        task: &NumbersTask<'_>,
        watch: &dyn Watch,
    ) -> Result<Self> {
        Self::read_blocks(source, task, watch).map(|(numbers, _)| numbers)
    }

    /// Reads them, and tells how many rows stand before each block of the file, so that
    /// rows are known again when it is read once more.
    pub fn read_blocks(
        source: &Source,
        task: &NumbersTask<'_>,
        watch: &dyn Watch,
    ) -> Result<(Self, Vec<u64>)> {
        let names: Vec<&str> = task
            .numbers
            .iter()
            .chain(&task.exact)
            .map(|(name, _)| *name)
            .chain(task.wish)
            .chain(task.person.iter().map(|(name, _)| *name))
            .collect();
        let columns: Vec<ColumnId> =
            names.iter().map(|name| source.column(name)).collect::<Result<_>>()?;
        let (n_numbers, n_exact) = (task.numbers.len(), task.exact.len());
        let folded = source.fold(
            &columns,
            || WorkerRows::new(n_numbers),
            |part, spot, cells| {
                let (numbers, rest) = cells.split_at(n_numbers);
                for (column, cell) in numbers.iter().enumerate() {
                    let (_, reading) = &task.numbers[column];
                    let value = if reading.is_missing(cell) {
                        Ok(f64::NAN)
                    } else {
                        parse(cell)
                    };
                    match value {
                        Ok(value) => part.values.push(value),
                        Err(fault) => {
                            part.fault(spot, column, fault);
                            part.values.push(f64::NAN);
                        }
                    }
                    let decimals = decimals(cell);
                    part.decimals[column] = part.decimals[column].max(decimals);
                }
                let (exact, rest) = rest.split_at(n_exact);
                let (wish, person) = rest.split_at(usize::from(task.wish.is_some()));
                let exact: Vec<Box<str>> = exact
                    .iter()
                    .zip(&task.exact)
                    .map(|(cell, (_, reading))| {
                        let missing = reading.is_missing(cell);
                        if missing { reading.missing_text() } else { cell }.into()
                    })
                    .collect();
                let kind = part.kind(exact);
                part.kinds.push(kind);
                if let [wish] = wish {
                    let value = parse(wish).ok().filter(|value| *value >= 1.0);
                    if value.is_none() {
                        part.fault(spot, n_numbers + n_exact, CellFault::Wish);
                    }
                    part.wishes.push(value.unwrap_or(1.0));
                }
                if let ([name], Some((_, reading))) = (person, &task.person) {
                    let named = Some(*name).filter(|name| !reading.is_missing(name));
                    part.names.push(named.map(Into::into));
                }
                part.spots.push(spot);
                Ok(())
            },
            watch,
        )?;
        let first =
            folded.states.iter().filter_map(|part| part.fault).min_by_key(|f| f.0);
        if let Some((spot, column, fault)) = first {
            let error = fault.error(folded.row_number(spot), names[column]);
            return Err(error.in_file(source.name()));
        }
        let Folded { states, n_rows, block_starts } = folded;
        Ok((gathered(&states, &block_starts, n_rows, n_numbers), block_starts))
    }

    /// Gives rows of each of these kinds other cells; kinds with the same cells become one.
    pub fn set_kinds(&mut self, kinds: &[u32], cells: &[Vec<Box<str>>]) {
        self.kind_cells = cells.to_vec();
        self.kind_cells.sort_unstable();
        self.kind_cells.dedup();
        let place =
            |cells| self.kind_cells.partition_point(|known| known < cells) as u32;
        let number: Vec<u32> = cells.iter().map(place).collect();
        self.kinds = kinds.iter().map(|kind| number[*kind as usize]).collect();
    }

    /// The first row of the same person that has the same cells and numbers, for each row;
    /// nothing if nobody has several rows.
    pub fn same_of_person(&self) -> Option<Vec<u32>> {
        if self.persons.is_empty() {
            return None;
        }
        // Both zeros are the same number, and all that is missing is.
        let bits = |value: &f64| match value.is_nan() {
            true => f64::NAN.to_bits(),
            false => (value + 0.0).to_bits(),
        };
        let mut first: HashMap<(u32, u32, Vec<u64>), u32> = HashMap::new();
        let rows = 0..self.n_rows as u32;
        let found = rows.map(|row| {
            let at = row as usize;
            let numbers = self.row(at).iter().map(bits).collect();
            *first.entry((self.persons[at], self.kinds[at], numbers)).or_insert(row)
        });
        Some(found.collect())
    }

    /// How many columns of numbers there are.
    pub fn n_columns(&self) -> usize {
        self.decimals.len()
    }

    /// The numbers of a row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n_columns()..][..self.n_columns()]
    }

    /// Rounds every column to so many decimals.
    pub fn snap(&mut self, decimals: &[u32]) {
        let n_columns = self.n_columns();
        for row in self.values.chunks_exact_mut(n_columns.max(1)) {
            for (value, decimals) in row.iter_mut().zip(decimals) {
                *value = snapped(*value, *decimals);
            }
        }
    }
}

/// The number with so many decimals nearest to `value`, as its text reads back.
pub fn snapped(value: f64, decimals: u32) -> f64 {
    // Steps of ten are exact up to 10^22, and division rounds correctly: the quotient is
    // the number nearest to the decimal, as reading the text gives it.
    let scale = 10f64.powi(decimals.min(22) as i32);
    let scaled = (value * scale).round();
    if scaled.is_finite() && scaled.abs() < 9e15 { scaled / scale + 0.0 } else { value }
}

/// What is wrong with a cell.
#[derive(Debug, Clone, Copy)]
enum CellFault {
    Text,
    Infinite,
    Wish,
}

impl CellFault {
    fn error(self, row: u64, column: &str) -> Error {
        let place = |what: &str| format!("row {row}, column `{column}`: {what}");
        match self {
            Self::Text => Error::input(place("the cell is not a number")).with_hint(
                "only numbers can be blurred; list texts for \"not known\" under \
                     `[input] missing`, or give the column another role",
            ),
            Self::Infinite => Error::input(place("the number is not finite"))
                .with_hint(
                    "take the row out, or list the text under `[input] missing`",
                ),
            Self::Wish => Error::input(place("the cell is not a number from 1 on"))
                .with_hint("it says among how many people this one must be hidden"),
        }
    }
}

/// Reads a finite number, however many digits it has.
pub fn parse_finite(text: &str) -> Option<f64> {
    parse(text).ok()
}

fn parse(text: &str) -> std::result::Result<f64, CellFault> {
    let text = text.trim();
    let number: f64 = text.parse().map_err(|_| CellFault::Text)?;
    if number.is_nan() {
        return Err(CellFault::Text);
    }
    if number.is_infinite() { Err(CellFault::Infinite) } else { Ok(number + 0.0) }
}

/// How many decimals a number is written with.
pub(super) fn decimals(text: &str) -> u32 {
    let text = text.trim();
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let written = mantissa.split_once('.').map_or("", |(_, rest)| rest);
    let written = written.trim_end_matches('0').len() as i64;
    let exponent: i64 = exponent.parse().unwrap_or(0);
    (written - exponent).clamp(0, 400) as u32
}

/// What one worker has read.
struct WorkerRows {
    values: Vec<f64>,
    decimals: Vec<u32>,
    kinds: Vec<u32>,
    cells: Vec<Vec<Box<str>>>,
    index: HashMap<Vec<Box<str>>, u32>,
    wishes: Vec<f64>,
    /// Who each row is of, if that was read; nothing inside if nobody knows.
    names: Vec<Option<Box<str>>>,
    spots: Vec<RowPlace>,
    fault: Option<(RowPlace, usize, CellFault)>,
}

impl WorkerRows {
    fn new(n_numbers: usize) -> Self {
        Self {
            values: Vec::new(),
            decimals: vec![0; n_numbers],
            kinds: Vec::new(),
            cells: Vec::new(),
            index: HashMap::new(),
            wishes: Vec::new(),
            names: Vec::new(),
            spots: Vec::new(),
            fault: None,
        }
    }

    /// Keeps the first fault.
    fn fault(&mut self, spot: RowPlace, column: usize, fault: CellFault) {
        if self.fault.is_none_or(|(known, ..)| spot < known) {
            self.fault = Some((spot, column, fault));
        }
    }

    fn kind(&mut self, cells: Vec<Box<str>>) -> u32 {
        let (index, known) = (&mut self.index, &mut self.cells);
        *index.entry(cells).or_insert_with_key(|cells| {
            known.push(cells.clone());
            known.len() as u32 - 1
        })
    }
}

/// Puts the workers' rows into the order of the table.
fn gathered(
    parts: &[WorkerRows],
    block_starts: &[u64],
    n_rows: u64,
    n_columns: usize,
) -> Numbers {
    let n_rows = n_rows as usize;
    let mut kind_cells: Vec<Vec<Box<str>>> =
        parts.iter().flat_map(|part| part.cells.iter().cloned()).collect();
    kind_cells.sort_unstable();
    kind_cells.dedup();
    let asked = parts.iter().any(|part| !part.wishes.is_empty());
    let mut numbers = Numbers {
        n_rows,
        decimals: vec![0; n_columns],
        values: vec![0.0; n_rows * n_columns],
        kinds: vec![0; n_rows],
        kind_cells,
        wishes: vec![1.0; if asked { n_rows } else { 0 }],
        persons: persons(parts, block_starts, n_rows),
    };
    for part in parts {
        let kinds: Vec<u32> = part
            .cells
            .iter()
            .map(|cells| {
                numbers.kind_cells.partition_point(|known| known < cells) as u32
            })
            .collect();
        for (place, spot) in part.spots.iter().enumerate() {
            let row =
                (block_starts[spot.block as usize] + u64::from(spot.row)) as usize;
            numbers.values[row * n_columns..][..n_columns]
                .copy_from_slice(&part.values[place * n_columns..][..n_columns]);
            numbers.kinds[row] = kinds[part.kinds[place] as usize];
            if asked {
                numbers.wishes[row] = part.wishes[place];
            }
        }
        for (all, one) in numbers.decimals.iter_mut().zip(&part.decimals) {
            *all = (*all).max(*one);
        }
    }
    numbers
}

/// The first row of everybody's person; empty if nobody has several, or it was not read.
fn persons(parts: &[WorkerRows], block_starts: &[u64], n_rows: usize) -> Vec<u32> {
    if parts.iter().all(|part| part.names.is_empty()) {
        return Vec::new();
    }
    let mut first: HashMap<&str, u32> = HashMap::new();
    let rows = || {
        parts.iter().flat_map(|part| {
            part.spots.iter().zip(&part.names).map(|(spot, name)| {
                let row = block_starts[spot.block as usize] + u64::from(spot.row);
                (row as u32, name.as_deref())
            })
        })
    };
    for (row, name) in rows() {
        if let Some(name) = name {
            let known = first.entry(name).or_insert(row);
            *known = row.min(*known);
        }
    }
    let mut persons: Vec<u32> = (0..n_rows as u32).collect();
    let mut repeats = false;
    for (row, name) in rows() {
        let known = name.and_then(|name| first.get(name)).copied().unwrap_or(row);
        repeats |= known != row;
        persons[row as usize] = known;
    }
    if repeats { persons } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ReadOptions;
    use crate::watch::Unwatched;

    fn read(text: &str) -> Result<Numbers> {
        let options = ReadOptions { block_bytes: Some(8), ..ReadOptions::default() };
        let source = Source::from_bytes("a.csv", text.as_bytes().to_vec(), &options)?;
        let task = NumbersTask {
            numbers: vec![("x", Reading::number()), ("y", Reading::number())],
            exact: vec![("sex", Reading::category())],
            wish: Some("k"),
            person: None,
        };
        Numbers::read(&source, &task, &Unwatched)
    }

    #[test]
    fn people_are_known_by_their_first_row() {
        let text = "who,x,k\na,1,2\nb,1,2\n,1,2\na,1.0,2\n?,1,2\nb,3,2\n,1,2\n";
        let read = |text: &str| {
            let options =
                ReadOptions { block_bytes: Some(8), ..ReadOptions::default() };
            let source =
                Source::from_bytes("a.csv", text.as_bytes().to_vec(), &options)?;
            let missing = vec![String::new(), "?".to_owned()];
            let task = NumbersTask {
                numbers: vec![("x", Reading::number())],
                exact: Vec::new(),
                wish: Some("k"),
                person: Some(("who", Reading { missing, ..Reading::category() })),
            };
            Numbers::read(&source, &task, &Unwatched)
        };
        let numbers = read(text).unwrap();
        assert_eq!(numbers.persons, [0, 1, 2, 0, 4, 1, 6]);
        assert_eq!(numbers.same_of_person().unwrap(), [0, 1, 2, 0, 4, 5, 6]);
        assert_eq!(read("who,x,k\na,1,2\nb,1,2\n").unwrap().persons, [0u32; 0]);
    }

    #[test]
    fn rows_keep_their_order_and_kinds_are_sorted() {
        let numbers =
            read("k,x,sex,y\n5,1.25,m,-3\n2,,f,1e-4\n9,7,m,0.5\n1,1.50,,2\n").unwrap();
        assert_eq!(numbers.n_rows, 4);
        assert_eq!(numbers.decimals, [2, 4]);
        assert_eq!(numbers.row(0), [1.25, -3.0]);
        assert!(numbers.row(1)[0].is_nan());
        assert_eq!(numbers.row(2), [7.0, 0.5]);
        assert_eq!(numbers.kinds, [2, 1, 2, 0]);
        assert_eq!(numbers.wishes, [5.0, 2.0, 9.0, 1.0]);
    }

    #[test]
    fn what_is_no_number_is_an_error_with_its_place() {
        let message = |text| read(text).unwrap_err().to_string();
        assert_eq!(
            message("k,x,sex,y\n5,1,m,2\n5,abc,m,2\n5,inf,m,2\n"),
            "a.csv: row 2, column `x`: the cell is not a number"
        );
        assert_eq!(
            message("k,x,sex,y\n5,1,m,-inf\n"),
            "a.csv: row 1, column `y`: the number is not finite"
        );
        assert_eq!(
            message("k,x,sex,y\n5,1,m,nan\n"),
            "a.csv: row 1, column `y`: the cell is not a number"
        );
        assert_eq!(
            message("k,x,sex,y\n0,1,m,2\n"),
            "a.csv: row 1, column `k`: the cell is not a number from 1 on"
        );
    }

    #[test]
    fn rounding_gives_what_the_text_reads_as() {
        for (value, decimals, text) in
            [(0.30000000000000004, 1, "0.3"), (2.675, 2, "2.68"), (-0.4, 0, "0")]
        {
            assert_eq!(snapped(value, decimals).to_string(), text);
        }
        assert_eq!(snapped(1e300, 3), 1e300);
    }
}
