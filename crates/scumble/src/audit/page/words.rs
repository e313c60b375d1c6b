//! Numbers, parameters and losses in plain words.

use serde_json::Value;

use crate::text::{counted, decimals, grouped};

/// "1 row", "2 rows".
pub(super) fn rows(n: u64) -> String {
    counted(n, "row")
}

/// "1 group", "2 groups".
pub(super) fn groups(n: u64) -> String {
    counted(n, "group")
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
    let named = |(name, value): (&String, &Value)| match value {
        Value::String(word) if name == "kind" || name == "noise" => word.clone(),
        _ if name == "amplification" => {
            format!("amplification = {} (1 is the most allowed)", shown(value))
        }
        _ => format!("{} = {}", name.replace(['_', '-'], " "), shown(value)),
    };
    match value {
        Value::Object(map) => map.iter().map(named).collect::<Vec<_>>().join(", "),
        other => shown(other),
    }
}

/// A list of words or of lists, as in "sex; age + sex".
fn listed(sets: &[Value]) -> String {
    let set = |set: &Value| match set {
        Value::Array(names) => {
            let names = names.iter().map(|name| name.as_str().unwrap_or("?"));
            names.collect::<Vec<_>>().join(" + ")
        }
        Value::String(word) => word.clone(),
        other => other.to_string(),
    };
    sets.iter().map(set).collect::<Vec<_>>().join("; ")
}

/// At most four decimals, without zeros behind.
pub(super) fn decimal(value: f64) -> String {
    decimals(value, 4)
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
