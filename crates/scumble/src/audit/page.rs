//! `report.html`: what was promised, how it was checked and what it cost, for people.
//!
//! One page without scripts or anything from elsewhere, made of the manifest and the
//! report alone: nothing in it is more private than the release.

mod about;
mod blur;
mod buckets;
mod columns;
mod histogram;
mod matrix;
mod randomized;
mod risks;
mod widths;
mod words;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::audit::page::words::share;
use crate::audit::views::Present;
use crate::audit::{Attacked, Public, Report};
use crate::error::{Error, Result};
use crate::picture::{Html, PAGE_END, Prose, figure, page_start};
use crate::release::{Manifest, Parameters};
use crate::text::grouped;

/// The page's name.
pub const PAGE_FILE: &str = "report.html";

const STYLE: &str = include_str!("page/style.css");

/// Writes `report.html` into a release directory.
pub fn write_page(
    directory: &Path,
    manifest: &Manifest,
    report: &Public<Report>,
) -> Result<()> {
    let path = directory.join(PAGE_FILE);
    fs::write(&path, page(manifest, report))
        .map_err(|error| Error::io("write", path.display().to_string(), error))
}

/// The page.
pub fn page(manifest: &Manifest, report: &Report) -> String {
    let mut html = page_start("Release report", STYLE);
    let verdict = if report.holds() {
        "<p class=\"verdict good\">Every promise holds.</p>"
    } else {
        "<p class=\"verdict bad\">A promise does not hold: do not publish this release.</p>"
    };
    let rows = words::rows(report.rows);
    let left_out = left_out(manifest, report);
    let _ = write!(
        html,
        "<header>\n<h1>Release report</h1>\n\
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
    columns::section(&mut html, manifest);
    not_promised(&mut html, manifest);
    about::files(&mut html, manifest);
    let _ = write!(
        html,
        "<footer><p>The rows are in <code>{}</code>{}; <code>manifest.json</code> says \
         how to read them. {} can recheck the promises with <code>scumble audit</code>, \
         and whoever has the original table can repeat the attacks.</p></footer>\n{PAGE_END}",
        Html(&manifest.data.file),
        beside(manifest),
        who_can_recheck(manifest, report),
    );
    html
}

/// Where else values are.
fn beside(manifest: &Manifest) -> String {
    let files = manifest.classes.iter().filter_map(|class| match &class.parameters {
        Parameters::Values { file, .. } => {
            Some(format!(", sensitive values in <code>{}</code>", Html(file)))
        }
        Parameters::Cells { .. }
        | Parameters::Subtables { .. }
        | Parameters::Frames { .. }
        | Parameters::Levels
        | Parameters::Moments { .. } => None,
    });
    files.collect()
}

/// Who has what rechecking the promises takes.
fn who_can_recheck(manifest: &Manifest, report: &Report) -> &'static str {
    let promised = |name: &str| report.promises.iter().any(|p| p.name == name);
    // Of knowledge, not even what it is about is in the files.
    if promised("expected-anonymity") && Present::of(manifest).noisy {
        "Who has the original table"
    } else if promised("r-robustness") {
        "Who has what the attacker is taken to know"
    } else {
        "Anybody"
    }
}

/// What became of the rows of the table.
fn left_out(manifest: &Manifest, report: &Report) -> String {
    let left_out = |n: u64| match n {
        0 => String::new(),
        1 => "1 row of the table was left out.".to_owned(),
        n => format!("{} rows of the table were left out.", grouped(n)),
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
        let note = manifest.promises.get(place);
        let columns = note.map_or_else(String::new, |note| note.columns.join(", "));
        let certified = match note.map_or("", |note| &note.certified) {
            "" => "recomputed from the published rows",
            given => given,
        };
        let _ = write!(
            html,
            "<article>\n<h3>{} <span class=\"tag {class}\">{}</span></h3>\n<p>{}</p>\n\
             <dl><dt>columns</dt><dd>{}</dd><dt>asked</dt><dd>{}</dd>\
             <dt>measured</dt><dd>{}</dd><dt>certified</dt><dd>{}</dd></dl>\n</article>\n",
            Html(&checked.name),
            Html(&word),
            Html(&words::promise(checked, note, manifest)),
            Html(&columns),
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
    let Present { coarse, weighted: _, drawn: _, noisy: _, apart, redrawn } =
        Present::of(manifest);
    let what = if manifest.sampled.is_some() {
        "Of each group of people one row was drawn and published."
    } else if coarse {
        "Rows with the same quasi cells cannot be told apart by them."
    } else if apart {
        "Sensitive values are published by group: which row of a group has which of its \
         values is not."
    } else if redrawn {
        "Numbers of a group were drawn anew from its mean and covariance, and rows say \
         which group they are in."
    } else {
        "Rows with the same quasi cells cannot be told apart by them."
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
        grouped(n_groups),
        words::rows(*smallest),
        figure(&histogram::svg(&report.group_sizes), &caption),
    );
}

fn attacks(html: &mut String, manifest: &Manifest, report: &Report) {
    if report.attacks.is_empty() {
        return;
    }
    let presence = report.attacks.iter().any(|attack| attack.name == "presence");
    let Present { coarse: _, weighted: _, drawn, noisy, apart, redrawn: _ } =
        Present::of(manifest);
    let attacker = match (drawn || apart, presence) {
        (true, _) => "has this release and knows which row is whose",
        (false, true) => {
            "has this release and knows the quasi values of everybody in the population"
        }
        (false, false) => {
            "has this release and knows the quasi values of everybody in the original table"
        }
    };
    let known = report.attacks.iter().any(|a| a.name == "background-knowledge");
    let without = if drawn {
        "who sees no published value, or, for corruption, knows nobody else's"
    } else if apart {
        "who does not use groups (with background knowledge: has that knowledge and no \
         release; for corruption: knows nobody else's value)"
    } else if noisy {
        "who does not use published numbers (for the best guess: only which class a \
         row is in)"
    } else if known {
        "who does not use quasi values (with background knowledge: has that knowledge \
         and no release)"
    } else {
        "who does not use quasi values"
    };
    let whom = match drawn {
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
    let sampled = |attack: &&Attacked| {
        attack.detail.get("sampled").and_then(serde_json::Value::as_bool) == Some(true)
    };
    if let Some(attack) = report.attacks.iter().find(sampled) {
        let people = attack.detail.get("people").and_then(serde_json::Value::as_u64);
        let _ = writeln!(
            html,
            "<p class=\"small\">The table is large: the attacks were tried on a sample of {} \
             people, so the worst case may be worse than shown.</p>",
            grouped(people.unwrap_or(0)),
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

fn not_promised(html: &mut String, manifest: &Manifest) {
    html.push_str("<section>\n<h2>What is not promised</h2>\n<ul>\n");
    for line in &manifest.not_promised {
        let _ = writeln!(html, "<li>{}</li>", Prose(line));
    }
    html.push_str("</ul>\n</section>\n");
}
