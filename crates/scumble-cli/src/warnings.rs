//! What a steward must know before handing a release out.

use scumble::audit::{Attacked, Report, broken_together};
use scumble::release::{BucketsNote, Manifest, Treatment};
use scumble::table::Role;
use serde_json::{Value, json};

use crate::output::{counted, grouped, percent};
use crate::result::looked_at;

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
    let told = report.attacks.iter().filter_map(|a| told_by_others(manifest, a));
    warnings.extend(told);
    warnings.extend(report.attacks.iter().filter_map(taught_by_groups));
    let together = report.attacks.iter().flat_map(broken_together);
    warnings.extend(together.map(|what| {
        format!("together with the other releases, {what}; no promise covers that")
    }));
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
fn told_by_others(manifest: &Manifest, attack: &Attacked) -> Option<String> {
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
         it for {}. No promise covers that: drop `{}`{}",
        word("by")?,
        word("column")?,
        percent(attack.success),
        percent(attack.chance),
        word("by")?,
        instead(manifest, word("column")?, word("by")?),
    ))
}

/// What is said of values by group that all groups together teach much about: a twentieth of
/// all people more are guessed rightly than groups alone tell and than a promise says of them,
/// or a hundredth are as good as known.
fn taught_by_groups(attack: &Attacked) -> Option<String> {
    const MUCH: f64 = 0.05;
    const KNOWN: f64 = 0.01;
    let number = |key: &str| attack.detail.get(key).and_then(Value::as_f64);
    let column = attack.detail.get("column").and_then(Value::as_str);
    let column = column.filter(|_| attack.name == "learned")?;
    let (sure, before) = (number("sure")?, number("sure_alone")?);
    let told = f64::max(attack.chance, number("bound").unwrap_or(0.0));
    if attack.success - told < MUCH && sure - before < KNOWN {
        return None;
    }
    let known = match sure > 0.0 {
        true => format!(", and is more than 90 % sure of {}", percent(sure)),
        false => String::new(),
    };
    let bounded = match number("bound") {
        Some(bound) => format!(
            ". That a group alone tells no more than {} does not cover that",
            percent(bound)
        ),
        None => ". No promise covers that".to_owned(),
    };
    Some(format!(
        "all groups together teach how `{column}` depends on quasi columns: somebody who learns it from \
         the release guesses the value rightly for {} of all people, and for {} by groups \
         alone{known}{bounded}: coarser or fewer quasi columns teach less, and a randomized \
         `{column}` (`breach`) bounds what anything can",
        percent(attack.success),
        percent(attack.chance),
    ))
}

/// What else can be done about a column that tells about another one.
fn instead(manifest: &Manifest, column: &str, by: &str) -> &'static str {
    let found = |name: &str| manifest.column(name);
    let treatment = |name| found(name).map(|column| &column.treatment);
    let is_sensitive =
        |name| found(name).is_some_and(|column| column.role == Role::Sensitive);
    match (treatment(column), treatment(by)) {
        (Some(Treatment::Drawn { .. }), _) if is_sensitive(by) => {
            ", or draw both as one (`sensitive = \"compound\"`)"
        }
        // Values by group cannot be protected together with those of another column.
        (Some(Treatment::Apart), Some(Treatment::Kept)) if is_sensitive(by) => {
            ", or randomize it (`breach`)"
        }
        _ => "",
    }
}
