//! Reversal: what is learned from where the search for the release ended.
//!
//! The adversary holds the population and knows the method and what it was asked. A method
//! that looks for the finest release ends where nothing finer keeps the promise, so that
//! finer tables *fail* tells something about who is in the table (the minimality attack).
//!
//! - `full-domain` with `looks = "free"`: every node one level finer in one column failed. For each such node
//!   the groups fall into subgroups, and some subgroup somewhere breaks the promise.
//! - `full-domain` with `looks = "coins"`: one finer node was looked at and refused by the
//!   rule of coins, if any; the manifest says which, since it follows from public things.
//! - `mondrian` with `looks = "free"`: no group could be cut. For each column and value, one
//!   of the two sides would break the promise.
//! - `mondrian` with `looks = "coins"`: one cut of a group was looked at, if any, and refused
//!   by the rule of coins. Which one follows from public things; the adversary here takes
//!   each in turn, so this is no less than what is learned.
//!
//! All of these events happened. The adversary computes the presence of everybody given that
//! they did, all tables that give the published groups being equally likely before
//! (`reversal/joint.rs`), and for levels also given each of them alone.
//!
//! # Guarantee
//! Where no more than 10,000 tables give the published groups, beliefs about cuts are exact:
//! those of all tables that give the same release. Otherwise each posterior is the exact one
//! for what was used, up to rounding, or drawn and then taken back by four times what it may be
//! off; and who is said to be in the table for certain, or not to be, is so. It is a report and
//! decides nothing: delta-presence speaks of readers who do not know the search. Under
//! coins nobody is outside the range: for each cut the chance is recomputed here.
//!
//! # Limits
//! - Of cuts that divide several groups only the bounds of what the others may have is used,
//!   and of levels neither what single events tell together beyond what draws show, nor that
//!   others were not taken for their loss. Then the numbers are lower bounds, `at_least`.
//! - That the manifest says "coins" is believed: a release that was cut freely and says so
//!   is not found out. So are `column` and `value`, by which cuts were chosen; that
//!   `strategy = "search"` found others worse is not used.
//! - For promises delta-presence, alone or with k-anonymity or k-map, where no row was left
//!   out and none could have been. Otherwise the attack is not tried.
//! - `lowest` and `highest` of a recipe are not in the manifest. Where they stopped the
//!   search an event did not happen, though the adversary thinks so; where it cannot have
//!   happened, it is counted as impossible.
//! - Events that cost too much are skipped and counted. Groups that were skipped inside an
//!   event are taken to have kept the promise: the others then look the more suspicious.
//!   Of a group with too many ways to be in the table, cuts are followed one by one.
//! - The success is the mean certainty that the adversary comes to. With the original, those
//!   who are found for certain are compared with the truth.
//! - Weights of pdf cells are not used beside.
//!
//! # Cost
//! `full-domain`: for each column O(N n log s) a group with N people, n rows and s
//! different sizes of subgroups. `mondrian`: O(n) for each value of a column in a group, and
//! all ways of its rows to be those of its people times its cuts.
//! No more than [`MOST_STEPS`] altogether.
//!
//! # Source
//! `wong2007minimality` for groups and values; for presence it is ours.

mod coins;
mod cuts;
mod failing;
mod groups;
mod joint;
mod levels;

use serde_json::json;

use crate::audit::attacks::presence::crowd;
use crate::audit::attacks::{Attack, PublicAttacks, Stopped};
use crate::audit::cells::{People, PresenceRange, Share};
use crate::audit::checks::{delta_presence, k_anonymity, k_map};
use crate::audit::{Attacked, Case, Public, detail};
use crate::error::Result;
use crate::release::{Manifest, MethodNote, Treatment};

/// Tries to say who is in the table, from where the search ended.
#[derive(Debug)]
pub struct Reversal;

impl Attack for Reversal {
    fn name(&self) -> &'static str {
        "reversal"
    }

    fn attempt(&self, case: &Case<'_>) -> Result<Vec<Attacked>, Stopped> {
        let (_, crowd, _) = crowd(case)?;
        let found = reverse(case.manifest, &crowd.people);
        case.watch.check()?;
        let (mut attack, certain) = found?;
        case.members(crowd)?.note_certain(&mut attack, &certain);
        Ok(vec![attack])
    }

    fn shown(&self, tried: &[Attacked], _: &Case<'_>) -> Result<PublicAttacks> {
        let mut found = tried.to_vec();
        for attack in &mut found {
            attack.detail.retain(|name, _| TOLD.contains(&&**name));
        }
        let because = "computed from published classes and the population";
        Ok(Public::because(because, found))
    }
}

/// What the population and the classes tell; whether it is true is not among it.
const TOLD: [&str; 11] = [
    "smallest",
    "largest",
    "outside",
    "people",
    "events",
    "skipped",
    "impossible",
    "certain",
    "at_least",
    "draws",
    "error",
];

/// More multiplications than this are not done.
const MOST_STEPS: u64 = 20_000_000_000;

/// Posteriors are right up to this.
const ROUNDING: f64 = 1e-9;

/// What every group of the population must keep.
#[derive(Debug, Clone, Copy)]
struct SearchRule {
    range: PresenceRange,
    /// Rows of a group that has any, at least; or people, where these are counted.
    k: u64,
    /// People of a group that has rows, at least.
    k_map: u64,
}

impl SearchRule {
    /// The promises, if they are of the kind this attack understands.
    fn of(manifest: &Manifest) -> Option<Self> {
        let (mut range, mut k, mut k_map) = (None, 1, 1);
        // What is drawn or stands apart has no say in the search for cells.
        let elsewhere = |name: &String| {
            let column = manifest.column(name);
            column.is_some_and(|column| match column.treatment {
                Treatment::Drawn { .. } | Treatment::Apart => true,
                Treatment::Kept
                | Treatment::Coarse { .. }
                | Treatment::Weighted
                | Treatment::Noisy { .. }
                | Treatment::Redrawn => false,
            })
        };
        for note in &manifest.promises {
            if !note.columns.is_empty() && note.columns.iter().all(elsewhere) {
                continue;
            }
            match note.name.as_str() {
                "k-anonymity" => k = k.max(k_anonymity::asked(note).ok()?),
                "k-map" => k_map = k_map.max(k_map::asked(note).ok()?),
                "delta-presence" if range.is_none() => {
                    range = Some(delta_presence::asked(note).ok()?.0);
                }
                _ => return None,
            }
        }
        range.map(|range| Self { range, k, k_map })
    }

    fn keeps(self, rows: u64, people: u64) -> bool {
        let large = rows >= self.k && people >= self.k_map;
        Share::of(rows, people).is_in(self.range) && (rows == 0 || large)
    }
}

/// What the events told.
#[derive(Debug)]
struct Told {
    /// For each tuple the smallest and the largest posterior that any event gives it.
    posteriors: Vec<(f64, f64)>,
    /// The sum of everybody's certainty.
    certainty: f64,
    /// Events looked at, not looked at, and such that cannot have happened.
    events: u64,
    skipped: u64,
    impossible: u64,
    /// Whether nothing else could be told.
    is_all: bool,
    /// How many tables were drawn, and how many of them could be the true one.
    drawn: Option<(u64, u64)>,
}

/// The attack, and of whom the adversary becomes certain: for each tuple whether they are
/// in the table. Or why it does not apply.
fn reverse(
    manifest: &Manifest,
    people: &People<'_>,
) -> Result<(Attacked, Vec<Option<bool>>), &'static str> {
    let rule = SearchRule::of(manifest).ok_or(
        "only promises of delta-presence, alone or with k-anonymity or k-map, are reversed",
    )?;
    if !people.several.is_empty() {
        return Err("somebody fits several groups");
    }
    let first = people.columns.first().map_or("", |column| &*column.name);
    let method = manifest.method_of(first);
    if !nothing_left_out(manifest, method) {
        return Err("rows were left out, or could have been");
    }
    const NO_EVENT: &str = "nothing finer was refused";
    let told = match &*method.name {
        "full-domain" if by_coins(method) => {
            levels::tell_refused(method, people, rule).ok_or(NO_EVENT)?
        }
        "full-domain" => {
            let alone = levels::tell(method, people, rule).ok_or(NO_EVENT)?;
            let joint = joint::tell_levels(method, people, rule);
            match joint {
                Some(joint) if joint.drawn.is_none() => joint,
                joint => alone.with(joint),
            }
        }
        "mondrian" if by_coins(method) => cuts::tell(people, rule, cuts::Looks::Coins),
        "mondrian" => {
            let alone = cuts::tell(people, rule, cuts::Looks::Free);
            let joint = joint::tell_cuts(method, people, rule, &alone);
            joint.unwrap_or(alone)
        }
        _ => return Err("it is not known how this method searches"),
    };
    if told.events + told.skipped == 0 && !by_coins(method) {
        return Err(NO_EVENT);
    }
    let before = Told::before(people);
    let (mut smallest, mut largest, mut outside) = (1.0f64, 0.0f64, 0u64);
    let mut certain = vec![None; people.group_of.len()];
    for (tuple, group) in people.group_of.iter().enumerate() {
        // Somebody who fits no group is known to be absent, before and after.
        if group.is_none() {
            continue;
        }
        let (low, high) = told.posteriors[tuple];
        smallest = smallest.min(low);
        largest = largest.max(high);
        if is_outside(rule.range, low) || is_outside(rule.range, high) {
            outside += people.known.people[tuple];
        }
        let (prior, _) = before.posteriors[tuple];
        certain[tuple] = match prior > 0.0 && prior < 1.0 {
            true if high > 1.0 - ROUNDING => Some(true),
            true if low < ROUNDING => Some(false),
            _ => None,
        };
    }
    let total = people.total.max(1) as f64;
    // Under coins one thing was looked at, and it is among those that are followed.
    let at_least = !told.is_all && !by_coins(method);
    let mut attack = Attacked {
        name: "reversal".into(),
        success: told.certainty / total,
        chance: before.certainty / total,
        worst: largest.max(1.0 - smallest),
        detail: detail(json!({
            "smallest": smallest, "largest": largest, "outside": outside,
            "people": people.total, "events": told.events, "skipped": told.skipped,
            "impossible": told.impossible, "at_least": at_least,
        })),
    };
    if let Some((draws, left)) = told.drawn {
        attack.detail.insert("draws".into(), json!(draws));
        let error = 0.5 / (left.max(1) as f64).sqrt();
        attack.detail.insert("error".into(), json!(error));
    }
    Ok((attack, certain))
}

/// Whether cuts or levels were looked at by coins.
pub(in crate::audit) fn by_coins(method: &MethodNote) -> bool {
    let looks = method.parameters.get("looks");
    let looks = looks.is_some_and(|looks| looks == "coins");
    matches!(&*method.name, "mondrian" | "full-domain") && looks
}

/// Whether nothing that was published was chosen by looking at the table freely: neither
/// cuts or levels, nor whose weights cells have.
pub(in crate::audit) fn hides_its_search(manifest: &Manifest) -> bool {
    let own = manifest.weights().is_some_and(|weights| weights.kind != "population");
    manifest.method.each().iter().any(by_coins) && !own
}

/// Whether no row was left out, and none could have been: where they are looked at by
/// coins none is, whatever is allowed.
pub(super) fn nothing_left_out(manifest: &Manifest, method: &MethodNote) -> bool {
    if by_coins(method) {
        return manifest.left_out == 0;
    }
    let share = method.parameters.get("suppression");
    let share = share.and_then(serde_json::Value::as_f64).unwrap_or(0.0);
    manifest.left_out == 0 && share * (manifest.rows as f64) < 1.0
}

impl Told {
    /// What is known without knowing the method.
    fn before(people: &People<'_>) -> Self {
        let groups = people.group_of.iter();
        let shares = groups.map(|group| group.map_or(0.0, |group| people.share(group)));
        let groups = people.inside.of_group.iter().zip(&people.of_group);
        let published: u64 = groups.map(|(inside, n)| *inside.max(&(n - inside))).sum();
        Self {
            posteriors: shares.map(|share| (share, share)).collect(),
            certainty: (published + people.unpublished) as f64,
            events: 0,
            skipped: 0,
            impossible: 0,
            is_all: false,
            drawn: None,
        }
    }

    /// What both tell.
    fn with(mut self, other: Option<Self>) -> Self {
        let Some(other) = other else { return self };
        for (tuple, beliefs) in (0u32..).zip(&other.posteriors) {
            self.add(tuple, *beliefs);
        }
        self.certainty = self.certainty.max(other.certainty);
        self.drawn = other.drawn;
        self
    }

    /// Adds a posterior of a tuple.
    fn add(&mut self, tuple: u32, (low, high): (f64, f64)) {
        let held = &mut self.posteriors[tuple as usize];
        *held = (held.0.min(low), held.1.max(high));
    }
}

/// How sure somebody is who believes this.
fn certainty(belief: f64) -> f64 {
    belief.max(1.0 - belief)
}

/// Whether a posterior is out of the range, by more than rounding.
fn is_outside(range: PresenceRange, belief: f64) -> bool {
    belief < range.min.to_f64() - ROUNDING || belief > range.max.to_f64() + ROUNDING
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decimal::Decimal;

    pub(crate) fn rule(min: f64, max: f64, k: u64) -> SearchRule {
        let decimal = |value| Decimal::from_f64("share", value).unwrap();
        let range = PresenceRange { min: decimal(min), max: decimal(max) };
        SearchRule { range, k, k_map: 1 }
    }

    /// Every way to draw `rows` of the people of parts with these sizes, as how many of
    /// each part are drawn, and in how many ways.
    pub(crate) fn draws(sizes: &[u64], rows: u64) -> Vec<(Vec<u64>, f64)> {
        let people: u64 = sizes.iter().sum();
        let mut found: Vec<(Vec<u64>, f64)> = Vec::new();
        for world in 0..1u64 << people {
            if u64::from(world.count_ones()) != rows {
                continue;
            }
            let mut start = 0;
            let drawn: Vec<u64> = sizes
                .iter()
                .map(|size| {
                    let part = world >> start & ((1 << size) - 1);
                    start += size;
                    u64::from(part.count_ones())
                })
                .collect();
            match found.iter_mut().find(|(held, _)| *held == drawn) {
                Some((_, ways)) => *ways += 1.0,
                None => found.push((drawn, 1.0)),
            }
        }
        found
    }
}
