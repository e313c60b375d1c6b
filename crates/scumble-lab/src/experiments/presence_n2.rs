//! k-anonymity and delta-presence by the same strategy of cuts.

use scumble::error::Result;

use crate::adult::{Adult, NINE, Subset};
use crate::anonymity::{rungs, smallest};
use crate::chart::{Figure, Form, Mark, Scale, Series};
use crate::delta::{DELTAS, Delta, panel};
use crate::outcome::{Cell, Claim, Outcome};
use crate::private::{N2, Private, ReleaseCost, hidden};
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "presence-n2",
    source: "nergiz2007presence, Figure 9",
    about: "k-anonymity and MPALM by the strategy n2, diabetes table",
    needs: RequiredData::Data,
    run,
};

const COLUMNS: &str = "delta_min,delta_max,method,k,loss,discernibility";

fn run(data: &Data) -> Result<Outcome> {
    let adult = Adult::read(data)?;
    let private = Private::read(&adult, Subset::Diabetes, &adult.specs(&NINE)?)?;
    let rungs = rungs(N2, &private)?;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut lines: [Vec<Option<ReleaseCost>>; 2] = [Vec::new(), Vec::new()];
    for delta in DELTAS {
        let rung = smallest(&rungs, delta);
        let both = [rung.map(|rung| rung.measured), hidden(N2, &private, delta)?];
        let k = [rung.map(|rung| rung.k), None];
        for (number, method) in ["k-anonymity n2", "MPALM n2"].into_iter().enumerate() {
            let Delta { min, max } = delta;
            rows.push(vec![
                min.into(),
                max.into(),
                method.into(),
                k[number].into(),
                both[number].map(|measured| measured.loss).into(),
                both[number].map(|measured| measured.discernibility).into(),
            ]);
            lines[number].push(both[number]);
        }
    }
    let panel = |up: &str, scale, measure: fn(ReleaseCost) -> f64| {
        let line = |line: &Vec<Option<ReleaseCost>>| {
            line.iter().map(|measured| measured.map(measure)).collect()
        };
        panel(up, (up, scale, Form::Bars), lines.iter().map(line).collect())
    };
    let panels = vec![
        panel("loss metric", Scale::Linear, |measured| measured.loss),
        panel("discernibility metric", Scale::Logarithmic, |measured| {
            measured.discernibility
        }),
    ];
    let series = Series::each(["k-anonymity n2", "MPALM n2"], [0, 1], Mark::Square);
    let title = "k-anonymity and MPALM by the strategy n2, diabetes table";
    let figure = Figure::new(title, series, panels);
    Ok(Outcome::new(COLUMNS, rows, claims(&lines), figure))
}

fn claims(lines: &[Vec<Option<ReleaseCost>>; 2]) -> Vec<Claim> {
    let pairs = || lines[0].iter().zip(&lines[1]);
    let both = || pairs().filter_map(|(k, presence)| Some(((*k)?, (*presence)?)));
    let n = both().count();
    let loss = both().filter(|(k, presence)| presence.loss < k.loss).count();
    let squares = both()
        .filter(|(k, presence)| presence.discernibility < k.discernibility)
        .count();
    let only =
        pairs().filter(|(k, presence)| k.is_none() && presence.is_some()).count();
    vec![Claim::new(
        "k-anonymity still is not as effective at preserving utility while hiding presence",
        format!(
            "of {n} ranges that both can keep MPALM costs less in {loss} by loss, {squares} \
             by discernibility; it alone keeps {only} more"
        ),
        2 * loss > n && 2 * squares > n,
    )]
}
