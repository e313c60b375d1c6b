//! The table that releases are measured against: the columns that a recipe publishes.

use hashbrown::HashMap;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::estimate::{DrawnTable, MixedColumn, MixedTable, SampledColumn};
use crate::recipe::Spec;
use crate::table::{
    Code, ColumnId, ColumnSchema, Inputs, Kind, Of, Reading, Role, Said, Schema,
    Source, TupleId, scan,
};
use crate::watch::Watch;

/// Columns of more words than this may be free text, and are not measured.
pub const MOST_WORDS: usize = 1000;

/// Learners see at most so many rows of a table.
pub(super) const MOST_ROWS: usize = 50_000;

/// The distinct rows of a table.
#[derive(Debug)]
pub(in crate::recipe) struct Original {
    pub(in crate::recipe) columns: Vec<OriginalColumn>,
    /// How many rows have each tuple.
    pub(super) rows: Of<TupleId, u64>,
    pub(in crate::recipe) n_rows: u64,
    /// Columns of too many words.
    pub(super) left_out: Vec<String>,
    /// Columns that not all recipes publish.
    pub(super) not_in_all: Vec<String>,
}

/// A column of it.
#[derive(Debug)]
pub(in crate::recipe) struct OriginalColumn {
    pub(in crate::recipe) name: String,
    pub(super) role: Role,
    pub(in crate::recipe) reading: Reading,
    /// The values, each in one form; "not known" is in the form that is published.
    pub(in crate::recipe) texts: Of<Code, String>,
    /// The number of each value, if it is one: not for words, and not for "not known".
    pub(super) numbers: Of<Code, Option<f64>>,
    /// The value of each tuple.
    pub(super) codes: Of<TupleId, Code>,
}

impl OriginalColumn {
    pub(super) fn is_missing(&self, code: Code) -> bool {
        self.reading.is_missing(&self.texts[code])
    }

    /// How many rows have each value, given how many have each tuple.
    pub(super) fn tally(&self, rows: &Of<TupleId, u64>) -> Of<Code, u64> {
        let mut tally = Of::repeat(0, self.texts.len());
        for (code, rows) in self.codes.iter().zip(rows) {
            tally[*code] += rows;
        }
        tally
    }

    fn new(schema: ColumnSchema, texts: &[Box<str>], codes: &[Code]) -> Self {
        let ColumnSchema { name, role, reading, .. } = schema;
        Self::coded((name, role, reading), texts, codes)
    }

    /// A column with these values, each row's by its code.
    fn coded(
        (name, role, reading): (String, Role, Reading),
        texts: &[Box<str>],
        codes: &[Code],
    ) -> Self {
        // Texts that mean the same fall together.
        let (mut forms, mut numbers) = (Of::new(), Of::new());
        let mut known: HashMap<String, Code> = HashMap::new();
        let mut code_of: Of<Code, Code> = Of::new();
        for text in texts {
            let (form, number) = form(&reading, text);
            code_of.push(*known.entry(form).or_insert_with_key(|form| {
                numbers.push(number);
                forms.push(form.clone())
            }));
        }
        let codes = codes.iter().map(|code| code_of[*code]).collect();
        let texts = forms;
        Self { name, role, reading, texts, numbers, codes }
    }
}

/// The one form of a text, and its number if it has one.
fn form(reading: &Reading, text: &str) -> (String, Option<f64>) {
    if reading.is_missing(text) {
        return (reading.missing_text().to_owned(), None);
    }
    if reading.kind == Kind::Category {
        return (text.to_owned(), None);
    }
    // Sensitive dates are published in ISO 8601, whatever they were.
    let iso = Reading { date_format: None, ..reading.clone() };
    match reading.number_of(text).or_else(|| iso.number_of(text)) {
        Some(number) => (reading.canonical(text, number), Some(number)),
        None => (text.to_owned(), None),
    }
}

impl Original {
    /// Reads the table of recipes: the columns that all of them publish, as the first
    /// one says. Columns that are `named` stay, however many words they have.
    pub(super) fn read(
        specs: &[&Spec],
        inputs: &Inputs,
        named: &[&str],
        watch: &dyn Watch,
    ) -> Result<Self> {
        let Some((spec, others)) = specs.split_first() else {
            return Err(Error::recipe("there is no recipe"));
        };
        let source = spec.input.open_table(inputs)?;
        for column in &spec.columns {
            let found = source.column(&column.name);
            found.map_err(|error| spec.error_at(column.spot, error))?;
        }
        Self::of(&source, spec, others, named, watch)
    }

    /// The same of a table that is open.
    pub(in crate::recipe) fn of(
        source: &Source,
        spec: &Spec,
        others: &[&Spec],
        named: &[&str],
        watch: &dyn Watch,
    ) -> Result<Self> {
        let specs = || std::iter::once(spec).chain(others.iter().copied());
        let publishes = |spec: &Spec, name: &str| {
            let role = spec.column(name).map(|column| column.said().role);
            matches!(role, Some(Role::Quasi | Role::Sensitive | Role::Other))
        };
        let by_any = source.columns().map(|column| (column, source.name_of(column)));
        let by_any =
            by_any.filter(|(_, name)| specs().any(|spec| publishes(spec, name)));
        let (by_all, by_some) = by_any.partition::<Vec<_>, _>(|(_, name)| {
            specs().all(|spec| publishes(spec, name))
        });
        let not_in_all = by_some.iter().map(|(_, name)| (*name).to_owned()).collect();
        let said = |name: &str| {
            // A type is said once, in whichever recipe.
            let mut said = spec.column(name)?.said();
            let also = others.iter().filter_map(|other| other.column(name));
            said.kind = said.kind.or_else(|| also.map(|own| own.said().kind).next()?);
            Some(said)
        };
        let (chosen, said): (Vec<ColumnId>, Vec<Said>) = by_all
            .into_iter()
            .filter_map(|(column, name)| Some((column, said(name)?)))
            .unzip();
        if chosen.is_empty() && !others.is_empty() {
            return Err(Error::recipe("no column is published by all recipes")
                .with_hint(
                    "what is measured are the columns that all of them publish",
                ));
        }
        let found = scan(source, &chosen, watch)?;
        let missing = &spec.input.missing;
        let schema = Schema::of_scan(source, &said, missing, &found.dictionaries)?;
        let (mut columns, mut left_out) = (Vec::new(), Vec::new());
        let cells = found.dictionaries.iter().zip(&found.counts.columns);
        for (schema, (dictionary, codes)) in schema.columns.into_iter().zip(cells) {
            let column = OriginalColumn::new(schema, &dictionary.texts, codes);
            let many = column.texts.len() > MOST_WORDS;
            if many
                && column.reading.kind == Kind::Category
                && !named.iter().any(|name| name.eq_ignore_ascii_case(&column.name))
            {
                left_out.push(column.name);
            } else {
                columns.push(column);
            }
        }
        if columns.is_empty() {
            return Err(Error::recipe("no column can be measured")
                .with_hint(format!(
                    "columns of more than {MOST_WORDS} words are taken for free text"
                ))
                .in_file(&spec.file));
        }
        let (rows, n_rows) = (found.counts.rows.into(), found.n_rows);
        Ok(Self { columns, rows, n_rows, left_out, not_in_all })
    }

    /// A drawn table with the columns of this one that have one of these names.
    pub(in crate::recipe) fn drawn(&self, drawn: &DrawnTable, names: &[&str]) -> Self {
        let own = |name: &str| drawn.columns.iter().find(|other| other.name == name);
        let columns = self.columns.iter().filter(|c| names.contains(&&*c.name));
        let columns = columns.filter_map(|column| {
            let found = own(&column.name)?;
            let codes: Vec<Code> =
                found.codes.iter().map(|code| Code::new(*code)).collect();
            let OriginalColumn { name, role, reading, .. } = column;
            let schema = (name.clone(), *role, reading.clone());
            Some(OriginalColumn::coded(schema, &found.texts, &codes))
        });
        let n_rows = drawn.n_rows();
        Self {
            columns: columns.collect(),
            rows: Of::repeat(1, n_rows),
            n_rows: n_rows as u64,
            left_out: Vec::new(),
            not_in_all: Vec::new(),
        }
    }

    /// How often the commonest value of each column is right.
    pub(super) fn commonest(&self) -> Vec<(String, f64)> {
        let share = |column: &OriginalColumn| {
            let most = column.tally(&self.rows).iter().copied().max().unwrap_or(0);
            (column.name.clone(), most as f64 / self.n_rows.max(1) as f64)
        };
        self.columns.iter().map(share).collect()
    }

    /// At most [`MOST_ROWS`] rows, chosen by a seed, as tuples.
    pub(super) fn some_rows(&self, seed: u64) -> Vec<TupleId> {
        let mut ends: Vec<u64> = Vec::with_capacity(self.rows.len());
        let mut sum = 0;
        for rows in &self.rows {
            sum += rows;
            ends.push(sum);
        }
        let tuple =
            |row: u64| TupleId::from_index(ends.partition_point(|end| *end <= row));
        if self.n_rows <= MOST_ROWS as u64 {
            return (0..self.n_rows).map(tuple).collect();
        }
        // A row may come twice; of that many it matters little.
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        (0..MOST_ROWS).map(|_| tuple(random.random_range(0..self.n_rows))).collect()
    }

    /// These tuples as a table for learners, with the class as words.
    pub(super) fn mixed(
        &self,
        tuples: &[TupleId],
        class: Option<usize>,
    ) -> Result<MixedTable> {
        let columns = self.columns.iter().enumerate().map(|(place, column)| {
            let codes = tuples.iter().map(|tuple| column.codes[*tuple]);
            if column.reading.kind == Kind::Category || class == Some(place) {
                return MixedColumn::Words(codes.map(Code::get).collect());
            }
            let number = |code: Code| column.numbers[code].unwrap_or(f64::NAN);
            MixedColumn::Numbers(codes.map(number).collect())
        });
        MixedTable::new(columns.collect())
    }

    /// A drawn table with the columns and codes of this one, at most [`MOST_ROWS`] rows of
    /// it. Words that this table does not have get one code of their own.
    pub(super) fn like(
        &self,
        drawn: &DrawnTable,
        class: Option<usize>,
        seed: u64,
    ) -> Result<MixedTable> {
        let columns = self.columns.iter().enumerate().map(|(place, column)| {
            let found = drawn.columns.iter().find(|other| other.name == column.name);
            let found = found.ok_or_else(|| {
                Error::input(format!("the release has no column `{}`", column.name))
            })?;
            let words = column.reading.kind == Kind::Category || class == Some(place);
            Ok(translated(column, found, words))
        });
        let table = MixedTable::new(columns.collect::<Result<_>>()?)?;
        Ok(table.sample(MOST_ROWS, seed))
    }
}

/// A drawn column in the codes of the original.
fn translated(
    column: &OriginalColumn,
    drawn: &SampledColumn,
    words: bool,
) -> MixedColumn {
    let forms = drawn.texts.iter().map(|text| form(&column.reading, text));
    if !words {
        let numbers: Vec<f64> =
            forms.map(|(_, number)| number.unwrap_or(f64::NAN)).collect();
        let numbers = drawn.codes.iter().map(|code| numbers[*code as usize]);
        return MixedColumn::Numbers(numbers.collect());
    }
    let known: HashMap<&str, Code> =
        column.texts.pairs().map(|(code, text)| (text.as_str(), code)).collect();
    let unknown = Code::from_index(column.texts.len());
    let codes: Vec<Code> =
        forms.map(|(text, _)| known.get(&*text).copied().unwrap_or(unknown)).collect();
    let codes = drawn.codes.iter().map(|code| codes[*code as usize].get());
    MixedColumn::Words(codes.collect())
}
