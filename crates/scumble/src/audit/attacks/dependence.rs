//! Dependence: what other published columns tell about a protected one.
//!
//! Each sensitive column has its own treatment, and none hides how columns depend on each
//! other: if the ward follows from the disease, a ward that is published as it is tells a
//! disease that is randomized. The adversary learns from the release alone how a protected
//! column depends on every other sensitive or further column, beside what quasi cells tell,
//! and guesses the value of each row with and without them.
//!
//! # Guarantee
//! What is learned from one half of the rows is judged by the other half, and taken only if
//! that makes what is published there likelier than chance could: columns that tell nothing
//! have a gain of 0, but for one in some hundred. Noise is undone through the published
//! matrix, values of a group are dealt to its rows so that each is had as often as it is
//! there. A guess is scored by the rows themselves where they show the value; elsewhere by
//! the table, if it is given, in the rows that can be found in it, or else by how likely the
//! learned model takes it to be right, which is what everybody else is shown.
//!
//! # Limits
//! Columns are taken as published in the row of a person, and several as if each told its own:
//! somebody who learns more, or elsewhere, gains more. What quasi cells tell is learned by a
//! tree of few parts, which leaves a rest that a column may get the credit for. Rows of one
//! person are taken for rows of several. Of values apart in groups of more than five rows less
//! is learned than could be, and nothing where all groups have the same values. In rows with
//! the same cells only dependence is used: somebody who knows the true value of another column
//! can use it as a quasi value, too.
//!
//! # Cost
//! One pass over the rows, or two; then at most [`MOST_ROWS`] of them, each O(values) for a
//! round and a column.
//!
//! # Source
//! Ours; docs/methods.md, "Dependence".

mod classes;
mod learn;
mod outcome;
mod problem;
mod rows;
mod strata;
mod truth;

use hashbrown::HashMap;
use serde_json::json;

use self::learn::{guesses, learned};
use self::outcome::Outcome;
use self::problem::{Problem, Told};
use self::rows::{Coded, Feature, Rows, hashed};
use self::truth::{score, unscored};
use crate::audit::apart::ApartValues;
use crate::audit::attacks::{Attack, PublicAttacks, Stopped};
use crate::audit::drawn::{DrawnColumn, Subtable};
use crate::audit::{Attacked, Case, Public, detail};
use crate::error::{Error, Result};
use crate::release::{GROUP_COLUMN, PublishedColumn, Treatment};
use crate::table::Role;

/// More rows are not looked at.
const MOST_ROWS: usize = 20_000;

/// Nor more values, over all rows.
const MOST_VALUES: usize = 2_000_000;

/// Tries to guess protected columns from others.
#[derive(Debug)]
pub struct Dependence;

impl Attack for Dependence {
    fn name(&self) -> &'static str {
        "dependence"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        let targets = targets(case)?;
        if targets.is_empty() {
            return Err(
                "no sensitive column is randomized, stands apart or is in rows of \
                        coarse cells"
                    .into(),
            );
        }
        let telling = |column: &&PublishedColumn| {
            matches!(column.role, Role::Sensitive | Role::Other)
        };
        let all: Vec<&PublishedColumn> =
            case.manifest.columns.iter().filter(telling).collect();
        let has_other = |target: &Target<'_>| {
            all.iter().any(|column| !target.names().contains(&&*column.name))
        };
        if !targets.iter().any(has_other) {
            return Err("no other column is published beside the protected one".into());
        }
        let view = View::read(case, &targets, &all)?;
        let mut found = Vec::new();
        for target in targets.iter().filter(|target| has_other(target)) {
            found.push(view.attacked(case, target)?);
            case.watch.check()?;
        }
        Ok(found)
    }

    fn shown(&self, tried: &[Attacked], _: &Case<'_>) -> Result<PublicAttacks> {
        let because = "learned and scored from the release alone";
        Ok(Public::because(because, tried.iter().cloned().map(unscored).collect()))
    }
}

/// A protected column.
#[derive(Debug)]
enum Target<'a> {
    /// One that was randomized, or several as one, and what is believed of each sub-table.
    Drawn(&'a DrawnColumn, Vec<Vec<f64>>),
    /// One that stands apart, and the column that tells the group of a row.
    Apart(&'a ApartValues, String),
    /// One in rows with the same cells.
    Shown(&'a str),
}

impl Target<'_> {
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Drawn(column, _) => column.names.iter().map(String::as_str).collect(),
            Self::Apart(values, _) => vec![&values.column.name],
            Self::Shown(name) => vec![name],
        }
    }

    fn n_values(&self) -> usize {
        match self {
            Self::Drawn(column, _) => column.values.len(),
            Self::Apart(values, _) => values.column.domain.len(),
            Self::Shown(_) => 1,
        }
    }
}

fn targets<'a>(case: &Case<'a>) -> Result<Vec<Target<'a>>> {
    let mut targets = Vec::new();
    if let Some(drawn) = case.views.drawn()? {
        targets.extend(drawn.each().map(|(_, column, believed)| {
            let shares = believed.iter().map(|believed| believed.shares.clone());
            Target::Drawn(column, shares.collect())
        }));
    }
    for values in case.views.apart()? {
        let mut notes = case.manifest.buckets().into_iter();
        let note = notes.find(|note| note.column == values.column.name);
        let told_by = note.map(|note| note.told_by).ok_or_else(|| {
            Error::input(format!(
                "nothing tells the groups of `{}`",
                values.column.name
            ))
        })?;
        targets.push(Target::Apart(values, told_by));
    }
    if case.views.present.coarse && case.views.cells()?.is_some() {
        let kept = case.manifest.columns.iter().filter(|column| {
            column.role == Role::Sensitive && column.treatment == Treatment::Kept
        });
        targets.extend(kept.map(|column| Target::Shown(&column.name)));
    }
    Ok(targets)
}

/// The rows, and what they show.
#[derive(Debug)]
struct View<'a> {
    rows: Rows,
    names: Vec<&'a str>,
    /// What is seen of each column that may tell something.
    features: Vec<Feature>,
    strata: Feature,
}

impl<'a> View<'a> {
    /// Reads what is published of the columns in question, and of quasi columns.
    fn read(
        case: &Case<'a>,
        targets: &[Target<'_>],
        telling: &[&'a PublishedColumn],
    ) -> Result<Self> {
        let manifest = case.manifest;
        let in_rows = |column: &&PublishedColumn| column.treatment.is_in_rows();
        let of_quasi = manifest.columns.iter().filter(|c| c.role == Role::Quasi);
        let quasi: Vec<&PublishedColumn> = of_quasi.filter(in_rows).collect();
        let subtables = targets.iter().filter_map(|target| match target {
            Target::Drawn(column, _) => column.subtable_column.as_deref(),
            Target::Apart(..) | Target::Shown(_) => None,
        });
        let subtables: Vec<&str> = subtables
            .filter_map(|name| case.manifest.header().into_iter().find(|h| *h == name))
            .collect();
        let apart = targets.iter().filter_map(|target| match target {
            Target::Apart(values, told_by) => Some((*values, told_by.as_str())),
            Target::Drawn(..) | Target::Shown(_) => None,
        });
        let apart: Vec<(&ApartValues, &str)> = apart.collect();
        let is_group = |name: &&str| {
            let weighted = case.views.present.weighted && *name == GROUP_COLUMN;
            weighted || apart.iter().any(|(_, told_by)| told_by == name)
        };
        let mut names: Vec<&str> =
            manifest.header().into_iter().filter(is_group).collect();
        names.extend(quasi.iter().map(|column| &*column.name));
        let told: Vec<&PublishedColumn> =
            telling.iter().copied().filter(in_rows).collect();
        names.extend(told.iter().map(|column| &*column.name));
        names.extend(&subtables);
        let n_values = targets.iter().map(Target::n_values).max().unwrap_or(1);
        let most = match apart.len() {
            // Whole groups of one column are not whole groups of another.
            2.. => usize::MAX,
            _ => (MOST_VALUES / n_values.max(1)).clamp(2_000, MOST_ROWS),
        };
        let rows = Rows::read(
            case.views.rows(),
            &names,
            (manifest.rows, most),
            case.views.present.apart,
            case.watch,
        )?;
        let mut view = Self {
            rows,
            names,
            features: Vec::new(),
            strata: Feature::certain("", vec![], 0, false),
        };
        let features: Vec<Feature> = told
            .iter()
            .map(|column| Feature::of(column, view.coded(&column.name)))
            .collect();
        let quasi: Vec<Feature> = quasi
            .iter()
            .map(|column| Feature::of(column, view.coded(&column.name)))
            .collect();
        // In rows with the same cells, quasi cells have told what they can.
        if targets.iter().any(|target| !matches!(target, Target::Shown(_))) {
            let all: Vec<&Feature> = features.iter().collect();
            view.strata = strata::strata(&quasi, &all, view.rows.n);
        }
        view.features = features;
        for name in subtables {
            let coded = view.coded(name);
            let (of_row, n) = (coded.of_row.clone(), coded.texts.len());
            view.features.push(Feature::certain(name, of_row, n, false));
        }
        for (values, told_by) in apart {
            let groups = view.groups(values.groups.len(), told_by)?;
            let shares = |group: usize| {
                let size = values.groups.size(group).max(1) as f64;
                let values = values.groups.values(group).iter();
                values.map(|(value, n)| (*value, *n as f64 / size)).collect()
            };
            view.features.push(Feature {
                name: values.column.name.clone(),
                of_row: groups,
                values: (0..values.groups.len()).map(shares).collect(),
                n_values: values.column.domain.len(),
                ordered: false,
            });
        }
        Ok(view)
    }

    fn coded(&self, name: &str) -> &Coded {
        let place = self.names.iter().position(|known| *known == name);
        &self.rows.columns[place.expect("columns that are asked for were read")]
    }

    /// The group of each row. Groups are called 1, 2, 3 and so on, and stand in the order of
    /// these texts.
    fn groups(&self, n_groups: usize, told_by: &str) -> Result<Vec<u32>> {
        let mut names: Vec<String> = (1..=n_groups).map(|n| n.to_string()).collect();
        names.sort_unstable();
        let coded = self.coded(told_by);
        let place = |text: &str| {
            let place = names.binary_search_by(|name| name.as_str().cmp(text));
            place.map_err(|_| Error::input("a row is of a group that is not there"))
        };
        let of_text: Vec<usize> =
            coded.texts.iter().map(|text| place(text)).collect::<Result<_>>()?;
        Ok(coded.of_row.iter().map(|code| of_text[*code as usize] as u32).collect())
    }

    /// How well a column is guessed.
    fn attacked(&self, case: &Case<'_>, target: &Target<'_>) -> Result<Attacked> {
        let names = target.names();
        let problem = self.problem(case, target)?;
        let of_target = |feature: &&Feature| {
            let own = match target {
                Target::Drawn(column, _) => column.subtable_column.as_deref(),
                Target::Apart(..) | Target::Shown(_) => None,
            };
            names.contains(&&*feature.name) || own == Some(&*feature.name)
        };
        let base = match target {
            Target::Shown(_) => Vec::new(),
            Target::Drawn(..) | Target::Apart(..) => {
                learned(&problem, Vec::new(), &[&self.strata], case.watch)
            }
        };
        let n_base = base.len();
        let first = guesses(&problem, &base);
        let without = Outcome::of(&problem, &first);
        let others: Vec<&Feature> =
            self.features.iter().filter(|feature| !of_target(feature)).collect();
        let known = learned(&problem, base, &others, case.watch);
        let used: Vec<&str> =
            known[n_base..].iter().map(|known| &*known.feature.name).collect();
        let second = match used.is_empty() {
            true => first.clone(),
            false => guesses(&problem, &known),
        };
        let found = Outcome::of(&problem, &second);
        let mut attacked = Attacked {
            name: "dependence".to_owned(),
            success: found.success,
            chance: without.success,
            worst: found.worst,
            detail: detail(json!({
                "column": names.join(" + "), "gain": found.success - without.success,
                "by": used.first(), "columns": used, "sure": found.sure,
                "sure_without": without.sure, "rows": self.rows.n,
                "expected": !matches!(problem.told, Told::Shown),
            })),
        };
        if let Some(truth) = self.true_values(case, target)? {
            let right = [truth.right(&second), truth.right(&first)];
            score(&mut attacked, right, truth.n_found());
        }
        Ok(attacked)
    }

    /// What is known of a column before others are looked at.
    fn problem<'t>(
        &self,
        case: &Case<'_>,
        target: &'t Target<'_>,
    ) -> Result<Problem<'t>> {
        let n = self.rows.n;
        let by_row = || (0..n).map(|row| hashed(&(row as u64).to_be_bytes()) & 1 == 1);
        match target {
            Target::Drawn(column, believed) => {
                let tables = column.tables.iter().zip(believed);
                let prior = |(table, shares): (&Subtable, &Vec<f64>)| {
                    let values = table.values.iter().zip(shares);
                    values.map(|(value, share)| (*value as u32, *share)).collect()
                };
                let wrong = || Error::input("a published value is not in its domain");
                let parts: Vec<&Coded> =
                    column.names.iter().map(|name| self.coded(name)).collect();
                let told = column.subtable_column.as_ref().map(|name| self.coded(name));
                let (mut prior_of, mut published) = (Vec::new(), Vec::new());
                let mut places: HashMap<Vec<u32>, usize> = HashMap::new();
                for row in 0..n {
                    let table = match told {
                        None => 0,
                        Some(told) => {
                            column.table_of(told.text(row)).ok_or_else(wrong)?
                        }
                    };
                    let key: Vec<u32> =
                        parts.iter().map(|part| part.of_row[row]).collect();
                    let code = match places.get(&key) {
                        Some(code) => *code,
                        None => {
                            let texts: Vec<&str> =
                                parts.iter().map(|part| part.text(row)).collect();
                            let code = column.code(&texts).ok_or_else(wrong)?;
                            places.insert(key, code);
                            code
                        }
                    };
                    let place = column.tables[table].place(code).ok_or_else(wrong)?;
                    prior_of.push(table as u32);
                    published.push(place as u32);
                }
                Ok(Problem {
                    n_values: column.values.len(),
                    priors: tables.map(prior).collect(),
                    prior_of,
                    published,
                    told: Told::Drawn(column),
                    half_of: by_row().collect(),
                })
            }
            Target::Apart(values, told_by) => {
                let groups = &values.groups;
                let published = self.groups(groups.len(), told_by)?;
                let mut shares = vec![0.0; values.column.domain.len()];
                let mut lists = Vec::with_capacity(groups.len());
                for group in 0..groups.len() {
                    let list = groups.values(group).iter();
                    let list: Vec<(u32, f64)> =
                        list.map(|(value, n)| (*value, *n as f64)).collect();
                    list.iter().for_each(|(value, n)| shares[*value as usize] += n);
                    lists.push(list);
                }
                let total: f64 = shares.iter().sum();
                let prior = shares.iter().zip(0..);
                let half =
                    |group: &u32| hashed(&u64::from(*group).to_be_bytes()) & 1 == 1;
                Ok(Problem {
                    n_values: shares.len(),
                    priors: vec![prior.map(|(n, value)| (value, n / total)).collect()],
                    prior_of: vec![0; n],
                    half_of: published.iter().map(half).collect(),
                    published,
                    told: Told::Apart(lists),
                })
            }
            Target::Shown(name) => {
                let coded = self.coded(name);
                let (prior_of, priors) = self.classes(case, name)?;
                Ok(Problem {
                    n_values: coded.texts.len(),
                    priors,
                    prior_of,
                    published: coded.of_row.clone(),
                    told: Told::Shown,
                    half_of: by_row().collect(),
                })
            }
        }
    }
}
