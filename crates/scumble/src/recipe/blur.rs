//! How numbers are blurred, and the promise about it, as typed.

use crate::error::Result;
use crate::promise::{ExpectedAnonymity, Wish};
use crate::recipe::Spot;
use crate::recipe::promise::short;
use crate::recipe::section::{Item, Section};
use crate::space::{FrameKind, Shape};

/// The keys of `[method]` that are about blurring numbers.
#[derive(Debug, Clone, Default)]
pub struct BlurSpec {
    /// The shape of the noise, if said, and where.
    pub shape: Option<(Shape, Spot)>,
    /// Which way it is scaled and turned, if said, and where.
    pub frame: Option<(FrameKind, Spot)>,
    /// The most levels of a ladder, if said, and where.
    pub levels: Option<(usize, Spot)>,
    /// The most parts of space with axes of their own, if said, and where.
    pub frames: Option<(usize, Spot)>,
}

const FRAMES: [(&str, FrameKind); 3] = [
    ("global", FrameKind::Global),
    ("local", FrameKind::Local),
    ("rotated", FrameKind::Rotated),
];

/// Levels divide rows that could keep each other company: many of them help nobody.
const MOST_LEVELS: usize = 64;

const MOST_FRAMES: usize = 4096;

impl BlurSpec {
    /// Takes the keys from the section; what they say is read later.
    pub(super) fn take<'a>(section: &mut Section<'a>) -> BlurItems<'a> {
        BlurItems {
            shape: section.take("shape"),
            frame: section.take("frame"),
            levels: section.take("levels"),
            frames: section.take("frames"),
        }
    }
}

/// The keys as they stand in the recipe.
pub(super) struct BlurItems<'a> {
    shape: Option<Item<'a>>,
    frame: Option<Item<'a>>,
    levels: Option<Item<'a>>,
    frames: Option<Item<'a>>,
}

impl BlurItems<'_> {
    pub(super) fn read(self) -> Result<BlurSpec> {
        let shapes = Shape::ALL.map(|shape| (shape.name(), shape));
        let shape =
            self.shape.map(|item| Ok((item.choice("shape", &shapes)?, item.spot())));
        let frame =
            self.frame.map(|item| Ok((item.choice("frame", &FRAMES)?, item.spot())));
        let count = |item: Option<Item<'_>>, most: usize| {
            let read = item.map(|item| match item.natural()? {
                count if (1..=most).contains(&count) => Ok((count, item.spot())),
                _ => Err(item.out_of_range(&format!("from 1 to {most}"))),
            });
            read.transpose()
        };
        Ok(BlurSpec {
            shape: shape.transpose()?,
            frame: frame.transpose()?,
            levels: count(self.levels, MOST_LEVELS)?,
            frames: count(self.frames, MOST_FRAMES)?,
        })
    }
}

/// `expected-anonymity = 10`, or a table.
pub(super) fn expected_anonymity(item: &Item<'_>) -> Result<ExpectedAnonymity> {
    let wish = |k: &Item<'_>| match k.value.get_ref().as_str() {
        Some(column) => Ok(Wish::Column(column.to_owned())),
        None => k.float().map(Wish::Same).map_err(|error| match k.value.get_ref() {
            toml::de::DeValue::Integer(_) | toml::de::DeValue::Float(_) => error,
            _ => k.mistyped(
                "a number, or the name of a column with a number for each row",
            ),
        }),
    };
    if let Some(k) = short(item, "k") {
        return ExpectedAnonymity::new(wish(&k)?, true, None).map_err(|e| k.at(e));
    }
    let mut section = item.section()?;
    let strict = section.take("strict");
    let best_guess = section.take("best-guess");
    let k = section.need("k")?;
    section.done()?;
    let strict = strict.as_ref().map_or(Ok(true), Item::truth)?;
    let share = best_guess.as_ref().map(Item::float).transpose()?;
    let promise = ExpectedAnonymity::new(wish(&k)?, strict, share);
    let promise = promise.map_err(|error| {
        let bad_k = error.to_string().starts_with("`k`");
        best_guess.as_ref().filter(|_| !bad_k).unwrap_or(&k).at(error)
    })?;
    if let (Some(item), false) = (&best_guess, strict) {
        return Err(item
            .error("`best-guess` goes with `strict = true` only")
            .with_hint("without it the published spreads tell who is who"));
    }
    Ok(promise)
}
