//! Whose weights cells that are distributions have.

use crate::method::Weighting;
use crate::method::pdf::{Range, Shift};
use crate::recipe::generalize::looks::looks;
use crate::recipe::{Looks, Spec, Weights};

/// How pdf cells are weighted, and the manifest's word for it; nothing for other cells.
pub(in crate::recipe) fn weighting(
    name: &str,
    spec: &Spec,
) -> Option<(Weighting, &'static str)> {
    let pdf = spec.method.pdf?;
    let Some(presence) = spec.presence() else {
        return Some((Weighting::Own, "table"));
    };
    let range = Range { min: presence.promise.min(), max: presence.promise.max() };
    // Beside cuts that tell nothing, weights tell nothing either unless they are asked for.
    let usual = match looks(name, spec) {
        Some(Looks::Coins) => Weights::Population,
        Some(Looks::Free) | None => Weights::Counted,
    };
    Some(match pdf.weights.unwrap_or(usual) {
        Weights::Counted => (Weighting::Counted(range), "counted"),
        Weights::Population => (Weighting::Population, "population"),
        Weights::Paper => {
            let shift = pdf.shift.or(presence.shift).unwrap_or(Shift::Exact);
            (Weighting::Shifted(range, shift), "paper")
        }
    })
}
