//! Buckets: what was promised of groups, what attacks found, and how columns are published.

use serde_json::Value;

use crate::audit::page::words::{decimal, share};
use crate::audit::{Attacked, Checked};
use crate::release::Manifest;
use crate::text::grouped;

/// A promise of values apart as a sentence; nothing if it is another one.
pub(super) fn promise(checked: &Checked, manifest: &Manifest) -> Option<String> {
    let asked = |name: &str| match checked.asked.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.as_f64().map_or_else(|| value.to_string(), decimal),
        None => "?".to_owned(),
    };
    let sentence = match checked.name.as_str() {
        "l-diversity" => match asked("kind").as_str() {
            "distinct" if manifest.method.name == "anatomy" => format!(
                "No sensitive value has more than 1 in {} of the rows of a group.",
                asked("l")
            ),
            "distinct" => format!(
                "Every group has at least {} different sensitive values.",
                asked("l")
            ),
            "entropy" => format!(
                "The sensitive values of a group are spread at least as evenly as {} \
                 equally common ones (by entropy).",
                asked("l")
            ),
            _ => format!(
                "In a group, the commonest sensitive value occurs less than {} times as \
                 often as all from the {}. commonest on together.",
                asked("c"),
                asked("l")
            ),
        },
        "t-closeness" => format!(
            "The sensitive values of a group are spread as in the whole release, up to a \
             distance of {} (values compared {}).",
            asked("t"),
            match asked("distance").as_str() {
                "ordered" => "in their order",
                "hierarchical" => "along their hierarchy",
                _ => "all alike",
            }
        ),
        "r-robustness" => robust(checked, &asked("r")),
        _ => return None,
    };
    Some(sentence)
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
    let (groups, exact) = (measured("groups"), measured("exact"));
    let certified = match (checked.holds, groups.zip(exact)) {
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
    let set = |set: &Value| {
        let names = set.as_array()?.iter().map(Value::as_str);
        let names: Vec<&str> = names.collect::<Option<_>>()?;
        let quoted: Vec<String> =
            names.iter().map(|name| format!("“{name}”")).collect();
        Some(quoted.join(" and "))
    };
    let sets: Vec<String> =
        signatures?.as_array()?.iter().map(set).collect::<Option<_>>()?;
    Some(sets.join(", or on "))
}

/// What an attack on values apart found out; nothing if it is another one.
pub(super) fn attack(attack: &Attacked) -> Option<String> {
    let detail = |name: &str| attack.detail.get(name);
    let part = |name: &str| detail(name).and_then(Value::as_f64).unwrap_or(0.0);
    let count = |name: &str| detail(name).and_then(Value::as_u64).unwrap_or(0);
    let text = |name: &str| detail(name).and_then(Value::as_str).unwrap_or("");
    let sentence = match attack.name.as_str() {
        "background-knowledge" => format!(
            "Knows how values of “{}” depend on quasi columns, and adds up the possible \
             worlds of each group. The best such knowledge is by “{}”.{}{}",
            text("column"),
            text("set"),
            match detail("above") {
                None => String::new(),
                Some(_) => format!(
                    " Of {} of all people something is believed with more than {}.",
                    match part("above") {
                        0.0 => "none".to_owned(),
                        above => share(above),
                    },
                    share(part("bound"))
                ),
            },
            limits(count("binary"), count("skipped"), count("impossible")),
        ),
        "homogeneity" => format!(
            "Guesses the commonest value of each person’s group. {}",
            match part("certain") {
                0.0 => "About nobody is the attacker certain.".to_owned(),
                certain => format!(
                    "About {} of all people the attacker is certain.",
                    share(certain)
                ),
            }
        ),
        "corruption" => {
            let worst = |known: &str| {
                let found =
                    detail("known").and_then(|all| all.get(known)?.get("worst"));
                share(found.and_then(Value::as_f64).unwrap_or(1.0))
            };
            format!(
                "Knows the value of another member of the group, and takes it out. Who knows \
                 two others can be {} sure of somebody, who knows three others {}; {} The promise \
                 does not cover that.",
                worst("2"),
                worst("3"),
                match count("certain_after") {
                    0 => "of somebody the attacker is certain without.".to_owned(),
                    1 => "one other can be enough to be certain.".to_owned(),
                    n => format!("{} others can be enough to be certain.", grouped(n)),
                }
            )
        }
        _ => return None,
    };
    Some(sentence)
}

/// What the background-knowledge attack could not follow to the end.
fn limits(binary: u64, skipped: u64, impossible: u64) -> String {
    let groups = |n: u64| match n {
        1 => "1 group".to_owned(),
        n => format!("{} groups", grouped(n)),
    };
    let mut text = String::new();
    if binary > 0 {
        text += &format!(
            " Of {} each value was looked at alone, as all worlds are too many.",
            groups(binary)
        );
    }
    if skipped > 0 {
        text += &format!(" {} could not be looked at.", groups(skipped));
    }
    if impossible > 0 {
        text += &format!(" In {} the knowledge cannot be right.", groups(impossible));
    }
    text
}
