//! KZG commitments by this crate's own multi-scalar multiplication, which is fast where most values are small.

use std::io;
use std::sync::Arc;

use ark_ec::CurveGroup;
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1, G1Affine, G2Affine};
use halo2_axiom::poly::commitment::{Blind, CommitmentScheme, Params, ParamsProver, Prover};
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use halo2_axiom::poly::kzg::msm::MSMKZG;
use halo2_axiom::poly::kzg::multiopen::ProverSHPLONK;
use halo2_axiom::poly::{Coeff, LagrangeCoeff, Polynomial, ProverQuery};
use halo2_axiom::transcript::{EncodedChallenge, TranscriptWrite};
use rand_core::{OsRng, RngCore};
use rayon::prelude::*;

use super::convert::{from_ark, g2_from_ark, normal};
use super::srs::Srs;
use crate::msm::msm;
use crate::signed;

/// What a verifier needs of the reference string, as the crate holds it.
pub fn verifying(k: u32, tau_g2: G2Affine) -> ParamsKZG<Bn256> {
    parameters(k, vec![G1Affine::generator()], tau_g2)
}

fn parameters(k: u32, g: Vec<G1Affine>, tau_g2: G2Affine) -> ParamsKZG<Bn256> {
    // The crate makes parameters of given parts only from others.
    ParamsKZG::<Bn256>::setup(1, OsRng).from_parts(k, g, Some(Vec::new()), G2Affine::generator(), tau_g2)
}

/// The bases of commitments: once for this crate's sums, and the powers once more for the opening.
#[derive(Clone)]
pub struct Bases {
    k: u32,
    srs: Arc<Srs>,
    index: Arc<Vec<u32>>,
    opening: Arc<ParamsKZG<Bn256>>,
}

impl Bases {
    pub fn new(k: u32, srs: Arc<Srs>) -> Self {
        let powers = srs.monomial.par_iter().map(from_ark).collect();
        let opening = parameters(k, powers, g2_from_ark(&srs.tau_g2));
        Self {
            k,
            index: Arc::new((0..1 << k).collect()),
            opening: Arc::new(opening),
            srs,
        }
    }

    fn sum(&self, points: &[ark_bn254::G1Affine], values: &[Fr]) -> G1 {
        let integers = values
            .par_iter()
            .with_min_len(1024)
            .map(|value| signed::from_normal::<ark_bn254::Fr>(&normal(value)))
            .collect::<Vec<_>>();
        let sum = msm(points, &self.index[..values.len()], &integers);
        from_ark(&sum.into_affine()).into()
    }

    /// To the polynomial with these values on the domain.
    pub fn values(&self, values: &[ark_bn254::Fr]) -> G1Affine {
        from_ark(&msm(&self.srs.lagrange, &self.index, &signed::from_fields(values)).into_affine())
    }

    /// To the polynomial with these coefficients, in natural order.
    pub fn coefficients(&self, coefficients: &[ark_bn254::Fr]) -> G1Affine {
        from_ark(&msm(&self.srs.monomial, &self.index, &signed::from_fields(coefficients)).into_affine())
    }

    pub fn commit_values(&self, values: &[Fr]) -> G1 {
        self.sum(&self.srs.lagrange, values)
    }
}

/// KZG as the prover computes it.
#[derive(Debug)]
pub struct Kzg;

impl CommitmentScheme for Kzg {
    type Scalar = Fr;
    type Curve = G1Affine;
    type ParamsProver = Bases;
    type ParamsVerifier = ParamsKZG<Bn256>;

    fn new_params(_: u32) -> Bases {
        unreachable!("made from a reference string")
    }

    fn read_params<R: io::Read>(_: &mut R) -> io::Result<Bases> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl<'params> Params<'params, G1Affine> for Bases {
    type MSM = MSMKZG<Bn256>;

    fn k(&self) -> u32 {
        self.k
    }

    fn n(&self) -> u64 {
        1 << self.k
    }

    fn downsize(&mut self, _: u32) {
        unreachable!("made in the size that is used")
    }

    fn empty_msm(&'params self) -> MSMKZG<Bn256> {
        MSMKZG::new()
    }

    fn commit_lagrange(&self, poly: &Polynomial<Fr, LagrangeCoeff>, _: Blind<Fr>) -> G1 {
        self.commit_values(poly)
    }

    fn write<W: io::Write>(&self, _: &mut W) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn read<R: io::Read>(_: &mut R) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl<'params> ParamsProver<'params, G1Affine> for Bases {
    type ParamsVerifier = ParamsKZG<Bn256>;

    fn new(_: u32) -> Self {
        unreachable!("made from a reference string")
    }

    fn commit(&self, poly: &Polynomial<Fr, Coeff>, _: Blind<Fr>) -> G1 {
        self.sum(&self.srs.monomial, poly)
    }

    fn get_g(&self) -> &[G1Affine] {
        self.opening.get_g()
    }

    fn verifier_params(&'params self) -> &'params ParamsKZG<Bn256> {
        &self.opening
    }
}

/// Boneh, Drake, Fisch, Gabizon, "Efficient polynomial commitment schemes for multiple points and polynomials".
#[derive(Debug)]
pub struct Shplonk<'params>(&'params Bases);

impl<'params> Prover<'params, Kzg> for Shplonk<'params> {
    const QUERY_INSTANCE: bool = false;

    fn new(bases: &'params Bases) -> Self {
        Self(bases)
    }

    fn create_proof<'com, E, T, R, I>(&self, rng: R, transcript: &mut T, queries: I) -> io::Result<()>
    where
        E: EncodedChallenge<G1Affine>,
        T: TranscriptWrite<G1Affine, E>,
        I: IntoIterator<Item = ProverQuery<'com, G1Affine>> + Clone,
        R: RngCore,
    {
        ProverSHPLONK::new(&self.0.opening).create_proof(rng, transcript, queries)
    }
}

impl std::fmt::Debug for Bases {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Bases(2^{})", self.k)
    }
}
