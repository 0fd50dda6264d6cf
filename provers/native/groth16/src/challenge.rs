//! The challenge that follows from a key, public values and a commitment.
//!
//! The separated Groth16 of MIRAGE (Kosba, Papadopoulos, Papamanthou, Song, USENIX Security 2020).

#![warn(missing_docs)]

use ark_bn254::{Fr, G1Affine};
use ark_ff::{BigInt, BigInteger, PrimeField};
use sha2::{Digest, Sha256};

use crate::key_file::checksum;
use crate::keys::VerifyingKey;

/// What the hash of a challenge begins with: no other use of SHA-256 here does.
const DOMAIN: &[u8; 32] = b"circuitize-mirage-challenge-0001";

/// The value of the last public wire: the first 253 bits of SHA-256(domain, SHA-256 of the verifying key, publics, D).
///
/// `publics` are all but the last. Each integer is 32 bytes, the most significant first, as contracts have them.
pub fn challenge(key: &VerifyingKey, publics: &[Fr], d: &G1Affine) -> Fr {
    let mut hasher = Sha256::new_with_prefix(DOMAIN);
    hasher.update(checksum(key));
    for value in publics {
        hasher.update(value.into_bigint().to_bytes_be());
    }
    for coordinate in [d.x, d.y] {
        hasher.update(coordinate.into_bigint().to_bytes_be());
    }
    let mut limbs = [0u64; 4];
    for (limb, bytes) in limbs.iter_mut().rev().zip(hasher.finalize().chunks_exact(8)) {
        *limb = u64::from_be_bytes(bytes.try_into().unwrap_or_default());
    }
    Fr::from(BigInt(limbs) >> 3)
}
