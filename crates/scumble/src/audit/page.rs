//! `report.html`: what was promised, how it was checked and what it cost, for people.
//!
//! One page without scripts or anything from elsewhere, made of the manifest and the
//! report alone: nothing in it is more private than the release.

mod about;
mod blur;
mod buckets;
mod figure;
mod histogram;
mod matrix;
mod randomized;
mod risks;
mod widths;
mod words;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::audit::page::figure::{Prose, figure};
use crate::audit::page::words::{Html, share};
use crate::audit::{Attack, Report};
use crate::error::{Error, Result};
use crate::release::Manifest;
use crate::table::Role;

/// The file's name.
const PAGE_FILE: &str = "report.html";

const STYLE: &str = include_str!("page/style.css");

/// Writes `report.html` into a release directory.
pub fn write_page(
    directory: &Path,
    manifest: &Manifest,
    report: &Report,
) -> Result<()> {
    let path = directory.join(PAGE_FILE);
    fs::write(&path, page(manifest, report))
        .map_err(|error| Error::io("write", path.display().to_string(), error))
}

/// The page. Writing to a string cannot fail, so results of `write!` are dropped.
fn page(manifest: &Manifest, report: &Report) -> String {
    let mut html = String::new();
    let verdict = if report.holds() {
        "<p class=\"verdict good\">Every promise holds.</p>"
    } else {
        "<p class=\"verdict bad\">A promise does not hold: do not publish this release.</p>"
    };
    let rows = words::rows(report.rows);
    let left_out = left_out(manifest, report);
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Release report</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header>\n<h1>Release report</h1>\n\
         <p>This release is a table of {rows} about people. {left_out} \
         It was made by {} with the method <em>{}</em>. {}</p>\n{verdict}\n</header>\n",
        Html(&manifest.software),
        Html(&manifest.method.name),
        Html(about::method(manifest)),
    );
    if manifest.experiment {
        html.push_str(
            "<p class=\"verdict bad\">Randomness was fixed by a seed: this is an \
             experiment, not for publication.</p>\n",
        );
    }
    promises(&mut html, manifest, report);
    groups(&mut html, manifest, report);
    randomized::section(&mut html, manifest);
    blur::section(&mut html, manifest, report);
    widths::section(&mut html, manifest, report);
    risks::section(&mut html, manifest, report);
    attacks(&mut html, manifest, report);
    losses(&mut html, report);
    columns(&mut html, manifest);
    not_promised(&mut html, manifest);
    about::files(&mut html, manifest);
    let _ = write!(
        html,
        "<footer><p>The rows are in <code>{}</code>{}; <code>manifest.json</code> says \
         how to read them. {} can recheck the promises with <code>scumble audit</code>, \
         and whoever has the original table can repeat the attacks.</p></footer>\n</main>\n</body>\n</html>\n",
        Html(&manifest.data.file),
        match &manifest.buckets {
            Some(note) => {
                format!(", sensitive values in <code>{}</code>", Html(&note.file))
            }
            None => String::new(),
        },
        // Of knowledge, not even what it is about is in the files.
        match report.promises.first().map(|promise| promise.name.as_str()) {
            Some("expected-anonymity") if manifest.blur.is_some() => {
                "Who has the original table"
            }
            _ if report
                .promises
                .iter()
                .any(|promise| promise.name == "r-robustness") =>
            {
                "Who has what the attacker is taken to know"
            }
            _ => "Anybody",
        },
    );
    html
}

/// What became of the rows of the table.
fn left_out(manifest: &Manifest, report: &Report) -> String {
    let left_out = |n: u64| match n {
        0 => String::new(),
        1 => "1 row of the table was left out.".to_owned(),
        n => format!("{} rows of the table were left out.", words::number(n)),
    };
    if manifest.sampled.is_none() {
        return match manifest.left_out {
            0 => "Every row of the table was published.".to_owned(),
            n => left_out(n),
        };
    }
    let behind = report.stands_for(manifest);
    let rest = left_out(manifest.left_beside(behind));
    let stands = format!(
        "One row of each group of people was published and stands for its group: {} of the \
         table in all. {rest}",
        words::rows(behind),
    );
    stands.trim_end().to_owned()
}

fn promises(html: &mut String, manifest: &Manifest, report: &Report) {
    html.push_str("<section>\n<h2>What was promised</h2>\n");
    if report.promises.is_empty() {
        html.push_str("<p>Nothing.</p>\n");
    }
    for (place, checked) in report.promises.iter().enumerate() {
        let (class, word) = if checked.holds {
            ("good", "holds".to_owned())
        } else {
            ("bad", format!("does not hold: {} at risk", words::at_risk(checked)))
        };
        let certified = manifest.promises.get(place).map_or("", |note| &note.certified);
        let certified = match certified {
            "" => "recomputed from the published rows",
            given => given,
        };
        let _ = write!(
            html,
            "<article>\n<h3>{} <span class=\"tag {class}\">{}</span></h3>\n<p>{}</p>\n\
             <dl><dt>asked</dt><dd>{}</dd><dt>measured</dt><dd>{}</dd>\
             <dt>certified</dt><dd>{}</dd></dl>\n</article>\n",
            Html(&checked.name),
            Html(&word),
            Html(&words::promise(checked, manifest)),
            Html(&words::parameters(&checked.asked)),
            Html(&words::parameters(&checked.measured)),
            Prose(certified),
        );
    }
    html.push_str("</section>\n");
}

fn groups(html: &mut String, manifest: &Manifest, report: &Report) {
    let n_groups: u64 = report.group_sizes.iter().map(|(_, n)| n).sum();
    let Some((smallest, _)) = report.group_sizes.first() else { return };
    let groups = if n_groups == 1 { "group" } else { "groups" };
    let what = match (&manifest.sampled, &manifest.buckets) {
        (Some(_), _) => "Of each group of people one row was drawn and published.",
        (None, Some(_)) => {
            "Sensitive values are published by group: which row of a group has which of its \
             values is not."
        }
        _ if manifest.condensed.is_some() => {
            "Numbers of a group were drawn anew from its mean and covariance, and rows say \
             which group they are in."
        }
        (None, None) => "Rows with the same quasi cells cannot be told apart by them.",
    };
    let n_rows = report.group_sizes.iter().map(|(size, n)| size * n).sum::<u64>();
    let caption = format!(
        "How many groups there are of each size. <strong>The larger the group, the more people \
         somebody is hidden among; a group has {} rows on average.</strong>",
        words::decimal((10.0 * n_rows as f64 / n_groups.max(1) as f64).round() / 10.0),
    );
    let _ = write!(
        html,
        "<section>\n<h2>How people are grouped</h2>\n<p>{what} There are {} such \
         {groups}; the smallest has {}.</p>\n{}</section>\n",
        words::number(n_groups),
        words::rows(*smallest),
        figure(&histogram::svg(&report.group_sizes), &caption),
    );
}

fn attacks(html: &mut String, manifest: &Manifest, report: &Report) {
    if report.attacks.is_empty() {
        return;
    }
    let presence = report.attacks.iter().any(|attack| attack.name == "presence");
    let randomized = !manifest.perturbation.is_empty();
    let buckets = manifest.buckets.is_some();
    let attacker = match (randomized || buckets, presence) {
        (true, _) => "has this release and knows which row is whose",
        (false, true) => {
            "has this release and knows the quasi values of everybody in the population"
        }
        (false, false) => {
            "has this release and knows the quasi values of everybody in the original table"
        }
    };
    let known = report.attacks.iter().any(|a| a.name == "background-knowledge");
    let without = match (randomized, buckets) {
        (true, _) => {
            "who sees no published value, or, for corruption, knows nobody else's"
        }
        (_, true) => {
            "who does not use groups (with background knowledge: has that knowledge and no \
             release; for corruption: knows nobody else's value)"
        }
        _ if manifest.blur.is_some() => {
            "who does not use published numbers (for the best guess: only which class a \
             row is in)"
        }
        _ if known => {
            "who does not use quasi values (with background knowledge: has that knowledge \
             and no release)"
        }
        _ => "who does not use quasi values",
    };
    let whom = match randomized {
        true => {
            "protected value, of those that are believed in no more than their bound before; \
             for averaging, of any value, after ten releases or those that were given"
        }
        false => "person",
    };
    let _ = write!(
        html,
        "<section>\n<h2>What our attacks could do</h2>\n<p>The attacker {attacker}.</p>\n<table>\n\
         <thead><tr><th>attack</th><th class=\"n\">success</th><th class=\"n\">chance</th>\
         <th class=\"n\">worst</th></tr></thead>\n<tbody>\n",
    );
    for attack in &report.attacks {
        let again = report.attacks.iter().filter(|known| known.name == attack.name);
        let column = attack.detail.get("column").and_then(serde_json::Value::as_str);
        let name = match column.filter(|_| again.count() > 1) {
            Some(column) => format!("{} ({column})", attack.name),
            None => attack.name.clone(),
        };
        let _ = write!(
            html,
            "<tr><th>{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td></tr>\n<tr class=\"note\"><td colspan=\"4\">{}</td></tr>\n",
            Html(&name),
            share(attack.success),
            share(attack.chance),
            share(attack.worst),
            Html(&words::attack(attack, manifest)),
        );
    }
    let _ = writeln!(
        html,
        "</tbody>\n</table>\n<p class=\"small\"><em>Success</em>: the share of people for \
         whom the guess is right. <em>Chance</em>: the same for an attacker {without}. \
         <em>Worst</em>: how sure the attacker can be about the most exposed {whom}.</p>",
    );
    let sampled = |attack: &&Attack| {
        attack.detail.get("sampled").and_then(serde_json::Value::as_bool) == Some(true)
    };
    if let Some(attack) = report.attacks.iter().find(sampled) {
        let people = attack.detail.get("people").and_then(serde_json::Value::as_u64);
        let _ = writeln!(
            html,
            "<p class=\"small\">The table is large: the attacks were tried on a sample of {} \
             people, so the worst case may be worse than shown.</p>",
            words::number(people.unwrap_or(0)),
        );
    }
    html.push_str("</section>\n");
}

fn losses(html: &mut String, report: &Report) {
    if report.loss.is_empty() {
        return;
    }
    html.push_str(
        "<section>\n<h2>What it cost</h2>\n<table>\n<thead><tr><th>loss</th>\
         <th class=\"n\">value</th><th>what it says</th></tr></thead>\n<tbody>\n",
    );
    for (name, value) in &report.loss {
        let (shown, meaning) = words::loss(name, *value);
        let _ = writeln!(
            html,
            "<tr><th>{}</th><td class=\"n\">{}</td><td>{}</td></tr>",
            Html(name),
            Html(&shown),
            Html(meaning),
        );
    }
    html.push_str("</tbody>\n</table>\n</section>\n");
}

fn columns(html: &mut String, manifest: &Manifest) {
    html.push_str(
        "<section>\n<h2>Which columns changed how</h2>\n<table>\n<thead><tr><th>column</th>\
         <th>role</th><th>what is published</th></tr></thead>\n<tbody>\n",
    );
    let untouched = !manifest.perturbation.is_empty() && manifest.sampled.is_none();
    for column in &manifest.columns {
        let role = match column.role {
            Role::Quasi => "quasi",
            Role::Sensitive => "sensitive",
            Role::Other => "other",
            Role::Identifier => "identifier",
            Role::Drop => "drop",
        };
        let special = randomized::column(manifest, &column.name).map(str::to_owned);
        let special = special.or_else(|| blur::column(manifest, column));
        let what = match special.or_else(|| buckets::column(manifest, column.role)) {
            Some(what) => what,
            None if column.role == Role::Quasi && untouched => {
                "the values as they are, for linking and grouping".to_owned()
            }
            None => words::column(column),
        };
        let _ = writeln!(
            html,
            "<tr><th>{}</th><td>{role}</td><td>{}</td></tr>",
            Html(&column.name),
            Html(&what),
        );
    }
    html.push_str("</tbody>\n</table>\n</section>\n");
}

fn not_promised(html: &mut String, manifest: &Manifest) {
    html.push_str("<section>\n<h2>What is not promised</h2>\n<ul>\n");
    for line in &manifest.not_promised {
        let _ = writeln!(html, "<li>{}</li>", Prose(line));
    }
    html.push_str("</ul>\n</section>\n");
}
