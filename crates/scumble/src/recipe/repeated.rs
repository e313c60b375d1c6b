//! Rows that are taken for people, and are not: an identifier that repeats.

use std::hash::{BuildHasher, Hasher};

use hashbrown::DefaultHashBuilder;

use crate::audit::{Original, people_of_groups};
use crate::error::Result;
use crate::recipe::Spec;
use crate::release::{PersonNote, Release};
use crate::table::{ColumnId, Role, Source};
use crate::watch::Watch;

/// What a steward must know if the recipe names no `person`, but an identifier repeats.
pub(super) fn warnings(
    spec: &Spec,
    source: &Source,
    release: &Release,
    watch: &dyn Watch,
) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    if spec.input.person.is_some() {
        return Ok(warnings);
    }
    let identifiers = spec.columns.iter().filter(|c| c.role == Role::Identifier);
    for name in identifiers.map(|column| &column.name) {
        let column = source.column(name)?;
        let (rows, people) = counted(source, column, &spec.input.missing, watch)?;
        if people == rows {
            continue;
        }
        let person =
            PersonNote { column: name.clone(), missing: spec.input.missing.clone() };
        let small = small_groups(source, release, person, watch)?;
        warnings.push(format!(
            "ROWS ARE TAKEN FOR PEOPLE: `{name}` repeats, {rows} rows are of {people}.{small} \
             Say `person = \"{name}\"` in `[input]`, and promises count people",
        ));
    }
    Ok(warnings)
}

/// How many rows name somebody, and how many different ones they name.
fn counted(
    source: &Source,
    column: ColumnId,
    missing: &[String],
    watch: &dyn Watch,
) -> Result<(u64, u64)> {
    let state = DefaultHashBuilder::default();
    let folded = source.fold(
        &[column],
        Vec::new,
        |names: &mut Vec<u64>, _, cells| {
            if !missing.iter().any(|text| text == cells[0]) {
                let mut hasher = state.build_hasher();
                hasher.write(cells[0].as_bytes());
                names.push(hasher.finish());
            }
            Ok(())
        },
        watch,
    )?;
    let mut names: Vec<u64> = folded.states.into_iter().flatten().collect();
    let rows = names.len() as u64;
    names.sort_unstable();
    names.dedup();
    Ok((rows, names.len() as u64))
}

/// How many groups have fewer people than k-anonymity promises of rows.
fn small_groups(
    source: &Source,
    release: &Release,
    person: PersonNote,
    watch: &dyn Watch,
) -> Result<String> {
    let promised = release.manifest.promises.iter();
    let k = promised
        .filter(|note| note.name == "k-anonymity")
        .find_map(|note| note.asked.get("k")?.as_u64());
    let Some(k) = k else { return Ok(String::new()) };
    let mut told = release.clone();
    told.manifest.person = Some(person);
    let original = Original::read(source, &told.manifest, watch)?;
    let sizes = people_of_groups(&told, &original, watch)?;
    Ok(match sizes {
        None => String::new(),
        Some(sizes) => {
            let small = sizes.iter().filter(|people| **people < k).count();
            format!(" {small} of {} groups have fewer than {k} people.", sizes.len())
        }
    })
}
