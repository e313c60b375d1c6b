//! That a file which is read several times was one table all the time.
//!
//! A table is counted in one pass and written in another. If somebody changes the file in
//! between, what is published was never counted, and no promise is about it. So every pass
//! leaves the checksums of the pieces that it read, and one that reads something else is
//! noticed. A file that is replaced by another of its name does no harm: the old one stays
//! open.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::DefaultHashBuilder;

/// The checksums of what was read of a file.
#[derive(Debug)]
pub(super) struct Held {
    /// How large the file was when it was opened.
    bytes: u64,
    pieces: Mutex<Pieces>,
    changed: AtomicBool,
    hasher: DefaultHashBuilder,
}

#[derive(Debug, Default)]
struct Pieces {
    /// The checksum of each piece, by whatever the reader knows it by.
    known: BTreeMap<PieceId, Checksum>,
    /// Whether a pass has read all pieces there are.
    is_whole: bool,
}

/// Where a piece begins, and how much was asked for.
pub(super) type PieceId = (u64, usize);

/// Two pieces that differ have the same one with a chance of 2^-64. It is about accidents: who
/// can write to the table need not deceive us. So it is a hash that costs next to nothing.
type Checksum = u64;

impl Held {
    /// Nothing was read yet of a file of this size.
    pub(super) fn new(bytes: u64) -> Self {
        Self {
            bytes,
            pieces: Mutex::default(),
            changed: AtomicBool::new(false),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// How large the file was when it was opened.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A piece was read.
    pub(super) fn see(&self, place: PieceId, bytes: &[u8]) {
        let checksum = self.hasher.hash_one(bytes);
        let mut pieces = self.pieces();
        let is_whole = pieces.is_whole;
        let same = match pieces.known.get(&place) {
            Some(known) => *known == checksum,
            None => {
                pieces.known.insert(place, checksum);
                !is_whole
            }
        };
        if !same {
            self.changed.store(true, Ordering::SeqCst);
        }
    }

    /// A pass is over that read so many pieces, and all there are.
    pub(super) fn end(&self, n_pieces: usize) {
        let mut pieces = self.pieces();
        pieces.is_whole = true;
        if pieces.known.len() != n_pieces {
            self.changed.store(true, Ordering::SeqCst);
        }
    }

    /// Whether two passes read different things.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.load(Ordering::SeqCst)
    }

    fn pieces(&self) -> MutexGuard<'_, Pieces> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_must_read_the_same_pieces() {
        let passes: [(&[(u64, &str)], bool); 5] = [
            (&[(0, "a"), (1, "b")], false),
            (&[(1, "b"), (0, "a")], false),
            (&[(0, "a"), (1, "c")], true),
            (&[(0, "a")], true),
            (&[(0, "a"), (1, "b"), (2, "c")], true),
        ];
        for (second, changed) in passes {
            let held = Held::new(2);
            for pass in [&[(0, "a"), (1, "b")][..], second] {
                assert!(!held.has_changed());
                pass.iter()
                    .for_each(|(place, text)| held.see((*place, 1), text.as_bytes()));
                held.end(pass.len());
            }
            assert_eq!(held.has_changed(), changed, "{second:?}");
        }
    }
}
