//! Does it hold, can it be broken: promises rechecked from the files, attacks, scores.
//!
//! The audit shares no code with the publisher's promises and methods: it reads what was
//! written and computes everything again, another way where there is one. An attack gets
//! the published rows and what the adversary knows, and returns guesses; only the scorer
//! sees the truth.
//!
//! `views` shows a release by what was done to its columns, `case` binds what the auditor was
//! given to it. `checks` has a file for each promise, `attacks` for each attack; `cells`,
//! `drawn`, `apart`, `noisy` and `redrawn` have what they share, by treatment.

mod apart;
pub mod attacks;
mod bands;
mod case;
mod cells;
pub mod checks;
mod domains;
mod drawn;
mod given;
mod grouped;
mod losses;
mod noisy;
mod page;
mod public;
mod redrawn;
mod reidentification;
mod shares;
mod views;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub use attacks::{averaging, broken_together, together};
pub use bands::{AtRisk, RiskBands, Width};
pub use case::Case;
pub use given::{Given, Knowledge, Original, read_population};
pub use page::{PAGE_FILE, page, write_page};
pub use public::Public;
pub use reidentification::Reidentification;
pub use views::Views;

use crate::audit::attacks::Stopped;
use crate::audit::given::without_others;
use crate::audit::losses::Losses;
use crate::error::Result;
use crate::release::{Manifest, Release};
use crate::watch::Watch;

/// What an audit found, for the auditor and for everybody.
#[derive(Debug, Clone)]
pub struct Audit {
    /// With everything that was given.
    pub private: Report,
    /// What of it may be published.
    pub public: Public<Report>,
}

/// What an audit found.
#[derive(Debug, Clone)]
pub struct Report {
    /// Rows in the release.
    pub rows: u64,
    /// Each promise that could be decided, rechecked.
    pub promises: Vec<Checked>,
    /// Each promise that could not with what was given, and why.
    pub undecided: Vec<NotApplicable>,
    /// Each attack that was tried.
    pub attacks: Vec<Attacked>,
    /// Each attack that does not apply.
    pub not_applicable: Vec<NotApplicable>,
    /// What the release costs, by every loss; of coarse cells only with the original.
    pub loss: BTreeMap<String, f64>,
    /// How large groups are: size, and how many groups have it, ascending.
    pub group_sizes: Vec<(u64, u64)>,
    /// How many people have which risk, by what is at risk.
    pub risks: Vec<RiskBands>,
    /// How wide the cells of each quasi column are; nothing where quasi values are published
    /// as they are.
    pub widths: Vec<Width>,
}

/// A promise, rechecked.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Its name.
    pub name: String,
    /// The columns that it is about.
    pub columns: Vec<String>,
    /// What was asked.
    pub asked: Value,
    /// What was reached.
    pub measured: Value,
    /// Whether it holds.
    pub holds: bool,
    /// Rows in groups of which it does not hold; for promises about presence, people of the
    /// population of whom it does not hold.
    pub rows_at_risk: u64,
}

/// An attack and how it went.
#[derive(Debug, Clone)]
pub struct Attacked {
    /// Its name.
    pub name: String,
    /// The share of people for whom the guess is right, on average.
    pub success: f64,
    /// The share without the release's quasi cells; of buckets, without their groups.
    pub chance: f64,
    /// The most certain guess about anybody; of randomized columns, of values that the
    /// promise speaks of.
    pub worst: f64,
    /// Further numbers.
    pub detail: Map<String, Value>,
}

impl Attacked {
    /// A number of the detail.
    pub(crate) fn number(&self, name: &str) -> f64 {
        self.detail.get(name).and_then(Value::as_f64).unwrap_or(0.0)
    }

    /// A whole number of the detail.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.detail.get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    /// A word of the detail.
    pub(crate) fn word(&self, name: &str) -> &str {
        self.detail.get(name).and_then(Value::as_str).unwrap_or("")
    }

    /// What the detail says of a question.
    pub(crate) fn is(&self, name: &str) -> Option<bool> {
        self.detail.get(name).and_then(Value::as_bool)
    }
}

/// The detail of an attack, written as JSON.
pub(crate) fn detail(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// An attack that was not tried, or a promise that could not be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotApplicable {
    /// Its name.
    pub name: String,
    /// Why it does not apply to this release, or with what is given.
    pub reason: String,
}

impl Report {
    /// How many rows of the table the published ones stand for.
    pub fn stands_for(&self, manifest: &Manifest) -> u64 {
        match manifest.sampled {
            None => manifest.rows,
            // One row of each group stands for all of it.
            Some(_) => self.group_sizes.iter().map(|(size, n)| size * n).sum(),
        }
    }

    /// Whether every promise holds that could be decided.
    pub fn holds(&self) -> bool {
        self.promises.iter().all(|promise| promise.holds)
    }
}

/// Audits a release: checksums, promises, attacks and, with the table it was made from, what
/// it costs. What is given and nothing uses is an error.
///
/// `watch` is told how many more bytes were read.
pub fn audit(release: &Release, given: &Given<'_>, watch: &dyn Watch) -> Result<Audit> {
    let views = Views::open(release, watch)?;
    views.read()?;
    domains::check(&views)?;
    shares::check(&views, given.original)?;
    let manifest = views.manifest;
    let counted = given.original.and_then(|original| original.counted.as_deref());
    let alone = counted.and_then(without_others);
    let case = Case::new(&views, given, alone.as_ref().or(counted));
    let readers = given.original.is_some().then(|| case.of_readers());

    let (mut promises, mut public_promises) = (Vec::new(), Vec::new());
    let mut undecided = Vec::new();
    for promise in &manifest.promises {
        let check = checks::of(promise)?;
        // Alone, it is an error that nothing can be decided.
        if let Some(reason) = check.undecided(promise, &case)?
            && manifest.promises.len() > 1
        {
            let (name, reason) = (promise.name.clone(), reason.to_owned());
            undecided.push(NotApplicable { name, reason });
            continue;
        }
        let checked = check.recheck(promise, &case)?;
        watch.check()?;
        public_promises.push(match &readers {
            Some(readers) if check.is_sharper_with_original() => {
                let checked = check.recheck(promise, readers)?;
                Public::because("measured as anybody can", checked)
            }
            Some(readers) if check.undecided(promise, readers)?.is_some() => {
                let measured = public::rounded_value(&checked.measured);
                let because =
                    "a mean over noise or a sum over people, with three digits";
                Public::because(because, Checked { measured, ..checked.clone() })
            }
            _ => Public::because("what was reached is promised", checked.clone()),
        });
        promises.push(checked);
    }

    let (mut attacks, mut public_attacks) = (Vec::new(), Vec::new());
    let mut not_applicable = Vec::new();
    for attack in attacks::ALL {
        let tried = attack.attempt(&case);
        watch.check()?;
        match tried {
            Ok(tried) => {
                public_attacks.push(match &readers {
                    Some(readers) => attack.shown(&tried, readers)?,
                    None => Public::because("no truth was given", tried.clone()),
                });
                attacks.extend(tried);
            }
            Err(Stopped::NotApplicable(reason)) => {
                let (name, reason) = (attack.name().to_owned(), reason.to_owned());
                not_applicable.push(NotApplicable { name, reason });
            }
            Err(Stopped::Failed(error)) => return Err(error),
        }
    }

    let loss = Losses::of(&case)?;
    watch.check()?;
    let group_sizes = views.group_sizes()?;
    let (risks, widths) = (bands::risks(&case)?, bands::widths(&case)?);
    case.check_used(given)?;
    let private = Report {
        rows: manifest.rows,
        promises,
        undecided,
        attacks,
        not_applicable,
        loss: loss.private,
        group_sizes,
        risks,
        widths,
    };
    let public =
        Public::of_report(&private, public_promises, public_attacks, loss.public);
    Ok(Audit { private, public })
}

/// How many people each group of a release has, in a table that tells them apart; nothing if
/// there are no groups, or if people fit several.
pub fn people_of_groups(
    release: &Release,
    original: &Original<'_>,
    watch: &dyn Watch,
) -> Result<Option<Vec<u64>>> {
    let views = Views::open(release, watch)?;
    let given = Given { original: Some(original), ..Given::default() };
    let case = Case::new(&views, &given, original.counted.as_deref());
    let found = case.found_people()?;
    Ok(found.and_then(Option::as_ref).map(|people| people.sizes.clone()))
}
