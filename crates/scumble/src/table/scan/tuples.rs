//! The tuples one worker meets, and how often.

use crate::table::Code;
use crate::table::scan::words::mixed;

/// Rows are counted in batches: the look-ups of one batch do not depend on each other, so
/// the processor can wait for memory once instead of once a row.
const BATCH_ROWS: usize = 64;

/// An open-addressing table of tuples of codes.
pub(super) struct Tuples {
    n_columns: usize,
    // Codes of rows not counted yet.
    pending: Vec<Code>,
    n_pending: usize,
    // Half of the hash, and one above the tuple's place, so that zero means empty. The
    // number of slots is a power of two, of which at most half are taken.
    slots: Vec<u64>,
    codes: Vec<Code>,
    rows: Vec<u64>,
}

impl Tuples {
    pub(super) fn new(n_columns: usize) -> Self {
        Self {
            n_columns,
            pending: Vec::with_capacity(BATCH_ROWS * n_columns),
            n_pending: 0,
            slots: vec![0; 1024],
            codes: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// How many different tuples there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The codes of a tuple.
    pub(super) fn codes(&self, place: usize) -> &[Code] {
        &self.codes[place * self.n_columns..][..self.n_columns]
    }

    /// How many rows have a tuple.
    pub(super) fn rows(&self, place: usize) -> u64 {
        self.rows[place]
    }

    /// Adds the next code of a row.
    #[inline]
    pub(super) fn push(&mut self, code: Code) {
        self.pending.push(code);
    }

    /// Says that the row is complete.
    #[inline]
    pub(super) fn finish_row(&mut self) {
        self.n_pending += 1;
        if self.n_pending == BATCH_ROWS {
            self.flush();
        }
    }

    /// Counts what is pending.
    pub(super) fn flush(&mut self) {
        while 2 * (self.rows.len() + self.n_pending) > self.slots.len() {
            self.grow();
        }
        let (width, mask) = (self.n_columns, self.slots.len() - 1);
        let mut hashes = [0; BATCH_ROWS];
        let mut firsts = [0; BATCH_ROWS];
        let n_pending = self.n_pending;
        for (row, place) in hashes[..n_pending].iter_mut().enumerate() {
            *place = hash(&self.pending[row * width..][..width]);
        }
        for (first, hash) in firsts.iter_mut().zip(&hashes[..n_pending]) {
            *first = self.slots[*hash as usize & mask];
        }
        for row in 0..n_pending {
            let (hash, codes) = (hashes[row], &self.pending[row * width..][..width]);
            let mut at = hash as usize & mask;
            let mut slot = firsts[row];
            loop {
                // The slot seen first may have been taken by an earlier row of the batch.
                if slot == 0 {
                    slot = self.slots[at];
                }
                if slot == 0 {
                    self.codes.extend_from_slice(codes);
                    self.rows.push(1);
                    self.slots[at] = (hash & HIGH) | self.rows.len() as u64;
                    break;
                }
                if slot & HIGH == hash & HIGH {
                    let place = (slot & !HIGH) as usize - 1;
                    if self.codes[place * width..][..width] == *codes {
                        self.rows[place] += 1;
                        break;
                    }
                }
                at = (at + 1) & mask;
                slot = self.slots[at];
            }
        }
        self.pending.clear();
        self.n_pending = 0;
    }

    fn grow(&mut self) {
        let size = 2 * self.slots.len();
        self.slots = vec![0; size];
        for place in 0..self.rows.len() {
            let hash = hash(self.codes(place));
            let mut at = hash as usize & (size - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = (hash & HIGH) | (place as u64 + 1);
        }
    }
}

const HIGH: u64 = 0xffff_ffff_0000_0000;

#[inline]
fn hash(codes: &[Code]) -> u64 {
    let mut hash = 0;
    let (pairs, rest) = codes.as_chunks::<2>();
    for [low, high] in pairs {
        hash = mixed(hash ^ u64::from(low.get()) ^ (u64::from(high.get()) << 32), 1);
    }
    for code in rest {
        hash = mixed(hash ^ u64::from(code.get()), 2);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_counted_once() {
        let mut tuples = Tuples::new(3);
        for row in 0..10_000u32 {
            for code in [row % 7, row % 1000, 5] {
                tuples.push(Code::new(code));
            }
            tuples.finish_row();
        }
        tuples.flush();
        assert_eq!(tuples.len(), 7000);
        let total: u64 = (0..tuples.len()).map(|place| tuples.rows(place)).sum();
        assert_eq!(total, 10_000);
        assert_eq!(tuples.codes(0), Code::of([0, 0, 5]));
        assert_eq!(tuples.rows(0), 2);
    }
}
