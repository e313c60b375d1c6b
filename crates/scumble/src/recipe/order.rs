//! From a recipe as typed to an order that can be carried out.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::hierarchy::{Cells, ColumnSpec, Grid, Microdata, Rule, Tree};
use crate::promise::{About, GroupPromise, OfPeople, Promises};
use crate::recipe::domains::Domains;
use crate::recipe::methods::Treats;
use crate::recipe::presence::{check_pdf, check_population, check_presence};
use crate::recipe::randomize::ranges_of;
use crate::recipe::{HierarchySpec, RangeEnds, Spec};
use crate::release::PublishedColumn;
use crate::table::{Inputs, Kind, PersonCounts, PublicDomain, Reading, Role, Source};
use crate::watch::Watch;

/// Where the cells of a published column come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A quasi column, counted from 0 in the order of the table.
    Quasi(usize),
    /// A sensitive column, likewise.
    Sensitive(usize),
    /// A column of the table, as it is.
    Other,
}

impl Origin {
    /// What the column is for.
    pub(super) fn role(self) -> Role {
        match self {
            Self::Quasi(_) => Role::Quasi,
            Self::Sensitive(_) => Role::Sensitive,
            Self::Other => Role::Other,
        }
    }
}

/// A recipe whose columns were found in its table.
#[derive(Debug)]
pub(super) struct Order {
    /// The table.
    pub(super) source: Source,
    /// Everyone who may be in it, if the recipe says.
    pub(super) population: Option<Source>,
    /// Quasi and sensitive columns.
    pub(super) columns: Vec<ColumnSpec>,
    /// Published columns in the order of the table.
    pub(super) published: Vec<(String, Origin)>,
    /// Columns of the table that the recipe does not name: left out.
    pub(super) unnamed: Vec<String>,
    /// Identifiers and dropped columns: left out.
    pub(super) removed: Vec<String>,
    /// The values that columns may have, where the recipe says.
    pub(super) domains: Domains,
}

impl Order {
    /// Opens the table and checks the recipe against it.
    pub(super) fn new(spec: &Spec, inputs: &Inputs) -> Result<Self> {
        check_roles(spec)?;
        let mut order = Self::open(spec, inputs)?;
        for column in &mut order.columns {
            if let Some(typed) = spec.column(&column.name) {
                column.ranges = ranges_of(spec, typed, &column.rule)?;
            }
        }
        Ok(order)
    }

    /// The same of a recipe whose parts are checked one by one.
    pub(super) fn open(spec: &Spec, inputs: &Inputs) -> Result<Self> {
        let source = spec.input.open_table(inputs)?;
        let population = spec.input.open_population(inputs)?;
        for column in &spec.columns {
            let found = source.column(&column.name);
            found.map_err(|error| spec.error_at(column.spot, error))?;
        }

        check_population(spec, &source, population.as_ref())?;
        let domains = Domains::read(spec, inputs)?;
        let mut columns = Vec::new();
        for typed in &spec.columns {
            if matches!(typed.role, Role::Quasi | Role::Sensitive) {
                let domain = domains.of(&typed.name);
                columns.push(column_spec(spec, typed, domain, inputs)?);
            }
        }
        columns.extend(person(spec, &source)?);
        let mut order = Self {
            columns,
            published: Vec::new(),
            unnamed: Vec::new(),
            removed: Vec::new(),
            domains,
            source,
            population,
        };
        let (mut n_quasi, mut n_sensitive) = (0, 0);
        for column in order.source.columns() {
            let name = order.source.name_of(column);
            let origin = match spec.column(name).map(|column| column.role) {
                None => {
                    let person = spec.input.person.as_ref();
                    if person.is_none_or(|(person, _)| person != name) {
                        order.unnamed.push(name.to_owned());
                    }
                    continue;
                }
                Some(Role::Identifier | Role::Drop) => {
                    order.removed.push(name.to_owned());
                    continue;
                }
                Some(Role::Other) => Origin::Other,
                Some(Role::Quasi) => {
                    n_quasi += 1;
                    Origin::Quasi(n_quasi - 1)
                }
                Some(Role::Sensitive) => {
                    n_sensitive += 1;
                    Origin::Sensitive(n_sensitive - 1)
                }
            };
            order.published.push((name.to_owned(), origin));
        }
        Ok(order)
    }
}

impl Order {
    /// How many people the table is about, if the recipe says who they are. One pass.
    pub(super) fn people(&self, watch: &dyn Watch) -> Result<Option<PersonCounts>> {
        let person = self.columns.iter().find(|c| c.role == Role::Identifier);
        let Some(person) = person else { return Ok(None) };
        Ok(Microdata::read(&self.source, std::slice::from_ref(person), watch)?.people)
    }

    /// That a method cannot serve people who have several rows, if anybody has, and why.
    pub(super) fn refuse_repeated(
        &self,
        spec: &Spec,
        people: Option<PersonCounts>,
        method: &str,
        why: &str,
    ) -> Result<()> {
        let (Some(people), Some((_, spot))) = (people, &spec.input.person) else {
            return Ok(());
        };
        if people.repeated == 0 {
            return Ok(());
        }
        let error = Error::recipe(format!(
            "`{method}` does not serve people with several rows: {why}"
        ));
        let hint = format!(
            "{} of {} people have several rows; randomize the column (`breach`), generalize, \
             or keep one row of each person",
            people.repeated, people.people
        );
        Err(spec.error_at(*spot, error.with_hint(hint)))
    }

    /// Checks that the table keeps to the domains of the columns that are meant.
    pub(super) fn check_domains(
        &self,
        spec: &Spec,
        is_meant: impl Fn(&str) -> bool,
        watch: &dyn Watch,
    ) -> Result<()> {
        let tables = (&self.source, self.population.as_ref());
        self.domains.check(spec, tables, is_meant, watch)
    }

    /// A column that is published as it is.
    pub(super) fn kept(
        &self,
        spec: &Spec,
        name: &str,
        origin: Origin,
    ) -> PublishedColumn {
        let typed = self.columns.iter().find(|column| column.name == name);
        let as_text =
            || Reading { missing: spec.input.missing.clone(), ..Reading::category() };
        let reading = typed.map_or_else(as_text, |typed| typed.reading.clone());
        PublishedColumn::kept(name, origin.role(), reading)
    }
}

/// That the column that tells people apart is not published. This is to be mended before
/// anything that follows from roles.
pub(super) fn check_person(spec: &Spec) -> Result<()> {
    let Some((name, spot)) = &spec.input.person else { return Ok(()) };
    let role = spec.column(name).map(|column| column.role);
    if let Some(Role::Quasi | Role::Sensitive | Role::Other) = role {
        let error = Error::recipe(format!(
            "`{name}` is the `person`, so it tells people apart and must not be published"
        ));
        return Err(spec.error_at(*spot, error.with_hint("make it an `identifier`")));
    }
    Ok(())
}

/// The column that tells people apart.
fn person(spec: &Spec, source: &Source) -> Result<Option<ColumnSpec>> {
    let Some((name, spot)) = &spec.input.person else { return Ok(None) };
    source.column(name).map_err(|error| spec.error_at(*spot, error))?;
    let reading =
        Reading { missing: spec.input.missing.clone(), ..Reading::category() };
    Ok(Some(ColumnSpec::new(name, Role::Identifier, reading, Rule::Plain)))
}

/// The promises about groups, bound to the sensitive columns they look at.
pub(super) fn promises(spec: &Spec, data: &Microdata) -> Promises {
    let bound = spec.promises.iter().filter_map(|typed| typed.of_groups(data));
    match &data.census.persons {
        None => bound.collect(),
        Some(persons) => {
            let of_people = |promise: Arc<dyn GroupPromise>| -> Arc<dyn GroupPromise> {
                // k-map counts nobody of the table.
                match promise.needs_population() && !promise.looks_at_people() {
                    true => promise,
                    false => Arc::new(OfPeople::new(promise, persons)),
                }
            };
            bound.map(of_people).collect()
        }
    }
}

/// What can be said about roles, levels and cells before the table is opened.
fn check_roles(spec: &Spec) -> Result<()> {
    let first = spec.columns.first().map(|column| column.spot);
    let at_columns = |error| match first {
        Some(spot) => spec.error_at(spot, error),
        None => error,
    };
    // Values that stand apart can be grouped by chance alone.
    let apart = spec.method.name.is_some_and(|method| method.treats() == Treats::Apart);
    if promises_groups(spec)
        && !apart
        && !spec.columns.iter().any(|column| column.role == Role::Quasi)
    {
        return Err(at_columns(
            Error::recipe("no column has the role `quasi`")
                .with_hint("say which columns an adversary may know"),
        ));
    }
    let sensitive = spec.columns.iter().filter(|column| column.role == Role::Sensitive);
    for promise in &spec.promises {
        if !promise.kind.promise().about().looks_at_values() {
            continue;
        }
        let hierarchical = match promise.kind.promise().about() {
            About::Groups(promise) => promise.needs_hierarchy(),
            About::Draws(_) | About::Posteriors(_) | About::Company(_) => false,
        };
        let mut looked_at =
            sensitive.clone().filter(|c| promise.speaks_of(&c.name)).peekable();
        if looked_at.peek().is_none() {
            let error =
                Error::recipe("this promise needs a column of role `sensitive`")
                    .with_hint("say which column nobody should learn about a person");
            return Err(spec.error_at(promise.spot, error));
        }
        if let Some(column) = looked_at.find(|c| hierarchical && c.hierarchy.is_none())
        {
            let error = Error::recipe(format!(
                "hierarchical distance needs a hierarchy for `{}`",
                column.name
            ));
            return Err(spec.error_at(promise.spot, error));
        }
    }
    for column in &spec.columns {
        let coarse_cells =
            spec.method.cells.is_some_and(|cells| cells != Cells::Taxonomy);
        let at = |error| Err(spec.error_at(column.spot, error));
        if column.role != Role::Quasi {
            // Of numbers that are randomized it says which ranges they are taken as.
            let drawn = column.role == Role::Sensitive && randomizes(spec);
            let set = column.highest.is_some() || column.lowest.is_some() && !drawn;
            if set || column.weight.is_some() {
                return at(Error::recipe(
                    "`lowest`, `highest` and `weight` are for quasi columns",
                ));
            }
            if column.hierarchy.is_some() && column.role != Role::Sensitive {
                return at(Error::recipe(
                    "a hierarchy is for quasi and sensitive columns",
                ));
            }
        }
        if column.lowest.is_some_and(|lowest| lowest > 0) && coarse_cells {
            return at(Error::recipe("`lowest` needs cells that are nodes")
                .with_hint("use `cells = \"taxonomy\"`"));
        }
        let cuts = spec.method.name.is_some_and(|method| method.name() == "mondrian");
        if column.highest.is_some() && cuts {
            return at(Error::recipe("`mondrian` cannot keep `highest`")
                .with_hint("use `full-domain`, or leave `highest` out"));
        }
        if let Some(step) = column.step {
            check_step(spec, column, step).or_else(at)?;
        }
        if column.domain.is_some()
            && matches!(column.role, Role::Identifier | Role::Drop)
        {
            return at(Error::recipe("a `domain` is for columns that are published"));
        }
        if column.format.is_some() && column.kind != Some(Kind::Date) {
            return at(Error::recipe("`format` is for columns of type `date`"));
        }
    }
    check_presence(spec)?;
    check_pdf(spec)
}

/// That a step is for numbers whose ranges end on a grid of their own.
fn check_step(
    spec: &Spec,
    column: &crate::recipe::ColumnSpec,
    step: f64,
) -> Result<()> {
    if column.role != Role::Quasi || column.said_kind() != Some(Kind::Number) {
        return Err(Error::recipe("`step` is for quasi columns of numbers"));
    }
    if column.hierarchy.is_some() {
        return Err(Error::recipe("`step` is for columns without a hierarchy")
            .with_hint(
                "ranges end where those of the lowest level of the hierarchy do",
            ));
    }
    if spec.method.ends == RangeEnds::Tight {
        return Err(Error::recipe("`step` needs `ends = \"grid\"`")
            .with_hint("tight ranges end at values of the table"));
    }
    Grid::step(step).map(|_| ())
}

fn column_spec(
    spec: &Spec,
    typed: &crate::recipe::ColumnSpec,
    domain: Option<&PublicDomain>,
    inputs: &Inputs,
) -> Result<ColumnSpec> {
    let rule = match &typed.hierarchy {
        None => Rule::Plain,
        Some(HierarchySpec::Rule(rule)) => rule.clone(),
        Some(HierarchySpec::Csv(path, takes_all)) => {
            let (name, text) = inputs.text(path)?;
            let tree = Tree::parse(&text, &name)?;
            Rule::Tree(if *takes_all { tree.with_other() } else { tree })
        }
    };
    let at = |error| spec.error_at(typed.hierarchy_spot.unwrap_or(typed.spot), error);
    if matches!(rule, Rule::Quantiles(_))
        && (typed.role != Role::Quasi || spec.presence().is_some())
    {
        let error = Error::recipe(
            "`quantiles` are for quasi columns, and not under `delta-presence`",
        );
        return Err(at(
            error.with_hint("their ends tell of the table: write `cuts`, or `widths`")
        ));
    }
    let said = typed.said_kind();
    let reading = Reading {
        kind: said.unwrap_or(Kind::Category),
        missing: spec.input.missing.clone(),
        date_format: typed.format.clone(),
    };
    rule.check(&reading).map_err(at)?;
    let column = ColumnSpec {
        name: typed.name.clone(),
        role: typed.role,
        reading,
        may_be_numbers: typed.role == Role::Quasi && said.is_none(),
        rule,
        lowest: typed.lowest.filter(|_| typed.role == Role::Quasi).unwrap_or(0),
        highest: typed.highest,
        weight: typed.weight.unwrap_or(1.0),
        // Under pdf cells rows are grouped as under nodes.
        cells: spec
            .method
            .cells
            .filter(|c| *c != Cells::Pdf)
            .unwrap_or(Cells::Taxonomy),
        grid: typed.step.map(Grid::step).transpose()?,
        ranges: None,
        decimals: 0,
        domain: None,
    };
    let at = |error| spec.error_at(typed.domain_spot.unwrap_or(typed.spot), error);
    column.within(domain.cloned()).map_err(at)
}

/// Whether a recipe promises something of randomized values.
fn randomizes(spec: &Spec) -> bool {
    let mut promises = spec.promises.iter().map(|typed| typed.kind.promise());
    promises.any(|promise| matches!(promise.about(), About::Draws(_)))
}

/// Whether a recipe promises something of groups.
fn promises_groups(spec: &Spec) -> bool {
    let mut promises = spec.promises.iter().map(|typed| typed.kind.promise());
    promises.any(|promise| !matches!(promise.about(), About::Draws(_)))
}
