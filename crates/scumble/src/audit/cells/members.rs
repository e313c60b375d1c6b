//! How good beliefs about presence are. The truth, who is in the table, is known here only.

use hashbrown::HashMap;
use serde_json::json;

use crate::audit::cells::People;
use crate::audit::given::quasi_columns;
use crate::audit::{Attacked, detail};
use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::release::Manifest;
use crate::table::{Code, Of};

/// Who of the population is in the table.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    people: &'a People<'a>,
    // For each distinct tuple of the population, how many people of the table have it.
    inside: Option<Vec<u64>>,
}

impl<'a> Members<'a> {
    /// Finds the people of the table in the population by the texts of their values;
    /// without the table nobody knows.
    pub(crate) fn of(
        manifest: &Manifest,
        people: &'a People<'a>,
        original: Option<&Microdata>,
    ) -> Result<Self> {
        let Some(original) = original else { return Ok(Self { people, inside: None }) };
        let (columns, places) = quasi_columns(manifest, original, "original")?;
        // For each column the population's code of each of the table's values.
        let codes: Vec<Of<Code, Option<Code>>> = columns
            .iter()
            .zip(&people.columns)
            .map(|(own, other)| {
                let index = other.domain.index();
                let texts = own.domain.texts().iter();
                texts.map(|text| index.get(&**text).copied()).collect()
            })
            .collect();
        let census = &original.census;
        let mut members: HashMap<Vec<Option<Code>>, u64> = HashMap::new();
        for tuple in census.tuples() {
            let key = codes.iter().zip(&places);
            let key =
                key.map(|(codes, place)| codes[census.quasi[*place][tuple]]).collect();
            *members.entry(key).or_default() += census.people_of(tuple);
        }
        let mut inside = Vec::with_capacity(people.known.people.len());
        for (tuple, n) in people.known.people.iter().enumerate() {
            let key: Vec<Option<Code>> =
                people.known.tuples.iter().map(|codes| Some(codes[tuple])).collect();
            inside.push(members.remove(&key).unwrap_or(0).min(*n));
        }
        let members = census.tuples().map(|tuple| census.people_of(tuple));
        if inside.iter().sum::<u64>() != members.sum::<u64>() {
            return Err(Error::input("the table is not part of this population")
                .with_hint("give the files the release was made from"));
        }
        Ok(Self { people, inside: Some(inside) })
    }

    /// Scores beliefs: for each distinct tuple, how likely somebody with it is in the
    /// table. The adversary says "in" where that is above one half. Without the truth the
    /// success is the one expected if the beliefs are right.
    pub(crate) fn score(&self, name: &str, beliefs: &[f64]) -> Attacked {
        let people = self.people;
        let (mut right, mut certain, mut certain_in) = (0.0, 0u64, 0u64);
        let (mut smallest, mut largest) = (1.0f64, 0.0f64);
        for (tuple, (n, belief)) in people.known.people.iter().zip(beliefs).enumerate()
        {
            let (n_in, n_out) = match &self.inside {
                Some(inside) => (inside[tuple] as f64, (n - inside[tuple]) as f64),
                None => (*n as f64 * belief, *n as f64 * (1.0 - belief)),
            };
            right += if *belief > 0.5 { n_in } else { n_out };
            certain += if *belief <= 0.0 || *belief >= 1.0 { *n } else { 0 };
            certain_in += if *belief >= 1.0 { *n } else { 0 };
            smallest = smallest.min(*belief);
            largest = largest.max(*belief);
        }
        let total = people.total.max(1) as f64;
        let share = people.inside.total() as f64 / total;
        Attacked {
            name: name.into(),
            success: right / total,
            chance: share.max(1.0 - share),
            worst: largest.max(1.0 - smallest),
            detail: detail(json!({
                "smallest": smallest, "largest": largest, "certain": certain,
                "certain_in": certain_in, "people": people.total,
                "scored": self.inside.is_some(),
            })),
        }
    }

    /// Notes of how many people an adversary says for certain whether they are in the
    /// table and, if that is known, of how many that is right.
    pub(crate) fn note_certain(&self, attack: &mut Attacked, certain: &[Option<bool>]) {
        let (mut said, mut right) = (0, 0);
        let people = self.people.known.people.iter();
        for (tuple, (certain, n)) in certain.iter().zip(people).enumerate() {
            let Some(present) = certain else { continue };
            said += n;
            if let Some(inside) = &self.inside {
                right += if *present { inside[tuple] } else { n - inside[tuple] };
            }
        }
        attack.detail.insert("certain".into(), json!(said));
        if self.inside.is_some() {
            attack.detail.insert("certain_right".into(), json!(right));
        }
    }
}
