//! MPALM's nine strategies and SPALM: loss, discernibility, time.

use scumble::error::Result;
use scumble::loss::Loss;
use scumble::text::short;

use crate::adult::{Adult, NINE, Subset};
use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::clock::timed;
use crate::delta::{DELTAS, Delta, panel};
use crate::outcome::{Cell, Claim, Outcome};
use crate::private::{How, Private, ReleaseCost, STRATEGIES, hidden};
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "presence-strategies",
    source: "nergiz2007presence, Figures 5, 6 and 7",
    about: "loss, discernibility and time of MPALM's nine strategies and of SPALM",
    needs: RequiredData::Data,
    run,
};

const COLUMNS: &str = "delta_min,delta_max,method,loss,discernibility,groups,seconds";

/// One method at one range.
struct Run {
    delta: Delta,
    measured: ReleaseCost,
    seconds: f64,
}

fn run(data: &Data) -> Result<Outcome> {
    let adult = Adult::read(data)?;
    let private = Private::read(&adult, Subset::Diabetes, &adult.specs(&NINE)?)?;
    let best = How::FullDomain(Loss::by_name("loss")?);
    let squares = How::FullDomain(Loss::by_name("discernibility")?);
    let methods = STRATEGIES.into_iter().chain([("SPALM", best)]);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut runs: Vec<Vec<Run>> = Vec::new();
    for (name, how) in methods {
        let mut line = Vec::new();
        for delta in DELTAS {
            let (measured, seconds) = timed(|| hidden(how, &private, delta));
            let Some(mut measured) = measured? else { continue };
            if let How::FullDomain(_) = how
                && let Some(other) = hidden(squares, &private, delta)?
            {
                // Figure 6 has the least discernibility, not that of the least loss.
                measured.discernibility = other.discernibility;
            }
            rows.push(vec![
                delta.min.into(),
                delta.max.into(),
                name.into(),
                measured.loss.into(),
                measured.discernibility.into(),
                measured.groups.into(),
                seconds.into(),
            ]);
            line.push(Run { delta, measured, seconds });
        }
        runs.push(line);
    }
    let title = "MPALM's nine strategies and SPALM, diabetes table";
    let figure = Figure::new(title, series(), panels(&runs));
    Ok(Outcome::new(COLUMNS, rows, claims(&runs), figure))
}

/// Colours for the choice of columns, marks for the choice of values.
fn series() -> Vec<Series> {
    let marks = [Mark::Circle, Mark::Square, Mark::Triangle];
    let cuts = STRATEGIES
        .iter()
        .enumerate()
        .map(|(number, (name, _))| Series::new(*name, number / 3, marks[number % 3]));
    let levels = Series::new("SPALM", 4, Mark::Circle);
    cuts.chain([levels]).collect()
}

fn panels(runs: &[Vec<Run>]) -> Vec<Panel> {
    let panel = |up: &str, scale, measure: &dyn Fn(&Run) -> f64| {
        let line = |line: &Vec<Run>| {
            let at = |delta| line.iter().find(|run| run.delta == delta);
            DELTAS.iter().map(|delta| at(*delta).map(measure)).collect()
        };
        panel(up, (up, scale, Form::Lines), runs.iter().map(line).collect())
    };
    vec![
        panel("loss metric", Scale::Linear, &|run| run.measured.loss),
        panel("discernibility metric", Scale::Logarithmic, &|run| {
            run.measured.discernibility
        }),
        panel("seconds", Scale::Logarithmic, &|run| run.seconds),
    ]
}

fn claims(runs: &[Vec<Run>]) -> Vec<Claim> {
    let mean = |line: &Vec<Run>| {
        line.iter().map(|run| run.measured.loss).sum::<f64>() / line.len() as f64
    };
    let means: Vec<f64> = runs.iter().map(mean).collect();
    let (cuts, levels) = (&means[..STRATEGIES.len()], means[STRATEGIES.len()]);
    let n2 = means[1];
    let rank = 1 + cuts.iter().filter(|other| **other < n2).count();
    let better = cuts.iter().filter(|mean| **mean < levels).count();

    let gain = |max: f64| {
        let at = |line: &Vec<Run>| {
            let run = line.iter().find(|run| run.delta == Delta { min: 0.0, max });
            run.map_or(f64::NAN, |run| run.measured.loss)
        };
        at(&runs[1]) / at(&runs[STRATEGIES.len()])
    };
    let seconds = |wide: bool| {
        let cuts = runs[..STRATEGIES.len()].iter().flatten();
        let chosen =
            cuts.filter(|run| run.delta.min == 0.0 && (run.delta.max > 0.1) == wide);
        let times: Vec<f64> = chosen.map(|run| run.seconds).collect();
        times.iter().sum::<f64>() / times.len() as f64
    };
    vec![
        Claim::new(
            "the multidimensional approach achieves privacy with lower distortion",
            format!(
                "{better} of 9 strategies have a smaller mean loss than SPALM's {}",
                short(levels)
            ),
            better > 4,
        ),
        Claim::new(
            "particularly for larger values of delta_max",
            format!(
                "n2 has {} of SPALM's loss at (0, .05), {} at (0, .5)",
                short(gain(0.05)),
                short(gain(0.5))
            ),
            gain(0.5) < gain(0.05),
        ),
        Claim::new(
            "the n2 strategy appears effective",
            format!("its mean loss is {}, number {rank} of 9", short(n2)),
            rank <= 3,
        ),
        Claim::new(
            "as the amount of generalization required goes down, the computational cost \
             goes up",
            format!(
                "mean seconds of a strategy {:.3} for delta up to (0, .1), {:.3} above",
                seconds(false),
                seconds(true)
            ),
            seconds(true) > seconds(false),
        ),
    ]
}
