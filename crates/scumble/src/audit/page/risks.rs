//! A picture of how many people have which risk.

use std::fmt::Write;

use crate::audit::page::figure::{figure, open};
use crate::audit::page::words::{Html, number, people, share};
use crate::audit::{AtRisk, Report, Risk};
use crate::release::Manifest;

/// Names of the bands.
const NAMES: [&str; Risk::ENDS.len()] = [
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
    let risks: Vec<&Risk> = risks.collect();
    if risks.is_empty() {
        return;
    }
    html.push_str("<section>\n<h2>How risk is spread over people</h2>\n");
    for risk in risks {
        let _ = writeln!(html, "<h3>{}</h3>", Html(&heading(risk)));
        html.push_str(&figure(&svg(risk), &caption(risk, manifest, report)));
    }
    html.push_str("</section>\n");
}

fn heading(risk: &Risk) -> String {
    match &risk.what {
        AtRisk::Row => "Which row is theirs".to_owned(),
        AtRisk::Value(column) => format!("Their value of “{column}”"),
        AtRisk::Presence => "Whether they are in the table".to_owned(),
        AtRisk::Company => "Which row is theirs, among all who fit as well".to_owned(),
    }
}

/// What is shown, and what to take from it.
fn caption(risk: &Risk, manifest: &Manifest, report: &Report) -> String {
    let what = match &risk.what {
        AtRisk::Row if manifest.condensed.is_some() => {
            "One in as many as a group has rows: how sure somebody can be who knows which \
             group a person is in."
        }
        AtRisk::Row => {
            "How sure somebody who knows a person’s quasi values can be which row is \
             theirs: one in as many as have the same cells. Whoever fits several groups is \
             harder to find, so attacks may find less."
        }
        AtRisk::Value(_) if !manifest.perturbation.is_empty() => {
            "How sure somebody can be who sees what was published of a person, and knows the \
             matrix and how common values are: the probability of the likeliest value. Common \
             values are likely before anything is published, and the promise is about protected \
             values only."
        }
        AtRisk::Value(_) if manifest.buckets.is_some() => {
            "How sure somebody can be who knows a person’s group and nothing else: the share \
             of the commonest value in it."
        }
        AtRisk::Value(_) => {
            "How sure somebody can be who knows a person’s quasi values and nothing else: \
             the share of the commonest value among rows with the same cells. Whoever fits \
             several groups is harder to find, so attacks may find less."
        }
        AtRisk::Presence => {
            "How likely somebody who holds the population takes it to be that a person is in \
             the table."
        }
        AtRisk::Company => {
            "One in as many as a person is hidden among, on average over the noise. Who fits \
             best may be the right one more often."
        }
    };
    let robust = report.promises.iter().any(|promise| promise.name == "r-robustness");
    let more = match &risk.what {
        AtRisk::Value(_) if robust => {
            " Who has the knowledge that the promise speaks of is bounded by the promise."
        }
        _ => "",
    };
    let sampled = match risk.sampled {
        true => format!(" Of a sample of {}.", people(risk.total())),
        false => String::new(),
    };
    format!("{what} <strong>{}</strong>{more}{sampled}", takeaway(risk))
}

/// The highest band with people in it, in words.
fn takeaway(risk: &Risk) -> String {
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
            format!("For nobody it is above {:.0}%.", 100.0 * Risk::ENDS[place])
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
fn svg(risk: &Risk) -> String {
    let total = risk.total().max(1) as f64;
    let held = |n: &u64| *n > 0;
    let first = risk.people.iter().position(held).unwrap_or(0);
    let last = risk.people.iter().rposition(held).unwrap_or(0);
    let most = risk.people.iter().max().copied().unwrap_or(1).max(1) as f64;
    let (width, left, top, tall) = (720.0, 110.0, 22.0, 24.0);
    let height = top + tall * (last - first + 1) as f64 + 4.0;
    let texts = (first..=last).filter(|band| risk.people[*band] > 0).map(|band| {
        format!("{}: {}", NAMES[band], share(risk.people[band] as f64 / total))
    });
    let text =
        format!("{}, by risk. {}", heading(risk), texts.collect::<Vec<_>>().join("; "));
    let mut svg = open("bars", (width, height), &text);
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"12\" text-anchor=\"end\">risk</text>\
         <text x=\"{left:.1}\" y=\"12\">people with it</text>",
        left - 8.0
    );
    for (place, band) in (first..=last).enumerate() {
        let n = risk.people[band];
        let y = top + tall * place as f64;
        // A bar that is there is seen.
        let wide = match n {
            0 => 0.0,
            n => ((width - left - 190.0) * n as f64 / most).max(1.5),
        };
        let shown = match (n, risk.sampled) {
            (0, _) => "nobody".to_owned(),
            (n, true) => share(n as f64 / total),
            (n, false) => format!("{} ({})", share(n as f64 / total), number(n)),
        };
        let class = if band == NAMES.len() - 1 { " class=\"sure\"" } else { "" };
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect{class} x=\"{left:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" rx=\"2\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{shown}</text>",
            left - 8.0,
            y + 14.0,
            NAMES[band],
            tall - 6.0,
            left + wide + 6.0,
            y + 14.0,
        );
    }
    let bottom = top + tall * (last - first + 1) as f64;
    let _ = writeln!(
        svg,
        "<line x1=\"{left:.1}\" y1=\"{:.1}\" x2=\"{left:.1}\" y2=\"{bottom:.1}\"/>\n</svg>",
        top - 4.0
    );
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    fn risk(people: [u64; 9]) -> Risk {
        Risk { what: AtRisk::Row, people, sampled: false }
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
            Risk { what: AtRisk::Presence, ..risk([2, 2, 0, 0, 0, 0, 0, 0, 0]) };
        assert_eq!(
            takeaway(&absent),
            "For nobody it is above 1%. 2 people (50.0% of all) cannot be in the table."
        );
    }
}
