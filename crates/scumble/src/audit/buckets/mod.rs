//! Buckets: quasi columns untouched, sensitive values by group in a file of their own.
//!
//! Everybody can be linked to a group by design, and no attack pretends otherwise. What is
//! asked is what the values of a group tell about its members.

mod background;
mod corruption;
mod generalized;
mod guesses;
mod homogeneity;
mod original;
mod priors;
mod recheck;
mod view;
mod worlds;

use std::collections::BTreeMap;

pub(super) use generalized::{Release as Generalized, attack as attack_generalized};

use crate::audit::buckets::background::Target;
use crate::audit::buckets::original::{Original, SUPPORT};
use crate::audit::buckets::priors::{Priors, Texts, Values, shown};
use crate::audit::buckets::recheck::{From, Robust};
use crate::audit::buckets::view::View;
use crate::audit::original::without_others;
use crate::audit::recheck::{Asked, Diversity, all_asked};
use crate::audit::{AtRisk, Attack, Given, Knowledge, Report, Risk};
use crate::error::{Error, Result};
use crate::loss::{AverageGroup, SizeLoss, Sizes};
use crate::release::{Manifest, Release};
use crate::table::{Domain, Reading, Role, Stated, StatedSet};

/// Audits a release of buckets: as the auditor can, and with the attacks that its readers can
/// try, who have no original.
pub(super) fn audit(
    release: &Release,
    given: Given<'_>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(Report, Report)> {
    let manifest = &release.manifest;
    let view = View::read(release, progress)?;
    let alone = given.original.and_then(without_others);
    let original = alone.as_ref().or(given.original);
    let original =
        original.map(|table| Original::of(manifest, &view, table)).transpose()?;
    let seen = Seen { manifest, view, original, stated: stated(given.knowledge) };
    let promises =
        recheck::recheck(manifest, &seen.view, |robust| seen.believed(robust))?;
    let report = Report {
        rows: seen.view.rows,
        promises,
        attacks: seen.attacks(given.knowledge)?,
        loss: losses(&seen.view, manifest.left_out),
        group_sizes: seen.view.groups.sizes(),
        risks: vec![risk(&seen.view)],
        widths: Vec::new(),
    };
    if seen.original.is_none() {
        return Ok((report.clone(), report));
    }
    let reader = Seen { original: None, ..seen };
    let knowledge = reader.stated.and(given.knowledge);
    let public = Report { attacks: reader.attacks(knowledge)?, ..report.clone() };
    Ok((report, public))
}

/// How sure somebody can be of everybody's value who knows nothing but groups.
fn risk(view: &View) -> Risk {
    let mut risk = Risk::new(AtRisk::Value(view.column.name.clone()));
    let groups = &view.groups;
    for group in 0..groups.len() {
        let size = groups.size(group);
        risk.add(groups.most(group) as f64 / size.max(1) as f64, size);
    }
    risk
}

/// What nobody should be believed more than: 1/r, or else 1/l.
fn bound(manifest: &Manifest) -> Option<f64> {
    let robust = Robust::asked(manifest).map(|robust| 1.0 / robust.r.to_f64());
    robust.or_else(|| {
        all_asked(manifest).find_map(|asked| match asked {
            Asked::Diversity(Diversity::Distinct(l)) => Some(1.0 / l as f64),
            Asked::Diversity(Diversity::Entropy(l)) => Some(1.0 / l.to_f64()),
            _ => None,
        })
    })
}

/// What a file says, if the adversary's knowledge is from one.
fn stated(knowledge: Option<&Knowledge>) -> Option<&Stated> {
    match knowledge? {
        Knowledge::Stated(stated) => Some(stated),
        Knowledge::Table => None,
    }
}

/// A release and what the auditor was given.
struct Seen<'a> {
    manifest: &'a Manifest,
    view: View,
    original: Option<Original<'a>>,
    stated: Option<&'a Stated>,
}

impl Seen<'_> {
    /// Tries every attack that what is given allows.
    fn attacks(&self, knowledge: Option<&Knowledge>) -> Result<Vec<Attack>> {
        let known = self.known(knowledge)?;
        let (view, original) = (&self.view, self.original.as_ref());
        let mut attacks = vec![homogeneity::attack(view, original)];
        let target = Target {
            column: &view.column.name,
            groups: &view.groups,
            n_tuples: view.tuples.len(),
            n_values: view.column.domain.len(),
            blind: homogeneity::blind(view),
            bound: bound(self.manifest),
            left_aside: 0,
        };
        attacks.extend(target.attack(&known, original));
        attacks.push(corruption::attack(view));
        Ok(attacks)
    }

    /// What an adversary believes who knows what r-robustness speaks of.
    fn believed(&self, robust: &Robust) -> Result<Vec<Priors>> {
        let cannot = "r-robustness cannot be rechecked";
        match robust.from {
            From::Table { support } => {
                let original = self.original.as_ref().ok_or_else(|| {
                    Error::input(format!("{cannot} without the original"))
                        .with_hint("give it with `--original FILE`")
                })?;
                robust.sets.iter().map(|set| counted(original, set, support)).collect()
            }
            From::File => {
                let stated = self.stated.ok_or_else(|| {
                    Error::input(format!("{cannot} without the file of what is known"))
                        .with_hint("give it with `--knowledge FILE`")
                })?;
                let set = |columns: &Vec<String>| {
                    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
                    let set = stated.set(&names).ok_or_else(|| {
                        Error::input(format!(
                            "the file of what is known says nothing by {}",
                            shown(columns)
                        ))
                        .with_hint("give the file the release was made with")
                    })?;
                    self.stated_by(set)
                };
                robust.sets.iter().map(set).collect()
            }
        }
    }

    /// What adversaries are taken to know: what the auditor says, or what the original tells
    /// by every single column and by the sets that the release speaks of.
    fn known(&self, knowledge: Option<&Knowledge>) -> Result<Vec<Priors>> {
        if let Some(stated) = self.stated {
            return stated.sets.iter().map(|set| self.stated_by(set)).collect();
        }
        let Some(original) = &self.original else {
            return match knowledge {
                Some(_) => Err(needs_original()),
                None => Ok(Vec::new()),
            };
        };
        let mut known = original.by_single_columns();
        let asked = Robust::asked(self.manifest);
        if let Some(robust) = asked.filter(|robust| robust.from != From::File) {
            for mut more in self.believed(&robust)? {
                let From::Table { support } = robust.from else { continue };
                if known.iter().any(|priors| priors.name == more.name) {
                    if support == SUPPORT {
                        continue;
                    }
                    more.name = format!("{} (support {support})", more.name);
                }
                known.push(more);
            }
        }
        Ok(known)
    }

    /// What a file says by one set of columns.
    fn stated_by(&self, set: &StatedSet) -> Result<Priors> {
        let columns = self.view.quasi.iter().map(|column| Texts {
            name: &column.name,
            reading: &column.reading,
            texts: &column.texts,
            codes: &column.codes,
        });
        let columns: Vec<Texts<'_>> = columns.collect();
        let reading = sensitive_reading(self.manifest);
        let table = self.original.as_ref().map(Original::domain);
        let published = &self.view.column.domain;
        Priors::stated(set, &columns, Values { reading: &reading, published, table })
    }
}

/// That knowledge is to be counted from a table that is not there.
pub(super) fn needs_original() -> Error {
    Error::input("what is known cannot be used without the original")
        .with_hint("give it with `--original FILE`")
}

/// How the sensitive column is read.
fn sensitive_reading(manifest: &Manifest) -> Reading {
    let column = manifest.columns.iter().find(|c| c.role == Role::Sensitive);
    column.map_or_else(Reading::category, |column| column.reading())
}

/// What the original says by one set of columns.
fn counted(original: &Original<'_>, set: &[String], support: u64) -> Result<Priors> {
    let quasi = &original.table.quasi;
    let place = |name: &String| quasi.iter().position(|column| column.name == *name);
    let places: Option<Vec<usize>> = set.iter().map(place).collect();
    let places = places.ok_or_else(|| {
        Error::input(format!("the original has no columns {}", shown(set)))
    })?;
    Ok(original.by(&places, support))
}

impl Original<'_> {
    /// The values of the sensitive column.
    fn domain(&self) -> &Domain {
        &self.table.sensitive[self.sensitive].domain
    }
}

/// How large groups are, and how surprising the true values are to somebody who sees them.
fn losses(view: &View, left_out: u64) -> BTreeMap<String, f64> {
    let groups = &view.groups;
    let mut sizes = Sizes { left_out, ..Sizes::default() };
    let mut surprise = 0.0;
    for group in 0..groups.len() {
        let size = groups.size(group);
        sizes.add(size);
        for (_, n) in groups.values(group) {
            surprise += *n as f64 * (size as f64 / *n as f64).ln();
        }
    }
    sizes.n_rows += left_out;
    BTreeMap::from([
        (AverageGroup.name().to_owned(), AverageGroup.total(&sizes)),
        ("surprise".to_owned(), surprise / view.rows.max(1) as f64),
    ])
}
