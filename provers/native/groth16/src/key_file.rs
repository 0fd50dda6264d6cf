//! Key files: a header that names circuit and setup, points, and a SHA-256 checksum of everything before it.
//!
//! All integers are little-endian. Both files begin with magic (16 bytes), version (u32), setup (u32: 1 development,
//! 2 ceremony), digest (32 bytes) and the number of publics (u64). A verifying key follows with alpha, beta, gamma,
//! delta and one point for the constant and each public. A proving key follows with wires, rows, and the sizes of A,
//! B and L (u64 each), the verifying points, beta and delta in G1, then for A, B and L the wires (u32 each) and
//! their points, B in both groups, and the points of H. The prover's own points are in Montgomery form.
//!
//! A key with a commitment has another magic, and besides: behind the publics the number of committed wires (u64); behind
//! delta that of the committed wires, in both groups; the size of D behind that of L, and D's wires and points at the end.

#![warn(missing_docs)]

use sha2::{Digest, Sha256};

use crate::errors::{KeyError, OtherKind};
use crate::keys::{Kind, VerifyingKey, points_bytes};
use circuitize_curves::keys::Setup;

const VERSION: u32 = 1;
pub(crate) const CHECKSUM: usize = 32;

/// One of the two files of a key.
#[derive(Clone, Copy)]
pub(crate) enum Half {
    #[cfg(feature = "prover")]
    Proving,
    Verifying,
}

impl Half {
    fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "prover")]
            Self::Proving => "proving key",
            Self::Verifying => "verifying key",
        }
    }

    fn magic(self, kind: Kind) -> &'static [u8; 16] {
        match (kind, self) {
            #[cfg(feature = "prover")]
            (Kind::Groth16, Self::Proving) => b"circuitize-g16pk",
            (Kind::Groth16, Self::Verifying) => b"circuitize-g16vk",
            #[cfg(feature = "prover")]
            (Kind::Mirage, Self::Proving) => b"circuitize-mirpk",
            (Kind::Mirage, Self::Verifying) => b"circuitize-mirvk",
        }
    }
}

/// Magic, version, setup, digest, and one or two counts.
pub(crate) fn header_bytes(kind: Kind) -> usize {
    16 + 4 + 4 + 32 + if kind == Kind::Mirage { 16 } else { 8 }
}

pub(crate) fn header(half: Half, key: &VerifyingKey) -> Vec<u8> {
    let mut bytes = half.magic(key.kind()).to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((key.setup as u32).to_le_bytes());
    bytes.extend(key.digest);
    bytes.extend((key.public() as u64).to_le_bytes());
    if key.kind() == Kind::Mirage {
        bytes.extend((key.committed() as u64).to_le_bytes());
    }
    bytes
}

pub(crate) fn verifying_bytes(kind: Kind, public: usize) -> Option<usize> {
    points_bytes(kind, public.checked_add(1)?)
}

pub(crate) struct Header {
    pub setup: Setup,
    pub digest: [u8; 32],
    pub public: usize,
    pub committed: Option<usize>,
}

pub(crate) fn number(bytes: &[u8]) -> Result<usize, KeyError> {
    let number = u64::from_le_bytes(bytes.try_into().map_err(|_| KeyError::CutShort("a number"))?);
    usize::try_from(number).map_err(|_| KeyError::Number(number))
}

pub(crate) fn parse_header(bytes: &[u8], half: Half, kind: Kind) -> Result<Header, KeyError> {
    let what = half.name();
    let other = match kind {
        Kind::Groth16 => Kind::Mirage,
        Kind::Mirage => Kind::Groth16,
    };
    if bytes.starts_with(half.magic(other)) {
        return Err(KeyError::Kind(OtherKind {
            found: other,
            expected: kind,
        }));
    }
    if bytes.len() < header_bytes(kind) || !bytes.starts_with(half.magic(kind)) {
        let magic = half.magic(kind);
        return Err(KeyError::Magic { what, magic });
    }
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    if word(16) != VERSION {
        return Err(KeyError::Version {
            what,
            found: word(16),
            expected: VERSION,
        });
    }
    let found = word(20);
    let setup = Setup::from_code(found).ok_or(KeyError::Setup { what, found })?;
    let digest = bytes[24..56]
        .try_into()
        .map_err(|_| KeyError::CutShort("the digest"))?;
    Ok(Header {
        setup,
        digest,
        public: number(&bytes[56..64])?,
        committed: match kind {
            Kind::Groth16 => None,
            Kind::Mirage => Some(number(&bytes[64..72])?),
        },
    })
}

/// A verifying key as the bytes of its file.
pub fn encode_verifying(key: &VerifyingKey) -> Vec<u8> {
    let mut bytes = header(Half::Verifying, key);
    bytes.extend(key.points());
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    bytes
}

/// The SHA-256 of a verifying key's file without its last 32 bytes, which are this.
pub fn checksum(key: &VerifyingKey) -> [u8; 32] {
    let mut hasher = Sha256::new_with_prefix(header(Half::Verifying, key));
    hasher.update(key.points());
    hasher.finalize().into()
}

/// A verifying key from the bytes of its file; every point is checked to be in its group.
pub fn decode_verifying(bytes: &[u8], kind: Kind) -> Result<VerifyingKey, KeyError> {
    let header = parse_header(bytes, Half::Verifying, kind)?;
    let start = header_bytes(kind);
    let expected = verifying_bytes(kind, header.public).and_then(|size| size.checked_add(start + CHECKSUM));
    check_length(bytes.len() as u64, expected)?;
    let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
    check_sum(&Sha256::digest(content), checksum)?;
    VerifyingKey::from_points(header.setup, header.digest, header.committed, &content[start..])
}

pub(crate) fn check_length(found: u64, expected: Option<usize>) -> Result<(), KeyError> {
    let expected = expected.map(|expected| expected as u64);
    match expected == Some(found) {
        true => Ok(()),
        false => Err(KeyError::Length { found, expected }),
    }
}

pub(crate) fn check_sum(computed: &[u8], found: &[u8]) -> Result<(), KeyError> {
    if computed == found {
        Ok(())
    } else {
        Err(KeyError::Checksum)
    }
}
