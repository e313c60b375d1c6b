//! What was found, as JSON.

use scumble::Manifest;
use scumble::audit::{AtRisk, Attacked, Checked, NotApplicable, Report};
use scumble::estimate::{Basis, Estimate, Measure, Query};
use serde_json::{Map, Value, json};

/// The report of an audit.
pub(crate) fn report_json(manifest: &Manifest, report: &Report) -> Value {
    let attacks = report.attacks.iter().map(attack_json);
    let attacks = attacks.chain(report.not_applicable.iter().map(not_applicable_json));
    let promises = report.promises.iter().map(promise_json);
    let promises = promises.chain(report.undecided.iter().map(undecided_json));
    let risks = report.risks.iter().map(|risk| {
        let column = match &risk.what {
            AtRisk::Value(column) => Some(column),
            _ => None,
        };
        json!({
            "what": risk.what.name(), "column": column, "people": risk.people,
            "sampled": risk.sampled,
        })
    });
    json!({
        "rows": report.rows,
        "left_out": manifest.left_out,
        "holds": report.holds() && report.undecided.is_empty(),
        "promises": promises.collect::<Value>(),
        "attacks": attacks.collect::<Value>(),
        "loss": report.loss,
        "groups": report.group_sizes.iter().map(|(_, n)| n).sum::<u64>(),
        "risks": risks.collect::<Value>(),
    })
}

fn promise_json(promise: &Checked) -> Value {
    json!({
        "name": promise.name,
        "columns": promise.columns,
        "asked": promise.asked,
        "measured": promise.measured,
        "holds": promise.holds,
        "rows_at_risk": promise.rows_at_risk,
    })
}

fn undecided_json(promise: &NotApplicable) -> Value {
    json!({ "name": promise.name, "holds": null, "reason": promise.reason })
}

/// An attack that was tried.
pub(crate) fn attack_json(attack: &Attacked) -> Value {
    let Attacked { name, success, chance, worst, .. } = attack;
    let mut object =
        json!({ "name": name, "success": success, "chance": chance, "worst": worst });
    attack.detail.iter().for_each(|(key, value)| object[key] = value.clone());
    object
}

fn not_applicable_json(attack: &NotApplicable) -> Value {
    json!({ "name": attack.name, "not_applicable": attack.reason })
}

/// The answers to one number that was asked for.
pub(crate) fn answer_json(
    name: &str,
    query: &Query,
    estimates: &[Estimate],
    left_out: u64,
) -> Value {
    let measure = match query.measure {
        Measure::Count => "count",
        Measure::Sum(_) => "sum",
        Measure::Mean(_) => "mean",
        Measure::Share(_) => "share",
    };
    let estimates = estimates.iter().map(|estimate| {
        let names = query.group_by.iter().cloned();
        let values: Map<String, Value> =
            names.zip(estimate.values.iter().map(|text| json!(text))).collect();
        let (low, high) = estimate.possible_interval().unzip();
        // Rows that were left out may be of any kind.
        let beyond =
            if query.measure == Measure::Count { left_out as f64 } else { 0.0 };
        let known = |number: f64| number.is_finite().then(|| rounded(number));
        json!({
            "values": values,
            "estimate": rounded(estimate.count),
            "standard_error": estimate.standard_error.map(rounded),
            "low": low.map(rounded),
            "high": high.map(rounded),
            "at_least": known(estimate.at_least),
            "at_most": known(estimate.at_most + beyond),
            "basis": match estimate.basis {
                Basis::Law => "law",
                Basis::Calibrated => "calibrated",
                Basis::Limits => "limits",
            },
        })
    });
    json!({
        "name": name, "measure": measure, "group_by": query.group_by,
        "estimates": estimates.collect::<Vec<Value>>(),
    })
}

/// A number with at most six decimals: further ones are noise of the machine.
fn rounded(number: f64) -> f64 {
    // Minus zero is zero.
    (number * 1e6).round() / 1e6 + 0.0
}
