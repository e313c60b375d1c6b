//! `report.html`: what was promised, how it was checked and what it cost, for people.
//!
//! One page without scripts or anything from elsewhere, made of the manifest and the
//! report alone: nothing in it is more private than the release.

mod about;
mod attacks;
mod blur;
mod columns;
mod histogram;
mod matrix;
mod promises;
mod randomized;
mod risks;
mod values;
mod widths;
mod words;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::audit::views::Present;
use crate::audit::{Public, Report};
use crate::error::{Error, Result};
use crate::picture::{Html, PAGE_END, Prose, figure, page_start};
use crate::release::{Manifest, Parameters, Treatment};
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
         It was made by {} with {}</p>\n{verdict}\n</header>\n",
        Html(&manifest.software),
        about::methods(&manifest.method),
    );
    if manifest.experiment {
        html.push_str(
            "<p class=\"verdict bad\">Randomness was fixed by a seed: this is an \
             experiment, not for publication.</p>\n",
        );
    }
    promises::section(&mut html, manifest, report);
    groups(&mut html, manifest, report);
    randomized::section(&mut html, manifest);
    blur::section(&mut html, manifest, report);
    widths::section(&mut html, manifest, report);
    risks::section(&mut html, manifest, report);
    attacks::section(&mut html, manifest, report);
    losses(&mut html, report);
    columns::section(&mut html, manifest);
    not_promised(&mut html, manifest);
    about::files(&mut html, manifest);
    let _ = write!(
        html,
        "<footer><p>The rows are in <code>{}</code>{}; <code>manifest.json</code> says \
         how to read them. {} can recheck the promises with <code>scumble audit</code>, \
         and anybody with the original table can repeat the attacks.</p></footer>\n{PAGE_END}",
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

/// Somebody who has what rechecking the promises takes.
fn who_can_recheck(manifest: &Manifest, report: &Report) -> &'static str {
    let promised = |name: &str| report.promises.iter().any(|p| p.name == name);
    // Who is in which group of cells is not in the files.
    let robust_rows = manifest.promises.iter().any(|note| {
        let mut columns = note.columns.iter().filter_map(|name| manifest.column(name));
        note.name == "r-robustness"
            && columns.any(|column| column.treatment == Treatment::Kept)
    });
    // Of knowledge, not even what it is about is in the files.
    if promised("expected-anonymity") && Present::of(manifest).noisy || robust_rows {
        "Anybody who has the original table"
    } else if promised("r-robustness") {
        "Anybody who has what the attacker is taken to know"
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

/// How a table begins; headings of numbers begin with a `#`.
fn table(class: &str, headings: &[&str]) -> String {
    let cells = headings.iter().map(|heading| match heading.strip_prefix('#') {
        Some(heading) => format!("<th class=\"n\">{}</th>", Html(heading)),
        None => format!("<th>{}</th>", Html(heading)),
    });
    let cells: String = cells.collect();
    format!("<table{class}>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n")
}

/// How a table ends.
const TABLE_END: &str = "</tbody>\n</table>\n";

fn losses(html: &mut String, report: &Report) {
    if report.loss.is_empty() {
        return;
    }
    html.push_str("<section>\n<h2>What it cost</h2>\n");
    html.push_str(&table("", &["loss", "#value", "what it says"]));
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
    html.push_str(TABLE_END);
    html.push_str("</section>\n");
}

fn not_promised(html: &mut String, manifest: &Manifest) {
    html.push_str("<section>\n<h2>What is not promised</h2>\n<ul>\n");
    for line in &manifest.not_promised {
        let _ = writeln!(html, "<li>{}</li>", Prose(line));
    }
    html.push_str("</ul>\n</section>\n");
}
