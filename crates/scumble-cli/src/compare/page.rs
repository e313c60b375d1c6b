//! `compare.html`: the frontier, all points, and their recipes to copy.
//!
//! One page without scripts or anything from elsewhere. It is for the steward: its numbers
//! are about the true table.

use std::fmt::Write;

use scumble::picture::{Html, PAGE_END, Prose, page_start};
use scumble::recipe::{BANDS, RiskFound, RiskKind};
use serde_json::Value;

use crate::compare::Compared;
use crate::compare::frontier::{Dot, Plot, svg};
use crate::compare::point::{Measurements, PointOutcome};
use crate::compare::table::{Sheet, risk_by, value_text};
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
    let code = |text: &String| format!("<code>{}</code>", Html(text));
    let recipes: Vec<String> = compared.recipes.iter().map(code).collect();
    let several = recipes.len() > 1;
    let varied = &compared.keys[usize::from(several)..];
    let varied: Vec<String> = varied.iter().map(code).collect();
    let recipes = recipes.join(", ");
    if varied.is_empty() {
        return match several {
            true => format!("{recipes}, each as it stands"),
            false => format!("{recipes} as it stands"),
        };
    }
    let variants = counted(compared.outcomes.len() as u64, "variant");
    format!("{variants} of {recipes} with other values of {}", varied.join(", "))
}

/// What a point is called.
fn name(compared: &Compared, outcome: &PointOutcome) -> String {
    if compared.keys.is_empty() {
        return "the recipe".to_owned();
    }
    let several = compared.recipes.len() > 1;
    let keys = compared.short_keys();
    let parts = keys.iter().zip(&outcome.values).enumerate();
    let parts = parts.filter_map(|(place, (key, value))| match value {
        Value::String(word) if several && place == 0 => {
            Some(word.strip_suffix(".toml").unwrap_or(word).to_owned())
        }
        Value::String(word) => Some(word.clone()),
        // Of several recipes some do not have a key that is varied.
        Value::Null if several => None,
        Value::Null => Some(format!("{key} as it is")),
        other => Some(format!("{key} {}", value_text(other))),
    });
    parts.collect::<Vec<String>>().join(", ")
}

/// The key that colours stand for, and its values: of several recipes which one it is,
/// otherwise the method if that is varied.
fn legend(compared: &Compared) -> Option<(usize, Vec<String>)> {
    let several = compared.recipes.len() > 1;
    let method = compared.keys.iter().position(|key| key == "method.name");
    let method = method.filter(|_| !several);
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
    let useful = compared.keys.len() > 1 || method.is_some() || several;
    (few && useful).then_some((key, values))
}

fn colour(compared: &Compared, outcome: &PointOutcome) -> usize {
    legend(compared).map_or(0, |(key, values)| {
        let value = value_text(&outcome.values[key]);
        values.iter().position(|other| *other == value).unwrap_or(0)
    })
}

/// A way to measure risk, for a picture: of one kind, or of the worst about people.
#[derive(Clone, Copy)]
enum Across {
    Worst,
    Of(RiskKind),
}

impl Across {
    fn of(self, found: &Measurements) -> Option<&RiskFound> {
        match self {
            Self::Worst => found.risk(),
            Self::Of(kind) => found.risk_of(kind),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Worst => "rows found or values guessed",
            Self::Of(RiskKind::Row) => "people whose row is found, beyond chance",
            Self::Of(RiskKind::Value) => {
                "people whose value is guessed, beyond guessing the commonest"
            }
            Self::Of(RiskKind::Presence) => {
                "how much surer somebody is found in the table than before"
            }
        }
    }

    /// What the picture is about, as a heading.
    fn heading(self) -> &'static str {
        match self {
            Self::Worst => "Other measures",
            Self::Of(RiskKind::Row) => "Whose row is it?",
            Self::Of(RiskKind::Value) => "What is their value?",
            Self::Of(RiskKind::Presence) => "Are they in the table?",
        }
    }
}

/// The points that have both a risk and a loss.
fn dots(compared: &Compared, across: Across, lost: &Lost) -> Vec<Dot> {
    let points = compared.outcomes.iter().enumerate();
    let dot = |(number, outcome): (usize, &PointOutcome)| {
        let found = outcome.result.as_ref().ok()?;
        let (risk, y) = (across.of(found)?, (lost.of)(found)?);
        let name = name(compared, outcome);
        let title = format!(
            "{name}\n{}: {}\n{}: {} ({})",
            lost.name,
            if lost.share { signed(y) } else { short(y) },
            across.name(),
            percent(risk.gain),
            risk_by(risk),
        );
        Some(Dot {
            x: risk.gain,
            y,
            name,
            title,
            colour: colour(compared, outcome),
            chosen: compared.marked(outcome),
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
        lost("mean error of answers", Box::new(|found| found.measured.query_error)),
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
        "<section>\n<h2>Privacy against use</h2>\n<p>Across: what the best of our attacks finds \
         out about people beyond what is known without the release. Of rows and of values that \
         is a share of people, the same for every kind of release. Up: what is lost. Towards \
         the lower left is better. The line joins what no other point beats in both. Points \
         lead to their recipes.",
    );
    if compared.outcomes.iter().any(|outcome| compared.marked(outcome)) {
        html.push_str(" The ring marks the recipe as it stands.");
    }
    html.push_str("</p>\n");
    let measures = measures(compared);
    let mut shown = 0;
    for across in compared.kinds().into_iter().map(Across::Of) {
        let Some(dots) = measures.first().map(|lost| dots(compared, across, lost))
        else {
            continue;
        };
        if dots.is_empty() {
            continue;
        }
        let _ = writeln!(html, "<h3>{}</h3>", across.heading());
        let missing = compared.outcomes.iter().filter(|outcome| {
            let found = outcome.result.as_ref().ok();
            found.is_some_and(|found| across.of(found).is_none())
        });
        let missing: Vec<String> = missing.map(|o| name(compared, o)).collect();
        write_plot(html, across, &measures[0], dots, true);
        if !missing.is_empty() {
            let _ = writeln!(
                html,
                "<p class=\"small\">No attack of this kind applies to {}.</p>",
                Html(&missing.join("; "))
            );
        }
        write_legend(html, compared);
        shown += 1;
    }
    let others = measures.iter().skip(1);
    let others = others.map(|lost| (lost, dots(compared, Across::Worst, lost)));
    let others: Vec<(&Lost, Vec<Dot>)> =
        others.filter(|(_, dots)| !dots.is_empty()).collect();
    if shown == 0 && others.is_empty() {
        html.push_str("<p>No point has both a risk and a loss.</p>\n");
    }
    if !others.is_empty() {
        let _ = writeln!(html, "<h3>{}</h3>", Across::Worst.heading());
        html.push_str(
            "<p class=\"small\">Across: rows found or values guessed, whichever is more.</p>\n\
             <div class=\"panels\">\n",
        );
        for (lost, dots) in others {
            write_plot(html, Across::Worst, lost, dots, false);
        }
        html.push_str("</div>\n");
    }
    html.push_str("</section>\n");
}

fn write_plot(
    html: &mut String,
    across: Across,
    lost: &Lost,
    dots: Vec<Dot>,
    large: bool,
) {
    let plot = Plot {
        across: across.name(),
        up: &lost.name,
        shares: lost.share,
        dots,
        size: if large { (760.0, 430.0) } else { (380.0, 260.0) },
        named: large,
    };
    let class = if large { "large" } else { "small" };
    let _ = writeln!(html, "<figure class=\"{class}\">{}</figure>", svg(&plot));
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
        let marked = compared.marked(&compared.outcomes[number]);
        let class = if marked { " class=\"chosen\"" } else { "" };
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
        "<p class=\"small\"><em>{}</em>: answers by the share of rows they are about, the \
         median relative error of those that are not exact. <em>exact</em>: the share of \
         questions that the release answers exactly. <em>covers</em>: the share of 95 % \
         intervals that have the truth, of questions that are not exact; <em>width</em>: their \
         median width; <em>score</em>: their mean interval score, which is the width and 40 \
         times the distance of a truth that lies outside; both relative to the truth. \
         <em>rules</em>, <em>class rules</em>: how far the confidence of rules, and \
         of those that tell the class, is off, a rule of the table. <em>tree</em>, \
         <em>near</em>: how often a learner that saw a reconstruction tells the class. \
         <em>row risk</em>, <em>value risk</em>: the share of people whose row is found, or \
         whose protected value is guessed rightly, beyond what is known without the release, by \
         the attack that finds most; <em>presence risk</em>: how much surer than before \
         somebody is found in the table. Attacks: people hit / the surest guess about anybody, \
         by the measure of each attack.{}</p>\n</section>\n",
        bands.join(", "),
        match compared.outcomes.iter().any(|outcome| compared.marked(outcome)) {
            true => " The bold row is the recipe as it stands.",
            false => "",
        },
    );
}

fn recipes(html: &mut String, compared: &Compared) {
    html.push_str("<section>\n<h2>Recipes</h2>\n");
    for (number, outcome) in compared.outcomes.iter().enumerate() {
        let chosen = match compared.marked(outcome) {
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
