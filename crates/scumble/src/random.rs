//! Where randomness comes from.
//!
//! Without a seed it comes from the operating system. A seed makes everything repeatable,
//! and is for experiments only.

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
        Self {
            secret: *blake3::keyed_hash(
                b"scumble: randomness of one seed.",
                &seed.to_le_bytes(),
            )
            .as_bytes(),
        }
    }

    /// A stream of its own for each purpose and number.
    pub fn stream(&self, purpose: &str, number: u64) -> ChaCha20Rng {
        let mut hasher = blake3::Hasher::new_keyed(&self.secret);
        hasher.update(purpose.as_bytes());
        let mut generator = ChaCha20Rng::from_seed(*hasher.finalize().as_bytes());
        generator.set_stream(number);
        generator
    }
}

impl std::fmt::Debug for Randomness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Randomness")
    }
}
