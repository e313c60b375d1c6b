//! Methods that publish sensitive values by group.

mod check;
pub(super) mod knowledge;
mod notes;

use rand::seq::SliceRandom;

pub(super) use notes::certified;

use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::method::{
    self, AnatomyTask, ApartPlan, Plan, RobustTask, Step, anatomy, robust,
};
use crate::promise::{About, Promise, Promises};
use crate::recipe::bucketize::check::{check, parts, robustness};
use crate::recipe::bucketize::knowledge::Known;
use crate::recipe::bucketize::notes::BucketNotes;
use crate::recipe::generalize::notes::published_columns;
use crate::recipe::methods::{Gathered, Keeps, Method, Needs, Planned, Task, Treats};
use crate::recipe::order::{Origin, promises};
use crate::recipe::{RobustnessSpec, Search, Spec};
use crate::release::{BucketsNote, PromiseNote, Treatment};
use crate::table::{ClassId, GroupId, Of};

/// The largest group, if the recipe does not say: its possible worlds are counted in no time.
const LARGEST_GROUP: usize = 12;

/// Groups whose values are published apart from the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bucketization {
    /// Groups of diverse values.
    Anatomy,
    /// The same against somebody who knows how values depend on quasi columns.
    Robust,
}

impl Method for Bucketization {
    fn name(&self) -> &'static str {
        match self {
            Self::Anatomy => "anatomy",
            Self::Robust => "robust",
        }
    }

    fn keys(&self) -> &'static [&'static str] {
        match self {
            Self::Anatomy => &["suppression"],
            Self::Robust => &["suppression", "largest-group"],
        }
    }

    fn keeps(&self, promise: &dyn Promise) -> Keeps {
        match promise.about() {
            About::Groups(promise) => Keeps::when(promise.looks_at_values()),
            About::Posteriors(_) if *self == Self::Robust => Keeps::First,
            About::Posteriors(_) | About::Draws(_) | About::Company(_) => Keeps::No,
        }
    }

    fn treats(&self) -> Treats {
        Treats::Apart
    }

    fn needs(&self) -> Needs {
        Needs::Counts
    }

    fn check(&self, spec: &Spec) -> Result<()> {
        check(spec, self.name())
    }

    /// r-robustness means values that stand apart, if nothing else is said.
    fn stands_alone(&self, spec: &Spec) -> bool {
        *self == Self::Robust && robustness(spec).is_some()
    }

    fn plan(&self, data: &Gathered, task: &Task<'_>) -> Result<Planned> {
        plan(self.name(), data, task)
    }
}

fn plan(method: &'static str, data: &Gathered, task: &Task<'_>) -> Result<Planned> {
    let data = data.need_counts()?;
    let spec = task.spec;
    task.order.refuse_repeated(
        spec,
        data.people,
        method,
        "the groups of one person's rows have their value in common",
    )?;
    let promises = promises(spec, data);
    let typed = robustness(spec).map(|(typed, _)| typed);
    let known = typed.map(|typed| Known::read(spec, typed, task.inputs, data, 0));
    let known = known.transpose()?;
    let forming = Forming { data, promises: &promises, task };
    let formed = forming.form(typed.zip(known.as_ref()))?;
    let left_out = formed.buckets.left_out.len() as u64;
    let made = BucketNotes {
        spec,
        method,
        left_out,
        binary: formed.binary,
        priors: known.as_ref().map(|known| &known.priors),
        fallback: known.as_ref().and_then(|known| known.fallback(data)),
    };
    let column = data.sensitive[0].name.clone();
    let about = vec![column.clone()];
    let mut promised: Vec<PromiseNote> = promises
        .iter()
        .map(|p| PromiseNote::unchecked(p.name(), about.clone(), p.asked()))
        .collect();
    promised.extend(typed.zip(known.as_ref()).map(|(typed, known)| {
        let asked = known.asked(typed, data);
        PromiseNote::unchecked(typed.robustness.name(), about.clone(), asked)
    }));
    let n_groups = formed.buckets.n_groups();
    let stated = known.as_ref().and_then(|known| known.stated.as_ref());
    let said = stated.and_then(|stated| knowledge::unknown_values(stated, data, 0));
    let groups = BucketsNote::alone(column.clone(), n_groups as u64);
    // Groups are numbered by chance.
    let mut numbers: Of<GroupId, ClassId> = ClassId::first(n_groups).collect();
    numbers.shuffle(&mut task.randomness.stream("groups", 0));
    let (parameters, not_promised) = (made.parameters(), made.not_promised());
    let apart = ApartPlan { column, buckets: formed.buckets, numbers };
    Ok(Planned {
        plan: Plan::new(method, vec![Step::Apart(apart)]),
        columns: published_columns(spec, task.order, data, &data.quasi, |origin| {
            match origin {
                Origin::Sensitive(_) => Treatment::Apart,
                Origin::Quasi(_) | Origin::Other => Treatment::Kept,
            }
        }),
        classes: vec![groups.class()],
        quasi: None,
        grouping: None,
        cells: None,
        sampled: None,
        secret: None,
        parameters,
        levels: None,
        promises: promised,
        not_promised,
        knowledge: known.and_then(|known| known.stated),
        search: Search { n_groups, ..Search::default() },
        loss: 0.0,
        remarks: said.into_iter().collect(),
    })
}

/// Groups to be formed.
struct Forming<'a> {
    data: &'a Microdata,
    promises: &'a Promises,
    task: &'a Task<'a>,
}

impl Forming<'_> {
    fn form(&self, known: Option<(&RobustnessSpec, &Known)>) -> Result<method::Robust> {
        let Self { data, promises, task } = *self;
        let (spec, randomness, watch) = (task.spec, task.randomness, task.watch);
        let limit = spec.method.suppression.share_of(data.n_rows());
        let parts = parts(spec);
        match known {
            Some((typed, known)) => {
                let largest = spec.method.largest_group;
                robust(watch.over(&RobustTask {
                    data,
                    promises,
                    parts,
                    robustness: &typed.robustness,
                    priors: &known.priors,
                    largest: largest.map_or(LARGEST_GROUP, |(size, _)| size),
                    limit,
                    randomness,
                }))
            }
            None => {
                let task = AnatomyTask { data, promises, parts, limit, randomness };
                Ok(method::Robust { buckets: anatomy(watch.over(&task))?, binary: 0 })
            }
        }
    }
}
