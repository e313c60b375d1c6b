//! Numbers, promises, attacks, losses and columns in plain words.

use serde_json::Value;

use crate::audit::page::{blur, buckets, randomized};
use crate::audit::{Attacked, Checked};
use crate::release::{Manifest, PromiseNote, Treatment};
use crate::text::{counted, decimals, grouped};

/// "1 row", "2 rows".
pub(super) fn rows(n: u64) -> String {
    counted(n, "row")
}

/// "1 person", "2 people".
pub(super) fn people(n: u64) -> String {
    if n == 1 { "1 person".to_owned() } else { format!("{} people", grouped(n)) }
}

/// A share in percent, never rounded to nothing or to all.
pub(super) fn share(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        p if p <= 0.0 => "0%".to_owned(),
        p if p >= 100.0 => "100%".to_owned(),
        p if p < 0.001 => "below 0.001%".to_owned(),
        p if p < 0.1 => format!("{p:.3}%"),
        p if p < 1.0 => format!("{p:.2}%"),
        p if p < 99.9 => format!("{p:.1}%"),
        p if p < 99.999 => format!("{p:.3}%"),
        _ => "above 99.999%".to_owned(),
    }
}

/// A promise as a sentence.
pub(super) fn promise(
    checked: &Checked,
    note: Option<&PromiseNote>,
    manifest: &Manifest,
) -> String {
    let asked = |name: &str| match checked.asked.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "?".to_owned(),
    };
    let part = |name: &str| {
        checked
            .asked
            .get(name)
            .and_then(Value::as_f64)
            .map_or_else(|| "?".into(), share)
    };
    let about = |kind: fn(&Treatment) -> bool| {
        let mut names = note.into_iter().flat_map(|note| &note.columns);
        names.any(|name| manifest.column(name).is_some_and(|c| kind(&c.treatment)))
    };
    if about(|treatment| *treatment == Treatment::Apart)
        && let Some(sentence) = buckets::promise(checked, manifest)
    {
        return sentence;
    }
    match checked.name.as_str() {
        "expected-anonymity" => match about(|t| *t == Treatment::Redrawn) {
            true => blur::redrawn(checked),
            false => blur::promise(checked, manifest),
        }
        .unwrap_or_default(),
        "k-anonymity" => format!(
            "Whoever knows the quasi values of a person finds at least {} rows that could \
             be theirs.",
            asked("k")
        ),
        "l-diversity" => match asked("kind").as_str() {
            "distinct" => format!(
                "Rows that cannot be told apart have at least {} different sensitive \
                 values.",
                asked("l")
            ),
            "entropy" => format!(
                "Sensitive values of rows that cannot be told apart are spread at least as \
                 evenly as {} equally common ones (by entropy).",
                asked("l")
            ),
            _ => format!(
                "Among rows that cannot be told apart, the commonest sensitive value occurs \
                 less than {} times as often as all from the {}. commonest on together.",
                asked("c"),
                asked("l")
            ),
        },
        "t-closeness" => {
            let how = match asked("distance").as_str() {
                "ordered" => "in their order",
                "hierarchical" => "along their hierarchy",
                _ => "all alike",
            };
            format!(
                "Among rows that cannot be told apart, sensitive values are spread as in \
                 the whole release, up to a distance of {} (values compared {how}).",
                asked("t")
            )
        }
        "delta-presence" => format!(
            "Whoever holds the whole population and this release, and takes every table that \
             could have given it for equally likely, believes of everybody in the population \
             that they are in the table with a probability from {} to {}. How much more \
             somebody learns who knows how the release was searched for is told below \
             (reversal).{}",
            part("min"),
            part("max"),
            if checked.asked.get("adversary").is_some() {
                " This is promised only against readers who do not see that weights are \
                 counts."
            } else {
                ""
            }
        ),
        _ => randomized::promise(checked, manifest).unwrap_or_default(),
    }
}

/// Who is at risk, if a promise does not hold.
pub(super) fn at_risk(checked: &Checked) -> String {
    match checked.name.as_str() {
        "delta-presence" => people(checked.rows_at_risk),
        _ => rows(checked.rows_at_risk),
    }
}

/// Parameters as "k = 5, distinct".
pub(super) fn parameters(value: &Value) -> String {
    let shown = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            decimal(number.as_f64().unwrap_or(0.0))
        }
        Value::Null => "without bound".to_owned(),
        Value::Array(sets) => listed(sets),
        other => other.to_string(),
    };
    match value {
        Value::Object(map) => {
            let parts: Vec<String> = map
                .iter()
                .map(|(name, value)| match value {
                    Value::String(word) if name == "kind" => word.clone(),
                    Value::String(word) if name == "noise" => word.clone(),
                    _ if name == "amplification" => {
                        format!(
                            "amplification = {} (1 is the most allowed)",
                            shown(value)
                        )
                    }
                    _ => {
                        format!("{} = {}", name.replace(['_', '-'], " "), shown(value))
                    }
                })
                .collect();
            parts.join(", ")
        }
        other => shown(other),
    }
}

/// A list of words or of lists, as in "sex; age + sex".
fn listed(sets: &[Value]) -> String {
    let set = |set: &Value| match set {
        Value::Array(names) => names
            .iter()
            .map(|name| name.as_str().unwrap_or("?").to_owned())
            .collect::<Vec<_>>()
            .join(" + "),
        Value::String(word) => word.clone(),
        other => other.to_string(),
    };
    sets.iter().map(set).collect::<Vec<_>>().join("; ")
}

/// At most four decimals, without noughts behind.
pub(super) fn decimal(value: f64) -> String {
    decimals(value, 4)
}

/// What an attack found out.
pub(super) fn attack(attack: &Attacked, manifest: &Manifest) -> String {
    let detail = |name: &str| attack.detail.get(name);
    let part = |name: &str| detail(name).and_then(Value::as_f64).unwrap_or(0.0);
    let column = detail("column").and_then(Value::as_str).unwrap_or("");
    let apart =
        manifest.column(column).is_some_and(|c| c.treatment == Treatment::Apart);
    match attack.name.as_str() {
        "homogeneity" | "corruption" if apart => {
            buckets::attack(attack).unwrap_or_default()
        }
        "background-knowledge" => buckets::attack(attack).unwrap_or_default(),
        "calibration" | "rank" | "best-guess" => {
            blur::attack(attack, manifest).unwrap_or_default()
        }
        "linkage" => {
            let smallest = detail("smallest").and_then(Value::as_u64).unwrap_or(0);
            format!(
                "Picks the row of a person among those that fit. Nobody has fewer than {} \
                 that fit{}.",
                rows(smallest),
                match part("alone") {
                    0.0 => String::new(),
                    alone =>
                        format!("; {} of all people have a single one", share(alone)),
                }
            )
        }
        "homogeneity" => {
            format!(
                "Guesses the commonest sensitive value among the rows that fit; it helps \
                 most for “{column}”. {}",
                match part("certain") {
                    0.0 => "About nobody is the attacker certain.".to_owned(),
                    certain => {
                        format!(
                            "About {} of all people the attacker is certain.",
                            share(certain)
                        )
                    }
                }
            )
        }
        "presence" => format!(
            "Holds the population, and says who of it is in the table from how many people \
             fit each group. {} {}",
            believed(attack),
            certain(attack),
        ),
        "counting" => format!(
            "Does the same and takes weights for the counts they are: only those people can \
             be in the table who together have these counts. {} {}{}",
            believed(attack),
            certain(attack),
            match detail("bounded").and_then(Value::as_u64) {
                None | Some(0) => String::new(),
                Some(n) => format!(
                    " In {} the counts were too many to be followed to the end.",
                    if n == 1 {
                        "1 group".into()
                    } else {
                        format!("{} groups", grouped(n))
                    }
                ),
            },
        ),
        "reversal" => format!(
            "Holds the population, looks at published groups without their weights, and knows \
             how the release was searched for: that a finer one must have broken a promise. {} \
             For {} that is outside of the promised range, which does not cover this attack. \
             {}{}",
            believed(attack),
            match detail("outside").and_then(Value::as_u64).unwrap_or(0) {
                0 => "nobody".to_owned(),
                n => people(n),
            },
            certain(attack),
            match detail("skipped").and_then(Value::as_u64) {
                None | Some(0) => "",
                Some(_) => " Not everything could be looked at.",
            },
        ),
        _ => randomized::attack(attack, manifest).unwrap_or_default(),
    }
}

/// Between which probabilities presence is believed.
fn believed(attack: &Attacked) -> String {
    let of =
        |name: &str| attack.detail.get(name).and_then(Value::as_f64).unwrap_or(0.0);
    format!(
        "They are believed to be there with probabilities from {} to {}.",
        share(of("smallest")),
        share(of("largest"))
    )
}

/// About how many people an attacker is certain.
fn certain(attack: &Attacked) -> String {
    match attack.detail.get("certain").and_then(Value::as_u64).unwrap_or(0) {
        0 => "The attacker is certain about nobody.".to_owned(),
        n => format!("The attacker is certain about {}.", people(n)),
    }
}

/// A loss and what it says.
pub(super) fn loss(name: &str, value: f64) -> (String, &'static str) {
    let whole = || grouped(value.max(0.0).round() as u64);
    // The loss of one column ends in its name.
    match name.split_once('.').map_or(name, |(loss, _)| loss) {
        "loss" => {
            (share(value), "how much of its column's range a cell covers, on average")
        }
        "precision" => {
            (share(value), "how far up its hierarchy a cell stands, on average")
        }
        "discernibility" => (
            whole(),
            "the sum over all rows of how many rows each cannot be told apart from",
        ),
        "average-group" => (
            decimal(value),
            "rows in a group on average, left-out rows counted as one group",
        ),
        "record-utility" => (
            share(value),
            "how many rows keep their value, to be expected; more is better",
        ),
        // Estimates can be off by more than all there is.
        "reconstruction-error" => (
            format!("{:.1}%", 100.0 * value),
            "how far counts estimated from the release are off, on average over values",
        ),
        "spread" => (
            decimal(value),
            "how wide the noise is on average, in standard deviations of its column",
        ),
        "surprise" => (
            decimal(value),
            "surprise at a true value for somebody who sees its group, on average (nats)",
        ),
        "kl" => (whole(), "surprise at the true values, in sum (nats)"),
        "entropy" => (whole(), "bits hidden in cells, in sum"),
        _ => (decimal(value), ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_never_rounded_to_nothing_or_all() {
        let shown = [0.0, 1e-9, 0.0004, 0.25, 0.9999999, 1.0].map(share);
        let wanted = ["0%", "below 0.001%", "0.040%", "25.0%", "above 99.999%", "100%"];
        assert_eq!(shown, wanted);
    }
}
