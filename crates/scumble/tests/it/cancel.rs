//! Everything long can be cancelled at any time, says so, and leaves nothing behind.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use scumble::audit::{Given, Original, audit};
use scumble::error::{ErrorKind, Result};
use scumble::estimate::{Evidence, Query, Way};
use scumble::inspect::{Options, inspect};
use scumble::recipe::{Request, Spec, Yardstick, YardstickOptions, publish};
use scumble::release::Release;
use scumble::table::{ReadOptions, Source};
use scumble::watch::{Stage, Unwatched, Watch};

/// Waits for so many questions whether the work is wanted, or for a stage, and no longer.
struct Impatient {
    patience: u64,
    unwanted: Option<Stage>,
    /// How often it was asked, and the stages with how often it was asked in each.
    asked: AtomicU64,
    stages: Mutex<Vec<(Stage, u64)>>,
    tired: AtomicBool,
}

impl Impatient {
    fn after(patience: u64) -> Self {
        Self {
            patience,
            unwanted: None,
            asked: AtomicU64::new(0),
            stages: Mutex::new(Vec::new()),
            tired: AtomicBool::new(false),
        }
    }

    fn never() -> Self {
        Self::after(u64::MAX)
    }

    fn at(stage: Stage) -> Self {
        Self { unwanted: Some(stage), ..Self::never() }
    }

    fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Watch for Impatient {
    fn stage(&self, stage: Stage, _bytes: u64) {
        self.stages.lock().unwrap().push((stage, 0));
        if self.unwanted == Some(stage) {
            self.tired.store(true, Ordering::SeqCst);
        }
    }

    fn is_cancelled(&self) -> bool {
        if let Some((_, asked)) = self.stages.lock().unwrap().last_mut() {
            *asked += 1;
        }
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        asked >= self.patience || self.tired.load(Ordering::SeqCst)
    }
}

fn is_cancelled<T>(result: &Result<T>) -> bool {
    result.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::Cancelled))
}

/// A hundred people and fifty others, of whom nothing depends on anything.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let mut state = 7u64;
    let mut below = |n: u64| {
        state =
            state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let (mut table, mut everybody) = (String::new(), String::new());
    for person in 0..150 {
        let (age, sex) = (20 + below(50), ["f", "m"][below(2) as usize]);
        writeln!(everybody, "{age},{sex}").unwrap();
        if person % 3 < 2 {
            let disease = ["asthma", "cold", "flu", "gout"][below(4) as usize];
            writeln!(table, "{age},{sex},{disease},{}", 100 + below(900)).unwrap();
        }
    }
    let table = format!("age,sex,disease,cost\n{table}");
    fs::write(home.path().join("table.csv"), table).unwrap();
    let everybody = format!("age,sex\n{everybody}");
    fs::write(home.path().join("everybody.csv"), everybody).unwrap();
    home
}

const INPUT: &str = "[input]\ntable = \"table.csv\"\n";

const COLUMNS: &str = "[columns]\n\
    age = { role = \"quasi\", type = \"number\", hierarchy = { widths = [5, 10, 20] } }\n\
    sex = \"quasi\"\ndisease = \"sensitive\"\n";

const NUMBERS: &str = "[columns]\nage = { role = \"quasi\", type = \"number\" }\n\
    cost = { role = \"quasi\", type = \"number\" }\ndisease = \"sensitive\"\n";

/// Columns, promise and method of a release of every kind.
const RECIPES: [(&str, &str, &str); 14] = [
    ("full-domain", COLUMNS, "k-anonymity = 4\nl-diversity = 2"),
    ("mondrian", COLUMNS, "k-anonymity = 4\nt-closeness = 0.6"),
    ("mondrian\"\nstrategy = \"search", COLUMNS, "k-anonymity = 4"),
    ("mondrian\"\ncells = \"pdf", COLUMNS, "k-anonymity = 4"),
    ("anatomy", COLUMNS, "l-diversity = 2"),
    ("robust", COLUMNS, "r-robustness = 1.3"),
    ("blur", NUMBERS, "expected-anonymity = { k = 4, best-guess = 0.4 }"),
    (
        "blur\"\nframe = \"local",
        NUMBERS,
        "expected-anonymity = { k = 4, strict = false }",
    ),
    ("condensation", NUMBERS, "expected-anonymity = 4"),
    ("uniform-perturbation", COLUMNS, "breach = { prior = 0.3, posterior = 0.7 }"),
    ("partitioned-perturbation", COLUMNS, "breach = { prior = 0.3, posterior = 0.7 }"),
    ("fine-grain-perturbation", COLUMNS, "fine-grain = { factor = 2 }"),
    (
        "general-perturbation",
        COLUMNS,
        "breach = { prior = 0.3, posterior = 0.7, kind = \"both\" }",
    ),
    (
        "perturbed-generalization",
        COLUMNS,
        "k-anonymity = 3\nbreach = { prior = 0.3, posterior = 0.8 }",
    ),
];

/// With a population.
const PRESENCE: [&str; 2] = ["full-domain", "mondrian\"\ncells = \"pdf"];

fn recipes() -> Vec<String> {
    let plain = RECIPES.map(|(method, columns, promise)| {
        format!(
            "{INPUT}{columns}[promise]\n{promise}\n[method]\nname = \"{method}\"\n\
             [release]\ndirectory = \"made/for/it\"\n"
        )
    });
    let present = PRESENCE.map(|method| {
        format!(
            "{INPUT}population = \"everybody.csv\"\n{COLUMNS}[promise]\n\
             delta-presence = {{ min = 0.2, max = 0.9 }}\n[method]\nname = \"{method}\"\n\
             [release]\ndirectory = \"made/for/it\"\n"
        )
    });
    plain.into_iter().chain(present).collect()
}

/// What is in a folder, and in the folders in it.
fn listed(home: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(home)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn run(home: &Path, recipe: &str, watch: &dyn Watch) -> Result<()> {
    let spec = Spec::parse(recipe, "recipe.toml")?;
    let request = Request { seed: Some(1), ..Request::new(&spec, home) };
    publish(request, watch).map(|_| ())
}

/// Some of the places where work can be given up.
fn moments(all: u64) -> Vec<u64> {
    let mut moments =
        vec![0, 1, 2, all / 8, all / 4, all / 2, all * 3 / 4, all * 9 / 10];
    moments.retain(|moment| *moment < all);
    moments.dedup();
    moments
}

#[test]
fn publishing_ends_when_nobody_waits_and_leaves_nothing() {
    for recipe in recipes() {
        let home = home();
        let before = listed(home.path());
        let patient = Impatient::never();
        run(home.path(), &recipe, &patient)
            .unwrap_or_else(|e| panic!("{e}:\n{recipe}"));
        fs::remove_dir_all(home.path().join("made")).unwrap();
        for moment in moments(patient.asked()) {
            let done = run(home.path(), &recipe, &Impatient::after(moment));
            assert!(is_cancelled(&done), "{done:?} after {moment}:\n{recipe}");
            assert_eq!(listed(home.path()), before, "after {moment}:\n{recipe}");
        }
    }
}

#[test]
fn every_stage_of_publishing_asks_whether_it_is_wanted() {
    for recipe in recipes() {
        let home = home();
        let before = listed(home.path());
        let patient = Impatient::never();
        run(home.path(), &recipe, &patient).unwrap();
        fs::remove_dir_all(home.path().join("made")).unwrap();
        let stages = patient.stages.into_inner().unwrap();
        let of = |wanted: Stage| {
            let own = stages.iter().filter(|(stage, _)| *stage == wanted);
            own.map(|(_, asked)| asked).sum::<u64>()
        };
        for stage in [Stage::Read, Stage::Search, Stage::Write, Stage::Audit] {
            assert!(of(stage) > 0, "{stage:?}:\n{recipe}");
        }
        for stage in [Stage::Read, Stage::Search, Stage::Write, Stage::Audit] {
            let done = run(home.path(), &recipe, &Impatient::at(stage));
            assert!(is_cancelled(&done), "{done:?} at {stage:?}:\n{recipe}");
            assert_eq!(listed(home.path()), before, "at {stage:?}:\n{recipe}");
        }
    }
}

/// Reads what an auditor is given, and audits.
fn audited(home: &Path, release: &Release, watch: &dyn Watch) -> Result<()> {
    let options = ReadOptions::default();
    let table = Source::open(&home.join("table.csv"), &options)?;
    let everybody = Source::open(&home.join("everybody.csv"), &options)?;
    let present = release.manifest.promises.iter().any(|p| p.name == "delta-presence");
    let everybody = present.then_some(&everybody);
    let (original, population) =
        Original::read_within(&table, everybody, &release.manifest, &Unwatched)?;
    let given = Given {
        original: Some(&original),
        population: population.as_ref(),
        ..Given::default()
    };
    audit(release, &given, watch).map(|_| ())
}

#[test]
fn audits_and_answers_end_when_nobody_waits() {
    for recipe in recipes() {
        let home = home();
        run(home.path(), &recipe, &Unwatched).unwrap();
        let release = Release::open(&home.path().join("made/for/it")).unwrap();
        let patient = Impatient::never();
        audited(home.path(), &release, &patient).unwrap();
        for moment in moments(patient.asked()) {
            let done = audited(home.path(), &release, &Impatient::after(moment));
            assert!(is_cancelled(&done), "{done:?} after {moment}:\n{recipe}");
        }

        let read = Evidence::read(&release, &Impatient::after(0)).map(|_| ());
        assert!(is_cancelled(&read), "{read:?}:\n{recipe}");
        let evidence = Evidence::read(&release, &Unwatched).unwrap();
        let unwanted = Impatient::after(0);
        let unwanted: &dyn Watch = &unwanted;
        for question in ["SELECT COUNT(*) WHERE age < 40", "SELECT AVG(age)"] {
            let query = &Query::parse_all(question).unwrap()[0].1;
            let answer = evidence.answer(unwanted.over(query), Way::Inverse);
            assert!(is_cancelled(&answer), "{answer:?}:\n{recipe}");
        }
        let drawn = evidence.draw_watched(1, unwanted);
        assert!(is_cancelled(&drawn), "{recipe}");
    }
}

#[test]
fn comparing_and_inspecting_end_when_nobody_waits() {
    let home = home();
    let recipe = &recipes()[1];
    run(home.path(), recipe, &Unwatched).unwrap();
    let release = Release::open(&home.path().join("made/for/it")).unwrap();
    let spec = Spec::parse(recipe, "recipe.toml").unwrap();
    let yardstick = |watch: &dyn Watch| {
        let options =
            YardstickOptions { queries: 20, draws: 2, ..YardstickOptions::default() };
        Yardstick::new(&spec, home.path(), options, watch)
    };
    let patient = Impatient::never();
    let measuring = yardstick(&patient).unwrap();
    for moment in moments(patient.asked()) {
        let made = yardstick(&Impatient::after(moment)).map(|_| ());
        assert!(is_cancelled(&made), "{made:?} after {moment}");
    }
    let patient = Impatient::never();
    measuring.measure(&release, &patient).unwrap();
    for moment in moments(patient.asked()) {
        let measured = measuring.measure(&release, &Impatient::after(moment));
        assert!(is_cancelled(&measured), "{measured:?} after {moment}");
    }
    for stage in [Stage::Read, Stage::Ask, Stage::Draw, Stage::Mine, Stage::Learn] {
        let measured = measuring.measure(&release, &Impatient::at(stage));
        assert!(is_cancelled(&measured), "{measured:?} at {stage:?}");
    }

    let table = home.path().join("table.csv");
    let source = Source::open(&table, &ReadOptions::default()).unwrap();
    let options = Options { table: "table.csv".to_owned(), ..Options::default() };
    for moment in 0..3 {
        let watch: &dyn Watch = &Impatient::after(moment);
        let found = inspect(watch.over(&source), &options).map(|_| ());
        assert!(is_cancelled(&found), "{found:?} after {moment}");
    }
}
