//! A hole in WPALM and PPALM: weights are counts.
//!
//! Everything here is published by recipes and attacked by the audit, as any release.

use std::fs;
use std::path::Path;

use scumble::audit::Report;
use scumble::error::{Error, Result};
use scumble::recipe::{Request, Spec, publish};
use scumble::watch::Unwatched;
use serde_json::Value;

use crate::adult::{Adult, NINE, Subset};
use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::outcome::{Cell, Claim, Outcome};
use crate::{Data, Experiment, RequiredData, write};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "pdf-counts",
    source: "nergiz2007pdf, section V; a hole",
    about: "who reads weights as counts knows who is in the table; not with ours",
    needs: RequiredData::Nothing,
    run,
};

const COLUMNS: &str = "table,weights,people,certain,certainly_in,presence_min,\
    presence_max,kl,promise_holds";

/// The five men of the source's running example, and which four of them are in the table.
const MEN: &str =
    "job,nation\nstudent,USA\nstudent,USA\nstudent,Canada\nprofessor,USA\n";
const ABSENT: &str = "professor,Canada\n";

/// Ways to weigh, with the range each is promised under.
const WAYS: [(&str, &str, &str); 5] = [
    (
        "PPALM (bounds)",
        "adversary = \"paper\"",
        "weights = \"paper\", shift = \"bounds\"",
    ),
    (
        "WPALM (10 steps)",
        "adversary = \"paper\"",
        "weights = \"paper\", shift = \"steps\"",
    ),
    ("exact shift", "adversary = \"paper\"", "weights = \"paper\", shift = \"exact\""),
    ("population", "", "weights = \"population\""),
    ("counted", "", "weights = \"counted\""),
];

/// What the counting adversary learned.
#[derive(Debug, Clone)]
struct Learned {
    table: &'static str,
    weights: &'static str,
    people: u64,
    certain: u64,
    certain_in: u64,
    smallest: f64,
    largest: f64,
    kl: f64,
    /// The promise as the recipe has it, in the eyes of its own adversary.
    holds: bool,
}

fn run(data: &Data) -> Result<Outcome> {
    let mut learned = Vec::new();
    let home =
        tempfile::tempdir().map_err(|error| Error::io("create", "a folder", error))?;
    write(home.path(), "men.csv", MEN)?;
    write(home.path(), "all-men.csv", &format!("{MEN}{ABSENT}"))?;
    let men = "[input]\ntable = \"men.csv\"\npopulation = \"all-men.csv\"\n\
               [columns]\njob = \"quasi\"\nnation = \"quasi\"\n";
    for way in WAYS {
        learned.push(release("five men", home.path(), men, "0.4", "0.95", way)?);
    }
    if let Some(folder) = data.if_any()? {
        let adult = Adult::read(data)?;
        let population = absolute(&folder.join("adult/adult.csv"))?;
        let trees = absolute(&folder.join("adult/hierarchies"))?;
        for (name, subset) in
            [("adult, random", Subset::Random), ("adult, diabetes", Subset::Diabetes)]
        {
            let rows = adult.subset(subset)?;
            write(home.path(), "table.csv", &adult.text(Some(&rows)))?;
            let mut recipe = format!(
                "[input]\ntable = \"table.csv\"\npopulation = {population:?}\n[columns]\n"
            );
            for column in NINE {
                recipe.push_str(&format!(
                    "{column} = {{ role = \"quasi\", type = \"category\", \
                     hierarchy = {{ csv = {:?} }} }}\n",
                    format!("{trees}/{column}.csv")
                ));
            }
            for way in WAYS {
                learned.push(release(name, home.path(), &recipe, "0.0", "0.3", way)?);
            }
        }
    }
    Ok(Outcome::new(
        COLUMNS,
        learned.iter().map(row).collect(),
        claims(&learned),
        figure(&learned),
    ))
}

/// Publishes and takes down what the audit's counting attack found.
fn release(
    table: &'static str,
    home: &Path,
    recipe: &str,
    min: &str,
    max: &str,
    (weights, adversary, cells): (&'static str, &str, &str),
) -> Result<Learned> {
    let more =
        if adversary.is_empty() { String::new() } else { format!(", {adversary}") };
    let recipe = format!(
        "{recipe}[promise]\ndelta-presence = {{ min = {min}, max = {max}{more} }}\n\
         [method]\nname = \"full-domain\"\ncells = {{ kind = \"pdf\", {cells} }}\n"
    );
    let spec = Spec::parse(&recipe, weights)?;
    let request = Request { replace: true, ..Request::new(&spec, home) };
    let report = publish(request, &Unwatched)?.audit;
    let number = |key: &str| counting(&report, key).and_then(Value::as_f64);
    Ok(Learned {
        table,
        weights,
        people: number("people").unwrap_or(0.0) as u64,
        certain: number("certain").unwrap_or(0.0) as u64,
        certain_in: number("certain_in").unwrap_or(0.0) as u64,
        smallest: number("smallest").unwrap_or(0.0),
        largest: number("largest").unwrap_or(1.0),
        kl: report.loss.get("kl").copied().unwrap_or(f64::NAN),
        holds: report.holds(),
    })
}

fn counting<'a>(report: &'a Report, key: &str) -> Option<&'a Value> {
    let attack = report.attacks.iter().find(|attack| attack.name == "counting");
    attack.and_then(|attack| attack.detail.get(key))
}

fn absolute(path: &Path) -> Result<String> {
    let found = fs::canonicalize(path)
        .map_err(|error| Error::io("read", path.display().to_string(), error))?;
    Ok(found.display().to_string())
}

fn row(learned: &Learned) -> Vec<Cell> {
    vec![
        learned.table.into(),
        learned.weights.into(),
        learned.people.into(),
        learned.certain.into(),
        learned.certain_in.into(),
        learned.smallest.into(),
        learned.largest.into(),
        learned.kl.into(),
        (if learned.holds { "yes" } else { "no" }).into(),
    ]
}

fn claims(learned: &[Learned]) -> Vec<Claim> {
    let paper = |one: &&Learned| !matches!(one.weights, "population" | "counted");
    let mut claims = Vec::new();
    for one in learned.iter().filter(paper) {
        let range = if one.table == "five men" { "(.4, .95)" } else { "(0, .3)" };
        claims.push(Claim::new(
            format!("{}, {}: presence stays in {range}", one.table, one.weights),
            format!(
                "who counts finds presence from {:.3} to {:.3} and places {} of {} people \
                 with certainty, {} of them in the table",
                one.smallest, one.largest, one.certain, one.people, one.certain_in
            ),
            one.largest <= if one.table == "five men" { 0.95 } else { 0.3 },
        ));
    }
    for one in learned.iter().filter(|one| !paper(one)) {
        claims.push(Claim::new(
            format!(
                "{}, {} weights (ours): presence stays in the range",
                one.table, one.weights
            ),
            format!(
                "who counts finds presence from {:.3} to {:.3}, kl {:.1}",
                one.smallest, one.largest, one.kl
            ),
            one.holds,
        ));
    }
    claims
}

fn figure(learned: &[Learned]) -> Figure {
    let mut tables: Vec<&str> = learned.iter().map(|one| one.table).collect();
    tables.dedup();
    let panel = |title: &str, up: &str, measure: fn(&Learned) -> f64| {
        Panel::new(
            title,
            ("private table", tables.iter().map(|table| (*table).to_owned()).collect()),
            (up, Scale::Linear, Form::Bars),
            WAYS.iter()
                .map(|(weights, ..)| {
                    let of = |table: &&str| {
                        let one = learned
                            .iter()
                            .find(|one| one.table == *table && one.weights == *weights);
                        one.map(measure)
                    };
                    tables.iter().map(of).collect()
                })
                .collect(),
        )
    };
    let series = WAYS
        .iter()
        .enumerate()
        .map(|(colour, (name, ..))| Series::new(*name, colour, Mark::Square));
    Figure::new(
        "What somebody learns who reads weights as counts",
        series,
        vec![
            panel("known to be in the table", "people", |one| one.certain_in as f64),
            panel("placed with certainty, in it or not", "people", |one| {
                one.certain as f64
            }),
            panel("largest presence found", "presence", |one| one.largest),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_example_is_disclosed_and_ours_is_not() {
        let outcome = run(&Data::default()).unwrap();
        let certain = |weights: &str| {
            let row = outcome.rows.iter().find(|row| row[1] == weights.into()).unwrap();
            row[3].clone()
        };
        assert_eq!(certain("exact shift"), Cell::from(5u64));
        assert_eq!(certain("population"), Cell::from(0u64));
        assert_eq!(certain("counted"), Cell::from(0u64));
    }
}
