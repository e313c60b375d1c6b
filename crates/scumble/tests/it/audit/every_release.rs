//! What every check and every attack owes, on releases of every method; and that nothing which
//! an auditor gives is silently ignored.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::audit::{
    Audit, Given, Knowledge, Original, Report, attacks, audit, checks, read_population,
};
use scumble::error::Result;
use scumble::recipe::{Request, Spec, publish};
use scumble::release::Release;
use scumble::table::{ReadOptions, Source, Stated};
use scumble::watch::Unwatched;
use tempfile::TempDir;

const DISEASES: [&str; 4] = ["asthma", "cold", "flu", "gout"];

/// A method, what is promised, and which attacks are tried on its releases by somebody who has
/// the original, and who has the files alone.
struct Case {
    method: &'static str,
    recipe: &'static str,
    with_original: &'static [&'static str],
    alone: &'static [&'static str],
}

const BREACH: &str = "breach = { prior = 0.3, posterior = 0.7 }";
const DRAWN: &[&str] = &["inference", "corruption", "averaging"];
const APART: &[&str] =
    &["homogeneity", "background-knowledge", "learned", "corruption"];
const CELLS: &[&str] = &["linkage", "homogeneity", "learned"];
const CUTS: &[&str] = &["linkage", "singling-out", "homogeneity", "learned"];

/// All methods that there are.
const CASES: [Case; 12] = [
    Case {
        method: "full-domain",
        recipe: "k-anonymity = 4",
        with_original: CELLS,
        alone: &[],
    },
    Case {
        method: "mondrian",
        recipe: "k-anonymity = 4",
        with_original: CUTS,
        alone: &[],
    },
    Case {
        method: "mondrian\"\ncells = \"pdf",
        recipe: "k-anonymity = 4",
        with_original: CELLS,
        alone: &[],
    },
    Case {
        method: "uniform-perturbation",
        recipe: BREACH,
        with_original: DRAWN,
        alone: DRAWN,
    },
    Case {
        method: "partitioned-perturbation",
        recipe: BREACH,
        with_original: DRAWN,
        alone: DRAWN,
    },
    Case {
        method: "fine-grain-perturbation",
        recipe: "fine-grain = { factor = 2 }",
        with_original: DRAWN,
        alone: DRAWN,
    },
    Case {
        method: "general-perturbation",
        recipe: BREACH,
        with_original: DRAWN,
        alone: DRAWN,
    },
    Case {
        method: "perturbed-generalization",
        recipe: "k-anonymity = 3\nbreach = { prior = 0.3, posterior = 0.8 }",
        with_original: DRAWN,
        alone: DRAWN,
    },
    Case {
        method: "anatomy",
        recipe: "l-diversity = 2",
        with_original: APART,
        alone: &["homogeneity", "learned", "corruption"],
    },
    Case {
        method: "robust",
        recipe: "r-robustness = { r = 2, knowledge = \"known.csv\" }",
        with_original: APART,
        alone: APART,
    },
    Case {
        method: "blur",
        recipe: "expected-anonymity = 4",
        with_original: &["calibration", "rank", "best-guess", "matching"],
        alone: &[],
    },
    Case {
        method: "condensation",
        recipe: "expected-anonymity = 4",
        with_original: &["linkage"],
        alone: &["linkage"],
    },
];

impl Case {
    fn is_about_numbers(&self) -> bool {
        ["blur", "condensation"].contains(&self.method)
    }

    fn is_by_cells(&self) -> bool {
        self.with_original == CELLS || self.with_original == CUTS
    }

    fn is_apart(&self) -> bool {
        self.with_original == APART
    }

    /// Whether a promise cannot be rechecked from the files alone.
    fn needs_original(&self) -> bool {
        self.method == "blur"
    }
}

/// A table, a file of what is known, and a release of it.
fn published(case: &Case) -> (TempDir, Release) {
    let home = tempfile::tempdir().unwrap();
    let mut random = ChaCha20Rng::seed_from_u64(7);
    let mut text = String::from("age,sex,disease\n");
    for _ in 0..240 {
        let age = random.random_range(20..60);
        let sex = if random.random::<bool>() { 'f' } else { 'm' };
        let disease = DISEASES[random.random_range(0..4usize)];
        writeln!(text, "{age},{sex},{disease}").unwrap();
    }
    fs::write(home.path().join("table.csv"), text).unwrap();
    let mut known = String::from("sex,disease,probability\n");
    for sex in ["f", "m"] {
        for disease in DISEASES {
            writeln!(known, "{sex},{disease},0.25").unwrap();
        }
    }
    fs::write(home.path().join("known.csv"), known).unwrap();
    let age = match case.is_about_numbers() {
        true => "\"quasi\"",
        false => {
            "{ role = \"quasi\", type = \"number\", hierarchy = { widths = [5, 20] } }"
        }
    };
    let recipe = format!(
        "input.table = \"table.csv\"\n[columns]\nage = {age}\nsex = \"quasi\"\n\
         disease = \"sensitive\"\n[promise]\n{}\n[method]\nname = \"{}\"\n",
        case.recipe, case.method
    );
    let spec = Spec::parse(&recipe, "recipe.toml").unwrap();
    let request = Request { seed: Some(3), ..Request::new(&spec, home.path()) };
    let made = publish(request, &Unwatched).unwrap();
    let release = Release::open(&made.directory).unwrap();
    (home, release)
}

fn source(home: &Path) -> Source {
    Source::open(&home.join("table.csv"), &ReadOptions::default()).unwrap()
}

fn original(home: &Path, release: &Release) -> Original<'static> {
    Original::read(&source(home), &release.manifest, &Unwatched).unwrap()
}

fn stated(home: &Path) -> Knowledge {
    Knowledge::Stated(Stated::read(&[&home.join("known.csv")]).unwrap())
}

fn audited(release: &Release, given: &Given<'_>) -> Result<Audit> {
    audit(release, given, &Unwatched)
}

/// The attacks that were tried, each once.
fn tried(report: &Report) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for attack in &report.attacks {
        if names.last() != Some(&&*attack.name) {
            names.push(&attack.name);
        }
    }
    names
}

#[test]
fn names_are_one_each_and_every_one_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = fs::read_to_string(root.join("../../docs/audit.md")).unwrap();
    let attacks = attacks::ALL.iter().map(|attack| attack.name());
    let checks = checks::ALL.iter().map(|check| check.name());
    let names: Vec<&str> = attacks.chain(checks).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    for name in names {
        let line = format!("\n| {name} |");
        assert!(docs.contains(&line), "docs/audit.md has no line about `{name}`");
    }
    let promised = fs::read_to_string(root.join("../../GUARANTEES.md")).unwrap();
    for attack in attacks::ALL {
        let line = format!("\n| {} |", attack.name());
        assert!(promised.contains(&line), "GUARANTEES.md does not say of {line}");
    }
}

#[test]
fn every_attack_is_tried_or_says_why_not() {
    for case in &CASES {
        let (home, release) = published(case);
        let original = original(home.path(), &release);
        let stated = stated(home.path());
        let knowledge = (case.method == "robust").then_some(&stated);
        let given = Given { original: Some(&original), knowledge, ..Given::default() };
        let mut reports =
            vec![(audited(&release, &given).unwrap().private, case.with_original)];
        if !case.needs_original() {
            let given = Given { knowledge, ..Given::default() };
            reports.push((audited(&release, &given).unwrap().private, case.alone));
        }
        for (report, wanted) in reports {
            assert!(report.holds(), "{}: {:?}", case.method, report.promises);
            assert_eq!(tried(&report), wanted, "{}", case.method);
            let not = report.not_applicable.iter().map(|attack| &*attack.name);
            let all: BTreeSet<&str> = not.chain(tried(&report)).collect();
            let names: BTreeSet<&str> = attacks::ALL.iter().map(|a| a.name()).collect();
            assert_eq!(all, names, "{}", case.method);
            assert_eq!(wanted.len() + report.not_applicable.len(), names.len());
            for attack in &report.not_applicable {
                assert!(attack.reason.len() > 10, "{attack:?}");
                assert!(!attack.reason.ends_with('.'), "{attack:?}");
            }
        }
    }
}

#[test]
fn reasons_say_what_is_missing() {
    let reason = |method: &str, attack: &str| {
        let case = CASES.iter().find(|case| case.method == method).unwrap();
        let (home, release) = published(case);
        let original = original(home.path(), &release);
        let original = case.needs_original().then_some(&original);
        let given = Given { original, ..Given::default() };
        let report = audited(&release, &given).unwrap().private;
        let mut not = report.not_applicable.into_iter();
        not.find(|known| known.name == attack).unwrap().reason
    };
    for (method, attack, wanted) in [
        ("mondrian", "linkage", "needs the original"),
        ("mondrian", "inference", "no column is randomized"),
        ("mondrian", "counting", "no cell has weights"),
        ("mondrian", "intersection", "no other release of the same people was given"),
        ("mondrian", "singling-out", "needs the original"),
        ("condensation", "matching", "no number has noise"),
        (
            "mondrian",
            "presence",
            "the release has no presence promise and no population was given",
        ),
        ("mondrian", "background-knowledge", "nothing was given that somebody knows"),
        (
            "anatomy",
            "linkage",
            "quasi columns are published as they are: whose row is whose is no secret",
        ),
        (
            "anatomy",
            "background-knowledge",
            "needs the original, or what somebody knows",
        ),
        (
            "perturbed-generalization",
            "linkage",
            "one row of each group was published, which stands for all of it",
        ),
        (
            "blur",
            "presence",
            "quasi columns are numbers with noise, or published as they are",
        ),
        ("condensation", "rank", "no number has noise"),
        (
            "condensation",
            "homogeneity",
            "numbers of quasi columns were drawn anew by group",
        ),
    ] {
        assert_eq!(reason(method, attack), wanted, "{method} {attack}");
    }
}

/// Each pair of an input and a kind of release: used, or an error that says why not.
#[test]
fn what_nothing_uses_is_an_error() {
    for case in &CASES {
        let (home, release) = published(case);
        let original = original(home.path(), &release);
        let everyone =
            read_population(&source(home.path()), &release.manifest, &Unwatched)
                .unwrap();
        let stated = stated(home.path());
        // r-robustness cannot be rechecked without what is known.
        let knowledge = (case.method == "robust").then_some(&stated);
        let base = Given { original: Some(&original), knowledge, ..Given::default() };
        assert!(audited(&release, &base).is_ok(), "{}", case.method);

        let given = Given { population: Some(&everyone), ..base };
        match audited(&release, &given) {
            Ok(audit) => {
                assert!(case.is_by_cells(), "{}", case.method);
                assert!(tried(&audit.private).contains(&"presence"));
            }
            Err(error) => {
                assert!(!case.is_by_cells(), "{}: {error}", case.method);
                assert_eq!(
                    error.to_string(),
                    "the population was not used: nothing in this release is about who is in \
                     the table"
                );
                assert!(error.hints()[0].contains("--population"));
            }
        }
        for knowledge in [&stated, &Knowledge::Table] {
            if case.method == "robust" && matches!(knowledge, Knowledge::Table) {
                continue;
            }
            let given = Given { knowledge: Some(knowledge), ..base };
            match audited(&release, &given) {
                Ok(audit) => {
                    assert!(case.is_by_cells() || case.is_apart(), "{}", case.method);
                    assert!(tried(&audit.private).contains(&"background-knowledge"));
                }
                Err(error) => {
                    assert!(!case.is_by_cells() && !case.is_apart(), "{error}");
                    assert_eq!(
                        error.to_string(),
                        "the knowledge was not used: no sensitive value of this release is \
                         published by group"
                    );
                    assert!(error.hints()[0].contains("--knowledge"));
                }
            }
        }
    }
}

/// What is public of a release is what its readers can find out, and nothing that was scored
/// on true values.
#[test]
fn what_is_public_needs_no_truth() {
    for case in CASES.iter().filter(|case| !case.is_by_cells()) {
        let (home, release) = published(case);
        let original = original(home.path(), &release);
        let stated = stated(home.path());
        let knowledge = (case.method == "robust").then_some(&stated);
        let given = Given { original: Some(&original), knowledge, ..Given::default() };
        let public = audited(&release, &given).unwrap().public;
        if case.needs_original() {
            assert_eq!(tried(&public), ["calibration"]);
            continue;
        }
        let given = Given { knowledge, ..Given::default() };
        let readers = audited(&release, &given).unwrap().private;
        assert_eq!(format!("{:?}", public.attacks), format!("{:?}", readers.attacks));
        assert_eq!(format!("{:?}", public.promises), format!("{:?}", readers.promises));
        assert_eq!(public.loss, readers.loss, "{}", case.method);
    }
}
