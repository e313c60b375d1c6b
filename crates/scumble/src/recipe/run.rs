//! Carrying a recipe out: read, search, write, audit, and only then publish.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::audit;
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::{Cells, Column, ColumnSpec, Microdata, Rule};
use crate::method::{
    FullDomain, Grouping, MOST_CANDIDATES, Mondrian, Plan, Route, Task, lattice_size,
};
use crate::promise::Promises;
use crate::recipe::notes::{method_note, not_promised, published_columns};
use crate::recipe::order::{Order, promises, resolve};
use crate::recipe::{MethodName, Spec};
use crate::release::{
    self, DataFile, DataFormat, Draft, FORMAT, Manifest, PromiseNote, Release,
    RowsTask, write_rows,
};
use crate::table::{Kind, Role};

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
}

/// What was published.
#[derive(Debug)]
pub struct Published {
    /// Where the release is.
    pub directory: PathBuf,
    /// What it says about itself.
    pub manifest: Manifest,
    /// The audit of its files.
    pub audit: audit::Report,
    /// What the method decided: private.
    pub plan: Plan,
    /// Columns of the table that the recipe does not name: left out.
    pub unnamed: Vec<String>,
    /// Identifiers and dropped columns: left out.
    pub removed: Vec<String>,
    /// How the search went.
    pub search: Search,
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
    /// The loss of each method that was tried, if the recipe names none.
    pub tried: Vec<(String, f64)>,
}

/// Makes a release. Nothing appears under its name unless the audit of the written files
/// confirms every promise.
pub fn publish(request: Request<'_>, watch: &dyn Watch) -> Result<Published> {
    let spec = request.spec;
    let directory = request
        .directory
        .clone()
        .unwrap_or_else(|| resolve(request.folder, &spec.release.directory));
    let draft = Draft::new(&directory, request.replace)?;
    let mut order = Order::new(spec, request.folder)?;
    if let Some(plan) = &request.plan {
        check_method(spec, plan)?;
        fit(&mut order.columns, plan)?;
    }

    watch.stage(Stage::Read, order.source.bytes());
    let mut data =
        Microdata::read(&order.source, &order.columns, &|bytes| watch.advance(bytes))?;
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
    search.n_groups = grouping.covers.len();
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

    watch.stage(Stage::Write, 0);
    let data_name = match spec.release.format {
        DataFormat::Csv => "data.csv",
        DataFormat::Parquet => "data.parquet",
    };
    let task = RowsTask {
        data: &data,
        grouping: &grouping,
        source: &order.source,
        columns: &order.published,
        weights: None,
        format: spec.release.format,
    };
    let data_path = draft.path().join(data_name);
    let written = write_rows(&task, &data_path, &|bytes| watch.advance(bytes))?;
    let rows = written.rows;
    let mut manifest = Manifest {
        format: FORMAT,
        software: concat!("scumble ", env!("CARGO_PKG_VERSION")).to_owned(),
        experiment: request.seed.is_some(),
        rows,
        left_out: data.n_rows() - rows,
        data: DataFile { file: data_name.to_owned(), format: spec.release.format },
        columns: published_columns(spec, &order, &data, &grouping),
        weights: None,
        method: method_note(spec, &name, &data.quasi, &grouping),
        promises: Vec::new(),
        loss: BTreeMap::new(),
        not_promised: not_promised(spec, &data.quasi),
        checksums: BTreeMap::from([(
            data_name.to_owned(),
            release::checksum(&data_path)?,
        )]),
    };
    manifest.promises = promises
        .iter()
        .map(|promise| PromiseNote {
            name: promise.name().to_owned(),
            asked: promise.asked(),
            measured: Value::Null,
            holds: false,
            certified: String::new(),
        })
        .collect();
    manifest.write(draft.path())?;

    watch.stage(Stage::Audit, 0);
    let release = Release::open(draft.path())?;
    let audit = audit::audit(&release, Some(&data), &|_| ())?;
    certify(&mut manifest, &audit)?;
    manifest.write(draft.path())?;
    audit::write_page(draft.path(), &manifest, &audit)?;
    draft.publish()?;
    Ok(Published {
        directory,
        manifest,
        audit,
        plan,
        unnamed: order.unnamed,
        removed: order.removed,
        search,
    })
}

/// A method's result.
struct Chosen {
    name: String,
    columns: Vec<Column>,
    grouping: Grouping,
    search: Search,
}

/// Runs the method of the recipe or, if it names none, those that can keep the promises,
/// and takes the one with the least loss.
fn choose(
    spec: &Spec,
    data: &Microdata,
    promises: &Promises,
    limit: u64,
) -> Result<Chosen> {
    let names = match spec.method.name {
        Some(name) => vec![name],
        None => {
            let mondrian_can = data
                .quasi
                .iter()
                .all(|c| c.highest == c.hierarchy.height() && c.lowest == 0);
            // No search among fewer nodes is refused for having too many candidates.
            let lattice_can = lattice_size(&data.quasi) <= MOST_CANDIDATES;
            let mut names = Vec::new();
            if lattice_can || !mondrian_can {
                names.push(MethodName::FullDomain);
            }
            if mondrian_can {
                names.push(MethodName::Mondrian);
            }
            names
        }
    };
    let single = names.len() == 1;
    let mut best: Option<(f64, Chosen)> = None;
    let mut tried = Vec::new();
    let mut failure: Option<Error> = None;
    for name in names {
        let chosen = match run_method(spec, name, data, promises, limit) {
            Ok(chosen) => chosen,
            Err(error) if matches!(error.kind(), ErrorKind::Unsatisfiable { .. }) => {
                failure.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        let shape = chosen.grouping.shape(&data.census);
        let loss = spec.method.loss.of(&chosen.columns, &shape);
        tried.push((chosen.name.clone(), loss));
        if best.as_ref().is_none_or(|(held, _)| loss < *held) {
            best = Some((loss, chosen));
        }
    }
    match (best, failure) {
        (Some((_, mut chosen)), _) => {
            if !single {
                chosen.search.tried = tried;
            }
            Ok(chosen)
        }
        (None, Some(error)) => Err(error),
        (None, None) => Err(Error::recipe("no method can keep these promises")),
    }
}

fn run_method(
    spec: &Spec,
    name: MethodName,
    data: &Microdata,
    promises: &Promises,
    limit: u64,
) -> Result<Chosen> {
    let mut columns = data.quasi.clone();
    if name == MethodName::Mondrian && spec.method.cells.is_none() {
        for (column, spec) in columns.iter_mut().zip(&data.specs) {
            column.cells = natural_cells(column, spec);
        }
    }
    let task = Task {
        columns: &columns,
        census: &data.census,
        promises,
        loss: spec.method.loss,
        limit,
    };
    let mut search = Search::default();
    let (name, grouping) = match name {
        MethodName::FullDomain => {
            let found = FullDomain.find(&task)?;
            search.lattice = found.lattice;
            search.checked = found.checked;
            ("full-domain", found.grouping)
        }
        MethodName::Mondrian => {
            let method = Mondrian {
                column: spec.method.column,
                value: spec.method.value,
                ..Mondrian::default()
            };
            ("mondrian", method.find(&task)?)
        }
    };
    Ok(Chosen { name: name.to_owned(), columns, grouping, search })
}

/// A column of more words than this is not published in sets: they may be free text.
const WORDS_IN_SETS: usize = 40;

/// What suits cuts best: nodes where the recipe gives a hierarchy, otherwise ranges of
/// numbers and dates and sets of words, unless these are too many to be categories.
fn natural_cells(column: &Column, spec: &ColumnSpec) -> Cells {
    match (column.domain.kind(), &spec.rule) {
        (Kind::Number | Kind::Date, Rule::Plain) => Cells::Interval,
        (Kind::Category, Rule::Plain) if column.domain.len() <= WORDS_IN_SETS => {
            Cells::Set
        }
        _ => Cells::Taxonomy,
    }
}

/// A plan is for the method that made it.
fn check_method(spec: &Spec, plan: &Plan) -> Result<()> {
    let asked = match spec.method.name {
        None => return Ok(()),
        Some(MethodName::FullDomain) => "full-domain",
        Some(MethodName::Mondrian) => "mondrian",
    };
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
fn certify(manifest: &mut Manifest, audit: &audit::Report) -> Result<()> {
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
        note.certified = "recomputed from the published rows".to_owned();
    }
    manifest.loss = audit.loss.clone();
    Ok(())
}
