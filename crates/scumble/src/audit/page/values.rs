//! What attacks on values found out, in sentences: those that need more than one.

use serde_json::Value;

use crate::audit::Attacked;
use crate::audit::page::words::{groups, rows, share};
use crate::release::Manifest;
use crate::text::grouped;

pub(super) fn corruption_apart(attack: &Attacked) -> String {
    let worst = |known: &str| {
        let found =
            attack.detail.get("known").and_then(|all| all.get(known)?.get("worst"));
        share(found.and_then(Value::as_f64).unwrap_or(1.0))
    };
    format!(
        "Knows the value of another member of the group, and takes it out. Somebody who knows \
         two others can be {} sure of a third one, with three others {}; {} The promise does \
         not cover that.",
        worst("2"),
        worst("3"),
        match attack.count("certain_after") {
            0 => "of somebody the attacker is certain without.".to_owned(),
            1 => "one other can be enough to be certain.".to_owned(),
            n => format!("{} others can be enough to be certain.", grouped(n)),
        }
    )
}

pub(super) fn corruption_drawn(attack: &Attacked) -> String {
    format!(
        "Knows the true values of other people. That moves a belief about anybody else \
         by {}.{}",
        match attack.number("shift") {
            0.0 => "nothing".to_owned(),
            shift => share(shift),
        },
        match attack.number("exposed") {
            0.0 if attack.is("fitted") == Some(true) => {
                " But the matrix was fitted to how common values are: somebody who knows \
                 everybody else's value may learn the last one from it. The promise does not \
                 cover that."
                    .to_owned()
            }
            0.0 => String::new(),
            exposed => format!(
                " But the manifest's bounds are shares of values, which are counts: somebody \
                 who knows everybody else's value subtracts, and is certain about up to {} \
                 of all people, one at a time. The promise does not cover that.",
                share(exposed)
            ),
        }
    )
}

pub(super) fn averaging(attack: &Attacked, manifest: &Manifest) -> String {
    if attack.is("foretold") == Some(false) {
        return format!(
            "Links people in {} releases by their untouched columns, and puts together \
             what was published of them ({} noise{}). {} of all people can be linked.",
            attack.count("releases"),
            attack.word("noise"),
            match attack.is("same_matrix") {
                Some(false) => ", but not the same domains and matrices",
                _ => "",
            },
            share(attack.number("linked")),
        );
    }
    if attack.word("noise") == "keyed" {
        return "Sees the same people in further releases. The noise is drawn by \
                a secret key, the same every time as long as value, domain and \
                matrix stay the same: then nothing is added."
            .to_owned();
    }
    let after = |releases: &str| {
        let found = attack.detail.get("after").and_then(|after| after.get(releases));
        share(found.and_then(Value::as_f64).unwrap_or(0.0))
    };
    format!(
        "Sees the same people in further releases with fresh noise (foretold, not \
         tried): {} guessed right after one release, {} after two, {} after \
         five, {} after ten.{}",
        after("1"),
        after("2"),
        after("5"),
        after("10"),
        match manifest.sampled {
            Some(_) => " That takes people to be drawn from their groups again.",
            None => " A key keeps it at the first.",
        },
    )
}

/// What other columns tell about a protected one.
pub(super) fn dependence(attack: &Attacked, manifest: &Manifest) -> String {
    let (column, by) = (attack.word("column"), attack.word("by"));
    let looked = match attack.count("rows") {
        n if n < manifest.rows => format!(" {} were looked at.", rows(n)),
        _ => String::new(),
    };
    if by.is_empty() {
        return format!(
            "Learns from the release how “{column}” depends on other columns that are \
             published, and found nothing that they tell beside quasi cells.{looked}"
        );
    }
    let others = attack.detail.get("columns").and_then(Value::as_array);
    let more: Vec<String> = others
        .into_iter()
        .flatten()
        .skip(1)
        .filter_map(|name| name.as_str().map(|name| format!("“{name}”")))
        .collect();
    let more = match more.is_empty() {
        true => String::new(),
        false => format!(", then {}", more.join(", ")),
    };
    let sure = match (attack.number("sure_without"), attack.number("sure")) {
        (before, after) if after > before => format!(
            " At least 95 % sure is the attacker of {} of all rows, and without them of {}.",
            share(after),
            match before {
                0.0 => "none".to_owned(),
                before => share(before),
            },
        ),
        _ => String::new(),
    };
    format!(
        "Guesses “{column}” from “{by}”{more}, which tell something about it in the same row, \
         as learned from the release. Chance here is the same guess without them: the gain is \
         {}. No promise is about that.{sure}{looked}",
        share(attack.number("gain").max(0.0)),
    )
}

/// What all groups together teach about each.
pub(super) fn learned(attack: &Attacked) -> String {
    let column = attack.word("column");
    let learned_from = attack.count("learned_from");
    let part = match learned_from < attack.count("people") {
        true => format!(" {} were learned from.", rows(learned_from)),
        false => String::new(),
    };
    let aside = match attack.count("skipped") {
        0 => String::new(),
        n => format!(
            " {} could not be looked at: people fit several of them.",
            groups(n)
        ),
    };
    if learned_from == 0 {
        return format!(
            "Learns from the groups themselves how “{column}” depends on quasi columns, and \
             found nothing that they teach.{aside}"
        );
    }
    let above = match attack.detail.get("bound").and_then(Value::as_f64) {
        None => String::new(),
        Some(bound) => format!(
            " The promise bounds what a group alone tells by {}, and not this: of {} of all \
             people something is believed with more.",
            share(bound),
            match attack.number("above") {
                0.0 => "none".to_owned(),
                above => share(above),
            },
        ),
    };
    let sure = match attack.number("sure") {
        0.0 => " More than 90 % sure is the attacker of nobody.".to_owned(),
        sure => format!(
            " More than 90 % sure is the attacker of {} of all people{}.",
            share(sure),
            match attack.detail.get("sure_right").and_then(Value::as_f64) {
                Some(right) => format!(", rightly of {} of them", share(right)),
                None => String::new(),
            },
        ),
    };
    format!(
        "Learns from the groups themselves how “{column}” depends on quasi columns, and \
         weighs all arrangements of each group’s values by it. Chance here is the commonest \
         value of each person’s group.{above}{sure}{part}{aside}"
    )
}
