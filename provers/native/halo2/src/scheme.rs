//! KZG commitments by this crate's own multi-scalar multiplication, which is fast where most values are small.

use std::sync::Arc;

use ark_bn254::Fr;
use ark_ec::CurveGroup;
use halo2_axiom::halo2curves::bn256::G1Affine;

use crate::convert::from_ark;
use crate::srs::Srs;
use circuitize_curves::msm::msm;
use circuitize_curves::signed;

/// The bases of commitments.
pub struct Bases {
    srs: Arc<Srs>,
    index: Vec<u32>,
}

impl Bases {
    pub fn new(srs: Arc<Srs>) -> Self {
        let index = (0..srs.monomial.len() as u32).collect();
        Self { srs, index }
    }

    /// To the polynomial with these values on the domain.
    pub fn values(&self, values: &[Fr]) -> G1Affine {
        from_ark(&msm(&self.srs.lagrange, &self.index, &signed::from_fields(values)).into_affine())
    }

    /// To the polynomial with these coefficients, in natural order.
    pub fn coefficients(&self, coefficients: &[Fr]) -> G1Affine {
        from_ark(
            &msm(
                &self.srs.monomial,
                &self.index,
                &signed::from_fields(coefficients),
            )
            .into_affine(),
        )
    }
}
