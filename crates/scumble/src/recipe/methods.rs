//! Methods as a recipe sees them: what each understands, keeps and needs, and the plan it
//! makes. The list here is the only place that knows all of them.

use std::fmt;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::hierarchy::{Column, Microdata};
use crate::method::{Grouping, Plan};
use crate::promise::Promise;
use crate::random::Randomness;
use crate::recipe::blurring::{Blur, Condensation, NumberRows};
use crate::recipe::bucketize::Bucketization;
use crate::recipe::generalize::Generalization;
use crate::recipe::order::Order;
use crate::recipe::randomize::{Perturbation, PerturbedGeneralization, Secret};
use crate::recipe::section::listed;
use crate::recipe::{PromiseSpec, Search, Spec};
use crate::release::{Class, PromiseNote, PublishedColumn, Weighted};
use crate::table::{Inputs, Stated};
use crate::watch::Watch;

/// A way to make a release.
///
/// What implementers owe: a plan whose release keeps every promise they say they keep,
/// judged by the audit; keys that are listed change something, and others are never read.
/// The contract suite checks it for every method of [`METHODS`].
pub trait Method: fmt::Debug + Sync {
    /// Its name in recipes and manifests.
    fn name(&self) -> &'static str;

    /// The keys of `[method]` that it understands, `name` aside.
    fn keys(&self) -> &'static [&'static str];

    /// Whether it keeps a promise.
    fn keeps(&self, promise: &dyn Promise) -> Keeps;

    /// What it does to columns: methods that do different things can be mixed.
    fn treats(&self) -> Treats;

    /// What it must know of the table.
    fn needs(&self) -> Needs;

    /// What else a recipe must say for it, before the table is opened.
    fn check(&self, spec: &Spec) -> Result<()>;

    /// Whether a recipe that names no method means this one alone. Choosing a method for
    /// its loss tells something of the table, which this one may keep to itself.
    fn stands_alone(&self, _spec: &Spec) -> bool {
        false
    }

    /// Decides what becomes of every row and column.
    fn plan(&self, data: &Gathered, task: &Task<'_>) -> Result<Planned>;

    /// Whether a saved plan may take the place of its search.
    fn takes_plans(&self) -> bool {
        false
    }

    /// What else can be published if the audit could not certify the first plan in time.
    fn weaker(
        &self,
        _planned: &Planned,
        _data: &Gathered,
        _task: &Task<'_>,
    ) -> Result<Option<Planned>> {
        Ok(None)
    }
}

/// Whether a method keeps a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keeps {
    /// It does not.
    No,
    /// It does, if it is asked for by name or by its keys.
    Yes,
    /// It does, and is tried if the recipe names no method.
    First,
}

impl Keeps {
    /// As an answer.
    pub(super) fn when(keeps: bool) -> Self {
        if keeps { Self::Yes } else { Self::No }
    }
}

/// What a method does to columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treats {
    /// Quasi columns become cells of groups.
    Cells,
    /// Quasi columns of numbers get noise.
    Numbers,
    /// Sensitive columns are drawn.
    Draws,
    /// Sensitive values stand apart from the rows.
    Apart,
    /// It decides about all rows and columns at once.
    Everything,
}

/// What a method must know of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// How often each tuple of quasi and sensitive values occurs.
    Counts,
    /// How often each tuple of sensitive values occurs.
    SensitiveCounts,
    /// The numbers of every row.
    Numbers,
}

/// What was gathered of a table.
#[derive(Debug)]
pub enum Gathered {
    /// Counts.
    Counts(Box<Microdata>),
    /// Numbers.
    Numbers(Box<NumberRows>),
}

impl Gathered {
    /// The counts, which a method that needs them is given.
    pub(super) fn need_counts(&self) -> Result<&Microdata> {
        self.counts().ok_or_else(|| Error::input("the table was not counted"))
    }

    /// The counts, if these were gathered.
    pub(super) fn counts(&self) -> Option<&Microdata> {
        match self {
            Self::Counts(data) => Some(data),
            Self::Numbers(_) => None,
        }
    }

    /// How many rows stand before each block of the table, where rows are told apart.
    pub(super) fn block_starts(&self) -> &[u64] {
        match self {
            Self::Counts(_) => &[],
            Self::Numbers(rows) => &rows.block_starts,
        }
    }

    /// How many rows the table has.
    pub(super) fn n_rows(&self) -> u64 {
        match self {
            Self::Counts(data) => data.n_rows(),
            Self::Numbers(rows) => rows.numbers.n_rows as u64,
        }
    }
}

/// What a method is asked to do.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The recipe.
    pub spec: &'a Spec,
    /// The same, found in the table.
    pub(super) order: &'a Order,
    /// What the recipe's names stand for.
    pub inputs: &'a Inputs,
    /// A plan to follow instead of a search.
    pub plan: Option<&'a Plan>,
    /// If numbers are to be blurred within its groups, how many rows these need at least;
    /// nobody may fit several of them then.
    pub crowd: Option<u64>,
    /// Where chance comes from.
    pub randomness: &'a Randomness,
    /// Who follows the work.
    pub watch: &'a dyn Watch,
}

/// What a method decided, and what a reader must know of it.
#[derive(Debug)]
pub struct Planned {
    /// What becomes of rows and columns.
    pub(super) plan: Plan,
    /// The published columns, in the order of the table.
    pub(super) columns: Vec<PublishedColumn>,
    /// What rows of the same class share.
    pub(super) classes: Vec<Class>,
    /// The quasi columns with the cells that were chosen, if they are generalized.
    pub(super) quasi: Option<Vec<Column>>,
    /// How tuples were grouped, if they were.
    pub(super) grouping: Option<Grouping>,
    /// The distributions of published groups, in the order of their numbers, if cells are
    /// distributions.
    pub(super) cells: Option<Vec<Vec<Weighted>>>,
    /// The column that tells how many rows a published row stands for, if one does for its
    /// group.
    pub(super) sampled: Option<String>,
    /// The key of the noise and the columns that tell people apart, if the noise is keyed.
    pub(super) secret: Option<Secret>,
    /// Public parameters of the method.
    pub(super) parameters: Map<String, Value>,
    /// For `full-domain`, the level of each quasi column.
    pub(super) levels: Option<Map<String, Value>>,
    /// What is promised, not yet rechecked.
    pub(super) promises: Vec<PromiseNote>,
    /// What a reader must not take for promised.
    pub(super) not_promised: Vec<String>,
    /// What the adversary of a promise knows, if files say it.
    pub(super) knowledge: Option<Stated>,
    /// How the search went.
    pub(super) search: Search,
    /// What it costs, where several methods are tried.
    pub(super) loss: f64,
    /// What a steward should look at, and no file says.
    pub(super) remarks: Vec<String>,
}

/// All methods, in the order in which they are listed to users.
pub static METHODS: [&dyn Method; 11] = [
    &Generalization::FullDomain,
    &Generalization::Mondrian,
    &Bucketization::Anatomy,
    &Bucketization::Robust,
    &Perturbation::Uniform,
    &Perturbation::Partitioned,
    &Perturbation::FineGrain,
    &Perturbation::General,
    &PerturbedGeneralization,
    &Blur,
    &Condensation,
];

/// The methods to try for a recipe: the one it names, or those that keep its promises and
/// understand its keys. This is the only place that holds promises, keys and methods against
/// each other.
pub(super) fn methods(spec: &Spec) -> Result<Vec<&'static dyn Method>> {
    let methods = match spec.method.name {
        Some(method) => {
            check_promises(spec, method)?;
            check_keys(spec, &[method])?;
            vec![method]
        }
        None => natural(spec)?,
    };
    for method in &methods {
        method.check(spec)?;
    }
    Ok(methods)
}

/// What is tried if the recipe names no method: of those that keep all promises and
/// understand all keys, the ones that suit most of the promises.
fn natural(spec: &Spec) -> Result<Vec<&'static dyn Method>> {
    let keeps = |method: &&'static dyn Method, promise: &dyn Promise| {
        method.keeps(promise) != Keeps::No
    };
    let kinds = || spec.promises.iter().map(|typed| typed.kind.promise());
    let able: Vec<&'static dyn Method> = METHODS
        .iter()
        .copied()
        .filter(|method| kinds().all(|kind| keeps(method, kind)))
        .collect();
    if able.is_empty() {
        return Err(incompatible(spec));
    }
    let understands = |method: &&'static dyn Method| {
        spec.method.keys.iter().all(|(key, _)| method.keys().contains(&&**key))
    };
    let only = |methods: &[&'static dyn Method], is: &dyn Fn(&dyn Method) -> bool| {
        let kept: Vec<_> = methods.iter().copied().filter(|m| is(*m)).collect();
        if kept.is_empty() { methods.to_vec() } else { kept }
    };
    // A method that needs more than the recipe says is not what it means, unless it is the
    // one for these promises.
    let is_apt = |method: &dyn Method| method.check(spec).is_ok();
    let is_first =
        |method: &dyn Method| kinds().any(|kind| method.keeps(kind) == Keeps::First);
    let fit: Vec<&'static dyn Method> =
        able.iter().copied().filter(understands).collect();
    let is_meant = |method: &dyn Method| is_apt(method) || is_first(method);
    if !fit.iter().any(|method| is_meant(*method)) {
        check_keys(spec, &only(&able, &is_apt))?;
    }
    let fit = only(&fit, &is_meant);
    let fit = only(&fit, &|method| is_apt(method) && is_first(method));
    if let Some(method) = fit.iter().find(|method| method.stands_alone(spec)) {
        return Ok(vec![*method]);
    }
    let suits = |method: &&'static dyn Method| {
        kinds().filter(|kind| method.keeps(*kind) == Keeps::First).count()
    };
    let best = fit.iter().map(suits).max().unwrap_or(0);
    Ok(fit.into_iter().filter(|method| suits(method) == best).collect())
}

/// The names of the methods that keep a promise.
fn keepers(promise: &dyn Promise) -> Vec<&'static str> {
    let keep = METHODS.iter().filter(|method| method.keeps(promise) != Keeps::No);
    keep.map(|method| method.name()).collect()
}

/// Whether a method keeps every promise of a recipe.
fn check_promises(spec: &Spec, method: &'static dyn Method) -> Result<()> {
    let fails = |typed: &&PromiseSpec| method.keeps(typed.kind.promise()) == Keeps::No;
    let failing = spec.promises.iter().find(fails);
    let Some(promise) = failing else { return Ok(()) };
    let error = Error::recipe(format!(
        "`{}` cannot keep {}",
        method.name(),
        promise.kind.described()
    ));
    let hint = format!("these can: {}", listed(&keepers(promise.kind.promise())));
    let spot = spec.method.spot.unwrap_or(promise.spot);
    Err(spec.error_at(spot, error.with_hint(hint)))
}

/// That no method keeps all promises of a recipe.
fn incompatible(spec: &Spec) -> Error {
    let of_each = |promise: &PromiseSpec| {
        format!(
            "{} is kept by {}",
            promise.kind.described(),
            listed(&keepers(promise.kind.promise()))
        )
    };
    let names: Vec<String> =
        spec.promises.iter().map(|promise| promise.kind.described()).collect();
    let error =
        Error::recipe(format!("no method keeps all of {} together", names.join(", ")));
    let error = spec
        .promises
        .iter()
        .fold(error, |error, promise| error.with_hint(of_each(promise)));
    match spec.promises.last() {
        Some(last) => spec.error_at(last.spot, error),
        None => error,
    }
}

/// Every key must be one that a method of the recipe understands.
fn check_keys(spec: &Spec, methods: &[&'static dyn Method]) -> Result<()> {
    let known = |key: &str| methods.iter().any(|method| method.keys().contains(&key));
    let unknown = spec.method.keys.iter().find(|(key, _)| !known(key));
    // Each key alone may be known to some method, and all together to none.
    let mixed = || match methods {
        [_] => None,
        _ => spec.method.keys.last(),
    };
    let Some((key, spot)) = unknown.or_else(mixed) else { return Ok(()) };
    let owners = METHODS.iter().filter(|method| method.keys().contains(&&**key));
    let owners: Vec<&str> = owners.map(|method| method.name()).collect();
    let error = match methods {
        [method] => format!("`{key}` means nothing to `{}`", method.name()),
        _ => format!("`{key}` means nothing to the methods that keep these promises"),
    };
    let error = Error::recipe(error);
    Err(spec.error_at(*spot, error.with_hint(format!("it is for {}", listed(&owners)))))
}
