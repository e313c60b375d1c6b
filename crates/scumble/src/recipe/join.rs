//! What the parts of a recipe decided, as one.

use crate::method::Plan;
use crate::recipe::made::Made;
use crate::recipe::order::{Order, Origin};
use crate::recipe::{Search, Spec};
use crate::release::{
    Class, MethodNote, PromiseNote, PublishedColumn, Treatment, name_apart,
};
use crate::table::Role;

/// What all parts decided, as one.
pub(super) struct Joined {
    pub(super) plan: Plan,
    /// For each step of the plan, which part it is of.
    pub(super) part_of: Vec<usize>,
    pub(super) columns: Vec<PublishedColumn>,
    pub(super) classes: Vec<Class>,
    pub(super) method: MethodNote,
    pub(super) promises: Vec<PromiseNote>,
    pub(super) not_promised: Vec<String>,
    pub(super) search: Search,
}

impl Joined {
    /// Gives the parts their steps back.
    pub(super) fn divide(self, made: &mut [Made<'_>]) {
        for (step, part) in self.plan.steps.into_iter().zip(self.part_of) {
            made[part].planned.plan.steps.push(step);
        }
    }
}

/// Joins what the parts decided; their steps go into one plan. `whole` is the recipe as a
/// whole, if no part decides about all of its columns.
pub(super) fn join(
    spec: &Spec,
    whole: Option<&Order>,
    made: &mut [Made<'_>],
) -> Joined {
    let (mut steps, mut part_of) = (Vec::new(), Vec::new());
    for (place, made) in made.iter_mut().enumerate() {
        let own = std::mem::take(&mut made.planned.plan.steps);
        part_of.resize(part_of.len() + own.len(), place);
        steps.extend(own);
    }
    let order = whole.unwrap_or(&made[0].order);
    let column = |(name, origin): &(String, Origin)| {
        let own = made.iter().find(|made| made.part.columns.contains(name));
        let mut own = own.into_iter().flat_map(|made| &made.planned.columns);
        let own = own.find(|column| column.name == *name);
        let own = own.cloned().unwrap_or_else(|| order.kept(spec, name, *origin));
        order.domains.published(own)
    };
    let columns: Vec<PublishedColumn> = order.published.iter().map(column).collect();
    let mut promises: Vec<PromiseNote> =
        made.iter().flat_map(|made| made.planned.promises.iter().cloned()).collect();
    let place = |note: &PromiseNote| {
        spec.promises.iter().position(|typed| typed.kind.promise().name() == note.name)
    };
    if made.len() > 1 {
        promises.sort_by_key(place);
    }
    let mut not_promised: Vec<String> = Vec::new();
    for reason in made.iter().flat_map(|made| &made.planned.not_promised) {
        if !not_promised.contains(reason) {
            not_promised.push(reason.clone());
        }
    }
    if spec.input.person.is_some() {
        not_promised.push(
            "several rows of a person together: a value that does not change occurs in all \
             their groups, and rows that are the same person's may be told by that"
                .to_owned(),
        );
    }
    if whole.is_some() {
        not_promised.retain(|reason| is_open(reason, &columns, &promises));
        not_promised.extend(between(&columns, &promises));
    }
    let note = |made: &Made<'_>, columns: &[String]| MethodNote {
        name: made.planned.plan.method.clone(),
        levels: made.planned.levels.clone(),
        columns: columns.to_vec(),
        parameters: made.planned.parameters.clone(),
        ..MethodNote::default()
    };
    let method = match &*made {
        [only] if whole.is_none() => note(only, &[]),
        [only] => note(only, &only.part.columns),
        several => MethodNote {
            name: MIXTURE.to_owned(),
            methods: several
                .iter()
                .map(|made| note(made, &made.part.columns))
                .collect(),
            ..MethodNote::default()
        },
    };
    let mut classes: Vec<Class> =
        made.iter().flat_map(|made| made.planned.classes.clone()).collect();
    name_apart(&mut classes);
    let search = made.iter().map(|made| made.planned.search.clone());
    let mut plan = Plan::new(&method.name, steps);
    for part in made.iter().map(|made| &made.planned.plan) {
        plan.sampled |= part.sampled;
        plan.weighted |= part.weighted;
        plan.safe |= part.safe;
        plan.keyed |= part.keyed;
    }
    Joined {
        plan,
        part_of,
        columns,
        classes,
        method,
        promises,
        not_promised,
        search: search.max_by_key(|search| search.n_groups).unwrap_or_default(),
    }
}

/// The name of several methods, each for its columns.
const MIXTURE: &str = "mixture";

/// Whether what a part does not promise is not promised by any other part either.
fn is_open(
    reason: &str,
    columns: &[PublishedColumn],
    promises: &[PromiseNote],
) -> bool {
    let of_role = |role| columns.iter().filter(move |column| column.role == role);
    let promised = |column: &PublishedColumn| {
        promises.iter().any(|promise| promise.columns.contains(&column.name))
    };
    match reason.split_once(':').map_or(reason, |(topic, _)| topic) {
        "who somebody is" => {
            of_role(Role::Quasi).all(|column| column.treatment == Treatment::Kept)
        }
        "presence" => !promises.iter().any(|promise| promise.name == "delta-presence"),
        "sensitive values" => !of_role(Role::Sensitive).all(promised),
        _ => true,
    }
}

/// What nobody promised between the columns of a mixture.
fn between(columns: &[PublishedColumn], promises: &[PromiseNote]) -> Vec<String> {
    let mut reasons = Vec::new();
    let sensitive = columns.iter().filter(|column| column.role == Role::Sensitive);
    if sensitive.clone().count() > 1 {
        reasons.push(
            "sensitive columns together: each keeps its promise on its own; what one that \
             is published tells about another is not hidden"
                .to_owned(),
        );
    }
    if sensitive.clone().filter(|c| c.treatment == Treatment::Apart).count() > 1 {
        reasons.push(
            "dependence between columns that stand apart: each has groups of its own, and \
             which of their values go together is not published"
                .to_owned(),
        );
    }
    let free = sensitive.filter(|column| {
        !promises.iter().any(|promise| promise.columns.contains(&column.name))
    });
    let free: Vec<String> = free.map(|column| format!("`{}`", column.name)).collect();
    if !free.is_empty() {
        reasons.push(format!(
            "{}: published as in the table, and no promise is about it",
            free.join(", ")
        ));
    }
    if columns.iter().any(|column| column.role == Role::Other) {
        reasons.push(
            "columns of role “other”: published as they are, taken not to identify anybody \
             nor to depend on sensitive values"
                .to_owned(),
        );
    }
    reasons
}
