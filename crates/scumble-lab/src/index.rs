//! A page about many experiments: one file, nothing from elsewhere, pictures inside.

use std::fmt::Write;

use scumble::picture::{PAGE_END, Prose, page_start};
use scumble::text::grouped;

use crate::outcome::{Claim, Outcome};
use crate::survey::{Ending, Entry};
use crate::{Experiment, Ran};

const STYLE: &str = include_str!("index.css");

/// The page. No time is in it: the same results are the same page.
pub(super) fn page(entries: &[Entry<'_>], rows: Option<u32>) -> String {
    let title = "Experiments of the literature, repeated";
    let mut html = page_start(title, STYLE);
    let _ = writeln!(
        html,
        "<h1>{title}</h1>\n\
         <p>Made by scumble {}. What a source says stands beside what we found; where a source \
         prints numbers, ours are beside them with their ratio. {}</p>",
        env!("CARGO_PKG_VERSION"),
        match rows {
            Some(rows) => format!(
                "This was a quick pass: tables that experiments draw have {} rows, fewer or more \
                 than those of the sources.",
                grouped(rows.into())
            ),
            None =>
                "Tables that experiments draw are as large as those of the sources."
                    .into(),
        }
    );
    contents(&mut html, entries);
    for entry in entries {
        section(&mut html, entry);
    }
    html.push_str(PAGE_END);
    html
}

fn contents(html: &mut String, entries: &[Entry<'_>]) {
    html.push_str(
        "<div class=\"wide\"><table>\n<thead><tr><th>experiment</th><th>source</th>\
         <th>claims</th></tr></thead>\n<tbody>\n",
    );
    for Entry { experiment, found, .. } in entries {
        let Experiment { name, source, .. } = experiment;
        let differ = found.claims().iter().filter(|claim| !claim.agrees).count();
        let state = match found {
            Ending::Ran(_) => format!(
                "{} agree, {}",
                found.claims().len() - differ,
                match differ {
                    0 => "0 differ".to_owned(),
                    n => format!("<strong>{n} differ</strong>"),
                }
            ),
            Ending::Failed(_) => "<strong class=\"bad\">failed</strong>".to_owned(),
            Ending::Skipped(_) => "skipped".to_owned(),
        };
        let _ = writeln!(
            html,
            "<tr><th><a href=\"#{name}\">{name}</a></th><td>{}</td><td>{state}</td></tr>",
            Prose(source)
        );
    }
    html.push_str("</tbody>\n</table></div>\n");
}

fn section(html: &mut String, entry: &Entry<'_>) {
    let Experiment { name, source, about, .. } = entry.experiment;
    let _ = write!(
        html,
        "<section id=\"{name}\">\n<h2>{name}</h2>\n<p>{}</p>\n<p class=\"small\">Source: {}</p>\n",
        Prose(about),
        Prose(source)
    );
    match &entry.found {
        Ending::Skipped(why) => {
            let _ = writeln!(html, "<p>Skipped: {}.</p>", Prose(why));
        }
        Ending::Failed(error) => {
            let _ = writeln!(html, "<p class=\"bad\">Failed: {}</p>", Prose(error));
        }
        Ending::Ran(Ran { outcome, picture, .. }) => {
            claims(html, &outcome.claims);
            for note in outcome.notes.iter().filter(|note| !note.trim().is_empty()) {
                let _ = writeln!(html, "<p class=\"small lines\">{}</p>", Prose(note));
            }
            let _ = write!(
                html,
                "<figure role=\"img\" aria-label=\"{}\">\n{}</figure>\n",
                Prose(&outcome.figure.title.replace('`', "'")),
                picture
            );
            tables(html, outcome);
            let _ = writeln!(
                html,
                "<p class=\"small\">All numbers: <a href=\"{name}.csv\">{name}.csv</a>. The \
                 picture alone: <a href=\"{name}.svg\">{name}.svg</a>.</p>"
            );
        }
    }
    html.push_str("</section>\n");
}

fn claims(html: &mut String, claims: &[Claim]) {
    if claims.is_empty() {
        return;
    }
    html.push_str(
        "<div class=\"wide\"><table>\n<thead><tr><th>said</th><th>found</th><th></th></tr>\
         </thead>\n<tbody>\n",
    );
    for Claim { said, found, agrees } in claims {
        let (class, word) =
            if *agrees { ("good", "agrees") } else { ("bad", "differs") };
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td><span class=\"tag {class}\">{word}</span></td></tr>",
            Prose(said),
            Prose(found)
        );
    }
    html.push_str("</tbody>\n</table></div>\n");
}

/// The numbers of the picture; with the source's beside ours they are shown, others on demand.
fn tables(html: &mut String, outcome: &Outcome) {
    let open = if outcome.is_compared() { " open" } else { "" };
    let tables = outcome.tables();
    if tables.is_empty() {
        return;
    }
    let what = match outcome.is_compared() {
        true => "The source’s numbers, ours, and their ratio",
        false => "The numbers of the picture",
    };
    let _ = write!(html, "<details{open}>\n<summary>{what}</summary>\n");
    for (title, lines) in tables {
        let _ =
            write!(html, "<h3>{}</h3>\n<div class=\"wide\"><table>\n", Prose(&title));
        for (place, line) in lines.iter().enumerate() {
            html.push_str("<tr>");
            for (column, cell) in line.iter().enumerate() {
                let tag = if place == 0 || column == 0 { "th" } else { "td" };
                let class = if column == 0 { "" } else { " class=\"n\"" };
                let _ = write!(html, "<{tag}{class}>{}</{tag}>", Prose(cell));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</table></div>\n");
    }
    html.push_str("</details>\n");
}
