//! What was compared, as a table, as CSV and as JSON.

use scumble::audit::Attacked;
use scumble::recipe::{BANDS, RiskFound, RiskKind};
use serde_json::{Map, Value, json};

use crate::compare::Compared;
use crate::compare::point::{Measurements, PointOutcome};
use crate::output::{counted, csv_line, grouped, percent, short};
use crate::result::{SCHEMA, surest};

/// A table of texts with footnotes.
pub(super) struct Sheet {
    pub(super) heading: Vec<String>,
    /// For each point, its cells.
    pub(super) rows: Vec<Vec<String>>,
    /// What the numbers in brackets say.
    pub(super) notes: Vec<String>,
}

impl Compared {
    /// What keys are called where room is scarce: by their last part, if that is enough.
    pub(super) fn short_keys(&self) -> Vec<String> {
        let last = |key: &String| match key.as_str() {
            "method.name" => "method".to_owned(),
            key => key.rsplit('.').next().unwrap_or(key).trim_matches('"').to_owned(),
        };
        let names: Vec<String> = self.keys.iter().map(last).collect();
        let alone =
            |name: &String| names.iter().filter(|other| *other == name).count() == 1;
        match names.iter().all(alone) {
            true => names,
            false => self.keys.clone(),
        }
    }

    /// Whether a point is marked as a recipe as it stands: not where all of them are.
    pub(super) fn marked(&self, outcome: &PointOutcome) -> bool {
        let all = self.recipes.len() > 1 && self.keys.len() == 1;
        outcome.as_it_stands && !all
    }

    /// The kinds of risk that any of the points has.
    pub(super) fn kinds(&self) -> Vec<RiskKind> {
        let found: Vec<&Measurements> =
            self.outcomes.iter().filter_map(|o| o.result.as_ref().ok()).collect();
        let any = |kind: &RiskKind| found.iter().any(|f| f.risk_of(*kind).is_some());
        RiskKind::ALL.into_iter().filter(any).collect()
    }

    /// The names of all attacks, in the order of the points.
    pub(super) fn attacks(&self) -> Vec<String> {
        let found =
            self.outcomes.iter().filter_map(|outcome| outcome.result.as_ref().ok());
        let mut names = Vec::new();
        for found in found {
            for attack in &found.attacks {
                let name = found.attack_name(attack);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// The table that people read.
    pub(super) fn sheet(&self) -> Sheet {
        let attacks = self.attacks();
        let mut heading = self.short_keys();
        heading.push("loss".to_owned());
        heading.extend(BANDS.iter().map(|band| band.name.to_owned()));
        heading.extend(
            ["exact", "covers", "width", "score", "rules", "class rules"]
                .map(str::to_owned),
        );
        heading.extend(["tree", "near"].map(str::to_owned));
        let kinds = self.kinds();
        heading.extend(kinds.iter().map(|kind| format!("{} risk", kind.name())));
        heading.extend(attacks.iter().cloned());
        heading.extend(["left out", "sec"].map(str::to_owned));
        let mut sheet = Sheet { heading, rows: Vec::new(), notes: Vec::new() };
        for outcome in &self.outcomes {
            let mut row: Vec<String> = outcome.values.iter().map(value_text).collect();
            match &outcome.result {
                Ok(found) => {
                    row.extend(numbers(found, &kinds, &attacks));
                    row.push(format!("{:.1}", outcome.total().max(0.0)));
                    let notes = found.measured.notes.iter();
                    notes.for_each(|note| sheet.note(&mut row, note));
                }
                Err(error) => {
                    row.push("none".to_owned());
                    let n_dashes = sheet.heading.len() - row.len() - 1;
                    row.extend(std::iter::repeat_n("-".to_owned(), n_dashes));
                    row.push(format!("{:.1}", outcome.total().max(0.0)));
                    sheet.note(&mut row, &error.to_string());
                }
            }
            sheet.rows.push(row);
        }
        sheet
    }

    /// What the ends of the scales are, in a line or two.
    pub(super) fn scale_text(&self) -> String {
        let ends = &self.ends;
        let questions: usize = ends.questions.iter().sum();
        let mut text = format!(
            "{}, {}, {}",
            counted(ends.rows, "row"),
            counted(questions as u64, "question"),
            counted(ends.rules as u64, "rule"),
        );
        if let (Some(class), Some(guess), Some(best)) =
            (&ends.class, ends.guess, ends.best)
        {
            text.push_str(&format!(
                "; `{class}` is right {} of the time by guessing, and if nothing were lost {} \
                 by tree, {} by neighbours",
                percent(guess),
                percent(best.tree),
                percent(best.neighbours),
            ));
        }
        text
    }
}

impl Sheet {
    /// Puts a footnote to a row; the same text has the same number everywhere.
    fn note(&mut self, row: &mut [String], note: &str) {
        let place = self.notes.iter().position(|known| known == note);
        let place = place.unwrap_or_else(|| {
            self.notes.push(note.to_owned());
            self.notes.len() - 1
        });
        if let Some(last) = row.last_mut() {
            last.push_str(&format!(" [{}]", place + 1));
        }
    }
}

/// The cells of a point from its loss to its left-out rows.
fn numbers(
    found: &Measurements,
    kinds: &[RiskKind],
    attacks: &[String],
) -> Vec<String> {
    let dash = || "-".to_owned();
    let share = |share: Option<f64>| share.map_or_else(dash, percent);
    let measured = &found.measured;
    let mut cells = vec![match found.headline() {
        Some(("loss", loss)) => short(loss),
        Some((name, loss)) => format!("{} {name}", short(loss)),
        None => dash(),
    }];
    cells.extend(measured.query_errors.iter().map(|error| share(*error)));
    let answers = measured.exact + measured.open;
    let exact = (answers > 0).then(|| measured.exact as f64 / answers as f64);
    cells.extend([share(exact), share(measured.coverage), share(measured.width)]);
    cells.push(measured.interval_score.map_or_else(dash, short));
    let rules = [measured.rule_error, measured.class_rule_error];
    cells.extend(rules.map(|error| error.map_or_else(dash, |e| format!("{e:.3}"))));
    let accuracy =
        measured.accuracy.map(|accuracy| [accuracy.tree, accuracy.neighbours]);
    cells.extend([0, 1].map(|place| share(accuracy.map(|both| both[place]))));
    for kind in kinds {
        let risk = found.risk_of(*kind);
        cells.push(risk.map_or_else(dash, |risk| {
            format!("{} {}", percent(risk.gain), risk_by(risk))
        }));
    }
    for name in attacks {
        let tried =
            found.attacks.iter().find(|attack| found.attack_name(attack) == *name);
        cells.push(tried.map_or_else(dash, |attack| {
            format!("{} / {}", percent(attack.success), surest(attack))
        }));
    }
    cells.push(grouped(found.left_out));
    cells
}

/// Which attack finds most, and about which column.
pub(super) fn risk_by(risk: &RiskFound) -> String {
    match &risk.column {
        Some(column) => format!("{} ({column})", risk.attack),
        None => risk.attack.clone(),
    }
}

/// A value of a key, as people read it.
pub(super) fn value_text(value: &Value) -> String {
    match value {
        Value::Null => "as it is".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// One line a point, every number in full.
pub(super) fn csv(compared: &Compared) -> String {
    let attacks = compared.attacks();
    let found = || compared.outcomes.iter().filter_map(|o| o.result.as_ref().ok());
    let mut losses: Vec<&String> =
        found().flat_map(|found| found.loss.keys()).collect();
    losses.sort();
    losses.dedup();
    let mut heading = compared.keys.clone();
    heading.extend(
        ["chosen", "holds", "reason", "method", "rows", "left_out"].map(str::to_owned),
    );
    heading.extend(losses.iter().map(|name| format!("loss.{name}")));
    heading.push("query_error".to_owned());
    heading.extend(BANDS.iter().map(|band| format!("query_error {}", band.name)));
    heading.extend(
        ["coverage", "rule_error", "class_rule_error", "tree", "neighbours", "risk"]
            .map(str::to_owned),
    );
    heading.push("risk_by".to_owned());
    for kind in RiskKind::ALL {
        heading.extend(["", "_by"].map(|part| format!("{}_risk{part}", kind.name())));
    }
    heading.extend(
        ["prediction", "query_error open", "exact", "open", "width", "interval_score"]
            .map(str::to_owned),
    );
    for name in &attacks {
        heading.extend(
            ["success", "chance", "worst"].map(|part| format!("{name}.{part}")),
        );
    }
    heading.push("seconds".to_owned());
    let mut text = csv_line(&heading);
    for outcome in &compared.outcomes {
        let mut cells: Vec<String> = outcome
            .values
            .iter()
            .map(
                |value| if value.is_null() { String::new() } else { value_text(value) },
            )
            .collect();
        cells.push(outcome.as_it_stands.to_string());
        let full =
            |number: Option<f64>| number.map_or_else(String::new, |n| n.to_string());
        match &outcome.result {
            Err(error) => {
                cells.extend(["false".to_owned(), error.to_string()]);
                let n_empty = heading.len() - cells.len() - 1;
                cells.extend(std::iter::repeat_n(String::new(), n_empty));
            }
            Ok(found) => {
                let measured = &found.measured;
                cells.extend([
                    found.holds.to_string(),
                    String::new(),
                    found.method.clone(),
                    found.rows.to_string(),
                    found.left_out.to_string(),
                ]);
                cells.extend(
                    losses.iter().map(|name| full(found.loss.get(*name).copied())),
                );
                cells.push(full(measured.query_error));
                cells.extend(measured.query_errors.iter().map(|error| full(*error)));
                let rules = [measured.rule_error, measured.class_rule_error];
                cells.push(full(measured.coverage));
                cells.extend(rules.map(full));
                let accuracy = measured.accuracy;
                cells.extend(
                    [accuracy.map(|a| a.tree), accuracy.map(|a| a.neighbours)]
                        .map(full),
                );
                let worst = RiskKind::ALL.map(|kind| found.risk_of(kind));
                for risk in [found.risk()].into_iter().chain(worst) {
                    cells.push(full(risk.map(|risk| risk.gain)));
                    cells.push(risk.map_or_else(String::new, risk_by));
                }
                cells.extend(
                    [found.prediction(&compared.ends), measured.open_error].map(full),
                );
                cells.extend([measured.exact, measured.open].map(|n| n.to_string()));
                cells.extend([measured.width, measured.interval_score].map(full));
                for name in &attacks {
                    let tried =
                        found.attacks.iter().find(|a| found.attack_name(a) == *name);
                    let numbers = |attack: &Attacked| {
                        [attack.success, attack.chance, attack.worst]
                    };
                    let numbers = tried.map(numbers);
                    cells.extend((0..3).map(|place| full(numbers.map(|n| n[place]))));
                }
            }
        }
        cells.push(format!("{:.3}", outcome.total()));
        text.push_str(&csv_line(&cells));
    }
    text
}

pub(super) fn json(compared: &Compared) -> Value {
    let ends = &compared.ends;
    let by_band = |numbers: Vec<Value>| -> Map<String, Value> {
        BANDS.iter().map(|band| band.name.to_owned()).zip(numbers).collect()
    };
    let questions = by_band(ends.questions.iter().map(|n| json!(n)).collect());
    let points =
        compared.outcomes.iter().map(|outcome| point_json(compared, outcome, &by_band));
    json!({
        "schema": SCHEMA,
        "recipe": compared.recipes.first(),
        "recipes": compared.recipes,
        "seed": compared.seed,
        "chosen": compared.chosen,
        "scale": {
            "rows": ends.rows,
            "questions": questions,
            "rules": ends.rules,
            "class_rules": ends.class_rules,
            "class": ends.class,
            "guess": ends.guess,
            "best": ends.best.map(|best| json!({ "tree": best.tree, "neighbours": best.neighbours })),
            "not_measured": ends.left_out,
            "not_in_all": ends.not_in_all,
            "own_questions": ends.own_questions,
        },
        "points": points.collect::<Vec<Value>>(),
    })
}

fn point_json(
    compared: &Compared,
    outcome: &PointOutcome,
    by_band: &dyn Fn(Vec<Value>) -> Map<String, Value>,
) -> Value {
    let vary: Map<String, Value> =
        compared.keys.iter().cloned().zip(outcome.values.iter().cloned()).collect();
    let holds = outcome.result.as_ref().is_ok_and(|found| found.holds);
    let mut object = json!({
        "vary": vary, "as_it_stands": outcome.as_it_stands, "holds": holds,
        "recipe": outcome.recipe,
    });
    match &outcome.result {
        Err(error) => object["reason"] = json!(error.to_string()),
        Ok(found) => {
            let measured = &found.measured;
            let mut errors = by_band(
                measured.query_errors.iter().map(|error| json!(error)).collect(),
            );
            errors.insert("all".into(), json!(measured.query_error));
            let accuracy = measured.accuracy;
            let attack = |attack: &Attacked| {
                json!({
                    "name": found.attack_name(attack),
                    "success": attack.success,
                    "chance": attack.chance,
                    "worst": attack.worst,
                })
            };
            errors.insert("open".into(), json!(measured.open_error));
            let risk = |risk: &RiskFound| {
                json!({
                    "kind": risk.kind.name(),
                    "gain": risk.gain,
                    "attack": risk.attack,
                    "column": risk.column,
                })
            };
            let more = json!({
                "method": found.method,
                "rows": found.rows,
                "left_out": found.left_out,
                "loss": found.loss,
                "query_error": errors,
                "coverage": measured.coverage,
                "rule_error": measured.rule_error,
                "class_rule_error": measured.class_rule_error,
                "accuracy": {
                    "tree": accuracy.map(|accuracy| accuracy.tree),
                    "neighbours": accuracy.map(|accuracy| accuracy.neighbours),
                },
                "answers": { "exact": measured.exact, "open": measured.open },
                "interval": {
                    "width": measured.width, "score": measured.interval_score,
                },
                "risk": found.risk().map(risk),
                "risks": found.risks.iter().map(risk).collect::<Vec<Value>>(),
                "prediction": found.prediction(&compared.ends),
                "attacks": found.attacks.iter().map(attack).collect::<Vec<Value>>(),
                "notes": measured.notes,
            });
            let more = more.as_object().into_iter().flatten();
            more.for_each(|(key, value)| object[key] = value.clone());
        }
    }
    object["seconds"] = outcome.seconds.iter().map(|(n, s)| (*n, json!(s))).collect();
    object
}
