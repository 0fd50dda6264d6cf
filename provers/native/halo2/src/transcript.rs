//! The transcript: a hash that an EVM computes cheaply, over points and scalars as its precompiles read them.
//!
//! State: 32 bytes, at first the checksum of the verifying key's file. What is absorbed is appended, points as two and
//! scalars as one integer of 32 big-endian bytes; a challenge is Keccak-256 of all that, modulo r, and replaces it as the
//! state. Soundness: a challenge takes a value with probability at most 6 / 2^256.

#![warn(missing_docs)]

use std::io;

use halo2_axiom::halo2curves::bn256::{Fq, Fr, G1Affine};
use halo2_axiom::halo2curves::ff::{Field, PrimeField};
use halo2_axiom::halo2curves::{CurveAffine, group::prime::PrimeCurveAffine};
use halo2_axiom::transcript::{EncodedChallenge, Transcript, TranscriptRead, TranscriptWrite};
use sha3::{Digest, Keccak256};

/// Bytes of a point: two coordinates.
pub const POINT_BYTES: usize = 64;
/// Bytes of a scalar.
pub const SCALAR_BYTES: usize = 32;

/// A challenge as it was hashed.
pub struct Drawn([u8; 32]);

/// 32 big-endian bytes modulo r.
pub fn reduced(bytes: &[u8; 32]) -> Fr {
    let limb = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
    let mut radix = Fr::from(1u64 << 32);
    radix = radix * radix;
    [0, 8, 16, 24]
        .into_iter()
        .fold(Fr::ZERO, |sum, at| sum * radix + Fr::from(limb(at)))
}

impl EncodedChallenge<G1Affine> for Drawn {
    type Input = [u8; 32];

    fn new(input: &[u8; 32]) -> Self {
        Self(*input)
    }

    fn get_scalar(&self) -> Fr {
        reduced(&self.0)
    }
}

/// A transcript over bytes that are written, or read.
pub struct Keccak<S> {
    absorbed: Vec<u8>,
    /// The bytes of the proof: all that were written, or all that are left to read.
    pub stream: S,
}

impl<S> Keccak<S> {
    /// Begins with the checksum of the verifying key.
    pub fn new(key: &[u8; 32], stream: S) -> Self {
        Self {
            absorbed: key.to_vec(),
            stream,
        }
    }
}

fn big_endian<F: PrimeField<Repr = R>, R: AsRef<[u8]>>(value: &F) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(value.to_repr().as_ref());
    bytes.reverse();
    bytes
}

/// The identity, which is on no curve y^2 = x^3 + 3 in these coordinates, is (0, 0).
pub fn point_bytes(point: &G1Affine) -> [u8; POINT_BYTES] {
    let mut bytes = [0; POINT_BYTES];
    if !bool::from(point.is_identity()) {
        bytes[..32].copy_from_slice(&big_endian(&point.x));
        bytes[32..].copy_from_slice(&big_endian(&point.y));
    }
    bytes
}

fn canonical<F: PrimeField>(bytes: &[u8]) -> Option<F>
where
    F::Repr: AsMut<[u8]>,
{
    let mut repr = F::Repr::default();
    repr.as_mut().copy_from_slice(bytes);
    repr.as_mut().reverse();
    F::from_repr(repr).into()
}

/// A scalar as proofs hold it; None from r on.
pub fn scalar_of(bytes: &[u8]) -> Option<Fr> {
    canonical(bytes)
}

/// The group has prime order: every point of the curve is in it.
pub fn point_of(bytes: &[u8]) -> Option<G1Affine> {
    if bytes.iter().all(|&byte| byte == 0) {
        return Some(G1Affine::identity());
    }
    let (x, y) = (canonical::<Fq>(&bytes[..32])?, canonical::<Fq>(&bytes[32..])?);
    G1Affine::from_xy(x, y).into()
}

impl<S> Transcript<G1Affine, Drawn> for Keccak<S> {
    fn squeeze_challenge(&mut self) -> Drawn {
        let hash: [u8; 32] = Keccak256::digest(&self.absorbed).into();
        self.absorbed.clear();
        self.absorbed.extend(hash);
        Drawn::new(&hash)
    }

    fn common_point(&mut self, point: G1Affine) -> io::Result<()> {
        self.absorbed.extend(point_bytes(&point));
        Ok(())
    }

    fn common_scalar(&mut self, scalar: Fr) -> io::Result<()> {
        self.absorbed.extend(big_endian(&scalar));
        Ok(())
    }
}

impl TranscriptWrite<G1Affine, Drawn> for Keccak<Vec<u8>> {
    fn write_point(&mut self, point: G1Affine) -> io::Result<()> {
        self.stream.extend(point_bytes(&point));
        self.common_point(point)
    }

    fn write_scalar(&mut self, scalar: Fr) -> io::Result<()> {
        self.stream.extend(big_endian(&scalar));
        self.common_scalar(scalar)
    }
}

impl<'a> Keccak<&'a [u8]> {
    fn take(&mut self, count: usize) -> io::Result<&'a [u8]> {
        let (bytes, rest) = self
            .stream
            .split_at_checked(count)
            .ok_or_else(|| io::Error::other("the proof is cut short"))?;
        self.stream = rest;
        Ok(bytes)
    }
}

impl TranscriptRead<G1Affine, Drawn> for Keccak<&[u8]> {
    fn read_point(&mut self) -> io::Result<G1Affine> {
        let point = point_of(self.take(POINT_BYTES)?)
            .ok_or_else(|| io::Error::other("a point of the proof is not on the curve"))?;
        self.common_point(point)?;
        Ok(point)
    }

    fn read_scalar(&mut self) -> io::Result<Fr> {
        let scalar = scalar_of(self.take(SCALAR_BYTES)?)
            .ok_or_else(|| io::Error::other("a value of the proof is not below r"))?;
        self.common_scalar(scalar)?;
        Ok(scalar)
    }
}
