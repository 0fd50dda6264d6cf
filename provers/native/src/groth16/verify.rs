//! The Groth16 verifier, and the only way that proof bytes become points.

use ark_bn254::{Bn254, Fr, G1Affine, G2Affine};
use ark_ec::CurveGroup;
use ark_ec::pairing::Pairing;
use ark_ff::{PrimeField, Zero};

use super::keys::VerifyingKey;
use super::points::{Reader, put, put_g1, put_g2};
use crate::msm::msm;
use crate::signed;

/// Bytes of an encoded proof: A, B, C in affine coordinates of 32 bytes each.
pub const PROOF_BYTES: usize = 256;

/// A in G1, B in G2, C in G1.
pub struct Proof {
    pub a: G1Affine,
    pub b: G2Affine,
    pub c: G1Affine,
}

impl Proof {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(PROOF_BYTES);
        put_g1(&mut bytes, &self.a);
        put_g2(&mut bytes, &self.b);
        put_g1(&mut bytes, &self.c);
        bytes
    }

    /// Refuses wrong lengths, coordinates of q or more, points off the curve, outside the group of order r, or at
    /// infinity.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() != PROOF_BYTES {
            return Err(format!("a proof has {PROOF_BYTES} bytes, found {}", bytes.len()));
        }
        let mut reader = Reader::new(bytes);
        let proof = Self {
            a: reader.g1("A")?,
            b: reader.g2("B")?,
            c: reader.g1("C")?,
        };
        Ok(proof)
    }
}

/// Whether e(A, B) = e(alpha, beta) e(sum of x_i inputs_i, gamma) e(C, delta).
pub fn holds(key: &VerifyingKey, publics: &[Fr], proof: &Proof) -> bool {
    if publics.len() != key.public() {
        return false;
    }
    let index = (0..publics.len() as u32).collect::<Vec<_>>();
    let inputs = msm(&key.inputs[1..], &index, &signed::from_fields(publics)) + key.inputs[0];
    let left = [-proof.a, key.alpha_g1, inputs.into_affine(), proof.c];
    Bn254::multi_pairing(left, [proof.b, key.beta_g2, key.gamma_g2, key.delta_g2]).is_zero()
}

/// e(alpha, beta) as twelve coordinates, which snarkjs writes beside the points.
pub fn alpha_beta(key: &VerifyingKey) -> Vec<u8> {
    let value = Bn254::pairing(key.alpha_g1, key.beta_g2).0;
    let mut bytes = Vec::with_capacity(12 * 32);
    for half in [value.c0, value.c1] {
        for pair in [half.c0, half.c1, half.c2] {
            put(&mut bytes, &pair.c0.into_bigint());
            put(&mut bytes, &pair.c1.into_bigint());
        }
    }
    bytes
}
