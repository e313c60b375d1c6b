//! Which k makes k-anonymity hide presence, by trying every k.

use scumble::error::Result;
use scumble::loss::Loss;
use scumble::method::Mondrian;
use scumble::text::grouped;

use crate::adult::{Adult, NINE, Subset};
use crate::anonymity::{Rung, rungs, smallest};
use crate::chart::{Figure, Form, Mark, Scale, Series};
use crate::delta::{DELTAS, Delta, panel};
use crate::outcome::{Cell, Claim, Outcome};
use crate::private::{How, Private};
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "presence-k",
    source: "nergiz2007presence, Figure 3",
    about: "the smallest k for which k-anonymity keeps delta-presence",
    needs: RequiredData::Data,
    run,
};

const COLUMNS: &str = "subset,delta_min,delta_max,method,smallest_k,actual_k,\
    largest_presence";

/// The smallest k for one range, if any k will do.
struct SmallestK {
    delta: Delta,
    rung: Option<Rung>,
    /// Whether nothing is published but one group of all rows.
    is_whole: bool,
}

fn run(data: &Data) -> Result<Outcome> {
    let adult = Adult::read(data)?;
    let specs = adult.specs(&NINE)?;
    // Full-domain with the least loss, and Mondrian as its authors have it.
    let methods = [
        ("full-domain", How::FullDomain(Loss::by_name("loss")?)),
        ("mondrian", How::Mondrian(Mondrian::default())),
    ];
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut panels = Vec::new();
    let mut all: Vec<SmallestK> = Vec::new();
    for subset in [Subset::Random, Subset::Diabetes] {
        let private = Private::read(&adult, subset, &specs)?;
        let mut values: Vec<Vec<Option<f64>>> = Vec::new();
        for (method, how) in methods {
            let rungs = rungs(how, &private)?;
            let best = DELTAS.map(|delta| smallest(&rungs, delta));
            values
                .push(best.iter().map(|rung| Some(rung.as_ref()?.k as f64)).collect());
            let actual = best.iter().map(|rung| Some(rung.as_ref()?.actual as f64));
            values.push(actual.collect());
            for (delta, rung) in DELTAS.into_iter().zip(best) {
                rows.push(vec![
                    subset.name().into(),
                    delta.min.into(),
                    delta.max.into(),
                    method.into(),
                    rung.map(|rung| rung.k).into(),
                    rung.map(|rung| rung.actual).into(),
                    rung.map(|rung| rung.highest).into(),
                ]);
                let is_whole =
                    rung.is_some_and(|rung| rung.actual == private.alone.n_rows());
                all.push(SmallestK { delta, rung: rung.cloned(), is_whole });
            }
        }
        let up = ("k", Scale::Logarithmic, Form::Bars);
        panels.push(panel(format!("{} table", subset.name()), up, values));
    }
    let series = methods.iter().zip([(0, 6), (1, 5)]).flat_map(|(method, colours)| {
        [("smallest k", colours.0), ("its smallest group", colours.1)].map(
            |(what, colour)| {
                Series::new(format!("{}, {what}", method.0), colour, Mark::Square)
            },
        )
    });
    let title = "The smallest k for which k-anonymity keeps delta-presence";
    let figure = Figure::new(title, series, panels);
    Ok(Outcome::new(COLUMNS, rows, claims(&all), figure))
}

fn claims(all: &[SmallestK]) -> Vec<Claim> {
    let high = all.iter().filter(|found| found.delta == Delta { min: 0.04, max: 0.07 });
    let first = match high.filter_map(|found| found.rung.as_ref()).next() {
        None => ("no k does".to_owned(), true),
        Some(rung) => (
            format!(
                "full-domain on the random table does with k = {}",
                grouped(rung.k)
            ),
            false,
        ),
    };
    let n_whole = all.iter().filter(|found| found.is_whole).count();
    let of = all.iter().filter(|found| found.rung.is_some()).count();
    vec![
        Claim::new(
            "for (.04, .07) no value of k satisfied delta-presence",
            first.0,
            first.1,
        ),
        Claim::new(
            "in some cases, the entire dataset is anonymized",
            format!("one group of all rows in {n_whole} of {of} cases"),
            n_whole > 0,
        ),
    ]
}
