//! Condensed numbers: rows of a group are drawn anew from its mean and covariance.
//!
//! # Guarantee
//! Groups have the sizes that are promised, and as many rows as the manifest says.
//!
//! # Limits
//! That rows were drawn and not copied cannot be seen from the files: means and covariances
//! are not published. Rows of a group are around its members, and a group far from all
//! others tells where its members are.
//!
//! # Cost
//! One look at the data.
//!
//! # Source
//! `aggarwal2004condensation`.

use std::collections::BTreeMap;

use serde_json::{Map, json};

use crate::audit::blur::{Wish, wish};
use crate::audit::view::verify;
use crate::audit::{Attack, Checked, Report, bands};
use crate::error::{Error, Result};
use crate::release::{CondensedNote, GROUP_COLUMN, Release};
use crate::table::{Numbers, scan};

/// Audits a condensed release. Everything in the report can be published.
pub(super) fn audit(
    release: &Release,
    note: &CondensedNote,
    numbers: Option<&Numbers>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Report> {
    let sizes = sizes(release, note, progress)?;
    let manifest = &release.manifest;
    let (rows, left_out) = (manifest.rows, manifest.left_out);
    if numbers.is_some_and(|numbers| numbers.n_rows as u64 != rows + left_out) {
        return Err(crate::audit::cost::another_table());
    }
    let smallest = sizes.iter().min().copied().unwrap_or(0);
    let mut promises = Vec::new();
    for promise in &manifest.promises {
        let failing = match wish(&promise.asked) {
            Some(Wish::Same(k)) => {
                sizes.iter().filter(|size| (**size as f64) < k).sum::<u64>()
            }
            Some(Wish::Column(name)) => {
                let numbers = numbers.filter(|n| n.wishes.len() == n.n_rows);
                let numbers = numbers.ok_or_else(|| {
                    Error::input(format!(
                        "{} cannot be rechecked without the original’s column `{name}`",
                        promise.name
                    ))
                    .with_hint("give it with `--original FILE`")
                })?;
                crowded(&sizes, &numbers.wishes, left_out)
            }
            None => {
                return Err(Error::input(format!(
                    "the manifest promises {} of condensed numbers",
                    promise.name
                )));
            }
        };
        promises.push(Checked {
            name: promise.name.clone(),
            asked: promise.asked.clone(),
            measured: json!({ "k": smallest }),
            holds: failing == 0,
            rows_at_risk: failing,
        });
    }
    let mut detail = Map::new();
    detail.insert("smallest".into(), smallest.into());
    let linkage = Attack {
        name: "linkage".to_owned(),
        success: sizes.len() as f64 / rows.max(1) as f64,
        chance: 1.0 / (rows + left_out).max(1) as f64,
        worst: 1.0 / smallest.max(1) as f64,
        detail,
    };
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for size in &sizes {
        *counts.entry(*size).or_default() += 1;
    }
    let group_sizes: Vec<(u64, u64)> = counts.into_iter().collect();
    Ok(Report {
        rows,
        promises,
        attacks: vec![linkage],
        loss: BTreeMap::new(),
        risks: vec![bands::of_sizes(&group_sizes)],
        widths: Vec::new(),
        group_sizes,
    })
}

/// How many rows cannot all be in groups as large as they ask for: groups of at least t rows
/// must have room for all who ask for t or more, for every t.
fn crowded(sizes: &[u64], wishes: &[f64], left_out: u64) -> u64 {
    let mut wishes = wishes.to_vec();
    wishes.sort_by(|a, b| b.total_cmp(a));
    let mut sizes = sizes.to_vec();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let (mut group, mut room, mut worst) = (0, left_out, 0);
    for (asking, wish) in (1u64..).zip(&wishes) {
        while sizes.get(group).is_some_and(|size| *size as f64 >= *wish) {
            room += sizes[group];
            group += 1;
        }
        worst = worst.max(asking.saturating_sub(room));
    }
    worst
}

/// The rows of every group.
fn sizes(
    release: &Release,
    note: &CondensedNote,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<u64>> {
    let manifest = &release.manifest;
    verify(release, [&manifest.data.file].into_iter())?;
    let source = release.rows()?;
    let wrong = |what: String| Error::input(what).in_file(source.name());
    let names = manifest.columns.iter().map(|column| column.name.as_str());
    let header: Vec<&str> = [GROUP_COLUMN].into_iter().chain(names).collect();
    if header != source.header() {
        return Err(wrong("the columns are not those of the manifest".to_owned()));
    }
    let exact = note
        .exact
        .iter()
        .filter_map(|name| header.iter().position(|known| known == name));
    let places: Vec<usize> = [0].into_iter().chain(exact).collect();
    let found = scan(&source, &places, progress)?;
    if found.n_rows != manifest.rows {
        return Err(wrong(format!(
            "the manifest says {} rows, but there are {}",
            manifest.rows, found.n_rows
        )));
    }
    let groups = found.dictionaries.first().map_or(0, |texts| texts.rows.len());
    if groups as u64 != note.groups {
        return Err(wrong(format!(
            "the manifest says {} groups, but there are {groups}",
            note.groups
        )));
    }
    // As many different tuples of group and exact cells as groups: each has its own.
    if found.counts.rows.len() != groups {
        return Err(wrong("rows of a group do not share their exact cells".to_owned()));
    }
    Ok(found
        .dictionaries
        .into_iter()
        .next()
        .map(|texts| texts.rows)
        .unwrap_or_default())
}
