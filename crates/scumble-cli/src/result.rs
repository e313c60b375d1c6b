//! The result of publishing or auditing, as JSON and as text.

use scumble::audit::{
    AtRisk, Attacked, Checked, NotApplicable, Report, RiskBands, Width,
};
use scumble::release::Manifest;
use scumble::watch::Stage;
use serde_json::{Value, json};

use crate::output::{aligned, percent, short};
use crate::progress::stage_name;

/// The version of the JSON that commands print.
pub(crate) const SCHEMA: u32 = 1;

/// What `publish --json` and `audit --json` have in common.
pub(crate) fn as_json(
    manifest: &Manifest,
    report: &Report,
    seconds: &[(Stage, f64)],
) -> Value {
    let attacks = report.attacks.iter().map(attack_json);
    let attacks = attacks.chain(report.not_applicable.iter().map(not_applicable_json));
    let promises = report.promises.iter().map(promise_json);
    let promises = promises.chain(report.undecided.iter().map(undecided_json));
    let seconds = seconds.iter().map(|(stage, time)| (stage_name(*stage), json!(time)));
    json!({
        "schema": SCHEMA,
        "rows": report.rows,
        "left_out": manifest.left_out,
        "method": manifest.method,
        "promises": promises.collect::<Value>(),
        "attacks": attacks.collect::<Value>(),
        "loss": report.loss,
        "groups": report.group_sizes.iter().map(|(_, n)| n).sum::<u64>(),
        "risks": report.risks.iter().map(risk_json).collect::<Value>(),
        "reidentification": report.reidentification().map(|found| json!({
            "prosecutor": { "highest": found.highest, "average": found.average,
                "at_risk": found.at_risk, "unique": found.unique },
            "marketer": { "average": found.average },
        })),
        "widths": report.widths.iter().map(width_json).collect::<Value>(),
        "seconds": seconds.collect::<Value>(),
    })
}

/// People by how far up their risk goes: `[up to, people]`. The last are those of whom
/// something is certain, the one before less than that.
fn risk_json(risk: &RiskBands) -> Value {
    let bands: Vec<Value> = RiskBands::ENDS
        .iter()
        .zip(&risk.people)
        .map(|(end, n)| json!([end, n]))
        .collect();
    let mut object = json!({ "what": risk.what.name() });
    if let AtRisk::Value(column) = &risk.what {
        object["column"] = json!(column);
    }
    object["people"] = bands.into();
    object["sampled"] = json!(risk.sampled);
    object
}

/// Rows by how much of the column their cell stands for: `[up to, rows]`, the last all.
fn width_json(width: &Width) -> Value {
    let bands: Vec<Value> =
        Width::ENDS.iter().zip(&width.rows).map(|(end, n)| json!([end, n])).collect();
    json!({ "column": width.column, "rows": bands })
}

fn promise_json(promise: &Checked) -> Value {
    json!({
        "name": promise.name,
        "asked": promise.asked,
        "measured": promise.measured,
        "holds": promise.holds,
        "rows_at_risk": promise.rows_at_risk,
    })
}

fn attack_json(attack: &Attacked) -> Value {
    let Attacked { name, success, chance, worst, .. } = attack;
    let mut object =
        json!({ "name": name, "success": success, "chance": chance, "worst": worst });
    attack.detail.iter().for_each(|(key, value)| object[key] = value.clone());
    object
}

fn undecided_json(promise: &NotApplicable) -> Value {
    json!({ "name": promise.name, "holds": null, "needs_original": promise.reason })
}

fn not_applicable_json(attack: &NotApplicable) -> Value {
    json!({ "name": attack.name, "not_applicable": attack.reason })
}

/// The promises as a table.
pub(crate) fn promises_text(report: &Report) -> String {
    let heading = ["promise", "asked", "measured", "holds"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for promise in &report.promises {
        let holds = if promise.holds {
            "yes".to_owned()
        } else {
            format!("NO, {} rows at risk", promise.rows_at_risk)
        };
        rows.push(vec![
            promise_name(&report.promises, promise),
            parameters(&promise.asked),
            parameters(&promise.measured),
            holds,
        ]);
    }
    aligned(&rows)
}

/// The name of one of these promises; if others are called so, with its columns.
fn promise_name(promises: &[Checked], promise: &Checked) -> String {
    let mut again = promises.iter().filter(|other| other.name == promise.name);
    match again.any(|other| other.columns != promise.columns) {
        true => format!("{} ({})", promise.name, promise.columns.join(", ")),
        false => promise.name.clone(),
    }
}

/// `{"l": 3, "kind": "distinct"}` as "l = 3, distinct".
pub(crate) fn parameters(value: &Value) -> String {
    let Value::Object(object) = value else { return value.to_string() };
    let words: Vec<String> = object
        .iter()
        .map(|(key, value)| match value {
            Value::String(column) if key == "k" => format!("k = column `{column}`"),
            Value::String(word) => word.clone(),
            Value::Number(number) => {
                format!("{key} = {}", number.as_f64().map_or(number.to_string(), short))
            }
            Value::Array(sets) if key == "signatures" => {
                let sets: Vec<String> = sets.iter().map(set_text).collect();
                format!("by {}", sets.join(" or "))
            }
            other => format!("{key} = {other}"),
        })
        .collect();
    words.join(", ")
}

/// `["age", "sex"]` as "age with sex".
fn set_text(set: &Value) -> String {
    let columns = set.as_array().into_iter().flatten().filter_map(Value::as_str);
    columns.collect::<Vec<&str>>().join(" with ")
}

/// The attacks as a table.
pub(crate) fn attacks_text(report: &Report) -> String {
    if report.attacks.is_empty() {
        return String::new();
    }
    let heading = ["attack", "people hit", "by chance", "surest guess"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for attack in &report.attacks {
        let name = attack_name(&report.attacks, attack);
        let skipped = attack.detail.get("skipped").and_then(Value::as_u64);
        if attack.name == "background-knowledge"
            && skipped.unwrap_or(0) > 0
            && looked_at(attack) == 0
        {
            rows.push(vec![name, "not tried".into(), String::new(), String::new()]);
            continue;
        }
        rows.push(vec![
            name,
            percent(attack.success),
            percent(attack.chance),
            surest(attack),
        ]);
    }
    aligned(&rows)
}

/// The name of one of these attacks; tried on several columns, with its column.
pub(crate) fn attack_name(attacks: &[Attacked], attack: &Attacked) -> String {
    let again = attacks.iter().filter(|other| other.name == attack.name);
    let column = attack.detail.get("column").and_then(Value::as_str);
    match column.filter(|_| again.count() > 1) {
        Some(column) => format!("{} ({column})", attack.name),
        None => attack.name.clone(),
    }
}

/// The promises that could not be decided.
pub(crate) fn undecided_text(report: &Report) -> String {
    let lines = report.undecided.iter();
    let lines = lines.map(|NotApplicable { name, reason }| {
        format!("{name}: needs the original ({reason})\n")
    });
    lines.collect()
}

/// The attacks that do not apply, those with the same reason together.
pub(crate) fn not_tried_text(report: &Report) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for NotApplicable { name, reason } in &report.not_applicable {
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    let lines = reasons
        .iter()
        .map(|(reason, names)| format!("not tried: {} ({reason})\n", names.join(", ")));
    let text: String = lines.collect();
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// How many groups an attack by knowledge looked at.
pub(crate) fn looked_at(attack: &Attacked) -> u64 {
    let number =
        |key: &str| attack.detail.get(key).and_then(Value::as_u64).unwrap_or(0);
    number("exact") + number("binary") + number("impossible")
}

/// The most certain guess; about presence, both ways.
pub(crate) fn surest(attack: &Attacked) -> String {
    let number = |key: &str| attack.detail.get(key).and_then(Value::as_f64);
    match (number("smallest"), number("largest")) {
        (Some(smallest), Some(largest)) => {
            format!("in {}, out {}", percent(largest), percent(1.0 - smallest))
        }
        _ => percent(attack.worst),
    }
}

/// The losses in one line.
pub(crate) fn loss_text(report: &Report) -> String {
    let words: Vec<String> = report
        .loss
        .iter()
        .map(|(name, value)| format!("{name} {}", short(*value)))
        .collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_of_one_kind_are_told_apart_by_their_columns() {
        let promise = |name: &str, column: &str| Checked {
            name: name.to_owned(),
            columns: vec![column.to_owned()],
            asked: json!({}),
            measured: json!({}),
            holds: true,
            rows_at_risk: 0,
        };
        let all = [
            promise("l-diversity", "ill"),
            promise("l-diversity", "hiv"),
            promise("breach", "cost"),
        ];
        let names = all.each_ref().map(|one| promise_name(&all, one));
        assert_eq!(names, ["l-diversity (ill)", "l-diversity (hiv)", "breach"]);
    }
}
