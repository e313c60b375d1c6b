//! Recipes and plans.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use pyo3::prelude::*;
use scumble::recipe::{Published, Request, Spec, publish};
use scumble::table::{Input, Inputs, Kind, Role, Said, Schema, Source};
use scumble::watch::{Unwatched, Watch};
use scumble::{Error, Randomness};

use crate::errors::raised;
use crate::release::Release;
use crate::run::watched;
use crate::table::{Given, Table};

/// What everyone who may be in the table is called, if the recipe does not say.
const POPULATION: &str = "population";

/// The column that tells rows apart while a plan is applied to them.
const ROW: &str = "scumble.row";

/// A recipe, checked by itself.
#[pyclass(frozen, module = "scumble._internal")]
pub(crate) struct Recipe {
    pub(crate) spec: Spec,
    text: String,
    folder: PathBuf,
    /// Files that are in memory, by their names in the recipe.
    files: BTreeMap<String, Vec<u8>>,
}

#[pymethods]
impl Recipe {
    /// A recipe that a program made, in JSON and as TOML; and the folder that its files are
    /// in, if they are not in memory.
    #[staticmethod]
    fn of(
        json: &str,
        text: String,
        folder: PathBuf,
        files: BTreeMap<String, Vec<u8>>,
    ) -> PyResult<Self> {
        let spec = Spec::from_json(json, "the recipe").map_err(|e| raised(&e))?;
        Ok(Self { spec, text, folder, files })
    }

    /// The recipe in a text.
    #[staticmethod]
    fn parse(text: String, file: &str, folder: PathBuf) -> PyResult<Self> {
        let spec = match file.ends_with(".json") {
            true => Spec::from_json(&text, file),
            false => Spec::parse(&text, file),
        };
        let spec = spec.map_err(|error| raised(&error))?;
        Ok(Self { spec, text, folder, files: BTreeMap::new() })
    }

    /// The recipe as TOML, or as it was typed.
    #[getter(text)]
    fn get_text(&self) -> &str {
        &self.text
    }

    /// The columns, each with its role.
    fn roles(&self) -> Vec<(String, &'static str)> {
        let columns = self.spec.columns.iter();
        columns.map(|column| (column.name.clone(), column.role.name())).collect()
    }

    /// Makes a release: in memory, or in a folder.
    #[pyo3(signature = (
        table=None, *, directory=None, replace=false, seed=None, population=None,
        ledger=None, strict_ledger=false, plan=None, progress=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn publish(
        &self,
        py: Python<'_>,
        table: Option<Given>,
        directory: Option<PathBuf>,
        replace: bool,
        seed: Option<u64>,
        population: Option<Given>,
        ledger: Option<PathBuf>,
        strict_ledger: bool,
        plan: Option<Py<Plan>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Release> {
        let plan = plan.map(|plan| plan.get().plan.clone());
        let published = watched(py, progress, |watch| {
            let (spec, inputs) = self.with(table.as_ref(), population.as_ref());
            let request = Request {
                inputs,
                in_memory: directory.is_none(),
                directory,
                replace,
                seed,
                plan,
                ledger,
                refuse_together: strict_ledger,
                ..Request::new(&spec, &self.folder)
            };
            publish(request, watch)
        })?;
        Ok(Release::published(published))
    }
}

impl Recipe {
    /// As TOML.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The recipe, and what its names stand for.
    pub(crate) fn with(
        &self,
        table: Option<&Given>,
        population: Option<&Given>,
    ) -> (Spec, Inputs) {
        let mut spec = self.spec.clone();
        let mut inputs = Inputs::in_folder(&self.folder);
        let files = self.files.iter();
        let files =
            files.map(|(name, bytes)| (name.clone(), Input::Bytes(bytes.clone())));
        inputs.given.extend(files);
        if let Some(table) = table {
            inputs.given.insert(spec.input.table.clone(), table.input());
        }
        if let Some(population) = population {
            let spot = spec.input.table_spot;
            spec.input.population_spot.get_or_insert(spot);
            let name = spec.input.population.get_or_insert_with(|| POPULATION.into());
            inputs.given.insert(name.clone(), population.input());
        }
        (spec, inputs)
    }
}

/// What a method decided: private, since it holds values of the table.
#[pyclass(frozen, module = "scumble._internal")]
pub(crate) struct Plan {
    pub(crate) plan: scumble::Plan,
}

impl Plan {
    pub(crate) fn of(published: &Published) -> Self {
        Self { plan: published.plan.clone() }
    }
}

#[pymethods]
impl Plan {
    /// The plan as it was saved.
    #[staticmethod]
    fn parse(text: &str, file: &str) -> PyResult<Self> {
        let plan = scumble::Plan::from_json(text, file).map_err(|e| raised(&e))?;
        Ok(Self { plan })
    }

    /// The plan as it is saved.
    fn json(&self) -> PyResult<String> {
        self.plan.to_json().map_err(|error| raised(&error))
    }

    /// The method that made it.
    #[getter]
    fn method(&self) -> &str {
        &self.plan.method
    }

    /// The cells of all rows of a table, in their order, `*` in those that the plan leaves
    /// out; of the quasi columns of a recipe. That is no release.
    fn cells(&self, py: Python<'_>, recipe: &Recipe, table: &Table) -> PyResult<Table> {
        py.detach(|| self.cells_of(&recipe.spec, table)).map_err(|error| raised(&error))
    }
}

impl Plan {
    fn cells_of(&self, spec: &Spec, table: &Table) -> scumble::Result<Table> {
        let quasi = spec.columns.iter().filter(|column| column.role == Role::Quasi);
        let mut said: Vec<Said> = quasi.map(|column| column.said()).collect();
        let names: Vec<String> = said.iter().map(|said| said.name.clone()).collect();
        let fields = names.iter().map(|name| Field::new(name, DataType::Utf8, true));
        let schema = Arc::new(ArrowSchema::new(fields.collect::<Vec<Field>>()));
        said.push(Said {
            name: ROW.to_owned(),
            role: Role::Other,
            kind: Some(Kind::Category),
            date_format: None,
        });
        let whole: Vec<RecordBatch> =
            table.batches.iter().map(numbered).collect::<scumble::Result<_>>()?;
        let source = Source::from_batches("the table", whole.clone())?;
        let watch: &dyn Watch = &Unwatched;
        let columns = Schema::read(&source, &said, &spec.input.missing, watch)?;
        let applier = self.plan.bind(&columns)?;
        let randomness = Randomness::fresh()?;
        let mut pieces: Vec<Vec<ArrayRef>> = names.iter().map(|_| Vec::new()).collect();
        let (mut first, blocks) =
            (0, whole.iter().filter(|batch| batch.num_rows() > 0));
        for (block, batch) in (0..).zip(blocks) {
            let cells = applier.apply(batch, block, first, &randomness)?;
            first += batch.num_rows() as u64;
            let of = |name: &str| {
                let found = cells.column_by_name(name);
                found.ok_or_else(|| Error::input(format!("the plan has no `{name}`")))
            };
            let rows: Vec<usize> = of(ROW)?
                .as_string::<i32>()
                .iter()
                .filter_map(|row| row?.parse().ok())
                .collect();
            for (name, pieces) in names.iter().zip(&mut pieces) {
                let column = of(name)?.as_string::<i32>();
                let mut all = vec!["*"; batch.num_rows()];
                for (place, row) in rows.iter().enumerate() {
                    all[*row] = column.value(place);
                }
                pieces.push(Arc::new(StringArray::from(all)));
            }
        }
        Table::of(schema, pieces)
    }
}

/// A batch with the number of each row.
fn numbered(batch: &RecordBatch) -> scumble::Result<RecordBatch> {
    let rows = (0..batch.num_rows()).map(|row| Some(row.to_string()));
    let rows: ArrayRef = Arc::new(rows.collect::<StringArray>());
    let mut fields: Vec<Field> =
        batch.schema().fields().iter().map(|field| (**field).clone()).collect();
    fields.push(Field::new(ROW, DataType::Utf8, true));
    let columns = batch.columns().iter().cloned().chain([rows]).collect();
    RecordBatch::try_new(Arc::new(ArrowSchema::new(fields)), columns)
        .map_err(|error| Error::input(error.to_string()))
}
