//! The published rows of a release, in memory, and what its manifest says of their columns.

pub(crate) mod cells;
mod distinct;
mod drawn;
pub(crate) mod groups;
pub(crate) mod lattice;
mod shares;
pub(crate) mod taught;
mod texts;

pub(crate) use drawn::DrawnColumns;
pub(crate) use texts::{canonical, coded, in_order};

use std::collections::BTreeMap;
use std::sync::OnceLock;

use hashbrown::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::estimate::evidence::cells::{ColumnCells, Margin};
use crate::estimate::evidence::distinct::Distinct;
use crate::estimate::evidence::groups::GroupMembers;
use crate::estimate::evidence::lattice::Lattice;
use crate::estimate::laws::numbers::{Blurred, NumberColumns};
use crate::estimate::learn::latent::Learned;
use crate::estimate::learn::latent::read::Coarsening;
use crate::estimate::model::Model;
use crate::estimate::sample::of_table;
use crate::hierarchy::{Ranges, Rule};
use crate::release::{
    Calibration, Class, DataColumn, Parameters, PublishedColumn, Release, Seen,
    Treatment,
};
use crate::table::{Kind, NumbersTask, Reading, Role, parse_number};
use crate::watch::Watch;
use crate::words::nearest;

/// What an analyst has: published rows and how they were made.
#[derive(Debug)]
pub struct Evidence {
    pub(in crate::estimate) columns: Vec<Column>,
    pub(in crate::estimate) noises: Vec<DrawnColumns>,
    /// How many published rows are the same in all columns.
    pub(in crate::estimate) rows: Vec<u64>,
    /// How many rows of the table each of them stands for, if they are a sample.
    pub(in crate::estimate) stands_for: Option<Vec<f64>>,
    /// Rows and values of each group, for every column whose values are in a file of their
    /// own.
    pub(in crate::estimate) groups: Vec<GroupMembers>,
    /// Numbers row by row, if they were blurred or drawn anew; rows that share all other
    /// columns are one distinct row.
    pub(in crate::estimate) blurred: Option<Blurred>,
    /// What generalized cells stand for.
    pub(in crate::estimate) cells: Vec<ColumnCells>,
    /// How they came to be.
    pub(in crate::estimate) coarsened: Vec<Coarsening>,
    /// The places of the columns that the table has, too.
    pub(in crate::estimate) table: Vec<usize>,
    /// For columns whose noise rows of a person share, how many rows do.
    pub(in crate::estimate) shared: BTreeMap<String, f64>,
    /// How many rows of the table were left out.
    pub(in crate::estimate) left_out: f64,
    /// How far answers were off when the publisher asked.
    pub(in crate::estimate) calibration: Option<Calibration>,
    /// For each column of which the release says how often its values occur in the table,
    /// that alone.
    pub(in crate::estimate) margins: Vec<Evidence>,
    /// Rows that were left out, as far as these shares tell what they are: as many as were
    /// published.
    pub(in crate::estimate) left: Option<Box<Evidence>>,
    /// What is taken for granted where the release leaves values open.
    pub(in crate::estimate) model: Model,
    /// What the release teaches, once somebody asked.
    pub(crate) learned: OnceLock<Option<Learned>>,
}

/// A published column.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) reading: Reading,
    /// Its values in their own order; of a randomized column, those of all its domains.
    pub(crate) texts: Vec<Box<str>>,
    /// The value of each distinct row; of a generalized column, its cell.
    pub(crate) codes: Vec<u32>,
    pub(crate) nature: Nature,
    /// How values coarsen, if the release says so.
    pub(crate) rule: Option<Rule>,
    /// Whether all rows of a group of people have the same.
    pub(crate) shared: bool,
    /// Of a randomized column whose values are ranges of numbers: which of the columns with
    /// cells says what these stand for.
    pub(crate) within: Option<usize>,
}

/// What was done to a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Published as it was.
    Kept,
    /// Randomized: which noise, and which of its columns this is.
    Drawn(usize, usize),
    /// Coarsened: which of the generalized columns it is.
    Coarse(usize),
    /// In a file of its own, by group.
    Apart,
    /// Blurred or drawn anew: which of these columns it is. It has neither texts nor codes.
    Number(usize),
}

impl Evidence {
    /// Reads a release, once its files are found to be those that were published.
    pub fn read(release: &Release, watch: &dyn Watch) -> Result<Self> {
        let seen = Seen::open(release)?;
        let layout = seen.manifest().layout();
        let in_file = |error: Error| error.in_file(seen.name());
        let numbers = NumberColumns::of(layout).map_err(in_file)?;
        let data_columns = layout.data_columns();
        let known = data_columns.iter().filter(|column| !numbers.has(column.name()));
        let known: Vec<DataColumn<'_>> = known.copied().collect();
        let (distinct, read) = match numbers.is_empty() {
            true => {
                let names: Vec<&str> = known.iter().map(|c| c.name()).collect();
                (Distinct::of_scan(seen.count(&names, watch)?), None)
            }
            false => {
                let exact = known.iter().map(|c| (c.name(), reading(*c))).collect();
                let all = numbers.task();
                let task =
                    NumbersTask { numbers: all, exact, wish: None, person: None };
                let read = seen.numbers(&task, watch)?;
                (Distinct::of_numbers(&read, known.len()), Some(read))
            }
        };
        let rows = distinct.rows;
        let mut raw = known.iter().zip(distinct.columns);
        let mut columns: Vec<Column> = Vec::with_capacity(data_columns.len());
        for column in &data_columns {
            match column {
                DataColumn::Cells(listed) if numbers.has(&listed.name) => {
                    columns.push(Column::of_numbers(listed, &numbers));
                }
                _ if numbers.has(column.name()) => {}
                _ => columns.extend(raw.next().map(|(column, (texts, codes))| {
                    Column::known(*column, texts, codes)
                })),
            }
        }

        let (mut cells, mut noises) = (Vec::new(), Vec::new());
        let mut coarsened = Vec::new();
        let pdf = seen.cells(watch)?;
        let (shares, left_out) = (seen.shares(watch)?, seen.manifest().left_out);
        let mut margins: Vec<(String, Margin)> = Vec::new();
        for listed in layout.columns {
            let (columns, number) = (&mut columns, cells.len());
            let found = match &listed.treatment {
                Treatment::Coarse { level: Some(0), .. } | Treatment::Kept => continue,
                Treatment::Coarse { .. } => {
                    let own = shares.iter().find(|own| own.column == listed.name);
                    let own = own.map(|own| (own, left_out));
                    ColumnCells::coarse(listed, columns, &rows, number, own).map(
                        |raked| {
                            margins
                                .extend(raked.margin.map(|m| (listed.name.clone(), m)));
                            raked.cells
                        },
                    )
                }
                Treatment::Weighted => {
                    let pdf = pdf
                        .as_ref()
                        .ok_or_else(|| Error::input("the manifest has no weights"))?;
                    ColumnCells::weighted(layout, listed, pdf, columns, number)
                }
                // What rows of a class share says more than the treatment.
                Treatment::Drawn { .. }
                | Treatment::Noisy { .. }
                | Treatment::Apart
                | Treatment::Redrawn => continue,
            };
            cells.push(found.map_err(in_file)?);
            coarsened.push(Coarsening::of(seen.manifest(), listed));
        }
        let mut ranged = Vec::new();
        for listed in layout.columns {
            let Some(ranges) = listed.ranges().map_err(in_file)? else { continue };
            let place = columns.iter().position(|c| c.name == listed.name);
            let place = place.ok_or_else(|| in_file(no_column(&listed.name)))?;
            let number = cells.len() + ranged.len();
            columns[place].take_as(&ranges, number).map_err(in_file)?;
            ranged.push((place, listed));
        }
        for class in layout.classes {
            if let Parameters::Subtables { subtables } = &class.parameters {
                let number = noises.len();
                let found = DrawnColumns::read(class, subtables, number, &mut columns);
                noises.push(found.map_err(in_file)?);
            }
        }
        for (place, listed) in ranged {
            let texts = columns[place].texts.clone();
            let rows = vec![0; texts.len()];
            cells.push(ColumnCells::read(listed, texts, &rows).map_err(in_file)?.1);
        }
        let stands_for = match layout.sampled {
            None => None,
            Some(name) => {
                let column = columns.iter().find(|column| column.name == name);
                let sizes = column.and_then(|column| column.whole_numbers());
                Some(sizes.ok_or_else(|| {
                    in_file(Error::input(format!(
                        "column `{name}` must tell how many rows each row stands for"
                    )))
                })?)
            }
        };
        let blurred = match read {
            None => None,
            Some(read) => {
                let numbers = numbers.numbers(&read, &columns);
                Some(numbers.map_err(|what| in_file(Error::input(what)))?)
            }
        };
        let groups = GroupMembers::read_all(&seen, &mut columns, &rows, watch)?;
        let table = of_table(layout, &columns);
        let person = seen.manifest().person.as_ref();
        let shared = person.map_or_else(BTreeMap::new, |person| person.shared.clone());
        let mut found = Self {
            columns,
            noises,
            rows,
            stands_for,
            groups,
            blurred,
            cells,
            coarsened,
            table,
            shared,
            left_out: 0.0,
            calibration: seen.manifest().calibration.clone(),
            margins: Vec::new(),
            left: None,
            model: Model::Even,
            learned: OnceLock::new(),
        };
        found.model = found.own_model();
        found.check_sample()?;
        found.share(margins);
        let left_out = seen.manifest().left_beside(found.n_rows() as u64);
        found.left_out = left_out as f64;
        Ok(found)
    }

    /// Rows of a sample stand for others, which have other values and numbers.
    fn check_sample(&self) -> Result<()> {
        let what = match (&*self.groups, &self.blurred) {
            _ if self.stands_for.is_none() => return Ok(()),
            ([], None) => return Ok(()),
            ([_, ..], _) => "values that stand apart",
            ([], Some(_)) => "numbers with noise",
        };
        Err(Error::input(format!(
            "a release with {what} cannot be a sample of one row of each group"
        )))
    }

    /// The numbers that a column of numbers can have.
    pub(in crate::estimate) fn lattice(&self, number: usize) -> &Lattice {
        let blurred = self.blurred.as_ref();
        blurred.expect("a column of numbers was read with them").lattice(number)
    }

    /// How many rows of the table the release stands for.
    pub fn n_rows(&self) -> f64 {
        (0..self.rows.len()).map(|entry| self.weight(entry).0).sum()
    }

    /// For how many rows of the table a distinct row stands, and the sum of the squares of
    /// these numbers over the published rows.
    pub(in crate::estimate) fn weight(&self, entry: usize) -> (f64, f64) {
        let rows = self.rows[entry] as f64;
        match &self.stands_for {
            None => (rows, rows),
            Some(sizes) => (rows * sizes[entry], rows * sizes[entry].powi(2)),
        }
    }

    /// How many combinations of published values these columns have.
    pub fn n_tuples(&self, columns: &[&str]) -> Result<usize> {
        let places = columns.iter().map(|name| self.column(name));
        let places: Vec<usize> = places.collect::<Result<_>>()?;
        let tuple = |entry: usize| -> Vec<u32> {
            places.iter().map(|place| self.columns[*place].codes[entry]).collect()
        };
        Ok((0..self.rows.len()).map(tuple).collect::<HashSet<Vec<u32>>>().len())
    }

    /// The place of a column that questions can be asked of. Case matters only if two
    /// names differ by nothing else.
    pub(in crate::estimate) fn column(&self, name: &str) -> Result<usize> {
        let names = || self.columns.iter().map(|column| column.name.as_str());
        let alike = |other: &str| other.eq_ignore_ascii_case(name);
        let exact = names().position(|other| other == name);
        let place = exact.or_else(|| match names().filter(|o| alike(o)).count() {
            1 => names().position(alike),
            _ => None,
        });
        if let Some(place) = place {
            return Ok(place);
        }
        let cell = name.strip_prefix("CELL(").and_then(|n| n.strip_suffix(')'));
        let known = |own: &&str| names().any(|other| other.eq_ignore_ascii_case(own));
        if let Some(own) = cell.filter(known) {
            let message = format!("`{own}` has no generalized cells here");
            let hint = format!("ask about `{own}` itself");
            return Err(Error::recipe(message).with_hint(hint));
        }
        let listed =
            || names().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        let has =
            nearest(name, names()).map_or_else(listed, |near| format!("`{near}`"));
        let error = Error::recipe(format!("no column is called `{name}`"));
        Err(error.with_hint(format!("the release has {has}")))
    }
}

fn no_column(name: &str) -> Error {
    Error::input(format!("there is no column `{name}`"))
}

/// How the texts of a column of the data are read.
fn reading(column: DataColumn<'_>) -> Reading {
    match column {
        DataColumn::Cells(listed) => listed.reading(),
        DataColumn::Class(
            Class { parameters: Parameters::Subtables { .. }, .. },
            _,
        )
        | DataColumn::Size(_) => Reading { kind: Kind::Number, ..Reading::category() },
        DataColumn::Class(..) | DataColumn::Spread(..) => Reading::category(),
    }
}

impl Column {
    /// A published column.
    pub(crate) fn new(
        listed: &PublishedColumn,
        texts: Vec<Box<str>>,
        codes: Vec<u32>,
        nature: Nature,
    ) -> Self {
        let (name, reading) = (listed.name.clone(), listed.reading());
        let (rule, shared) = (listed.hierarchy.clone(), listed.role == Role::Quasi);
        Self { name, reading, texts, codes, nature, rule, shared, within: None }
    }

    /// A column as it is in the data.
    fn known(column: DataColumn<'_>, texts: Vec<Box<str>>, codes: Vec<u32>) -> Self {
        let reading = reading(column);
        let (texts, ranks) = in_order(texts, &reading);
        let codes = codes.into_iter().map(|code| ranks[code as usize]).collect();
        let (name, nature) = (column.name().to_owned(), Nature::Kept);
        match column {
            DataColumn::Cells(listed) => Self::new(listed, texts, codes, nature),
            DataColumn::Class(..) | DataColumn::Spread(..) | DataColumn::Size(_) => {
                let (rule, shared, within) = (None, false, None);
                Self { name, reading, texts, codes, nature, rule, shared, within }
            }
        }
    }

    /// A column of numbers that rows have one by one.
    fn of_numbers(listed: &PublishedColumn, numbers: &NumberColumns<'_>) -> Self {
        let nature = Nature::Number(numbers.place(&listed.name));
        let column = Self::new(listed, Vec::new(), Vec::new(), nature);
        let reading = Reading { kind: Kind::Number, ..listed.reading() };
        Self { reading, rule: None, shared: false, ..column }
    }

    /// The values as whole numbers of at least 1.
    pub(crate) fn whole_numbers(&self) -> Option<Vec<f64>> {
        let number = |text: &str| {
            let number = parse_number(text)?;
            (number >= 1.0 && number.fract() == 0.0).then_some(number)
        };
        let numbers: Vec<f64> =
            self.texts.iter().map(|text| number(text)).collect::<Option<_>>()?;
        Some(self.codes.iter().map(|code| numbers[*code as usize]).collect())
    }

    /// Takes numbers as ranges, and has all of these as values; the column with cells of this
    /// number says what they stand for.
    fn take_as(&mut self, ranges: &Ranges, number: usize) -> Result<()> {
        let beyond = || {
            let name = &self.name;
            Error::input(format!("`{name}` has a cell that is in none of its ranges"))
                .with_hint("the release was changed")
        };
        let own = self.texts.iter().map(|text| ranges.text(&self.reading, text));
        let own: Vec<String> = own.collect::<Option<_>>().ok_or_else(beyond)?;
        let missing = self.reading.missing_text();
        let mut texts: Vec<Box<str>> = ranges.labels().map(Into::into).collect();
        texts.extend(own.iter().any(|text| text == missing).then(|| missing.into()));
        let places = texts.iter().map(|text| &**text).zip(0..);
        let places: HashMap<&str, u32> = places.collect();
        let ranks: Vec<u32> = own.iter().map(|text| places[text.as_str()]).collect();
        drop(places);
        self.codes.iter_mut().for_each(|code| *code = ranks[*code as usize]);
        self.texts = texts;
        self.within = Some(number);
        Ok(())
    }

    /// Adds values that may not occur among the rows.
    pub(crate) fn extend(&mut self, texts: Vec<Box<str>>) {
        if self.within.is_some() {
            // All ranges are there, in their order; what is not known may be drawn, too.
            let missing = texts.into_iter().find(|text| self.reading.is_missing(text));
            let known = self.texts.iter().any(|text| self.reading.is_missing(text));
            self.texts.extend(missing.filter(|_| !known));
            return;
        }
        let all = std::mem::take(&mut self.texts).into_iter().chain(texts).collect();
        let (texts, ranks) = in_order(all, &self.reading);
        for code in &mut self.codes {
            *code = ranks[*code as usize];
        }
        self.texts = texts;
    }
}
