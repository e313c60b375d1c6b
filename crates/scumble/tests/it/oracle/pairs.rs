//! Every pair of promises: those that go together are published from small random tables and
//! judged from the files alone, those that do not are refused with a reason.
//!
//! The pairs come from one list, [`Promise::all`]. Whether a pair goes together is said here
//! once more ([`Pair::goes_together`]), and the library must agree. The adversaries
//! (`adversary.rs`, `noise.rs`, `worlds.rs`) share nothing with the library: they read
//! `data.csv`, `sensitive*.csv` and `manifest.json` as texts, know what the adversary of the
//! promise knows, and compare whole numbers wherever a bound is a ratio.

mod adversary;
mod files;
mod noise;
mod recipe;
mod worlds;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use scumble::recipe::{Request, Spec, publish};
use scumble::table::Input;
use scumble::watch::Unwatched;

use crate::oracle::pairs::adversary::Adversary;
use crate::oracle::pairs::files::Files;
use crate::oracle::pairs::recipe::{Case, TOO_STRICT};

/// What is promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    KAnonymity,
    KMap,
    Presence,
    Distinct,
    Entropy,
    Recursive,
    Closeness,
    Likeness,
    EnhancedLikeness,
    Disclosure,
    Robustness,
    Breach,
    FineGrain,
    Company,
    BestGuess,
}

/// What becomes of the columns it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Quasi columns become cells.
    Cells,
    /// Sensitive values stay in the rows, in groups of cells.
    Rows,
    /// They stand apart.
    Apart,
    /// They are drawn.
    Drawn,
    /// Numbers get noise.
    Noise,
}

/// A promise, and where it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Promise {
    what: What,
    place: Place,
}

impl Promise {
    fn all() -> Vec<Self> {
        use What::*;
        let mut all = Vec::new();
        let mut add = |place, what: &[What]| {
            all.extend(what.iter().map(|what| Self { what: *what, place }));
        };
        add(Place::Cells, &[KAnonymity, KMap, Presence]);
        for place in [Place::Rows, Place::Apart] {
            add(place, &[Distinct, Entropy, Recursive, Closeness]);
            add(place, &[Likeness, EnhancedLikeness, Disclosure, Robustness]);
        }
        add(Place::Drawn, &[Breach, FineGrain]);
        add(Place::Noise, &[Company, BestGuess]);
        all
    }

    fn is_sensitive(self) -> bool {
        !matches!(self.place, Place::Cells | Place::Noise)
    }

    /// What a recipe calls it.
    fn key(self) -> &'static str {
        match self.what {
            What::KAnonymity => "k-anonymity",
            What::KMap => "k-map",
            What::Presence => "delta-presence",
            What::Distinct | What::Entropy | What::Recursive => "l-diversity",
            What::Closeness => "t-closeness",
            What::Likeness | What::EnhancedLikeness => "beta-likeness",
            What::Disclosure => "delta-disclosure",
            What::Robustness => "r-robustness",
            What::Breach => "breach",
            What::FineGrain => "fine-grain",
            What::Company | What::BestGuess => "expected-anonymity",
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.what, self.place)
    }
}

/// Two promises.
#[derive(Debug, Clone, Copy)]
struct Pair {
    first: Promise,
    second: Promise,
    /// Whether both are about the same column.
    same: bool,
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = if self.same { ", same column" } else { "" };
        write!(f, "{} and {}{columns}", self.first, self.second)
    }
}

impl Pair {
    fn all() -> Vec<Self> {
        let promises = Promise::all();
        let mut all = Vec::new();
        for (place, first) in promises.iter().enumerate() {
            for second in &promises[place + 1..] {
                let (first, second) = (*first, *second);
                all.push(Self { first, second, same: false });
                let sensitive = first.is_sensitive() && second.is_sensitive();
                // Values of a column are in the rows or apart, never both.
                let torn = matches!(
                    (first.place, second.place),
                    (Place::Rows, Place::Apart) | (Place::Apart, Place::Rows)
                );
                let quasi = (first.place, second.place) == (Place::Cells, Place::Noise);
                if sensitive && !torn || quasi {
                    all.push(Self { first, second, same: true });
                }
            }
        }
        all
    }

    fn promises(&self) -> [Promise; 2] {
        [self.first, self.second]
    }

    fn has(&self, place: Place) -> bool {
        self.promises().iter().any(|promise| promise.place == place)
    }

    fn has_what(&self, what: What) -> bool {
        self.promises().iter().any(|promise| promise.what == what)
    }

    /// Whether the two are one entry of a recipe: the same promise of two columns, or company
    /// with a bound on the best guess.
    fn is_one(&self) -> bool {
        self.first.what == self.second.what
            || self.has(Place::Noise) && self.named_alike()
    }

    fn named_alike(&self) -> bool {
        self.first.key() == self.second.key()
    }

    /// docs/recipe.md, "Several methods".
    fn goes_together(&self) -> bool {
        let noisy = self.has(Place::Noise);
        let grouped = self.has(Place::Cells) || self.has(Place::Rows);
        let robust = |place| {
            let robust = Promise { what: What::Robustness, place };
            self.promises().contains(&robust)
        };
        // A recipe says a promise once.
        if self.named_alike() && !self.is_one() {
            return false;
        }
        // A column is drawn by one matrix, or not at all; and has cells or noise.
        if self.same && (self.has(Place::Drawn) || noisy) {
            return false;
        }
        // Whoever knows the numbers weighs the rows of a group, and who is there.
        if noisy && (self.has(Place::Rows) || self.has_what(What::Presence)) {
            return false;
        }
        // Who is in which group must be known, for worlds to be counted.
        if robust(Place::Apart) && grouped {
            return false;
        }
        !(robust(Place::Rows) && self.has_what(What::Presence))
    }
}

/// What a recipe gives, in memory.
fn published(case: &Case) -> scumble::Result<Files> {
    let spec = Spec::parse(&case.recipe, "recipe.toml")?;
    let given = case.files.iter();
    let given =
        given.map(|(name, text)| (name.clone(), Input::Bytes(text.clone().into())));
    let request = Request { seed: Some(case.seed), ..Request::in_memory(&spec, given) };
    let made = publish(request, &Unwatched)?;
    Ok(Files::read(made.release.store()))
}

/// How many tables are tried for a pair, and how many releases there must be.
const TABLES: u64 = 14;
const RELEASES: u64 = 3;

#[test]
fn pairs_that_go_together_keep_both_promises() {
    let (mut poor, mut broken) = (Vec::new(), Vec::new());
    let (mut all, mut caught) = (0, BTreeMap::new());
    for pair in Pair::all().into_iter().filter(Pair::goes_together) {
        let mut releases = 0;
        let mut noise = BTreeMap::new();
        for seed in 0..TABLES {
            let case = Case::random(&pair, seed);
            match published(&case) {
                Ok(files) => {
                    releases += 1;
                    let adversary = Adversary::of(&case, &files);
                    let judge = |strength: usize| {
                        let adversary = adversary.as_ref().map_err(String::clone)?;
                        case.asked.iter().try_for_each(|(promise, column)| {
                            adversary.judge(*promise, column, strength)
                        })
                    };
                    if let Err(why) = judge(case.strength) {
                        broken.push(format!("{pair}, {seed}: {why}\n{case}\n{files}"));
                    }
                    for (promise, column) in &case.asked {
                        let strict = adversary.as_ref().map(|adversary| {
                            adversary.judge(*promise, column, TOO_STRICT).is_err()
                        });
                        let seen: &mut u64 =
                            caught.entry(promise.to_string()).or_default();
                        *seen += u64::from(strict == Ok(true));
                    }
                    files.same_noise(&case, &mut noise);
                }
                Err(error) if error.to_string().contains("cannot be met") => {}
                Err(error) => broken.push(format!("{pair}, {seed}: {error}\n{case}")),
            }
        }
        all += releases;
        if releases < RELEASES {
            poor.push(format!("{pair}: {releases}"));
        }
    }
    let first = broken.first();
    assert!(first.is_none(), "{} broken, the first is\n{}", broken.len(), broken[0]);
    // Each adversary must see releases that are made for less than it asks.
    let blind: Vec<_> = caught.iter().filter(|(_, caught)| **caught < 10).collect();
    assert!(blind.is_empty() && caught.len() == Promise::all().len(), "{blind:?}");
    assert!(poor.is_empty(), "too few releases ({all} in all): {poor:#?}");
}

/// `UPDATE=1` rewrites the list.
#[test]
fn pairs_that_do_not_go_together_say_why() {
    let mut found = String::new();
    for pair in Pair::all().into_iter().filter(|pair| !pair.goes_together()) {
        let case = Case::random(&pair, 0);
        let error = published(&case).map(|_| ()).expect_err(&pair.to_string());
        assert_eq!(error.exit_code(), 2, "{pair}: {error}");
        found += &format!("{pair}\n    {error}\n");
        for hint in error.hints() {
            found += &format!("    hint: {hint}\n");
        }
    }
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/oracle/pairs/refused.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap();
    assert!(found == wanted, "found:\n{found}");
}
