//! Key files: canonical, bound to a digest, and ending in a SHA-256 checksum of everything before it.
//!
//! All integers are little-endian. A verifying key: magic (16 bytes), version (u32), setup (u32: 1 development,
//! 2 ceremony), digest (32 bytes), the shape (its bytes behind their count, u64), tau in G2 (128 bytes, normal form), and
//! the commitments of the fixed columns and of the permutations (64 bytes each, as in a proof). A proving key: magic,
//! version, the verifying key's file behind its length (u64), then the powers of tau and the Lagrange basis in
//! Montgomery form.

#![warn(missing_docs)]

use circuitize_curves::keys::Setup;
use circuitize_curves::points::{G2_BYTES, Reader, g2_raw, put_g2};
use halo2_axiom::halo2curves::bn256::G1Affine;
use halo2_axiom::halo2curves::serde::SerdeObject;
use sha2::{Digest, Sha256};

use crate::convert::g2_from_ark;
use crate::errors::KeyError;
use crate::keys::{Origin, VerifyingKey};
use crate::shape_file::{self, Parser};
use crate::transcript::{POINT_BYTES, point_bytes, point_of};

const VERIFYING: &[u8; 16] = b"circuitize-hl2vk";
pub(crate) const VERSION: u32 = 1;
pub(crate) const CHECKSUM: usize = 32;
const HEAD: usize = 16 + 4 + 4 + 32 + 8;

fn content(key: &VerifyingKey) -> Vec<u8> {
    let shape = shape_file::encode(&key.shape);
    let mut bytes = VERIFYING.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((key.origin.setup as u32).to_le_bytes());
    bytes.extend(key.origin.digest);
    bytes.extend((shape.len() as u64).to_le_bytes());
    bytes.extend(shape);
    if let Some(tau) = g2_raw(&key.tau_g2.to_raw_bytes()) {
        put_g2(&mut bytes, &tau);
    }
    let commitments = key.key.fixed_commitments().iter();
    for commitment in commitments.chain(key.key.permutation().commitments()) {
        bytes.extend(point_bytes(commitment));
    }
    bytes
}

/// The SHA-256 of a verifying key's file without its last 32 bytes, which are this.
pub fn checksum(key: &VerifyingKey) -> [u8; 32] {
    Sha256::digest(content(key)).into()
}

/// A verifying key as the bytes of its file.
pub fn encode_verifying(key: &VerifyingKey) -> Vec<u8> {
    let mut bytes = content(key);
    bytes.extend(key.checksum);
    bytes
}

pub(crate) fn check_head(bytes: &[u8], magic: &'static [u8; 16], what: &'static str) -> Result<(), KeyError> {
    if !bytes.starts_with(magic) {
        return Err(KeyError::Magic { what, magic });
    }
    let mut parser = Parser(&bytes[magic.len()..]);
    match parser.word()? {
        VERSION => Ok(()),
        found => Err(KeyError::Version {
            what,
            found,
            expected: VERSION,
        }),
    }
}

/// A verifying key from the bytes of its file; every point is checked to be in its group.
pub fn decode_verifying(bytes: &[u8]) -> Result<VerifyingKey, KeyError> {
    check_head(bytes, VERIFYING, "verifying key")?;
    if bytes.len() < HEAD + CHECKSUM {
        return Err(KeyError::CutShort);
    }
    let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
    let computed: [u8; 32] = Sha256::digest(content).into();
    if computed != checksum {
        return Err(KeyError::Checksum);
    }
    let mut parser = Parser(&content[20..]);
    let code = parser.word()?;
    let setup = Setup::from_code(code).ok_or(KeyError::Setup(code))?;
    let digest = parser.take(32)?.try_into().map_err(|_| KeyError::CutShort)?;
    let length = usize::try_from(parser.long()?).map_err(|_| KeyError::CutShort)?;
    let shape = shape_file::decode(parser.take(length)?)?.check()?;
    let tau = Reader::new(parser.take(G2_BYTES)?).g2("tau in G2")?;
    let mut points = |count: usize| -> Result<Vec<G1Affine>, KeyError> {
        let bytes = parser.take(count.saturating_mul(POINT_BYTES))?;
        bytes
            .chunks_exact(POINT_BYTES)
            .map(|bytes| point_of(bytes).ok_or(KeyError::Commitment))
            .collect()
    };
    let (fixed, permutation) = (points(shape.fixed)?, points(shape.copied.len())?);
    if !parser.0.is_empty() {
        return Err(KeyError::Trailing);
    }
    let key = VerifyingKey::new(
        Origin { setup, digest },
        shape,
        g2_from_ark(&tau),
        fixed,
        permutation,
    )?;
    match key.checksum == computed {
        true => Ok(key),
        false => Err(KeyError::Form),
    }
}
