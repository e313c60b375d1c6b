//! Background knowledge: somebody knows how values depend on quasi columns, and in which
//! group everybody is.
//!
//! # Guarantee
//! Beliefs are exact over all worlds of a group (see `worlds`), or for x and not x where
//! that is said; each set of columns is an adversary of its own.
//!
//! # Limits
//! Of a generalized release only groups are looked at that exactly as many people fit as it
//! has rows, and nobody of them anywhere else. Where knowledge rules all worlds of a group
//! out it is wrong, and the shares of the group are taken instead; also where a group is too
//! large.
//!
//! # Cost
//! See `worlds`, for each set of columns.
//!
//! # Source
//! `wong2010inference`; docs/methods.md, "Beliefs and possible worlds" and "Audit and attacks".

mod cells;

use rayon::prelude::*;
use serde_json::{Map, json};

use crate::audit::apart::{
    ApartTruth, BeliefPiece, Believers, Gathered, Groups, How, Posteriors, Priors,
    TupleGuesses, Work, about, bound, has_file_promise,
};
use crate::audit::attacks::{
    Attack, NO_SENSITIVE, PublicAttacks, Stopped, found_or, homogeneity,
    no_cell_classes,
};
use crate::audit::given::needs_original;
use crate::audit::{Attacked, Case, Knowledge, Public, detail};
use crate::error::{Error, Result};
use crate::watch::Watch;

/// Tries to guess values by how they depend on quasi columns.
#[derive(Debug)]
pub struct BackgroundKnowledge;

impl Attack for BackgroundKnowledge {
    fn name(&self) -> &'static str {
        "background-knowledge"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        let (apart, classes) = (case.views.apart()?, case.views.cells()?);
        let mut found = of_apart(case)?;
        if let Some(classes) = classes.filter(|classes| !classes.sensitive.is_empty()) {
            match case.knowledge() {
                Some(knowledge) => {
                    let linked = case.linked()?.ok_or_else(|| {
                        needs_original("what is known cannot be used")
                    })?;
                    let every = |_: &str| true;
                    found.extend(cells::attack(
                        case, classes, linked, knowledge, every,
                    )?);
                }
                // What a promise is about is tried without being asked, as on values apart.
                None => {
                    let promised =
                        |column: &str| bound(case.manifest, column).is_some();
                    let asked = classes.columns().any(|c| promised(&c.column().name))
                        && !has_file_promise(case.manifest);
                    if let Some(linked) = case.linked()?.filter(|_| asked) {
                        let table = &Knowledge::Table;
                        found.extend(cells::attack(
                            case, classes, linked, table, promised,
                        )?);
                    }
                }
            }
        }
        found_or(found, || {
            Ok(match (apart, classes) {
                ([_, ..], _) if case.hides_rows() => {
                    "beside coarse or noisy cells it cannot be told who is in which group"
                }
                ([_, ..], _) => "needs the original, or what somebody knows",
                ([], None) => no_cell_classes(case),
                ([], Some(classes)) if classes.sensitive.is_empty() => NO_SENSITIVE,
                ([], Some(_)) => "nothing was given that somebody knows",
            })
        })
    }

    fn shown(&self, _: &[Attacked], readers: &Case<'_>) -> Result<PublicAttacks> {
        let because = "computed from published values and stated knowledge";
        Ok(Public::because(because, of_apart(readers)?))
    }
}

/// Tries the attack on every column that stands apart, by everything that is known of it;
/// nothing of those of which nothing is.
fn of_apart(case: &Case<'_>) -> Result<Vec<Attacked>> {
    let columns = case.apart()?;
    if case.hides_rows() {
        return Ok(Vec::new());
    }
    if !columns.is_empty()
        && let Some(stated) = case.stated()
        && !has_file_promise(case.manifest)
        && !columns.iter().any(|(values, _)| {
            about(stated, case.manifest, &values.column.name).is_some()
        })
    {
        return Err(Error::input(
            "several columns stand apart, and what is known does not say which of them it \
             is about",
        )
        .with_hint("call the column before `probability` as the column is called"));
    }
    let mut found = Vec::with_capacity(columns.len());
    for (values, truth) in columns {
        let believers = Believers::of(case, (values, truth));
        let known = believers.known(case.knowledge())?;
        let target = Target {
            column: &values.column.name,
            groups: &values.groups,
            n_tuples: values.tuples.len(),
            n_values: values.column.domain.len(),
            blind: homogeneity::blind(values),
            bound: bound(case.manifest, &values.column.name),
            left_aside: 0,
            watch: case.watch,
        };
        found.extend(target.attack(&known, believers.truth)?);
    }
    Ok(found)
}

/// Beliefs above a bound by no more than this are rounding.
const ROUNDING: f64 = 1e-9;

/// Groups whose values are known, and which beliefs are too strong.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    /// The sensitive column.
    pub(crate) column: &'a str,
    /// Who and what is in each group.
    pub(crate) groups: &'a Groups,
    /// How many tuples there are.
    pub(crate) n_tuples: usize,
    /// How many values there are.
    pub(crate) n_values: usize,
    /// The guess about somebody who is in no group, and its share.
    pub(crate) blind: (u32, f64),
    /// What nobody should be believed more than, if that is promised.
    pub(crate) bound: Option<f64>,
    /// How many groups cannot be looked at.
    pub(crate) left_aside: u64,
    /// Who follows the attack.
    pub(crate) watch: &'a dyn Watch,
}

/// What one adversary concludes.
#[derive(Debug)]
struct Conclusions {
    guesses: TupleGuesses,
    /// By knowledge alone.
    before: TupleGuesses,
    worst: f64,
    /// Rows of which something is believed above the bound.
    above: u64,
    /// How far each group was followed.
    followed: Vec<Followed>,
}

/// How far a group was followed, the worse the later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Followed {
    Exact,
    Binary,
    Impossible,
    TooLarge,
}

impl Target<'_> {
    /// Lets somebody draw conclusions.
    fn conclude(
        &self,
        priors: &Priors,
        gathered: &Gathered<'_>,
    ) -> Result<Conclusions> {
        let groups = self.groups;
        let bound = self.bound.unwrap_or(1.0) + ROUNDING;
        let look = |work: &mut Work, group: usize| {
            self.watch.check()?;
            let (values, size) = (groups.values(group), groups.size(group));
            let mut found: Vec<BeliefPiece> = Vec::new();
            let seen = match priors.believe(groups, group, work) {
                Posteriors::Beliefs(shares) => {
                    let share = |row, place| shares.share(row, place);
                    gathered.add(group, share, &mut found);
                    let rows = (0..size as usize).map(|row| shares.largest_of(row));
                    let above = rows.filter(|share| *share > bound).count() as u64;
                    let how = match shares.how {
                        How::Binary { .. } => Followed::Binary,
                        How::Alike | How::Worlds => Followed::Exact,
                    };
                    (how, shares.largest(), above)
                }
                not => {
                    let share = |_, place: usize| values[place].1 as f64 / size as f64;
                    gathered.add(group, share, &mut found);
                    let how = match not {
                        Posteriors::TooLarge { .. } => Followed::TooLarge,
                        _ => Followed::Impossible,
                    };
                    (how, groups.most(group) as f64 / size as f64, 0)
                }
            };
            Ok((seen, found))
        };
        let looked: Vec<((Followed, f64, u64), Vec<BeliefPiece>)> = (0..groups.len())
            .into_par_iter()
            .map_init(Work::default, look)
            .collect::<Result<_>>()?;
        let worst = looked.iter().map(|((_, worst, _), _)| *worst).fold(0.0, f64::max);
        let above = looked.iter().map(|((.., above), _)| above).sum();
        let followed = looked.iter().map(|((followed, ..), _)| *followed).collect();
        let found = looked.into_iter().flat_map(|(_, found)| found).collect();
        let guesses = gathered.guesses(found, self.blind);
        let before = priors.guesses(self.n_values);
        Ok(Conclusions { guesses, before, worst, above, followed })
    }

    /// Tries the attack by every set of columns; nothing if nothing is known. Only the
    /// scores look at the original.
    pub(crate) fn attack(
        &self,
        known: &[Priors],
        original: Option<&ApartTruth<'_>>,
    ) -> Result<Option<Attacked>> {
        let gathered = Gathered::new(self.groups, self.n_tuples);
        let rows: u64 = self.groups.sizes().sum();
        let mut seen = vec![Followed::Exact; self.groups.len()];
        let (mut worst, mut above) = (0.0f64, 0u64);
        let mut posterior = Map::new();
        let mut best: Option<(f64, f64, String)> = None;
        for priors in known {
            let found = self.conclude(priors, &gathered)?;
            let (success, chance) = match original {
                Some(original) => {
                    let score = |values: &[u32]| original.score(values, self.blind.0);
                    (score(&found.guesses.values), score(&found.before.values))
                }
                None => (
                    gathered.expected(&found.guesses.beliefs),
                    gathered.expected(&found.before.beliefs),
                ),
            };
            for (all, this) in seen.iter_mut().zip(&found.followed) {
                *all = (*all).max(*this);
            }
            worst = worst.max(found.worst);
            above = above.max(found.above);
            posterior.insert(priors.name.clone(), json!(found.worst));
            if best.as_ref().is_none_or(|(known, ..)| success > *known) {
                best = Some((success, chance, priors.name.clone()));
            }
        }
        let Some((success, chance, set)) = best else { return Ok(None) };
        let groups = |wanted: Followed| {
            seen.iter().filter(|seen| **seen == wanted).count() as u64
        };
        let mut detail = detail(json!({
            "column": self.column, "set": set, "posterior": posterior,
            "exact": groups(Followed::Exact), "binary": groups(Followed::Binary),
            "skipped": groups(Followed::TooLarge) + self.left_aside,
            "impossible": groups(Followed::Impossible),
        }));
        if let Some(bound) = self.bound {
            detail.insert("bound".into(), json!(bound));
            detail.insert("above".into(), json!(above as f64 / rows.max(1) as f64));
        }
        detail.insert("expected".into(), json!(original.is_none()));
        let name = "background-knowledge".to_owned();
        Ok(Some(Attacked { name, success, chance, worst, detail }))
    }
}
