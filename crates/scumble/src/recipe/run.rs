//! Carrying a recipe out: read, search, write, audit, and only then publish.

use std::path::{Path, PathBuf};

use crate::audit;
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::{ColumnSpec, Microdata, Population};
use crate::method::{ColumnChoice, Plan, Route, ValueChoice, Weighting};
use crate::random::Randomness;
use crate::recipe::blurring::{self, blurs, check_elsewhere};
use crate::recipe::bucketize::{self, bucketizes, check_largest};
use crate::recipe::choose::{Chosen, choose, weighting};
use crate::recipe::order::{Order, promises, resolve};
use crate::recipe::randomize::{self, randomizes};
use crate::recipe::write::{Job, uncertified};
use crate::recipe::{MethodName, Spec};
use crate::release::{Draft, Manifest};
use crate::table::Role;

/// What the library reports while it works.
pub trait Watch: Sync {
    /// A stage begins; `bytes` is how much there is to read, 0 if that is not known.
    fn stage(&self, _stage: Stage, _bytes: u64) {}
    /// So many more bytes were read.
    fn advance(&self, _bytes: u64) {}
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading and counting the table.
    Read,
    /// Looking for the best release.
    Search,
    /// Writing the files.
    Write,
    /// Rechecking the files and attacking them.
    Audit,
}

/// Nobody watches.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// What to publish.
#[derive(Debug)]
pub struct Request<'a> {
    /// The recipe.
    pub spec: &'a Spec,
    /// The folder it is in.
    pub folder: &'a Path,
    /// Where the release goes, if not where the recipe says.
    pub directory: Option<PathBuf>,
    /// Whether an existing release is replaced.
    pub replace: bool,
    /// A plan to apply instead of a search.
    pub plan: Option<Plan>,
    /// Fixes all randomness; the release is then marked as an experiment.
    pub seed: Option<u64>,
}

impl<'a> Request<'a> {
    /// What the recipe says, and nothing replaced.
    pub fn new(spec: &'a Spec, folder: &'a Path) -> Self {
        Self { spec, folder, directory: None, replace: false, plan: None, seed: None }
    }

    /// Where the release goes.
    pub(super) fn target(&self) -> PathBuf {
        let directory = self.directory.clone();
        directory.unwrap_or_else(|| resolve(self.folder, &self.spec.release.directory))
    }

    /// What all chance comes from.
    pub(super) fn randomness(&self) -> Result<Randomness> {
        match self.seed {
            Some(seed) => Ok(Randomness::of_seed(seed)),
            None => Randomness::fresh(),
        }
    }
}

/// What was published.
#[derive(Debug)]
pub struct Published {
    /// Where the release is.
    pub directory: PathBuf,
    /// What it says about itself.
    pub manifest: Manifest,
    /// The audit of its files, with the table at hand: private where presence is promised.
    pub audit: audit::Report,
    /// What the method decided, if it forms groups: private.
    pub plan: Option<Plan>,
    /// Columns of the table that the recipe does not name: left out.
    pub unnamed: Vec<String>,
    /// Identifiers and dropped columns: left out.
    pub removed: Vec<String>,
    /// How the search went.
    pub search: Search,
    /// What a steward should look at, and no file says.
    pub notes: Vec<String>,
}

/// How a search went.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Nodes of the lattice, for `full-domain`.
    pub lattice: u128,
    /// Nodes at which all columns were looked at.
    pub checked: usize,
    /// Groups published.
    pub n_groups: usize,
    /// For `full-domain`: each column, its level, and the level of `*`.
    pub levels: Vec<(String, usize, usize)>,
    /// For `mondrian`: how columns and values were chosen.
    pub strategy: Option<(ColumnChoice, ValueChoice)>,
    /// The loss of each method that was tried, if the recipe names none.
    pub tried: Vec<(String, f64)>,
}

/// Makes a release. Nothing appears under its name unless the audit of the written files
/// confirms every promise.
pub fn publish(request: Request<'_>, watch: &dyn Watch) -> Result<Published> {
    let spec = request.spec;
    if blurs(spec) {
        return blurring::publish(request, watch);
    }
    check_elsewhere(spec)?;
    if randomizes(spec) {
        return randomize::publish(request, watch);
    }
    check_noise(spec)?;
    if bucketizes(spec) {
        return bucketize::publish(request, watch);
    }
    check_largest(spec)?;
    let directory = request.target();
    let draft = Draft::new(&directory, request.replace)?;
    let mut order = Order::new(spec, request.folder)?;
    if let Some(plan) = &request.plan {
        check_method(spec, plan)?;
        fit(&mut order.columns, plan)?;
    }

    watch.stage(Stage::Read, order.source.bytes());
    let key = &spec.input.key;
    let population = order.population.as_ref().map(|source| Population { source, key });
    let progress = |bytes| watch.advance(bytes);
    let mut data =
        Microdata::read_within(&order.source, population, &order.columns, &progress)?;
    let promises = promises(spec, &data)?;

    watch.stage(Stage::Search, 0);
    let limit = spec.method.suppression.share_of(data.n_rows());
    let chosen = match &request.plan {
        Some(plan) => {
            let grouping =
                plan.grouping(&data.quasi, &data.census, &promises, limit)?;
            let columns = data.quasi.clone();
            let name = plan.method.clone();
            Chosen { name, columns, grouping, search: Search::default() }
        }
        None => choose(spec, &data, &promises, limit)?,
    };
    let Chosen { name, columns, grouping, mut search } = chosen;
    if let Route::Levels(levels) = &grouping.route {
        let named = columns.iter().zip(levels);
        search.levels = named
            .map(|(column, level)| {
                (column.name.clone(), *level, column.hierarchy.height())
            })
            .collect();
    }
    for (column, spec) in columns.iter().zip(&mut data.specs) {
        spec.cells = column.cells;
    }
    data.quasi = columns;
    let n_quasi = data.quasi.len();
    let plan =
        Plan::of(&name, &data.quasi, &data.specs[..n_quasi], &data.census, &grouping);

    let job = Job {
        spec,
        experiment: request.seed.is_some(),
        folder: draft.path(),
        order: &order,
        data: &data,
        grouping: &grouping,
        name: &name,
        search: &search,
        promises: &promises,
    };
    let mut weighting = weighting(spec);
    let (mut manifest, audit) = loop {
        let (manifest, audit) = job.write(weighting, watch)?;
        match &mut weighting {
            // The audit counts worlds in another way than the publisher. Where that takes
            // it too long, weights that need no counting must do.
            Some((way @ Weighting::Counted(_), _)) if uncertified(&audit) => {
                *way = Weighting::Population;
            }
            _ => break (manifest, audit),
        }
    };
    let public = job.public(&audit)?;
    search.n_groups = audit.group_sizes.iter().map(|(_, n)| *n as usize).sum();
    certify(&mut manifest, &public)?;
    manifest.write(draft.path())?;
    audit::write_page(draft.path(), &manifest, &public)?;
    draft.publish()?;
    Ok(Published {
        directory,
        manifest,
        audit,
        plan: Some(plan),
        unnamed: order.unnamed,
        removed: order.removed,
        search,
        notes: Vec::new(),
    })
}

/// Keys about randomizing are for methods that do.
fn check_noise(spec: &Spec) -> Result<()> {
    match spec.method.noise.first() {
        None => Ok(()),
        Some((key, spot)) => {
            let error =
                Error::recipe(format!("`{key}` is for methods that randomize values"));
            Err(spec
                .error_at(spot, error.with_hint("promise `breach` or `fine-grain`")))
        }
    }
}

/// A plan is for the method that made it.
fn check_method(spec: &Spec, plan: &Plan) -> Result<()> {
    let Some(asked) = spec.method.name.map(MethodName::name) else { return Ok(()) };
    if asked == plan.method {
        return Ok(());
    }
    let error = Error::recipe(format!(
        "the recipe asks for `{asked}`, but the plan was made by `{}`",
        plan.method
    ));
    Err(match spec.method.spot {
        Some(spot) => spec.error_at(spot, error),
        None => error,
    })
}

/// Makes the columns those of a plan, and their domains large enough for it.
fn fit(columns: &mut [ColumnSpec], plan: &Plan) -> Result<()> {
    let quasi: Vec<&mut ColumnSpec> =
        columns.iter_mut().filter(|column| column.role == Role::Quasi).collect();
    let mismatch = || {
        let names: Vec<String> =
            plan.columns.iter().map(|column| format!("`{}`", column.name)).collect();
        Error::recipe("the plan was made for other quasi columns")
            .with_hint(format!("it is for {}", names.join(", ")))
    };
    if quasi.len() != plan.columns.len() {
        return Err(mismatch());
    }
    for column in quasi {
        let place = plan.columns.iter().position(|planned| planned.name == column.name);
        let place = place.ok_or_else(mismatch)?;
        let planned = &plan.columns[place];
        column.reading = planned.reading.clone();
        column.may_be_numbers = false;
        column.rule = planned.rule.clone();
        column.cells = planned.cells;
        column.lowest = planned.lowest;
        column.also = plan.values(place);
    }
    Ok(())
}

/// Copies what the audit measured into the manifest, or refuses the release.
pub(super) fn certify(manifest: &mut Manifest, audit: &audit::Report) -> Result<()> {
    if let Some(failing) = audit.promises.iter().find(|promise| !promise.holds) {
        return Err(Error::new(ErrorKind::Broken(format!(
            "the written release does not keep {}: {} rows are at risk; nothing was \
             published",
            failing.name, failing.rows_at_risk
        )))
        .with_hint("this is a defect of scumble: please report it"));
    }
    for (note, checked) in manifest.promises.iter_mut().zip(&audit.promises) {
        note.measured = checked.measured.clone();
        note.holds = checked.holds;
        note.certified = match &*note.name {
            "delta-presence" => {
                "recomputed from the published files and the population".to_owned()
            }
            "breach" | "fine-grain" => {
                "every matrix checked against every protected value".to_owned()
            }
            "r-robustness" => bucketize::certified(&checked.measured),
            "expected-anonymity" => {
                blurring::certified(&note.asked, &manifest.method.name)
            }
            _ => "recomputed from the published rows".to_owned(),
        };
    }
    manifest.loss = audit.loss.clone();
    Ok(())
}
