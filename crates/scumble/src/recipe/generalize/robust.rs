//! r-robustness of values that stay in the rows of groups of cells.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::hierarchy::{Cells, Microdata};
use crate::method::Grouping;
use crate::promise::{Promise, RobustRows};
use crate::recipe::bucketize::knowledge::{Known, unknown_values};
use crate::recipe::methods::Task;
use crate::recipe::{KnowledgeSpec, PromiseKind, PromiseSpec, RobustnessSpec, Spec};
use crate::release::PromiseNote;
use crate::table::{Role, Stated, TupleId};

/// The promises of a recipe that are r-robustness.
fn typed(spec: &Spec) -> impl Iterator<Item = (&PromiseSpec, &RobustnessSpec)> {
    spec.promises.iter().filter_map(|typed| match &typed.kind {
        PromiseKind::RRobustness(robust) => Some((typed, robust)),
        _ => None,
    })
}

/// What Mondrian asks of a recipe with r-robustness: groups that no reader takes for one.
pub(super) fn check(spec: &Spec) -> Result<()> {
    let Some((promise, _)) = typed(spec).next() else { return Ok(()) };
    let at = |spot, error: Error| Err(spec.error_at(spot, error));
    if let Some(presence) = spec.presence() {
        let error = Error::recipe(
            "`r-robustness` of values in the rows does not go with `delta-presence`: where \
             its groups end depends on the values of who is in the table",
        )
        .with_hint("make a release for each");
        return at(spec.method.spot.unwrap_or(presence.spot), error);
    }
    if spec.method.cells == Some(Cells::Taxonomy) {
        let error = Error::recipe(
            "`mondrian` cannot keep `r-robustness` with cells that are nodes, because nodes \
             overlap, and groups that are one to a reader may break it",
        )
        .with_hint("use `cells = \"interval\"` or `\"set\"`, or leave `cells` out");
        return at(spec.method.spot.unwrap_or(promise.spot), error);
    }
    for column in spec.columns.iter().filter(|column| column.role == Role::Quasi) {
        if column.lowest.is_some_and(|lowest| lowest > 0) {
            let error = Error::recipe(
                "`mondrian` cannot keep `lowest` beside `r-robustness`: its cells are ranges \
                 and sets, which have no level",
            )
            .with_hint("leave `lowest` out, or make the column coarser before");
            return at(column.spot, error);
        }
    }
    let mut with_files: Vec<&str> = Vec::new();
    for (promise, robust) in typed(spec) {
        if robust.knowledge == KnowledgeSpec::Table {
            continue;
        }
        let own = spec.columns.iter().filter(|c| c.role == Role::Sensitive);
        with_files.extend(own.map(|c| &*c.name).filter(|name| promise.speaks_of(name)));
        with_files.dedup();
        if let [first, second, ..] = with_files[..] {
            let error = Error::recipe(format!(
                "what files say is known is about one column, but `r-robustness` is asked of \
                 `{first}` and `{second}` with files"
            ))
            .with_hint(
                "promise it of each column on its own, with `columns = [...]`: of one with \
                 files, of the others with `knowledge = \"table\"`",
            );
            return at(promise.spot, error);
        }
    }
    Ok(())
}

/// A sensitive column that must be robust.
struct RobustColumn<'a> {
    typed: &'a RobustnessSpec,
    known: Known,
    /// Its place among the sensitive columns.
    place: usize,
}

/// The sensitive columns that must be robust, and what is known of them.
pub(super) struct RobustColumns<'a>(Vec<RobustColumn<'a>>);

impl<'a> RobustColumns<'a> {
    /// Reads what is known of each.
    pub(super) fn read(
        name: &str,
        task: &Task<'a>,
        data: &Microdata,
    ) -> Result<RobustColumns<'a>> {
        let spec = task.spec;
        let mut columns = Vec::new();
        for (promise, typed) in typed(spec) {
            for (place, column) in data.sensitive.iter().enumerate() {
                if promise.speaks_of(&column.name) {
                    let known = Known::read(spec, typed, task.inputs, data, place)?;
                    columns.push(RobustColumn { typed, known, place });
                }
            }
        }
        if !columns.is_empty() {
            let why = "possible worlds give every row a value of its own";
            task.order.refuse_repeated(spec, data.people, name, why)?;
        }
        Ok(Self(columns))
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What must hold of every group.
    pub(super) fn rows(&self) -> Vec<RobustRows<'_>> {
        let rows = |column: &'_ RobustColumn<'a>| (column.typed, column.place);
        let both = self.0.iter().map(|column| (rows(column), &column.known.priors));
        both.map(|((typed, column), priors)| RobustRows {
            robustness: &typed.robustness,
            priors,
            column,
        })
        .collect()
    }

    /// That groups which a plan made keep it.
    pub(super) fn check(&self, grouping: &Grouping, data: &Microdata) -> Result<()> {
        let overlap = data.quasi.iter().any(|column| column.cells == Cells::Taxonomy);
        if overlap && !self.is_empty() {
            return Err(Error::recipe(
                "the cells of the plan are nodes, which overlap, so that it cannot keep \
                 `r-robustness`",
            )
            .with_hint("make a plan with `r-robustness`"));
        }
        let mut members: Vec<Vec<TupleId>> = vec![Vec::new(); grouping.covers.len()];
        for (tuple, group) in grouping.group_of.pairs() {
            if let Some(group) = group {
                members[group.index()].push(tuple);
            }
        }
        for column in self.rows() {
            if !members.iter().all(|tuples| column.hold(&data.census, tuples)) {
                return Err(Error::unsatisfiable(
                    column.robustness.title(),
                    "it does not hold of every group of this plan",
                )
                .with_hint("make a plan for this table"));
            }
        }
        Ok(())
    }

    /// The promises as the manifest has them, not yet rechecked.
    pub(super) fn notes(&self, data: &Microdata) -> Vec<PromiseNote> {
        let note = |column: &RobustColumn<'_>| {
            let about = vec![data.sensitive[column.place].name.clone()];
            let asked = column.known.asked(column.typed, data);
            PromiseNote::unchecked(column.typed.robustness.name(), about, asked)
        };
        self.0.iter().map(note).collect()
    }

    /// How many signatures were too rare to be known, if they were counted.
    pub(super) fn fallback(&self, data: &Microdata) -> Option<Value> {
        self.0.iter().find_map(|column| column.known.fallback(data))
    }

    /// What files say is known.
    pub(super) fn stated(&self) -> Option<Stated> {
        self.0.iter().find_map(|column| column.known.stated.clone())
    }

    /// What a steward should look at.
    pub(super) fn remarks(&self, data: &Microdata) -> Vec<String> {
        let remark = |column: &RobustColumn<'_>| {
            unknown_values(column.known.stated.as_ref()?, data, column.place)
        };
        self.0.iter().filter_map(remark).collect()
    }

    /// What a reader might take for promised and must not.
    pub(super) fn not_promised(&self, left_out: u64) -> Vec<String> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut list = vec![
            "other knowledge of how values depend on quasi columns: r-robustness is kept \
             against somebody who knows it by each of the listed sets of columns, not by \
             more columns at once, and not from another source"
                .to_owned(),
            "the search: parts were cut until they kept r-robustness, so somebody who knows \
             the method learns from where cuts end; in small tables that can be somebody's \
             value"
                .to_owned(),
        ];
        let sets = self.0.iter().flat_map(|column| &column.known.priors.sets);
        let rare: u64 = sets.map(|set| set.rare).sum();
        if rare > 0 {
            list.push(format!(
                "knowledge of a few: {rare} combinations of values in the listed columns \
                 have too few rows for a distribution of their own, and it is assumed that \
                 nobody knows one"
            ));
        }
        if left_out > 0 {
            list.push(format!(
                "rows left out: the {left_out} rows fit into no robust group, which says \
                 something of their values to somebody who knows that a person was in the \
                 table and does not find them"
            ));
        }
        list
    }
}
