//! Does it hold, can it be broken: promises rechecked from the files, attacks, scores.
//!
//! The audit shares no code with the publisher's promises and methods: it reads what was
//! written and computes everything again, another way where there is one. An attack gets
//! the published rows and what the adversary knows, and returns guesses; only the scorer
//! sees the truth.

mod bands;
mod blur;
mod buckets;
mod condensed;
mod cost;
mod counting;
mod covers;
mod draws;
mod existence;
mod fits;
mod homogeneity;
mod linkage;
mod measure;
mod members;
mod original;
mod page;
mod people;
mod perturbed;
mod presence;
mod recheck;
mod reversal;
mod score;
mod shares;
mod view;
mod ways;
mod weights;
mod worlds;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub use bands::{AtRisk, Risk, Width};
pub use blur::original_numbers;
pub use original::original_columns;
pub use page::write_page;
pub use perturbed::averaging;

use crate::audit::buckets::{Generalized, attack_generalized};
use crate::audit::covers::Covers;
use crate::audit::fits::Knowledge as Known;
use crate::audit::members::Members;
use crate::audit::original::{quasi_columns, without_others};
use crate::audit::people::People;
use crate::audit::presence::Presence;
use crate::audit::score::Truth;
use crate::audit::view::View;
use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::loss::{CellLoss, Kl};
use crate::release::{Manifest, Release};
use crate::table::{Numbers, Stated};

/// What an audit found.
#[derive(Debug, Clone)]
pub struct Report {
    /// Rows in the release.
    pub rows: u64,
    /// Each promise, rechecked.
    pub promises: Vec<Checked>,
    /// Each attack that the original or the population allows, tried.
    pub attacks: Vec<Attack>,
    /// What the release costs, by every loss; empty without the original, unless values are
    /// randomized or in buckets.
    pub loss: BTreeMap<String, f64>,
    /// How large groups are: size, and how many groups have it, ascending.
    pub group_sizes: Vec<(u64, u64)>,
    /// How many people have which risk, by what is at risk.
    pub risks: Vec<Risk>,
    /// How wide the cells of each quasi column are; empty without the original, and where
    /// quasi values are published as they are.
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
pub struct Attack {
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

/// What an auditor is given besides the release.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given<'a> {
    /// The table it was made from, best read with [`original_columns`].
    pub original: Option<&'a Microdata>,
    /// Everyone who may be in the table, as a table of its own with the quasi columns:
    /// promises about presence cannot be rechecked without it.
    pub population: Option<&'a Microdata>,
    /// What an adversary knows of how sensitive values depend on quasi columns.
    pub knowledge: Option<&'a Knowledge>,
    /// The numbers of the table it was made from, best read as [`original_numbers`] says:
    /// blurred numbers are rechecked with these, and nothing else is needed of the table.
    pub numbers: Option<&'a Numbers>,
}

/// Where an adversary's knowledge comes from.
#[derive(Debug, Clone)]
pub enum Knowledge {
    /// From the original itself, by every single quasi column.
    Table,
    /// From a file.
    Stated(Stated),
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

/// Audits a release: checksums, promises and, given the table it was made from or the
/// population, attacks; with the table also losses.
///
/// Of a release with randomized columns only these are read, and the original needs no
/// others. `progress` is told how many more bytes were read.
pub fn audit(
    release: &Release,
    given: Given<'_>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Report> {
    let manifest = &release.manifest;
    let Given { original, population, .. } = given;
    if !manifest.perturbation.is_empty() {
        return perturbed::Seen::read(release, progress)?.audit(original);
    }
    if manifest.buckets.is_some() {
        return buckets::audit(release, given, progress).map(|(report, _)| report);
    }
    if let Some(note) = &manifest.blur {
        let audited = blur::audit(release, note, given.numbers, progress);
        return audited.map(|(report, _)| report);
    }
    if let Some(note) = &manifest.condensed {
        return condensed::audit(release, note, given.numbers, progress);
    }
    let view = View::read(release, progress)?;
    let people =
        population.map(|given| People::of(manifest, &view, given)).transpose()?;
    let seen = people.as_ref().map(|people| Presence::of(&view, people));
    let mut report = Report {
        rows: view.rows,
        promises: recheck::recheck(
            manifest,
            &view,
            people.as_ref().zip(seen.as_ref()),
        )?,
        attacks: Vec::new(),
        loss: BTreeMap::new(),
        group_sizes: view.group_sizes(),
        risks: bands::of_groups(&view),
        widths: Vec::new(),
    };
    let alone = original.and_then(without_others);
    let original = alone.as_ref().or(original);
    if given.knowledge.is_some() && original.is_none() {
        return Err(buckets::needs_original());
    }
    if let Some(original) = original {
        let truth = Truth::of(original, &view)?;
        let (columns, places) = quasi_columns(manifest, original, "original")?;
        let covers = Covers::read(manifest, &view, &columns)?;
        let knowledge = Known::of(original, &places);
        let guesses = linkage::guess(&view, &covers, &knowledge);
        cost::check_same_table(&view, &guesses, original, manifest.left_out)?;
        let k = recheck::asked_k(manifest);
        report.attacks.push(truth.linkage(&guesses, view.rows, k));
        report.attacks.extend(truth.homogeneity(&guesses, &view));
        if let Some(given) = given.knowledge {
            let (view, covers, known) = (&view, &covers, &knowledge);
            let release = Generalized { manifest, view, covers, known, original };
            report.attacks.extend(attack_generalized(release, given)?);
        }
        report.loss = cost::losses(&view, &covers, &columns, original.n_rows());
        report.widths = bands::widths(&view, &covers, &columns);
        if let Some(weights) = &view.weights {
            let kl = cost::kl(&view, weights, &covers, &columns, &knowledge)?;
            report.loss.insert(Kl.name().to_owned(), kl);
        }
    }
    if let (Some(people), Some(seen)) = (&people, &seen) {
        let members = Members::of(manifest, people, original)?;
        let beliefs = presence::believe(&view, people, &seen.plain);
        report.attacks.push(members.score("presence", &beliefs));
        let best = seen.counted.as_ref().map(|found| found.shares.beliefs());
        let best = best.unwrap_or(beliefs);
        report.risks.push(bands::of_presence(&best, people.known.people));
        report.attacks.extend(seen.counted.as_ref().map(|found| {
            let mut attack = members.score("counting", &found.shares.beliefs());
            attack.worst = found.worst();
            attack.detail.insert("solved".into(), found.solved.into());
            attack.detail.insert("bounded".into(), found.bounded.into());
            attack.detail.insert("wrong".into(), found.wrong.into());
            attack
        }));
        if let Some(mut reversed) = reversal::attack(manifest, &view, people) {
            members.note_certain(&mut reversed.attack, &reversed.certain);
            report.attacks.push(reversed.attack);
        }
    }
    Ok(report)
}

/// Audits a release with values by group twice: as the auditor can, and as its readers can.
/// How well attacks fare that know the original depends on true values, and is not for
/// publication; promises and losses are the same in both.
pub fn audit_buckets(
    release: &Release,
    given: Given<'_>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(Report, Report)> {
    buckets::audit(release, given, progress)
}

/// Audits a release with blurred or condensed numbers twice: with the numbers of the original
/// at hand, and what of that can be published. Attacks that are scored on true numbers are
/// in the first alone; the second has the promise as it was rechecked.
pub fn audit_blur(
    release: &Release,
    numbers: &Numbers,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(Report, Report)> {
    match &release.manifest.blur {
        Some(note) => blur::audit(release, note, Some(numbers), progress),
        None => {
            let given = Given { numbers: Some(numbers), ..Given::default() };
            audit(release, given, progress).map(|report| (report.clone(), report))
        }
    }
}

/// Audits a release with randomized columns twice: with the original at hand, and as its
/// readers can. Numbers of the first depend on true values and are not for publication.
pub fn audit_randomized(
    release: &Release,
    original: &Microdata,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(Report, Report)> {
    let seen = perturbed::Seen::read(release, progress)?;
    Ok((seen.audit(Some(original))?, seen.audit(None)?))
}
