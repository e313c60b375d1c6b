//! Releases: what they say, their rows, audits, answers and draws.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ArrayRef;
use arrow_schema::{Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rand::RngExt;
use scumble::audit::{
    Given as Known, Knowledge, Original, Report, audit, page, read_population, together,
};
use scumble::estimate::{DrawnTable, Evidence, Query, Way};
use scumble::recipe::Published;
use scumble::release::Treatment;
use scumble::table::{Reading, Stated};
use scumble::watch::{Stage, Watch};
use scumble::{Error, Manifest, Randomness};
use serde_json::{Value, json};

use crate::errors::raised;
use crate::recipe::Plan;
use crate::report::{answer_json, report_json};
use crate::run::watched;
use crate::table::{Given, Table, Wanted, typed};

/// A release, in memory or in a folder.
#[pyclass(frozen, module = "scumble._internal")]
pub(crate) struct Release {
    release: scumble::Release,
    /// What came of publishing it here.
    made: Option<Made>,
    /// What questions are answered by, once one was asked.
    evidence: Mutex<Option<Arc<Evidence>>>,
}

struct Made {
    report: Value,
    plan: scumble::Plan,
    notes: Vec<String>,
    unnamed: Vec<String>,
}

impl Release {
    fn of(release: scumble::Release, made: Option<Made>) -> Self {
        Self { release, made, evidence: Mutex::new(None) }
    }

    pub(crate) fn published(published: Published) -> Self {
        let plan = Plan::of(&published).plan;
        let Published { release, manifest, audit, unnamed, notes, .. } = published;
        let report = report_json(&manifest, &audit);
        Self::of(release, Some(Made { report, plan, notes, unnamed }))
    }

    /// What the release tells, read once.
    fn evidence(&self, watch: &dyn Watch) -> scumble::Result<Arc<Evidence>> {
        let mut held = self.evidence.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(evidence) = &*held {
            return Ok(evidence.clone());
        }
        watch.stage(Stage::Read, self.release.rows()?.bytes());
        let evidence = Arc::new(Evidence::read(&self.release, watch)?);
        *held = Some(evidence.clone());
        Ok(evidence)
    }

    fn manifest(&self) -> &Manifest {
        &self.release.manifest
    }
}

/// What an auditor is given, as it came.
type Files = Vec<(String, Vec<u8>)>;

#[pymethods]
impl Release {
    /// Opens a release in a folder.
    #[staticmethod]
    fn open(directory: PathBuf) -> PyResult<Self> {
        let release = scumble::Release::open(&directory).map_err(|e| raised(&e))?;
        Ok(Self::of(release, None))
    }

    /// What it says about itself, as JSON.
    fn manifest_json(&self) -> PyResult<String> {
        serde_json::to_string(self.manifest())
            .map_err(|error| raised(&Error::input(error.to_string())))
    }

    /// What its audit found when it was published here, as JSON.
    fn report_json(&self) -> Option<String> {
        self.made.as_ref().map(|made| made.report.to_string())
    }

    /// What a steward should look at.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.made.as_ref().map_or_else(Vec::new, |made| made.notes.clone())
    }

    /// Columns of the table that the recipe does not name.
    #[getter]
    fn unnamed(&self) -> Vec<String> {
        self.made.as_ref().map_or_else(Vec::new, |made| made.unnamed.clone())
    }

    /// What its method decided, if it was published here.
    fn plan(&self) -> Option<Plan> {
        self.made.as_ref().map(|made| Plan { plan: made.plan.clone() })
    }

    /// The names of its files.
    fn files(&self) -> PyResult<Vec<String>> {
        self.release.store().files().map_err(|error| raised(&error))
    }

    /// A file of it.
    fn read<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        if !self.files()?.iter().any(|file| file == name) {
            let error = Error::input(format!("the release has no file `{name}`"));
            return Err(raised(&error));
        }
        let bytes = self.release.store().read(name).map_err(|error| raised(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Saves it as a folder.
    fn save(
        &self,
        py: Python<'_>,
        directory: PathBuf,
        replace: bool,
    ) -> PyResult<Self> {
        let saved = py.detach(|| self.release.save(&directory, replace));
        Ok(Self::of(saved.map_err(|error| raised(&error))?, None))
    }

    /// Its rows.
    #[pyo3(signature = (progress=None))]
    fn rows(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<Table> {
        watched(py, progress, |watch| {
            self.release.verify()?;
            let source = self.release.rows()?;
            watch.stage(Stage::Read, source.bytes());
            let wanted = |name: &str| wanted(self.manifest(), name);
            Table::read(&source, wanted, watch)
        })
    }

    /// Audits it; what was found, as JSON, and as the page for people.
    #[pyo3(signature = (
        original=None, population=None, knowledge=None, of_table=false, also=vec![],
        progress=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn audit(
        &self,
        py: Python<'_>,
        original: Option<Given>,
        population: Option<Given>,
        knowledge: Option<Files>,
        of_table: bool,
        also: Vec<Py<Release>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, String)> {
        let report = watched(py, progress, |watch| {
            let known = match knowledge {
                Some(files) => Some(Knowledge::Stated(Stated::parse_all(&files)?)),
                None => of_table.then_some(Knowledge::Table),
            };
            let others: Vec<&scumble::Release> =
                also.iter().map(|other| &other.get().release).collect();
            self.audited((original, population, known), &others, watch)
        })?;
        let object = report_json(self.manifest(), &report);
        Ok((object.to_string(), page(self.manifest(), &report)))
    }

    /// Answers a question in SQL; the answers, as JSON.
    #[pyo3(signature = (question, way="inverse", progress=None))]
    fn estimate(
        &self,
        py: Python<'_>,
        question: &str,
        way: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let answer = watched(py, progress, |watch| {
            let way = match way {
                "inverse" => Way::Inverse,
                "iterative" => Way::Iterative,
                "simplex" => Way::Simplex,
                other => {
                    let wanted = "`inverse`, `iterative` or `simplex`";
                    return Err(Error::out_of_range(
                        "way",
                        format!("`{other}`"),
                        wanted,
                    ));
                }
            };
            let asked = Query::parse_all(question)?;
            let evidence = self.evidence(watch)?;
            watch.stage(Stage::Ask, 0);
            // Where errors were measured, answers are about rows that were left out, too.
            let left_out = match self.manifest().calibration {
                Some(_) => 0,
                None => self.manifest().left_beside(evidence.n_rows() as u64),
            };
            let mut answers = Vec::with_capacity(asked.len());
            let mut notes: Vec<String> = Vec::new();
            for (name, query) in &asked {
                let estimates = evidence.answer(watch.over(query), way)?;
                answers.push(answer_json(name, query, &estimates, left_out));
                for unknown in evidence.unknown(query)? {
                    let (value, column) = (&unknown.value, &unknown.column);
                    let note = format!("no row has `{value}` in `{column}`");
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                }
            }
            if left_out > 0 {
                let rows = if left_out == 1 { "row" } else { "rows" };
                notes.push(format!(
                    "{left_out} {rows} of the table were left out and are not counted"
                ));
            }
            let rows = evidence.n_rows();
            Ok(json!({
                "question": question, "rows": rows, "answers": answers, "notes": notes
            }))
        })?;
        Ok(answer.to_string())
    }

    /// Draws whole tables, each of which may be the one behind the release.
    #[pyo3(signature = (draws, seed=None, progress=None))]
    fn sample(
        &self,
        py: Python<'_>,
        draws: u64,
        seed: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Table>> {
        watched(py, progress, |watch| {
            if !(1..=1000).contains(&draws) {
                let error = Error::out_of_range("draws", draws, "from 1 to 1000");
                return Err(error.with_hint("5 to 20 are enough for most"));
            }
            let evidence = self.evidence(watch)?;
            let random = match seed {
                Some(seed) => Randomness::of_seed(seed),
                None => Randomness::fresh()?,
            };
            watch.stage(Stage::Draw, draws);
            let mut seeds = random.stream("sample", 0);
            let draw = |_| {
                let drawn = evidence.draw_watched(seeds.random::<u64>(), watch)?;
                watch.advance(1);
                self.drawn(drawn)
            };
            (0..draws).map(draw).collect()
        })
    }
}

impl Release {
    fn audited(
        &self,
        given: (Option<Given>, Option<Given>, Option<Knowledge>),
        others: &[&scumble::Release],
        watch: &dyn Watch,
    ) -> scumble::Result<Report> {
        let (original, population, knowledge) = given;
        let manifest = self.manifest();
        let open = |given: Option<Given>, name: &str| {
            given.map(|given| given.source(name)).transpose()
        };
        let original = open(original, "the original")?;
        let everyone = open(population, "the population")?;
        let sources = original.iter().chain(&everyone);
        watch.stage(Stage::Read, sources.map(|source| source.bytes()).sum());
        let (table, people) = match (&original, &everyone) {
            (None, None) => (None, None),
            (None, Some(everyone)) => {
                (None, Some(read_population(everyone, manifest, watch)?))
            }
            (Some(table), everyone) => {
                let everyone = everyone.as_ref();
                let read = Original::read_within(table, everyone, manifest, watch)?;
                (Some(read.0), read.1)
            }
        };
        watch.stage(Stage::Audit, 0);
        let known = Known {
            original: table.as_ref(),
            population: people.as_ref(),
            knowledge: knowledge.as_ref(),
        };
        let mut report = audit(&self.release, &known, watch)?.private;
        if !others.is_empty() {
            let original = original.as_ref().ok_or_else(|| {
                Error::recipe("releases are put together with the original")
                    .with_hint("give it with `original=`")
            })?;
            let all: Vec<&scumble::Release> =
                [&self.release].into_iter().chain(others.iter().copied()).collect();
            let tried = together(&all, original, watch)?;
            let is_tried = |name: &str| tried.iter().any(|tried| tried.name == name);
            report.attacks.retain(|attack| !is_tried(&attack.name));
            report.not_applicable.retain(|attack| !is_tried(&attack.name));
            report.attacks.extend(tried);
        }
        Ok(report)
    }

    /// A drawn table as Arrow.
    fn drawn(&self, drawn: DrawnTable) -> scumble::Result<Table> {
        let mut fields = Vec::with_capacity(drawn.columns.len());
        let mut arrays: Vec<Vec<ArrayRef>> = Vec::with_capacity(drawn.columns.len());
        for column in drawn.columns {
            let reading = self.manifest().column(&column.name).map(|c| c.reading());
            let wanted = reading.map_or(Wanted::Cells, Wanted::Values);
            let texts = column.codes.iter();
            let texts = texts.map(|code| column.texts[*code as usize].clone());
            let (data, own) = typed(&[texts.collect()], &wanted);
            fields.push(Field::new(column.name, data, true));
            arrays.push(own);
        }
        Table::of(Arc::new(Schema::new(fields)), arrays)
    }
}

/// What a column of the rows is to be in memory.
fn wanted(manifest: &Manifest, name: &str) -> Wanted {
    let Some(column) = manifest.column(name) else { return Wanted::Numbers };
    // What is published of dates is written in one way, whatever the table had.
    let published = Reading { date_format: None, ..column.reading() };
    match &column.treatment {
        Treatment::Coarse { level: Some(0), .. }
        | Treatment::Drawn { .. }
        | Treatment::Noisy { .. }
        | Treatment::Redrawn => Wanted::Values(published),
        Treatment::Kept => Wanted::Values(column.reading()),
        Treatment::Coarse { .. } | Treatment::Weighted | Treatment::Apart => {
            Wanted::Cells
        }
    }
}
