//! From promise and counts to sub-tables and their operators.

use crate::error::{Error, ErrorKind, Result};
use crate::method::perturb::partition::{Inside as Within, PartitionTask, partition};
use crate::method::perturb::{
    Floor, Limits, Operator, ValueId, fine_grain, general_watched, keeps, uniform,
};
use crate::method::{DrawCondition, Subtable, SubtableId};
use crate::promise::{Bound, Breach, Breaches, DrawPromise, FineGrain};
use crate::recipe::randomize::Perturbation;
use crate::recipe::randomize::listed::Listed;
use crate::recipe::randomize::values::Values;
use crate::recipe::{Inside, PromiseKind, PromiseSpec, Spec, WeightsSpec};
use crate::release::ConditionNote;
use crate::table::{Inputs, Of};
use crate::watch::Watch;

/// What is promised of the values of one column.
pub(super) enum Promised {
    /// The same of all.
    Breach(Breach),
    /// Something of each, and how much it counts that each is kept, unless that is how common
    /// it is.
    FineGrain(FineGrain, Option<Vec<f64>>),
}

/// How one column is randomized.
pub(super) struct Design {
    /// The sub-tables.
    pub(super) subtables: Of<SubtableId, Subtable>,
    /// For each sub-table and value, what is promised of it.
    pub(super) bounds: Vec<Vec<Option<Bound>>>,
    /// Which way a belief must not move.
    pub(super) breaches: Breaches,
    /// Whether the matrices depend on how common values are, beyond what bounds tell.
    pub(super) fitted: bool,
    /// The column that tells the sub-table of a row, if one does.
    pub(super) condition: Option<DrawCondition>,
    /// For each sub-table, which rows it is for, if a column tells.
    pub(super) conditions: Vec<ConditionNote>,
}

impl Design {
    /// Adds the sub-tables of other rows of the same column.
    pub(super) fn add(&mut self, other: Self) {
        for table in other.subtables.iter() {
            self.subtables.push(table.clone());
        }
        self.bounds.extend(other.bounds);
        self.conditions.extend(other.conditions);
        self.fitted |= other.fitted;
    }
}

/// A matrix with more values than this takes too much room and time.
pub const LARGEST_MATRIX: usize = 500;

impl Promised {
    /// Reads the files the promise names, but for bounds that are listed.
    pub(super) fn read(
        promise: &PromiseSpec,
        values: &Values,
        inputs: &Inputs,
    ) -> Result<Option<Self>> {
        Ok(match &promise.kind {
            PromiseKind::Breach(breach) => Some(Self::Breach(*breach)),
            PromiseKind::FineGrain { promise, weights, .. } => {
                let weights = Self::weighed(weights.as_ref(), None, values, inputs)?;
                Some(Self::FineGrain(promise.clone(), weights))
            }
            _ => None,
        })
    }

    /// The same with bounds of a file: those of rows with a value in the column that bounds
    /// depend on, if they do.
    pub(super) fn listed(
        promise: &PromiseSpec,
        values: &Values,
        listed: &Listed,
        condition: &str,
        inputs: &Inputs,
    ) -> Result<Option<Self>> {
        let PromiseKind::FineGrain { promise, weights, .. } = &promise.kind else {
            return Ok(None);
        };
        let promise = promise.clone().listed(listed.bounds(values, condition)?);
        let listed = Some((listed, condition));
        let weights = Self::weighed(weights.as_ref(), listed, values, inputs)?;
        Ok(Some(Self::FineGrain(promise, weights)))
    }

    /// How much it counts that each value is kept, unless that is how common it is.
    fn weighed(
        said: Option<&WeightsSpec>,
        listed: Option<(&Listed, &str)>,
        values: &Values,
        inputs: &Inputs,
    ) -> Result<Option<Vec<f64>>> {
        Ok(match (said, listed) {
            (Some(WeightsSpec::Even), _) => Some(vec![1.0; values.texts.len()]),
            (Some(WeightsSpec::Frequency), _) => None,
            (Some(WeightsSpec::Csv(path)), _) => {
                Some(Listed::read(inputs, path)?.weights(values, "")?)
            }
            (None, Some((listed, condition))) if listed.has_weights() => {
                Some(listed.weights(values, condition)?)
            }
            (None, _) => None,
        })
    }

    pub(super) fn promise(&self) -> &dyn DrawPromise {
        match self {
            Self::Breach(promise) => promise,
            Self::FineGrain(promise, _) => promise,
        }
    }

    /// Against any prior belief: the bound of each value.
    fn bounds(&self, values: &Values) -> Vec<Option<Bound>> {
        self.promise().bounds(&values.rows)
    }

    /// Against somebody who knows how common values are: the largest belief after, for
    /// values that are rare enough.
    fn posteriors(&self, values: &Values) -> Vec<Option<f64>> {
        let n = values.n_rows();
        let bounds = self.bounds(values);
        let posterior = |(rows, bound): (&u64, Option<Bound>)| {
            let bound = bound?;
            let rare = match self {
                Self::Breach(breach) => breach.protects(*rows, n),
                // A value that was listed is to be protected however common it is.
                Self::FineGrain(..) => true,
            };
            rare.then_some(bound.posterior)
        };
        values.rows.iter().zip(bounds).map(posterior).collect()
    }

    fn weights(&self) -> Option<&[f64]> {
        match self {
            Self::FineGrain(_, Some(weights)) => Some(weights),
            _ => None,
        }
    }

    /// No value is protected: the release would be the table.
    fn nothing_protected(&self, values: &Values) -> Error {
        let title = values.title();
        let common = format!("every value of column {title} is too common for it");
        let (reason, hint) = match self {
            Self::Breach(_) => (common, "a larger `prior` protects commoner values"),
            Self::FineGrain(promise, _) if promise.is_listed() => (
                format!("no value of column {title} has a bound"),
                "give at least one value a prior and a posterior",
            ),
            Self::FineGrain(..) => {
                (common, "a smaller `factor` protects commoner values")
            }
        };
        Error::unsatisfiable(self.promise().title(), reason).with_hint(hint)
    }
}

/// Designs the randomizing of one column.
pub(super) fn design(
    spec: &Spec,
    method: Perturbation,
    promised: &Promised,
    values: &Values,
    watch: &dyn Watch,
) -> Result<Design> {
    let breaches = promised.promise().breaches();
    let design = match method {
        Perturbation::Partitioned => partitioned(spec, promised, values, watch)?,
        _ => whole(spec, method, promised, values, watch)?,
    };
    for (part, bounds) in design.subtables.iter().zip(&design.bounds) {
        let gammas = gammas(bounds);
        if !keeps(&part.operator, Limits { gammas: &gammas, breaches }) {
            return Err(Error::new(ErrorKind::Broken(
                "the matrix does not keep the promise; nothing was published"
                    .to_owned(),
            ))
            .with_hint("this is a defect of scumble: please report it"));
        }
    }
    Ok(design)
}

fn gammas(bounds: &[Option<Bound>]) -> Vec<f64> {
    bounds.iter().map(|bound| bound.map_or(f64::INFINITY, Bound::gamma)).collect()
}

/// One operator for the whole table.
fn whole(
    spec: &Spec,
    method: Perturbation,
    promised: &Promised,
    values: &Values,
    watch: &dyn Watch,
) -> Result<Design> {
    let bounds = promised.bounds(values);
    if bounds.iter().all(Option::is_none) {
        return Err(promised.nothing_protected(values));
    }
    let breaches = promised.promise().breaches();
    let gammas = gammas(&bounds);
    let limits = Limits { gammas: &gammas, breaches };
    let common: Vec<f64> = values.rows.iter().map(|rows| *rows as f64).collect();
    let weights = promised.weights().unwrap_or(&common);
    let operator = match method {
        Perturbation::FineGrain => fine_grain(limits, weights),
        Perturbation::General => {
            general_operator(spec, limits, weights, values, watch)?
        }
        _ => uniform(limits),
    };
    let all = values.rows.ids().collect();
    let fitted = promised.weights().is_none() && !is_even(&operator);
    let part = Subtable { values: all, rows: values.rows.to_vec(), operator };
    Ok(Design {
        subtables: vec![part].into(),
        bounds: vec![bounds],
        breaches,
        fitted,
        condition: None,
        conditions: Vec::new(),
    })
}

fn general_operator(
    spec: &Spec,
    limits: Limits<'_>,
    weights: &[f64],
    values: &Values,
    watch: &dyn Watch,
) -> Result<Operator> {
    if weights.len() > LARGEST_MATRIX {
        return Err(Error::input(format!(
            "column {} has {} values, but a general matrix is for at most {LARGEST_MATRIX}",
            values.title(),
            weights.len()
        ))
        .with_hint(
            "make the values coarser; or use `fine-grain-perturbation`, if it need not keep \
             every value",
        ));
    }
    let (floor, spot) = match spec.method.noise.floor {
        None => (Floor::Default, None),
        Some((0.0, spot)) => (Floor::None, Some(spot)),
        Some((floor, spot)) => (Floor::At(floor), Some(spot)),
    };
    general_watched(limits, weights, floor, watch).map_err(|error| match spot {
        Some(spot) => spec.error_at(spot, error),
        None => error,
    })
}

/// Sub-tables, each with an operator of its own.
fn partitioned(
    spec: &Spec,
    promised: &Promised,
    values: &Values,
    watch: &dyn Watch,
) -> Result<Design> {
    let posteriors = promised.posteriors(values);
    if posteriors.iter().all(Option::is_none) {
        return Err(promised.nothing_protected(values));
    }
    let inside = match (spec.method.noise.inside, promised) {
        (Some((inside, _)), _) => inside,
        (None, Promised::Breach(_)) => Inside::Uniform,
        (None, Promised::FineGrain(..)) => Inside::FineGrain,
    };
    let task = PartitionTask {
        counts: &values.rows,
        posteriors: &posteriors,
        inside: match inside {
            Inside::Uniform => Within::Uniform,
            Inside::FineGrain => Within::FineGrain,
        },
        weights: promised.weights(),
    };
    let found = partition(watch.over(&task))?;
    let breaches = promised.promise().breaches();
    let (subtables, bounds) = (Of::new(), Vec::new());
    let (condition, conditions) = (None, Vec::new());
    let mut design =
        Design { subtables, bounds, breaches, fitted: true, condition, conditions };
    for part in found.subtables {
        let n: u64 = part.counts.iter().sum();
        let bound = |(value, rows): (&ValueId, &u64)| {
            let posterior = posteriors[value.index()]?;
            // One posterior for all: the commonest value decides.
            let prior = match (inside, promised) {
                (Inside::Uniform, Promised::Breach(_)) => part.prior,
                _ => *rows as f64 / n as f64,
            };
            Some(Bound { prior, posterior })
        };
        let bounds: Vec<Option<Bound>> =
            part.values.iter().zip(&part.counts).map(bound).collect();
        let gammas = gammas(&bounds);
        let limits = Limits { gammas: &gammas, breaches };
        let operator = match inside {
            Inside::Uniform => uniform(limits),
            Inside::FineGrain => {
                let weights: Vec<f64> = match promised.weights() {
                    Some(weights) => {
                        part.values.iter().map(|value| weights[value.index()]).collect()
                    }
                    None => part.counts.iter().map(|rows| *rows as f64).collect(),
                };
                fine_grain(limits, &weights)
            }
        };
        let (values, rows) = (part.values, part.counts);
        design.subtables.push(Subtable { values, rows, operator });
        design.bounds.push(bounds);
    }
    Ok(design)
}

/// Whether all values are treated alike.
fn is_even(operator: &Operator) -> bool {
    match operator {
        Operator::Uniform { .. } => true,
        Operator::FineGrain { keep } => keep.windows(2).all(|pair| pair[0] == pair[1]),
        Operator::General { .. } => false,
    }
}
