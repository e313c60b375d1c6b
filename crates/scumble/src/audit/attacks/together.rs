//! Attacks that put several releases of the same people together.

use crate::audit::Attacked;
use crate::audit::attacks::averaging;
use crate::audit::attacks::intersection::intersection;
use crate::error::Result;
use crate::release::{Release, Treatment};
use crate::table::Source;
use crate::text::percent;
use crate::watch::Watch;

/// Puts releases together: groups by what they have in common, randomized columns by what
/// was published of the same rows. Guesses are scored by the table that the first release
/// was made from, which also tells everybody's quasi values.
///
/// What a release promises is judged of it alone; no promise is about several. Nothing is
/// found if no two of the releases show the same sensitive column by group, and not all of
/// them randomize one.
pub fn together(
    releases: &[&Release],
    original: &Source,
    watch: &dyn Watch,
) -> Result<Vec<Attacked>> {
    let mut found = intersection(releases, original, watch)?;
    let is_drawn = |release: &Release, name: &str| {
        let mut columns = release.manifest.columns.iter();
        columns.any(|column| {
            column.name == name && matches!(column.treatment, Treatment::Drawn { .. })
        })
    };
    let columns = releases.first().map_or(&[][..], |first| &first.manifest.columns);
    let is_shared = |name: &str| releases.iter().all(|release| is_drawn(release, name));
    if columns.iter().any(|column| is_shared(&column.name)) {
        found.extend(averaging(releases, original, watch)?);
    }
    Ok(found)
}

/// What several releases tell together that one of them would not if its promise were about
/// them, too: for a steward.
pub fn broken_together(attack: &Attacked) -> Vec<String> {
    let column = attack.word("column");
    let of_people = |name: &str| {
        let share = attack.number(name);
        (share > 0.0).then(|| percent(share))
    };
    let mut broken = Vec::new();
    if attack.name == "averaging" {
        let fresh = attack.word("noise") == "fresh" && attack.count("releases") > 1;
        return fresh
            .then(|| format!("the noise of `{column}` is fresh and can be averaged"))
            .into_iter()
            .collect();
    }
    if attack.name != "intersection" {
        return broken;
    }
    if attack.number("certain") > attack.number("certain_alone") {
        let share = percent(attack.number("certain") - attack.number("certain_alone"));
        broken.push(format!(
            "the value of `{column}` becomes certain for {share} of people"
        ));
    }
    if let Some(share) = of_people("above") {
        let bound = percent(attack.number("bound"));
        broken.push(format!(
            "a value of `{column}` is believed with more than {bound} of {share} of people"
        ));
    }
    if let Some(share) = of_people("fewer") {
        let l = attack.count("l");
        broken.push(format!(
            "fewer than {l} values of `{column}` are left for {share} of people"
        ));
    }
    if let Some(share) = of_people("below_k") {
        let k = attack.count("k");
        broken.push(format!(
            "fewer than {k} people share the groups of {share} of people"
        ));
    }
    broken
}
