//! Methods that change numbers.

mod check;
mod columns;
mod notes;

pub(super) use check::counts_rows;
pub(super) use notes::certified;

use crate::error::{Error, Result};
use crate::method::{
    BlurPlan, BlurTask, ClassRules, CondensationTask, NumberColumn, Plan, RedrawPlan,
    Step, blur, condense,
};
use crate::promise::{About, ExpectedAnonymity, Promise, Wish};
use crate::recipe::blurring::check::{check, promised};
use crate::recipe::blurring::columns::{Quasi, deviation};
use crate::recipe::blurring::notes::BlurNotes;
use crate::recipe::methods::{Gathered, Keeps, Method, Needs, Planned, Task, Treats};
use crate::recipe::order::Order;
use crate::recipe::{Search, Spec};
use crate::release::{Class, CondensedNote, PromiseNote, Treatment};
use crate::table::{GroupId, Numbers, Of, Reading, Role};
use crate::watch::{Quiet, Watch};

/// Levels of a ladder, if the recipe does not say.
const LEVELS: usize = 4;

/// With more columns than this all rows are about equally far from each other.
const MANY_COLUMNS: usize = 32;

/// Numbers with calibrated noise.
#[derive(Debug)]
pub(super) struct Blur;

/// Numbers drawn anew from the mean and covariance of a group.
#[derive(Debug)]
pub(super) struct Condensation;

impl Method for Blur {
    fn name(&self) -> &'static str {
        "blur"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["suppression", "missing", "shape", "frame", "levels", "frames"]
    }

    fn keeps(&self, promise: &dyn Promise) -> Keeps {
        match promise.about() {
            About::Company(_) => Keeps::First,
            About::Groups(_) | About::Draws(_) | About::Posteriors(_) => Keeps::No,
        }
    }

    fn treats(&self) -> Treats {
        Treats::Numbers
    }

    fn needs(&self) -> Needs {
        Needs::Numbers
    }

    fn check(&self, spec: &Spec) -> Result<()> {
        check(spec, self.name())
    }

    fn plan(&self, data: &Gathered, task: &Task<'_>) -> Result<Planned> {
        let making = BlurNotes::new(self.name(), data, task)?;
        let BlurNotes { rows, expected, .. } = making;
        let spec = &task.spec.method.blur;
        let blur_task = BlurTask {
            numbers: &rows.numbers,
            decimals: &rows.decimals,
            shape: making.shape(),
            frame: making.frame(),
            wishes: &making.wishes(),
            strict: expected.strict,
            best_guess: expected.best_guess,
            levels: spec.levels.map_or(LEVELS, |(levels, _)| levels),
            parts: spec.frames.map(|(frames, _)| frames),
            limit: task.spec.method.suppression.share_of(rows.n_left() as u64),
            classes: rows.classes,
        };
        let blurred = blur(task.watch.over(&blur_task))?;
        let note = making.blur_note(&blurred);
        let treatments = |name: &str| match making.is_number(name) {
            true => note.treatment(name),
            false => Treatment::Kept,
        };
        let columns = making.published(task.order, treatments);
        let n_classes = blurred.frames.iter().map(|frame| frame.levels.len()).sum();
        let left_out = match blurred.places.is_empty() {
            true => 0,
            false => blurred.places.iter().filter(|place| place.is_none()).count(),
        };
        let shape = making.shape();
        let step =
            Step::Blur(BlurPlan { columns: making.number_columns(), shape, blurred });
        making.planned(step, columns, note.classes(), n_classes, left_out as u64)
    }
}

impl Method for Condensation {
    fn name(&self) -> &'static str {
        "condensation"
    }

    fn keys(&self) -> &'static [&'static str] {
        &["missing"]
    }

    fn keeps(&self, promise: &dyn Promise) -> Keeps {
        Keeps::when(matches!(promise.about(), About::Company(_)))
    }

    fn treats(&self) -> Treats {
        Treats::Everything
    }

    fn needs(&self) -> Needs {
        Needs::Numbers
    }

    fn check(&self, spec: &Spec) -> Result<()> {
        check(spec, self.name())
    }

    fn plan(&self, data: &Gathered, task: &Task<'_>) -> Result<Planned> {
        let making = BlurNotes::new(self.name(), data, task)?;
        let BlurNotes { rows, expected, .. } = making;
        // All rows of a group fit its rows equally well, so a group of 1/b hides
        // everybody from the best guess, too.
        let least = expected.best_guess.map_or(1.0, |share| (1.0 / share).ceil());
        let wishes = making.wishes();
        let wishes: Vec<f64> = wishes.iter().map(|wish| wish.max(least)).collect();
        let condensed = condense(task.watch.over(&CondensationTask {
            numbers: &rows.numbers,
            decimals: &rows.decimals,
            wishes: &wishes,
            randomness: task.randomness,
        }))?;
        let mut group_of_row = Of::repeat(GroupId::default(), rows.numbers.n_rows);
        for (group, rows) in condensed.groups.pairs() {
            rows.iter().for_each(|row| group_of_row[*row] = group);
        }
        let n_groups = condensed.groups.len();
        let note = CondensedNote {
            groups: n_groups as u64,
            columns: making.columns(),
            exact: making.exact(),
        };
        let treatments = |name: &str| match making.is_number(name) {
            true => Treatment::Redrawn,
            false => Treatment::Kept,
        };
        let columns = making.published(task.order, treatments);
        let step = Step::Redraw(RedrawPlan {
            columns: making.number_columns(),
            groups: condensed.moments,
            group_of_row,
        });
        making.planned(step, columns, vec![note.class()], n_groups, 0)
    }
}

/// The cells of each kind of row, in the columns that are not numbers.
type KindCells = Vec<Vec<Box<str>>>;

/// The numbers of a table, and what was found of their columns.
#[derive(Debug)]
pub struct NumberRows {
    pub(super) numbers: Numbers,
    pub(super) block_starts: Vec<u64>,
    /// The quasi columns of numbers, and those that are kept as they are.
    number_names: Vec<String>,
    exact_names: Vec<String>,
    decimals: Vec<u32>,
    pub(super) domains: Vec<[f64; 2]>,
    /// The kind of each row and the cells of each kind as the table has them, if others
    /// were put in their place.
    as_read: Option<(Vec<u32>, KindCells)>,
    /// What classes of cells ask of noise within them.
    classes: ClassRules,
}

impl NumberRows {
    /// Reads the numbers of a table.
    pub(super) fn read(
        spec: &Spec,
        order: &Order,
        method: &str,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let Some((expected, _)) = promised(spec) else {
            return Err(Error::recipe(format!("`{method}` has nothing to keep")));
        };
        let wish = wish_column(spec, order, expected)?;
        let quasi = Quasi::find(spec, order, method, &Quiet(watch))?;
        let task = quasi.task(spec, wish);
        let (mut numbers, block_starts) =
            Numbers::read_blocks(&order.source, &task, watch)?;
        quasi.check_missing(spec, order, &numbers, method)?;
        quasi.check_sizes(order, &numbers)?;
        let decimals = Quasi::decimals(&numbers);
        numbers.snap(&decimals);
        let domains = quasi.domains(&numbers);
        let names = |columns: &[&crate::recipe::ColumnSpec]| {
            columns.iter().map(|column| column.name.clone()).collect()
        };
        Ok(Self {
            number_names: names(&quasi.numbers),
            exact_names: names(&quasi.exact),
            numbers,
            block_starts,
            decimals,
            domains,
            as_read: None,
            classes: ClassRules::default(),
        })
    }

    /// How many rows no class of cells leaves out.
    fn n_left(&self) -> usize {
        let kinds = self.numbers.kinds.iter();
        match self.classes.absent {
            None => self.numbers.n_rows,
            Some(absent) => kinds.filter(|kind| **kind != absent).count(),
        }
    }

    /// Puts the cells that rows are published with in the place of what the table has in
    /// the columns that are not numbers; nothing if rows are left out. A class has at least
    /// so many people.
    pub(super) fn in_classes(
        &mut self,
        least: usize,
        cells_of: impl Fn(&[Box<str>]) -> Result<Option<Vec<Box<str>>>>,
    ) -> Result<()> {
        let Numbers { kinds, kind_cells, .. } = &self.numbers;
        let as_read = || (kinds.clone(), kind_cells.clone());
        let (kinds, read) = self.as_read.take().unwrap_or_else(as_read);
        let cells = read.iter().map(|values| cells_of(values));
        let cells: Vec<Option<Vec<Box<str>>>> = cells.collect::<Result<_>>()?;
        let n_cells = self.exact_names.len();
        // No class has fewer cells, or more.
        let absent: Vec<Box<str>> = vec!["".into(); n_cells + 1];
        let cells: KindCells = cells
            .into_iter()
            .map(|cells| cells.unwrap_or_else(|| absent.clone()))
            .collect();
        self.numbers.set_kinds(&kinds, &cells);
        let place = self.numbers.kind_cells.iter().position(|cells| *cells == absent);
        self.classes = ClassRules { absent: place.map(|kind| kind as u32), least };
        self.as_read = Some((kinds, read));
        Ok(())
    }
}

/// The column that says what every row asks for, if there is one.
fn wish_column<'a>(
    spec: &Spec,
    order: &Order,
    expected: &'a ExpectedAnonymity,
) -> Result<Option<&'a str>> {
    let Wish::Column(name) = &expected.wish else { return Ok(None) };
    let spot = promised(spec).map_or(spec.input.table_spot, |(_, p)| p.spot);
    order.source.column(name).map_err(|error| spec.error_at(spot, error))?;
    Ok(Some(name))
}

impl<'a> BlurNotes<'a> {
    fn new(
        method: &'static str,
        data: &'a Gathered,
        task: &'a Task<'a>,
    ) -> Result<Self> {
        let spec = task.spec;
        let (Gathered::Numbers(rows), Some((expected, _))) = (data, promised(spec))
        else {
            return Err(Error::recipe(format!("`{method}` has nothing to keep")));
        };
        Ok(Self { spec, method, expected, rows, order: task.order })
    }

    /// Among how many people each row is to be hidden.
    fn wishes(&self) -> Vec<f64> {
        let numbers = &self.rows.numbers;
        let mut wishes = match self.expected.wish {
            Wish::Same(k) => return vec![k; numbers.n_rows],
            Wish::Column(_) => numbers.wishes.clone(),
        };
        // Equal numbers of a person are published alike, as the largest wish asks.
        if let Some(same) = numbers.same_of_person() {
            for (row, first) in same.iter().enumerate() {
                wishes[*first as usize] = wishes[*first as usize].max(wishes[row]);
            }
            wishes = same.iter().map(|first| wishes[*first as usize]).collect();
        }
        wishes
    }

    fn is_number(&self, name: &str) -> bool {
        self.rows.number_names.iter().any(|known| known == name)
    }

    /// The columns of numbers, as a plan needs them.
    fn number_columns(&self) -> Vec<NumberColumn> {
        let columns = self.rows.number_names.iter().zip(&self.rows.decimals);
        let column = |(name, decimals): (&String, &u32)| NumberColumn {
            name: name.clone(),
            reading: Reading {
                missing: self.spec.input.missing.clone(),
                ..Reading::number()
            },
            decimals: *decimals,
        };
        columns.map(column).collect()
    }

    fn planned(
        &self,
        step: Step,
        columns: Vec<crate::release::PublishedColumn>,
        classes: Vec<Class>,
        n_groups: usize,
        left_out: u64,
    ) -> Result<Planned> {
        // Beside columns that others make coarser, it speaks of the numbers alone.
        let quasi = self.order.columns.iter().filter(|c| c.role == Role::Quasi);
        let about = match self.rows.as_read {
            Some(_) => self.rows.number_names.clone(),
            None => quasi.map(|column| column.name.clone()).collect(),
        };
        let (name, asked) = (self.expected.name(), self.expected.asked());
        let promise = PromiseNote::unchecked(name, about, asked);
        Ok(Planned {
            plan: Plan::new(self.method, vec![step]),
            columns,
            classes,
            quasi: None,
            grouping: None,
            cells: None,
            sampled: None,
            secret: None,
            parameters: self.parameters(),
            levels: None,
            promises: vec![promise],
            not_promised: self.not_promised(left_out),
            knowledge: None,
            search: Search { n_groups, ..Search::default() },
            loss: 0.0,
            remarks: self.remarks(),
        })
    }

    /// What a steward should look at, and no file says.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let columns = self.rows.number_names.len();
        if columns > MANY_COLUMNS {
            remarks.push(format!(
                "{columns} columns of numbers: with so many, everybody is about equally far \
                 from everybody else, and the noise is large; give columns that nobody \
                 knows another role"
            ));
        }
        for (place, name) in self.rows.number_names.iter().enumerate() {
            if deviation(&self.rows.numbers, place) == 0.0 {
                remarks.push(format!(
                    "all numbers of `{name}` are the same: it is published as it is"
                ));
            }
        }
        if !self.expected.strict {
            remarks.push(
                "`strict = false` is for comparison only: somebody who knows the table finds almost \
                 everybody by the published spreads"
                    .to_owned(),
            );
        }
        remarks
    }
}
