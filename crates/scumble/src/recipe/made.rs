//! The parts of a recipe: what is gathered for each, and what its best method decides.

use std::sync::Arc;

use hashbrown::HashSet;

use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::{Microdata, Population};
use crate::method::{Grouping, Step};
use crate::random::Randomness;
use crate::recipe::follow::follow;
use crate::recipe::methods::{Gathered, Method, Needs, Planned, Task, Treats};
use crate::recipe::order::Order;
use crate::recipe::parts::Part;
use crate::recipe::{Request, Spec, blurring, generalize, together};
use crate::release::{Keyed, StepBinding};
use crate::table::{Code, LeftOutRows, Role, RowPlace, Source, TupleId};
use crate::watch::{Quiet, Stage, Watch};

/// What all parts of a run share.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) randomness: &'a Randomness,
    pub(super) watch: &'a dyn Watch,
}

/// Gathers what each part needs, and plans: numbers within cells, if there are both.
pub(super) fn plan<'a>(
    parts: &'a [Part],
    context: &Context<'_>,
) -> Result<Vec<Made<'a>>> {
    if parts.len() > 1 && context.request.plan.is_some() {
        return Err(Error::recipe("a recipe with several methods takes no plan")
            .with_hint("what noise and values by group decide is for one table"));
    }
    let mut made = Vec::with_capacity(parts.len());
    let mut parts = parts;
    if let [cells, numbers, rest @ ..] = parts
        && numbers.is_within(cells)
    {
        let (cells, mut numbers) = (
            Prepared::new(cells, None, context)?,
            Prepared::new(numbers, None, context)?,
        );
        let (coarse, noisy) = together::plan(&cells, &mut numbers, context)?;
        made.extend([cells.made(coarse), numbers.made(noisy)]);
        parts = rest;
    }
    let is_one_of_several = made.len() + parts.len() > 1;
    let mut gone = left_out(made.last(), context.watch)?;
    for part in parts {
        let prepared = Prepared::new(part, gone.as_ref(), context)?;
        let chosen = prepared.best(None, context);
        let chosen = chosen.map_err(|error| match is_one_of_several {
            true => within_mixture(error, part),
            false => error,
        })?;
        made.push(prepared.made(chosen));
        // Cells, or noise, stand first; others leave nobody out.
        if is_one_of_several && gone.is_none() {
            gone = left_out(made.last(), context.watch)?;
        }
    }
    for made in &mut made {
        if let Some(rows) = &gone {
            made.order.source = made.order.source.without(rows);
        }
    }
    Ok(made)
}

/// The rows that a part leaves out, if any; noise beside cells also those of the cells.
fn left_out(
    made: Option<&Made<'_>>,
    watch: &dyn Watch,
) -> Result<Option<Arc<LeftOutRows>>> {
    let Some(made) = made else { return Ok(None) };
    let rows = match (&made.data, &made.planned.grouping) {
        (Gathered::Numbers(data), _) => {
            let steps = made.planned.plan.steps.iter();
            let places = steps.filter_map(|step| match step {
                Step::Blur(plan) => Some(&plan.blurred.places),
                Step::Group(_) | Step::Draw(_) | Step::Apart(_) | Step::Redraw(_) => {
                    None
                }
            });
            let rows = (0..).zip(places.flatten());
            let rows = rows.filter(|(_, place)| place.is_none()).map(|(row, _)| row);
            LeftOutRows::numbered(rows, &data.block_starts)
        }
        (Gathered::Counts(data), Some(grouping)) => {
            grouping_left_out(&made.order.source, data, grouping, watch)?
        }
        (Gathered::Counts(_), None) => return Ok(None),
    };
    Ok((!rows.is_empty()).then(|| Arc::new(rows)))
}

/// The rows that no group has.
fn grouping_left_out(
    source: &Source,
    data: &Microdata,
    grouping: &Grouping,
    watch: &dyn Watch,
) -> Result<LeftOutRows> {
    let census = &data.census;
    let tuples = census.tuples().filter(|tuple| grouping.group_of[*tuple].is_none());
    let key = |tuple: TupleId| census.quasi.iter().map(|codes| codes[tuple]).collect();
    let gone: HashSet<Vec<Code>> = tuples.map(key).collect();
    if gone.is_empty() {
        return Ok(LeftOutRows::default());
    }
    let columns = data.quasi.iter().map(|column| source.column(&column.name));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let folded = source.fold(
        &columns,
        Vec::new,
        |rows: &mut Vec<RowPlace>, place, cells| {
            let codes = cells.iter().zip(&data.codes);
            let codes = codes.map(|(text, codes)| codes.get(*text).copied());
            if codes
                .collect::<Option<Vec<Code>>>()
                .is_some_and(|key| gone.contains(&key))
            {
                rows.push(place);
            }
            Ok(())
        },
        &Quiet(watch),
    )?;
    Ok(LeftOutRows::new(folded.states.into_iter().flatten()))
}

/// An error of one of several parts: whose `suppression` its hints mean, and none where
/// there is none.
pub(super) fn within_mixture(error: Error, part: &Part) -> Error {
    let apart = part.methods.iter().all(|method| method.treats() == Treats::Apart);
    let names: Vec<String> =
        part.methods.iter().map(|method| format!("`{}`", method.name())).collect();
    let whose = format!("`suppression` of {}", names.join(" or "));
    error.map_hints(|hint| match hint.contains("`suppression") {
        true if apart => format!(
            "ask for less, or randomize the column (`breach`): {} leaves no rows out beside \
             other methods",
            names.join(" or ")
        ),
        true => hint.replace("`suppression`", &whose),
        false => hint,
    })
}

/// A part of a recipe, and what was gathered for it.
pub(super) struct Prepared<'a> {
    pub(super) part: &'a Part,
    order: Order,
    data: Gathered,
}

/// A method, and what it decided.
pub(super) struct ChosenMethod {
    method: &'static dyn Method,
    pub(super) planned: Planned,
}

impl<'a> Prepared<'a> {
    /// Gathers what the methods of a part need, of rows that are not left out.
    fn new(
        part: &'a Part,
        left_out: Option<&Arc<LeftOutRows>>,
        context: &Context<'_>,
    ) -> Result<Self> {
        let Context { request, watch, .. } = *context;
        let (spec, inputs) = (&part.spec, &request.inputs);
        let mut order = Order::new(spec, inputs)?;
        if let Some(plan) = &request.plan {
            follow(spec, &part.methods, plan, &mut order)?;
        }
        let own = |name: &str| part.columns.iter().any(|column| column == name);
        order.check_domains(spec, own, &Quiet(watch))?;
        if let Some(rows) = left_out {
            order.source = order.source.without(rows);
        }
        watch.stage(Stage::Read, order.source.bytes());
        let data = gather(spec, &order, part.methods[0], watch)?;
        Ok(Self { part, order, data })
    }

    /// The plan with the least loss; with groups of so many rows, if said.
    pub(super) fn best(
        &self,
        crowd: Option<u64>,
        context: &Context<'_>,
    ) -> Result<ChosenMethod> {
        let Context { request, randomness, watch } = *context;
        watch.stage(Stage::Search, 0);
        let task = Task {
            spec: &self.part.spec,
            order: &self.order,
            inputs: &request.inputs,
            plan: request.plan.as_ref(),
            crowd,
            randomness: &self.part.coins(randomness),
            watch,
        };
        let (method, planned) = best(&self.part.methods, &self.data, &task)?;
        Ok(ChosenMethod { method, planned })
    }

    /// The part with what was decided.
    fn made(mut self, chosen: ChosenMethod) -> Made<'a> {
        let ChosenMethod { method, mut planned } = chosen;
        adopt(&mut self.data, &mut planned);
        let Self { part, order, data } = self;
        Made { part, order, data, method, planned }
    }

    /// What was counted.
    pub(super) fn counts(&self) -> Result<&Microdata> {
        self.data.need_counts()
    }

    /// The rows of numbers.
    pub(super) fn rows(&mut self) -> Result<&mut blurring::NumberRows> {
        match &mut self.data {
            Gathered::Numbers(rows) => Ok(rows),
            Gathered::Counts(_) => Err(Error::input("no numbers were read")),
        }
    }

    /// How many rows the table has.
    pub(super) fn n_rows(&self) -> u64 {
        self.data.n_rows()
    }

    /// Among how many people each row wants to be hidden, if a column says so.
    pub(super) fn wishes(&self) -> &[f64] {
        match &self.data {
            Gathered::Numbers(rows) => &rows.numbers.wishes,
            Gathered::Counts(_) => &[],
        }
    }

    /// From where to where its numbers go.
    pub(super) fn domains(&self) -> Vec<[f64; 2]> {
        match &self.data {
            Gathered::Numbers(rows) => rows.domains.clone(),
            Gathered::Counts(_) => Vec::new(),
        }
    }
}

/// A part of a recipe that is planned.
pub(super) struct Made<'a> {
    pub(super) part: &'a Part,
    pub(super) order: Order,
    pub(super) data: Gathered,
    pub(super) method: &'static dyn Method,
    pub(super) planned: Planned,
}

impl Made<'_> {
    /// What is known for its steps.
    pub(super) fn known(&self) -> StepBinding<'_> {
        let (grouping, secret) = (&self.planned.grouping, &self.planned.secret);
        StepBinding {
            data: self.data.counts(),
            covers: grouping.as_ref().map(|grouping| &grouping.covers),
            keyed: secret.as_ref().map(|secret| Keyed {
                key: &secret.key,
                id: &secret.id,
                missing: &self.part.spec.input.missing,
            }),
        }
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
            if let Some((what, why)) = blurring::counts_rows(spec, method.name()) {
                order.refuse_repeated(spec, order.people(watch)?, what, why)?;
            }
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
