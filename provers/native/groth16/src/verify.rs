//! The Groth16 verifier, and the only way that proof bytes become points.

#![warn(missing_docs)]

use ark_bn254::{Bn254, Fr, G1Affine, G2Affine};
use ark_ec::CurveGroup;
use ark_ec::pairing::Pairing;
use ark_ff::{PrimeField, Zero};

use crate::challenge::challenge;
use crate::errors::ProofError;
use crate::keys::{Kind, VerifyingKey};
use circuitize_curves::msm::msm;
use circuitize_curves::points::{Reader, put, put_g1, put_g2};
use circuitize_curves::signed;

/// A in G1, B in G2, C in G1, and with a commitment D in G1.
pub struct Proof {
    /// In G1.
    pub a: G1Affine,
    /// In G2.
    pub b: G2Affine,
    /// In G1.
    pub c: G1Affine,
    /// The commitment, in G1.
    pub d: Option<G1Affine>,
}

/// Bytes of an encoded proof: A, B, C (and D) in affine coordinates of 32 bytes each.
fn proof_bytes(kind: Kind) -> usize {
    match kind {
        Kind::Groth16 => 256,
        Kind::Mirage => 320,
    }
}

impl Proof {
    /// The inverse of `decode`.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(proof_bytes(Kind::Mirage));
        put_g1(&mut bytes, &self.a);
        put_g2(&mut bytes, &self.b);
        put_g1(&mut bytes, &self.c);
        if let Some(d) = &self.d {
            put_g1(&mut bytes, d);
        }
        bytes
    }

    /// Refuses wrong lengths, coordinates of q or more, points off the curve, outside the group of order r, or at
    /// infinity.
    pub fn decode(bytes: &[u8], kind: Kind) -> Result<Self, ProofError> {
        let expected = proof_bytes(kind);
        if bytes.len() != expected {
            let found = bytes.len();
            return Err(ProofError::Length { found, expected });
        }
        let mut reader = Reader::new(bytes);
        let proof = Self {
            a: reader.g1("A")?,
            b: reader.g2("B")?,
            c: reader.g1("C")?,
            d: match kind {
                Kind::Groth16 => None,
                Kind::Mirage => Some(reader.g1("D")?),
            },
        };
        Ok(proof)
    }
}

/// Whether e(A, B) = e(alpha, beta) e(sum of x_i inputs_i, gamma) e(C, delta), with a commitment times e(D, its delta).
pub fn holds(key: &VerifyingKey, publics: &[Fr], proof: &Proof) -> bool {
    if publics.len() != key.public() || proof.d.is_some() != key.committed.is_some() {
        return false;
    }
    let index = (0..publics.len() as u32).collect::<Vec<_>>();
    let inputs = msm(&key.inputs[1..], &index, &signed::from_fields(publics)) + key.inputs[0];
    let mut left = vec![-proof.a, key.alpha_g1, inputs.into_affine(), proof.c];
    let mut right = vec![proof.b, key.beta_g2, key.gamma_g2, key.delta_g2];
    left.extend(proof.d);
    right.extend(key.committed.as_ref().map(|committed| committed.delta_g2));
    Bn254::multi_pairing(left, right).is_zero()
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

/// Verifies the bytes of a proof of Groth16: some witness with these publics satisfies the key's system.
///
/// `publics` are outputs, then inputs, as the verifier knows them. Soundness: docs/groth16.md.
pub fn verify(key: &VerifyingKey, publics: &[Fr], proof: &[u8]) -> Result<(), ProofError> {
    key.require(Kind::Groth16)?;
    if publics.len() != key.public() {
        return Err(ProofError::Publics {
            found: publics.len(),
            expected: key.public(),
            challenge: false,
        });
    }
    decided(key, publics, &Proof::decode(proof, Kind::Groth16)?)
}

/// The same of a proof with a commitment; `publics` are all but the challenge, which follows from them and from D.
pub fn verify_mirage(key: &VerifyingKey, publics: &[Fr], proof: &[u8]) -> Result<(), ProofError> {
    let mut publics = given_publics(key, publics)?.to_vec();
    let proof = Proof::decode(proof, Kind::Mirage)?;
    if let Some(d) = &proof.d {
        publics.push(challenge(key, &publics, d));
    }
    decided(key, &publics, &proof)
}

/// The publics of a statement: all but the challenge.
pub fn given_publics<'a>(key: &VerifyingKey, publics: &'a [Fr]) -> Result<&'a [Fr], ProofError> {
    key.require(Kind::Mirage)?;
    if publics.len() + 1 != key.public() {
        return Err(ProofError::Publics {
            found: publics.len(),
            expected: key.public() - 1,
            challenge: true,
        });
    }
    Ok(publics)
}

fn decided(key: &VerifyingKey, publics: &[Fr], proof: &Proof) -> Result<(), ProofError> {
    if holds(key, publics, proof) {
        Ok(())
    } else {
        Err(ProofError::Equation)
    }
}
