//! What the manifest says about columns, method, and what is not promised.

use std::collections::BTreeMap;

use crate::hierarchy::{self, Cells, Column, Microdata, Rule};
use crate::method::pdf::{Pdf, Whose};
use crate::method::{Grouping, Route, Weighting};
use crate::promise::{About, Adversary};
use crate::recipe::generalize::cells::{ends, has_ranges};
use crate::recipe::order::{Order, Origin};
use crate::recipe::{ColumnSpec, Looks, PromiseSpec, RangeEnds, Search, Spec};
use crate::release::{
    CELLS_FILE, PromiseNote, PublishedColumn, Treatment, WeightsNote,
};
use crate::table::{ClassId, GroupId, Kind, Of, Reading, Role};

/// The columns as the manifest describes them.
pub(in crate::recipe) fn published_columns(
    spec: &Spec,
    order: &Order,
    data: &Microdata,
    quasi: &[Column],
    treatment: impl Fn(Origin) -> Treatment,
) -> Vec<PublishedColumn> {
    let n_quasi = quasi.len();
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
            Origin::Other => {
                let missing = spec.input.missing.clone();
                (Role::Other, (Reading { missing, ..Reading::category() }, None, None))
            }
        };
        let place = match origin {
            Origin::Quasi(place) => Some(*place),
            _ => None,
        };
        PublishedColumn {
            hierarchy: rule,
            weight: weight.filter(|weight| *weight != 1.0),
            grid: place
                .and_then(|place| quasi[place].grid.as_ref())
                .map(|bound| bound.grid().clone()),
            decimals: place
                .filter(|_| spec.method.pdf.is_none())
                .and_then(|place| decimals(&data.specs[place], &quasi[place])),
            treatment: treatment(*origin),
            ..PublishedColumn::kept(name, role, reading)
        }
    };
    order.published.iter().map(column).collect()
}

/// What a method that generalizes did to a column.
pub(in crate::recipe) fn generalized(
    spec: &Spec,
    columns: &[Column],
    levels: Option<&[usize]>,
    origin: Origin,
) -> Treatment {
    match origin {
        Origin::Quasi(_) if spec.method.pdf.is_some() => Treatment::Weighted,
        Origin::Quasi(place) => Treatment::Coarse {
            cells: columns[place].cells,
            level: levels.map(|levels| levels[place]),
        },
        Origin::Sensitive(_) | Origin::Other => Treatment::Kept,
    }
}

/// How many decimals the numbers of a quasi column have, if its cells can be ranges of them.
/// Under a promise about presence the domain is that of the population.
fn decimals(spec: &hierarchy::ColumnSpec, column: &Column) -> Option<u32> {
    let ranges = matches!(column.cells, Cells::Taxonomy | Cells::Interval)
        && !matches!(spec.rule, Rule::Tree(_));
    if spec.reading.kind != Kind::Number || !ranges {
        return None;
    }
    let known = column.domain.codes().filter_map(|code| column.domain.number(code));
    let digits = |number: f64| {
        number.to_string().split_once('.').map_or(0, |(_, digits)| digits.len() as u32)
    };
    known.map(digits).max()
}

/// Whose weights pdf cells have. `groups` are the published ones, in the order of their
/// numbers.
pub(in crate::recipe) fn weights_note(
    kind: &str,
    columns: &[Column],
    weights: &Of<GroupId, Vec<Pdf>>,
    groups: &Of<ClassId, GroupId>,
) -> WeightsNote {
    let mut table = BTreeMap::new();
    for (place, column) in columns.iter().enumerate().filter(|_| kind == "counted") {
        let own = groups
            .pairs()
            .filter(|(_, group)| weights[**group][place].whose == Whose::Table);
        let own: Vec<u64> = own.map(|(class, _)| class.one_based()).collect();
        if !own.is_empty() {
            table.insert(column.name.clone(), own);
        }
    }
    WeightsNote { file: CELLS_FILE.to_owned(), kind: kind.to_owned(), table }
}

/// What a reader might take for promised and must not.
pub(in crate::recipe) fn not_promised(
    spec: &Spec,
    columns: &[Column],
    looks: Option<Looks>,
    levels: bool,
    weighting: Option<Weighting>,
) -> Vec<String> {
    let mut list = Vec::new();
    let (promised, free): (Vec<&ColumnSpec>, Vec<&ColumnSpec>) = spec
        .columns
        .iter()
        .filter(|column| column.role == Role::Sensitive)
        .partition(|column| is_promised(spec, &column.name));
    let mut said: Vec<String> = Vec::new();
    if !free.is_empty() {
        let names: Vec<String> = free.iter().map(|c| format!("`{}`", c.name)).collect();
        let whose = match promised.is_empty() {
            true => String::new(),
            false => format!(" of {}", names.join(", ")),
        };
        said.push(format!(
            "sensitive values{whose}: all rows of a group may share one, which then is \
             known for everybody in it"
        ));
    }
    if !promised.is_empty() {
        let robust = |column: &&ColumnSpec| {
            spec.promises.iter().any(|typed| {
                matches!(typed.kind.promise().about(), About::Posteriors(_))
                    && typed.speaks_of(&column.name)
            })
        };
        list.push(match promised.iter().all(robust) {
            true => "sensitive values against knowledge of other members' values",
            false => {
                "sensitive values against knowledge of how they depend on quasi columns, or \
                 of other members' values"
            }
        });
    }
    match spec.presence() {
        None => list.push("presence: whether a person is in the table is not hidden"),
        Some(presence) => {
            list.push(match looks {
                Some(Looks::Coins) => {
                    "presence against somebody who knows other people's presence"
                }
                Some(Looks::Free) | None => {
                    "presence against somebody who knows the search, or other people's \
                     presence: the reversal attack of the audit tells how much that adds"
                }
            });
            if looks == Some(Looks::Free) {
                list.push(match levels {
                    false => {
                        "presence against somebody who knows where cuts end: these were looked \
                         at freely, for comparison only, and a cut that was refused often \
                         tells who is in the table"
                    }
                    true => {
                        "presence against somebody who knows which levels failed: these were \
                         looked at freely, and in a small population that finer ones failed \
                         often tells who is in the table"
                    }
                });
            }
            if spec.input.person.is_some() {
                list.push(
                    "presence against somebody who knows how many rows people have: a group \
                     with many rows suggests those who have many",
                );
            }
            if let (Some(looks), Some(Weighting::Counted(_))) = (looks, weighting) {
                list.push(match looks {
                    Looks::Coins => {
                        "presence against somebody who knows the program and counts: the \
                         groups tell nothing, but weights that are the table's own do, and \
                         which are depends on the table"
                    }
                    Looks::Free => {
                        "presence against somebody who knows which columns may have the \
                         table's own weights: that others may not tells of the table, too"
                    }
                });
            }
            if presence.promise.adversary() == Adversary::Paper {
                list.push(
                    "presence against somebody who reads the weights as the counts they \
                     are: these weights are those of the paper, for comparison only, and \
                     such a reader undoes them",
                );
            }
        }
    }
    list.push(
        "composition: two releases about the same people may together say more than each",
    );
    if looks != Some(Looks::Coins) {
        list.push(
            "minimality: somebody who knows the recipe learns that finer releases would have \
             failed",
        );
    }
    let own = spec.presence().is_none();
    let shown = |column: &Column| {
        column.cells != Cells::Taxonomy && column.grid.is_none() && !has_ranges(column)
    };
    if own && (columns.iter().any(shown) || spec.method.pdf.is_some()) {
        list.push(
            "values that occur: cells that are sets, distributions or ranges of words show \
             values of the table",
        );
    }
    match ends(columns) {
        Some(RangeEnds::Grid) if own => list.push(
            "where values lie: ranges are as tight as their grid allows, so that somebody's \
             value is in the first step of each, and somebody's in the last",
        ),
        Some(RangeEnds::Tight) if own && spec.method.pdf.is_none() => list.push(
            "values that occur: the ends of tight ranges are somebody's values, and nearly \
             always those of one person of the group; they are for comparison only",
        ),
        _ => {}
    }
    if spec.columns.iter().any(|column| column.role == Role::Other) {
        list.push(
            "columns of role “other”: published as they are, taken not to identify anybody",
        );
    }
    said.extend(list.into_iter().map(str::to_owned));
    said
}

/// Whether a promise speaks of the values of a sensitive column.
fn is_promised(spec: &Spec, column: &str) -> bool {
    spec.promises.iter().any(|typed| {
        typed.kind.promise().about().looks_at_values() && typed.speaks_of(column)
    })
}

/// The names of columns.
pub(in crate::recipe) fn names(columns: &[Column]) -> Vec<String> {
    columns.iter().map(|column| column.name.clone()).collect()
}

/// The promises about groups, not yet rechecked: of the sensitive columns that they speak of
/// if they look at values, of quasi columns otherwise.
pub(in crate::recipe) fn promise_notes(
    spec: &Spec,
    data: &Microdata,
) -> Vec<PromiseNote> {
    let note = |typed: &PromiseSpec| {
        let About::Groups(promise) = typed.kind.promise().about() else { return None };
        let mut about = names(match promise.looks_at_values() {
            true => &data.sensitive,
            false => &data.quasi,
        });
        about.retain(|name| !promise.looks_at_values() || typed.speaks_of(name));
        Some(PromiseNote::unchecked(promise.name(), about, promise.asked()))
    };
    spec.promises.iter().filter_map(note).collect()
}

/// The levels that were chosen, for those who ask how the search went.
pub(in crate::recipe) fn note_levels(
    columns: &[Column],
    grouping: &Grouping,
    search: &mut Search,
) {
    if let Route::Levels(levels) = &grouping.route {
        let named = columns.iter().zip(levels);
        search.levels = named
            .map(|(column, level)| {
                (column.name.clone(), *level, column.hierarchy.height())
            })
            .collect();
    }
}
