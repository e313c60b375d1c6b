//! `compare.html`: the frontier, all points, and their recipes to copy.
//!
//! One page without scripts or anything from elsewhere. It is for the steward: its numbers
//! are about the true table.

use std::fmt::Write;

use scumble::picture::{Html, PAGE_END, Prose, page_start};
use scumble::recipe::BANDS;
use serde_json::Value;

use crate::compare::Compared;
use crate::compare::frontier::{Dot, Plot, svg};
use crate::compare::point::{Measurements, PointOutcome};
use crate::compare::table::{Sheet, value_text};
use crate::output::{counted, percent, short};

const STYLE: &str = include_str!("style.css");

/// So many colours can be told apart.
const COLOURS: usize = 8;

/// Takes a number from what was measured, if it is there.
type MeasurementReader = Box<dyn Fn(&Measurements) -> Option<f64>>;

/// A measure of what was lost, for a picture.
struct Lost {
    name: String,
    /// Whether it is a share.
    share: bool,
    of: MeasurementReader,
}

/// The page.
pub(super) fn page(compared: &Compared) -> String {
    let mut html = page_start("Comparison of releases", STYLE);
    let _ = write!(
        html,
        "<header>\n<h1>Comparison of releases</h1>\n<p>{}, published, audited, attacked \
         and measured against the table.</p>\n\
         <p class=\"small\">{}.</p>\n\
         <p class=\"private\">For the steward alone: these numbers are about the true table. Do \
         not hand this page out.</p>\n</header>\n",
        what_text(compared),
        Prose(&compared.scale_text()),
    );
    pictures(&mut html, compared);
    points(&mut html, compared);
    recipes(&mut html, compared);
    let _ = write!(
        html,
        "<footer><p>Seed {}. Another seed gives slightly other numbers: questions, noise and \
         reconstructions are random.</p></footer>\n{PAGE_END}",
        compared.seed
    );
    html
}

/// A share that may be below zero.
fn signed(share: f64) -> String {
    match share < 0.0 {
        true => format!("-{}", percent(-share)),
        false => percent(share),
    }
}

/// What was compared.
fn what_text(compared: &Compared) -> String {
    let recipe = format!("<code>{}</code>", Html(&compared.recipe));
    let keys: Vec<String> =
        compared.keys.iter().map(|key| format!("<code>{}</code>", Html(key))).collect();
    match (compared.outcomes.len(), keys.is_empty()) {
        (_, true) => format!("{recipe} as it stands"),
        (n, false) => {
            let variants = counted(n as u64, "variant");
            format!("{variants} of {recipe} with other values of {}", keys.join(", "))
        }
    }
}

/// What a point is called.
fn name(compared: &Compared, outcome: &PointOutcome) -> String {
    if compared.keys.is_empty() {
        return "the recipe".to_owned();
    }
    let keys = compared.short_keys();
    let parts = keys.iter().zip(&outcome.values).map(|(key, value)| match value {
        Value::String(word) => word.clone(),
        Value::Null => format!("{key} as it is"),
        other => format!("{key} {}", value_text(other)),
    });
    parts.collect::<Vec<String>>().join(", ")
}

/// The key that colours stand for, and its values: the method if that is varied.
fn legend(compared: &Compared) -> Option<(usize, Vec<String>)> {
    let method = compared.keys.iter().position(|key| key == "method.name");
    let key = method.or(if compared.keys.is_empty() { None } else { Some(0) })?;
    let mut values: Vec<String> = Vec::new();
    for outcome in &compared.outcomes {
        let value = value_text(&outcome.values[key]);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let few = values.len() > 1 && values.len() <= COLOURS;
    // Where one key alone is varied, names and places tell all.
    let useful = compared.keys.len() > 1 || method.is_some();
    (few && useful).then_some((key, values))
}

fn colour(compared: &Compared, outcome: &PointOutcome) -> usize {
    legend(compared).map_or(0, |(key, values)| {
        let value = value_text(&outcome.values[key]);
        values.iter().position(|other| *other == value).unwrap_or(0)
    })
}

/// The points that have both a risk and a loss.
fn dots(compared: &Compared, lost: &Lost) -> Vec<Dot> {
    let points = compared.outcomes.iter().enumerate();
    let dot = |(number, outcome): (usize, &PointOutcome)| {
        let found = outcome.result.as_ref().ok()?;
        let ((risk, attack), y) = (found.risk()?, (lost.of)(found)?);
        let name = name(compared, outcome);
        let title = format!(
            "{name}\n{}: {}\nrisk: {} more than by chance ({attack})",
            lost.name,
            if lost.share { signed(y) } else { short(y) },
            percent(risk),
        );
        Some(Dot {
            x: risk,
            y,
            name,
            title,
            colour: colour(compared, outcome),
            chosen: number == compared.chosen,
            link: format!("p{}", number + 1),
        })
    };
    points.filter_map(dot).collect()
}

fn measures(compared: &Compared) -> Vec<Lost> {
    let lost = |name: &str, of: MeasurementReader| Lost {
        name: name.to_owned(),
        share: true,
        of,
    };
    let mut measures = vec![
        lost("mean error of counts", Box::new(|found| found.measured.query_error)),
        lost("error of rules", Box::new(|found| found.measured.rule_error)),
    ];
    if let Some(best) = compared.ends.best {
        measures.push(lost(
            "accuracy lost by tree",
            Box::new(move |found| found.measured.accuracy.map(|a| best.tree - a.tree)),
        ));
        measures.push(lost(
            "accuracy lost by neighbours",
            Box::new(move |found| {
                found.measured.accuracy.map(|a| best.neighbours - a.neighbours)
            }),
        ));
    }
    for name in ["loss", "reconstruction-error", "spread", "surprise"] {
        let of = move |found: &Measurements| found.loss.get(name).copied();
        let share = !["spread", "surprise"].contains(&name);
        measures.push(Lost { share, ..lost(name, Box::new(of)) });
    }
    measures
}

fn pictures(html: &mut String, compared: &Compared) {
    html.push_str(
        "<section>\n<h2>Privacy against use</h2>\n<p>Across: the people that the best of our \
         attacks hits beyond those that chance would hit; of presence, how much surer than \
         before it is of somebody. Up: what is lost. Towards the lower left is better. The line joins what no other point beats in both; the ring marks the \
         recipe as it stands. Points lead to their recipes.</p>\n",
    );
    let across = "people hit beyond chance";
    let mut shown = 0;
    for lost in measures(compared) {
        let dots = dots(compared, &lost);
        if dots.is_empty() {
            continue;
        }
        let large = shown == 0;
        let size = if large { (760.0, 430.0) } else { (380.0, 260.0) };
        let plot = Plot {
            across,
            up: &lost.name,
            shares: lost.share,
            dots,
            size,
            named: large,
        };
        if shown == 1 {
            html.push_str("<div class=\"panels\">\n");
        }
        let _ = writeln!(
            html,
            "<figure class=\"{}\">{}</figure>",
            if large { "large" } else { "small" },
            svg(&plot)
        );
        if large {
            write_legend(html, compared);
        }
        shown += 1;
    }
    match shown {
        0 => html.push_str("<p>No point has both a risk and a loss.</p>\n"),
        1 => {}
        _ => html.push_str("</div>\n"),
    }
    html.push_str("</section>\n");
}

fn write_legend(html: &mut String, compared: &Compared) {
    let Some((key, values)) = legend(compared) else { return };
    let _ = write!(html, "<p class=\"legend\">{}:", Html(&compared.short_keys()[key]));
    for (number, value) in values.iter().enumerate() {
        let _ = write!(html, " <span class=\"b{number}\"></span>{}", Html(value));
    }
    html.push_str("</p>\n");
}

fn points(html: &mut String, compared: &Compared) {
    let Sheet { heading, rows, notes } = compared.sheet();
    let n_keys = compared.keys.len();
    html.push_str(
        "<section>\n<h2>All points</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>point</th>",
    );
    for (place, cell) in heading.iter().enumerate() {
        let class = if place < n_keys { "" } else { " class=\"n\"" };
        let _ = write!(html, "<th{class}>{}</th>", Html(cell));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for (number, row) in rows.iter().enumerate() {
        let class = if number == compared.chosen { " class=\"chosen\"" } else { "" };
        let _ =
            write!(html, "<tr{class}><td><a href=\"#p{0}\">{0}</a></td>", number + 1);
        for (place, cell) in row.iter().enumerate() {
            let class = if place < n_keys { "" } else { " class=\"n\"" };
            let _ = write!(html, "<td{class}>{}</td>", Html(cell));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
    if !notes.is_empty() {
        html.push_str("<ol class=\"small\">\n");
        for note in &notes {
            let _ = writeln!(html, "<li>{}</li>", Prose(note));
        }
        html.push_str("</ol>\n");
    }
    let bands: Vec<String> =
        BANDS.iter().map(|band| Html(band.name).to_string()).collect();
    let _ = write!(
        html,
        "<p class=\"small\"><em>{}</em>: random counts by the share of rows they are about, \
         their median relative error. <em>covers</em>: the share of 95 % intervals that have \
         the truth. <em>rules</em>, <em>class rules</em>: how far the confidence of rules, and \
         of those that tell the class, is off, a rule of the table. <em>tree</em>, <em>near</em>: how often a learner that saw a reconstruction \
         tells the class. Attacks: people hit / the surest guess about anybody. The bold row \
         is the recipe as it stands.</p>\n</section>\n",
        bands.join(", "),
    );
}

fn recipes(html: &mut String, compared: &Compared) {
    html.push_str("<section>\n<h2>Recipes</h2>\n");
    for (number, outcome) in compared.outcomes.iter().enumerate() {
        let chosen = match number == compared.chosen {
            true => " <span class=\"tag\">as it stands</span>",
            false => "",
        };
        let what = match &outcome.result {
            Ok(found) => match found.headline() {
                Some((name, loss)) => {
                    format!("{}, {name} {}", found.method, short(loss))
                }
                None => found.method.clone(),
            },
            Err(_) => "no release".to_owned(),
        };
        let _ = write!(
            html,
            "<details id=\"p{}\"><summary>{}. {}{chosen} <span class=\"small\">{}</span>\
             </summary>\n<pre>{}</pre></details>\n",
            number + 1,
            number + 1,
            Html(&name(compared, outcome)),
            Html(&what),
            Html(&outcome.recipe),
        );
    }
    html.push_str("</section>\n");
}
