//! What hiding presence costs: with k-anonymity, and with methods made for it.

use scumble::error::Result;
use scumble::loss::Loss;
use scumble::method::Mondrian;
use scumble::text::short;

use crate::adult::{Adult, NINE, Subset};
use crate::anonymity::{rungs, smallest};
use crate::chart::{Figure, Form, Mark, Scale, Series};
use crate::delta::{DELTAS, Delta, panel};
use crate::outcome::{Cell, Claim, Outcome};
use crate::private::{How, N1, Private, ReleaseCost, hidden};
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "presence-vs-k",
    source: "nergiz2007presence, Figure 4",
    about: "what delta-presence costs by k-anonymity, SPALM, and MPALM n1",
    needs: RequiredData::Data,
    run,
};

const COLUMNS: &str = "subset,delta_min,delta_max,method,loss,discernibility";

const METHODS: [&str; 4] = ["k full-domain", "k mondrian", "SPALM", "MPALM n1"];

/// What each method costs for each range; nothing where it cannot be done.
type MethodCosts = Vec<Vec<Option<f64>>>;

fn run(data: &Data) -> Result<Outcome> {
    let adult = Adult::read(data)?;
    let specs = adult.specs(&NINE)?;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut panels = Vec::new();
    let mut all: Vec<MethodCosts> = Vec::new();
    for subset in [Subset::Random, Subset::Diabetes] {
        let private = Private::read(&adult, subset, &specs)?;
        // What is searched for is what is measured.
        let losses = costs(&private, "loss", |measured| measured.loss)?;
        let squares =
            costs(&private, "discernibility", |measured| measured.discernibility)?;
        for (number, method) in METHODS.into_iter().enumerate() {
            for (place, Delta { min, max }) in DELTAS.into_iter().enumerate() {
                rows.push(vec![
                    subset.name().into(),
                    min.into(),
                    max.into(),
                    method.into(),
                    losses[number][place].into(),
                    squares[number][place].into(),
                ]);
            }
        }
        for (up, values, scale) in [
            ("loss metric", losses, Scale::Linear),
            ("discernibility metric", squares, Scale::Logarithmic),
        ] {
            let title = format!("{up}, {} table", subset.name());
            panels.push(panel(title, (up, scale, Form::Bars), values.clone()));
            all.push(values);
        }
    }
    let series = Series::each(METHODS, [6, 0, 5, 1], Mark::Square);
    let title = "k-anonymity and delta-presence methods at the same delta";
    let figure = Figure::new(title, series, panels);
    Ok(Outcome::new(COLUMNS, rows, claims(&all), figure))
}

/// The cost of every method, with the full-domain ones searching for the least.
fn costs(
    private: &Private,
    loss: &str,
    measure: impl Fn(&ReleaseCost) -> f64,
) -> Result<MethodCosts> {
    let best = How::FullDomain(Loss::by_name(loss)?);
    let mut costs = Vec::new();
    for how in [best, How::Mondrian(Mondrian::default())] {
        let rungs = rungs(how, private)?;
        let cost = |delta| smallest(&rungs, delta).map(|rung| measure(&rung.measured));
        costs.push(DELTAS.into_iter().map(cost).collect());
    }
    for how in [best, N1] {
        let mut line = Vec::new();
        for delta in DELTAS {
            line.push(hidden(how, private, delta)?.as_ref().map(&measure));
        }
        costs.push(line);
    }
    Ok(costs)
}

fn claims(all: &[MethodCosts]) -> Vec<Claim> {
    let (mut cheapest, mut beaten, mut of) = (0, 0, 0);
    for costs in all {
        for place in 0..DELTAS.len() {
            let Some(cuts) = costs[3][place] else { continue };
            let others = costs[..3].iter().filter_map(|line| line[place]);
            let least = others.fold(f64::INFINITY, f64::min);
            of += 1;
            cheapest += usize::from(cuts < least);
            // "Significantly": by a quarter.
            beaten += usize::from(costs[2][place].is_some_and(|c| cuts > 1.25 * c));
        }
    }
    let mean = |costs: &MethodCosts| {
        let values: Vec<f64> = costs[3].iter().copied().flatten().collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let (random, skewed) = (mean(&all[0]), mean(&all[2]));
    vec![
        Claim::new(
            "the multidimensional delta-presence algorithm gives significantly higher \
             utility by both metrics",
            format!("MPALM n1 is the cheapest of the four in {cheapest} of {of} cases"),
            2 * cheapest > of,
        ),
        Claim::new(
            "in one case the optimal single-dimensional optimization fares significantly \
             better",
            format!(
                "MPALM n1 costs over a quarter more than SPALM in {beaten} of {of}"
            ),
            beaten > 0,
        ),
        Claim::new(
            "the multidimensional approach seems to have trouble with the skewed dataset",
            format!(
                "its mean loss is {} on the random table, {} on the skewed one",
                short(random),
                short(skewed)
            ),
            skewed > random,
        ),
    ]
}
