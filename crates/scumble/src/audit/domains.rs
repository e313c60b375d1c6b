//! Whether published cells keep to the public domains of their columns.
//!
//! # Guarantee
//! Every cell of a column that has a domain stands for at least one of its values, or for "not
//! known"; values that are published one by one, in rows, distributions, matrices or groups,
//! are all of it. Numbers with noise may be anywhere.
//!
//! # Limits
//! That cells keep to a domain does not show that the table does: that is checked where the
//! table is given.
//!
//! # Cost
//! A pass over the columns that are published as they are or drawn.
//!
//! # Source
//! FORMAT.md, `domain`.

use hashbrown::HashSet;

use crate::audit::cells::CellTexts;
use crate::audit::views::Views;
use crate::error::{Error, Result};
use crate::hierarchy::{Cells, ROOT_LABEL, Ranges, Rule};
use crate::release::{Manifest, Parameters, PublishedColumn, Treatment, cell};
use crate::table::{
    ColumnId, Members, PublicDomain, Reading, Source, left_domain, strays,
};
use crate::watch::{Quiet, Watch};

/// Checks every column of a release that has a domain.
pub(super) fn check(views: &Views<'_>) -> Result<()> {
    let manifest = views.manifest;
    let listed = manifest.columns.iter().filter_map(|column| {
        let domain = column.domain.as_ref().filter(|_| !is_noise(column))?;
        Some((column, domain, column.reading()))
    });
    let listed: Vec<(&PublishedColumn, &PublicDomain, Reading)> = listed.collect();
    let mut in_rows: Vec<(&PublishedColumn, Allowed<'_>)> = Vec::new();
    for (column, domain, reading) in &listed {
        let malformed = |error: Error| {
            Error::input(format!(
                "the domain of `{}` is impossible: {error}",
                column.name
            ))
            .with_hint("the release was changed")
        };
        domain.check(reading).map_err(malformed)?;
        let members = domain.members(reading);
        match &column.treatment {
            Treatment::Kept => in_rows.push((column, Allowed::Values(members))),
            Treatment::Drawn { .. } => {
                let allowed = match column.ranges()? {
                    Some(ranges) => Allowed::Ranges(ranges, reading.clone()),
                    None => Allowed::Values(members),
                };
                check_matrices(manifest, column, &allowed)?;
                in_rows.push((column, allowed));
            }
            Treatment::Coarse { cells, .. } => {
                let inside = Inside::new(column, domain, members, *cells);
                check_cells(views, column, &inside)?;
            }
            Treatment::Weighted => check_lists(views, column, &members)?,
            Treatment::Apart => {
                let apart = views.apart()?.iter();
                let own = apart.filter(|values| values.column.name == column.name);
                let texts = own.map(|values| values.column.domain.texts());
                let out = texts.flatten().filter(|t| !members.contains(t));
                told(column, out.count() as u64)?;
            }
            Treatment::Noisy { .. } | Treatment::Redrawn => {}
        }
    }
    let rows = views.rows();
    let places = in_rows.iter().map(|(column, _)| rows.column(&column.name));
    let places: Vec<ColumnId> = places.collect::<Result<_>>()?;
    let right = |place: usize, cell: &str| in_rows[place].1.contains(cell);
    let found = strays(rows, &places, right, &Quiet(views.watch))?;
    for ((column, _), strays) in in_rows.iter().zip(found) {
        told(column, strays.map_or(0, |strays| strays.cells))?;
    }
    Ok(())
}

/// Checks that a table keeps to the domains of a release.
pub(super) fn check_table(
    source: &Source,
    manifest: &Manifest,
    watch: &dyn Watch,
) -> Result<()> {
    let columns = manifest.columns.iter().filter_map(|column| {
        let domain = column.domain.as_ref().filter(|_| !is_noise(column))?;
        Some((&*column.name, domain, column.reading()))
    });
    let columns: Vec<(&str, &PublicDomain, Reading)> = columns.collect();
    let columns: Vec<(&str, &PublicDomain, &Reading)> = columns
        .iter()
        .map(|(name, domain, reading)| (*name, *domain, reading))
        .collect();
    match left_domain(source, &columns, &Quiet(watch))? {
        None => Ok(()),
        Some((_, error)) => Err(Error::input(error.to_string())
            .in_file(source.name())
            .with_hint("give the file the release was made from")),
    }
}

/// Whether a column has noise, and with it a domain that is looked at elsewhere.
fn is_noise(column: &PublishedColumn) -> bool {
    matches!(column.treatment, Treatment::Noisy { .. } | Treatment::Redrawn)
}

/// That so many cells of a column are outside its domain, if there are any.
fn told(column: &PublishedColumn, cells: u64) -> Result<()> {
    let what = match cells {
        0 => return Ok(()),
        1 => "1 published cell is".to_owned(),
        n => format!("{n} published cells are"),
    };
    Err(Error::input(format!("{what} outside the domain of `{}`", column.name))
        .with_hint("the release was changed"))
}

/// What cells of a column may be.
enum Allowed<'a> {
    /// Values of its domain.
    Values(Members<'a>),
    /// Ranges between the ends of its domain, or numbers in them.
    Ranges(Ranges, Reading),
}

impl Allowed<'_> {
    fn contains(&self, cell: &str) -> bool {
        match self {
            Self::Values(members) => members.contains(cell),
            Self::Ranges(ranges, reading) => ranges.text(reading, cell).is_some(),
        }
    }
}

/// Values that may be drawn.
fn check_matrices(
    manifest: &Manifest,
    column: &PublishedColumn,
    members: &Allowed<'_>,
) -> Result<()> {
    for class in &manifest.classes {
        let Parameters::Subtables { subtables } = &class.parameters else { continue };
        let Some(part) = class.of.iter().position(|name| *name == column.name) else {
            continue;
        };
        let values = subtables.iter().flat_map(|table| &table.domain);
        let out = values.filter(|value| {
            value.get(part).is_some_and(|text| !members.contains(text))
        });
        told(column, out.count() as u64)?;
    }
    Ok(())
}

/// Values of distributions.
fn check_lists(
    views: &Views<'_>,
    column: &PublishedColumn,
    members: &Members<'_>,
) -> Result<()> {
    let Some(classes) = views.cells()? else { return Ok(()) };
    let is_own = |place: usize| views.manifest.columns[place].name == column.name;
    for known in classes.quasi.iter().filter(|known| is_own(known.place)) {
        if let CellTexts::Lists(lists) = &known.cells {
            let out = lists.iter().flatten().filter(|text| !members.contains(text));
            told(column, out.count() as u64)?;
        }
    }
    Ok(())
}

/// Nodes, ranges and sets.
fn check_cells(
    views: &Views<'_>,
    column: &PublishedColumn,
    inside: &Inside<'_>,
) -> Result<()> {
    let is_own = |place: usize| views.manifest.columns[place].name == column.name;
    let classes = views.cells()?;
    let known = classes.and_then(|c| c.quasi.iter().find(|known| is_own(known.place)));
    let out = match known.map(|known| &known.cells) {
        Some(CellTexts::Texts(texts)) => {
            texts.iter().filter(|text| !inside.has(text)).count() as u64
        }
        Some(CellTexts::Lists(_)) => 0,
        // One row of each group is a sample without classes.
        None => {
            let rows = views.rows();
            let place = [rows.column(&column.name)?];
            let right = |_: usize, cell: &str| inside.has(cell);
            let found = strays(rows, &place, right, &Quiet(views.watch))?;
            found[0].map_or(0, |strays| strays.cells)
        }
    };
    told(column, out)
}

/// What a cell must stand for.
struct Inside<'a> {
    reading: Reading,
    rule: Rule,
    cells: Cells,
    span: Option<[f64; 2]>,
    members: Members<'a>,
    /// The values of a list and all labels above them.
    labels: HashSet<String>,
}

impl<'a> Inside<'a> {
    fn new(
        column: &PublishedColumn,
        domain: &'a PublicDomain,
        members: Members<'a>,
        cells: Cells,
    ) -> Self {
        let reading = column.reading();
        let rule = column.hierarchy.clone().unwrap_or(Rule::Plain);
        let mut labels: HashSet<String> = HashSet::new();
        let listed = domain.words(&reading).unwrap_or_default().iter();
        let leaves = match &rule {
            Rule::Tree(tree) => tree.leaves(),
            _ => &[],
        };
        let leaves = leaves.iter().filter(|leaf| members.contains(leaf));
        let missing = reading.missing.iter();
        for value in listed.chain(leaves).chain(missing) {
            labels.extend(rule.path(&reading, value).unwrap_or_default());
            labels.insert(reading.one_text(value));
        }
        let span = domain.span(&reading);
        Self { reading, rule, cells, span, members, labels }
    }

    /// Whether a cell stands for a value of the domain, or for "not known".
    fn has(&self, text: &str) -> bool {
        if text == ROOT_LABEL || self.reading.is_missing(text) {
            return true;
        }
        if self.cells == Cells::Taxonomy {
            return match (self.rule.span(text), self.span) {
                // The end is no longer in the cell.
                (Some((start, end)), Some([low, high])) => start <= high && end > low,
                _ => self.labels.contains(text) || self.members.contains(text),
            };
        }
        let Some(named) = cell::named(self.cells, text) else {
            return false;
        };
        let iso = Reading { date_format: None, ..self.reading.clone() };
        if let (Cells::Interval, Some([low, high])) = (self.cells, self.span) {
            let ends = named.ends(|text| iso.number_of(text));
            return ends.is_some_and(|(start, end)| {
                let reaches = if named.half_open { end > low } else { end >= low };
                start <= high && reaches
            });
        }
        let inside = |text: &String| match self.span {
            Some([low, high]) => {
                iso.number_of(text).is_some_and(|n| (low..=high).contains(&n))
            }
            None => self.members.contains(text),
        };
        named.missing || named.values.iter().any(inside)
    }
}
