//! A picture of how many people have which risk.

use std::fmt::Write;

use crate::audit::page::words::{people, share};
use crate::audit::views::forms_cell_classes;
use crate::audit::{AtRisk, Report, RiskBands};
use crate::picture::{Bar, Bars, Html, figure};
use crate::release::{Manifest, Treatment};
use crate::text::grouped;

/// Names of the bands.
const NAMES: [&str; RiskBands::ENDS.len()] = [
    "none",
    "up to 1%",
    "1% to 2%",
    "2% to 5%",
    "5% to 10%",
    "10% to 20%",
    "20% to 50%",
    "50% to 100%",
    "certain",
];

/// The section on risks.
pub(super) fn section(html: &mut String, manifest: &Manifest, report: &Report) {
    let risks = report.risks.iter().filter(|risk| risk.total() > 0);
    let risks: Vec<&RiskBands> = risks.collect();
    if risks.is_empty() {
        return;
    }
    html.push_str("<section>\n<h2>How risk is spread over people</h2>\n");
    for risk in risks {
        let _ = writeln!(html, "<h3>{}</h3>", Html(&heading(risk)));
        html.push_str(&figure(&svg(risk), &caption(risk, manifest, report)));
    }
    if let Some(found) = report.reidentification() {
        let _ = writeln!(
            html,
            "<p>In other words: a prosecutor, who knows that somebody is in the release, finds \
             their row with a chance of at most {} [ARX: prosecutor risk; sdcMicro: individual \
             risk]; {} of rows are in groups of fewer than five [records at risk], and {} are \
             alone [sample uniques]. A marketer, who looks for everybody, finds {} by chance \
             [marketer risk; global risk]. A journalist, who looks for anybody in a larger \
             population, finds nobody more surely than the prosecutor.</p>",
            share(found.highest),
            share(found.at_risk),
            share(found.unique),
            share(found.average),
        );
    }
    html.push_str("</section>\n");
}

fn heading(risk: &RiskBands) -> String {
    match &risk.what {
        AtRisk::Row => "Which row is theirs".to_owned(),
        AtRisk::Value(column) => format!("Their value of “{column}”"),
        AtRisk::Presence => "Whether they are in the table".to_owned(),
        AtRisk::Company => "Which row is theirs, among all who fit as well".to_owned(),
    }
}

/// What is shown, and what to take from it.
fn caption(risk: &RiskBands, manifest: &Manifest, report: &Report) -> String {
    let what = match &risk.what {
        AtRisk::Row if !forms_cell_classes(manifest) => {
            "One in as many as a group has rows: how sure somebody can be who knows which \
             group a person is in."
        }
        AtRisk::Row => {
            "How sure somebody who knows a person’s quasi values can be which row is \
             theirs: one in as many as have the same cells. Somebody who fits several groups \
             is harder to find, so attacks may find less."
        }
        AtRisk::Value(column) => of_value(manifest, column),
        AtRisk::Presence => {
            "How likely somebody who holds the population takes it to be that a person is in \
             the table."
        }
        AtRisk::Company => {
            "One in as many as a person is hidden among, on average over the noise. The one \
             who fits best may be the right one more often."
        }
    };
    let robust = report.promises.iter().any(|promise| promise.name == "r-robustness");
    let more = match &risk.what {
        AtRisk::Value(_) if robust => {
            " Somebody who has the knowledge that the promise speaks of is bounded by it."
        }
        _ => "",
    };
    let sampled = match risk.sampled {
        true => format!(" Of a sample of {}.", people(risk.total())),
        false => String::new(),
    };
    format!("{what} <strong>{}</strong>{more}{sampled}", takeaway(risk))
}

/// How sure somebody can be of a value, by how its column is published. Columns that were
/// randomized as one have a name of several.
fn of_value(manifest: &Manifest, column: &str) -> &'static str {
    match manifest.column(column).map(|column| &column.treatment) {
        Some(Treatment::Drawn { .. }) | None => {
            "How sure somebody can be who sees what was published of a person, and knows the \
             matrix and how common values are: the probability of the likeliest value. Common \
             values are likely before anything is published, and the promise is about protected \
             values only."
        }
        Some(Treatment::Apart) => {
            "How sure somebody can be who knows a person’s group and nothing else: the share \
             of the commonest value in it."
        }
        Some(
            Treatment::Kept
            | Treatment::Coarse { .. }
            | Treatment::Weighted
            | Treatment::Noisy { .. }
            | Treatment::Redrawn,
        ) => {
            "How sure somebody can be who knows a person’s quasi values and nothing else: \
             the share of the commonest value among rows with the same cells. Somebody \
             who fits several groups is harder to find, so attacks may find less."
        }
    }
}

/// The highest band with people in it, in words.
fn takeaway(risk: &RiskBands) -> String {
    let last = NAMES.len() - 1;
    let [none, .., certain] = risk.people;
    let of_all = |n: u64| share(n as f64 / risk.total().max(1) as f64);
    let high = match risk.people[..last].iter().rposition(|n| *n > 0) {
        _ if certain > 0 => format!(
            "Of {} ({} of all) it is certain.",
            people(certain),
            of_all(certain)
        ),
        Some(place) if place == last - 1 => {
            format!(
                "For {} of people it is above 50%, for nobody certain.",
                of_all(risk.people[place])
            )
        }
        Some(place) => {
            format!("For nobody it is above {:.0}%.", 100.0 * RiskBands::ENDS[place])
        }
        None => String::new(),
    };
    match risk.what {
        AtRisk::Presence if none > 0 => format!(
            "{high} {} ({} of all) cannot be in the table.",
            people(none),
            of_all(none)
        ),
        _ => high,
    }
}

/// A bar for each band from the lowest to the highest that has people.
fn svg(risk: &RiskBands) -> String {
    let total = risk.total().max(1) as f64;
    let of_all = |band: usize| share(risk.people[band] as f64 / total);
    let held = |n: &u64| *n > 0;
    let first = risk.people.iter().position(held).unwrap_or(0);
    let last = risk.people.iter().rposition(held).unwrap_or(0);
    let texts = (first..=last).filter(|band| risk.people[*band] > 0);
    let texts = texts.map(|band| format!("{}: {}", NAMES[band], of_all(band)));
    let text =
        format!("{}, by risk. {}", heading(risk), texts.collect::<Vec<_>>().join("; "));
    let bar = |band: usize| Bar {
        name: NAMES[band].to_owned(),
        amount: risk.people[band],
        shown: match (risk.people[band], risk.sampled) {
            (0, _) => "nobody".to_owned(),
            (_, true) => of_all(band),
            (n, false) => format!("{} ({})", of_all(band), grouped(n)),
        },
        class: if band == NAMES.len() - 1 { "sure" } else { "" },
    };
    let bars = (first..=last).map(bar).collect();
    let headings = ["risk", "people with it"];
    Bars { text: &text, headings, room: (110.0, 190.0), bars }.svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn risk(people: [u64; 9]) -> RiskBands {
        RiskBands { what: AtRisk::Row, people, sampled: false }
    }

    #[test]
    fn bands_without_people_at_the_ends_are_not_drawn() {
        let picture = svg(&risk([0, 0, 0, 30, 0, 10, 0, 0, 0]));
        assert_eq!(picture.matches("<rect").count(), 3);
        assert!(picture.contains(">75.0% (30)<") && picture.contains(">nobody<"));
        assert!(!picture.contains("certain"));
    }

    #[test]
    fn the_highest_risk_is_said() {
        assert_eq!(
            takeaway(&risk([0, 1, 1, 0, 0, 1, 0, 0, 0])),
            "For nobody it is above 20%."
        );
        let sure = takeaway(&risk([0, 3, 0, 0, 0, 0, 0, 0, 1]));
        assert_eq!(sure, "Of 1 person (25.0% of all) it is certain.");
        let high = takeaway(&risk([0, 3, 0, 0, 0, 0, 0, 1, 0]));
        assert_eq!(high, "For 25.0% of people it is above 50%, for nobody certain.");
        let absent =
            RiskBands { what: AtRisk::Presence, ..risk([2, 2, 0, 0, 0, 0, 0, 0, 0]) };
        assert_eq!(
            takeaway(&absent),
            "For nobody it is above 1%. 2 people (50.0% of all) cannot be in the table."
        );
    }
}
