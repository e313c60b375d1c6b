//! The values of a sensitive column, or of several as one.

use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::method::perturb::ValueId;
use crate::recipe::{Missing, Spec};
use crate::table::{Code, Of};

/// A column to be randomized: its values and how many rows have each.
#[derive(Clone)]
pub(super) struct Values {
    /// The sensitive columns it is made of.
    pub(super) parts: Vec<usize>,
    /// Their names.
    pub(super) names: Vec<String>,
    /// The text of each value, part by part.
    pub(super) texts: Of<ValueId, Vec<String>>,
    /// How many rows have each value.
    pub(super) rows: Of<ValueId, u64>,
    /// Whether other columns are randomized beside it.
    pub(super) several: bool,
}

impl Values {
    /// The columns to be randomized, each on its own or all as one.
    pub(super) fn all(spec: &Spec, data: &Microdata) -> Result<Vec<Self>> {
        let refused = matches!(spec.method.noise.missing, Some((Missing::Refuse, _)));
        for column in &data.sensitive {
            let missing = column.domain.missing().map(|code| column.rows[code]);
            if let (true, Some(rows @ 1..)) = (refused, missing) {
                let rows =
                    if rows == 1 { "1 row".into() } else { format!("{rows} rows") };
                let error = format!("column `{}` has no value in {rows}", column.name);
                return Err(Error::input(error).with_hint(
                    "`missing = \"value\"` in `[method]` randomizes “not known” like any \
                     other value",
                ));
            }
        }
        let all = match spec.method.noise.together {
            Some((true, _)) => vec![Self::compound(data)],
            _ => (0..data.sensitive.len())
                .map(|place| Self::single(data, place))
                .collect(),
        };
        for values in &all {
            if values.texts.len() == 1 {
                let error = format!(
                    "column {} has one value only: there is nothing to hide it among",
                    values.title()
                );
                return Err(Error::input(error).with_hint(
                    "give it a `domain` of values that others may have, or `drop` it",
                ));
            }
        }
        Ok(all)
    }

    fn single(data: &Microdata, place: usize) -> Self {
        let column = &data.sensitive[place];
        Self {
            parts: vec![place],
            names: vec![column.name.clone()],
            texts: column
                .domain
                .texts()
                .iter()
                .map(|text| vec![text.to_string()])
                .collect(),
            rows: column.rows.to_vec().into(),
            several: data.sensitive.len() > 1,
        }
    }

    /// All sensitive columns as one, with the combinations that occur.
    fn compound(data: &Microdata) -> Self {
        let census = &data.census;
        let mut rows: std::collections::BTreeMap<Vec<Code>, u64> = Default::default();
        for (entry, n) in census.entries.pairs() {
            let codes = census.sensitive.iter().map(|codes| codes[entry]).collect();
            *rows.entry(codes).or_default() += n;
        }
        let text = |codes: &Vec<Code>| {
            let columns = data.sensitive.iter().zip(codes);
            columns.map(|(column, code)| column.domain.text(*code).to_owned()).collect()
        };
        Self {
            parts: (0..data.sensitive.len()).collect(),
            names: data.sensitive.iter().map(|column| column.name.clone()).collect(),
            texts: rows.keys().map(text).collect(),
            several: false,
            rows: rows.into_values().collect(),
        }
    }

    /// The column's name in messages.
    pub(super) fn title(&self) -> String {
        let names: Vec<String> =
            self.names.iter().map(|name| format!("`{name}`")).collect();
        names.join(" with ")
    }

    /// How many rows there are.
    pub(super) fn n_rows(&self) -> u64 {
        self.rows.iter().sum()
    }
}
