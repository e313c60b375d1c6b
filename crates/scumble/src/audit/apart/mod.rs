//! Values that stand apart from the rows: who is in which group, and what the values of a
//! group tell about its members.
//!
//! Everybody can be linked to a group by design, and no attack pretends otherwise.

pub(crate) mod guesses;
pub(crate) mod in_rows;
pub(crate) mod priors;
pub(crate) mod truth;
pub(crate) mod values;
pub(crate) mod worlds;

pub(crate) use crate::learn::Groups;
pub(crate) use guesses::{BeliefPiece, Gathered, TupleGuesses};
pub(crate) use in_rows::{RowGroups, RowMembers};
pub(crate) use priors::{
    CountedColumn, Priors, SensitiveTexts, TupleTexts, Work, plain, shown,
};
pub(crate) use truth::{ApartTruth, codes_of};
pub(crate) use values::{ApartValues, numbered};
pub(crate) use worlds::{How, Posteriors};

use std::collections::BTreeMap;

use crate::audit::apart::truth::SUPPORT;
use crate::audit::cells::ValueColumn;
use crate::audit::checks::l_diversity::{self, Diversity};
use crate::audit::checks::r_robustness::{AskedRobustness, KnowledgeFrom};
use crate::audit::given::needs_original;
use crate::audit::{Case, Knowledge};
use crate::error::{Error, Result};
use crate::loss::{AverageGroup, SizeLoss, Sizes};
use crate::release::{Manifest, PromiseNote, Treatment};
use crate::table::{Reading, Stated, StatedSet};

/// What nobody should be believed more than of values of a column: 1/r, or else 1/l if the
/// column stands apart.
pub(crate) fn bound(manifest: &Manifest, column: &str) -> Option<f64> {
    let robust = AskedRobustness::asked(manifest, column);
    let robust = robust.map(|robust| 1.0 / robust.r.to_f64());
    let apart =
        manifest.column(column).is_some_and(|c| c.treatment == Treatment::Apart);
    let about = |note: &&PromiseNote| note.columns.iter().any(|name| name == column);
    let mut notes = manifest.promises.iter().filter(|_| apart).filter(about);
    robust.or_else(|| {
        notes.find_map(|note| match l_diversity::asked(note).ok()? {
            Diversity::Distinct(l) => Some(1.0 / l as f64),
            Diversity::Entropy(l) => Some(1.0 / l.to_f64()),
            Diversity::Recursive { .. } => None,
        })
    })
}

/// What a file says that is about a column: if a promise speaks of the file, everything about
/// its column and nothing about others; else everything, if no other column stands apart, or
/// what is said of values of its name.
pub(crate) fn about<'s>(
    stated: &'s Stated,
    manifest: &Manifest,
    column: &str,
) -> Option<&'s Stated> {
    let own = match has_file_promise(manifest) {
        true => is_promised_by_file(manifest, column),
        false => manifest.buckets().len() < 2 || stated.value_columns == [column],
    };
    own.then_some(stated)
}

/// Whether a promise of a column speaks of what a file says.
fn is_promised_by_file(manifest: &Manifest, column: &str) -> bool {
    AskedRobustness::asked(manifest, column)
        .is_some_and(|asked| asked.from == KnowledgeFrom::File)
}

/// Whether any promise speaks of what a file says.
pub(crate) fn has_file_promise(manifest: &Manifest) -> bool {
    let mut columns = manifest.columns.iter();
    columns.any(|column| is_promised_by_file(manifest, &column.name))
}

/// Adversaries who know something before the release: from the table, or from a file.
#[derive(Debug, Clone)]
pub(crate) struct Believers<'a> {
    manifest: &'a Manifest,
    column: &'a ValueColumn,
    // The quasi values of people.
    quasi: Vec<TupleTexts<'a>>,
    pub(crate) truth: Option<&'a ApartTruth<'a>>,
    stated: Option<&'a Stated>,
}

impl<'a> Believers<'a> {
    /// What the case has of a column.
    pub(crate) fn of(
        case: &'a Case<'_>,
        (values, truth): (&'a ApartValues, Option<&'a ApartTruth<'a>>),
    ) -> Self {
        let quasi = values.quasi.iter().map(|column| TupleTexts {
            name: &column.name,
            reading: &column.reading,
            texts: &column.texts,
            codes: &column.codes,
        });
        Self::about(case, &values.column, quasi.collect(), truth)
    }

    /// The same of a column whose values stay in the rows.
    pub(crate) fn in_rows(case: &'a Case<'_>, rows: &'a RowGroups<'_>) -> Self {
        Self::about(case, rows.column, rows.texts(), Some(&rows.truth))
    }

    fn about(
        case: &'a Case<'_>,
        column: &'a ValueColumn,
        quasi: Vec<TupleTexts<'a>>,
        truth: Option<&'a ApartTruth<'a>>,
    ) -> Self {
        let manifest = case.manifest;
        let stated = case.stated();
        let stated = stated.and_then(|s| about(s, manifest, &column.name));
        Self { manifest, column, quasi, truth, stated }
    }

    /// The prior beliefs of an adversary who knows what r-robustness speaks of.
    pub(crate) fn believed(&self, robust: &AskedRobustness) -> Result<Vec<Priors>> {
        let cannot = "r-robustness cannot be rechecked";
        match robust.from {
            KnowledgeFrom::Table { support } => {
                let original = self.truth.ok_or_else(|| needs_original(cannot))?;
                robust.sets.iter().map(|set| counted(original, set, support)).collect()
            }
            KnowledgeFrom::File => {
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
    pub(crate) fn known(&self, knowledge: Option<&Knowledge>) -> Result<Vec<Priors>> {
        if let Some(stated) = self.stated {
            return stated.sets.iter().map(|set| self.stated_by(set)).collect();
        }
        let Some(original) = self.truth else {
            return match knowledge {
                Some(Knowledge::Table) => {
                    Err(needs_original("what is known cannot be used"))
                }
                // A file is about another column.
                Some(Knowledge::Stated(_)) | None => Ok(Vec::new()),
            };
        };
        let mut known = original.by_single_columns();
        let asked = AskedRobustness::asked(self.manifest, &self.column.name);
        if let Some(robust) = asked.filter(|robust| robust.from != KnowledgeFrom::File)
        {
            for mut more in self.believed(&robust)? {
                let KnowledgeFrom::Table { support } = robust.from else { continue };
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
        let reading = reading_of(self.manifest, &self.column.name);
        let table = self.truth.map(|t| &t.table.sensitive[t.sensitive].domain);
        let published = &self.column.domain;
        let values = SensitiveTexts { reading: &reading, published, table };
        Priors::stated(set, &self.quasi, values)
    }
}

/// How a column is read.
pub(crate) fn reading_of(manifest: &Manifest, name: &str) -> Reading {
    manifest.column(name).map_or_else(Reading::category, |column| column.reading())
}

/// What the original says by one set of columns.
fn counted(original: &ApartTruth<'_>, set: &[String], support: u64) -> Result<Priors> {
    let quasi = &original.table.quasi;
    let place = |name: &String| quasi.iter().position(|column| column.name == *name);
    let places: Option<Vec<usize>> = set.iter().map(place).collect();
    let places = places.ok_or_else(|| {
        Error::input(format!("the original has no columns {}", shown(set)))
    })?;
    Ok(original.by(&places, support))
}

/// How large groups are, and how surprising the true values are to somebody who sees them:
/// in the mean over the columns that stand apart.
pub(crate) fn losses(views: &[ApartValues], left_out: u64) -> BTreeMap<String, f64> {
    let (mut average, mut surprise) = (0.0, 0.0);
    for view in views {
        let mut sizes = Sizes { left_out, ..Sizes::default() };
        let mut own = 0.0;
        for (group, size) in view.groups.sizes().enumerate() {
            sizes.add(size);
            for (_, n) in view.groups.values(group) {
                own += *n as f64 * (size as f64 / *n as f64).ln();
            }
        }
        sizes.n_rows += left_out;
        average += AverageGroup.total(&sizes);
        surprise += own / view.rows.max(1) as f64;
    }
    let n_columns = views.len().max(1) as f64;
    BTreeMap::from([
        (AverageGroup.name().to_owned(), average / n_columns),
        ("surprise".to_owned(), surprise / n_columns),
    ])
}
