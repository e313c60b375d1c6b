//! What the adversary of a recipe knows.

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::promise::{PriorSet, Priors};
use crate::recipe::{KnowledgeSpec, RobustnessSpec, Spec};
use crate::table::{Inputs, Kind, Stated, format_number, parse_number};
use crate::words::nearest;

/// What the adversary knows, bound to the table.
pub(in crate::recipe) struct Known {
    pub(in crate::recipe) priors: Priors,
    /// What the files say, if it comes from files.
    pub(in crate::recipe) stated: Option<Stated>,
}

impl Known {
    /// Reads the files, or counts the table, for the sensitive column at a place.
    pub(in crate::recipe) fn read(
        spec: &Spec,
        typed: &RobustnessSpec,
        inputs: &Inputs,
        data: &Microdata,
        place: usize,
    ) -> Result<Self> {
        match &typed.knowledge {
            KnowledgeSpec::Table => {
                let sets = match &typed.signatures {
                    Some(typed) => places(spec, data, typed)?,
                    None => (0..data.quasi.len()).map(|place| vec![place]).collect(),
                };
                let priors = Priors::of_table(data, place, &sets, typed.support);
                Ok(Self { priors, stated: None })
            }
            KnowledgeSpec::Files(files, spot) => {
                let files = files.iter();
                let files = files.map(|file| inputs.bytes(file, "read what is known"));
                let mut stated =
                    Stated::parse_all(&files.collect::<Result<Vec<_>>>()?)?;
                let sensitive = &data.sensitive[place].name;
                let other = |name: &&String| *name != "value" && *name != sensitive;
                if let Some(name) = stated.value_columns.iter().find(other) {
                    let error = Error::recipe(format!(
                        "what is known is about `{name}`, but the sensitive column is \
                         `{sensitive}`"
                    ))
                    .with_hint(format!(
                        "call the column before `probability` `value`, or `{sensitive}`"
                    ));
                    return Err(spec.error_at(*spot, error));
                }
                if let Some(wanted) = &typed.signatures {
                    places(spec, data, wanted)?;
                    narrow(spec, &mut stated, wanted)?;
                }
                let sets = stated.sets.iter().map(|set| {
                    let place = |name: &String| {
                        data.quasi.iter().position(|column| column.name == *name)
                    };
                    let places: Option<Vec<usize>> =
                        set.columns.iter().map(place).collect();
                    let mut places = places.ok_or_else(|| {
                        let error = Error::recipe(format!(
                            "what is known is about {}, but not all of these are quasi columns",
                            named(&set.columns)
                        ));
                        spec.error_at(*spot, error)
                    })?;
                    places.sort_unstable();
                    Ok(places)
                });
                let sets: Vec<Vec<usize>> = sets.collect::<Result<_>>()?;
                let priors =
                    Priors::stated(data, place, &stated, &sets).map_err(|error| {
                        match error.place() {
                            Some(_) => error,
                            None => spec.error_at(*spot, error),
                        }
                    })?;
                Ok(Self { priors, stated: Some(stated) })
            }
        }
    }

    /// The promise as the manifest has it.
    pub(in crate::recipe) fn asked(
        &self,
        typed: &RobustnessSpec,
        data: &Microdata,
    ) -> Value {
        let sets = self.priors.sets.iter().map(|set| names(set, data));
        let sets: Vec<Vec<&str>> = sets.collect();
        let r = number(typed.robustness.r().to_f64());
        match self.stated {
            None => json!({
                "r": r, "knowledge": "table", "signatures": sets, "support": typed.support,
            }),
            Some(_) => json!({ "r": r, "knowledge": "file", "signatures": sets }),
        }
    }

    /// How many signatures were too rare to be known, for each set; nothing if knowledge
    /// comes from files.
    pub(in crate::recipe) fn fallback(&self, data: &Microdata) -> Option<Value> {
        if self.stated.is_some() {
            return None;
        }
        let note = |set: &PriorSet| {
            json!({
                "columns": names(set, data), "signatures": set.signatures,
                "rare": set.rare, "rare_rows": set.rare_rows,
                "whole_table_rows": set.whole_rows,
            })
        };
        Some(self.priors.sets.iter().map(note).collect())
    }
}

/// Values that files speak of and the table does not have, in words: perhaps they are
/// misspelt. What they are stays unsaid: the files may have been made from a table.
pub(in crate::recipe) fn unknown_values(
    stated: &Stated,
    data: &Microdata,
    sensitive: usize,
) -> Option<String> {
    let place = data.quasi.len() + sensitive;
    let (column, spec) = (data.sensitive.get(sensitive)?, data.specs.get(place)?);
    let index = column.domain.index();
    let has = |text: &str| {
        index.contains_key(text)
            || data.codes.get(place).is_some_and(|codes| codes.contains_key(text))
            || spec.reading.is_missing(text)
            || parse_number(text).is_some_and(|number| {
                column.domain.kind() == Kind::Number
                    && index.contains_key(&*format_number(number))
            })
    };
    let signatures = stated.sets.iter().flat_map(|set| set.signatures.values());
    let values = signatures.flatten().map(|(value, _)| value.as_str());
    let mut unknown: Vec<&str> = values.filter(|value| !has(value)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    let (file, line) =
        unknown.iter().filter_map(|value| stated.places.get(*value)).min()?;
    Some(format!(
        "what is known speaks of {} that `{}` does not have, first in {file}, line {line}; \
         are they spelt as in the table?",
        match unknown.len() {
            1 => "1 value".to_owned(),
            n => format!("{n} values"),
        },
        column.name,
    ))
}

/// A whole number without a point.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as u64) } else { json!(value) }
}

fn names<'a>(set: &PriorSet, data: &'a Microdata) -> Vec<&'a str> {
    set.columns.iter().map(|place| &*data.quasi[*place].name).collect()
}

/// Columns in words.
fn named(columns: &[String]) -> String {
    let names: Vec<String> = columns.iter().map(|name| format!("`{name}`")).collect();
    names.join(" and ")
}

/// The places of typed columns among the quasi columns.
fn places(
    spec: &Spec,
    data: &Microdata,
    typed: &[(Vec<String>, crate::recipe::Spot)],
) -> Result<Vec<Vec<usize>>> {
    let mut sets = Vec::new();
    for (columns, spot) in typed {
        let mut places = Vec::new();
        for name in columns {
            let known = data.quasi.iter().map(|column| &*column.name);
            let place = known.clone().position(|known| known == name);
            places.push(place.ok_or_else(|| {
                let error = Error::recipe(format!(
                    "`signatures` has `{name}`, which is not a quasi column"
                ));
                let error = match nearest(name, known) {
                    Some(near) => error.with_hint(format!("did you mean `{near}`?")),
                    None => error.with_hint(
                        "somebody can only look at what is published of a person",
                    ),
                };
                spec.error_at(*spot, error)
            })?);
        }
        places.sort_unstable();
        sets.push(places);
    }
    Ok(sets)
}

/// Keeps the sets that the recipe names, all of which the files must have.
fn narrow(
    spec: &Spec,
    stated: &mut Stated,
    wanted: &[(Vec<String>, crate::recipe::Spot)],
) -> Result<()> {
    let mut sets = Vec::new();
    for (columns, spot) in wanted {
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let set = stated.set(&names).ok_or_else(|| {
            let error = Error::recipe(format!(
                "`knowledge` says nothing by {}",
                named(columns)
            ));
            spec.error_at(
                *spot,
                error.with_hint("leave this set out, or add lines for it"),
            )
        })?;
        sets.push(set.clone());
    }
    stated.sets = sets;
    Ok(())
}
