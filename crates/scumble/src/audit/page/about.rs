//! What the method did, in a sentence, and which files there are.

use std::fmt::Write;

use crate::audit::attacks::by_coins;
use crate::audit::page::{TABLE_END, table};
use crate::picture::Html;
use crate::release::{Manifest, MethodNote};

/// The methods, and what each did to which columns.
pub(super) fn methods(note: &MethodNote) -> String {
    let named = |method: &MethodNote| format!("<em>{}</em>", Html(&method.name));
    let each = note.each();
    if let [only] = each {
        return format!("the method {}. {}", named(only), Html(method(only, true)));
    }
    let mut html = format!("{} methods:</p>\n<ul>\n", each.len());
    for part in each {
        let columns: Vec<String> = part
            .columns
            .iter()
            .map(|name| format!("<code>{}</code>", Html(name)))
            .collect();
        let (name, did) = (named(part), Html(method(part, false)));
        let _ = writeln!(html, "<li>{name} for {}. {did}</li>", columns.join(", "));
    }
    html.push_str("</ul>\n<p>All other published columns are as they were.");
    html
}

/// What was done to the table, for somebody who has not heard of the method.
fn method(method: &MethodNote, is_alone: bool) -> &'static str {
    match &*method.name {
        "full-domain" if by_coins(method) => {
            "Quasi values were made finer step by step, every column by the same rule for all \
             rows. Which step was looked at followed from the population, and coins refused \
             some that would have been allowed, so that where they end tells little."
        }
        "full-domain" => {
            "Quasi values were made coarser, every column by the same rule for all rows, until \
             the promises held; the coarsening that costs least was searched for."
        }
        "mondrian" if by_coins(method) => {
            "Groups were cut in two again and again. Which cut was looked at followed from what \
             is public, and coins refused some that would have been allowed, so that where cuts end tells little; then the quasi values of everybody in a group \
             were put together into a cell for each column."
        }
        "mondrian" => {
            "Rows were cut into ever smaller groups as long as the promises held, and the quasi \
             values of a group were put together into a cell for each column."
        }
        "uniform-perturbation" if !is_alone => {
            "Values were kept with a fixed probability, and otherwise replaced by one drawn \
             at random."
        }
        "anatomy" | "robust" if !is_alone => {
            "Rows were put into groups of different values, which are published apart from \
             the rows, by group."
        }
        "uniform-perturbation" => {
            "Sensitive values were kept with a fixed probability, and otherwise replaced by one \
             drawn at random; all other columns are as they were."
        }
        "partitioned-perturbation" => {
            "Rows were divided into sub-tables of few values, and in each of them sensitive \
             values were kept with a fixed probability or drawn anew."
        }
        "fine-grain-perturbation" => {
            "Sensitive values were kept with a probability of their own, and otherwise replaced \
             by one drawn at random."
        }
        "general-perturbation" => {
            "Sensitive values were replaced by ones drawn at random, by the matrix that keeps \
             most of them under the promise."
        }
        "perturbed-generalization" => {
            "Sensitive values were randomized, quasi values made coarser, and one row of each \
             group was drawn and published."
        }
        "anatomy" | "robust" => {
            "Rows were put into groups of different sensitive values. Quasi values are published \
             as they are, and sensitive values apart from them, by group."
        }
        "blur" => {
            "Noise of a stated width was added to numbers, wide enough that everybody is hidden \
             among others."
        }
        "condensation" => {
            "Rows were put into groups, and their numbers drawn anew from mean and covariance of \
             the group."
        }
        _ => "",
    }
}

/// The files and their checksums, so that a printed page can be held against them.
pub(super) fn files(html: &mut String, manifest: &Manifest) {
    if manifest.checksums.is_empty() {
        return;
    }
    html.push_str("<section>\n<h2>Which files this is about</h2>\n");
    html.push_str(&table(" class=\"files\"", &["file", "BLAKE3 checksum"]));
    for (file, checksum) in &manifest.checksums {
        let _ = writeln!(
            html,
            "<tr><th>{}</th><td><code>{}</code></td></tr>",
            Html(file),
            Html(checksum)
        );
    }
    html.push_str(TABLE_END);
    html.push_str("</section>\n");
}
