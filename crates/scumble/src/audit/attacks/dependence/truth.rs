//! Which guesses are right: for the scorer alone.
//!
//! Rows are found in the table by the columns that are published as they are. Only those count
//! that one row of the table can be: of others nobody knows which value is whose.

use hashbrown::HashMap;
use serde_json::json;

use super::problem::Guess;
use super::rows::hashed;
use super::{Target, View};
use crate::audit::cells::published_reading;
use crate::audit::drawn::canonical;
use crate::audit::{Attacked, Case};
use crate::error::Result;
use crate::release::Treatment;
use crate::table::{ColumnId, Reading, Role};

/// Fewer rows say nothing.
const LEAST: usize = 30;

/// The true value of each row, where the row can be found in the table.
#[derive(Debug)]
pub(super) struct TrueValues(Vec<Option<u32>>);

impl TrueValues {
    /// How many rows were found.
    pub(super) fn n_found(&self) -> usize {
        self.0.iter().flatten().count()
    }

    /// The share of guesses about them that are right.
    pub(super) fn right(&self, guesses: &[Guess]) -> f64 {
        let both = self.0.iter().zip(guesses);
        let both = both.filter_map(|(truth, guess)| Some((*truth)? == guess.value));
        let (right, all) = both.fold((0, 0), |(right, all), is_right| {
            (right + usize::from(is_right), all + 1)
        });
        f64::from(right as u32) / f64::from(all.max(1) as u32)
    }
}

impl View<'_> {
    /// The true values of rows that can be found in the table, if there are enough of them.
    pub(super) fn true_values(
        &self,
        case: &Case<'_>,
        target: &Target<'_>,
    ) -> Result<Option<TrueValues>> {
        if matches!(target, Target::Shown(_)) {
            return Ok(None);
        }
        let Some(table) = case.original_rows() else { return Ok(None) };
        let names = target.names();
        let kept = case.manifest.columns.iter().filter(|column| {
            column.treatment == Treatment::Kept
                && matches!(column.role, Role::Quasi | Role::Sensitive | Role::Other)
                && self.names.contains(&&*column.name)
        });
        let kept: Vec<(&str, Reading)> =
            kept.map(|column| (&*column.name, published_reading(column))).collect();
        if kept.is_empty() {
            return Ok(None);
        }
        let keys = (0..self.rows.n).map(|row| {
            let cells = kept
                .iter()
                .map(|(name, reading)| (self.coded(name).text(row), reading));
            key(cells)
        });
        let keys: Vec<u64> = keys.collect();
        // How many rows of the table have a key, and the value of the last.
        let sought: HashMap<u64, (u64, Option<u32>)> =
            keys.iter().map(|key| (*key, (0, None))).collect();
        let all = kept.iter().map(|(name, _)| *name).chain(names.iter().copied());
        let columns = all.map(|name| table.column(name));
        let columns: Vec<ColumnId> = columns.collect::<Result<_>>()?;
        let codes = target.codes(case);
        let found = table.fold(
            &columns,
            HashMap::new,
            |found: &mut HashMap<u64, (u64, Option<u32>)>, _, cells| {
                let (own, values) = cells.split_at(kept.len());
                let own = own.iter().zip(&kept);
                let key = key(own.map(|(text, (_, reading))| (*text, reading)));
                if sought.contains_key(&key) {
                    let known = found.entry(key).or_default();
                    *known = (known.0 + 1, codes(values));
                }
                Ok(())
            },
            case.watch,
        )?;
        let mut all = sought;
        for (key, (n, value)) in found.states.into_iter().flatten() {
            if let Some(known) = all.get_mut(&key) {
                *known = (known.0 + n, value);
            }
        }
        let one = |key: &u64| match all[key] {
            (1, value) => value,
            _ => None,
        };
        let found = TrueValues(keys.iter().map(one).collect());
        Ok(Some(found).filter(|found| found.n_found() >= LEAST))
    }
}

impl Target<'_> {
    /// The code of the value that texts of the table mean.
    fn codes(&self, case: &Case<'_>) -> impl Fn(&[&str]) -> Option<u32> + Sync {
        let domain: HashMap<String, u32> = match self {
            Self::Apart(values, _) => {
                let texts = values.column.domain.texts().iter();
                texts.map(ToString::to_string).zip(0..).collect()
            }
            Self::Drawn(..) | Self::Shown(_) => HashMap::new(),
        };
        let reading = case.manifest.column(self.names()[0]).map(published_reading);
        move |texts: &[&str]| match self {
            Self::Drawn(column, _) => column.code(texts).map(|code| code as u32),
            Self::Apart(..) => {
                let text = canonical(reading.as_ref()?, texts.first()?)?;
                domain.get(&text).copied()
            }
            Self::Shown(_) => None,
        }
    }
}

/// Puts the shares of guesses that are right, with and without other columns, in the place of
/// those that are expected to be.
pub(super) fn score(
    attacked: &mut Attacked,
    [success, chance]: [f64; 2],
    scored: usize,
) {
    let believed = json!({ "success": attacked.success, "chance": attacked.chance });
    let more = [
        ("believed", believed),
        ("scored", json!(scored)),
        ("gain", json!(success - chance)),
        ("expected", json!(false)),
    ];
    attacked.detail.extend(more.map(|(key, value)| (key.to_owned(), value)));
    (attacked.success, attacked.chance) = (success, chance);
}

/// The same as somebody finds it who has no table to score guesses with.
pub(super) fn unscored(mut attacked: Attacked) -> Attacked {
    attacked.detail.remove("scored");
    let Some(believed) = attacked.detail.remove("believed") else { return attacked };
    let number = |key: &str| believed[key].as_f64().unwrap_or(0.0);
    (attacked.success, attacked.chance) = (number("success"), number("chance"));
    let gain = json!(attacked.success - attacked.chance);
    let more = [("gain", gain), ("expected", json!(true))];
    attacked.detail.extend(more.map(|(key, value)| (key.to_owned(), value)));
    attacked
}

/// What a row is found by.
fn key<'a>(cells: impl Iterator<Item = (&'a str, &'a Reading)>) -> u64 {
    let mut bytes = Vec::new();
    for (text, reading) in cells {
        let one = canonical(reading, text);
        let text = one.as_deref().unwrap_or(text);
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    hashed(&bytes)
}
