//! Every promise of the manifest, measured on the published rows.
//!
//! # Guarantee
//! `holds` is decided on whole numbers: a group exactly at the threshold is on the right
//! side of it. Entropies are floats; one too near to ln l to tell fails, unless its values
//! are spread evenly.
//!
//! # Limits
//! The recheck believes the manifest's roles: it cannot know that a column called
//! sensitive is known to the adversary.
//!
//! # Cost
//! One pass over the published rows; then, for promises about values, O(values) a group.
//! For delta-presence see `presence`.
//!
//! # Source
//! `sweeney2002kanonymity`, `machanavajjhala2006ldiversity`, `li2007tcloseness`,
//! `nergiz2007presence`.

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::audit::Checked;
use crate::audit::measure::{Finding, Values, closeness, diversity};
use crate::audit::people::People;
use crate::audit::presence::{self, Presence};
use crate::audit::shares::Range;
use crate::audit::view::View;
use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::release::{Manifest, PromiseNote};
use crate::table::Histogram;

/// What a manifest says was asked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Asked {
    /// Groups of at least k.
    K(u64),
    /// Diverse values.
    Diversity(Diversity),
    /// Values spread as in the whole table.
    Closeness(Decimal, Distance),
    /// Presence in a range, to a reader of weights.
    Presence(Range, Reader),
}

/// Who reads the weights of pdf cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// Somebody who sees that weights are counts.
    Counting,
    /// Somebody who takes them for likelihoods and nothing more.
    Paper,
}

/// How diversity is measured.
#[derive(Debug, Clone, Copy)]
pub(super) enum Diversity {
    Distinct(u64),
    Entropy(Decimal),
    Recursive { l: u64, c: Decimal },
}

/// How far values are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Distance {
    Equal,
    Ordered,
    Hierarchical,
}

/// Rechecks all promises of the manifest. Those about a population need it.
pub(super) fn recheck(
    manifest: &Manifest,
    view: &View,
    people: Option<(&People<'_>, &Presence)>,
) -> Result<Vec<Checked>> {
    manifest.promises.iter().map(|note| check(note, view, people)).collect()
}

/// Everything that was asked and can be read.
pub(super) fn all_asked(manifest: &Manifest) -> impl Iterator<Item = Asked> {
    manifest.promises.iter().filter_map(|note| asked(note).ok())
}

/// The k of the first k-anonymity that was asked.
pub(super) fn asked_k(manifest: &Manifest) -> Option<u64> {
    all_asked(manifest).find_map(|asked| match asked {
        Asked::K(k) => Some(k),
        _ => None,
    })
}

fn check(
    note: &PromiseNote,
    view: &View,
    people: Option<(&People<'_>, &Presence)>,
) -> Result<Checked> {
    let asked = asked(note)?;
    if view.quasi.is_empty() {
        return Err(Error::input(format!(
            "the manifest promises {} without a quasi column",
            note.name
        )));
    }
    let (measured, rows_at_risk) = match asked {
        Asked::K(k) => {
            let smallest = view.sizes.iter().min().copied().unwrap_or(0);
            let failing = view.sizes.iter().filter(|size| **size < k).sum();
            (json!({ "k": smallest }), failing)
        }
        Asked::Presence(range, reader) => {
            let (people, presence) = people.ok_or_else(|| {
                Error::input(format!(
                    "{} cannot be rechecked without the population",
                    note.name
                ))
                .with_hint("give it with `--population FILE`")
            })?;
            presence::check(range, presence.seen_by(reader), people)
        }
        Asked::Diversity(_) | Asked::Closeness(..) => check_values(note, asked, view)?,
    };
    let (name, asked) = (note.name.clone(), note.asked.clone());
    Ok(Checked { name, asked, measured, holds: rows_at_risk == 0, rows_at_risk })
}

/// Measures every sensitive column in every group.
fn check_values(note: &PromiseNote, asked: Asked, view: &View) -> Result<(Value, u64)> {
    if view.sensitive.is_empty() {
        return Err(Error::input(format!(
            "the manifest promises {} without a sensitive column",
            note.name
        )));
    }
    let wholes: Vec<Histogram> =
        (0..view.sensitive.len()).map(|place| view.whole(place)).collect();
    let by_tree = matches!(asked, Asked::Closeness(_, distance) if distance == Distance::Hierarchical);
    if by_tree && let Some(column) = view.sensitive.iter().find(|column| column.lost) {
        return Err(Error::input(format!(
            "{} of column `{}` cannot be rechecked: the leaves of its hierarchy are \
             not written as YYYY-MM-DD",
            note.name, column.name
        )));
    }
    // For each group the worst finding of its columns.
    let start = || -> Vec<Histogram> {
        (0..view.sensitive.len()).map(|place| view.histogram(place)).collect()
    };
    let (worst, at_risk) = (0..view.n_groups())
        .into_par_iter()
        .with_min_len(256)
        .map_init(start, |groups, group| {
            let mut found = Finding::NOTHING;
            for (place, values) in groups.iter_mut().enumerate() {
                values.clear();
                view.add_to(group, place, values);
                found = found.worse(match asked {
                    Asked::Diversity(asked) => diversity(values, asked),
                    Asked::Closeness(t, distance) => {
                        let column = &view.sensitive[place];
                        let whole = &wholes[place];
                        let hierarchy = column.hierarchy.as_ref();
                        closeness(
                            &Values { group: values, whole, hierarchy },
                            t,
                            distance,
                        )
                    }
                    Asked::K(_) | Asked::Presence(..) => Finding::NOTHING,
                });
            }
            let rows = if found.holds { 0 } else { view.sizes[group] };
            (found.risk, rows)
        })
        .reduce(|| (f64::NEG_INFINITY, 0), |a, b| (a.0.max(b.0), a.1 + b.1));
    let measured = match asked {
        Asked::Diversity(Diversity::Recursive { .. }) => json!({ "c": finite(worst) }),
        Asked::Diversity(Diversity::Distinct(_)) => json!({ "l": -worst as u64 }),
        Asked::Diversity(Diversity::Entropy(_)) => {
            json!({ "l": finite((-worst).exp()) })
        }
        _ => json!({ "t": finite(worst) }),
    };
    Ok((measured, at_risk))
}

/// A number, or null for one that is too large for any.
pub(super) fn finite(number: f64) -> Value {
    if number.is_finite() { json!(number) } else { Value::Null }
}

/// Reads what was asked.
pub(super) fn asked(note: &PromiseNote) -> Result<Asked> {
    let malformed = |wanted: &str| {
        Error::input(format!(
            "the manifest's promise `{}` is malformed: `asked` has no {wanted}",
            note.name
        ))
    };
    let text = |name: &str| note.asked.get(name).and_then(Value::as_str);
    let whole = |name: &str| {
        let number = note.asked.get(name).and_then(Value::as_u64);
        number
            .filter(|number| *number >= 2)
            .ok_or_else(|| malformed(&format!("whole number `{name}` of at least 2")))
    };
    let decimal = |name: &str, above: u128| {
        let number = note.asked.get(name).and_then(Value::as_f64);
        number
            .and_then(|number| Decimal::from_f64(name, number).ok())
            .filter(|number| number.exceeds(above, 1))
            .ok_or_else(|| malformed(&format!("number `{name}` above {above}")))
    };
    match note.name.as_str() {
        "k-anonymity" => whole("k").map(Asked::K),
        "l-diversity" => match text("kind") {
            Some("distinct") => Ok(Diversity::Distinct(whole("l")?)),
            Some("entropy") => Ok(Diversity::Entropy(decimal("l", 1)?)),
            Some("recursive") => {
                Ok(Diversity::Recursive { l: whole("l")?, c: decimal("c", 0)? })
            }
            _ => Err(malformed("known `kind`")),
        }
        .map(Asked::Diversity),
        "t-closeness" => {
            let distance = match text("distance") {
                Some("equal") => Distance::Equal,
                Some("ordered") => Distance::Ordered,
                Some("hierarchical") => Distance::Hierarchical,
                _ => return Err(malformed("known `distance`")),
            };
            let t = decimal("t", 0)?;
            if t.exceeds(1, 1) {
                return Err(malformed("number `t` of at most 1"));
            }
            Ok(Asked::Closeness(t, distance))
        }
        "delta-presence" => {
            let share = |name: &str| {
                let number = note.asked.get(name).and_then(Value::as_f64);
                number
                    .and_then(|number| Decimal::from_f64(name, number).ok())
                    .filter(|share| !share.exceeds(1, 1))
                    .ok_or_else(|| malformed(&format!("share `{name}` from 0 to 1")))
            };
            let range = Range { min: share("min")?, max: share("max")? };
            let reader = match note.asked.get("adversary") {
                None => Reader::Counting,
                Some(name) if name == "paper" => Reader::Paper,
                Some(_) => return Err(malformed("known `adversary`")),
            };
            Ok(Asked::Presence(range, reader))
        }
        _ => Err(Error::input("the manifest has a promise this program does not know")
            .with_hint("a newer version may know it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &str, asked: Value) -> PromiseNote {
        let (name, certified) = (name.to_owned(), String::new());
        PromiseNote { name, asked, measured: Value::Null, holds: true, certified }
    }

    #[test]
    fn what_is_malformed_is_refused() {
        for (name, value) in [
            ("k-anonymity", json!({})),
            ("k-anonymity", json!({ "k": 1 })),
            ("k-anonymity", json!({ "k": -3 })),
            ("k-anonymity", json!("many")),
            ("l-diversity", json!({ "l": 3 })),
            ("l-diversity", json!({ "l": 1.0, "kind": "entropy" })),
            ("l-diversity", json!({ "l": 2, "kind": "recursive" })),
            ("t-closeness", json!({ "t": 1.5, "distance": "equal" })),
            ("t-closeness", json!({ "t": 0.5, "distance": "long" })),
            ("delta-presence", json!({ "min": 0.1 })),
            ("delta-presence", json!({ "min": 0.1, "max": 1.5 })),
            ("delta-presence", json!({ "min": 0, "max": 1, "adversary": "weak" })),
        ] {
            let error = asked(&note(name, value)).expect_err("malformed").to_string();
            let start = format!("the manifest's promise `{name}` is malformed");
            assert!(error.starts_with(&start), "{error}");
        }
    }

    #[test]
    fn an_unknown_promise_is_refused() {
        let error = asked(&note("x-privacy", json!({}))).expect_err("unknown");
        assert!(error.to_string().contains("does not know"));
    }
}
