//! Carrying a recipe out: gather, plan, apply and write, audit, and only then publish.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::audit::{Audit, Given, Knowledge, Original, PAGE_FILE, Report, audit, page};
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::{Microdata, Population};
use crate::method::{ColumnChoice, Plan, Step, ValueChoice};
use crate::random::Randomness;
use crate::recipe::certify::{certify, uncertified};
use crate::recipe::follow::follow;
use crate::recipe::join::{Joined, join};
use crate::recipe::methods::{Gathered, Method, Needs, Planned, Task};
use crate::recipe::order::Order;
use crate::recipe::parts::{Part, parts};
use crate::recipe::{Spec, blurring, generalize};
use crate::release::{
    Binding, CELLS_FILE, DataFile, Draft, FORMAT, Keyed, Manifest, Release,
    SENSITIVE_FILE, SOFTWARE, write_cells, write_datapackage, write_rows, write_values,
};
use crate::table::{Input, Inputs, Role};
use crate::watch::{Quiet, Stage, Watch};

/// What to publish.
#[derive(Debug)]
pub struct Request<'a> {
    /// The recipe.
    pub spec: &'a Spec,
    /// The folder it is in, which the release's directory is relative to.
    pub folder: &'a Path,
    /// What its names stand for: files of the folder, unless others are given.
    pub inputs: Inputs,
    /// Where the release goes, if not where the recipe says.
    pub directory: Option<PathBuf>,
    /// Whether an existing release is replaced.
    pub replace: bool,
    /// Whether the release stays in memory.
    pub in_memory: bool,
    /// A plan to apply instead of a search.
    pub plan: Option<Plan>,
    /// Fixes all randomness; the release is then marked as an experiment.
    pub seed: Option<u64>,
}

impl<'a> Request<'a> {
    /// What the recipe says, and nothing replaced.
    pub fn new(spec: &'a Spec, folder: &'a Path) -> Self {
        Self {
            spec,
            folder,
            inputs: Inputs::in_folder(folder),
            directory: None,
            replace: false,
            in_memory: false,
            plan: None,
            seed: None,
        }
    }

    /// A recipe whose inputs are all given, for a release that stays in memory.
    pub fn in_memory(
        spec: &'a Spec,
        given: impl IntoIterator<Item = (String, Input)>,
    ) -> Self {
        Self {
            inputs: Inputs::in_memory(given),
            in_memory: true,
            ..Self::new(spec, Path::new(""))
        }
    }

    /// The release that is begun.
    fn draft(&self) -> Result<Draft> {
        match self.in_memory {
            true => Ok(Draft::in_memory()),
            false => Draft::new(&self.target(), self.replace),
        }
    }

    /// Where the release goes.
    fn target(&self) -> PathBuf {
        let directory = self.directory.clone();
        directory.unwrap_or_else(|| self.folder.join(&self.spec.release.directory))
    }

    /// What all chance comes from.
    fn randomness(&self) -> Result<Randomness> {
        match self.seed {
            Some(seed) => Ok(Randomness::of_seed(seed)),
            None => Randomness::fresh(),
        }
    }
}

/// What was published.
#[derive(Debug)]
pub struct Published {
    /// Where the release is; nothing if it is in memory.
    pub directory: PathBuf,
    /// The release.
    pub release: Release,
    /// What it says about itself.
    pub manifest: Manifest,
    /// The audit of its files, with the table at hand: private where presence is promised.
    pub audit: Report,
    /// What the method decided: private.
    pub plan: Plan,
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
    let parts = parts(spec)?;
    let draft = request.draft()?;
    let randomness = request.randomness()?;
    let context = Context { request: &request, randomness: &randomness, watch };
    let mut made = Vec::with_capacity(parts.len());
    for part in &parts {
        made.push(Made::new(part, &context)?);
    }
    let whole = match &parts[..] {
        [_] => None,
        _ => Some(Order::open(spec, &request.inputs)?),
    };

    let making = Making { context: &context, draft: &draft };
    let (joined, mut manifest, audit) = loop {
        let joined = join(spec, whole.as_ref(), &mut made);
        watch.stage(Stage::Write, made[0].order.source.bytes());
        let manifest = making.write(&joined, &made)?;
        watch.stage(Stage::Audit, 0);
        let audit = making.audit(&made, &manifest)?;
        let weaker = match uncertified(&audit.private) {
            true => making.weaker(&made)?,
            false => None,
        };
        let Some((place, weaker)) = weaker else { break (joined, manifest, audit) };
        joined.divide(&mut made);
        made[place].planned = weaker;
    };
    let Audit { private: audit, public } = audit;
    certify(&mut manifest, &audit)?;
    certify(&mut manifest, &public)?;
    manifest.write(draft.store())?;
    write_datapackage(&manifest, draft.store())?;
    draft.store().write(PAGE_FILE, page(&manifest, &public).as_bytes())?;
    let release = Release::of(draft.publish()?)?;
    let mut search = joined.search;
    if made.iter().any(|made| made.planned.grouping.is_some()) {
        search.n_groups = audit.group_sizes.iter().map(|(_, n)| *n as usize).sum();
    }
    let order = whole.as_ref().unwrap_or(&made[0].order);
    Ok(Published {
        directory: request.target(),
        release,
        manifest,
        audit,
        plan: joined.plan,
        unnamed: order.unnamed.clone(),
        removed: order.removed.clone(),
        search,
        notes: made.into_iter().flat_map(|made| made.planned.remarks).collect(),
    })
}

/// What all parts of a run share.
struct Context<'a> {
    request: &'a Request<'a>,
    randomness: &'a Randomness,
    watch: &'a dyn Watch,
}

/// A part of a recipe that is planned.
pub(super) struct Made<'a> {
    pub(super) part: &'a Part,
    pub(super) order: Order,
    data: Gathered,
    method: &'static dyn Method,
    pub(super) planned: Planned,
}

impl<'a> Made<'a> {
    /// Gathers what the methods of a part need, and plans.
    fn new(part: &'a Part, context: &Context<'_>) -> Result<Self> {
        let Context { request, randomness, watch } = *context;
        let (spec, inputs) = (&part.spec, &request.inputs);
        let mut order = Order::new(spec, inputs)?;
        if let Some(plan) = &request.plan {
            follow(spec, &part.methods, plan, &mut order)?;
        }
        watch.stage(Stage::Read, order.source.bytes());
        let mut data = gather(spec, &order, part.methods[0], watch)?;

        watch.stage(Stage::Search, 0);
        let plan = request.plan.as_ref();
        let task = Task { spec, order: &order, inputs, plan, randomness, watch };
        let (method, mut planned) = best(&part.methods, &data, &task)?;
        adopt(&mut data, &mut planned);
        Ok(Self { part, order, data, method, planned })
    }
}

/// Reads what a method must know of the table.
fn gather(
    spec: &Spec,
    order: &Order,
    method: &dyn Method,
    watch: &dyn Watch,
) -> Result<Gathered> {
    let source = &order.source;
    let counted = match method.needs() {
        Needs::Numbers => {
            let rows = blurring::NumberRows::read(spec, order, method.name(), watch)?;
            return Ok(Gathered::Numbers(Box::new(rows)));
        }
        Needs::Counts => {
            let key = &spec.input.key;
            let everyone = order.population.as_ref();
            let population = everyone.map(|source| Population { source, key });
            Microdata::read_within(source, population, &order.columns, watch)?
        }
        Needs::SensitiveCounts => {
            let columns = order.columns.iter();
            let columns = columns.filter(|column| column.role == Role::Sensitive);
            Microdata::read(source, &columns.cloned().collect::<Vec<_>>(), watch)?
        }
    };
    Ok(Gathered::Counts(Box::new(counted)))
}

/// The plan with the least loss of those that can be made.
fn best(
    methods: &[&'static dyn Method],
    data: &Gathered,
    task: &Task<'_>,
) -> Result<(&'static dyn Method, Planned)> {
    let mut best: Option<(&'static dyn Method, Planned)> = None;
    let (mut tried, mut failure) = (Vec::new(), None);
    let asked = |method: &&&'static dyn Method| match task.plan {
        Some(plan) if methods.len() > 1 => method.name() == plan.method,
        _ => {
            methods.len() == 1
                || data.counts().is_none_or(|data| generalize::can(method.name(), data))
        }
    };
    for method in methods.iter().filter(asked) {
        let planned = match method.plan(data, task) {
            Ok(planned) => planned,
            Err(error) if matches!(error.kind(), ErrorKind::Unsatisfiable { .. }) => {
                failure.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        tried.push((method.name().to_owned(), planned.loss));
        if best.as_ref().is_none_or(|(_, held)| planned.loss < held.loss) {
            best = Some((*method, planned));
        }
    }
    match (best, failure) {
        (Some((method, mut planned)), _) => {
            if methods.len() > 1 {
                planned.search.tried = tried;
            }
            Ok((method, planned))
        }
        (None, Some(error)) => Err(error),
        (None, None) => Err(Error::recipe("no method can keep these promises")),
    }
}

/// Gives the columns of the data the cells that were chosen.
fn adopt(data: &mut Gathered, planned: &mut Planned) {
    if let (Gathered::Counts(data), Some(columns)) = (data, planned.quasi.take()) {
        for (column, spec) in columns.iter().zip(&mut data.specs) {
            spec.cells = column.cells;
        }
        data.quasi = columns;
    }
}

/// A release that is being made.
struct Making<'a> {
    context: &'a Context<'a>,
    draft: &'a Draft,
}

impl Making<'_> {
    /// Applies the plan and writes all files. The manifest does not say yet what the audit
    /// found.
    fn write(&self, joined: &Joined, made: &[Made<'_>]) -> Result<Manifest> {
        let Context { request, randomness, watch } = *self.context;
        let mut manifest = Manifest {
            format: FORMAT,
            software: SOFTWARE.to_owned(),
            experiment: request.seed.is_some(),
            rows: 0,
            left_out: 0,
            data: DataFile::of(request.spec.release.format),
            columns: joined.columns.clone(),
            classes: joined.classes.clone(),
            sampled: made.iter().find_map(|made| made.planned.sampled.clone()),
            method: joined.method.clone(),
            promises: joined.promises.clone(),
            loss: BTreeMap::new(),
            not_promised: joined.not_promised.clone(),
            checksums: BTreeMap::new(),
        };
        let secret = made.iter().find_map(|made| made.planned.secret.as_ref());
        let counted: Vec<Option<&Microdata>> =
            joined.part_of.iter().map(|part| made[*part].data.counts()).collect();
        let covers = made.iter().find_map(|made| made.planned.grouping.as_ref());
        let starts = made.iter().map(|made| made.data.block_starts());
        let starts = starts.max_by_key(|starts| starts.len());
        let binding = Binding {
            plan: &joined.plan,
            layout: manifest.layout(),
            source: &made[0].order.source,
            data: &counted,
            covers: covers.map(|grouping| &grouping.covers),
            texts: None,
            block_starts: starts.unwrap_or_default(),
            randomness,
            keyed: secret.map(|(key, id)| Keyed { key, id }),
        };
        let n_rows = write_rows(binding, &manifest.data, self.draft, watch)?;
        manifest.rows = n_rows;
        manifest.left_out = made[0].data.n_rows() - n_rows;
        let store = self.draft.store();
        let mut files = vec![manifest.data.file.clone()];
        for made in made {
            let (cells, data) = (&made.planned.cells, made.data.counts());
            if let (Some(cells), Some(data)) = (cells, data) {
                write_cells(store, &data.quasi, cells.iter().map(Vec::as_slice))?;
                files.push(CELLS_FILE.to_owned());
            }
        }
        for (step, data) in joined.plan.steps.iter().zip(&counted) {
            if let (Step::Apart(apart), Some(data)) = (step, data) {
                write_values(apart, data, SENSITIVE_FILE, self.draft)?;
                files.push(SENSITIVE_FILE.to_owned());
            }
        }
        for file in files {
            let checksum = store.checksum(&file)?;
            manifest.checksums.insert(file, checksum);
        }
        manifest.write(store)?;
        Ok(manifest)
    }

    /// Audits what was written, with the table at hand.
    fn audit(&self, made: &[Made<'_>], manifest: &Manifest) -> Result<Audit> {
        let watch = Quiet(self.context.watch);
        let release = Release::of(self.draft.store().clone())?;
        let mut everyone = made.iter().find_map(|made| made.data.counts()?.everyone());
        let original = match made {
            [Made { data: Gathered::Counts(data), .. }] => Original::counted(data),
            [Made { data: Gathered::Numbers(rows), .. }] => {
                Original::numbers(&rows.numbers)
            }
            // No part knows all columns.
            _ => {
                let source = &made[0].order.source;
                let population = made.iter().find_map(|m| m.order.population.as_ref());
                let (original, people) =
                    Original::read_within(source, population, manifest, &watch)?;
                everyone = everyone.or(people);
                original
            }
        };
        let knowledge = made.iter().find_map(|made| made.planned.knowledge.clone());
        let knowledge = knowledge.map(Knowledge::Stated);
        let given = Given {
            original: Some(&original),
            population: everyone.as_ref(),
            knowledge: knowledge.as_ref(),
        };
        audit(&release, &given, &watch)
    }

    /// What else a part can publish if the audit could not certify the first plan in time.
    fn weaker(&self, made: &[Made<'_>]) -> Result<Option<(usize, Planned)>> {
        let Context { request, randomness, watch } = *self.context;
        for (place, made) in made.iter().enumerate() {
            let task = Task {
                spec: &made.part.spec,
                order: &made.order,
                inputs: &request.inputs,
                plan: request.plan.as_ref(),
                randomness,
                watch,
            };
            if let Some(weaker) =
                made.method.weaker(&made.planned, &made.data, &task)?
            {
                return Ok(Some((place, weaker)));
            }
        }
        Ok(None)
    }
}
