//! A table read, counted, and bound to its hierarchies.

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::hierarchy::population::{not_in_population, rows_differ};
use crate::hierarchy::uncovered::uncovered_error;
use crate::hierarchy::{BoundGrid, Cells, Column, Grid, Population, Ranges, Rule};
use crate::table::{
    Census, Code, ColumnId, Counts, Dictionary, Domain, Kind, Of, PersonCounts,
    PublicDomain, Reading, Role, Scan, Source, TypeEvidence, scan,
};
use crate::watch::Watch;

/// What is said about a quasi or sensitive column before the table is read.
#[derive(Debug, Clone)]
pub struct ColumnSpec {
    /// Its name.
    pub name: String,
    /// Quasi or sensitive.
    pub role: Role,
    /// How its texts are read.
    pub reading: Reading,
    /// Whether words may turn out to be numbers, by the rule of [`crate::table::Schema`].
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
    /// Where ranges of its numbers or dates end, if that is known before the table is read.
    pub grid: Option<Grid>,
    /// The ranges that stand for its numbers, if they are counted as ranges: these are then
    /// its values, with nothing above them.
    pub ranges: Option<Ranges>,
    /// How many decimals these numbers have, once the table was read.
    pub decimals: u32,
    /// The values that it may have, if that is public.
    pub domain: Option<PublicDomain>,
}

impl ColumnSpec {
    /// A column with all levels allowed and nodes as cells.
    pub fn new(name: &str, role: Role, reading: Reading, rule: Rule) -> Self {
        Self {
            name: name.to_owned(),
            role,
            reading,
            may_be_numbers: false,
            rule,
            lowest: 0,
            highest: None,
            weight: 1.0,
            cells: Cells::Taxonomy,
            grid: None,
            ranges: None,
            decimals: 0,
            domain: None,
        }
    }

    /// The same column with a public domain. Fails if the two do not go together.
    pub fn within(self, domain: Option<PublicDomain>) -> Result<Self> {
        let rule = match &domain {
            Some(domain) => self.rule.within(domain, &self.reading)?,
            None => self.rule,
        };
        Ok(Self { rule, domain, ..self })
    }

    /// A grid with the values of the column. Fails if one has no place in it.
    pub fn bind_grid(&self, grid: &Grid, domain: &Domain) -> Result<BoundGrid> {
        let name = &self.name;
        if domain.kind() == Kind::Category {
            return Err(Error::recipe(format!("`step` of `{name}` needs numbers")));
        }
        grid.bind(domain).ok_or_else(|| beyond_grid(name))
    }
}

/// A table as methods and audits see it.
#[derive(Debug, Clone)]
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
    pub codes: Vec<HashMap<Box<str>, Code>>,
    /// How many people the table is about, if it says.
    pub people: Option<PersonCounts>,
}

impl Microdata {
    /// The texts of a column in the table, each with the one text of its value; nothing if
    /// the column was not counted.
    pub fn texts(&self, name: &str) -> Option<impl Iterator<Item = (&str, &str)>> {
        let mut columns = self.quasi.iter().chain(&self.sensitive);
        let place = columns.position(|column| column.name == name)?;
        let column = self.quasi.iter().chain(&self.sensitive).nth(place)?;
        let known = self.codes[place].iter();
        Some(known.map(|(text, code)| (&**text, column.domain.text(*code))))
    }

    /// The texts of a quasi column in the table, each with its code.
    pub fn raw_codes(&self, place: usize) -> impl Iterator<Item = (&str, Code)> {
        self.codes[place].iter().map(|(text, code)| (&**text, *code))
    }

    /// Reads and counts the columns of `specs`, which the table must have.
    pub fn read(
        source: &Source,
        specs: &[ColumnSpec],
        watch: &dyn Watch,
    ) -> Result<Self> {
        Self::read_within(source, None, specs, watch)
    }

    /// The same for a table that is part of a population, which must have the quasi
    /// columns. Domains are then those of the population, and so are the tuples of the
    /// census.
    pub fn read_within(
        source: &Source,
        population: Option<Population<'_>>,
        specs: &[ColumnSpec],
        watch: &dyn Watch,
    ) -> Result<Self> {
        let of_role = |role| specs.iter().filter(move |spec| spec.role == role);
        let mut chosen: Vec<(ColumnId, &ColumnSpec)> = Vec::new();
        for role in [Role::Quasi, Role::Sensitive] {
            let start = chosen.len();
            for spec in of_role(role) {
                chosen.push((source.column(&spec.name)?, spec));
            }
            chosen[start..].sort_by_key(|(column, _)| *column);
        }
        let person = of_role(Role::Identifier).next();
        if let Some(spec) = person {
            chosen.push((source.column(&spec.name)?, spec));
        }
        let columns: Vec<ColumnId> = chosen.iter().map(|(column, _)| *column).collect();
        let scanned = scan(source, &columns, watch)?;
        let n_quasi = of_role(Role::Quasi).count();
        let specs: Vec<ColumnSpec> =
            chosen.into_iter().map(|(_, spec)| spec.clone()).collect();
        let Some(population) = population else {
            return Self::bind((scanned, source), None, specs, n_quasi);
        };
        let everyone = scan(population.source, &population.columns(&specs)?, watch)?;
        if everyone.n_rows < scanned.n_rows && person.is_none() {
            return Err(Error::input(format!(
                "the population has {} rows, fewer than the {} of the table",
                everyone.n_rows, scanned.n_rows
            ))
            .in_file(population.source.name())
            .with_hint("every row of the table must be a person of the population"));
        }
        let others = Some((everyone, population.source));
        let person = person.cloned();
        let data = Self::bind((scanned, source), others, specs, n_quasi)?;
        population.check(source, &data, person.as_ref(), watch)?;
        Ok(data)
    }

    fn bind(
        (mut scan, source): (Scan, &Source),
        mut population: Option<(Scan, &Source)>,
        mut specs: Vec<ColumnSpec>,
        n_quasi: usize,
    ) -> Result<Self> {
        let is_person = |spec: &&ColumnSpec| spec.role == Role::Identifier;
        let person = specs.last().filter(is_person).cloned();
        specs.retain(|spec| !is_person(&spec));
        let mut domains: Vec<Domain> = Vec::new();
        // For each column the code of every text of the table and of the population.
        let (mut maps, mut more_maps) = (Vec::new(), Vec::new());
        for (place, spec) in specs.iter_mut().enumerate() {
            let own = (&scan.dictionaries[place], source);
            let others = population.as_ref().and_then(|(scan, source)| {
                scan.dictionaries.get(place).map(|dictionary| (dictionary, *source))
            });
            let from: Vec<(&Dictionary, &Source)> =
                [own].into_iter().chain(others).collect();
            let known = || from.iter().flat_map(|(dictionary, _)| &dictionary.texts);
            if spec.may_be_numbers {
                let mut seen =
                    TypeEvidence::new(source.form(source.column(&spec.name)?));
                let texts = known().filter(|text| !spec.reading.is_missing(text));
                texts.for_each(|text| seen.add(text, ()));
                spec.reading.kind = seen.kind();
            }
            spec.rule.check(&spec.reading).map_err(|error| in_column(&error, spec))?;
            let public = spec.domain.as_ref();
            let listed = public.and_then(|domain| domain.words(&spec.reading));
            let also = listed.unwrap_or_default().iter();
            let also = also.map(|text| text.as_str().into());
            let texts: Vec<Box<str>> = known().cloned().chain(also).collect();
            let found = match &spec.ranges {
                Some(ranges) => ranges.domain(&texts, &spec.reading),
                None => spec.rule.domain(&texts, &spec.reading),
            };
            let (domain, mut codes) =
                found.map_err(|uncovered| uncovered_error(spec, &from, uncovered))?;
            let domain = match &spec.ranges {
                Some(ranges) => {
                    spec.decimals = ranges.decimals(&texts, &spec.reading);
                    domain
                }
                None => domain.limited(public.and_then(|p| p.span(&spec.reading))),
            };
            codes.truncate(known().count());
            more_maps.push(Of::from(codes.split_off(own.0.texts.len())));
            maps.push(Of::from(codes));
            domains.push(domain);
        }

        let n_columns = maps.len();
        if let Some(own) = scan.dictionaries.get(n_columns) {
            maps.push(own.texts.ids().collect());
        }
        let mut counts = recoded(std::mem::take(&mut scan.counts), &maps);
        let who = counts.columns.split_off(n_columns).pop();
        let sizes = domains[n_quasi..].iter().map(Domain::len).collect();
        let rows = marginals(&counts, &domains);
        let mut census = match (person, who) {
            (Some(spec), Some(who)) => {
                let texts = &scan.dictionaries[n_columns].texts;
                let who = who.iter().map(|code| {
                    Some(*code).filter(|code| !spec.reading.is_missing(&texts[*code]))
                });
                let who: Vec<Option<Code>> = who.collect();
                Census::of_persons(counts, n_quasi, sizes, &who)
            }
            _ => Census::new(counts, n_quasi, sizes),
        };
        let people = census.persons.as_ref().map(|persons| persons.counts);
        if people.is_some_and(|people| people.repeated == 0) {
            // People are rows.
            census.persons = None;
        }
        if let Some((scan, everyone)) = &mut population {
            if let Some(persons) = census.persons.as_ref().filter(|p| p.are_shared()) {
                return Err(rows_differ(persons.n_shared(), source));
            }
            more_maps.truncate(n_quasi);
            let people = recoded(std::mem::take(&mut scan.counts), &more_maps);
            let quasi = people.columns.into_iter().map(Of::from).collect();
            let of_people = census.persons.is_some();
            let (within, missing) = census.within(quasi, people.rows.into());
            if missing > 0 {
                return Err(not_in_population(missing, of_people, everyone)
                    .in_file(source.name())
                    .with_hint(
                        "every row of the table must be a person of the population with \
                         the same quasi values",
                    ));
            }
            census = within;
        }
        let texts = scan.dictionaries.into_iter().map(|dictionary| dictionary.texts);
        let mut codes: Vec<HashMap<Box<str>, Code>> = texts
            .zip(maps)
            .map(|(texts, map)| texts.into_iter().zip(map).collect())
            .collect();
        let others = population.into_iter().flat_map(|(scan, _)| scan.dictionaries);
        for ((codes, dictionary), map) in codes.iter_mut().zip(others).zip(more_maps) {
            codes.extend(dictionary.texts.into_iter().zip(map));
        }

        let mut columns = Vec::new();
        for ((domain, spec), rows) in domains.into_iter().zip(&mut specs).zip(rows) {
            if let Rule::Quantiles(quantiles) = &spec.rule {
                spec.rule = quantiles.cuts(&domain, &rows);
            }
            spec.rule = spec.rule.fixed(&domain);
            spec.rule.check(&spec.reading).map_err(|error| in_column(&error, spec))?;
            columns.push(column(domain, spec, rows)?);
        }
        let sensitive = columns.split_off(n_quasi);
        Ok(Self { quasi: columns, sensitive, census, specs, codes, people })
    }

    /// The population as a table of its own, with quasi columns only; nothing if there is
    /// none.
    pub fn everyone(&self) -> Option<Self> {
        let people = self.census.people.as_ref()?;
        let n_quasi = self.quasi.len();
        let columns = self.census.quasi.iter().map(|codes| codes.to_vec()).collect();
        let counts = Counts { columns, rows: people.to_vec() };
        let domains: Vec<Domain> =
            self.quasi.iter().map(|c| c.domain.clone()).collect();
        let rows = marginals(&counts, &domains);
        let quasi = self.quasi.iter().zip(rows);
        Some(Self {
            quasi: quasi
                .map(|(column, rows)| Column { rows, ..column.clone() })
                .collect(),
            sensitive: Vec::new(),
            census: Census::new(counts, n_quasi, Vec::new()),
            specs: self.specs[..n_quasi].to_vec(),
            codes: self.codes[..n_quasi].to_vec(),
            people: None,
        })
    }

    /// How many rows the table has.
    pub fn n_rows(&self) -> u64 {
        self.census.n_rows()
    }
}

/// A hierarchy with more levels is a mistake, and levels are counted in a byte.
const MOST_LEVELS: usize = 100;

/// Binds the hierarchy and checks the levels.
fn column(domain: Domain, spec: &ColumnSpec, rows: Of<Code, u64>) -> Result<Column> {
    let hierarchy = match spec.ranges {
        Some(_) => Rule::Plain.bind(&domain, &spec.reading),
        None => spec.rule.bind(&domain, &spec.reading),
    };
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
    let grid = spec.grid.as_ref().map(|grid| spec.bind_grid(grid, &domain));
    let grid = grid.transpose()?;
    Ok(Column {
        name: spec.name.clone(),
        domain,
        hierarchy,
        rows,
        lowest: spec.lowest,
        highest,
        weight: spec.weight,
        cells: spec.cells,
        grid,
    })
}

/// That numbers have more digits than any grid can hold.
pub(crate) fn beyond_grid(name: &str) -> Error {
    Error::recipe(format!(
        "`{name}` has numbers of too many digits for ranges on a grid"
    ))
    .with_hint("give the column a hierarchy of `cuts`, or publish `ends = \"tight\"`")
}

/// An error about a rule, with the column it is for.
fn in_column(error: &Error, spec: &ColumnSpec) -> Error {
    let named = Error::recipe(format!("column `{}`: {error}", spec.name));
    error.hints().iter().fold(named, |named, hint| named.with_hint(hint))
}

/// How many rows have each value of each column.
fn marginals(counts: &Counts, domains: &[Domain]) -> Vec<Of<Code, u64>> {
    let columns = counts.columns.iter().zip(domains);
    columns
        .map(|(codes, domain)| {
            let mut rows = Of::repeat(0, domain.len());
            for (code, n) in codes.iter().zip(&counts.rows) {
                rows[*code] += n;
            }
            rows
        })
        .collect()
}

/// Recodes. Where no two codes fall together, tuples stay different and those with equal
/// quasi codes stay neighbours: nothing has to be sorted again.
fn recoded(mut counts: Counts, maps: &[Of<Code, Code>]) -> Counts {
    let apart = |map: &Of<Code, Code>| {
        let mut sorted = map.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    };
    if !maps.iter().all(apart) {
        return counts.recoded(maps);
    }
    counts.columns.par_iter_mut().zip(maps).for_each(|(column, map)| {
        for code in column {
            *code = map[*code];
        }
    });
    counts
}
