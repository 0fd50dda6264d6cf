//! Points as bytes: affine coordinates of 32 little-endian bytes, in normal form where others read them.

use ark_bn254::{Fq, Fq2, G1Affine, G2Affine};
use ark_ec::AffineRepr;
use ark_ff::{BigInt, PrimeField};

pub const G1_BYTES: usize = 64;
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

pub fn put_g2(bytes: &mut Vec<u8>, point: &G2Affine) {
    for coordinate in [point.x.c0, point.x.c1, point.y.c0, point.y.c1] {
        put(bytes, &coordinate.into_bigint());
    }
}

/// Reads points that others made: everything about them is checked.
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn coordinate(&mut self, name: &str) -> Result<Fq, String> {
        let (bytes, rest) = self
            .bytes
            .split_at_checked(32)
            .ok_or_else(|| format!("{name} is cut short"))?;
        self.bytes = rest;
        Fq::from_bigint(limbs(bytes)).ok_or_else(|| format!("a coordinate of {name} is not below the prime"))
    }

    pub fn g1(&mut self, name: &str) -> Result<G1Affine, String> {
        let point = G1Affine::new_unchecked(self.coordinate(name)?, self.coordinate(name)?);
        if point.is_zero() {
            return Err(format!("{name} is the point at infinity"));
        }
        if !point.is_on_curve() {
            return Err(format!("{name} is not on the curve"));
        }
        Ok(point)
    }

    pub fn g2(&mut self, name: &str) -> Result<G2Affine, String> {
        let x = Fq2::new(self.coordinate(name)?, self.coordinate(name)?);
        let point = G2Affine::new_unchecked(x, Fq2::new(self.coordinate(name)?, self.coordinate(name)?));
        if point.is_zero() {
            return Err(format!("{name} is the point at infinity"));
        }
        if !point.is_on_curve() {
            return Err(format!("{name} is not on the curve"));
        }
        if !point.is_in_correct_subgroup_assuming_on_curve() {
            return Err(format!("{name} is on the curve but not in its group of order r"));
        }
        Ok(point)
    }
}

/// Montgomery form, for the prover's own key: what arithmetic works on, and what a .zkey holds.
pub fn put_g1_raw(bytes: &mut Vec<u8>, point: &G1Affine) {
    for coordinate in [&point.x, &point.y] {
        put(bytes, &coordinate.0);
    }
}

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

    /// What `provers/groth16/compression.py` must write; tests/test_compression.py holds the same digits.
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
