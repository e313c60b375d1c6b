//! Does it hold, can it be broken: promises rechecked from the files, attacks, scores.
//!
//! The audit shares no code with the publisher's promises and methods: it reads what was
//! written and computes everything again, another way where there is one. An attack gets
//! the published rows and what the adversary knows, and returns guesses; only the scorer
//! sees the truth.
//!
//! `views` shows a release by what was done to its columns, `held` what the auditor was given
//! beside it. `checks` has one file a promise, `attacks` one an attack; `cells`, `drawn`,
//! `apart`, `noisy` and `redrawn` have what they share, by treatment.

mod apart;
pub mod attacks;
mod bands;
mod cells;
pub mod checks;
mod drawn;
mod given;
mod held;
mod losses;
mod noisy;
mod page;
mod public;
mod redrawn;
mod views;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub use attacks::averaging;
pub use bands::{AtRisk, Risk, Width};
pub use given::{Given, Knowledge, Original, read_population};
pub use held::Held;
pub use page::{PAGE_FILE, page, write_page};
pub use public::Public;
pub use views::Views;

use crate::audit::attacks::Tried;
use crate::audit::given::without_others;
use crate::audit::losses::Losses;
use crate::audit::public::Parts;
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
    /// Each promise, rechecked.
    pub promises: Vec<Checked>,
    /// Each attack that was tried.
    pub attacks: Vec<Attacked>,
    /// Each attack that does not apply.
    pub not_applicable: Vec<NotApplicable>,
    /// What the release costs, by every loss; of coarse cells only with the original.
    pub loss: BTreeMap<String, f64>,
    /// How large groups are: size, and how many groups have it, ascending.
    pub group_sizes: Vec<(u64, u64)>,
    /// How many people have which risk, by what is at risk.
    pub risks: Vec<Risk>,
    /// How wide the cells of each quasi column are; of coarse cells only with the original,
    /// and nothing where quasi values are published as they are.
    pub widths: Vec<Width>,
}

/// A promise, rechecked.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Its name.
    pub name: String,
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

/// An attack that was not tried.
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

    /// Whether every promise holds.
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
    let manifest = views.manifest;
    let counted = given.original.and_then(|original| original.counted.as_deref());
    let alone = counted.and_then(without_others);
    let held = Held::new(&views, given, alone.as_ref().or(counted));
    let readers = given.original.is_some().then(|| held.of_readers());

    let (mut promises, mut public_promises) = (Vec::new(), Vec::new());
    for promise in &manifest.promises {
        let check = checks::of(promise)?;
        let checked = check.recheck(promise, &views, &held)?;
        watch.check()?;
        public_promises.push(match &readers {
            Some(readers) if check.is_sharper_with_original() => Public::because(
                "measured as anybody can",
                check.recheck(promise, &views, readers)?,
            ),
            _ => Public::because("what was reached is promised", checked.clone()),
        });
        promises.push(checked);
    }

    let (mut attacks, mut public_attacks) = (Vec::new(), Vec::new());
    let mut not_applicable = Vec::new();
    for attack in attacks::ALL {
        let tried = attack.attempt(&views, &held)?;
        watch.check()?;
        match tried {
            Tried::Attacked(tried) => {
                public_attacks.push(match &readers {
                    Some(readers) => attack.shown(&tried, &views, readers)?,
                    None => Public::because("no truth was given", tried.clone()),
                });
                attacks.extend(tried);
            }
            Tried::NotApplicable(reason) => {
                not_applicable
                    .push(NotApplicable { name: attack.name().to_owned(), reason });
            }
        }
    }

    let loss = Losses::of(&views, &held)?;
    watch.check()?;
    let group_sizes = views.group_sizes()?;
    let risks = bands::risks(&views, &held)?;
    let widths = bands::widths(&views, &held)?;
    held.check_used(given)?;
    let because = "computed from published cells, or told in bands only";
    let public = Public::of_report(Parts {
        rows: Public::because(because, manifest.rows),
        promises: public_promises,
        attacks: public_attacks,
        not_applicable: Public::because(because, not_applicable.clone()),
        loss: loss.public,
        group_sizes: Public::because(because, group_sizes.clone()),
        risks: Public::because(because, risks.clone()),
        widths: Public::because(because, widths.clone()),
    });
    let rows = manifest.rows;
    let private = Report {
        rows,
        promises,
        attacks,
        not_applicable,
        loss: loss.private,
        group_sizes,
        risks,
        widths,
    };
    Ok(Audit { private, public })
}
