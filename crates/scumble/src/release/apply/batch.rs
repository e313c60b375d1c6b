//! Applying a plan to Arrow batches, for engines that read and write tables themselves.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};

use crate::error::{Error, Result};
use crate::hierarchy::Cells;
use crate::method::{DrawColumn, Plan, Step};
use crate::random::Randomness;
use crate::release::apply::{Binding, BoundPlan, Texts};
use crate::release::{
    Class, FRAME_COLUMN, GROUP_COLUMN, LEVEL_COLUMN, Layout, Parameters,
    PublishedColumn, Treatment, spread_column,
};
use crate::space::FrameKind;
use crate::table::{ColumnId, Role, RowPlace, Schema, Source, scan};
use crate::watch::Unwatched;

/// A plan that is bound to the columns of tables, to be applied to their rows batch by batch.
///
/// A batch gives what its rows would give one by one, so another engine may cut a table into
/// batches as it likes; only noise is drawn from the stream of the batch's block, in the
/// order of its rows. Whoever applies a plan must still check the result: a plan promises
/// nothing about other rows.
#[derive(Debug)]
pub struct Applier<'a> {
    plan: &'a Plan,
    columns: Vec<PublishedColumn>,
    classes: Vec<Class>,
}

impl Plan {
    /// Binds the plan to the columns of a table: identifiers and columns that are not in the
    /// schema are not published, and what no step is about is published as it is.
    ///
    /// Numbers with noise and numbers drawn anew are planned row by row: such a plan suits
    /// the rows of the table it was made from. Where what becomes of a row depends on all
    /// others, or on a key, the plan is refused.
    pub fn bind(&self, schema: &Schema) -> Result<Applier<'_>> {
        if let Some(reason) = self.needs_more_than_rows() {
            return Err(Error::input(format!(
                "a plan of `{}` cannot be applied batch by batch: {reason}",
                self.method
            ))
            .with_hint("publish the whole table with the recipe"));
        }
        let mut applier =
            Applier { plan: self, columns: Vec::new(), classes: Vec::new() };
        for column in &schema.columns {
            if matches!(column.role, Role::Identifier | Role::Drop) {
                continue;
            }
            let reading = column.reading.clone();
            applier.columns.push(PublishedColumn {
                treatment: self.treatment(&column.name),
                ..PublishedColumn::kept(&column.name, column.role, reading)
            });
        }
        for step in &self.steps {
            for name in step.columns() {
                if applier.layout().column(name).is_none() {
                    return Err(Error::input(format!(
                        "the plan is about a column `{name}`, which is not there"
                    )));
                }
            }
            // Groups are told by a column only where their cells stand elsewhere.
            if self.weighted || !matches!(step, Step::Group(_)) {
                applier.classes.extend(step.classes());
            }
        }
        Ok(applier)
    }

    /// Why what becomes of a row is more than the plan, the row and its random stream tell.
    fn needs_more_than_rows(&self) -> Option<&'static str> {
        if self.sampled {
            return Some(
                "it publishes one row of each group, chosen among all of them",
            );
        }
        if self.keyed {
            return Some("its noise depends on a key, which the plan does not hold");
        }
        self.steps.iter().find_map(|step| match step {
            Step::Apart(_) => Some("it deals the rows of the whole table to groups"),
            Step::Draw(plan)
                if plan.subtables.len() > 1 && plan.condition.is_none() =>
            {
                Some("it deals the rows of the whole table to sub-tables")
            }
            Step::Draw(_) | Step::Group(_) | Step::Blur(_) | Step::Redraw(_) => None,
        })
    }

    /// What is done to the column of this name.
    fn treatment(&self, name: &str) -> Treatment {
        let step = self.steps.iter().find(|step| step.columns().contains(&name));
        match step {
            None => Treatment::Kept,
            Some(Step::Group(plan)) => {
                let cells = plan.columns.iter().find(|column| column.name == name);
                let cells = cells.map_or(Cells::Taxonomy, |column| column.cells);
                match self.weighted {
                    true => Treatment::Weighted,
                    false => Treatment::Coarse { cells, level: None },
                }
            }
            Some(Step::Draw(_)) => {
                let (breaches, noise) = (String::new(), String::new());
                Treatment::Drawn { breaches, noise, ranges: None }
            }
            Some(Step::Apart(_)) => Treatment::Apart,
            Some(Step::Blur(plan)) => {
                let straight = plan.blurred.frames.iter().all(|f| f.axes.is_none());
                let spread = straight.then(|| spread_column(name));
                Treatment::Noisy { shape: plan.shape, spread }
            }
            Some(Step::Redraw(_)) => Treatment::Redrawn,
        }
    }
}

impl Step {
    /// The columns it changes.
    fn columns(&self) -> Vec<&str> {
        match self {
            Self::Group(plan) => plan.columns.iter().map(|c| &*c.name).collect(),
            Self::Draw(plan) => plan.columns.iter().map(|c| &*c.name).collect(),
            Self::Apart(plan) => vec![&plan.column],
            Self::Blur(plan) => plan.columns.iter().map(|c| &*c.name).collect(),
            Self::Redraw(plan) => plan.columns.iter().map(|c| &*c.name).collect(),
        }
    }

    /// The classes of its rows, with the columns that tell them.
    fn classes(&self) -> Vec<Class> {
        let of: Vec<String> =
            self.columns().into_iter().map(ToOwned::to_owned).collect();
        let class = |column: Option<String>, parameters| {
            vec![Class { column, of: of.clone(), parameters }]
        };
        let group = || Some(GROUP_COLUMN.to_owned());
        match self {
            Self::Group(_) => {
                let (file, weights) = (String::new(), String::new());
                let parameters =
                    Parameters::Cells { file, weights, table: BTreeMap::new() };
                class(group(), parameters)
            }
            Self::Draw(plan) => {
                let several = plan.subtables.len() > 1;
                let column = several.then(|| format!("{}.subtable", of.join("+")));
                class(column, Parameters::Subtables { subtables: Vec::new() })
            }
            Self::Apart(plan) => {
                let (file, groups) = (String::new(), plan.numbers.len() as u64);
                class(group(), Parameters::Values { file, groups })
            }
            Self::Redraw(plan) => {
                let (groups, exact) = (plan.groups.len() as u64, Vec::new());
                class(group(), Parameters::Moments { groups, exact })
            }
            Self::Blur(plan) => {
                let frames = &plan.blurred.frames;
                let turned = frames.iter().any(|frame| frame.axes.is_some());
                let told = turned || frames.len() > 1;
                let mut classes = class(
                    told.then(|| FRAME_COLUMN.to_owned()),
                    Parameters::Frames {
                        frame: FrameKind::Global,
                        strict: !frames.is_empty(),
                        exact: Vec::new(),
                        best_guess: None,
                        frames: Vec::new(),
                    },
                );
                if !frames.is_empty() {
                    let level = Some(LEVEL_COLUMN.to_owned());
                    classes.extend(class(level, Parameters::Levels));
                }
                classes
            }
        }
    }
}

impl Applier<'_> {
    /// The columns of what is published.
    pub fn header(&self) -> Vec<&str> {
        self.layout().header()
    }

    fn layout(&self) -> Layout<'_> {
        Layout { columns: &self.columns, classes: &self.classes, sampled: None }
    }

    /// What is published of the rows of a batch, as texts, in their order, without those that
    /// are left out. `block` is the number of the batch, which its random stream depends on;
    /// `first_row` is how many rows of the table stand before it.
    pub fn apply(
        &self,
        batch: &RecordBatch,
        block: u32,
        first_row: u64,
        randomness: &Randomness,
    ) -> Result<RecordBatch> {
        let source = Source::from_batches("the batch", vec![batch.clone()])?;
        let texts = self.texts(&source)?;
        let starts = vec![first_row; block as usize + 1];
        let bound = BoundPlan::new(
            Binding {
                plan: self.plan,
                layout: self.layout(),
                source: &source,
                known: &[],
                texts: Some(&texts),
                block_starts: &starts,
                randomness,
            },
            false,
            &Unwatched,
        )?;
        let rows = source.fold(
            &bound.inputs,
            Vec::new,
            |rows: &mut Vec<(RowPlace, Vec<String>)>, spot, cells| {
                rows.push((
                    spot,
                    cells.iter().map(|cell| (*cell).to_owned()).collect(),
                ));
                Ok(())
            },
            &Unwatched,
        )?;
        let mut rows: Vec<_> = rows.states.into_iter().flatten().collect();
        rows.sort_unstable_by_key(|(spot, _)| *spot);
        let header = self.header();
        let mut builders: Vec<StringBuilder> =
            header.iter().map(|_| StringBuilder::new()).collect();
        let mut hand = bound.hand();
        for (row, (_, cells)) in (0..).zip(&rows) {
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            if bound.decide(&mut hand, RowPlace { block, row }, &cells)?.is_none() {
                continue;
            }
            let mut columns = builders.iter_mut();
            bound.emit(&mut hand, &cells, |cell| {
                if let Some(column) = columns.next() {
                    column.append_value(cell);
                }
            });
        }
        let fields = header.iter().map(|name| Field::new(*name, DataType::Utf8, true));
        let schema = Arc::new(ArrowSchema::new(fields.collect::<Vec<Field>>()));
        let columns = builders.iter_mut().map(|builder| builder.finish());
        let columns = columns.map(|column| Arc::new(column) as ArrayRef).collect();
        RecordBatch::try_new(schema, columns)
            .map_err(|error| Error::input(error.to_string()))
    }

    /// The texts of the columns that are coded, with the one text of each value.
    fn texts(&self, source: &Source) -> Result<Texts> {
        let mut coded: Vec<DrawColumn> = Vec::new();
        let plain = |name: &str, reading| DrawColumn {
            name: name.to_owned(),
            reading,
            ranges: None,
            decimals: None,
        };
        for step in &self.plan.steps {
            match step {
                Step::Group(plan) => {
                    let own = plan.columns.iter();
                    coded.extend(own.map(|c| plain(&c.name, c.reading.clone())));
                    // What is counted beside groups is published as values, too.
                    let columns = self.columns.iter();
                    let columns = columns.filter(|c| c.role == Role::Sensitive);
                    coded.extend(columns.map(|c| plain(&c.name, c.reading())));
                }
                Step::Draw(plan) => {
                    coded.extend(plan.columns.iter().cloned());
                }
                Step::Apart(_) | Step::Blur(_) | Step::Redraw(_) => {}
            }
        }
        let mut texts = Texts::default();
        for coded in coded {
            let column: ColumnId = source.column(&coded.name)?;
            let found = scan(source, &[column], &Unwatched)?;
            let known = found.dictionaries.into_iter().flat_map(|d| d.texts);
            let known = known.filter_map(|text| {
                let value = coded.one_text(&text)?;
                Some((text, value.into_boxed_str()))
            });
            texts.0.insert(coded.name.clone(), known.collect());
        }
        Ok(texts)
    }
}
