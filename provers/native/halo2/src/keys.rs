//! Verifying keys: a system's shape, commitments to its columns and copies, bound to its digest.

#![warn(missing_docs)]

use std::sync::Arc;

use circuitize_curves::keys::Setup;
use halo2_axiom::halo2curves::bn256::{Bn256, G1Affine, G2Affine};
use halo2_axiom::plonk::{self, permutation};
use halo2_axiom::poly::EvaluationDomain;
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use rand_core::OsRng;

use crate::circuit::sizes;
use crate::errors::KeyError;
use crate::key_file::checksum;
use crate::shape::Shape;

/// What a key is made from and bound to.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Who may know its secrets, by the word of whoever made its file.
    pub setup: Setup,
    /// The program's, whose constraint system this key is for.
    pub digest: [u8; 32],
}

/// What a verifier holds: the system's shape, commitments to its columns, and tau in G2.
pub struct VerifyingKey {
    /// What it is bound to.
    pub origin: Origin,
    /// The system's shape, checked.
    pub shape: Arc<Shape>,
    /// tau in G2.
    pub tau_g2: G2Affine,
    /// The logarithm of the rows, blinding included.
    pub k: u32,
    /// The SHA-256 of the key's file: what a transcript begins with.
    pub checksum: [u8; 32],
    /// The same, as the crate holds it.
    pub key: plonk::VerifyingKey<G1Affine>,
    /// What the crate needs of the reference string.
    pub parameters: ParamsKZG<Bn256>,
}

impl VerifyingKey {
    /// An error where the parts do not belong together.
    pub fn new(
        origin: Origin,
        shape: Arc<Shape>,
        tau_g2: G2Affine,
        fixed: Vec<G1Affine>,
        permutation: Vec<G1Affine>,
    ) -> Result<Self, KeyError> {
        if (fixed.len(), permutation.len()) != (shape.fixed, shape.copied.len()) {
            return Err(KeyError::Commitments);
        }
        let sizes = sizes(&shape)?;
        let domain = EvaluationDomain::new(sizes.constraints.degree() as u32, sizes.k);
        let permutation = permutation::VerifyingKey::from_commitments(permutation);
        let key =
            plonk::VerifyingKey::from_parts(domain, fixed, permutation, sizes.constraints, Vec::new(), false);
        let mut key = Self {
            origin,
            shape,
            tau_g2,
            k: sizes.k,
            checksum: [0; 32],
            key,
            parameters: verifying(sizes.k, tau_g2),
        };
        key.checksum = checksum(&key);
        Ok(key)
    }

    /// The degree of the argument.
    pub fn degree(&self) -> usize {
        self.key.cs().degree()
    }
}

/// What a verifier needs of the reference string, as the crate holds it.
fn verifying(k: u32, tau_g2: G2Affine) -> ParamsKZG<Bn256> {
    let powers = vec![G1Affine::generator()];
    // The crate makes parameters of given parts only from others.
    ParamsKZG::<Bn256>::setup(1, OsRng).from_parts(k, powers, Some(Vec::new()), G2Affine::generator(), tau_g2)
}
