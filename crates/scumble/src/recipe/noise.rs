//! How values are randomized, as typed.

use crate::error::Result;
use crate::recipe::Spot;
use crate::recipe::section::{Item, Section};
use crate::release::PublishedRange;

/// The keys of `[method]` that are about randomizing values.
#[derive(Debug, Clone, Default)]
pub struct NoiseSpec {
    /// What randomizes the rows of a sub-table, if said, and where.
    pub inside: Option<(Inside, Spot)>,
    /// The least probability that a value is published as it is, if said, and where.
    pub floor: Option<(f64, Spot)>,
    /// Whether all sensitive columns are randomized as one, if said, and where.
    pub together: Option<(bool, Spot)>,
    /// Whether rows without a value are refused, if said, and where.
    pub missing: Option<(Missing, Spot)>,
    /// The file with the secret key of the noise, if said, and where.
    pub key_file: Option<(String, Spot)>,
    /// The columns that tell people apart, if said, and where.
    pub id: Option<(Vec<String>, Spot)>,
    /// What is published of numbers that are randomized as ranges, if said, and where.
    pub publish: Option<(PublishedRange, Spot)>,
}

/// What randomizes the rows of a sub-table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    /// The same probability for every value.
    Uniform,
    /// A probability for each value.
    FineGrain,
}

/// What becomes of rows without a sensitive value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// "Not known" is a value like any other.
    Value,
    /// The table is refused.
    Refuse,
    /// They stay missing, which is for numbers.
    Keep,
}

const INSIDE: [(&str, Inside); 2] =
    [("uniform", Inside::Uniform), ("fine-grain", Inside::FineGrain)];
const PUBLISHED: [(&str, PublishedRange); 2] =
    [("range", PublishedRange::Range), ("number", PublishedRange::Number)];
const TOGETHER: [(&str, bool); 2] = [("each", false), ("compound", true)];
const MISSING: [(&str, Missing); 3] =
    [("value", Missing::Value), ("refuse", Missing::Refuse), ("keep", Missing::Keep)];

impl NoiseSpec {
    /// Takes the keys from the section; what they say is read by the function returned.
    pub(super) fn take<'a>(section: &mut Section<'a>) -> NoiseItems<'a> {
        NoiseItems {
            inside: section.take("inside"),
            floor: section.take("floor"),
            together: section.take("sensitive"),
            missing: section.take("missing"),
            key_file: section.take("key-file"),
            id: section.take("id"),
            publish: section.take("publish"),
        }
    }
}

/// The keys as they stand in the recipe.
pub(super) struct NoiseItems<'a> {
    inside: Option<Item<'a>>,
    floor: Option<Item<'a>>,
    together: Option<Item<'a>>,
    missing: Option<Item<'a>>,
    key_file: Option<Item<'a>>,
    id: Option<Item<'a>>,
    publish: Option<Item<'a>>,
}

impl NoiseItems<'_> {
    pub(super) fn read(self) -> Result<NoiseSpec> {
        let mut noise = NoiseSpec::default();
        if let Some(item) = self.inside {
            noise.inside = Some((item.choice("operator", &INSIDE)?, item.spot()));
        }
        if let Some(item) = self.floor {
            let floor = item.float()?;
            if !(0.0..1.0).contains(&floor) {
                let error = item.out_of_range("from 0 to below 1");
                return Err(error.with_hint(
                    "it is the least probability that a value is published as it is",
                ));
            }
            noise.floor = Some((floor, item.spot()));
        }
        if let Some(item) = self.together {
            noise.together = Some((
                item.choice("way to randomize columns", &TOGETHER)?,
                item.spot(),
            ));
        }
        if let Some(item) = self.missing {
            noise.missing = Some((
                item.choice("way to treat missing values", &MISSING)?,
                item.spot(),
            ));
        }
        if let Some(item) = self.key_file {
            noise.key_file = Some((item.string()?.to_owned(), item.spot()));
        }
        if let Some(item) = self.id {
            let names = match item.value.get_ref().is_str() {
                true => vec![item.string()?.to_owned()],
                false => item.strings()?,
            };
            if names.is_empty() {
                return Err(item.error("`id` names no column"));
            }
            noise.id = Some((names, item.spot()));
        }
        if let Some(item) = self.publish {
            let what = item.choice("way to publish ranges", &PUBLISHED)?;
            noise.publish = Some((what, item.spot()));
        }
        Ok(noise)
    }
}
