//! What the audit says of promises, taken over or taken for a reason not to publish.

use crate::audit::Report;
use crate::error::{Error, ErrorKind, Result};
use crate::recipe::{blurring, bucketize};
use crate::release::Manifest;

/// Whether a promise fails because its worlds could not be counted.
pub(super) fn uncertified(report: &Report) -> bool {
    report
        .promises
        .iter()
        .any(|promise| !promise.holds && promise.measured.get("uncertified").is_some())
}

/// Copies what the audit measured into the manifest, or refuses the release.
pub(super) fn certify(manifest: &mut Manifest, audit: &Report) -> Result<()> {
    if let Some(failing) = audit.promises.iter().find(|promise| !promise.holds) {
        return Err(Error::new(ErrorKind::Broken(format!(
            "the written release does not keep {}: {} rows are at risk; nothing was \
             published",
            failing.name, failing.rows_at_risk
        )))
        .with_hint("this is a defect of scumble: please report it"));
    }
    let is_of_people = manifest.person.is_some();
    for place in 0..manifest.promises.len() {
        let checked = &audit.promises[place];
        let column = manifest.promises[place].columns.first();
        let method = manifest.method_of(column.map_or("", String::as_str)).name.clone();
        let note = &mut manifest.promises[place];
        note.measured = checked.measured.clone();
        note.holds = checked.holds;
        note.certified = match &*note.name {
            "delta-presence" if is_of_people => {
                "people of every group counted in the table and in the population"
                    .to_owned()
            }
            "delta-presence" => {
                "recomputed from the published files and the population".to_owned()
            }
            "k-map" if is_of_people => {
                "people of every group counted in the population".to_owned()
            }
            "breach" | "fine-grain" => {
                "every matrix checked against every protected value".to_owned()
            }
            "r-robustness" => bucketize::certified(&checked.measured),
            "expected-anonymity" => blurring::certified(&note.asked, &method),
            _ if is_of_people => {
                "people of every group counted in the table".to_owned()
            }
            _ => "recomputed from the published rows".to_owned(),
        };
    }
    manifest.loss = audit.loss.clone();
    Ok(())
}
