//! Methods that randomize sensitive values.

mod check;
mod conditions;
mod keyed;
mod listed;
mod notes;
mod operators;
mod ranges;
mod sampled;
mod values;

pub(super) use sampled::PerturbedGeneralization;

pub use operators::LARGEST_MATRIX;

use serde_json::json;

use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::method::{DrawColumn, DrawPlan, Plan, Step};
use crate::promise::{About, Breaches, Promise};
use crate::recipe::methods::{Gathered, Keeps, Method, Needs, Planned, Task, Treats};
use crate::recipe::randomize::check::{check_columns, promise};
use crate::recipe::randomize::conditions::Condition;
pub(super) use crate::recipe::randomize::keyed::Secret;
use crate::recipe::randomize::listed::Listed;
use crate::recipe::randomize::notes::{
    not_promised, parameters, perturbation_note, published_columns, subtable_column,
};
use crate::recipe::randomize::operators::{Design, Promised, design};
use crate::recipe::randomize::ranges::published;
pub(super) use crate::recipe::randomize::ranges::ranges_of;
use crate::recipe::randomize::values::Values;
use crate::recipe::{PromiseKind, PromiseSpec, Search, Spec};
use crate::release::{PerturbationNote, PromiseNote, PublishedRange, RangesNote};

/// Quasi columns as they are, sensitive ones randomized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Perturbation {
    /// Kept with one probability, otherwise drawn.
    Uniform,
    /// The same within sub-tables of few values.
    Partitioned,
    /// Kept with a probability for each value.
    FineGrain,
    /// Drawn by the best matrix.
    General,
}

impl Method for Perturbation {
    fn name(&self) -> &'static str {
        match self {
            Self::Uniform => "uniform-perturbation",
            Self::Partitioned => "partitioned-perturbation",
            Self::FineGrain => "fine-grain-perturbation",
            Self::General => "general-perturbation",
        }
    }

    fn keys(&self) -> &'static [&'static str] {
        match self {
            Self::Uniform | Self::FineGrain => {
                &["sensitive", "missing", "key-file", "id", "publish"]
            }
            Self::Partitioned => {
                &["inside", "sensitive", "missing", "key-file", "id", "publish"]
            }
            Self::General => {
                &["floor", "sensitive", "missing", "key-file", "id", "publish"]
            }
        }
    }

    fn keeps(&self, promise: &dyn Promise) -> Keeps {
        let About::Draws(draws) = promise.about() else { return Keeps::No };
        let natural = match draws.is_fine_grain() {
            true => Self::FineGrain,
            false => Self::Uniform,
        };
        match (self, draws.breaches()) {
            (Self::Partitioned, Breaches::Both) => Keeps::No,
            _ if *self == natural => Keeps::First,
            _ => Keeps::Yes,
        }
    }

    fn treats(&self) -> Treats {
        Treats::Draws
    }

    fn needs(&self) -> Needs {
        Needs::SensitiveCounts
    }

    fn check(&self, spec: &Spec) -> Result<()> {
        check::check(spec)?;
        check_columns(spec, self.name(), false)
    }

    fn plan(&self, data: &Gathered, task: &Task<'_>) -> Result<Planned> {
        let data = data.need_counts()?;
        let spec = task.spec;
        if let (Self::Partitioned, Some((_, spot))) = (self, &spec.input.person) {
            let error = Error::recipe(
                "`partitioned-perturbation` does not go with `person`: its sub-tables count \
                 rows, and several rows of a person could fall into different ones",
            );
            let hint = "use `uniform-perturbation` or `fine-grain-perturbation`";
            return Err(spec.error_at(*spot, error.with_hint(hint)));
        }
        if let (Some((true, spot)), Some(_)) =
            (&spec.method.noise.together, &spec.input.person)
        {
            let error = Error::recipe(
                "`sensitive = \"compound\"` does not go with `person`: a value that stays \
                 the same beside another that changes would be drawn again and again",
            );
            let hint = "randomize each column by itself";
            return Err(spec.error_at(*spot, error.with_hint(hint)));
        }
        let secret = Secret::read(task)?;
        let is_keyed = spec.method.noise.key_file.is_some();
        let designs = Designs::of(*self, data, task)?;
        designs.check_names(task)?;
        let notes = designs.notes(spec, data, is_keyed);
        let mut plan = Plan::new(self.name(), designs.steps(spec, data));
        plan.keyed = secret.is_some();
        Ok(Planned {
            plan,
            columns: published_columns(spec, task.order, data, &notes),
            classes: notes.into_iter().map(PerturbationNote::class).collect(),
            quasi: None,
            grouping: None,
            cells: None,
            sampled: None,
            parameters: parameters(spec, &designs.designs),
            levels: None,
            promises: designs.promise_note().into_iter().collect(),
            not_promised: not_promised(spec, Some(*self), &designs.designs, is_keyed),
            secret,
            knowledge: None,
            search: Search::default(),
            loss: 0.0,
            remarks: Vec::new(),
        })
    }
}

/// What is promised of a column, and how it is randomized.
fn designed(
    method: Perturbation,
    typed: &PromiseSpec,
    values: &Values,
    data: &Microdata,
    task: &Task<'_>,
) -> Result<Option<(Promised, Design)>> {
    let Task { spec, inputs, watch, .. } = *task;
    let promised = match &typed.kind {
        PromiseKind::FineGrain { csv: Some(path), .. } => {
            let listed = Listed::read(inputs, path)?;
            if let Some(condition) = Condition::of(&listed, values, method, spec)? {
                return condition.design(method, typed, values, data, task).map(Some);
            }
            Promised::listed(typed, values, &listed, "", inputs)?
        }
        _ => Promised::read(typed, values, inputs)?,
    };
    let Some(promised) = promised else { return Ok(None) };
    let made = design(spec, method, &promised, values, watch)?;
    Ok(Some((promised, made)))
}

/// The sensitive columns with what is to be done to each.
struct Designs {
    promised: Vec<Promised>,
    values: Vec<Values>,
    designs: Vec<Design>,
}

impl Designs {
    fn of(method: Perturbation, data: &Microdata, task: &Task<'_>) -> Result<Self> {
        let spec = task.spec;
        let source = task.order.source.name();
        let values = Values::all(spec, data).map_err(|error| error.in_file(source))?;
        ranges::check_numbers(spec, data)?;
        let (mut all_promised, mut designs) = (Vec::new(), Vec::new());
        for values in &values {
            task.watch.check()?;
            let Some(typed) = promise(spec) else { continue };
            let at = |error: Error| match error.place() {
                Some(_) => error,
                None => spec.error_at(typed.spot, error),
            };
            let made = designed(method, typed, values, data, task).map_err(at)?;
            let Some((promised, made)) = made else { continue };
            designs.push(made);
            all_promised.push(promised);
        }
        Ok(Self { promised: all_promised, values, designs })
    }

    fn both(&self) -> impl Iterator<Item = (&Values, &Design)> {
        self.values.iter().zip(&self.designs)
    }

    fn notes(
        &self,
        spec: &Spec,
        data: &Microdata,
        keyed: bool,
    ) -> Vec<PerturbationNote> {
        let specs = &data.specs[data.quasi.len()..];
        let note = |(values, design): (&Values, &Design)| {
            let ranges = values.parts.iter().map(|part| {
                let level = specs[*part].ranges.as_ref()?.level();
                Some(RangesNote { level, published: published(spec) })
            });
            PerturbationNote {
                ranges: ranges.collect(),
                ..perturbation_note(values, design, keyed)
            }
        };
        self.both().map(note).collect()
    }

    /// The promise, which is the same for all columns, not yet rechecked.
    fn promise_note(&self) -> Option<PromiseNote> {
        let promised = self.promised.first()?.promise();
        let about = self.values.iter().flat_map(|values| values.names.iter().cloned());
        let mut asked = promised.asked();
        let by = self.designs.iter().find_map(|design| design.condition.as_ref());
        if let (Some(condition), Some(asked)) = (by, asked.as_object_mut()) {
            asked.insert("by".to_owned(), json!(condition.column));
        }
        Some(PromiseNote::unchecked(promised.name(), about.collect(), asked))
    }

    /// How the values of each column are drawn.
    fn steps(&self, spec: &Spec, data: &Microdata) -> Vec<Step> {
        let n_quasi = data.quasi.len();
        let published = published(spec);
        let step = |(values, design): (&Values, &Design)| {
            let columns = values.names.iter().zip(&values.parts);
            Step::Draw(DrawPlan {
                columns: columns
                    .map(|(name, part)| {
                        let spec = &data.specs[n_quasi + part];
                        let number = published == PublishedRange::Number;
                        DrawColumn {
                            name: name.clone(),
                            reading: spec.reading.clone(),
                            ranges: spec.ranges.clone(),
                            decimals: (number && spec.ranges.is_some())
                                .then_some(spec.decimals),
                        }
                    })
                    .collect(),
                values: values.texts.clone(),
                subtables: design.subtables.clone(),
                condition: design.condition.clone(),
            })
        };
        self.both().map(step).collect()
    }

    /// No published column may be called as one that tells sub-tables.
    fn check_names(&self, task: &Task<'_>) -> Result<()> {
        let order = task.order;
        for (values, design) in self.both() {
            let name = subtable_column(values);
            let taken = order.published.iter().any(|(known, _)| *known == name);
            if design.subtables.len() > 1 && taken {
                return Err(Error::input(format!(
                    "a column is called `{name}`, which is the name of the sub-tables"
                ))
                .in_file(order.source.name())
                .with_hint("rename the column, or `drop` it"));
            }
        }
        Ok(())
    }
}
