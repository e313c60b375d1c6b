//! Running the points of a grid, each on a thread of its own.

use std::collections::BTreeMap;
use std::env::temp_dir;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use scumble::audit::Attacked;
use scumble::error::{Error, Result};
use scumble::recipe::{
    Ends, Measured, Point, Request, RiskFound, RiskKind, Yardstick, publish, risks,
};
use scumble::release::{Release, Scratch};
use scumble::watch::{Stage, Watch};
use serde_json::Value;

use crate::cancel;
use crate::compare::folder_of;
use crate::progress::{Progress, stage_name};
use crate::result::attack_name;

/// What came of a point.
pub(crate) struct PointOutcome {
    /// The value of each varied key.
    pub(crate) values: Vec<Value>,
    /// Whether nothing is varied.
    pub(crate) as_it_stands: bool,
    /// The recipe.
    pub(crate) recipe: String,
    /// What was measured, or why there is no release.
    pub(crate) result: Result<Measurements>,
    /// What took how long.
    pub(crate) seconds: Vec<(&'static str, f64)>,
}

/// What was measured.
pub(crate) struct Measurements {
    pub(crate) method: String,
    pub(crate) rows: u64,
    pub(crate) left_out: u64,
    pub(crate) holds: bool,
    pub(crate) loss: BTreeMap<String, f64>,
    pub(crate) attacks: Vec<Attacked>,
    /// What attacks find out, by kind.
    pub(crate) risks: Vec<RiskFound>,
    pub(crate) measured: Measured,
}

impl PointOutcome {
    /// How long it took altogether.
    pub(crate) fn total(&self) -> f64 {
        self.seconds.iter().map(|(_, seconds)| seconds).sum()
    }
}

impl Measurements {
    /// The loss that says most about this kind of release.
    pub(crate) fn headline(&self) -> Option<(&str, f64)> {
        let names = ["loss", "reconstruction-error", "spread", "surprise"];
        let known = names.iter().find_map(|name| self.loss.get_key_value(*name));
        let first = || self.loss.iter().next();
        known.or_else(first).map(|(name, loss)| (name.as_str(), *loss))
    }

    /// What attacks find out of a kind.
    pub(crate) fn risk_of(&self, kind: RiskKind) -> Option<&RiskFound> {
        self.risks.iter().find(|risk| risk.kind == kind)
    }

    /// The share of people whose row or value is found out, whichever is more; of releases
    /// that only presence was attacked of, how much surer somebody is.
    pub(crate) fn risk(&self) -> Option<&RiskFound> {
        let of_people = [RiskKind::Row, RiskKind::Value].map(|kind| self.risk_of(kind));
        let most = of_people.into_iter().flatten();
        let most = most.max_by(|a, b| a.gain.total_cmp(&b.gain));
        most.or_else(|| self.risk_of(RiskKind::Presence))
    }

    /// How much oftener than by guessing the commonest value a sensitive class is told by
    /// learners that saw the release.
    pub(crate) fn prediction(&self, ends: &Ends) -> Option<f64> {
        let accuracy = self.measured.accuracy.filter(|_| ends.class_is_sensitive)?;
        Some((accuracy.tree.max(accuracy.neighbours) - ends.guess?).max(0.0))
    }

    /// An attack's name.
    pub(crate) fn attack_name(&self, attack: &Attacked) -> String {
        attack_name(&self.attacks, attack)
    }
}

/// Threads that publish need as much room as the main one.
const STACK: usize = 16 << 20;

/// Runs all points on as many threads as there are cores.
pub(crate) fn run_all(
    points: Vec<Point>,
    yardstick: &Yardstick,
    seed: u64,
    loud: bool,
) -> Result<Vec<PointOutcome>> {
    let fail = |error| Error::io("create a folder", "temporary files", error);
    // Several releases of the same people are for nobody else to read.
    let home = Scratch::new(".scumble-compare-", &temp_dir()).map_err(fail)?;
    cancel::forget_at_the_end(home.path());
    let bar = bar(points.len(), loud);
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<PointOutcome>>> =
        points.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(point) = points.get(number) else { return };
            if cancel::asked() {
                return;
            }
            let outcome =
                run(point, &home.path().join(number.to_string()), yardstick, seed);
            if let Ok(mut place) = done[number].lock() {
                *place = Some(outcome);
            }
            bar.inc(1);
        }
    };
    let n_threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..n_threads.min(points.len()) {
            let builder = thread::Builder::new().stack_size(STACK);
            builder
                .spawn_scoped(scope, work)
                .map_err(|error| Error::io("start", "a thread", error))?;
        }
        Ok::<(), Error>(())
    })?;
    bar.finish_and_clear();
    let watch: &dyn Watch = &Progress::new(true);
    watch.check()?;
    let lost = || Error::input("a point of the grid was not finished");
    let outcomes = done
        .into_iter()
        .map(|place| place.into_inner().ok().flatten().ok_or_else(lost));
    outcomes.collect()
}

fn bar(n_points: usize, loud: bool) -> ProgressBar {
    let target = match loud && io::stderr().is_terminal() {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    };
    let bar = ProgressBar::with_draw_target(Some(n_points as u64), target);
    if let Ok(style) =
        ProgressStyle::with_template("comparing {wide_bar} {pos} of {len}, {elapsed}")
    {
        bar.set_style(style);
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar
}

/// Publishes a point, measures it, and throws it away.
fn run(
    point: &Point,
    directory: &Path,
    yardstick: &Yardstick,
    seed: u64,
) -> PointOutcome {
    let progress = Progress::new(true);
    let request = Request {
        directory: Some(directory.to_path_buf()),
        seed: Some(seed),
        ..Request::new(&point.spec, folder_of(point))
    };
    let published = publish(request, &progress);
    let mut seconds: Vec<(&'static str, f64)> = Vec::new();
    let mut spent = |name: &'static str, time: f64| match seconds
        .iter_mut()
        .find(|(known, _)| *known == name)
    {
        Some((_, sum)) => *sum += time,
        None => seconds.push((name, time)),
    };
    for (stage, time) in progress.finish() {
        spent(stage_name(stage), time);
    }
    let measuring = Progress::new(true);
    let result = published.and_then(|published| {
        let release = Release::open(&published.directory)?;
        let measured = yardstick.measure(&release, &measuring)?;
        let attacks = &published.audit.attacks;
        Ok(Measurements {
            risks: risks(attacks, &yardstick.ends(), &measured),
            method: published.manifest.method.name.clone(),
            rows: published.manifest.rows,
            left_out: {
                let behind = published.audit.stands_for(&published.manifest);
                published.manifest.left_beside(behind)
            },
            holds: published.audit.holds(),
            loss: published.audit.loss,
            attacks: published.audit.attacks,
            measured,
        })
    });
    for (stage, time) in measuring.finish() {
        // To read a release is not to read the table.
        let name = if stage == Stage::Read { "open" } else { stage_name(stage) };
        spent(name, time);
    }
    // The whole folder goes at the end; until then it need not grow.
    let _ = fs::remove_dir_all(directory);
    PointOutcome {
        values: point.values.clone(),
        as_it_stands: point.as_it_stands,
        recipe: point.text.clone(),
        result,
        seconds,
    }
}
