//! Rows that are taken for people, and are not: an identifier that repeats. And rows of a person
//! that share their noise.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashMap};

use crate::audit::{Original, people_of_groups};
use crate::error::Result;
use crate::recipe::Spec;
use crate::release::{Class, Parameters, PersonNote, Release};
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
        let person = PersonNote {
            column: name.clone(),
            missing: spec.input.missing.clone(),
            shared: BTreeMap::new(),
        };
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
    let alike = alike(source, &[column], missing, watch)?;
    Ok((alike.iter().sum(), alike.len() as u64))
}

/// Of rows that name somebody in the first of these columns, how many have the same texts in
/// all of them: a number for each combination that occurs.
fn alike(
    source: &Source,
    columns: &[ColumnId],
    missing: &[String],
    watch: &dyn Watch,
) -> Result<Vec<u64>> {
    let state = DefaultHashBuilder::default();
    let folded = source.fold(
        columns,
        Vec::new,
        |names: &mut Vec<u64>, _, cells| {
            if !missing.iter().any(|text| text == cells[0]) {
                let mut hasher = state.build_hasher();
                for cell in cells {
                    hasher.write_u64(cell.len() as u64);
                    hasher.write(cell.as_bytes());
                }
                names.push(hasher.finish());
            }
            Ok(())
        },
        watch,
    )?;
    let n_names = folded.states.iter().map(Vec::len).sum();
    let mut rows: HashMap<u64, u64> = HashMap::with_capacity(n_names);
    for name in folded.states.into_iter().flatten() {
        *rows.entry(name).or_default() += 1;
    }
    // In an order that is the same every time, which sums of floats need.
    let mut rows: Vec<u64> = rows.into_values().collect();
    rows.sort_unstable();
    Ok(rows)
}

/// How many rows share the noise of a row, on average over the rows, for each column with
/// noise: rows of a person with the same values have one noise. Estimates need it for their
/// errors: the variance of a sum over rows that share their noise so is that of independent
/// rows, times this number.
pub(super) fn shared(
    source: &Source,
    classes: &[Class],
    person: &str,
    missing: &[String],
    watch: &dyn Watch,
) -> Result<BTreeMap<String, f64>> {
    let mut shared = BTreeMap::new();
    for class in classes {
        match class.parameters {
            Parameters::Subtables { .. } | Parameters::Frames { .. } => {}
            _ => continue,
        }
        let mut columns = vec![source.column(person)?];
        for name in &class.of {
            columns.push(source.column(name)?);
        }
        let alike = alike(source, &columns, missing, watch)?;
        let (rows, squares) = alike.iter().fold((0.0, 0.0), |(rows, squares), n| {
            let n = *n as f64;
            (rows + n, squares + n * n)
        });
        if squares > rows {
            let mean = rounded_up(squares / rows);
            shared.extend(class.of.iter().map(|name| (name.clone(), mean)));
        }
    }
    Ok(shared)
}

/// Three digits of a number from 1 on, not below it.
fn rounded_up(number: f64) -> f64 {
    let scale = libm::pow(10.0, 2.0 - libm::log10(number).floor());
    (number * scale).ceil() / scale
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
