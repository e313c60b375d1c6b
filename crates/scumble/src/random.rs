//! Where randomness comes from.
//!
//! Without a seed it comes from the operating system. A seed makes everything repeatable,
//! and is for experiments only. A secret key makes the noise of a person the same in every
//! release, with nothing stored.

use std::convert::Infallible;
use std::fmt;

use rand::rngs::SysRng;
use rand::{SeedableRng, TryRng};
use rand_chacha::ChaCha20Rng;

use crate::error::{Error, Result};

/// Fresh randomness, or that of a seed. Never printed.
#[derive(Clone)]
pub struct Randomness {
    secret: [u8; 32],
}

impl Randomness {
    /// From the operating system.
    pub fn fresh() -> Result<Self> {
        let mut secret = [0; 32];
        SysRng.try_fill_bytes(&mut secret).map_err(|_| {
            Error::input("the operating system gives no randomness")
                .with_hint("nothing was published: without it nobody is protected")
        })?;
        Ok(Self { secret })
    }

    /// The same for the same seed.
    pub fn of_seed(seed: u64) -> Self {
        Self { secret: blake3::derive_key("scumble seed", &seed.to_le_bytes()) }
    }

    /// Randomness that has nothing to do with any other of this: for each name its own.
    pub fn narrowed(&self, name: &str) -> Self {
        let text = [b"part of ", name.as_bytes()].concat();
        Self { secret: *blake3::keyed_hash(&self.secret, &text).as_bytes() }
    }

    /// A stream of its own for each purpose and number.
    pub fn stream(&self, purpose: &str, number: u64) -> ChaCha20Rng {
        let seed = blake3::keyed_hash(&self.secret, purpose.as_bytes());
        let mut generator = ChaCha20Rng::from_seed(*seed.as_bytes());
        generator.set_stream(number);
        generator
    }

    /// A stream of which every row has a stretch of its own, of so many words of 32 bits.
    pub fn stretches(&self, purpose: &str, words: usize) -> Stretches {
        Stretches { generator: self.stream(purpose, 0), words: words as u128 }
    }
}

/// A stream of which every row has a stretch of its own: what is drawn for a row depends on
/// nothing but its number, and for rows one after the other the stream just goes on. Never
/// printed.
#[derive(Clone)]
pub struct Stretches {
    generator: ChaCha20Rng,
    words: u128,
}

impl Stretches {
    /// The stream, where the stretch of a row begins.
    pub fn at(&mut self, row: u64) -> &mut ChaCha20Rng {
        let start = u128::from(row) * self.words;
        if self.generator.get_word_pos() != start {
            self.generator.set_word_pos(start);
        }
        &mut self.generator
    }
}

impl fmt::Debug for Stretches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stretches")
    }
}

impl fmt::Debug for Randomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Randomness")
    }
}

/// A secret key. Never printed.
#[derive(Clone)]
pub struct Key {
    secret: [u8; 32],
}

/// A key shorter than this can be guessed.
const SHORTEST_KEY: usize = 16;

/// A key with fewer different bytes was hardly made by chance: of 16 random hexadecimal
/// digits one in some millions has fewer than 5 different ones, of 16 random bytes none.
const LEAST_DIFFERENT: usize = 5;

/// What to do without a key.
pub(crate) const HOW_TO_MAKE_ONE: &str =
    "make one with `(umask 077; head -c 32 /dev/urandom | base64 > noise.key)`";

impl Key {
    /// The key in a file.
    pub fn of(bytes: &[u8]) -> Result<Self> {
        // An editor may end the line, and a copy may not.
        let bytes = bytes.trim_ascii_end();
        if bytes.len() < SHORTEST_KEY {
            return Err(Error::input(format!(
                "the key has {} bytes, but needs at least {SHORTEST_KEY}",
                bytes.len()
            ))
            .with_hint(HOW_TO_MAKE_ONE));
        }
        let mut different = bytes.to_vec();
        different.sort_unstable();
        different.dedup();
        if different.len() < LEAST_DIFFERENT {
            return Err(Error::input(
                "the key repeats itself, so that it can be guessed",
            )
            .with_hint(HOW_TO_MAKE_ONE));
        }
        Ok(Self { secret: blake3::derive_key("scumble noise key", bytes) })
    }

    /// A key of one release, from random words.
    pub fn of_words(secret: [u8; 32]) -> Self {
        Self { secret }
    }

    /// A key for one purpose, such as one column with one domain.
    pub fn narrowed<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(&self.secret);
        for text in texts {
            // Lengths keep ("ab", "c") and ("a", "bc") apart.
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        Self { secret: *hasher.finalize().as_bytes() }
    }

    /// The words of a person.
    pub fn words(&self, id: &[u8]) -> KeyedWords {
        let reader = blake3::Hasher::new_keyed(&self.secret).update(id).finalize_xof();
        let mut words = KeyedWords { reader, held: [0; 64], at: 0 };
        words.refill();
        words
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

/// Random words that depend on a key and a person alone.
pub struct KeyedWords {
    reader: blake3::OutputReader,
    held: [u8; 64],
    at: usize,
}

impl KeyedWords {
    fn refill(&mut self) {
        self.reader.fill(&mut self.held);
        self.at = 0;
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        if self.at + N > self.held.len() {
            self.refill();
        }
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.held[self.at..self.at + N]);
        self.at += N;
        bytes
    }
}

impl TryRng for KeyedWords {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(self.take()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(self.take()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for byte in bytes {
            *byte = self.take::<1>()[0];
        }
        Ok(())
    }
}

impl fmt::Debug for KeyedWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyedWords")
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    #[test]
    fn a_seed_repeats_and_fresh_randomness_does_not() {
        let first = |random: Randomness| random.stream("noise", 7).next_u64();
        assert_eq!(first(Randomness::of_seed(1)), first(Randomness::of_seed(1)));
        assert_ne!(first(Randomness::of_seed(1)), first(Randomness::of_seed(2)));
        assert_ne!(
            first(Randomness::fresh().unwrap()),
            first(Randomness::fresh().unwrap())
        );
        let random = Randomness::of_seed(1);
        let streams = [("noise", 7), ("noise", 8), ("order", 7)];
        let mut words =
            streams.map(|(purpose, number)| random.stream(purpose, number).next_u64());
        words.sort_unstable();
        assert!(words.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn a_stretch_is_the_same_in_whatever_order_rows_come() {
        let mut rows = Randomness::of_seed(1).stretches("rows", 6);
        let mut draw = |row| {
            let stretch = rows.at(row);
            [0; 3].map(|_: u64| stretch.next_u64())
        };
        let in_order: Vec<[u64; 3]> = (0..100).map(&mut draw).collect();
        let backwards: Vec<[u64; 3]> = (0..100).rev().map(&mut draw).collect();
        assert!(in_order.iter().eq(backwards.iter().rev()));
        let mut words = in_order.concat();
        words.sort_unstable();
        assert!(words.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn the_same_key_and_person_give_the_same_words() {
        let key = Key::of(b"sixteen bytes or more").unwrap();
        let words = |key: &Key, id: &str| {
            let mut words = key.words(id.as_bytes());
            (0..20).map(|_| words.next_u64()).collect::<Vec<u64>>()
        };
        assert_eq!(words(&key, "ann"), words(&key, "ann"));
        assert_ne!(words(&key, "ann"), words(&key, "bob"));
        assert_ne!(
            words(&key.narrowed(["ab", "c"]), "x"),
            words(&key.narrowed(["a", "bc"]), "x")
        );
        let same = Key::of(b"sixteen bytes or more\r\n").unwrap();
        assert_eq!(words(&key, "ann"), words(&same, "ann"));
    }

    #[test]
    fn secrets_are_not_printed() {
        let key = Key::of(b"sixteen bytes or more").unwrap();
        let random = Randomness::of_seed(1);
        let (words, rows) = (key.words(b"ann"), random.stretches("noise", 2));
        let text = format!("{key:?} {random:?} {words:?} {rows:?}");
        assert_eq!(text, "Key Randomness KeyedWords Stretches");
        let error = Key::of(b"short").unwrap_err().to_string();
        assert_eq!(error, "the key has 5 bytes, but needs at least 16");
        for weak in [&[b'a'; 16][..], &[0; 64], b"abcdabcdabcdabcdabcd"] {
            let error = Key::of(weak).unwrap_err();
            assert_eq!(
                error.to_string(),
                "the key repeats itself, so that it can be guessed"
            );
            assert_eq!(error.hints(), [HOW_TO_MAKE_ONE]);
        }
    }
}
