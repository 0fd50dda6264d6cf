//! Keys: commitments to a system's fixed columns and copies, bound to its digest, and the reference string.

use std::sync::Arc;

use ark_ff::AdditiveGroup;
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine, G2Affine};
use halo2_axiom::plonk::{self, permutation};
use halo2_axiom::poly::EvaluationDomain;
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use rayon::prelude::*;

use crate::convert::{g2_from_ark, to_ark_scalar, to_ark_scalars};
use crate::scheme::{Bases, verifying};
use crate::shape::Shape;
use crate::srs::Srs;
use crate::system::{System, sizes};
use circuitize_curves::entropy::Entropy;
use circuitize_curves::keys::Setup;

/// What a key is made from and bound to.
#[derive(Clone)]
pub struct Origin {
    pub setup: Setup,
    pub digest: [u8; 32],
}

/// What a verifier holds: the system's shape, commitments to its columns, and tau in G2.
pub struct VerifyingKey {
    pub origin: Origin,
    pub shape: Arc<Shape>,
    pub tau_g2: G2Affine,
    pub k: u32,
    /// The SHA-256 of the key's file: what a transcript begins with.
    pub checksum: [u8; 32],
    pub key: plonk::VerifyingKey<G1Affine>,
    pub parameters: ParamsKZG<Bn256>,
}

impl VerifyingKey {
    /// ValueError's message where the parts do not belong together.
    pub fn new(
        origin: Origin,
        shape: Arc<Shape>,
        tau_g2: G2Affine,
        fixed: Vec<G1Affine>,
        permutation: Vec<G1Affine>,
    ) -> Result<Self, String> {
        if (fixed.len(), permutation.len()) != (shape.fixed, shape.copied.len()) {
            return Err("other numbers of commitments than of columns".into());
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
        key.checksum = super::key_file::checksum(&key);
        Ok(key)
    }

    pub fn degree(&self) -> usize {
        self.key.cs().degree()
    }
}

/// A verifying key and the reference string. The polynomials of the columns are computed again from the system.
pub struct ProvingKey {
    pub verifying: Arc<VerifyingKey>,
    pub srs: Arc<Srs>,
    pub bases: Bases,
}

/// Where the reference string comes from.
pub enum Source<'a> {
    Development(Entropy),
    /// The powers in G1, the Lagrange basis, and tau in G2.
    Ceremony([&'a [u8]; 3]),
}

pub fn setup(
    system: &System,
    digest: [u8; 32],
    source: Source,
    report: &dyn Fn(&'static str) -> Result<(), String>,
) -> Result<ProvingKey, String> {
    let sizes = sizes(&system.shape)?;
    let domain = EvaluationDomain::new(sizes.constraints.degree() as u32, sizes.k);
    let root = to_ark_scalar(&domain.get_omega());
    report("powers")?;
    let (setup, srs) = match source {
        Source::Development(mut entropy) => {
            (Setup::Development, Srs::development(sizes.k, root, &mut entropy)?)
        }
        Source::Ceremony([monomial, lagrange, tau]) => (
            Setup::Ceremony,
            Srs::ceremony(sizes.k, root, monomial, lagrange, tau)?,
        ),
    };
    let srs = Arc::new(srs);
    let bases = Bases::new(srs.clone());
    report("commitments")?;
    let size = 1usize << sizes.k;
    let committed = |columns: Vec<Vec<Fr>>| -> Vec<G1Affine> {
        let commit = |column: Vec<Fr>| {
            let mut values = to_ark_scalars(&column);
            values.resize(size, ark_bn254::Fr::ZERO);
            bases.values(&values)
        };
        columns.into_par_iter().map(commit).collect()
    };
    let verifying = VerifyingKey::new(
        Origin { setup, digest },
        system.shape.clone(),
        g2_from_ark(&srs.tau_g2),
        committed(system.fixed.clone()),
        committed(system.permutations(&domain)),
    )?;
    Ok(ProvingKey {
        verifying: Arc::new(verifying),
        srs,
        bases,
    })
}
