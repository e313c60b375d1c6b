//! That the shares of values agree with the published cells, and with the table if it is given.
//!
//! # Guarantee
//! No entry has more rows than the cells that may stand for its values, rows that were left
//! out included, and no cell more than the entries whose values it may stand for. With the
//! table, every entry has as many rows as the table.
//!
//! # Limits
//! Without the table these conditions are necessary, and not sufficient: sets of several cells
//! and entries are not looked at. Of cells between two words, whose order a reader does not
//! know, nothing is said.

use hashbrown::{HashMap, HashSet};

use crate::audit::Original;
use crate::audit::cells::CellTexts;
use crate::audit::views::Views;
use crate::error::{Error, Result};
use crate::hierarchy::{Cells, ROOT_LABEL, Rule};
use crate::release::{ColumnShares, PublishedColumn, cell};
use crate::table::{Reading, Role, Source, scan};
use crate::watch::{Quiet, Watch};

/// Checks the shares of every column that has some.
pub(super) fn check(views: &Views<'_>, original: Option<&Original<'_>>) -> Result<()> {
    for shares in views.shares()? {
        let Some(column) = views.manifest.column(&shares.column) else { continue };
        let entries = Entries::read(column, &shares)?;
        check_cells(views, column, &shares, &entries)?;
        if let Some(values) = original.map(|o| values(o, column, views.watch)) {
            check_table(column, &shares, &entries, values?)?;
        }
    }
    Ok(())
}

/// That a file was changed.
fn at_odds(column: &PublishedColumn, what: &str) -> Error {
    let name = &column.name;
    Error::input(format!("the shares of `{name}` {what}"))
        .with_hint("the release was changed")
}

/// What the entries of a column stand for.
enum Entries {
    /// Numbers or days: from the first on, up to the last, which may be in it; and whether
    /// "not known".
    Ranges(Vec<Span>),
    /// Words.
    Words(WordEntries),
}

struct WordEntries {
    /// The entry of each value.
    of_value: HashMap<String, usize>,
    /// The entries that have values below each label.
    of_label: HashMap<String, HashSet<usize>>,
}

#[derive(Clone, Copy)]
struct Span {
    /// The ends, and whether the last is in it.
    ends: Option<(f64, f64, bool)>,
    missing: bool,
}

impl Span {
    const EVERYTHING: Self =
        Self { ends: Some((f64::NEG_INFINITY, f64::INFINITY, true)), missing: true };

    /// What an interval stands for; nothing if it is not well formed.
    fn of(text: &str, reading: &Reading) -> Option<Self> {
        if reading.is_missing(text) {
            return Some(Self { ends: None, missing: true });
        }
        let iso = Reading { date_format: None, ..reading.clone() };
        let named = cell::named(Cells::Interval, text)?;
        let (low, high) = named.ends(|word| iso.number_of(word))?;
        Some(Self { ends: Some((low, high, !named.half_open)), missing: named.missing })
    }

    fn meets(self, other: Self) -> bool {
        let before = |(_, high, closed): (f64, f64, bool),
                      (low, ..): (f64, f64, bool)| {
            if closed { high < low } else { high <= low }
        };
        let numbers = self.ends.zip(other.ends);
        let numbers = numbers.is_some_and(|(a, b)| !before(a, b) && !before(b, a));
        numbers || self.missing && other.missing
    }
}

impl Entries {
    fn read(column: &PublishedColumn, shares: &ColumnShares) -> Result<Self> {
        let reading = column.reading();
        let malformed = || at_odds(column, "have an entry that is none");
        let texts = shares.entries.iter().map(|(text, _)| text);
        if column.share_cells() == Cells::Interval {
            let spans = texts.map(|text| Span::of(text, &reading));
            let spans: Vec<Span> =
                spans.collect::<Option<_>>().ok_or_else(malformed)?;
            let mut sorted: Vec<Span> = spans.clone();
            let low = |span: &Span| span.ends.map_or(f64::INFINITY, |(low, ..)| low);
            sorted.sort_by(|a, b| low(a).total_cmp(&low(b)));
            let twice = sorted.windows(2).any(|pair| pair[0].meets(pair[1]));
            if twice || spans.iter().filter(|span| span.missing).count() > 1 {
                return Err(at_odds(column, "have a value in two entries"));
            }
            return Ok(Self::Ranges(spans));
        }
        let rule = column.hierarchy.as_ref().unwrap_or(&Rule::Plain);
        let mut of_value: HashMap<String, usize> = HashMap::new();
        let mut of_label: HashMap<String, HashSet<usize>> = HashMap::new();
        for (place, text) in texts.enumerate() {
            let named = cell::named(Cells::Set, text).ok_or_else(malformed)?;
            let missing = named.missing.then(|| reading.missing_text().to_owned());
            for value in named.values.into_iter().chain(missing) {
                let value = reading.one_text(&value);
                let path = rule.path(&reading, &value).unwrap_or_default();
                for label in path.into_iter().chain([value.clone(), ROOT_LABEL.into()])
                {
                    of_label.entry(label).or_default().insert(place);
                }
                if of_value.insert(value, place).is_some() {
                    return Err(at_odds(column, "have a value in two entries"));
                }
            }
        }
        Ok(Self::Words(WordEntries { of_value, of_label }))
    }

    /// The entries that have a value in common with a published cell; nothing if that cannot
    /// be told.
    fn of_cell(&self, column: &PublishedColumn, text: &str) -> Option<Vec<usize>> {
        let reading = column.reading();
        let rule = column.hierarchy.as_ref().unwrap_or(&Rule::Plain);
        let nodes = column.cells() == Some(Cells::Taxonomy);
        match self {
            Self::Ranges(spans) => {
                let own = match text {
                    ROOT_LABEL => Span::EVERYTHING,
                    _ => match rule.span(text).filter(|_| nodes) {
                        Some((low, high)) => {
                            Span { ends: Some((low, high, false)), missing: false }
                        }
                        None => Span::of(text, &reading)?,
                    },
                };
                let met = spans.iter().enumerate().filter(|(_, span)| span.meets(own));
                Some(met.map(|(place, _)| place).collect())
            }
            Self::Words(words) => {
                if nodes || text == ROOT_LABEL {
                    let met = words.of_label.get(text).into_iter().flatten();
                    return Some(met.copied().collect());
                }
                let named = cell::named(column.cells()?, text)?;
                if column.cells() == Some(Cells::Interval) && named.values.len() > 1 {
                    return None;
                }
                let missing = named.missing.then(|| reading.missing_text().to_owned());
                let values = named.values.into_iter().chain(missing);
                let met = values
                    .filter_map(|v| words.of_value.get(&reading.one_text(&v)).copied());
                let met: HashSet<usize> = met.collect();
                Some(met.into_iter().collect())
            }
        }
    }

    /// The entry of a value of the table.
    fn of_value(&self, column: &PublishedColumn, value: &str) -> Option<usize> {
        let reading = column.reading();
        match self {
            Self::Ranges(spans) => {
                let iso = Reading { date_format: None, ..reading.clone() };
                let number =
                    || reading.number_of(value).or_else(|| iso.number_of(value));
                let own = match reading.is_missing(value) {
                    true => Span { ends: None, missing: true },
                    false => {
                        let number = number()?;
                        Span { ends: Some((number, number, true)), missing: false }
                    }
                };
                spans.iter().position(|span| span.meets(own))
            }
            Self::Words(words) => words.of_value.get(&reading.one_text(value)).copied(),
        }
    }
}

/// Compares with the published cells.
fn check_cells(
    views: &Views<'_>,
    column: &PublishedColumn,
    shares: &ColumnShares,
    entries: &Entries,
) -> Result<()> {
    let Some(classes) = views.cells()? else { return Ok(()) };
    let is_own = |place: usize| views.manifest.columns[place].name == column.name;
    let Some(own) = classes.quasi.iter().find(|own| is_own(own.place)) else {
        return Ok(());
    };
    let CellTexts::Texts(texts) = &own.cells else { return Ok(()) };
    let mut rows = vec![0; texts.len()];
    for (cell, size) in own.of_group.iter().zip(&classes.sizes) {
        rows[*cell as usize] += size;
    }
    let mut most = vec![views.manifest.left_out; shares.entries.len()];
    let (mut lacks, mut known) = (false, true);
    for (text, rows) in texts.iter().zip(&rows) {
        let Some(met) = entries.of_cell(column, text) else {
            known = false;
            continue;
        };
        let there: u64 = met.iter().map(|place| shares.entries[*place].1).sum();
        lacks |= there < *rows;
        met.iter().for_each(|place| most[*place] += rows);
    }
    let mut too_many = shares.entries.iter().zip(&most).map(|((_, n), most)| n > most);
    if lacks || known && too_many.any(|is| is) {
        return Err(at_odds(column, "do not agree with its cells"));
    }
    Ok(())
}

/// How many rows of the table have each text of a column.
fn values(
    original: &Original<'_>,
    column: &PublishedColumn,
    watch: &dyn Watch,
) -> Result<Vec<(Box<str>, u64)>> {
    if let Some(data) = original.counted.as_deref()
        && let Some(own) = data.quasi.iter().find(|own| own.name == column.name)
    {
        let rows = own.domain.texts().iter().cloned().zip(own.rows.iter().copied());
        return Ok(rows.filter(|(_, rows)| *rows > 0).collect());
    }
    let Some(source) = &original.rows else { return Ok(Vec::new()) };
    of_source(source, &column.name, watch)
}

fn of_source(
    source: &Source,
    name: &str,
    watch: &dyn Watch,
) -> Result<Vec<(Box<str>, u64)>> {
    let found = scan(source, &[source.column(name)?], &Quiet(watch))?;
    let dictionaries = found.dictionaries.into_iter();
    let values = dictionaries.flat_map(|found| {
        let rows = found.rows.into_iter();
        found.texts.into_vec().into_iter().zip(rows).collect::<Vec<_>>()
    });
    Ok(values.collect())
}

/// Compares with the table.
fn check_table(
    column: &PublishedColumn,
    shares: &ColumnShares,
    entries: &Entries,
    values: Vec<(Box<str>, u64)>,
) -> Result<()> {
    let differ = || {
        at_odds(column, "are not those of the table")
            .with_hint("give the file the release was made from")
    };
    if values.is_empty() || column.role != Role::Quasi {
        return Ok(());
    }
    let mut rows = vec![0; shares.entries.len()];
    for (text, n) in values {
        rows[entries.of_value(column, &text).ok_or_else(differ)?] += n;
    }
    match shares.entries.iter().zip(rows).all(|((_, said), found)| *said == found) {
        true => Ok(()),
        false => Err(differ()),
    }
}
