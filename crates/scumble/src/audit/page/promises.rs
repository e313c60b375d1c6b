//! What was promised, in sentences.

use std::fmt::Write;

use serde_json::Value;

use crate::audit::attacks::hides_its_search;
use crate::audit::page::words::{self, decimal, share};
use crate::audit::{Checked, Report};
use crate::picture::{Html, Prose};
use crate::release::{Manifest, PromiseNote, Treatment};
use crate::text::grouped;

/// The section on promises.
pub(super) fn section(html: &mut String, manifest: &Manifest, report: &Report) {
    html.push_str("<section>\n<h2>What was promised</h2>\n");
    if report.promises.is_empty() {
        html.push_str("<p>Nothing.</p>\n");
    }
    for (place, checked) in report.promises.iter().enumerate() {
        let (class, word) = if checked.holds {
            ("good", "holds".to_owned())
        } else {
            ("bad", format!("does not hold: {} at risk", at_risk(checked)))
        };
        let note = manifest.promises.get(place);
        let columns = note.map_or_else(String::new, |note| note.columns.join(", "));
        let certified = match note.map_or("", |note| &note.certified) {
            "" => "recomputed from the published rows",
            given => given,
        };
        let _ = write!(
            html,
            "<article>\n<h3>{} <span class=\"tag {class}\">{}</span></h3>\n<p>{}</p>\n\
             <dl><dt>columns</dt><dd>{}</dd><dt>asked</dt><dd>{}</dd>\
             <dt>measured</dt><dd>{}</dd><dt>certified</dt><dd>{}</dd></dl>\n</article>\n",
            Html(&checked.name),
            Html(&word),
            Html(&sentence(checked, note, manifest).unwrap_or_default()),
            Html(&columns),
            Html(&words::parameters(&checked.asked)),
            Html(&words::parameters(&checked.measured)),
            Prose(certified),
        );
    }
    html.push_str("</section>\n");
}

/// Who is at risk, if a promise does not hold.
fn at_risk(checked: &Checked) -> String {
    match checked.name.as_str() {
        "delta-presence" => words::people(checked.rows_at_risk),
        _ => words::rows(checked.rows_at_risk),
    }
}

/// A promise as a sentence; nothing if it is not known.
fn sentence(
    checked: &Checked,
    note: Option<&PromiseNote>,
    manifest: &Manifest,
) -> Option<String> {
    let about = |kind: fn(&Treatment) -> bool| {
        let mut names = note.into_iter().flat_map(|note| &note.columns);
        names.any(|name| manifest.column(name).is_some_and(|c| kind(&c.treatment)))
    };
    let apart = about(|treatment| *treatment == Treatment::Apart);
    let column = note.and_then(|note| note.columns.first());
    let method = &*manifest.method_of(column.map_or("", String::as_str)).name;
    let asked = |name: &str| match checked.asked.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(n)) if apart => decimal(n.as_f64().unwrap_or(0.0)),
        Some(value) => value.to_string(),
        None => "?".to_owned(),
    };
    let number = |name: &str| checked.asked.get(name).and_then(Value::as_f64);
    let part = |name: &str| number(name).map_or_else(|| "?".into(), share);
    let (among, values) = match apart {
        true => ("In a group", "The sensitive values of a group"),
        false => (
            "Among rows that cannot be told apart",
            "Sensitive values of rows that cannot be told apart",
        ),
    };
    Some(match checked.name.as_str() {
        "k-anonymity" => format!(
            "Somebody who knows the quasi values of a person finds{} at least {} {}.",
            if manifest.person.is_some() { " rows of" } else { "" },
            asked("k"),
            match manifest.person {
                Some(_) => "different people among those that could be theirs",
                None => "rows that could be theirs",
            },
        ),
        "k-map" => format!(
            "Somebody who knows the quasi values of a person, and not who is in the table, \
             finds at least {} people of the population whose row each published row could \
             be.",
            asked("k")
        ),
        "l-diversity" => match asked("kind").as_str() {
            "distinct" if apart && method == "anatomy" => format!(
                "No sensitive value has more than 1 in {} of the rows of a group. Somebody who \
                 learns from all groups together how values depend on the other columns can be \
                 surer than that.",
                asked("l")
            ),
            "distinct" => format!(
                "{} at least {} different sensitive values.",
                match apart {
                    true => "Every group has",
                    false => "Rows that cannot be told apart have",
                },
                asked("l")
            ),
            "entropy" => format!(
                "{values} are spread at least as evenly as {} equally common ones (by \
                 entropy).",
                asked("l")
            ),
            _ => format!(
                "{among}, the commonest sensitive value occurs less than {} times as often \
                 as all from the {}. commonest on together.",
                asked("c"),
                asked("l")
            ),
        },
        "t-closeness" => format!(
            "{} are spread as in the whole release, up to a distance of {} (values \
             compared {}).",
            match apart {
                true => values.to_owned(),
                false => format!("{among}, sensitive values"),
            },
            asked("t"),
            match asked("distance").as_str() {
                "ordered" => "in their order",
                "hierarchical" => "along their hierarchy",
                _ => "all alike",
            }
        ),
        "beta-likeness" => format!(
            "{among}, no sensitive value’s share is above its share in the whole release by \
             more than {} times the latter{}.",
            asked("beta"),
            match asked("form").as_str() {
                "enhanced" => {
                    ", nor by more than minus the logarithm of the latter times it: so \
                     nobody can be certain of a value that not all rows have"
                }
                _ => "",
            }
        ),
        "delta-disclosure" => format!(
            "{among}, every sensitive value of the release occurs, and is less than {} times \
             as common as in the whole release, and more than one part in so many as common \
             (a factor of e to the {}).",
            decimal(number("delta").unwrap_or(0.0).exp()),
            asked("delta")
        ),
        "r-robustness" => robust(checked, &asked("r")),
        "delta-presence" => format!(
            "Somebody who holds the whole population and this release, and takes every table \
             that could have given it for equally likely, believes of everybody in the \
             population that they are in the table with a probability from {} to {}. {}{}",
            part("min"),
            part("max"),
            match hides_its_search(manifest) {
                true => {
                    "That is so, too, for somebody who knows how the groups were found: which \
                     was decided by coins and by what is public."
                }
                false => {
                    "How much more somebody learns who knows how the release was searched for \
                     is told below (reversal)."
                }
            },
            match checked.asked.get("adversary") {
                Some(_) => {
                    " This is promised only against readers who do not see that weights are \
                     counts."
                }
                None => "",
            }
        ),
        "breach" | "fine-grain" => {
            let both = asked("kind") == "both";
            // Sub-tables are made for one adversary.
            let whom = match method {
                "partitioned-perturbation" => {
                    "Of somebody whose belief before is how common a value is, and whichever \
                     value is published of a person:"
                }
                _ => {
                    "Whatever somebody believed about a person before, and whichever value is \
                     published of them:"
                }
            };
            let (how, down) = match number("factor") {
                _ if checked.name == "breach" => {
                    let [prior, posterior] =
                        ["prior", "posterior"].map(|of| share(number(of).unwrap_or(0.0)));
                    (
                        format!(
                            "a belief of at most {prior} in a protected value does not rise \
                             above {posterior}"
                        ),
                        format!(
                            ", and one of at least {posterior} does not fall below {prior}"
                        ),
                    )
                }
                factor => (
                    match factor {
                        Some(factor) => format!(
                            "a belief in a value of at most its share in the table does not \
                             rise above {factor} times that"
                        ),
                        None => "a belief in a value does not rise above the bound that the \
                                 manifest lists for it"
                            .to_owned(),
                    },
                    ", and one above the bound does not fall below where it began"
                        .to_owned(),
                ),
            };
            format!("{whom} {how}{}.", if both { down } else { String::new() })
        }
        "expected-anonymity" => {
            let k = match checked.asked.get("k")? {
                Value::String(name) => format!("as many people as “{name}” says"),
                value => format!("{} people", value.as_f64().map(decimal)?),
            };
            match about(|treatment| *treatment == Treatment::Redrawn) {
                true => {
                    format!(
                        "Groups of rows that are drawn anew have at least {k} each."
                    )
                }
                false => blurred(&k, manifest)?,
            }
        }
        _ => return None,
    })
}

/// r-robustness in words, and how it was certified.
fn robust(checked: &Checked, r: &str) -> String {
    let from = match checked.asked.get("knowledge").and_then(Value::as_str) {
        Some("table") => format!(
            "Such knowledge was counted from the table itself; where fewer than {} rows \
             have the same values, from coarser ones.",
            checked.asked.get("support").and_then(Value::as_u64).unwrap_or(0)
        ),
        _ => "Such knowledge was taken from a file.".to_owned(),
    };
    let measured = |name: &str| checked.measured.get(name).and_then(Value::as_u64);
    let certified = match (checked.holds, measured("groups").zip(measured("exact"))) {
        (true, Some((groups, exact))) if groups == exact => {
            " That was certified over all possible worlds of every group.".to_owned()
        }
        (true, Some((groups, exact))) => format!(
            " That was certified over all possible worlds of {} of {} groups; the others \
             are too large for it, and of them it holds only against somebody who tells \
             having a value from not having it, one value at a time.",
            grouped(exact),
            grouped(groups)
        ),
        _ => String::new(),
    };
    format!(
        "Nobody who knows how values depend on {}, and nothing else, can be surer than 1 in \
         {r} of anybody’s value. {from}{certified}",
        sets(checked.asked.get("signatures")).unwrap_or_else(|| "?".to_owned())
    )
}

/// Sets of columns, as in "“sex”, or on “age” and “sex”".
fn sets(signatures: Option<&Value>) -> Option<String> {
    let name = |name: &Value| Some(format!("“{}”", name.as_str()?));
    let set = |set: &Value| -> Option<String> {
        let names: Vec<String> =
            set.as_array()?.iter().map(name).collect::<Option<_>>()?;
        Some(names.join(" and "))
    };
    let sets = signatures?.as_array()?.iter().map(set);
    Some(sets.collect::<Option<Vec<_>>>()?.join(", or on "))
}

/// The promise of noisy numbers: hidden among `k`.
fn blurred(k: &str, manifest: &Manifest) -> Option<String> {
    let note = manifest.blur()?;
    let company = match note.strict {
        true => {
            " Only people count whose rows have the same exact cells, frame and level, as \
             these can be computed from the table."
        }
        false => {
            " All people count, also those who would have been published with another \
             spread: somebody who computes spreads from the table can tell them apart, and \
             is not promised against."
        }
    };
    let guess = match note.best_guess {
        Some(bound) => format!(
            " The one who fits best is the true one with a probability of at most {}, for \
             everybody.",
            share(bound)
        ),
        None => String::new(),
    };
    Some(format!(
        "Somebody who holds the original table and ranks its people by how well they fit a \
         published row finds, on average over the noise, at least {k} who fit as well as the \
         true one, that one included.{company}{guess}"
    ))
}
