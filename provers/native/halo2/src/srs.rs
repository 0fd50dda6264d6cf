//! The structured reference string: powers of a secret tau in the exponent, and the Lagrange basis at tau.

use std::collections::HashMap;

use ark_bn254::{Bn254, Fr, G1Affine, G2Affine};
use ark_ec::pairing::Pairing;
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, Field, Zero};
use rayon::prelude::*;
use zeroize::Zeroize;

use circuitize_curves::entropy::Entropy;
use circuitize_curves::fixed_base::FixedBase;
use circuitize_curves::msm::msm;
use circuitize_curves::ntt::powers;
use circuitize_curves::points::{G1_BYTES, G2_BYTES, g1_raw, g2_raw};
use circuitize_curves::signed;

/// tau^i G for i below 2^k, L_i(tau) G over the subgroup of the domain's root, and tau in G2.
#[derive(Clone)]
pub struct Srs {
    pub monomial: Vec<G1Affine>,
    pub lagrange: Vec<G1Affine>,
    pub tau_g2: G2Affine,
}

impl Srs {
    /// INSECURE: tau is drawn here, used and wiped; who could read it can prove anything.
    pub fn development(k: u32, root: Fr, entropy: &mut Entropy) -> Result<Self, String> {
        let size = 1usize << k;
        let mut tau = entropy.scalar()?;
        let vanishing = tau.pow([size as u64]) - Fr::from(1u64);
        if vanishing == Fr::ZERO {
            return Err("the drawn secret lies in the domain".into());
        }
        let base = FixedBase::new(G1Affine::generator(), 2 * size);
        let mut secrets = powers(tau, size);
        let monomial = base.multiples(&secrets);
        let points = powers(root, size);
        secrets = points.iter().map(|point| tau - point).collect();
        ark_ff::batch_inversion(&mut secrets);
        let mut scale = Fr::from(size as u64).inverse().unwrap_or_default() * vanishing;
        secrets
            .par_iter_mut()
            .zip(&points)
            .for_each(|(secret, point)| *secret *= scale * point);
        let lagrange = base.multiples(&secrets);
        let tau_g2 = (G2Affine::generator() * tau).into_affine();
        secrets.zeroize();
        tau.zeroize();
        scale.zeroize();
        Ok(Self {
            monomial,
            lagrange,
            tau_g2,
        })
    }

    /// The first 2^k powers of a prepared .ptau, its Lagrange basis for 2^k points, and tau in G2: all in Montgomery
    /// form. Every point is checked, and that the powers are powers, and the basis their transform.
    ///
    /// Soundness: of wrong powers a random combination passes with probability 2 / r; that nobody knows tau only the
    /// ceremony can show.
    pub fn ceremony(
        k: u32,
        root: Fr,
        monomial: &[u8],
        lagrange: &[u8],
        tau_g2: &[u8],
    ) -> Result<Self, String> {
        let size = 1usize << k;
        if (monomial.len(), lagrange.len(), tau_g2.len()) != (size * G1_BYTES, size * G1_BYTES, G2_BYTES) {
            return Err(format!("expected 2^{k} powers of tau, and the basis for as many"));
        }
        let monomial = checked(monomial, "the powers of tau")?;
        let unordered = checked(lagrange, "the Lagrange basis")?;
        let tau_g2 = g2_raw(tau_g2)
            .filter(|point| {
                !point.is_zero() && point.is_on_curve() && point.is_in_correct_subgroup_assuming_on_curve()
            })
            .ok_or("tau in G2 is not in its group")?;
        if monomial[0] != G1Affine::generator() {
            return Err("the first power of tau is not the generator".into());
        }
        if size > 1 && (monomial[1] == monomial[0] || tau_g2 == G2Affine::generator()) {
            return Err("tau is 1: nobody has contributed to these powers yet".into());
        }
        let lagrange = reorder(&unordered, root)?;
        let srs = Self {
            monomial,
            lagrange,
            tau_g2,
        };
        srs.check(root)?;
        Ok(srs)
    }

    fn check(&self, root: Fr) -> Result<(), String> {
        let size = self.monomial.len();
        let mut entropy = Entropy::System;
        let values = powers(entropy.scalar()?, size);
        let sum = |points: &[G1Affine], values: &[Fr]| {
            let index = (0..points.len() as u32).collect::<Vec<_>>();
            msm(points, &index, &signed::from_fields(values)).into_affine()
        };
        let low = sum(&self.monomial[..size - 1], &values[..size - 1]);
        let high = sum(&self.monomial[1..], &values[..size - 1]);
        let pairs = Bn254::multi_pairing([low, -high], [self.tau_g2, G2Affine::generator()]);
        if !pairs.is_zero() {
            return Err("the powers of tau are not powers of one secret".into());
        }
        // The polynomial with coefficients values[i] = v^i has the value (1 - (v w^j)^n) / (1 - v w^j) at w^j.
        let ratio = values.get(1).copied().unwrap_or_default();
        let mut inverses = powers(root, size)
            .into_iter()
            .map(|point| Fr::from(1u64) - ratio * point)
            .collect::<Vec<_>>();
        ark_ff::batch_inversion(&mut inverses);
        let numerator = Fr::from(1u64) - ratio.pow([size as u64]);
        inverses.iter_mut().for_each(|value| *value *= numerator);
        if sum(&self.monomial, &values) != sum(&self.lagrange, &inverses) {
            return Err("the Lagrange basis is not that of the powers of tau".into());
        }
        Ok(())
    }
}

fn checked(bytes: &[u8], name: &str) -> Result<Vec<G1Affine>, String> {
    bytes
        .par_chunks_exact(G1_BYTES)
        .map(|bytes| g1_raw(bytes).filter(|point| !point.is_zero() && point.is_on_curve()))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| format!("a point of {name} is not on the curve"))
}

/// snarkjs takes powers of another root of the same order: the same basis, in another order.
fn reorder(basis: &[G1Affine], root: Fr) -> Result<Vec<G1Affine>, String> {
    let size = basis.len();
    // 5^((r - 1) / 2^28) is snarkjs' root of order 2^28, as arkworks' is.
    let theirs = <Fr as ark_ff::FftField>::get_root_of_unity(size as u64).ok_or("no root of unity")?;
    let places: HashMap<Fr, usize> = powers(theirs, size).into_iter().zip(0..).collect();
    powers(root, size)
        .iter()
        .map(|point| places.get(point).map(|&place| basis[place]))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| "the root is not of this order".into())
}
