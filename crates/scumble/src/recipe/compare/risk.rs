//! What attacks find out about people, on scales that mean the same for every release.
//!
//! # Guarantee
//! Of rows and of values the scale is the share of people: those whose row is found, or whose
//! protected value is guessed rightly, less those of whom that would be so without the
//! release. Without the release nobody's row is found but by chance, and the best guess of a
//! value is the commonest one of the column, whatever the attack calls chance: an attack that
//! starts from what others read in the release is credited with what they read.
//! For each kind the attack that gains most counts.
//!
//! # Limits
//! These are our attacks. Whoever knows more starts elsewhere: background knowledge is scored
//! against what that knowledge tells without a release. `averaging` is about ten releases
//! and `rank` about promised company: neither is a share of people who are found out, and
//! neither counts. `own-rows` is about people with rows in several groups, and counts by
//! their share of all people, who count once in each of their groups.
//! Of presence the scale is another: how much surer than before somebody is found in.
//! Most people of a population are out, and whoever says so of all is right nearly always.
//!
//! # Cost
//! O(attacks).
//!
//! # Source
//! docs/compare.md.

use serde_json::Value;

use crate::audit::Attacked;
use crate::recipe::compare::measure::{Ends, Measured};

/// What is found out about people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RiskKind {
    /// Which row is theirs.
    Row,
    /// A value that is protected.
    Value,
    /// That they are in the table.
    Presence,
}

impl RiskKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Row, Self::Value, Self::Presence];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Value => "value",
            Self::Presence => "presence",
        }
    }

    /// The kind of an attack; nothing if it does not count.
    fn of(attack: &str) -> Option<Self> {
        Some(match attack {
            "linkage" | "calibration" | "best-guess" | "matching" => Self::Row,
            "homogeneity"
            | "minimality"
            | "own-rows"
            | "background-knowledge"
            | "learned"
            | "inference"
            | "corruption"
            | "dependence" => Self::Value,
            "presence" | "counting" | "reversal" => Self::Presence,
            _ => return None,
        })
    }
}

/// The attack that finds out most of a kind.
#[derive(Debug, Clone, PartialEq)]
pub struct RiskFound {
    /// What it finds out.
    pub kind: RiskKind,
    /// Of rows and values the share of people beyond what is known without the release; of
    /// presence how much surer than before somebody is found in. Never below 0.
    pub gain: f64,
    /// The attack.
    pub attack: String,
    /// The column that it is about, if it is about one.
    pub column: Option<String>,
}

/// For each kind that was tried, the attack that finds out most.
pub fn risks(attacks: &[Attacked], ends: &Ends, measured: &Measured) -> Vec<RiskFound> {
    let mut found: Vec<RiskFound> =
        attacks.iter().filter_map(|attack| gained(attack, attacks, ends)).collect();
    // Whoever publishes quasi values as they are need not be attacked.
    found.extend(measured.found_untouched.map(|share| RiskFound {
        kind: RiskKind::Row,
        gain: (share - by_chance(ends)).max(0.0),
        attack: "untouched quasi values".to_owned(),
        column: None,
    }));
    let worst = |kind: RiskKind| {
        let own = found.iter().filter(|found| found.kind == kind);
        // The first of those that gain the same.
        own.fold(None, |best: Option<&RiskFound>, found| match best {
            Some(best) if best.gain >= found.gain => Some(best),
            _ => Some(found),
        })
    };
    RiskKind::ALL.into_iter().filter_map(worst).cloned().collect()
}

fn by_chance(ends: &Ends) -> f64 {
    1.0 / ends.rows.max(1) as f64
}

/// What an attack gains.
fn gained(attack: &Attacked, all: &[Attacked], ends: &Ends) -> Option<RiskFound> {
    let kind = RiskKind::of(&attack.name)?;
    let number = |of: &Attacked, key: &str| of.detail.get(key).and_then(Value::as_f64);
    let column = attack.detail.get("column").and_then(Value::as_str);
    let gain = match kind {
        RiskKind::Row => attack.success - by_chance(ends),
        RiskKind::Value if attack.name == "background-knowledge" => {
            attack.success - attack.chance
        }
        RiskKind::Value => {
            let gain = attack.success - before(attack, column, all, ends);
            let people = number(attack, "people").filter(|_| attack.name == "own-rows");
            let linkage = all.iter().find(|other| other.name == "linkage");
            match people.zip(linkage.and_then(|all| number(all, "people"))) {
                Some((own, all)) => gain * (own / all.max(1.0)).min(1.0),
                None => gain,
            }
        }
        RiskKind::Presence => {
            number(attack, "largest")? - attack.chance.min(1.0 - attack.chance)
        }
    };
    let (attack, column) = (attack.name.clone(), column.map(str::to_owned));
    Some(RiskFound { kind, gain: gain.max(0.0), attack, column })
}

/// How often a value is guessed rightly without the release: the commonest of its column.
/// Of several columns as one, what attacks that start from nothing call chance.
fn before(
    attack: &Attacked,
    column: Option<&str>,
    all: &[Attacked],
    ends: &Ends,
) -> f64 {
    let table = ends.commonest.iter().find(|(name, _)| Some(&**name) == column);
    if let Some((_, share)) = table {
        return *share;
    }
    let own = |other: &&Attacked| {
        matches!(&*other.name, "inference" | "homogeneity")
            && other.detail.get("column").and_then(Value::as_str) == column
    };
    all.iter().find(own).map_or(attack.chance, |other| other.chance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn attack(name: &str, success: f64, chance: f64, detail: &Value) -> Attacked {
        let detail = detail.as_object().cloned().unwrap_or_default();
        Attacked { name: name.to_owned(), success, chance, worst: 1.0, detail }
    }

    fn ends() -> Ends {
        Ends {
            rows: 1000,
            class: None,
            guess: None,
            best: None,
            rules: 0,
            class_rules: 0,
            questions: [0; 4],
            own_questions: false,
            left_out: vec![],
            not_in_all: vec![],
            commonest: vec![("ill".to_owned(), 0.4), ("hiv".to_owned(), 0.9)],
            class_is_sensitive: false,
        }
    }

    fn found(attacks: &[Attacked]) -> Vec<(&'static str, f64, String)> {
        let found = risks(attacks, &ends(), &Measured::default());
        let rounded = |gain: f64| (gain * 1e6).round() / 1e6;
        found.into_iter().map(|r| (r.kind.name(), rounded(r.gain), r.attack)).collect()
    }

    /// The surest guess of a randomized value is no share of people, and its `largest` is
    /// not that of presence.
    #[test]
    fn noise_that_hits_nobody_beyond_chance_is_no_risk() {
        let detail = json!({ "column": "hiv", "largest": 0.99 });
        let attacks = [attack("inference", 0.9, 0.9, &detail)];
        assert_eq!(found(&attacks), [("value", 0.0, "inference".to_owned())]);
    }

    #[test]
    fn every_kind_has_its_own_worst_attack() {
        let attacks = [
            attack("linkage", 0.101, 0.001, &json!({ "people": 1000 })),
            attack("best-guess", 0.051, 0.2, &json!({})),
            attack("rank", 1.0, 0.0, &json!({})),
            attack("averaging", 1.0, 0.0, &json!({ "column": "hiv" })),
            attack("homogeneity", 0.55, 0.4, &json!({ "column": "ill" })),
            // Its chance is what groups tell, its risk what nobody knew before.
            attack("dependence", 0.6, 0.55, &json!({ "column": "ill" })),
            // One person of a thousand.
            attack("own-rows", 1.0, 1.0, &json!({ "column": "ill", "people": 1 })),
            attack("presence", 0.99, 0.99, &json!({ "largest": 0.31 })),
        ];
        assert_eq!(
            found(&attacks),
            [
                ("row", 0.1, "linkage".to_owned()),
                ("value", 0.2, "dependence".to_owned()),
                ("presence", 0.3, "presence".to_owned()),
            ]
        );
    }

    #[test]
    fn columns_as_one_start_from_their_commonest_combination() {
        let joint = json!({ "column": "ill + hiv" });
        let attacks = [
            attack("inference", 0.5, 0.3, &joint),
            attack("corruption", 0.5, 0.5, &joint),
        ];
        assert_eq!(found(&attacks), [("value", 0.2, "inference".to_owned())]);
    }

    #[test]
    fn untouched_quasi_values_are_found() {
        let measured = Measured { found_untouched: Some(0.901), ..Measured::default() };
        let found = risks(&[], &ends(), &measured);
        assert_eq!(found.len(), 1);
        assert!((found[0].gain - 0.9).abs() < 1e-9);
    }

    /// An attack that is added must be given a kind, or named here.
    #[test]
    fn every_attack_has_a_kind_or_is_left_aside() {
        for attack in crate::audit::attacks::ALL {
            let aside = matches!(
                attack.name(),
                "averaging" | "rank" | "intersection" | "singling-out"
            );
            assert_eq!(
                RiskKind::of(attack.name()).is_none(),
                aside,
                "{}",
                attack.name()
            );
        }
    }
}
