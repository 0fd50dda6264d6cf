//! The same curve in two libraries: elements move between them as their limbs.

#![warn(missing_docs)]

use ark_bn254::{Fr as ArkFr, G1Affine as ArkG1, G2Affine as ArkG2};
use ark_ec::AffineRepr;
use ark_ff::{BigInt, PrimeField as _};
use halo2_axiom::halo2curves::bn256::{Fr, G1Affine, G2Affine};
use halo2_axiom::halo2curves::ff::PrimeField;
use halo2_axiom::halo2curves::group::prime::PrimeCurveAffine;
use halo2_axiom::halo2curves::serde::SerdeObject;
use rayon::prelude::*;

use circuitize_curves::points::{put_g1_raw, put_g2_raw};

/// Little-endian limbs of a normal form.
pub type Limbs = [u64; 4];

fn limbs(bytes: &[u8]) -> Limbs {
    let mut limbs = [0; 4];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.chunks_exact(8)) {
        *limb = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    }
    limbs
}

/// A scalar's normal form.
pub fn normal(value: &Fr) -> Limbs {
    limbs(value.to_repr().as_ref())
}

/// The scalar of a normal form; None from r on.
pub fn scalar(value: &Limbs) -> Option<Fr> {
    (BigInt(*value) < ArkFr::MODULUS).then(|| Fr::from_raw(*value))
}

/// The same scalar of arkworks.
pub fn to_ark_scalar(value: &Fr) -> ArkFr {
    ArkFr::from_bigint(BigInt(normal(value))).unwrap_or_default()
}

/// The same of many.
pub fn to_ark_scalars(values: &[Fr]) -> Vec<ArkFr> {
    values.par_iter().with_min_len(1024).map(to_ark_scalar).collect()
}

/// The inverse of `to_ark_scalar`.
pub fn from_ark_scalar(value: &ArkFr) -> Fr {
    Fr::from_raw(value.into_bigint().0)
}

/// Both libraries hold coordinates in Montgomery form, radix 2^256.
pub fn from_ark(point: &ArkG1) -> G1Affine {
    if point.is_zero() {
        return G1Affine::identity();
    }
    let mut bytes = Vec::with_capacity(64);
    put_g1_raw(&mut bytes, point);
    G1Affine::from_raw_bytes_unchecked(&bytes)
}

/// The same of G2; not the identity.
pub fn g2_from_ark(point: &ArkG2) -> G2Affine {
    let mut bytes = Vec::with_capacity(128);
    put_g2_raw(&mut bytes, point);
    G2Affine::from_raw_bytes_unchecked(&bytes)
}

#[cfg(test)]
mod tests {
    use ark_bn254::Fq as ArkFq;
    use ark_ec::CurveGroup;
    use halo2_axiom::halo2curves::group::Curve;

    use super::*;

    fn to_ark(point: &G1Affine) -> ArkG1 {
        if bool::from(point.is_identity()) {
            return ArkG1::identity();
        }
        let bytes = point.to_raw_bytes();
        let coordinate = |at: usize| ArkFq::new_unchecked(BigInt(limbs(&bytes[at..at + 32])));
        ArkG1::new_unchecked(coordinate(0), coordinate(32))
    }

    #[test]
    fn multiples_of_the_generators_are_the_same_points() {
        for times in [1u64, 2, 3, 1 << 40, u64::MAX] {
            let (ark, own) = (ArkFr::from(times), Fr::from(times));
            assert_eq!(to_ark_scalar(&own), ark);
            assert_eq!(from_ark_scalar(&ark), own);
            let (left, right) = (
                (ArkG1::generator() * ark).into_affine(),
                (G1Affine::generator() * own).to_affine(),
            );
            assert_eq!(from_ark(&left), right);
            assert_eq!(to_ark(&right), left);
            let left = (ArkG2::generator() * ark).into_affine();
            assert_eq!(g2_from_ark(&left), (G2Affine::generator() * own).to_affine());
        }
        assert_eq!(to_ark(&G1Affine::identity()), ArkG1::identity());
        assert_eq!(from_ark(&ArkG1::identity()), G1Affine::identity());
    }
}
