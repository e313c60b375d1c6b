//! What a release tells together with earlier ones, before it appears.

use crate::audit::{broken_together, together};
use crate::error::{Error, ErrorKind, Result};
use crate::recipe::Request;
use crate::release::{Ledger, Release};
use crate::table::Source;
use crate::watch::Watch;

/// The ledger of a request, with the releases that are in it.
pub(super) struct Earlier {
    pub(super) ledger: Ledger,
    releases: Vec<Release>,
}

impl Earlier {
    /// Reads it, before any work is done; nothing if none is kept.
    pub(super) fn read(request: &Request<'_>) -> Result<Option<Self>> {
        let Some(path) = &request.ledger else { return Ok(None) };
        if request.in_memory {
            return Err(Error::recipe("a release in memory cannot be in a ledger")
                .with_hint("publish it into a directory"));
        }
        let ledger = Ledger::open(path)?;
        let releases = ledger.releases()?;
        Ok(Some(Self { ledger, releases }))
    }

    /// Puts the release together with the earlier ones, and says what of their promises, and
    /// of its own, that breaks. Fails if the request wants nothing to be broken.
    pub(super) fn check(
        &self,
        request: &Request<'_>,
        release: &Release,
        table: &Source,
        watch: &dyn Watch,
    ) -> Result<Vec<String>> {
        let (mut notes, mut used, mut found) = (Vec::new(), vec![release], Vec::new());
        for (earlier, entry) in self.releases.iter().zip(self.ledger.entries()) {
            match together(&[release, earlier], table, watch) {
                Ok(attacks) if attacks.is_empty() => {}
                Ok(attacks) => {
                    used.push(earlier);
                    found = attacks;
                }
                // It may be of other people.
                Err(error) => match error.kind() {
                    ErrorKind::Input(_) => notes.push(format!(
                        "`{}` of the ledger cannot be put together with this release: {error}",
                        entry.directory
                    )),
                    _ => return Err(error),
                },
            }
        }
        if used.len() > 2 {
            found = together(&used, table, watch)?;
        }
        let others = match used.len() - 1 {
            1 => "an earlier release".to_owned(),
            n => format!("{n} earlier releases"),
        };
        let broken: Vec<String> = found.iter().flat_map(broken_together).collect();
        if let (true, Some(first)) = (request.refuse_together, broken.first()) {
            let what = format!("together with {others} of the ledger, {first}");
            return Err(Error::new(ErrorKind::Broken(what)).with_hint(
                "nothing was published; publish the same groups again, coarser ones, or \
                 other people; a `key-file` keeps noise the same",
            ));
        }
        notes.extend(broken.into_iter().map(|what| {
            format!(
                "together with {others} of the ledger, {what}; no promise covers that"
            )
        }));
        Ok(notes)
    }
}
