//! Secret scalars.

use ark_bn254::Fr;
use ark_ff::{AdditiveGroup, PrimeField};
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

/// Where secret scalars come from.
pub enum Entropy {
    System,
    /// The same keys every time: for tests.
    Seed {
        seed: Vec<u8>,
        drawn: u64,
    },
}

impl Entropy {
    pub fn seeded(seed: &[u8]) -> Self {
        Self::Seed {
            seed: seed.to_vec(),
            drawn: 0,
        }
    }

    /// A uniform nonzero scalar: 512 bits reduced, so that the bias is below 2^-256.
    pub fn scalar(&mut self) -> Result<Fr, String> {
        loop {
            let mut bytes = [0u8; 64];
            match self {
                Self::System => getrandom::fill(&mut bytes)
                    .map_err(|error| format!("the operating system gives no randomness: {error}"))?,
                Self::Seed { seed, drawn } => {
                    for half in bytes.chunks_exact_mut(32) {
                        let hash = Sha256::new()
                            .chain_update(drawn.to_le_bytes())
                            .chain_update(&seed);
                        half.copy_from_slice(&hash.finalize());
                        *drawn += 1;
                    }
                }
            }
            let scalar = Fr::from_le_bytes_mod_order(&bytes);
            bytes.zeroize();
            if scalar != Fr::ZERO {
                return Ok(scalar);
            }
        }
    }
}
