//! pdf cells under delta-presence: what each kind of weights costs, teaches and takes.

use scumble::decimal::Decimal;
use scumble::error::Result;
use scumble::hierarchy::{Column, Cover, Microdata};
use scumble::loss::Loss;
use scumble::method::pdf::{self, Pdf, PdfGroup, Range, Shift, Whose};
use scumble::method::{Grouping, Weighting};
use scumble::table::{Code, GroupId, Of};
use scumble::text::{percent, short};

use crate::adult::{Adult, NINE, Subset};
use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::clock::timed;
use crate::delta::{AXIS, Delta};
use crate::mined::{Errors, Miner};
use crate::outcome::{Cell, Claim, Outcome};
use crate::private::How;
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "pdf-presence",
    source: "nergiz2007pdf, Figure 4 and Table VIII",
    about: "cost, rule errors and time of pdf cells under delta-presence, by weights",
    needs: RequiredData::Data,
    run,
};

const COLUMNS: &str = "delta_min,delta_max,weights,groups,processed,kl,\
    association_error,class_error,seconds";

/// First the lower end varies, then the upper one. The text has .00001 to .01 for the
/// lower and .5 to .8 for the upper end.
const DELTAS: [Delta; 10] = [
    Delta { min: 0.00001, max: 0.8 },
    Delta { min: 0.0001, max: 0.8 },
    Delta { min: 0.001, max: 0.8 },
    Delta { min: 0.01, max: 0.8 },
    Delta { min: 0.001, max: 0.1 },
    Delta { min: 0.001, max: 0.2 },
    Delta { min: 0.001, max: 0.3 },
    Delta { min: 0.001, max: 0.5 },
    Delta { min: 0.001, max: 0.6 },
    Delta { min: 0.001, max: 0.7 },
];

/// WPALM's steps, and the sets of people beyond which it passes a group over.
const STEPS: u32 = 10;
const MOST_SETS: f64 = 5e6;

const WEIGHTS: [(&str, WeightScheme); 7] = [
    ("SPALM (even)", WeightScheme::Even),
    ("WPALM (steps)", WeightScheme::Steps),
    ("PPALM (bounds)", WeightScheme::Bounds),
    ("exact shift", WeightScheme::Exact),
    ("population", WeightScheme::Population),
    ("counted", WeightScheme::Counted),
    ("own (unsafe)", WeightScheme::Own),
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum WeightScheme {
    /// As nodes have them.
    Even,
    /// Steps towards the table's own, in groups that have few enough sets of people.
    Steps,
    Bounds,
    Exact,
    Population,
    Counted,
    /// The table's own, whatever that tells.
    Own,
}

/// One kind of weights at one range.
struct WeightRun {
    delta: Delta,
    kl: f64,
    /// The share of the population in groups that were looked at.
    processed: f64,
    errors: Errors,
    seconds: f64,
}

fn run(data: &Data) -> Result<Outcome> {
    let adult = Adult::read(data)?;
    let mut specs = adult.specs(&NINE)?;
    specs.push(adult.class_spec()?);
    let data = adult.count_within(&adult.subset(Subset::Diabetes)?, &specs)?;
    let miner = Miner::new(&data)?;
    // What is measured is what is searched for.
    let how = How::FullDomain(Loss::by_name("kl")?);
    let columns = how.columns(&data);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut runs: Vec<Vec<WeightRun>> = WEIGHTS.iter().map(|_| Vec::new()).collect();
    for delta in DELTAS {
        let (found, searching) = timed(|| how.hide(&columns, &data.census, delta));
        // Where the share of the whole table is in range, one group always will do.
        let Some(grouping) = found? else { continue };
        let release = SpalmGroups::new(&data, &columns, &grouping, delta)?;
        for ((name, weights), line) in WEIGHTS.into_iter().zip(&mut runs) {
            let run = release.run(&miner, weights, searching)?;
            rows.push(vec![
                delta.min.into(),
                delta.max.into(),
                name.into(),
                (release.parts.iter().filter(|part| part.n_rows() > 0).count() as u64)
                    .into(),
                run.processed.into(),
                run.kl.into(),
                run.errors.association.into(),
                run.errors.class.into(),
                run.seconds.into(),
            ]);
            line.push(run);
        }
    }
    let colours = [4, 6, 0, 2, 5, 1, 7];
    let series = WEIGHTS
        .iter()
        .zip(colours)
        .map(|((name, _), colour)| Series::new(*name, colour, Mark::Circle));
    let title = "Weights of pdf cells under delta-presence, diabetes table".to_owned();
    let figure = Figure::new(title, series, panels(&runs));
    Ok(Outcome::new(COLUMNS, rows, claims(&runs), figure))
}

/// The groups of SPALM, to be published with one or another kind of weights.
struct SpalmGroups<'a> {
    data: &'a Microdata,
    columns: &'a [Column],
    grouping: &'a Grouping,
    parts: Vec<PdfGroup>,
    delta: Delta,
    range: Range,
}

impl<'a> SpalmGroups<'a> {
    fn new(
        data: &'a Microdata,
        columns: &'a [Column],
        grouping: &'a Grouping,
        delta: Delta,
    ) -> Result<Self> {
        let range = Range {
            min: Decimal::from_f64("min", delta.min)?,
            max: Decimal::from_f64("max", delta.max)?,
        };
        let parts = grouping.parts(&data.census);
        Ok(Self { data, columns, grouping, parts, delta, range })
    }

    fn run(
        &self,
        miner: &Miner,
        weights: WeightScheme,
        searching: f64,
    ) -> Result<WeightRun> {
        let (pdfs, weighting) = timed(|| self.weighted(weights));
        let kl = self.parts.iter().zip(&pdfs).map(|(part, pdfs)| pdf::kl(part, pdfs));
        let cell = |group: GroupId, place: usize| {
            let values = pdfs[group][place].values.iter();
            values.map(|(code, weight)| (code.get(), *weight)).collect()
        };
        let groups = miner.groups(self.data, self.grouping, cell)?;
        let people = |part: &PdfGroup| part.n_people() as f64;
        let processed = self.parts.iter().filter(|part| processes(weights, part));
        Ok(WeightRun {
            delta: self.delta,
            kl: kl.sum(),
            processed: processed.map(people).sum::<f64>()
                / self.parts.iter().map(people).sum::<f64>(),
            errors: miner.errors(&groups)?,
            // Every kind begins with the search.
            seconds: searching + weighting,
        })
    }

    fn weighted(&self, weights: WeightScheme) -> Of<GroupId, Vec<Pdf>> {
        let by = |weighting| {
            self.grouping.weighted(self.columns, &self.data.census, weighting)
        };
        let shift = |shift| by(Weighting::Shifted(self.range, shift));
        match weights {
            WeightScheme::Even => {
                self.grouping.covers.iter().map(|covers| self.even(covers)).collect()
            }
            WeightScheme::Bounds => shift(Shift::Bounds),
            WeightScheme::Exact => shift(Shift::Exact),
            WeightScheme::Population => by(Weighting::Population),
            WeightScheme::Counted => by(Weighting::Counted(self.range)),
            WeightScheme::Own => by(Weighting::Own),
            WeightScheme::Steps => {
                let groups = self.parts.iter().zip(&self.grouping.covers);
                groups
                    .map(|(part, covers)| match processes(weights, part) {
                        true => self.stepped(part, covers),
                        false => self.even(covers),
                    })
                    .collect()
            }
        }
    }

    /// WPALM's weights of one group. Its presence is that of all sets of people, which we
    /// compute without going through them.
    fn stepped(&self, part: &PdfGroup, covers: &[Cover]) -> Vec<Pdf> {
        let bases: Vec<Vec<Code>> = self.bases(covers).collect();
        pdf::shifted(part, &bases, &self.range, Shift::Steps(STEPS))
    }

    fn even(&self, covers: &[Cover]) -> Vec<Pdf> {
        let cell = |codes: Vec<Code>| {
            let weight = 1.0 / codes.len() as f64;
            let values = codes.into_iter().map(|code| (code, weight)).collect();
            Pdf { values, whose: Whose::Shifted }
        };
        self.bases(covers).map(cell).collect()
    }

    /// The values below the nodes of a group.
    fn bases(&self, covers: &[Cover]) -> impl Iterator<Item = Vec<Code>> {
        let columns = self.columns.iter().zip(covers);
        columns.map(|(column, cover)| cover.codes(&column.domain, &column.hierarchy))
    }
}

/// Whether a group's weights are looked at: WPALM adds up products over all sets of as
/// many people as are present, and passes over groups that have too many.
fn processes(weights: WeightScheme, part: &PdfGroup) -> bool {
    let sets = || {
        let (all, present) = (part.n_people(), part.n_rows());
        let taken = present.min(all - present);
        (0..taken).map(|i| ((all - i) as f64).ln() - ((i + 1) as f64).ln()).sum::<f64>()
    };
    match weights {
        WeightScheme::Even => false,
        WeightScheme::Steps => part.n_rows() > 0 && sets() <= MOST_SETS.ln(),
        _ => true,
    }
}

fn panels(runs: &[Vec<WeightRun>]) -> Vec<Panel> {
    let panel = |title: &str, up: &str, scale, measure: &dyn Fn(&WeightRun) -> f64| {
        Panel::new(
            title,
            (AXIS, DELTAS.iter().map(Delta::to_string).collect()),
            (up, scale, Form::Lines),
            runs.iter()
                .map(|line| {
                    let at =
                        |delta: &Delta| line.iter().find(|run| run.delta == *delta);
                    DELTAS.iter().map(|delta| at(delta).map(measure)).collect()
                })
                .collect(),
        )
        .apart(&[4])
    };
    vec![
        panel("KL cost", "KL", Scale::Linear, &|run| run.kl),
        panel("association rules", "error", Scale::Linear, &|run| {
            run.errors.association
        }),
        panel("class rules", "error", Scale::Linear, &|run| run.errors.class),
        panel("time, search included", "seconds", Scale::Logarithmic, &|run| {
            run.seconds
        }),
    ]
}

fn claims(runs: &[Vec<WeightRun>]) -> Vec<Claim> {
    let of = |weights: WeightScheme| {
        let place = WEIGHTS.iter().position(|(_, known)| *known == weights);
        &runs[place.unwrap_or(0)]
    };
    let ratio = |weights: WeightScheme| {
        let pairs = of(WeightScheme::Even).iter().zip(of(weights));
        pairs.map(|(even, run)| even.kl / run.kl).fold(0.0, f64::max)
    };
    let (steps, bounds) = (ratio(WeightScheme::Steps), ratio(WeightScheme::Bounds));
    // By what share PPALM's cost falls when the upper end goes from one to another.
    let widened = |from: f64, to: f64| {
        let cost = |max: f64| {
            let wanted = Delta { min: 0.001, max };
            let run = of(WeightScheme::Bounds).iter().find(|run| run.delta == wanted);
            run.map_or(f64::NAN, |run| run.kl)
        };
        1.0 - cost(to) / cost(from)
    };
    let ignored = of(WeightScheme::Steps).iter().map(|run| 1.0 - run.processed);
    let ignored = ignored.fold(1.0, f64::min);
    let mean = |weights: WeightScheme| {
        let line = of(weights);
        line.iter().map(|run| run.seconds).sum::<f64>() / line.len() as f64
    };
    let safe = ratio(WeightScheme::Counted);
    let correlation = correlation(runs);
    vec![
        Claim::new(
            "WPALM improves SPALM, but not significantly",
            format!("the KL cost falls by a factor of {} at most", short(steps)),
            (1.0..1.2).contains(&steps),
        ),
        Claim::new(
            "PPALM introduces a great increase in utilization, by a factor of 3 at times",
            format!(
                "by {} at most; counted weights, which are safe, by {}",
                short(bounds),
                short(safe)
            ),
            bounds >= 2.5,
        ),
        Claim::new(
            "increasing delta_max beyond 0.5 adds little utilization",
            format!(
                "PPALM's KL cost falls by {} from .1 to .5, by {} from .5 to .8",
                percent(widened(0.1, 0.5)),
                percent(widened(0.5, 0.8))
            ),
            widened(0.5, 0.8) < 0.5 * widened(0.1, 0.5),
        ),
        Claim::new(
            "the majority of the tuples (90+ %) were ignored by WPALM",
            format!(
                "at least {} of the people are in groups too large for it",
                percent(ignored)
            ),
            ignored > 0.9,
        ),
        Claim::new(
            "error rates in finding rules correlate with the KL costs",
            format!(
                "correlation of association error and KL cost {}",
                short(correlation)
            ),
            correlation > 0.5,
        ),
        Claim::new(
            "SPALM has the shortest running time; PPALM requires more, but realistically so",
            format!(
                "mean seconds {:.3} SPALM, {:.3} PPALM, {:.3} exact shift, {:.3} counted",
                mean(WeightScheme::Even),
                mean(WeightScheme::Bounds),
                mean(WeightScheme::Exact),
                mean(WeightScheme::Counted)
            ),
            mean(WeightScheme::Even) <= mean(WeightScheme::Bounds),
        ),
    ]
}

/// How closely the error of association rules follows the KL cost, over all runs.
fn correlation(runs: &[Vec<WeightRun>]) -> f64 {
    let pairs: Vec<(f64, f64)> =
        runs.iter().flatten().map(|run| (run.kl, run.errors.association)).collect();
    let n = pairs.len() as f64;
    let (x, y) = pairs.iter().fold((0.0, 0.0), |(x, y), pair| (x + pair.0, y + pair.1));
    let (x, y) = (x / n, y / n);
    let sum = |term: &dyn Fn(f64, f64) -> f64| {
        pairs.iter().map(|pair| term(pair.0 - x, pair.1 - y)).sum::<f64>()
    };
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}
