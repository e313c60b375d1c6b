//! A table read, counted, and bound to its hierarchies.

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::hierarchy::{Cells, Column, Rule, Uncovered};
use crate::table::{
    Census, Counts, Dictionary, Domain, Kind, Reading, Role, Scan, Source,
    parse_number, scan,
};
use crate::words::no_column;

/// What is said about a quasi or sensitive column before the table is read.
#[derive(Debug, Clone)]
pub struct ColumnSpec {
    /// Its name.
    pub name: String,
    /// Quasi or sensitive.
    pub role: Role,
    /// How its texts are read.
    pub reading: Reading,
    /// Whether words may turn out to be numbers: if every one of them is, the column is
    /// ordered as numbers.
    pub may_be_numbers: bool,
    /// How its values coarsen.
    pub rule: Rule,
    /// The finest level that may be published.
    pub lowest: usize,
    /// The coarsest level that may be published; the root if not given.
    pub highest: Option<usize>,
    /// How much its cells count in a loss.
    pub weight: f64,
    /// What its published cells are.
    pub cells: Cells,
    /// Values that belong to the domain even if the table does not have them.
    pub also: Vec<String>,
}

/// A table as methods and audits see it.
#[derive(Debug)]
pub struct Microdata {
    /// The quasi columns, in the order of the table.
    pub quasi: Vec<Column>,
    /// The sensitive columns, in the order of the table.
    pub sensitive: Vec<Column>,
    /// The counts, quasi columns first.
    pub census: Census,
    /// The specs of quasi and then sensitive columns, with what the table decided filled in.
    pub specs: Vec<ColumnSpec>,
    /// For quasi and then sensitive columns, the code of every text in the table.
    pub codes: Vec<HashMap<Box<str>, u32>>,
}

impl Microdata {
    /// Reads and counts the columns of `specs`, which the table must have.
    pub fn read(
        source: &Source,
        specs: &[ColumnSpec],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Self> {
        let place = |spec: &&ColumnSpec| {
            let found = source.header().iter().position(|name| *name == spec.name);
            found.ok_or_else(|| {
                no_column(source.header(), &spec.name).in_file(source.name())
            })
        };
        let of_role = |role| specs.iter().filter(move |spec| spec.role == role);
        let mut chosen: Vec<(usize, &ColumnSpec)> = Vec::new();
        for role in [Role::Quasi, Role::Sensitive] {
            let start = chosen.len();
            for spec in of_role(role) {
                chosen.push((place(&spec)?, spec));
            }
            chosen[start..].sort_by_key(|(place, _)| *place);
        }
        let places: Vec<usize> = chosen.iter().map(|(place, _)| *place).collect();
        let scan = scan(source, &places, progress)?;
        let n_quasi = of_role(Role::Quasi).count();
        let specs = chosen.into_iter().map(|(_, spec)| spec.clone()).collect();
        Self::bind(scan, specs, n_quasi, source.name())
    }

    fn bind(
        scan: Scan,
        mut specs: Vec<ColumnSpec>,
        n_quasi: usize,
        file: &str,
    ) -> Result<Self> {
        let mut bound: Vec<(Domain, Vec<u32>)> = Vec::new();
        for (dictionary, spec) in scan.dictionaries.iter().zip(&mut specs) {
            if spec.may_be_numbers
                && all_plain_numbers(&dictionary.texts, &spec.reading)
            {
                spec.reading.kind = Kind::Number;
            }
            spec.rule.check(&spec.reading).map_err(|error| in_column(&error, spec))?;
            let texts = with_more(&dictionary.texts, &spec.also);
            let (domain, mut codes) =
                spec.rule.domain(&texts, &spec.reading).map_err(|uncovered| {
                    uncovered_error(spec, dictionary, &uncovered, file)
                })?;
            codes.truncate(dictionary.texts.len());
            bound.push((domain, codes));
        }

        let maps: Vec<Vec<u32>> =
            bound.iter().map(|(_, codes)| codes.clone()).collect();
        let counts = recoded(scan.counts, &maps);
        let sizes = bound[n_quasi..].iter().map(|(domain, _)| domain.len()).collect();
        let texts: Vec<Vec<Box<str>>> =
            scan.dictionaries.into_iter().map(|dictionary| dictionary.texts).collect();
        let codes = texts
            .into_iter()
            .zip(&maps)
            .map(|(texts, map)| texts.into_iter().zip(map.iter().copied()).collect())
            .collect();
        let rows = marginals(&counts, &bound);
        let census = Census::new(counts, n_quasi, sizes);

        let mut columns = Vec::new();
        for (((domain, _), spec), rows) in bound.into_iter().zip(&mut specs).zip(rows) {
            spec.rule = spec.rule.fixed(&domain);
            spec.rule.check(&spec.reading).map_err(|error| in_column(&error, spec))?;
            columns.push(column(domain, spec, rows)?);
        }
        let sensitive = columns.split_off(n_quasi);
        Ok(Self { quasi: columns, sensitive, census, specs, codes })
    }

    /// How many rows the table has.
    pub fn n_rows(&self) -> u64 {
        self.census.n_rows()
    }
}

/// A hierarchy with more levels is a mistake, and levels are counted in a byte.
const MOST_LEVELS: usize = 100;

/// Binds the hierarchy and checks the levels.
fn column(domain: Domain, spec: &ColumnSpec, rows: Vec<u64>) -> Result<Column> {
    let hierarchy = spec.rule.bind(&domain, &spec.reading);
    let height = hierarchy.height();
    if height > MOST_LEVELS {
        return Err(Error::recipe(format!(
            "column `{}`: the hierarchy has {height} levels, but at most {MOST_LEVELS} are \
             possible",
            spec.name
        )));
    }
    let highest = spec.highest.unwrap_or(height);
    if highest > height {
        return Err(Error::out_of_range(
            format!("{}.highest", spec.name),
            highest,
            format!("at most {height}, the level of `*`"),
        ));
    }
    if spec.lowest > highest {
        return Err(Error::out_of_range(
            format!("{}.lowest", spec.name),
            spec.lowest,
            format!("at most {highest}"),
        ));
    }
    Ok(Column {
        name: spec.name.clone(),
        domain,
        hierarchy,
        rows,
        lowest: spec.lowest,
        highest,
        weight: spec.weight,
        cells: spec.cells,
    })
}

/// An error about a rule, with the column it is for.
fn in_column(error: &Error, spec: &ColumnSpec) -> Error {
    let named = Error::recipe(format!("column `{}`: {error}", spec.name));
    error.hints().iter().fold(named, |named, hint| named.with_hint(hint))
}

/// How many rows have each value of each column.
fn marginals(counts: &Counts, bound: &[(Domain, Vec<u32>)]) -> Vec<Vec<u64>> {
    let columns = counts.columns.iter().zip(bound);
    columns
        .map(|(codes, (domain, _))| {
            let mut rows = vec![0; domain.len()];
            for (code, n) in codes.iter().zip(&counts.rows) {
                rows[*code as usize] += n;
            }
            rows
        })
        .collect()
}

/// Recodes. Where no two codes fall together, tuples stay different and those with equal
/// quasi codes stay neighbours: nothing has to be sorted again.
fn recoded(mut counts: Counts, maps: &[Vec<u32>]) -> Counts {
    let apart = |map: &Vec<u32>| {
        let mut sorted = map.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    };
    if !maps.iter().all(apart) {
        return counts.recoded(maps);
    }
    counts.columns.par_iter_mut().zip(maps).for_each(|(column, map)| {
        for code in column {
            *code = map[*code as usize];
        }
    });
    counts
}

fn with_more(texts: &[Box<str>], also: &[String]) -> Vec<Box<str>> {
    texts.iter().cloned().chain(also.iter().map(|text| text.as_str().into())).collect()
}

/// Whether every text is a number in its shortest form, so that ordering the column as
/// numbers changes no text. Codes with leading noughts are words.
fn all_plain_numbers(texts: &[Box<str>], reading: &Reading) -> bool {
    let mut known = texts.iter().filter(|text| !reading.is_missing(text)).peekable();
    known.peek().is_some()
        && known.all(|text| {
            parse_number(text).is_some_and(|number| *number.to_string() == **text)
        })
}

/// Which rows have values that the column cannot have; never the values.
fn uncovered_error(
    spec: &ColumnSpec,
    dictionary: &Dictionary,
    uncovered: &Uncovered,
    file: &str,
) -> Error {
    let (places, what, hint) = match uncovered {
        Uncovered::NotOfKind(places) => {
            let (one, many, form) = match spec.reading.kind {
                Kind::Date => (
                    "a date",
                    "dates",
                    "write dates as YYYY-MM-DD, or give their `format`",
                ),
                _ => (
                    "a number",
                    "numbers",
                    "numbers have at most 15 digits and a decimal point",
                ),
            };
            let missing = "texts that mean \"not known\" belong in `[input] missing`";
            let what = if places.len() == 1 { one } else { many };
            (places, format!("not {what}"), format!("{form}; {missing}"))
        }
        Uncovered::NoLeaf(places) => {
            let hint = "add a line for each value to the hierarchy file";
            (places, "not in its hierarchy".to_owned(), hint.to_owned())
        }
    };
    let table_places = places.iter().filter(|place| **place < dictionary.texts.len());
    let rows: u64 = table_places.clone().map(|place| dictionary.rows[*place]).sum();
    let first = table_places.clone().map(|place| dictionary.first_rows[*place]).min();
    let values = table_places.count();
    let value = if values == 1 { "value is" } else { "values are" };
    let rows = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    let first = first.map_or(String::new(), |row| format!(", first in row {row}"));
    Error::input(format!(
        "column `{}`: {values} {value} {what} ({rows}{first})",
        spec.name
    ))
    .in_file(file)
    .with_hint(hint)
}
