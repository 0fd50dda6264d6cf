//! Verifies the files of proofs: Groth16, Mirage, halo2 and tensor. No prover, no Python, no randomness of a prover.
//!
//! Every function takes the bytes of a proof's file, of which nothing is trusted, and what the verifier itself knows:
//!
//! - of Groth16, Mirage and halo2 its verifying key (`verifying.key`) and its [`publics::Publics`];
//! - of tensor its instance (`circuitize.provers.tensor.instance`), which holds plan, roots and public values.
//!
//! Neither is in a proof's folder for the verifier to believe: a key, publics or an instance out of the prover's hand show only
//! what the prover chose to show. docs/verifying.md says where they are from, and what else is trusted.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod framing;
pub mod held;
pub mod publics;

use std::fmt;

use ark_bn254::{G1Affine, G2Affine};
use ark_serialize::CanonicalDeserialize;
use circuitize_curves::points::{put_g1, put_g2};
use circuitize_groth16::keys::Kind;
use circuitize_tensor::instance::{Instance, InstanceError};

use crate::framing::{FramingError, split};
use crate::publics::{Publics, PublicsError};

/// Why a proof is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The file is not that of such a proof.
    Framing(FramingError),
    /// The proof's digest is not that of the key: it is for another program.
    Program,
    /// This point is no compressed one, or is at infinity.
    Compressed(&'static str),
    /// The public values are none.
    Publics(PublicsError),
    /// The key of Groth16 or Mirage is not sound.
    Groth16Key(circuitize_groth16::errors::KeyError),
    /// The proof of Groth16 or Mirage does not hold.
    Groth16(circuitize_groth16::errors::ProofError),
    /// The key of halo2 is not sound.
    Halo2Key(circuitize_halo2::errors::KeyError),
    /// The proof of halo2 does not hold.
    Halo2(circuitize_halo2::errors::ProofError),
    /// The instance is not sound.
    Instance(InstanceError),
    /// The tensor proof does not hold.
    Tensor(circuitize_tensor::errors::Reject),
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Framing(error) => error.fmt(out),
            Self::Program => write!(out, "the proof is for another program than the key"),
            Self::Compressed(point) => write!(out, "expected a compressed point {point}, found none"),
            Self::Publics(error) => error.fmt(out),
            Self::Groth16Key(error) => error.fmt(out),
            Self::Groth16(error) => error.fmt(out),
            Self::Halo2Key(error) => error.fmt(out),
            Self::Halo2(error) => error.fmt(out),
            Self::Instance(error) => error.fmt(out),
            Self::Tensor(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for Refusal {}

/// Verifies a file `proof.groth16`. The publics are outputs, then inputs.
pub fn groth16(key: &[u8], publics: &Publics, file: &[u8]) -> Result<(), Refusal> {
    let (key, points) = opened(key, file, Kind::Groth16)?;
    circuitize_groth16::verify::verify(&key, publics.scalars(), &points).map_err(Refusal::Groth16)
}

/// Verifies a file `proof.mirage`. The publics are the same: the challenge follows from them and from the proof.
pub fn mirage(key: &[u8], publics: &Publics, file: &[u8]) -> Result<(), Refusal> {
    let (key, points) = opened(key, file, Kind::Mirage)?;
    circuitize_groth16::verify::verify_mirage(&key, publics.scalars(), &points).map_err(Refusal::Groth16)
}

/// Verifies a file `proof.halo2`. The publics are the same, column after column.
pub fn halo2(key: &[u8], publics: &Publics, file: &[u8]) -> Result<(), Refusal> {
    let key = circuitize_halo2::key_file::decode_verifying(key).map_err(Refusal::Halo2Key)?;
    let (digest, content) = split(file, b"circuitize-hl2pf", 1, true).map_err(Refusal::Framing)?;
    if digest != key.origin.digest {
        return Err(Refusal::Program);
    }
    let columns = publics.columns(&key.shape.instances).map_err(Refusal::Publics)?;
    circuitize_halo2::verify::verify(&key, &columns, content).map_err(Refusal::Halo2)
}

/// Verifies a file `proof.tensor`.
pub fn tensor(instance: &[u8], file: &[u8]) -> Result<(), Refusal> {
    let instance = Instance::decode(instance).map_err(Refusal::Instance)?;
    let version = if instance.hidden() { 8 } else { 5 };
    let framed = split(file, b"circuitize-tenpf", version, instance.hidden());
    let (digest, rest) = framed.map_err(Refusal::Framing)?;
    if digest != instance.program() {
        return Err(Refusal::Program);
    }
    let messages = framing::one_chunk(rest).map_err(Refusal::Framing)?;
    instance.verify(messages).map_err(Refusal::Tensor)
}

/// The verifier's key, and the points of a proof whose file claims to be for its program.
fn opened(
    key: &[u8],
    file: &[u8],
    kind: Kind,
) -> Result<(circuitize_groth16::keys::VerifyingKey, Vec<u8>), Refusal> {
    let key = circuitize_groth16::key_file::decode_verifying(key, kind).map_err(Refusal::Groth16Key)?;
    let (magic, version, names) = match kind {
        Kind::Groth16 => (b"circuitize-g16pf", 2, &["A", "B", "C"][..]),
        Kind::Mirage => (b"circuitize-mirpf", 2, &["A", "B", "C", "D"][..]),
    };
    let (digest, mut rest) = split(file, magic, version, true).map_err(Refusal::Framing)?;
    if digest != key.digest {
        return Err(Refusal::Program);
    }
    let mut points = Vec::new();
    for &name in names {
        match name {
            "B" => put_g2(&mut points, &decompressed::<G2Affine>(&mut rest, name)?),
            _ => put_g1(&mut points, &decompressed::<G1Affine>(&mut rest, name)?),
        }
    }
    match rest {
        [] => Ok((key, points)),
        _ => Err(Refusal::Framing(FramingError::Trailing(rest.len()))),
    }
}

/// The next point as arkworks compresses them: x, and the sign of y; it is checked to be on its curve and in its group.
fn decompressed<P: CanonicalDeserialize>(bytes: &mut &[u8], name: &'static str) -> Result<P, Refusal> {
    P::deserialize_compressed(bytes).map_err(|_| Refusal::Compressed(name))
}
