//! What the manifest says about randomized values, and what is not promised.

use serde_json::{Map, Value, json};

use crate::hierarchy::{self, Microdata};
use crate::method::perturb::{Operator, ValueId};
use crate::promise::Breaches;
use crate::recipe::order::{Order, Origin};
use crate::recipe::randomize::Perturbation;
use crate::recipe::randomize::operators::Design;
use crate::recipe::randomize::values::Values;
use crate::recipe::{PromiseKind, Spec};
use crate::release::{
    BoundNote, ConditionNote, OperatorNote, PerturbationNote, PublishedColumn,
    SubtableNote, Treatment,
};
use crate::table::{PublicDomain, Role};

/// The column that tells the sub-table of a row.
pub(super) fn subtable_column(values: &Values) -> String {
    format!("{}.subtable", values.names.join("+"))
}

/// A randomized column as the manifest describes it.
pub(super) fn perturbation_note(
    values: &Values,
    design: &Design,
    keyed: bool,
) -> PerturbationNote {
    let conditions = design.conditions.iter().map(Some).chain(std::iter::repeat(None));
    let subtable = |((part, bounds), condition): (
        (&crate::method::Subtable, &Vec<_>),
        Option<&ConditionNote>,
    )| {
        let texts = |value: &ValueId| values.texts[*value].clone();
        let bound = |bound: &Option<crate::promise::Bound>| {
            bound.map(|bound| BoundNote {
                prior: bound.prior,
                posterior: bound.posterior,
                gamma: bound.gamma(),
            })
        };
        SubtableNote {
            rows: part.rows.iter().sum(),
            domain: part.values.iter().map(texts).collect(),
            bounds: bounds.iter().map(bound).collect(),
            condition: condition.cloned(),
            operator: operator_note(&part.operator),
        }
    };
    PerturbationNote {
        columns: values.names.clone(),
        ranges: Vec::new(),
        breaches: design.breaches.name().to_owned(),
        noise: if keyed { "keyed" } else { "fresh" }.to_owned(),
        subtable_column: (design.subtables.len() > 1).then(|| subtable_column(values)),
        subtables: design
            .subtables
            .iter()
            .zip(&design.bounds)
            .zip(conditions)
            .map(subtable)
            .collect(),
    }
}

fn operator_note(operator: &Operator) -> OperatorNote {
    match operator {
        Operator::Uniform { keep, .. } => OperatorNote::Uniform { keep: *keep },
        Operator::FineGrain { keep } => OperatorNote::FineGrain { keep: keep.clone() },
        Operator::General { columns } => {
            let row =
                |published: usize| columns.iter().map(|to| to[published]).collect();
            OperatorNote::General { matrix: (0..columns.len()).map(row).collect() }
        }
    }
}

/// The published columns, in order. Those with sub-tables have a column more.
pub(super) fn published_columns(
    spec: &Spec,
    order: &Order,
    data: &Microdata,
    notes: &[PerturbationNote],
) -> Vec<PublishedColumn> {
    let column = |(name, origin): &(String, Origin)| match origin {
        Origin::Sensitive(place) => {
            drawn_column(&data.specs[*place], treated(notes, name))
        }
        Origin::Quasi(_) | Origin::Other => order.kept(spec, name, *origin),
    };
    order.published.iter().map(column).collect()
}

/// A sensitive column with what was done to it, and what its ranges are, if it has any.
pub(super) fn drawn_column(
    column: &hierarchy::ColumnSpec,
    treatment: Treatment,
) -> PublishedColumn {
    let ranges = column.ranges.as_ref();
    let kept =
        PublishedColumn::kept(&column.name, Role::Sensitive, column.reading.clone());
    PublishedColumn {
        treatment,
        hierarchy: ranges.map(|ranges| ranges.hierarchy().clone()),
        domain: ranges.map(|ranges| PublicDomain::Numbers(ranges.ends())),
        decimals: ranges.map(|_| column.decimals),
        ..kept
    }
}

/// What was done to the column of this name.
pub(super) fn treated(notes: &[PerturbationNote], name: &str) -> Treatment {
    let treatment = notes.iter().find_map(|note| {
        let part = note.columns.iter().position(|known| known == name)?;
        Some(note.treatment(part))
    });
    treatment.unwrap_or(Treatment::Kept)
}

/// Public parameters of the method.
pub(super) fn parameters(spec: &Spec, designs: &[Design]) -> Map<String, Value> {
    let mut parameters: Map<String, Value> = Map::new();
    let noise = &spec.method.noise;
    if let Some((floor, _)) = noise.floor {
        parameters.insert("floor".to_owned(), json!(floor));
    }
    if designs.len() > 1 || noise.together.is_some() {
        let together = matches!(noise.together, Some((true, _)));
        let how = if together { "compound" } else { "each" };
        parameters.insert("sensitive".to_owned(), json!(how));
    }
    if designs.iter().any(|design| design.fitted) {
        parameters.insert("weights".to_owned(), json!("frequency"));
    }
    parameters
}

/// What a reader might take for promised and must not.
pub(super) fn not_promised(
    spec: &Spec,
    method: Option<Perturbation>,
    designs: &[Design],
    keyed: bool,
) -> Vec<String> {
    let mut list = Vec::new();
    // Without a method of its own, one row of each group is published.
    if method.is_some() {
        list.push(
            "who somebody is: quasi columns are published as they are, so that anybody who \
             knows a person finds their row; only sensitive values are hidden",
        );
    }
    list.push("presence: whether a person is in the table is not hidden");
    let upward = designs.iter().any(|design| design.breaches == Breaches::Upward);
    if upward && method.is_some_and(|method| method != Perturbation::Uniform) {
        list.push(
            "downward breaches: a belief that a person has a value may fall, so that \
             somebody may become sure that they do not have it",
        );
    }
    let partitioned = designs.iter().any(|design| design.subtables.len() > 1);
    if method == Some(Perturbation::Partitioned) {
        if partitioned {
            list.push(
                "the sub-domain: a row of a sub-table has one of the values of that \
                 sub-table, for certain",
            );
        }
        list.push(
            "other beliefs: the promise is kept against somebody whose belief before is how \
             common a value is, and for single values, not for sets of them",
        );
    }
    let open = |design: &Design| design.bounds.iter().flatten().any(Option::is_none);
    if designs.iter().any(open) {
        list.push(
            "values without a bound: they are common enough, or listed without one, and \
             somebody may become sure of them",
        );
    }
    let counted = |promise: &crate::recipe::PromiseSpec| matches!(&promise.kind, PromiseKind::FineGrain { promise, .. } if !promise.is_listed());
    let fitted = designs.iter().any(|design| design.fitted);
    if spec.promises.iter().any(counted) || fitted {
        list.push(
            "how common values are: bounds or matrix in this manifest were made from it, so \
             somebody who knows the values of everybody else may learn the last one by \
             subtraction",
        );
    }
    if designs.len() > 1 {
        list.push(
            "columns together: each sensitive column keeps its promise on its own; values \
             that depend on each other say more together",
        );
    }
    list.push(
        "which values occur: the domain of a column is that of the table unless the recipe \
         gives one, so a value that one person alone has shows that somebody has it",
    );
    list.push(if keyed {
        "releases with other matrices or domains: the key keeps a person's noise the same only \
         where these are the same"
    } else if method.is_none() {
        "repetition: a second release about the same people says more"
    } else {
        "repetition: a second release with fresh noise about the same people says more; use a \
         key for that"
    });
    list.into_iter().map(str::to_owned).collect()
}
