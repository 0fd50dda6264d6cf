//! Proving keys: setup commits to a system's fixed columns and copies, over a reference string.

use std::sync::Arc;

use ark_ff::AdditiveGroup;
use circuitize_curves::entropy::Entropy;
use circuitize_curves::keys::Setup;
use halo2_axiom::halo2curves::bn256::{Fr, G1Affine};
use halo2_axiom::poly::EvaluationDomain;
use rayon::prelude::*;

use crate::circuit::sizes;
use crate::convert::{g2_from_ark, to_ark_scalar, to_ark_scalars};
use crate::keys::{Origin, VerifyingKey};
use crate::scheme::Bases;
use crate::srs::Srs;
use crate::system::System;

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
