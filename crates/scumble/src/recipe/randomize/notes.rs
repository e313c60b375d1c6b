//! What the manifest says about randomized values, and what is not promised.

use serde_json::{Map, Value, json};

use crate::hierarchy::Microdata;
use crate::method::perturb::Operator;
use crate::promise::Breaches;
use crate::recipe::order::Order;
use crate::recipe::randomize::operators::Design;
use crate::recipe::randomize::values::Values;
use crate::recipe::{BoundsSpec, MethodName, PromiseKind, Spec};
use crate::release::Origin;
use crate::release::{
    BoundNote, MethodNote, OperatorNote, PerturbationNote, PublishedColumn,
    SubtableNote,
};
use crate::table::{Kind, Reading, Role};

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
    let subtable = |(part, bounds): (&crate::release::Subtable, &Vec<_>)| {
        let texts = |value: &u32| values.texts[*value as usize].clone();
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
            operator: operator_note(&part.operator),
        }
    };
    PerturbationNote {
        columns: values.names.clone(),
        breaches: design.breaches.name().to_owned(),
        noise: if keyed { "keyed" } else { "fresh" }.to_owned(),
        subtable_column: (design.subtables.len() > 1).then(|| subtable_column(values)),
        subtables: design.subtables.iter().zip(&design.bounds).map(subtable).collect(),
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
    subtable_columns: &[(usize, String)],
) -> Vec<PublishedColumn> {
    let plain = |name: &str, role, reading: Reading| PublishedColumn {
        name: name.to_owned(),
        role,
        kind: reading.kind,
        missing: reading.missing,
        date_format: reading.date_format,
        cells: None,
        level: (role == Role::Quasi).then_some(0),
        hierarchy: None,
        weight: None,
        decimals: None,
    };
    let as_text =
        || Reading { missing: spec.input.missing.clone(), ..Reading::category() };
    let mut columns = Vec::new();
    for (name, origin) in &order.published {
        match origin {
            Origin::Sensitive(place) => {
                let reading = data.specs[*place].reading.clone();
                columns.push(plain(name, Role::Sensitive, reading));
                let mut own = subtable_columns.iter().filter(|(last, _)| last == place);
                if let Some((_, name)) = own.next() {
                    let reading = Reading { kind: Kind::Number, ..as_text() };
                    columns.push(plain(name, Role::Other, reading));
                }
            }
            Origin::Quasi(_) => {
                let typed = order.columns.iter().find(|column| column.name == *name);
                let reading = typed.map_or_else(as_text, |typed| typed.reading.clone());
                columns.push(plain(name, Role::Quasi, reading));
            }
            Origin::Other(_) | Origin::Group => {
                columns.push(plain(name, Role::Other, as_text()));
            }
        }
    }
    columns
}

/// The method as the manifest describes it.
pub(super) fn method_note(
    spec: &Spec,
    method: MethodName,
    designs: &[Design],
) -> MethodNote {
    let n_columns = designs.len();
    let mut parameters: Map<String, Value> = Map::new();
    let noise = &spec.method.noise;
    if let Some((floor, _)) = noise.floor {
        parameters.insert("floor".to_owned(), json!(floor));
    }
    if n_columns > 1 || noise.together.is_some() {
        let together = matches!(noise.together, Some((true, _)));
        let how = if together { "compound" } else { "each" };
        parameters.insert("sensitive".to_owned(), json!(how));
    }
    if designs.iter().any(|design| design.fitted) {
        parameters.insert("weights".to_owned(), json!("frequency"));
    }
    MethodNote { name: method.name().to_owned(), levels: None, parameters }
}

/// What a reader might take for promised and must not.
pub(super) fn not_promised(
    spec: &Spec,
    method: MethodName,
    designs: &[Design],
    keyed: bool,
) -> Vec<String> {
    let mut list = Vec::new();
    if method != MethodName::PerturbedGeneralization {
        list.push(
            "who somebody is: quasi columns are published as they are, so that anybody who \
             knows a person finds their row; only sensitive values are hidden",
        );
    }
    list.push("presence: whether a person is in the table is not hidden");
    if designs.iter().any(|design| design.breaches == Breaches::Upward) {
        let uniform = method == MethodName::UniformPerturbation
            || method == MethodName::PerturbedGeneralization;
        if !uniform {
            list.push(
                "downward breaches: a belief that a person has a value may fall, so that \
                 somebody may become sure that they do not have it",
            );
        }
    }
    let partitioned = designs.iter().any(|design| design.subtables.len() > 1);
    if method == MethodName::PartitionedPerturbation {
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
    let counted = |promise: &crate::recipe::PromiseSpec| {
        matches!(
            &promise.kind,
            PromiseKind::FineGrain { bounds: BoundsSpec::Factor(_), .. }
        )
    };
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
    } else if method == MethodName::PerturbedGeneralization {
        "repetition: a second release about the same people says more"
    } else {
        "repetition: a second release with fresh noise about the same people says more; use a \
         key for that"
    });
    list.into_iter().map(str::to_owned).collect()
}
