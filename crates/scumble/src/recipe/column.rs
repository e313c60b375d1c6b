//! Columns of a recipe: role, type, hierarchy.

use crate::error::{Error, Result};
use crate::hierarchy::{
    Grain, NAMED_RULES, Quantiles, Rule, Side, Template, Tree, named_rule,
};
use crate::recipe::Spot;
use crate::recipe::section::{Item, Section};
use crate::table::{Kind, PublicDomain, Reading, Role, Said};

/// A column as typed.
#[derive(Debug, Clone)]
pub struct ColumnSpec {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub spot: Spot,
    /// What it is for.
    pub role: Role,
    /// What its values are, if said.
    pub kind: Option<Kind>,
    /// How dates are written, in the form of `strftime`, if said.
    pub format: Option<String>,
    /// How values coarsen, if said.
    pub hierarchy: Option<HierarchySpec>,
    /// Where the hierarchy stands, if there is one.
    pub hierarchy_spot: Option<Spot>,
    /// The lowest level that may be published, if said.
    pub lowest: Option<usize>,
    /// The highest level that may be published, if said.
    pub highest: Option<usize>,
    /// How much its loss counts; positive and finite.
    pub weight: Option<f64>,
    /// How far the lines are apart at which ranges of its numbers end, if said; positive and
    /// finite.
    pub step: Option<f64>,
    /// The values the column may have, whatever the table has, if said.
    pub domain: Option<DomainSpec>,
    /// Where the domain stands, if there is one.
    pub domain_spot: Option<Spot>,
}

/// A public domain as typed.
#[derive(Debug, Clone, PartialEq)]
pub enum DomainSpec {
    /// Two numbers, or a list of values.
    Given(PublicDomain),
    /// Values in a file, one a line, whose path is as typed: relative to the recipe's folder.
    Csv(String),
}

/// A hierarchy as typed.
#[derive(Debug, Clone, PartialEq)]
pub enum HierarchySpec {
    /// A tree in a file, whose path is as typed: relative to the recipe's folder; and whether
    /// values without a line become "other".
    Csv(String, bool),
    /// Everything else, checked.
    Rule(Rule),
}

const ROLES: [(&str, Role); 5] = [
    ("identifier", Role::Identifier),
    ("quasi", Role::Quasi),
    ("sensitive", Role::Sensitive),
    ("other", Role::Other),
    ("drop", Role::Drop),
];

const KINDS: [(&str, Kind); 3] =
    [("category", Kind::Category), ("number", Kind::Number), ("date", Kind::Date)];

impl ColumnSpec {
    /// Reads all columns, in the order of the file.
    pub(super) fn all(section: &Section<'_>) -> Result<Vec<Self>> {
        let mut columns = Vec::new();
        for (span, item) in section.items() {
            let spot = item.source.spot(&span);
            columns.push(Self::read(&item, spot)?);
        }
        if columns.is_empty() {
            return Err(section.error("`[columns]` names no column"));
        }
        Ok(columns)
    }

    /// What its values are, if its type, hierarchy or domain says so.
    pub(super) fn said_kind(&self) -> Option<Kind> {
        let ruled = match &self.hierarchy {
            Some(HierarchySpec::Rule(rule)) => rule.default_kind(),
            Some(HierarchySpec::Csv(..)) | None => None,
        };
        let listed = match &self.domain {
            Some(DomainSpec::Given(PublicDomain::Numbers(_))) => Some(Kind::Number),
            Some(DomainSpec::Given(PublicDomain::Words(_)) | DomainSpec::Csv(_)) => {
                Some(Kind::Category)
            }
            None => self.hierarchy.as_ref().map(|_| Kind::Category),
        };
        let stepped = self.step.map(|_| Kind::Number);
        self.kind.or(ruled).or(listed).or(stepped)
    }

    /// What is said of it for a [`crate::table::Schema`].
    pub fn said(&self) -> Said {
        Said {
            name: self.name.clone(),
            role: self.role,
            kind: self.said_kind(),
            date_format: self.format.clone(),
        }
    }

    fn read(item: &Item<'_>, spot: Spot) -> Result<Self> {
        let mut column = Self {
            name: item.name.clone(),
            spot,
            role: Role::Other,
            kind: None,
            format: None,
            hierarchy: None,
            hierarchy_spot: None,
            lowest: None,
            highest: None,
            weight: None,
            step: None,
            domain: None,
            domain_spot: None,
        };
        if !item.is_table() {
            if item.value.get_ref().as_str().is_none() {
                return Err(item.mistyped("a role or a table"));
            }
            column.role = item.choice("role", &ROLES)?;
            return Ok(column);
        }
        let mut section = item.section()?;
        // All keys are asked for before any complaint, so that hints know them all.
        let kind = section.take("type");
        let format = section.take("format");
        let hierarchy = section.take("hierarchy");
        let lowest = section.take("lowest");
        let highest = section.take("highest");
        let weight = section.take("weight");
        let step = section.take("step");
        let domain = section.take("domain");
        let role = section.need("role")?;
        section.done()?;
        column.role = role.choice("role", &ROLES)?;
        column.kind = kind.map(|kind| kind.choice("type", &KINDS)).transpose()?;
        column.format = format.map(|format| date_format(&format)).transpose()?;
        column.hierarchy_spot = hierarchy.as_ref().map(Item::spot);
        column.hierarchy =
            hierarchy.map(|item| HierarchySpec::read(&item)).transpose()?;
        column.lowest = lowest.as_ref().map(Item::natural).transpose()?;
        column.highest = highest.as_ref().map(Item::natural).transpose()?;
        // Some templates say themselves what is the least that must be hidden.
        let least = |spec: &HierarchySpec| match spec {
            HierarchySpec::Rule(rule) if *rule == hipaa_rule()? => Some(1),
            _ => None,
        };
        let least = column.hierarchy.as_ref().and_then(least);
        column.lowest = column.lowest.max(least);
        if let (Some(low), Some(high), Some(item)) =
            (column.lowest, column.highest, &highest)
            && high < low
        {
            return Err(
                item.out_of_range(&format!("at least `lowest`, which is {low}"))
            );
        }
        column.weight = weight.map(|item| positive(&item)).transpose()?;
        column.step = step.map(|item| positive(&item)).transpose()?;
        column.domain_spot = domain.as_ref().map(Item::spot);
        column.domain = domain.map(|item| DomainSpec::read(&item)).transpose()?;
        Ok(column)
    }
}

impl HierarchySpec {
    fn read(item: &Item<'_>) -> Result<Self> {
        let mut section = item.section()?;
        let csv = section.take("csv");
        let widths = section.take("widths");
        let cuts = section.take("cuts");
        let mask = section.take("mask");
        let dates = section.take("dates");
        let origin = section.take("origin");
        let template = section.take("template");
        let quantiles = section.take("quantiles");
        let order = section.take("order");
        let by = section.take("by");
        let other = section.take("other");
        section.done()?;
        let kinds =
            [&csv, &widths, &cuts, &mask, &dates, &template, &quantiles, &order];
        let n_kinds = kinds.into_iter().flatten().count();
        if n_kinds != 1 {
            let message =
                format!("the hierarchy has {n_kinds} kinds, but must have one");
            let hint = "write one of `csv`, `widths`, `cuts`, `mask`, `dates`, `template`, \
                        `quantiles`, `order`";
            return Err(section.error(message).with_hint(hint));
        }
        if let (Some(origin), None) = (&origin, &widths) {
            return Err(origin.error("`origin` goes with `widths` only"));
        }
        if let (Some(by), None) = (&by, &order) {
            return Err(by.error("`by` goes with `order` only"));
        }
        let takes_all = other.as_ref().map_or(Ok(false), Item::truth)?;
        if let Some(csv) = csv {
            return csv.string().map(|path| Self::Csv(path.to_owned(), takes_all));
        }
        let named = template.as_ref().map(template_rule).transpose()?;
        let worded = order.is_some() || matches!(named, Some(Rule::Tree(_)));
        if let Some(other) = other.filter(|_| !worded) {
            return Err(other.error(
                "`other` goes with `csv`, `order`, or a `template` of words only",
            ));
        }
        if let Some(rule) = named {
            return Ok(Self::Rule(match rule {
                Rule::Tree(tree) if takes_all => Rule::Tree(tree.with_other()),
                rule => rule,
            }));
        }
        if let Some(item) = order {
            let by = by.map(|by| naturals(&by)).transpose()?.unwrap_or_default();
            let tree = Tree::ladder(&item.strings()?, &by);
            let tree = tree.map_err(|error| item.at(error))?;
            let tree = if takes_all { tree.with_other() } else { tree };
            return Ok(Self::Rule(Rule::Tree(tree)));
        }
        let rule = if let Some(item) = quantiles {
            Quantiles::new(naturals(&item)?)
                .map(Rule::Quantiles)
                .map_err(|error| item.at(error))
        } else if let Some(item) = widths {
            let origin = origin.map_or(Ok(0.0), |origin| origin.float())?;
            Rule::widths(item.floats()?, origin).map_err(|error| item.at(error))
        } else if let Some(item) = cuts {
            Rule::cuts(cut_points(&item)?).map_err(|error| item.at(error))
        } else if let Some(item) = mask {
            let sides = [("left", Side::Left), ("right", Side::Right)];
            Ok(Rule::mask(item.choice("side", &sides)?))
        } else if let Some(item) = dates {
            let names = Grain::ALL.map(|grain| (grain.name(), grain));
            let grains = item.list("a list of strings")?;
            let grains =
                grains.iter().map(|item| item.choice("part of the calendar", &names));
            let grains = grains.collect::<Result<_>>()?;
            Rule::calendar(grains).map_err(|error| item.at(error))
        } else {
            Ok(Rule::Plain)
        };
        rule.map(Self::Rule)
    }
}

/// Ages of which no year above 89 may be told.
fn hipaa_rule() -> Option<Rule> {
    named_rule("age-hipaa").map(|(rule, _)| rule)
}

/// The rule that a template stands for.
fn template_rule(item: &Item<'_>) -> Result<Rule> {
    let name = item.string()?;
    if let Some((rule, _)) = named_rule(name) {
        return Ok(rule);
    }
    let trees = Template::ALL.map(|template| (template.name(), Some(template)));
    let rules = NAMED_RULES.map(|name| (name, None));
    let all: Vec<(&str, Option<Template>)> = trees.into_iter().chain(rules).collect();
    let tree = item.choice("template", &all)?.map(Template::tree);
    Ok(tree.map_or(Rule::Plain, Rule::Tree))
}

/// A list of whole numbers.
fn naturals(item: &Item<'_>) -> Result<Vec<usize>> {
    item.list("a list of whole numbers")?.iter().map(Item::natural).collect()
}

/// One list of cut points, or one for each level.
fn cut_points(item: &Item<'_>) -> Result<Vec<Vec<f64>>> {
    let items = item.list("a list of numbers, or a list of such lists")?;
    match items.first() {
        Some(first) if first.value.get_ref().is_array() => {
            items.iter().map(Item::floats).collect()
        }
        _ => Ok(vec![item.floats()?]),
    }
}

/// A date format that `strftime` knows.
fn date_format(item: &Item<'_>) -> Result<String> {
    let format = item.string()?;
    let mut parts = chrono::format::StrftimeItems::new(format);
    if parts.any(|part| part == chrono::format::Item::Error) {
        let error = item.error(format!("`{format}` is not a date format"));
        return Err(error.with_hint("write it as in `%d.%m.%Y`"));
    }
    Ok(format.to_owned())
}

fn positive(item: &Item<'_>) -> Result<f64> {
    let number = item.float()?;
    if number <= 0.0 {
        return Err(item.out_of_range("positive"));
    }
    Ok(number)
}

impl DomainSpec {
    fn read(item: &Item<'_>) -> Result<Self> {
        if item.is_table() {
            let mut section = item.section()?;
            let csv = section.need("csv")?;
            section.done()?;
            return csv.string().map(|path| Self::Csv(path.to_owned()));
        }
        let items =
            item.list("two numbers, a list of values, or `{ csv = \"file\" }`")?;
        let are_numbers = items.first().is_some_and(|first| first.float().is_ok());
        let domain = match are_numbers {
            true => match item.floats()?[..] {
                [low, high] => PublicDomain::Numbers([low, high]),
                _ => {
                    let error = item.error("`domain` has numbers, but not two of them");
                    return Err(error.with_hint(
                        "write `[0, 120]` for numbers from 0 to 120; values need quotes",
                    ));
                }
            },
            false => PublicDomain::Words(item.strings()?),
        };
        // What else is said of the column is held against it later.
        let reading = match domain {
            PublicDomain::Numbers(_) => Reading::number(),
            PublicDomain::Words(_) => {
                Reading { missing: Vec::new(), ..Reading::category() }
            }
        };
        domain.check(&reading).map_err(|error| item.at(error))?;
        Ok(Self::Given(domain))
    }

    /// The domain itself. `read` finds the text of a file, and what the file is called.
    pub(super) fn found(
        &self,
        read: impl FnOnce(&str) -> Result<(String, String)>,
    ) -> Result<PublicDomain> {
        let path = match self {
            Self::Given(domain) => return Ok(domain.clone()),
            Self::Csv(path) => path,
        };
        let (file, text) = read(path)?;
        let mut lines = csv::ReaderBuilder::new();
        let mut lines =
            lines.has_headers(false).flexible(true).from_reader(text.as_bytes());
        let mut values = Vec::new();
        for record in lines.records() {
            let record = record.map_err(|error| {
                let line = error.position().map_or(1, |at| at.line() as usize);
                Error::input("the line cannot be read").at(&*file, line, 1)
            })?;
            let line = record.position().map_or(1, |at| at.line() as usize);
            match record.len() {
                1 => values.push(record[0].to_owned()),
                n => {
                    let error = format!("the line has {n} cells, but wanted one value");
                    return Err(Error::input(error)
                        .at(&*file, line, 1)
                        .with_hint("a value with a comma stands in quotes"));
                }
            }
        }
        Ok(PublicDomain::Words(values))
    }
}
