//! The published rows as any reader sees them: groups, their sizes and their values.

use crate::audit::cells::WeightedCells;
use crate::audit::cells::weights;
use crate::audit::given::in_cell_classes;
use crate::audit::grouped::GroupedValues;
use crate::error::{Error, Result};
use crate::hierarchy::{Hierarchy, Rule, Uncovered};
use crate::release::{GROUP_COLUMN, PublishedColumn, Seen, Treatment};
use crate::table::{Code, Domain, Histogram, Kind, Reading, Role};
use crate::watch::Watch;

/// The published rows, counted by quasi cells and sensitive values.
///
/// Rows are of one group if the texts of all their quasi cells are the same, or if they say
/// so.
#[derive(Debug)]
pub(crate) struct CellClasses {
    /// Published rows; at least one.
    pub(crate) rows: u64,
    /// The rows of each group.
    pub(crate) sizes: Vec<u64>,
    /// The quasi columns, in the order of the manifest.
    pub(crate) quasi: Vec<CellColumn>,
    /// The weights of the cells, if they have any.
    pub(crate) weights: Option<WeightedCells>,
    /// The sensitive columns, in the order of the manifest.
    pub(crate) sensitive: Vec<ValueColumn>,
    // For each sensitive column the value of each entry.
    codes: Vec<Vec<Code>>,
    // How many rows each entry stands for.
    entries: Vec<u64>,
    // Group `g` has the entries `starts[g]..starts[g + 1]`.
    starts: Vec<usize>,
}

/// A column of cells.
#[derive(Debug)]
pub(crate) struct CellColumn {
    /// Its place in the manifest.
    pub(crate) place: usize,
    /// The different cells.
    pub(crate) cells: CellTexts,
    /// The cell of each group.
    pub(crate) of_group: Vec<u32>,
}

/// The different cells of a column as they are written.
#[derive(Debug)]
pub(crate) enum CellTexts {
    /// Each as one text.
    Texts(Vec<Box<str>>),
    /// Each as the list of its values, which have weights.
    Lists(Vec<Vec<Box<str>>>),
}

impl CellTexts {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Lists(lists) => lists.len(),
        }
    }
}

/// A column of sensitive values.
#[derive(Debug)]
pub(crate) struct ValueColumn {
    /// Its name.
    pub(crate) name: String,
    /// Its values in their natural order.
    pub(crate) domain: Domain,
    /// How they coarsen, if the manifest says so.
    pub(crate) hierarchy: Option<Hierarchy>,
    /// Whether the manifest has a hierarchy that published values cannot be found in.
    pub(crate) lost: bool,
}

impl CellClasses {
    /// Counts the rows.
    pub(crate) fn read(seen: &Seen<'_>, watch: &dyn Watch) -> Result<Self> {
        let manifest = seen.manifest();
        let columns = || manifest.columns.iter().enumerate();
        let quasi: Vec<(usize, &PublishedColumn)> =
            columns().filter(|(_, column)| in_cell_classes(column)).collect();
        let sensitive: Vec<&PublishedColumn> = manifest
            .columns
            .iter()
            .filter(|c| c.role == Role::Sensitive && c.treatment == Treatment::Kept)
            .collect();
        // Cells with weights are in a file of their own, and rows name their group.
        let weighted = quasi.iter().filter(|(_, c)| c.treatment == Treatment::Weighted);
        let grouped: Vec<&str> = match weighted.count() {
            0 => quasi.iter().map(|(_, column)| &*column.name).collect(),
            n if n == quasi.len() => vec![GROUP_COLUMN],
            _ => {
                return Err(Error::input(
                    "the release has weights in some of its quasi columns only, which this \
                     program does not know",
                )
                .with_hint("a newer version may know it"));
            }
        };
        let values = sensitive.iter().map(|column| &*column.name);
        let names: Vec<&str> = grouped.iter().copied().chain(values).collect();
        let found = seen.count(&names, watch)?;

        let mut codes = found.counts.columns;
        let mut sensitive_codes = codes.split_off(grouped.len());
        let entries = found.counts.rows;
        // Tuples are sorted, quasi columns first, so a group's entries stand together.
        let mut starts = Vec::new();
        for entry in 0..entries.len() {
            let repeated = entry > 0
                && codes.iter().all(|column| column[entry] == column[entry - 1]);
            if !repeated {
                starts.push(entry);
            }
        }
        let mut texts = found.dictionaries.into_iter().map(|found| found.texts);
        let mut columns = Vec::with_capacity(grouped.len());
        for (codes, texts) in codes.iter().zip(texts.by_ref()) {
            let of_group: Vec<u32> =
                starts.iter().map(|entry| codes[*entry].get()).collect();
            columns.push((texts.into_vec(), of_group));
        }
        let (published, mut sensitive) = (sensitive, Vec::new());
        for ((column, codes), texts) in
            published.into_iter().zip(&mut sensitive_codes).zip(texts)
        {
            let (column, code_of) = ValueColumn::of(column, &texts, seen.name())?;
            codes.iter_mut().for_each(|code| *code = code_of[code.index()]);
            sensitive.push(column);
        }
        let quasi_places = quasi.iter().map(|(place, _)| *place);
        let (quasi, weights) = match (seen.cells(watch)?, columns.pop()) {
            (Some(pdf), Some((texts, of_group))) => {
                let names = of_group.iter().map(|code| &*texts[*code as usize]);
                let names: Vec<&str> = names.collect();
                let (quasi, weights) =
                    weights::read(manifest, &names, pdf, quasi_places)?;
                (quasi, Some(weights))
            }
            (_, last) => {
                let columns = columns.into_iter().chain(last).zip(quasi_places);
                let column = |((texts, of_group), place)| {
                    let cells = CellTexts::Texts(texts);
                    CellColumn { place, cells, of_group }
                };
                (columns.map(column).collect(), None)
            }
        };
        starts.push(entries.len());
        let sizes =
            starts.windows(2).map(|ends| entries[ends[0]..ends[1]].iter().sum());
        let sizes = sizes.collect();
        let (rows, codes) = (found.n_rows, sensitive_codes);
        Ok(Self { rows, sizes, quasi, weights, sensitive, codes, entries, starts })
    }

    /// How many groups there are.
    pub(crate) fn n_groups(&self) -> usize {
        self.sizes.len()
    }

    /// Adds the values of a group in the sensitive column at `place`.
    pub(crate) fn add_to(&self, group: usize, place: usize, values: &mut Histogram) {
        let entries = self.starts[group]..self.starts[group + 1];
        let codes = &self.codes[place][entries.clone()];
        for (code, n) in codes.iter().zip(&self.entries[entries]) {
            values.add(*code, *n);
        }
    }

    /// The rows of a group by their sensitive values, and how many have them.
    pub(crate) fn rows_of(
        &self,
        group: usize,
    ) -> impl Iterator<Item = (Vec<Code>, u64)> + '_ {
        let entries = self.starts[group]..self.starts[group + 1];
        entries.map(|entry| {
            let codes = self.codes.iter().map(|codes| codes[entry]).collect();
            (codes, self.entries[entry])
        })
    }

    /// The sensitive columns by group.
    pub(crate) fn columns(&self) -> impl Iterator<Item = GroupedValues<'_>> {
        (0..self.sensitive.len()).map(|place| GroupedValues::InRows(self, place))
    }

    /// How many entries a group has: the cost of adding its values.
    pub(crate) fn n_entries(&self, group: usize) -> usize {
        self.starts[group + 1] - self.starts[group]
    }

    /// How many rows of a group are alone with their sensitive values, taken together.
    pub(crate) fn n_alone(&self, group: usize) -> u64 {
        let entries = &self.entries[self.starts[group]..self.starts[group + 1]];
        entries.iter().filter(|rows| **rows == 1).sum()
    }

    /// An empty histogram for the sensitive column at `place`.
    pub(crate) fn histogram(&self, place: usize) -> Histogram {
        Histogram::new(self.sensitive[place].domain.len())
    }
}

impl ValueColumn {
    /// A column with these texts, and the code of each.
    pub(crate) fn of(
        column: &PublishedColumn,
        texts: &[Box<str>],
        file: &str,
    ) -> Result<(Self, Vec<Code>)> {
        let wrong = |what: &str| {
            Error::input(format!("column `{}` {what}", column.name)).in_file(file)
        };
        let reading = published_reading(column);
        // Leaves in another form than ISO 8601 cannot be compared with published dates;
        // the order of dates needs no tree.
        let lost = matches!(&column.hierarchy, Some(Rule::Tree(_)))
            && column.date_format.is_some();
        let rule = column.hierarchy.as_ref().filter(|_| !lost);
        if let Some(rule) = rule {
            rule.check(&reading)
                .map_err(|_| wrong("has a hierarchy that does not suit it"))?;
        }
        let (domain, codes) = rule
            .unwrap_or(&Rule::Plain)
            .domain(texts, &reading)
            .map_err(|uncovered| match uncovered {
                Uncovered::NotOfKind(_) => wrong("has values that are not of its type"),
                Uncovered::Beyond(_) => wrong("has values beyond its domain"),
                Uncovered::NoLeaf(_) => {
                    wrong("has values that are not in its hierarchy")
                }
            })?;
        let hierarchy = rule.map(|rule| rule.bind(&domain, &reading));
        Ok((Self { name: column.name.clone(), domain, hierarchy, lost }, codes))
    }
}

/// How published sensitive values are read: dates stand in ISO 8601, and a file with
/// typed columns has no other way to say "not known" than nothing.
pub(crate) fn published_reading(column: &PublishedColumn) -> Reading {
    let mut reading = Reading { date_format: None, ..column.reading() };
    if reading.kind != Kind::Category && !reading.is_missing("") {
        reading.missing.push(String::new());
    }
    reading
}
