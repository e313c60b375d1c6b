//! Promises of a recipe, with their numbers checked.

mod groups;

use std::sync::Arc;

pub(super) use groups::short;

use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::method::pdf::Shift;
use crate::promise::{
    About, Breach, Breaches, DeltaPresence, ExpectedAnonymity, FineGrain, GroupPromise,
    OfColumns, Promise, Sensitivity,
};
use crate::recipe::section::{Item, Section, suggestion};
use crate::recipe::{RobustnessSpec, Spot, blur};

/// A promise as typed.
#[derive(Debug, Clone)]
pub struct PromiseSpec {
    /// Which one, with its numbers.
    pub kind: PromiseKind,
    /// The columns it is about, if said, and where each stands.
    pub columns: Option<Vec<(String, Spot)>>,
    /// Where its name stands.
    pub spot: Spot,
}

/// A promise, and what a recipe says beside it for those who keep it.
#[derive(Debug, Clone)]
pub enum PromiseKind {
    /// Something about groups of rows, and nothing beside it.
    Groups(Arc<dyn GroupPromise>),
    /// Everybody's presence stays uncertain.
    DeltaPresence {
        /// The range.
        presence: DeltaPresence,
        /// How the weights of the paper are found, if said here.
        shift: Option<Shift>,
    },
    /// No belief in a value moves from one probability to another.
    Breach(Breach),
    /// The same with a bound for each value.
    FineGrain {
        /// The promise; its bounds are not read yet if a file lists them.
        promise: FineGrain,
        /// That file; its path is relative to the recipe's folder.
        csv: Option<String>,
        /// How much it counts that each value is kept, if said.
        weights: Option<WeightsSpec>,
    },
    /// No belief in a value passes 1/r, whatever is known of how values depend.
    RRobustness(RobustnessSpec),
    /// Everybody is hidden among so many people, on average over the noise.
    ExpectedAnonymity(ExpectedAnonymity),
}

impl PromiseKind {
    /// The promise itself.
    pub fn promise(&self) -> &dyn Promise {
        match self {
            Self::Groups(promise) => &**promise,
            Self::DeltaPresence { presence, .. } => presence,
            Self::Breach(promise) => promise,
            Self::FineGrain { promise, .. } => promise,
            Self::RRobustness(typed) => &typed.robustness,
            Self::ExpectedAnonymity(promise) => promise,
        }
    }

    /// The promise, if it is about groups.
    fn of_groups(&self) -> Option<Arc<dyn GroupPromise>> {
        match self {
            Self::Groups(promise) => Some(Arc::clone(promise)),
            Self::DeltaPresence { presence, .. } => Some(Arc::new(*presence)),
            Self::Breach(_)
            | Self::FineGrain { .. }
            | Self::RRobustness(_)
            | Self::ExpectedAnonymity(_) => None,
        }
    }

    /// Its name as a message says it.
    pub(super) fn described(&self) -> String {
        let name = self.promise().name();
        match self.promise().about() {
            About::Draws(promise) if promise.breaches() == Breaches::Both => {
                format!("`{name}` with `kind = \"both\"`")
            }
            _ => format!("`{name}`"),
        }
    }
}

/// How much it counts that each value is kept, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WeightsSpec {
    /// The same for all, so that the matrix does not depend on the table.
    Even,
    /// As common as it is.
    Frequency,
    /// A file with value and weight; its path is relative to the recipe's folder.
    Csv(String),
}

/// Reads a promise from what is typed after its name.
type PromiseReader = fn(&Item<'_>) -> Result<PromiseKind>;

/// Promises about other things than groups.
const OTHERS: [(&str, PromiseReader); 4] = [
    ("breach", breach),
    ("fine-grain", fine_grain),
    ("r-robustness", r_robustness),
    ("expected-anonymity", expected_anonymity),
];

/// The key that the short form of a promise leaves out, as in `k-anonymity = 5`.
pub(in crate::recipe) fn short_key(promise: &str) -> Option<&'static str> {
    const SHORT: [(&str, &str); 8] = [
        ("k-anonymity", "k"),
        ("k-map", "k"),
        ("l-diversity", "l"),
        ("t-closeness", "t"),
        ("beta-likeness", "beta"),
        ("delta-disclosure", "delta"),
        ("r-robustness", "r"),
        ("expected-anonymity", "k"),
    ];
    SHORT.iter().find(|(name, _)| *name == promise).map(|(_, key)| *key)
}

/// All promises, in the order in which they are listed to users.
fn readers() -> impl Iterator<Item = &'static (&'static str, PromiseReader)> {
    groups::READERS.iter().chain(&OTHERS)
}

/// Their names.
pub const PROMISES: [&str; groups::READERS.len() + OTHERS.len()] = {
    let (first, n) = (groups::READERS.len(), groups::READERS.len() + OTHERS.len());
    let mut names = [""; groups::READERS.len() + OTHERS.len()];
    let mut place = 0;
    while place < n {
        names[place] = match place < first {
            true => groups::READERS[place].0,
            false => OTHERS[place - first].0,
        };
        place += 1;
    }
    names
};

impl PromiseSpec {
    /// Reads all promises, in the order of the file.
    pub(super) fn all(section: &Section<'_>) -> Result<Vec<Self>> {
        let mut promises = Vec::new();
        for (span, item) in section.items() {
            let Some((_, read)) = readers().find(|(name, _)| *name == item.name) else {
                let message = format!("unknown promise `{}`", item.name);
                let error = item.source.error(&span, message);
                return Err(error.with_hint(suggestion(&item.name, &PROMISES)));
            };
            let item = Item { beside: &["columns"], ..item };
            let columns = match item.is_table() {
                true => item.section()?.take("columns"),
                false => None,
            };
            let columns = columns.map(|columns| columns.columns()).transpose()?;
            let (kind, spot) = (read(&item)?, item.source.spot(&span));
            promises.push(Self { kind, columns, spot });
        }
        if promises.is_empty() {
            let error = section.error("`[promise]` promises nothing");
            return Err(error.with_hint("write a promise, as in `k-anonymity = 5`"));
        }
        Ok(promises)
    }

    /// Whether it speaks of a column, if that has the right role.
    pub(super) fn speaks_of(&self, column: &str) -> bool {
        let named = |columns: &Vec<(String, Spot)>| {
            columns.iter().any(|(name, _)| name == column)
        };
        self.columns.as_ref().is_none_or(named)
    }

    /// The promise, bound to the sensitive columns it speaks of, if it is about groups.
    pub(super) fn of_groups(&self, data: &Microdata) -> Option<Arc<dyn GroupPromise>> {
        let promise = self.kind.of_groups()?;
        if !promise.looks_at_values() {
            return Some(promise);
        }
        let columns = data.sensitive.iter().enumerate();
        let columns = columns.filter(|(_, column)| self.speaks_of(&column.name));
        let columns = columns.map(|(place, column)| (place, &column.hierarchy));
        Some(Arc::new(OfColumns::new(promise, columns)))
    }
}

const BREACHES: [(&str, Breaches); 2] =
    [("upward", Breaches::Upward), ("both", Breaches::Both)];

fn breaches(kind: Option<&Item<'_>>) -> Result<Breaches> {
    kind.map_or(Ok(Breaches::Upward), |item| item.choice("kind", &BREACHES))
}

fn breach(item: &Item<'_>) -> Result<PromiseKind> {
    if !item.is_table() {
        return Err(item.mistyped("a table, as in `{ prior = 0.05, posterior = 0.2 }`"));
    }
    let mut section = item.section()?;
    section.take("posterior");
    let kind = section.take("kind");
    let prior = section.need("prior")?;
    let posterior = section.need("posterior")?;
    section.done()?;
    for share in [&prior, &posterior] {
        let number = share.float()?;
        if number <= 0.0 || number >= 1.0 {
            let error = share.out_of_range("above 0 and below 1");
            return Err(error.with_hint("it is a probability: 5 % is 0.05"));
        }
    }
    let breach =
        Breach::new(prior.decimal()?, posterior.decimal()?, breaches(kind.as_ref())?);
    Ok(PromiseKind::Breach(breach.map_err(|error| posterior.at(error))?))
}

fn fine_grain(item: &Item<'_>) -> Result<PromiseKind> {
    if !item.is_table() {
        return Err(item.mistyped(
            "a table, as in `{ factor = 3 }` or `{ csv = \"bounds.csv\" }`",
        ));
    }
    let mut section = item.section()?;
    let factor = section.take("factor");
    let csv = section.take("csv");
    let weights = section.take("weights");
    let kind = section.take("kind");
    section.done()?;
    let breaches = breaches(kind.as_ref())?;
    let (sensitivity, csv) = match (factor, csv) {
        (Some(factor), None) => {
            let number = factor.float()?;
            if number <= 1.0 {
                return Err(factor.out_of_range("above 1").with_hint(
                    "it says how many times as sure somebody may become as they were before",
                ));
            }
            (Sensitivity::Factor(factor.decimal()?), None)
        }
        (None, Some(csv)) => {
            (Sensitivity::Listed(Vec::new()), Some(csv.string()?.to_owned()))
        }
        (Some(_), Some(csv)) => {
            return Err(csv.error("`factor` and `csv` both say where bounds come from"));
        }
        (None, None) => {
            let error = section.error("`fine-grain` has no bounds");
            return Err(error.with_hint(
                "write `factor = 3`, or `csv = \"bounds.csv\"` with value, prior, posterior",
            ));
        }
    };
    let weights = weights.as_ref().map(Item::string).transpose()?;
    let weights = weights.map(|word| match word {
        "even" => WeightsSpec::Even,
        "frequency" => WeightsSpec::Frequency,
        path => WeightsSpec::Csv(path.to_owned()),
    });
    let promise =
        FineGrain::new(sensitivity, breaches).map_err(|error| item.at(error))?;
    Ok(PromiseKind::FineGrain { promise, csv, weights })
}

fn r_robustness(item: &Item<'_>) -> Result<PromiseKind> {
    Ok(PromiseKind::RRobustness(RobustnessSpec::read(item)?))
}

fn expected_anonymity(item: &Item<'_>) -> Result<PromiseKind> {
    Ok(PromiseKind::ExpectedAnonymity(blur::expected_anonymity(item)?))
}
