//! Points as bytes: affine coordinates of 32 little-endian bytes, in normal form where others read them.

#![warn(missing_docs)]

use std::fmt;

use ark_bn254::{Fq, Fq2, G1Affine, G2Affine};
use ark_ec::AffineRepr;
use ark_ff::{BigInt, PrimeField};

/// Bytes of a point of G1: two coordinates.
pub const G1_BYTES: usize = 64;
/// Bytes of a point of G2: two coordinates of the quadratic extension, c0 before c1.
pub const G2_BYTES: usize = 128;

fn limbs(bytes: &[u8]) -> BigInt<4> {
    let mut limbs = [0; 4];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.chunks_exact(8)) {
        *limb = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    }
    BigInt(limbs)
}

/// A coordinate, or any integer below 2^256.
pub fn put(bytes: &mut Vec<u8>, limbs: &BigInt<4>) {
    bytes.extend(limbs.0.iter().flat_map(|limb| limb.to_le_bytes()));
}

/// The identity is written as (0, 0), which is on neither curve.
pub fn put_g1(bytes: &mut Vec<u8>, point: &G1Affine) {
    for coordinate in [point.x, point.y] {
        put(bytes, &coordinate.into_bigint());
    }
}

/// The identity is written as zeros.
pub fn put_g2(bytes: &mut Vec<u8>, point: &G2Affine) {
    for coordinate in [point.x.c0, point.x.c1, point.y.c0, point.y.c1] {
        put(bytes, &coordinate.into_bigint());
    }
}

/// What is wrong with a point that others made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointError {
    /// How messages call the point.
    pub name: String,
    /// What is wrong with it.
    pub fault: PointFault,
}

/// What may be wrong with a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointFault {
    /// Its bytes end too soon.
    CutShort,
    /// A coordinate is the prime or more.
    Coordinate,
    /// It is the point at infinity.
    Infinity,
    /// It is not on the curve.
    OffCurve,
    /// It is on the curve, but not in its group of order r.
    OutsideGroup,
}

impl fmt::Display for PointError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match self.fault {
            PointFault::CutShort => write!(out, "{name} is cut short"),
            PointFault::Coordinate => write!(out, "a coordinate of {name} is not below the prime"),
            PointFault::Infinity => write!(out, "{name} is the point at infinity"),
            PointFault::OffCurve => write!(out, "{name} is not on the curve"),
            PointFault::OutsideGroup => {
                write!(out, "{name} is on the curve but not in its group of order r")
            }
        }
    }
}

impl std::error::Error for PointError {}

impl From<PointError> for String {
    fn from(error: PointError) -> Self {
        error.to_string()
    }
}

/// Reads points that others made: everything about them is checked.
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads from the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn coordinate(&mut self) -> Result<Fq, PointFault> {
        let (bytes, rest) = self.bytes.split_at_checked(32).ok_or(PointFault::CutShort)?;
        self.bytes = rest;
        Fq::from_bigint(limbs(bytes)).ok_or(PointFault::Coordinate)
    }

    fn next_g1(&mut self) -> Result<G1Affine, PointFault> {
        let point = G1Affine::new_unchecked(self.coordinate()?, self.coordinate()?);
        if point.is_zero() {
            return Err(PointFault::Infinity);
        }
        if !point.is_on_curve() {
            return Err(PointFault::OffCurve);
        }
        Ok(point)
    }

    fn next_g2(&mut self) -> Result<G2Affine, PointFault> {
        let x = Fq2::new(self.coordinate()?, self.coordinate()?);
        let point = G2Affine::new_unchecked(x, Fq2::new(self.coordinate()?, self.coordinate()?));
        if point.is_zero() {
            return Err(PointFault::Infinity);
        }
        if !point.is_on_curve() {
            return Err(PointFault::OffCurve);
        }
        if !point.is_in_correct_subgroup_assuming_on_curve() {
            return Err(PointFault::OutsideGroup);
        }
        Ok(point)
    }

    /// The next point, of the first group. Every point of its curve is in it.
    pub fn g1(&mut self, name: &str) -> Result<G1Affine, PointError> {
        self.next_g1().map_err(|fault| named(name, fault))
    }

    /// The next point, of the second group.
    pub fn g2(&mut self, name: &str) -> Result<G2Affine, PointError> {
        self.next_g2().map_err(|fault| named(name, fault))
    }
}

fn named(name: &str, fault: PointFault) -> PointError {
    let name = name.to_owned();
    PointError { name, fault }
}

/// Montgomery form, for the prover's own key: what arithmetic works on, and what a .zkey holds.
pub fn put_g1_raw(bytes: &mut Vec<u8>, point: &G1Affine) {
    for coordinate in [&point.x, &point.y] {
        put(bytes, &coordinate.0);
    }
}

/// The same of G2.
pub fn put_g2_raw(bytes: &mut Vec<u8>, point: &G2Affine) {
    for coordinate in [&point.x.c0, &point.x.c1, &point.y.c0, &point.y.c1] {
        put(bytes, &coordinate.0);
    }
}

fn raw(bytes: &[u8]) -> Option<Fq> {
    let limbs = limbs(bytes);
    (limbs < Fq::MODULUS).then_some(Fq::new_unchecked(limbs))
}

/// Not checked to be on the curve; the file's checksum vouches for what was written.
pub fn g1_raw(bytes: &[u8]) -> Option<G1Affine> {
    Some(G1Affine::new_unchecked(
        raw(bytes.get(..32)?)?,
        raw(bytes.get(32..64)?)?,
    ))
}

/// The same of G2.
pub fn g2_raw(bytes: &[u8]) -> Option<G2Affine> {
    let mut coordinates = bytes.chunks_exact(32).map(raw);
    let mut next = || coordinates.next().flatten();
    Some(G2Affine::new_unchecked(
        Fq2::new(next()?, next()?),
        Fq2::new(next()?, next()?),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ark_ec::CurveGroup;
    use ark_serialize::CanonicalSerialize;

    /// What `provers/groth16/compression.py` must write; tests/provers/groth16/test_compression.py holds the same digits.
    #[test]
    fn compressed_points_are_arkworks_own() {
        let mut bytes = Vec::new();
        for times in [3u64, 5] {
            let (first, second) = (G1Affine::generator(), G2Affine::generator());
            let g1 = (first * ark_bn254::Fr::from(times)).into_affine();
            let g2 = (second * ark_bn254::Fr::from(times)).into_affine();
            for g1 in [g1, -g1] {
                g1.serialize_compressed(&mut bytes)
                    .unwrap_or_else(|e| panic!("{e}"));
            }
            for g2 in [g2, -g2] {
                g2.serialize_compressed(&mut bytes)
                    .unwrap_or_else(|e| panic!("{e}"));
            }
        }
        let digits = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(
            digits,
            include_str!("../../../../tests/golden/compressed_points.hex").trim()
        );
    }
}
