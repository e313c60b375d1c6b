//! The values one worker meets in one column, numbered as they come.

use crate::table::source::RowPlace;
use crate::table::{Code, Of};

/// An open-addressing dictionary of short texts.
#[derive(Default)]
pub(super) struct Words {
    // The number of slots is a power of two, or zero; at most half are taken.
    slots: Vec<Slot>,
    ends: Of<Code, usize>,
    spots: Of<Code, RowPlace>,
    texts: String,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    key: TextKey,
    // One above the code, so that zero means empty.
    above: u32,
}

/// A text of up to 16 bytes as a whole, a longer one as a digest.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct TextKey {
    first: u64,
    last: u64,
    length: u32,
}

impl Words {
    /// How many different values there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The value with a code.
    pub(super) fn text(&self, code: Code) -> &str {
        let start =
            code.index().checked_sub(1).map_or(0, |before| (*self.ends)[before]);
        &self.texts[start..self.ends[code]]
    }

    /// Where the value was met first.
    pub(super) fn spot(&self, code: Code) -> RowPlace {
        self.spots[code]
    }

    /// The code of a value, which is new if the value is.
    #[inline]
    pub(super) fn code(&mut self, text: &str, spot: RowPlace) -> Code {
        let key = TextKey::of(text.as_bytes());
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = key.hash() as usize & mask;
        while let Some(slot) = self.slots.get(at) {
            if slot.above == 0 {
                break;
            }
            let code = Code::new(slot.above - 1);
            if slot.key == key && (text.len() <= 16 || self.text(code) == text) {
                return code;
            }
            at = (at + 1) & mask;
        }
        self.insert(text, spot, key, at)
    }

    #[cold]
    fn insert(
        &mut self,
        text: &str,
        spot: RowPlace,
        key: TextKey,
        mut at: usize,
    ) -> Code {
        self.texts.push_str(text);
        let code = self.ends.push(self.texts.len());
        self.spots.push(spot);
        if 2 * self.ends.len() > self.slots.len() {
            let size = (2 * self.slots.len()).max(16);
            let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
            for slot in old.into_iter().filter(|slot| slot.above > 0) {
                let at = self.free(slot.key);
                self.slots[at] = slot;
            }
            at = self.free(key);
        }
        self.slots[at] = Slot { key, above: code.next().get() };
        code
    }

    fn free(&self, key: TextKey) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = key.hash() as usize & mask;
        while self.slots[at].above > 0 {
            at = (at + 1) & mask;
        }
        at
    }
}

impl TextKey {
    #[inline]
    fn of(text: &[u8]) -> Self {
        let length = text.len();
        let (first, last) = match length {
            0 => (0, 0),
            // Bytes that overlap fall on themselves.
            1..4 => {
                let byte = |at: usize| u64::from(text[at]) << (8 * at);
                (byte(0) | byte(length / 2) | byte(length - 1), 0)
            }
            4..8 => {
                let high = u64::from(word4(text, length - 4)) << (8 * (length - 4));
                (u64::from(word4(text, 0)) | high, 0)
            }
            8..=16 => (word8(text, 0), word8(text, length - 8)),
            _ => {
                let words = text.chunks_exact(8).map(|word| word8(word, 0));
                let digest = words.fold(0, |digest, word| mixed(digest ^ word, length));
                (digest, word8(text, length - 8))
            }
        };
        Self { first, last, length: length as u32 }
    }

    #[inline]
    fn hash(self) -> u64 {
        mixed(self.first ^ self.last.rotate_left(29), self.length as usize)
    }
}

/// The two halves of a product, folded, so that every bit of `word` reaches the low ones.
#[inline]
pub(super) fn mixed(word: u64, length: usize) -> u64 {
    let word = word ^ (length as u64) ^ 0xa076_1d64_78bd_642f;
    let product = u128::from(word) * 0x9e37_79b9_7f4a_7c15;
    (product >> 64) as u64 ^ product as u64
}

#[inline]
fn word4(text: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([text[at], text[at + 1], text[at + 2], text[at + 3]])
}

#[inline]
fn word8(text: &[u8], at: usize) -> u64 {
    text[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_its_code() {
        let spot = |row| RowPlace { block: 0, row };
        let mut texts: Vec<String> = (0..40).map(|n| "x".repeat(n)).collect();
        texts.extend((0..40).map(|n| "\0".repeat(n + 1)));
        texts.extend((0..999).map(|n| n.to_string()));
        texts.extend((0..999).map(|n| format!("a long beginning {n} and a long end")));
        let mut words = Words::default();
        for round in 0..2 {
            for (place, text) in texts.iter().enumerate() {
                let row = (round * texts.len() + place) as u32;
                assert_eq!(words.code(text, spot(row)), Code::from_index(place));
            }
        }
        for (code, text) in Code::first(texts.len()).zip(&texts) {
            assert_eq!(words.text(code), text);
            assert_eq!(words.spot(code), spot(code.get()));
        }
    }
}
