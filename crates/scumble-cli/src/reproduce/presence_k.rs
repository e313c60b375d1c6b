//! Which k makes k-anonymity hide presence, by trying every k.

use std::path::Path;

use scumble::error::Result;
use scumble::hierarchy::Cells;
use scumble::loss::Loss;
use scumble::method::Mondrian;

use crate::output::grouped;
use crate::reproduce::Experiment;
use crate::reproduce::adult::{Adult, NINE, Subset};
use crate::reproduce::anonymity::{How, Rung, rungs, smallest};
use crate::reproduce::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::reproduce::delta::{DELTAS, Delta};
use crate::reproduce::outcome::{Cell, Claim, Outcome};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "presence-k",
    source: "nergiz2007presence, Figure 3",
    about: "the smallest k for which k-anonymity keeps delta-presence",
    run,
};

/// Full-domain, least loss; and Mondrian as its authors have it, with ranges.
const METHODS: [&str; 2] = ["full-domain", "mondrian"];

fn run(data: &Path) -> Result<Outcome> {
    let adult = Adult::read(data)?;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut panels = Vec::new();
    let mut found: Vec<(Delta, &str, Option<Rung>)> = Vec::new();
    let mut n_rows = 0;
    for subset in [Subset::Random, Subset::Diabetes] {
        let members = adult.subset(subset)?;
        n_rows = members.len() as u64;
        let mut values: Vec<Vec<Option<f64>>> = Vec::new();
        for method in METHODS {
            let (how, cells) = match method {
                "mondrian" => (How::Mondrian(Mondrian::default()), Cells::Interval),
                _ => (How::FullDomain(Loss::by_name("loss")?), Cells::Taxonomy),
            };
            let specs = adult.specs(&NINE, cells)?;
            let table = adult.count(Some(&members), &specs)?;
            let population = adult.count(None, &specs)?;
            let rungs = rungs(how, &table, &population)?;
            let best = DELTAS.map(|delta| smallest(&rungs, delta));
            for (delta, rung) in DELTAS.iter().zip(best) {
                rows.push(vec![
                    subset.name().into(),
                    delta.min.into(),
                    delta.max.into(),
                    method.into(),
                    rung.map(|rung| rung.k).into(),
                    rung.map(|rung| rung.actual).into(),
                    rung.map(|rung| rung.highest).into(),
                ]);
                found.push((*delta, method, rung.cloned()));
            }
            values
                .push(best.iter().map(|rung| Some(rung.as_ref()?.k as f64)).collect());
            values.push(
                best.iter().map(|rung| Some(rung.as_ref()?.actual as f64)).collect(),
            );
        }
        panels.push(Panel {
            title: format!("{} private table", subset.name()),
            across: "delta, smallest and largest presence allowed".to_owned(),
            up: "k".to_owned(),
            form: Form::Bars,
            scale: Scale::Logarithmic,
            places: DELTAS.iter().map(Delta::to_string).collect(),
            values,
        });
    }
    let series = METHODS.iter().zip([(0, 6), (1, 5)]).flat_map(|(method, colours)| {
        [("smallest k", colours.0), ("actual k", colours.1)].map(|(what, colour)| {
            Series { name: format!("{method}, {what}"), colour, mark: Mark::Square }
        })
    });
    Ok(Outcome {
        columns: vec![
            "subset",
            "delta_min",
            "delta_max",
            "method",
            "smallest_k",
            "actual_k",
            "largest_presence",
        ],
        claims: claims(&found, n_rows),
        rows,
        figure: Figure {
            title: "The smallest k that gives delta-presence".to_owned(),
            series: series.collect(),
            panels,
        },
    })
}

fn claims(found: &[(Delta, &str, Option<Rung>)], n_rows: u64) -> Vec<Claim> {
    let whole = |rung: &Rung| rung.actual == n_rows;
    let high =
        found.iter().filter(|(delta, ..)| *delta == Delta { min: 0.04, max: 0.07 });
    let some: Vec<&Rung> = high.filter_map(|(_, _, rung)| rung.as_ref()).collect();
    let said = "for (.04, .07) no value of k satisfied delta-presence";
    let first = match some.first() {
        None => Claim::new(said, "none of 4 runs found a k", true),
        Some(_) if some.iter().all(|rung| whole(rung)) => Claim::new(
            said,
            "only one group of all rows does, which shows nothing but their number",
            true,
        ),
        Some(rung) => Claim::new(said, format!("k = {} does", grouped(rung.k)), false),
    };
    let one_group =
        found.iter().flat_map(|(_, _, rung)| rung).filter(|rung| whole(rung));
    let n = one_group.count();
    let second = Claim::new(
        "in some cases the entire dataset is anonymized",
        format!("one group of all rows in {n} of {} cases", found.len()),
        n > 0,
    );
    let above = found.iter().filter_map(|(_, _, rung)| rung.as_ref());
    let above = above.filter(|rung| rung.actual > rung.k).count();
    let third = Claim::new(
        "the smallest group is often larger than the k that was asked for",
        format!("in {above} cases"),
        above > 0,
    );
    vec![first, second, third]
}
