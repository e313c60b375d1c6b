//! The published rows as any reader sees them: groups, their sizes and their values.

use std::collections::BTreeMap;

use crate::audit::weights::{self, Weights};
use crate::error::{Error, Result};
use crate::hierarchy::{Hierarchy, Rule, Uncovered};
use crate::release::{GROUP_COLUMN, PublishedColumn, Release};
use crate::table::{Domain, Histogram, Kind, Reading, Role, scan};

/// The published rows, counted by quasi cells and sensitive values.
///
/// Rows are of one group if the texts of all their quasi cells are the same, or if they say
/// so.
#[derive(Debug)]
pub(super) struct View {
    /// Published rows; at least one.
    pub(super) rows: u64,
    /// The rows of each group.
    pub(super) sizes: Vec<u64>,
    /// The quasi columns, in the order of the manifest.
    pub(super) quasi: Vec<CellColumn>,
    /// The weights of the cells, if they have any.
    pub(super) weights: Option<Weights>,
    /// The sensitive columns, in the order of the manifest.
    pub(super) sensitive: Vec<ValueColumn>,
    /// How many rows each entry stands for.
    entries: Vec<u64>,
    // Group `g` has the entries `starts[g]..starts[g + 1]`.
    starts: Vec<usize>,
}

/// A column of cells.
#[derive(Debug)]
pub(super) struct CellColumn {
    /// Its place in the manifest.
    pub(super) place: usize,
    /// The different cells.
    pub(super) cells: CellTexts,
    /// The cell of each group.
    pub(super) of_group: Vec<u32>,
}

/// The different cells of a column as they are written.
#[derive(Debug)]
pub(super) enum CellTexts {
    /// Each as one text.
    Texts(Vec<Box<str>>),
    /// Each as the list of its values, which have weights.
    Lists(Vec<Vec<Box<str>>>),
}

impl CellTexts {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Lists(lists) => lists.len(),
        }
    }
}

/// A column of sensitive values.
#[derive(Debug)]
pub(super) struct ValueColumn {
    /// Its name.
    pub(super) name: String,
    /// Its values in their natural order.
    pub(super) domain: Domain,
    /// How they coarsen, if the manifest says so.
    pub(super) hierarchy: Option<Hierarchy>,
    /// Whether the manifest has a hierarchy that published values cannot be found in.
    pub(super) lost: bool,
    // The value of each entry.
    codes: Vec<u32>,
}

impl ValueColumn {
    /// How many published rows have each value.
    pub(super) fn rows(&self, view: &View) -> Vec<u64> {
        let mut rows = vec![0; self.domain.len()];
        for (code, n) in self.codes.iter().zip(&view.entries) {
            rows[*code as usize] += n;
        }
        rows
    }
}

impl View {
    /// Checks the checksums and the header, and counts the rows.
    pub(super) fn read(
        release: &Release,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Self> {
        let manifest = &release.manifest;
        let cells = manifest.weights.as_ref().map(|note| &note.file);
        verify(release, [&manifest.data.file].into_iter().chain(cells))?;
        let source = release.rows()?;
        let wrong = |what: &str| Error::input(what).in_file(source.name());
        // Cells with weights are in a file of their own, and rows name their group.
        let apart = manifest.weights.is_some();
        let in_data = manifest
            .columns
            .iter()
            .filter(|column| !(apart && column.role == Role::Quasi))
            .map(|column| column.name.as_str());
        let header: Vec<&str> =
            apart.then_some(GROUP_COLUMN).into_iter().chain(in_data).collect();
        if header != source.header() {
            return Err(wrong("the columns are not those of the manifest"));
        }
        let of_role = |role| {
            let columns = manifest.columns.iter().enumerate();
            columns.filter(move |(_, column)| column.role == role)
        };
        let place = |column: &PublishedColumn| {
            header.iter().position(|name| *name == column.name)
        };
        let grouped: Vec<usize> = match apart {
            true => vec![0],
            false => of_role(Role::Quasi).filter_map(|(_, c)| place(c)).collect(),
        };
        let values = of_role(Role::Sensitive).filter_map(|(_, column)| place(column));
        let places: Vec<usize> = grouped.iter().copied().chain(values).collect();
        let found = scan(&source, &places, progress)?;
        if found.n_rows != manifest.rows {
            return Err(wrong(&format!(
                "the manifest says {} rows, but there are {}",
                manifest.rows, found.n_rows
            )));
        }

        let mut codes = found.counts.columns;
        let sensitive_codes = codes.split_off(grouped.len());
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
            let of_group: Vec<u32> = starts.iter().map(|entry| codes[*entry]).collect();
            columns.push((texts, of_group));
        }
        let mut sensitive = Vec::new();
        for (((_, column), codes), texts) in
            of_role(Role::Sensitive).zip(sensitive_codes).zip(texts)
        {
            sensitive.push(ValueColumn::of(column, &texts, codes, source.name())?);
        }
        let quasi_places = of_role(Role::Quasi).map(|(place, _)| place);
        let (quasi, weights) = match (release.pdf_cells()?, columns.pop()) {
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
        let rows = found.n_rows;
        Ok(Self { rows, sizes, quasi, weights, sensitive, entries, starts })
    }

    /// How many groups there are.
    pub(super) fn n_groups(&self) -> usize {
        self.sizes.len()
    }

    /// Adds the values of a group in the sensitive column at `place`.
    pub(super) fn add_to(&self, group: usize, place: usize, values: &mut Histogram) {
        let entries = self.starts[group]..self.starts[group + 1];
        let codes = &self.sensitive[place].codes[entries.clone()];
        for (code, n) in codes.iter().zip(&self.entries[entries]) {
            values.add(*code, *n);
        }
    }

    /// How many entries a group has: the cost of adding its values.
    pub(super) fn n_entries(&self, group: usize) -> usize {
        self.starts[group + 1] - self.starts[group]
    }

    /// An empty histogram for the sensitive column at `place`.
    pub(super) fn histogram(&self, place: usize) -> Histogram {
        Histogram::new(self.sensitive[place].domain.len())
    }

    /// The values of all rows in the sensitive column at `place`.
    pub(super) fn whole(&self, place: usize) -> Histogram {
        let mut values = self.histogram(place);
        for (code, n) in self.sensitive[place].codes.iter().zip(&self.entries) {
            values.add(*code, *n);
        }
        values
    }

    /// How many groups have each size, ascending.
    pub(super) fn group_sizes(&self) -> Vec<(u64, u64)> {
        let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
        for size in &self.sizes {
            *sizes.entry(*size).or_default() += 1;
        }
        sizes.into_iter().collect()
    }
}

impl ValueColumn {
    /// A column whose values are known apart from the rows; also the code of each text.
    pub(super) fn apart(
        column: &PublishedColumn,
        texts: &[Box<str>],
        file: &str,
    ) -> Result<(Self, Vec<u32>)> {
        let places = (0..texts.len() as u32).collect();
        let mut column = Self::of(column, texts, places, file)?;
        let codes = std::mem::take(&mut column.codes);
        Ok((column, codes))
    }

    fn of(
        column: &PublishedColumn,
        texts: &[Box<str>],
        codes: Vec<u32>,
        file: &str,
    ) -> Result<Self> {
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
        let (domain, map) = rule
            .unwrap_or(&Rule::Plain)
            .domain(texts, &reading)
            .map_err(|uncovered| match uncovered {
                Uncovered::NotOfKind(_) => wrong("has values that are not of its type"),
                Uncovered::NoLeaf(_) => {
                    wrong("has values that are not in its hierarchy")
                }
            })?;
        let hierarchy = rule.map(|rule| rule.bind(&domain, &reading));
        let codes = codes.into_iter().map(|code| map[code as usize]).collect();
        Ok(Self { name: column.name.clone(), domain, hierarchy, lost, codes })
    }
}

/// Whether the manifest has checksums of the files that are read, and all of them are right.
pub(super) fn verify<'a>(
    release: &Release,
    files: impl Iterator<Item = &'a String>,
) -> Result<()> {
    for file in files {
        if !release.manifest.checksums.contains_key(file) {
            let message = format!("the manifest has no checksum of {file}");
            return Err(Error::input(message).with_hint("the release was changed"));
        }
    }
    release.verify()
}

/// How published sensitive values are read: dates stand in ISO 8601, and a file with
/// typed columns has no other way to say "not known" than nothing.
pub(super) fn published_reading(column: &PublishedColumn) -> Reading {
    let mut reading = Reading { date_format: None, ..column.reading() };
    if reading.kind != Kind::Category && !reading.is_missing("") {
        reading.missing.push(String::new());
    }
    reading
}
