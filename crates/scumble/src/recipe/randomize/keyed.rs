//! The secret key of the noise, and the columns that tell people apart.

use rand::RngExt;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::random::{HOW_TO_MAKE_ONE, Key};
use crate::recipe::Spec;
use crate::recipe::methods::Task;
use crate::recipe::order::Order;
use crate::table::{ColumnId, Role, RowPlace};
use crate::watch::Watch;

/// A key, and the columns that tell people apart.
#[derive(Debug)]
pub(in crate::recipe) struct Secret {
    pub(in crate::recipe) key: Key,
    pub(in crate::recipe) id: Vec<ColumnId>,
}

impl Secret {
    /// Reads the key, and checks that no two rows are the same person. Where people may have
    /// several rows there is always a key, if only of this release: a value that somebody
    /// has ten times is drawn once, or noise would average out.
    pub(super) fn read(task: &Task<'_>) -> Result<Option<Self>> {
        let Task { spec, order, inputs, watch, .. } = *task;
        let person = spec.input.person.as_ref();
        let Some((path, spot)) = &spec.method.noise.key_file else {
            let Some((name, _)) = person else { return Ok(None) };
            let mut words = task.randomness.stream("people", 0);
            let secret: [u8; 32] = words.random();
            let id = vec![order.source.column(name)?];
            return Ok(Some(Self { key: Key::of_words(secret), id }));
        };
        let (shown, bytes) = inputs
            .bytes(path, "read the key")
            .map_err(|error| error.with_hint(HOW_TO_MAKE_ONE))?;
        if inputs.is_readable_by_others(path)? {
            return Err(Error::input("the key can be read by others")
                .in_file(&shown)
                .with_hint(format!("keep it for yourself: `chmod 600 {shown}`")));
        }
        let key = Key::of(&bytes).map_err(|error| error.in_file(&shown))?;
        let names: Vec<String> = match &spec.method.noise.id {
            Some((names, _)) => names.clone(),
            None if person.is_some() => {
                person.into_iter().map(|(name, _)| name.clone()).collect()
            }
            None => {
                let identifiers =
                    spec.columns.iter().filter(|c| c.role == Role::Identifier);
                identifiers.map(|column| column.name.clone()).collect()
            }
        };
        let at = spec.method.noise.id.as_ref().map_or(*spot, |(_, spot)| *spot);
        if let Some((name, _)) = person.filter(|(name, _)| names != [name.as_str()]) {
            let error = Error::recipe(format!(
                "`id` tells people apart, and so does the `person`, `{name}`: rows of a \
                 person must not get noise of their own"
            ));
            return Err(spec.error_at(at, error.with_hint("leave `id` out")));
        }
        if spec.method.noise.id.is_none() && names.len() != 1 {
            let error = Error::recipe(format!(
                "a key needs a column that tells people apart, but {} have the role \
                 `identifier`",
                if names.is_empty() {
                    "no columns".into()
                } else {
                    format!("{}", names.len())
                }
            ));
            let error = error.with_hint("say which: `id = \"patient\"` in `[method]`");
            return Err(spec.error_at(at, error));
        }
        let mut id = Vec::new();
        for name in &names {
            let column = order.source.column(name);
            id.push(column.map_err(|error| spec.error_at(at, error))?);
            if spec.column(name).is_some_and(|column| {
                matches!(column.role, Role::Quasi | Role::Sensitive | Role::Other)
            }) {
                let error = Error::recipe(format!(
                    "column `{name}` tells people apart and must not be published"
                ));
                return Err(
                    spec.error_at(at, error.with_hint("make it an `identifier`"))
                );
            }
        }
        check_people(spec, order, &id, person.is_some(), watch)?;
        Ok(Some(Self { key, id }))
    }
}

/// Every row must name a person, of its own unless people may repeat.
fn check_people(
    spec: &Spec,
    order: &Order,
    id: &[ColumnId],
    may_repeat: bool,
    watch: &dyn Watch,
) -> Result<()> {
    let names: Vec<String> =
        id.iter().map(|id| format!("`{}`", order.source.name_of(*id))).collect();
    let names = names.join(" with ");
    let folded = order.source.fold(
        id,
        || (Vec::new(), None),
        |(seen, nameless): &mut (Vec<([u8; 16], RowPlace)>, Option<RowPlace>),
         spot,
         cells| {
            let mut hasher = blake3::Hasher::new();
            for cell in cells {
                hasher.update(&(cell.len() as u64).to_le_bytes());
                hasher.update(cell.as_bytes());
            }
            let mut name = [0; 16];
            name.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
            // Nobody is found by the marker of a missing name.
            if cells.iter().all(|cell| spec.input.missing.iter().any(|m| m == cell)) {
                nameless.get_or_insert(spot);
            }
            seen.push((name, spot));
            Ok(())
        },
        watch,
    )?;
    if let Some(spot) = folded.states.iter().filter_map(|(_, nameless)| *nameless).min()
    {
        let row = folded.row_number(spot);
        return Err(Error::input(format!("row {row} has nothing in {names}"))
            .in_file(order.source.name())
            .with_hint("without it the noise of a person cannot be found again"));
    }
    if may_repeat {
        return Ok(());
    }
    let mut all: Vec<([u8; 16], RowPlace)> =
        folded.states.iter().flat_map(|(seen, _)| seen.iter().copied()).collect();
    all.par_sort_unstable();
    match all
        .windows(2)
        .filter(|pair| pair[0].0 == pair[1].0)
        .map(|pair| pair[1].1)
        .min()
    {
        None => Ok(()),
        Some(spot) => Err(Error::input(format!(
            "row {} has the same {names} as a row before it",
            folded.row_number(spot)
        ))
        .in_file(order.source.name())
        .with_hint(
            "rows of one person would get the same noise; give each row its own id",
        )),
    }
}
