//! The result of publishing or auditing, as JSON and as text.

use scumble::audit::{
    AtRisk, Attacked, Checked, NotApplicable, Report, RiskBands, Width,
};
use scumble::release::{BucketsNote, Manifest};
use scumble::watch::Stage;
use serde_json::{Value, json};

use crate::output::{aligned, counted, grouped, percent, short};
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
            promise.name.clone(),
            parameters(&promise.asked),
            parameters(&promise.measured),
            holds,
        ]);
    }
    aligned(&rows)
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
fn looked_at(attack: &Attacked) -> u64 {
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

/// What the attacks found that a steward must know before handing the release out.
pub(crate) fn warnings(manifest: &Manifest, report: &Report) -> Vec<String> {
    let number = |attack: &str, key: &str| {
        let attack = report.attacks.iter().find(|known| known.name == attack)?;
        attack.detail.get(key)?.as_u64()
    };
    let people = |n: u64| counted(n, "person").replace("persons", "people");
    let certain = |attack: &str, is: &str| match number(attack, "certain") {
        Some(certain @ 1..) => format!(", and {is} certain about {}", people(certain)),
        _ => String::new(),
    };
    let at_least = |attack: &str| {
        let mut own = report.attacks.iter().filter(|known| known.name == attack);
        let bound = |attack: &Attacked| {
            attack.detail.get("at_least") == Some(&Value::Bool(true))
        };
        if own.any(bound) { "at least " } else { "" }
    };
    let mut warnings = Vec::new();
    if let Some(outside @ 1..) = number("reversal", "outside") {
        warnings.push(format!(
            "somebody who knows how this release was searched for can place {}{} outside the range of \
             delta-presence{}. The promise does not cover that, except with \
             `looks = \"coins\"`",
            at_least("reversal"),
            people(outside),
            certain("reversal", "be"),
        ));
    }
    if let Some(outside @ 1..) = number("minimality", "outside") {
        warnings.push(format!(
            "somebody who knows how this release was searched for and everybody's quasi values \
             believes more of {}{} than is promised of sensitive values{}. The promise does not \
             cover that, except with `mondrian` and `looks = \"coins\"`",
            at_least("minimality"),
            people(outside),
            certain("minimality", "is"),
        ));
    }
    warnings.extend(report.attacks.iter().filter_map(told_by_others));
    let exposed = report.attacks.iter().filter(|known| known.name == "corruption");
    let exposed = exposed.filter_map(|attack| attack.detail.get("exposed")?.as_f64());
    let exposed = exposed.reduce(f64::max);
    if let Some(exposed) = exposed.filter(|exposed| *exposed > 0.0) {
        warnings.push(format!(
            "the bounds in the manifest are shares of values: somebody who knows the value of everybody \
             else can subtract, and is then certain about up to {} of all people, one at a \
             time. The promise does not cover that; bounds from a file that was not made from \
             the table avoid it",
            percent(exposed),
        ));
    } else if manifest
        .method
        .parameters
        .get("weights")
        .is_some_and(|w| w == "frequency")
    {
        warnings.push(
            "the matrix was fitted to how common values are: somebody who knows the value of everybody \
             else may learn the last one from it. `weights = \"even\"` in `fine-grain` avoids \
             that"
                .to_owned(),
        );
    }
    if let (Some(buckets), 1..) = (manifest.buckets().first(), manifest.left_out) {
        let which = match &*manifest.method_of(&buckets.column).name {
            "anatomy" => "the commonest values",
            _ => "the values that are hardest to hide",
        };
        warnings.push(format!(
            "{} were left out, most with one of {which} of `{}`: somebody who knows that a person was in \
             the table, and does not find them, knows that. No attack below looks at them",
            counted(manifest.left_out, "row"),
            buckets.column,
        ));
    }
    let known =
        || report.attacks.iter().filter(|known| known.name == "background-knowledge");
    for known in known() {
        let number =
            |key: &str| known.detail.get(key).and_then(Value::as_u64).unwrap_or(0);
        let (skipped, impossible) = (number("skipped"), number("impossible"));
        if skipped > 0 {
            warnings.push(format!(
                "background-knowledge was not tried on {} of {}: people fit into several of \
                 them, or they are too large",
                grouped(skipped),
                counted(skipped + looked_at(known), "group"),
            ));
        }
        if impossible > 0 {
            warnings.push(format!(
                "what is known rules out the values of {}: is this the right file?",
                counted(impossible, "group"),
            ));
        }
    }
    for known in known() {
        let column = known.detail.get("column").and_then(Value::as_str);
        let own = |note: &BucketsNote| Some(&*note.column) == column;
        let Some(column) = column.filter(|_| manifest.buckets().iter().any(own)) else {
            continue;
        };
        let number = |key: &str| known.detail.get(key).and_then(Value::as_f64);
        if let (Some(bound), Some(above @ 1e-9..)) = (number("bound"), number("above"))
        {
            let sets = known.detail.get("posterior").and_then(Value::as_object);
            let sets = sets.into_iter().flatten();
            let strong = sets.filter(|(_, worst)| {
                worst.as_f64().is_some_and(|worst| worst > bound + 1e-9)
            });
            let strong: Vec<&str> = strong.map(|(name, _)| name.as_str()).collect();
            let robust = manifest.promises.iter().any(|promise| {
                promise.name == "r-robustness"
                    && promise.columns.iter().any(|name| name == column)
            });
            let advice = match robust {
                true => "The promise does not cover that: name these in `signatures`",
                false => "`r-robustness` bounds that",
            };
            warnings.push(format!(
                "somebody who knows how `{column}` depends on {} is surer than {} of the values \
                 of up to {} of all people, and {} sure of somebody's. {advice}",
                strong.join(" or "),
                percent(bound),
                percent(above),
                percent(known.worst),
            ));
        }
    }
    let changed = report.attacks.iter().find(|attack| {
        let of = |key: &str| attack.detail.get(key);
        of("noise") == Some(&json!("keyed")) && of("same_matrix") == Some(&json!(false))
    });
    if changed.is_some() {
        warnings.push(
            "the key keeps noise the same only where domain and matrix are the same, and in \
             these releases they differ: people whose noise changed can be averaged. A public \
             `domain` in the recipe keeps the domain; bounds that follow the data (`factor`, \
             sub-tables) change the matrix all the same"
                .to_owned(),
        );
    }
    let paper =
        manifest.weights().as_ref().is_some_and(|weights| weights.kind == "paper");
    if let (true, Some(certain)) = (paper, number("counting", "certain")) {
        warnings.push(format!(
            "these are the weights of the paper, for comparison only: who takes them for counts \
             is certain about {}. Do not hand this release out",
            people(certain),
        ));
    }
    let robust = report.promises.iter().find(|p| p.name == "r-robustness" && p.holds);
    if let Some(robust) = robust {
        let number = |key: &str| robust.measured.get(key).and_then(Value::as_u64);
        let (groups, exact) =
            (number("groups").unwrap_or(0), number("exact").unwrap_or(0));
        if exact < groups {
            warnings.push(format!(
                "{} of {} are too large to weigh all their possible worlds: of these it is only \
                 certain that somebody who knows of one value how it depends, and of the \
                 others nothing, stays below 1/r. A smaller `largest-group` avoids that",
                grouped(groups - exact),
                counted(groups, "group"),
            ));
        }
    }
    let robust = report.promises.iter().find(|p| p.name == "r-robustness" && !p.holds);
    if robust.is_some() {
        warnings.push(
            "r-robustness holds only against the knowledge the release was made with: is this \
             the file, or the table?"
                .to_owned(),
        );
    }
    let broken =
        report.promises.iter().find(|p| p.name == "delta-presence" && !p.holds);
    if broken.is_some() {
        warnings.push(
            "delta-presence holds only of the population the release was made with: is this \
             the file?"
                .to_owned(),
        );
    }
    warnings
}

/// What is said of a protected column that others tell much about: a tenth of all people more
/// are guessed rightly, or a hundredth are as good as known.
fn told_by_others(attack: &Attacked) -> Option<String> {
    const MUCH: f64 = 0.1;
    const KNOWN: f64 = 0.01;
    let number = |key: &str| attack.detail.get(key).and_then(Value::as_f64);
    let word = |key: &str| attack.detail.get(key).and_then(Value::as_str);
    let gain = number("gain").filter(|_| attack.name == "dependence")?;
    let (sure, before) = (number("sure")?, number("sure_without")?);
    if gain < MUCH && sure - before < KNOWN {
        return None;
    }
    let known = match sure > before {
        true => format!(", and at least 95 % surely for {}", percent(sure)),
        false => String::new(),
    };
    Some(format!(
        "`{}` tells about `{}`: with it the value is guessed rightly for {} of all rows{known}, without \
         it for {}. No promise covers that: drop `{}`, or protect both as one",
        word("by")?,
        word("column")?,
        percent(attack.success),
        percent(attack.chance),
        word("by")?,
    ))
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
