//! A hole in r-robustness: the Delta bound is kept, and somebody is surer than 1/r.

mod bound;

use rand::RngExt;
use rand::seq::IndexedRandom;
use scumble::decimal::Decimal;
use scumble::error::Result;
use scumble::method::{RobustTask, robust};
use scumble::promise::{
    PriorSet, Priors, Promises, RRobustness, Scratch, binary_posteriors, delta_safe,
    swap_bound,
};
use scumble::random::Randomness;
use scumble::table::{Code, EntryId, TupleId};
use scumble::text::{counted, grouped, percent, short};

use self::bound::{delta_ceil, delta_max, within_bound};
use crate::bucketed::patients;
use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::outcome::{Cell, Claim, OURS, Outcome, SOURCE};
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "delta-bound",
    source: "wong2010inference, Theorem 1 and Table V; a hole",
    about: "groups keep the published bound and give people away; not with ours",
    needs: RequiredData::Nothing,
    run,
};

const COLUMNS: &str = "table,bound,n,r,f,delta,said,groups,kept,broken,worst,allowed";

/// Table V: N, r, f and the largest Delta.
const TABLE: [(usize, f64, f64, f64); 8] = [
    (3, 2.0, 0.1, 0.0474),
    (3, 2.0, 0.3, 0.1235),
    (3, 2.0, 0.5, 0.1667),
    (3, 2.0, 0.9, 0.0818),
    (4, 2.0, 0.3, 0.1750),
    (6, 2.0, 0.3, 0.2211),
    (6, 3.0, 0.3, 0.1537),
    (6, 4.0, 0.3, 0.0955),
];

/// Sizes of the worst group.
const WORST: [usize; 8] = [3, 4, 5, 6, 8, 10, 12, 16];

/// Sizes and r of groups that are drawn, and how many of each.
const SIZES: std::ops::RangeInclusive<usize> = 3..=8;
const RS: [f64; 2] = [2.0, 3.0];
const DRAWN: u64 = 2_000;

/// A group of the sample is drawn from so many rows, those that are most alike.
const POOL: usize = 60;
const SUPPORT: u64 = 30;

/// The bounds that are compared: of the source, and ours.
const BOUNDS: [&str; 2] = [SOURCE, OURS];

/// What groups that were drawn show.
#[derive(Debug, Clone, Copy, Default)]
struct GroupTrial {
    /// How many were drawn, how many of them keep the bound, and of these, how many break 1/r.
    groups: u64,
    kept: u64,
    broken: u64,
    /// The largest posterior of those that keep the bound.
    worst: f64,
}

impl GroupTrial {
    fn add(&mut self, kept: bool, posterior: f64, r: f64) {
        self.groups += 1;
        if kept {
            self.kept += 1;
            self.broken += u64::from(posterior > (1.0 + 1e-9) / r);
            self.worst = self.worst.max(posterior);
        }
    }

    fn share(&self) -> Option<f64> {
        (self.kept > 0).then(|| self.broken as f64 / self.kept as f64)
    }
}

/// A table of groups that were drawn: for each N and r, by each bound.
struct BoundTable {
    name: &'static str,
    of: Vec<(usize, f64, [GroupTrial; 2])>,
}

impl BoundTable {
    /// All sizes and r together.
    fn sum(&self, bound: usize) -> GroupTrial {
        self.of.iter().fold(GroupTrial::default(), |sum, (_, _, tried)| GroupTrial {
            groups: sum.groups + tried[bound].groups,
            kept: sum.kept + tried[bound].kept,
            broken: sum.broken + tried[bound].broken,
            worst: sum.worst.max(tried[bound].worst),
        })
    }
}

fn run(_: &Data) -> Result<Outcome> {
    let trials = [
        drawn("beliefs drawn within the bound", false)?,
        drawn("beliefs drawn at its ends", true)?,
        among_patients()?,
    ];
    let mut rows: Vec<Vec<Cell>> = TABLE.iter().map(table_row).collect();
    let mut panels = vec![panel(
        "Table V: the largest Delta",
        "N, r, f",
        TABLE.iter().map(|(n, r, f, said)| {
            let place = format!("{n}, {}, {}", short(*r), short(*f));
            (place, [Some(*said), Some(delta_ceil(*n, *r, *f))])
        }),
    )];
    let judged = RRobustness::new(Decimal::from_f64("r", 2.0)?)?;
    let worst = worst_groups(&judged);
    panels.push(panel(
        "the worst group that keeps the bound, r = 2",
        "N",
        WORST.into_iter().zip(&worst).map(|(n, pair)| (n.to_string(), pair.map(Some))),
    ));
    for (n, pair) in WORST.into_iter().zip(&worst) {
        for (bound, posterior) in BOUNDS.into_iter().zip(pair) {
            let mut row = row("worst group", bound, n, 2.0);
            row[4] = (1.0 / n as f64).into();
            row[5] = largest_delta(bound, n, 2.0, 1.0 / n as f64).into();
            row[10] = (*posterior).into();
            rows.push(row);
        }
    }
    for BoundTable { name, of } in &trials {
        let title = format!("{name}: share that breaks 1/r");
        panels.push(panel(
            &title,
            "N, r",
            of.iter().map(|(n, r, tried)| {
                (format!("{n}, {}", short(*r)), tried.map(|tried| tried.share()))
            }),
        ));
        for (n, r, tried) in of {
            rows.extend(BOUNDS.into_iter().zip(tried).map(|(bound, tried)| {
                let mut row = row(name, bound, *n, *r);
                let numbers = [tried.groups, tried.kept, tried.broken];
                row.splice(7..10, numbers.map(Cell::from));
                row[10] = tried.share().map(|_| tried.worst).into();
                row
            }));
        }
    }
    let series = Series::each(BOUNDS, [1, 0], Mark::Square);
    let title = "How sure somebody may be, within the published bound and within ours";
    let figure = Figure::new(title, series, panels);
    Ok(Outcome::new(COLUMNS, rows, claims(&judged, &worst, &trials, all_patients(&judged)?), figure).noting(vec![
            "The source bounds, for each value, how far beliefs in a group are apart (Delta), \
             and claims that nobody then has a value with a probability above 1/r. Posteriors \
             here are those of all possible worlds, as the source defines them."
                .to_owned(),
            "The worst group has one row that is likely to have the first value and unlikely \
             to have any other, and rows that are the other way round; the largest belief is \
             1/N."
                .to_owned(),
            "Ours asks for a Delta of at most f (1 - sqrt((r - 1) / (N - 1))), which is a \
             guarantee; of patients, that the swap bound is at most 1/r. A release is \
             certified by the exact posterior, not by either. Beliefs are drawn for each bound \
             anew; patients are the same for both.\n"
                .to_owned(),
        ]))
}

fn row(table: &str, bound: &str, n: usize, r: f64) -> Vec<Cell> {
    let mut row = vec![table.into(), bound.into(), (n as u64).into(), r.into()];
    row.extend(vec![Cell::Nothing; 7]);
    row.push((1.0 / r).into());
    row
}

fn table_row((n, r, f, said): &(usize, f64, f64, f64)) -> Vec<Cell> {
    let mut row = row("Table V", SOURCE, *n, *r);
    row.splice(4..7, [*f, delta_ceil(*n, *r, *f), *said].map(Cell::from));
    row
}

fn panel(
    title: &str,
    across: &str,
    pairs: impl Iterator<Item = (String, [Option<f64>; 2])>,
) -> Panel {
    let (places, pairs): (Vec<String>, Vec<[Option<f64>; 2]>) = pairs.unzip();
    Panel::new(
        title,
        (across, places),
        ("", Scale::Linear, Form::Bars),
        [0, 1].map(|place| pairs.iter().map(|pair| pair[place]).collect()).into(),
    )
}

/// The largest Delta that a bound allows.
fn largest_delta(bound: &str, n: usize, r: f64, f: f64) -> f64 {
    if bound == SOURCE { delta_ceil(n, r, f) } else { delta_safe(n, r, f) }
}

/// One row that is likely to have the first value only, and rows the other way round.
fn opposed(n: usize, high: f64, low: f64) -> Vec<f64> {
    let is_high = |at: usize| (at < n) == at.is_multiple_of(n);
    (0..n * n).map(|at| if is_high(at) { high } else { low }).collect()
}

/// The posterior of the worst group within each bound, by size.
fn worst_groups(judged: &RRobustness) -> Vec<[f64; 2]> {
    let mut scratch = Scratch::default();
    let mut of = |n: usize, bound: &str| {
        let f = 1.0 / n as f64;
        let group = opposed(n, f, f - largest_delta(bound, n, 2.0, f));
        judged.judge(&group, n, &mut scratch).posterior
    };
    WORST.into_iter().map(|n| BOUNDS.map(|bound| of(n, bound))).collect()
}

/// Groups whose beliefs are drawn so that every value keeps the bound: anywhere between the
/// largest belief and the least that is allowed, or only there.
fn drawn(name: &'static str, at_ends: bool) -> Result<BoundTable> {
    let mut of = Vec::new();
    let mut scratch = Scratch::default();
    for r in RS {
        let judged = RRobustness::new(Decimal::from_f64("r", r)?)?;
        for n in SIZES.filter(|n| *n as f64 > r) {
            let number = n as u64 * 100 + r as u64 * 10 + u64::from(at_ends);
            let mut words = Randomness::of_seed(5).stream("delta bound", number);
            let mut pair = [GroupTrial::default(); 2];
            for (bound, tried) in BOUNDS.into_iter().zip(&mut pair) {
                for _ in 0..DRAWN {
                    let mut group = vec![0.0; n * n];
                    for x in 0..n {
                        // At most 1/N each, so that no row has more than 1 in all.
                        let f = words.random_range(0.2..1.0) / n as f64;
                        let delta = largest_delta(bound, n, r, f);
                        for row in 0..n {
                            let far: f64 = words.random();
                            let far = if at_ends { far.round() } else { far };
                            group[row * n + x] = f - far * delta;
                        }
                        group[words.random_range(0..n) * n + x] = f;
                    }
                    let verdict = judged.judge(&group, n, &mut scratch);
                    let kept = bound == OURS || within_bound(&group, n, r);
                    tried.add(kept, verdict.posterior, r);
                }
            }
            of.push((n, r, pair));
        }
    }
    Ok(BoundTable { name, of })
}

/// Groups of the city's patients who have different diseases and are alike in what is
/// believed of them, by each of some sets of columns.
fn among_patients() -> Result<BoundTable> {
    let data = patients()?;
    let census = &data.census;
    let place = |name: &str| data.quasi.iter().position(|column| column.name == name);
    let sets: Vec<Vec<usize>> =
        [&["age"][..], &["sex"], &["zip"], &["nationality"], &["age", "sex"]]
            .into_iter()
            .map(|names| names.iter().filter_map(|name| place(name)).collect())
            .collect();
    let priors = Priors::of_table(&data, 0, &sets, SUPPORT);
    // For each row its tuple and its disease.
    let mut people: Vec<(TupleId, Code)> = Vec::new();
    for tuple in census.tuples() {
        for entry in census.entries_of(tuple) {
            let person = (tuple, census.sensitive[0][entry]);
            people.extend(vec![person; census.entries[entry] as usize]);
        }
    }
    let judged: Vec<RRobustness> = RS
        .into_iter()
        .map(|r| RRobustness::new(Decimal::from_f64("r", r)?))
        .collect::<Result<_>>()?;
    let mut of: Vec<(usize, f64, [GroupTrial; 2])> = RS
        .into_iter()
        .flat_map(|r| SIZES.map(move |n| (n, r, [GroupTrial::default(); 2])))
        .filter(|(n, r, _)| *n as f64 > *r)
        .collect();
    let mut scratch = Scratch::default();
    for (number, set) in (0..).zip(&priors.sets) {
        let mut words = Randomness::of_seed(5).stream("delta bound, patients", number);
        for n in SIZES {
            for _ in 0..DRAWN / 5 {
                let pool: Vec<(TupleId, Code)> =
                    people.sample(&mut words, POOL).copied().collect();
                let Some(group) = alike(set, pool, n) else { continue };
                let swap = swap_bound(&group, n);
                for (size, r, pair) in of.iter_mut().filter(|(size, ..)| *size == n) {
                    let judged = judged.iter().find(|one| one.r().to_f64() == *r);
                    let Some(judged) = judged else { continue };
                    let posterior = judged.judge(&group, *size, &mut scratch).posterior;
                    pair[0].add(within_bound(&group, *size, *r), posterior, *r);
                    pair[1].add(swap <= 1.0 / *r, posterior, *r);
                }
            }
        }
    }
    Ok(BoundTable { name: "patients of the demo", of })
}

/// What is believed of the first of these people and of those most like them, each with a
/// value of their own; nothing if there are too few.
fn alike(set: &PriorSet, mut pool: Vec<(TupleId, Code)>, n: usize) -> Option<Vec<f64>> {
    let first = set.of(pool.first()?.0);
    let distance = |tuple: TupleId| -> f64 {
        first.iter().zip(set.of(tuple)).map(|(a, b)| (a - b).abs()).sum()
    };
    pool.sort_by(|a, b| distance(a.0).total_cmp(&distance(b.0)));
    let mut chosen: Vec<(TupleId, Code)> = Vec::new();
    for (tuple, value) in pool {
        if chosen.len() < n && chosen.iter().all(|(_, known)| *known != value) {
            chosen.push((tuple, value));
        }
    }
    let beliefs = |(tuple, _): &(TupleId, Code)| {
        chosen
            .iter()
            .map(|(_, value)| set.of(*tuple)[value.index()])
            .collect::<Vec<f64>>()
    };
    (chosen.len() == n).then(|| chosen.iter().flat_map(beliefs).collect())
}

/// What the method makes of all patients, judged once more, and whether nobody passes 1/r.
fn all_patients(judged: &RRobustness) -> Result<(String, bool)> {
    let data = patients()?;
    let census = &data.census;
    let sets: Vec<Vec<usize>> =
        (0..data.quasi.len()).map(|place| vec![place]).collect();
    let priors = Priors::of_table(&data, 0, &sets, SUPPORT);
    let found = robust(&RobustTask {
        data: &data,
        promises: &Promises::new(Vec::new()),
        parts: 1,
        robustness: judged,
        priors: &priors,
        largest: 12,
        limit: census.n_rows() / 20,
        randomness: &Randomness::of_seed(7),
    })?;
    let tuple_of = census.tuple_of();
    let (mut scratch, mut worst) = (Scratch::default(), 0.0f64);
    let (mut bound, mut holds) = (0u64, true);
    for group in found.buckets.groups() {
        let mut kept = true;
        for set in &priors.sets {
            let value = |entry: &EntryId| census.sensitive[0][*entry].index();
            let beliefs = |row: &EntryId| -> Vec<f64> {
                let of_row = set.of(tuple_of[*row]);
                group.iter().map(|other| of_row[value(other)]).collect()
            };
            let beliefs: Vec<f64> = group.iter().flat_map(beliefs).collect();
            let verdict = judged.judge(&beliefs, group.len(), &mut scratch);
            (worst, holds) = (worst.max(verdict.posterior), holds && verdict.holds);
            kept &= within_bound(&beliefs, group.len(), judged.r().to_f64());
        }
        bound += u64::from(kept);
    }
    let (groups, left_out) =
        (found.buckets.n_groups() as u64, found.buckets.left_out.len());
    let text = format!(
        "{}, {} left out, the largest posterior by any column {}; {} of them keep the \
         published bound, too",
        counted(groups, "group"),
        counted(left_out as u64, "row"),
        percent(worst),
        grouped(bound)
    );
    Ok((text, holds))
}

fn claims(
    judged: &RRobustness,
    worst: &[[f64; 2]],
    trials: &[BoundTable],
    ours: (String, bool),
) -> Vec<Claim> {
    let mut scratch = Scratch::default();
    let far = TABLE.iter().map(|(n, r, f, said)| (delta_ceil(*n, *r, *f) - said).abs());
    let far = far.fold(0.0, f64::max);
    let first = judged.judge(&[0.1, 0.9, 0.003, 0.997], 2, &mut scratch);
    let second = [0.1, 0.08, 0.09];
    let second_posterior = binary_posteriors(&second).unwrap_or_default();
    let second_posterior = second_posterior.into_iter().fold(0.0, f64::max);
    let (high, low) = (0.3, 0.3 - delta_ceil(3, 2.0, 0.3));
    let hole = opposed(3, high, low);
    let broken = judged.judge(&hole, 3, &mut scratch);
    let mended = mended(judged, high, low);
    let last = worst.last().copied().unwrap_or_default();
    let mut claims = vec![
        Claim::new(
            "Table V: the largest Delta for eight N, r and f",
            format!("none differs by more than {far:.5}"),
            far <= 5e-5,
        ),
        Claim::new(
            "Example 1: Alan, a man (.1), is the one with lung cancer beside Betty (.003), with 97 %",
            percent(first.posterior),
            (first.posterior - 0.9736).abs() < 5e-5 && !first.holds,
        ),
        Claim::new(
            "Example 2: beliefs .1, .08, .09 keep the bound (Delta .02 of .0474), r = 2",
            format!(
                "Delta {} of {:.4}; told only x from not x, nobody has it with more than {}",
                short(delta_max(&second)),
                delta_ceil(3, 2.0, 0.1),
                percent(second_posterior)
            ),
            delta_max(&second) <= delta_ceil(3, 2.0, 0.1) && second_posterior <= 0.5,
        ),
        Claim::new(
            "Theorem 1: whoever keeps the bound has no posterior above 1/r",
            format!(
                "rows (.3, {low:.4}, {low:.4}) and twice ({low:.4}, .3, .3) keep it for r = 2 \
                 ({}, every Delta {:.4}), and the first row has x with {:.3}",
                if within_bound(&hole, 3, 2.0) { "checked" } else { "it fails" },
                high - low,
                broken.posterior
            ),
            broken.holds,
        ),
        Claim::new(
            "when a group is extremely large, there is no breach under Theorem 1",
            format!(
                "the worst group that keeps the bound has a posterior of {} with {} rows and \
                 of {} with {}; within ours it stays at {}",
                short(worst.first().copied().unwrap_or_default()[0]),
                WORST[0],
                short(last[0]),
                WORST[WORST.len() - 1],
                short(last[1])
            ),
            worst.iter().all(|pair| pair[0] <= 0.5),
        ),
        Claim::new(
            "how a certified grouping avoids it (in no source)",
            format!(
                "the three rows are refused ({}); {mended}",
                percent(broken.posterior)
            ),
            !broken.holds,
        ),
        Claim::new(
            "how `robust` groups all patients of the demo, r = 2 (in no source)",
            ours.0,
            ours.1,
        ),
    ];
    for trial in trials {
        let [published, ours] = [0, 1].map(|bound| trial.sum(bound));
        claims.push(Claim::new(
            format!("{}: none that keeps the bound breaks 1/r", trial.name),
            format!(
                "{} of {} do ({}), with posteriors of up to {}; of those within ours {} of {}",
                grouped(published.broken),
                counted(published.kept, "group"),
                published.share().map_or("-".to_owned(), percent),
                short(published.worst),
                grouped(ours.broken),
                grouped(ours.kept)
            ),
            published.broken == 0,
        ));
    }
    claims
}

/// Adds rows to the group of the counterexample, of its two kinds in turn, each with a value
/// that both kinds are as likely to have, until it holds.
fn mended(judged: &RRobustness, high: f64, low: f64) -> String {
    let mut scratch = Scratch::default();
    for n in 4..=12 {
        let belief = |at: usize| {
            let (row, value) = (at / n, at % n);
            let first_kind = row == 0 || (row >= 3 && row % 2 == 1);
            match value {
                0 if first_kind => high,
                1 | 2 if !first_kind => high,
                0..=2 => low,
                _ => 0.02,
            }
        };
        let group: Vec<f64> = (0..n * n).map(belief).collect();
        let verdict = judged.judge(&group, n, &mut scratch);
        if verdict.holds {
            return format!(
                "with {} more of the same kinds and other values the largest posterior is {}, \
                 and the group is accepted",
                counted(n as u64 - 3, "row"),
                percent(verdict.posterior)
            );
        }
    }
    "no dozen rows mend it".to_owned()
}
