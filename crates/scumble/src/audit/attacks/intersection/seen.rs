//! What is found out about people whom several releases show, and how much of it is right.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use serde_json::json;

use crate::audit::attacks::intersection::belief::{Belief, Told, believed};
use crate::audit::attacks::intersection::sighted::Sighted;
use crate::audit::attacks::intersection::{AskedTogether, NOWHERE};
use crate::audit::{Attacked, detail};

/// Beliefs above this count as sure.
const SURE: f64 = 0.9;

/// How many people spots have, and pairs of spots of two releases have in common.
pub(super) struct Common {
    alone: Vec<HashMap<u32, u64>>,
    both: HashMap<(usize, u32, usize, u32), u64>,
}

impl Common {
    pub(super) fn of(
        classes: &[(Vec<u32>, BTreeMap<u32, u64>)],
        n_releases: usize,
    ) -> Self {
        let mut alone = vec![HashMap::new(); n_releases];
        let mut both = HashMap::new();
        for (spots, values) in classes {
            let n: u64 = values.values().sum();
            for (a, spot) in spots.iter().enumerate() {
                *alone[a].entry(*spot).or_default() += n;
                for (b, other) in spots.iter().enumerate().skip(a + 1) {
                    *both.entry((a, *spot, b, *other)).or_default() += n;
                }
            }
        }
        Self { alone, both }
    }

    /// Whether the spot of release `a` holds everybody of that of `b`.
    fn holds(&self, spots: &[u32], a: usize, b: usize) -> bool {
        let key = match a < b {
            true => (a, spots[a], b, spots[b]),
            false => (b, spots[b], a, spots[a]),
        };
        self.both.get(&key) == self.alone[b].get(&spots[b])
    }
}

/// What is found out about the people of a class.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    guess: u32,
    belief: f64,
    candidates: usize,
    is_certain: bool,
    /// In how many releases they are.
    releases: usize,
    /// The guess by each release alone, and whether that is certain.
    alone: Vec<(u32, f64)>,
    is_certain_alone: bool,
    is_impossible: bool,
}

impl Seen {
    pub(super) fn of(
        sighted: &[Sighted<'_>],
        spots: &[u32],
        n: u64,
        common: &Common,
        whole: &Belief,
    ) -> Self {
        let there: Vec<usize> =
            (0..spots.len()).filter(|place| spots[*place] != NOWHERE).collect();
        let told = |place: usize| &sighted[place].spots[spots[place] as usize];
        let tells = |a: &&usize| {
            let a = **a;
            let held = |b: &&usize| {
                let b = **b;
                let exact = told(a).is_exact && told(b).is_exact;
                let equal = common.holds(spots, b, a);
                a != b && exact && common.holds(spots, a, b) && (!equal || b < a)
            };
            !there.iter().any(|b| held(&b))
        };
        let used: Vec<&Told> = there.iter().filter(tells).map(|a| told(*a)).collect();
        let blind = whole.likeliest().unwrap_or_default();
        let alone = |place: usize| match spots[place] {
            NOWHERE => blind,
            _ => {
                let told = told(place);
                let shares = told.values.iter().map(|(v, n)| (*v, n / told.size));
                let own = Belief { values: shares.collect() };
                own.likeliest().unwrap_or(blind)
            }
        };
        let alone: Vec<(u32, f64)> = (0..spots.len()).map(alone).collect();
        let lone = |a: &usize| told(*a).is_sure && told(*a).values.len() == 1;
        let is_certain_alone = there.iter().any(lone);
        let found = believed(&used, n);
        let (is_impossible, releases) = (found.is_none(), there.len());
        let (guess, belief) = match &found {
            Some(belief) => belief.likeliest().unwrap_or(blind),
            None => alone.first().copied().unwrap_or(blind),
        };
        let candidates = found.map_or(usize::MAX, |belief| belief.values.len());
        let is_sure = used.iter().all(|told| told.is_sure);
        let is_certain = is_certain_alone || (candidates == 1 && is_sure);
        let is_impossible = is_impossible && releases > 0;
        Self {
            guess,
            belief,
            candidates,
            is_certain,
            releases,
            alone,
            is_certain_alone,
            is_impossible,
        }
    }
}

/// People, and what was found out about them.
#[derive(Debug, Default)]
pub(super) struct Sums {
    people: u64,
    linked: u64,
    right: f64,
    believed: f64,
    alone: Vec<f64>,
    worst: f64,
    worst_alone: f64,
    certain: u64,
    certain_right: u64,
    certain_alone: u64,
    sure: u64,
    sure_right: u64,
    sure_alone: u64,
    above: u64,
    fewer: u64,
    below_k: u64,
    smallest: Option<u64>,
    impossible: u64,
}

impl Sums {
    /// Adds `n` people who have these rows each.
    pub(super) fn add(
        &mut self,
        n: u64,
        rows: &[(usize, u32)],
        seen: &[Seen],
        sizes: &[u64],
        asked: &AskedTogether,
    ) {
        self.people += n;
        let any = |of: &dyn Fn(&Seen) -> bool| {
            if rows.iter().any(|(class, _)| of(&seen[*class])) { n } else { 0 }
        };
        let weight = n as f64 / rows.len().max(1) as f64;
        for (class, value) in rows {
            let own = &seen[*class];
            self.right += if own.guess == *value { weight } else { 0.0 };
            self.believed += weight * own.belief;
            self.alone.resize(own.alone.len(), 0.0);
            for (sum, (guess, belief)) in self.alone.iter_mut().zip(&own.alone) {
                *sum += if guess == value { weight } else { 0.0 };
                self.worst_alone = self.worst_alone.max(*belief);
            }
            if own.releases > 1 {
                self.worst = self.worst.max(own.belief);
                let size = sizes[*class];
                self.smallest = Some(self.smallest.map_or(size, |s| s.min(size)));
            }
        }
        self.linked += any(&|own| own.releases > 1);
        self.certain += any(&|own| own.is_certain);
        self.certain_alone += any(&|own| own.is_certain_alone);
        self.sure += any(&|own| own.belief > SURE);
        let surely = |(class, value): &(usize, u32)| {
            seen[*class].belief > SURE && seen[*class].guess == *value
        };
        self.sure_right += if rows.iter().any(surely) { n } else { 0 };
        self.sure_alone += any(&|own| own.alone.iter().any(|(_, b)| *b > SURE));
        self.above += any(&|own| {
            asked.bound.is_some_and(|bound| own.belief > bound + 1e-9)
                && own.releases > 1
        });
        self.fewer += any(&|own| {
            asked.l.is_some_and(|l| (own.candidates as u64) < l) && own.releases > 1
        });
        self.impossible += any(&|own| own.is_impossible);
        let mut own = rows.iter();
        let small = own.any(|(class, _)| {
            asked.k.is_some_and(|k| sizes[*class] < k) && seen[*class].releases > 1
        });
        self.below_k += if small { n } else { 0 };
        let right = |(class, value): &(usize, u32)| {
            let own = &seen[*class];
            !own.is_certain || own.guess == *value
        };
        let certain = any(&|own| own.is_certain) > 0 && rows.iter().all(right);
        self.certain_right += if certain { n } else { 0 };
    }

    pub(super) fn attacked(
        &self,
        releases: usize,
        asked: &AskedTogether,
        name: &str,
        blind: f64,
    ) -> Attacked {
        let share = |n: u64| n as f64 / self.people.max(1) as f64;
        let alone = self.alone.iter().copied().fold(0.0, f64::max);
        let mut told = detail(json!({
            "column": name, "releases": releases, "people": self.people,
            "believed": self.believed / self.people.max(1) as f64,
            "linked": share(self.linked), "alone": alone / self.people.max(1) as f64,
            "certain": share(self.certain), "certain_right": share(self.certain_right),
            "certain_alone": share(self.certain_alone), "sure": share(self.sure),
            "sure_right": share(self.sure_right),
            "sure_alone": share(self.sure_alone), "worst_alone": self.worst_alone,
            "smallest": self.smallest,
        }));
        if let Some(bound) = asked.bound {
            told.insert("bound".into(), json!(bound));
            told.insert("above".into(), json!(share(self.above)));
        }
        if let Some(l) = asked.l {
            told.insert("l".into(), json!(l));
            told.insert("fewer".into(), json!(share(self.fewer)));
        }
        if let Some(k) = asked.k {
            told.insert("k".into(), json!(k));
            told.insert("below_k".into(), json!(share(self.below_k)));
        }
        if self.impossible > 0 {
            told.insert("impossible".into(), json!(share(self.impossible)));
        }
        Attacked {
            name: "intersection".into(),
            success: self.right / self.people.max(1) as f64,
            chance: blind,
            worst: self.worst,
            detail: told,
        }
    }
}
