//! What the manifest says about columns, method, and what is not promised.

use std::collections::BTreeMap;

use serde_json::{Map, json};

use crate::hierarchy::{Cells, Column, Microdata, Rule};
use crate::method::pdf::{Pdf, Whose};
use crate::method::{Grouping, Route};
use crate::promise::Adversary;
use crate::recipe::order::Order;
use crate::recipe::{Search, Spec};
use crate::release::{CELLS_FILE, MethodNote, Origin, PublishedColumn, WeightsNote};
use crate::table::{Kind, Reading, Role};

/// The columns as the manifest describes them.
pub(super) fn published_columns(
    spec: &Spec,
    order: &Order,
    data: &Microdata,
    levels: Option<&[usize]>,
) -> Vec<PublishedColumn> {
    let n_quasi = data.quasi.len();
    let column = |(name, origin): &(String, Origin)| {
        let bound = |place: usize| {
            let spec = &data.specs[place];
            (spec.reading.clone(), Some(spec.rule.clone()), Some(spec.weight))
        };
        let (role, (reading, rule, weight)) = match origin {
            Origin::Quasi(place) => (Role::Quasi, bound(*place)),
            Origin::Sensitive(place) => {
                let (reading, rule, _) = bound(n_quasi + place);
                (Role::Sensitive, (reading, rule.filter(|r| *r != Rule::Plain), None))
            }
            Origin::Other(_) | Origin::Group => {
                let missing = spec.input.missing.clone();
                (Role::Other, (Reading { missing, ..Reading::category() }, None, None))
            }
        };
        let quasi = match origin {
            Origin::Quasi(place) => Some(*place),
            _ => None,
        };
        PublishedColumn {
            name: name.clone(),
            role,
            kind: reading.kind,
            missing: reading.missing,
            date_format: reading.date_format,
            cells: quasi.map(|place| match spec.method.pdf {
                Some(_) => Cells::Pdf,
                None => data.quasi[place].cells,
            }),
            level: quasi.and_then(|place| levels.map(|levels| levels[place])),
            hierarchy: rule,
            weight: weight.filter(|weight| *weight != 1.0),
            decimals: quasi
                .filter(|_| spec.method.pdf.is_none())
                .and_then(|place| decimals(data, place)),
        }
    };
    order.published.iter().map(column).collect()
}

/// How many decimals the numbers of a quasi column have, if its cells can be ranges of them.
/// Under a promise about presence the domain is that of the population.
fn decimals(data: &Microdata, place: usize) -> Option<u32> {
    let (spec, column) = (&data.specs[place], &data.quasi[place]);
    let ranges = matches!(column.cells, Cells::Taxonomy | Cells::Interval)
        && !matches!(spec.rule, Rule::Tree(_));
    if spec.reading.kind != Kind::Number || !ranges {
        return None;
    }
    let known = (0..column.domain.len() as u32).filter_map(|c| column.domain.number(c));
    let digits = |number: f64| {
        number.to_string().split_once('.').map_or(0, |(_, digits)| digits.len() as u32)
    };
    known.map(digits).max()
}

/// The method as the manifest describes it.
pub(super) fn method_note(
    spec: &Spec,
    name: &str,
    columns: &[Column],
    grouping: &Grouping,
    search: &Search,
) -> MethodNote {
    let levels = match &grouping.route {
        Route::Levels(levels) => {
            let named = columns.iter().zip(levels);
            Some(
                named
                    .map(|(column, level)| (column.name.clone(), json!(level)))
                    .collect(),
            )
        }
        Route::Cuts(_) => None,
    };
    let mut parameters = Map::new();
    parameters.insert("loss".to_owned(), json!(spec.method.loss.name()));
    parameters
        .insert("suppression".to_owned(), json!(spec.method.suppression.to_f64()));
    if let Some((column, value)) = search.strategy {
        parameters.insert("column".to_owned(), json!(column.name()));
        parameters.insert("value".to_owned(), json!(value.name()));
    }
    MethodNote { name: name.to_owned(), levels, parameters }
}

/// Whose weights pdf cells have. `groups` are the published ones, in the order of their
/// numbers.
pub(super) fn weights_note(
    kind: &str,
    columns: &[Column],
    weights: &[Vec<Pdf>],
    groups: &[u32],
) -> WeightsNote {
    let mut table = BTreeMap::new();
    for (place, column) in columns.iter().enumerate().filter(|_| kind == "counted") {
        let own = (1u64..).zip(groups).filter(|(_, group)| {
            weights[**group as usize][place].whose == Whose::Table
        });
        let own: Vec<u64> = own.map(|(number, _)| number).collect();
        if !own.is_empty() {
            table.insert(column.name.clone(), own);
        }
    }
    WeightsNote { file: CELLS_FILE.to_owned(), kind: kind.to_owned(), table }
}

/// What a reader might take for promised and must not.
pub(super) fn not_promised(spec: &Spec, columns: &[Column]) -> Vec<String> {
    use crate::recipe::PromiseKind::{LDiversity, TCloseness};
    let sensitive = spec
        .promises
        .iter()
        .any(|promise| matches!(promise.kind, LDiversity { .. } | TCloseness { .. }));
    let mut list = Vec::new();
    if !sensitive {
        list.push(
            "sensitive values: all rows of a group may share one, which then is known for \
             everybody in it",
        );
    } else {
        list.push(
            "sensitive values against knowledge of how they depend on quasi columns, or of \
             other members' values",
        );
    }
    match spec.presence() {
        None => list.push("presence: whether a person is in the table is not hidden"),
        Some(presence) => {
            list.push(
                "presence against somebody who knows the search, or other people's \
                 presence: the reversal attack of the audit tells how much that adds",
            );
            if presence.adversary == Adversary::Paper {
                list.push(
                    "presence against somebody who reads the weights as the counts they \
                     are: these weights are those of the paper, for comparison only, and \
                     such a reader undoes them",
                );
            }
        }
    }
    list.extend([
        "composition: two releases about the same people may together say more than each",
        "minimality: who knows the recipe learns that finer releases would have failed",
    ]);
    let own = spec.presence().is_none();
    let shown = columns.iter().any(|column| column.cells != Cells::Taxonomy);
    if own && (shown || spec.method.pdf.is_some()) {
        list.push(
            "values that occur: cells that are ranges, sets or distributions show values of the table, and \
             ends of ranges are somebody's",
        );
    }
    if spec.columns.iter().any(|column| column.role == Role::Other) {
        list.push(
            "columns of role “other”: published as they are, taken not to identify anybody",
        );
    }
    list.into_iter().map(str::to_owned).collect()
}
