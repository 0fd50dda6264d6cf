//! Proving and verifying keys in memory.

use ark_bn254::{G1Affine, G2Affine};
use ark_ec::short_weierstrass::{Affine, SWCurveConfig};

/// Who knows the secrets behind a key: one machine in development, nobody after an honest ceremony.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Setup {
    Development = 1,
    Ceremony = 2,
}

impl Setup {
    pub fn name(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Ceremony => "ceremony",
        }
    }

    pub fn from_code(code: u32) -> Option<Self> {
        [Self::Development, Self::Ceremony].into_iter().find(|setup| *setup as u32 == code)
    }
}

/// Groth16's verifying key, with the circuit it belongs to.
#[derive(Clone)]
pub struct VerifyingKey {
    pub setup: Setup,
    pub digest: [u8; 32],
    pub alpha_g1: G1Affine,
    pub beta_g2: G2Affine,
    pub gamma_g2: G2Affine,
    pub delta_g2: G2Affine,
    /// One point for the constant, then one for each public wire.
    pub inputs: Vec<G1Affine>,
}

impl VerifyingKey {
    pub fn public(&self) -> usize {
        self.inputs.len() - 1
    }
}

/// Points for those wires where they are not the identity: `points[i]` belongs to wire `wires[i]`.
pub struct Query<P: SWCurveConfig> {
    pub wires: Vec<u32>,
    pub points: Vec<Affine<P>>,
}

/// Groth16's proving key: 320 bytes for a wire that all matrices read, and 64 for a point of the domain.
pub struct ProvingKey {
    pub verifying: VerifyingKey,
    pub wires: usize,
    pub rows: usize,
    pub beta_g1: G1Affine,
    pub delta_g1: G1Affine,
    pub a: Query<ark_bn254::g1::Config>,
    pub b_g1: Query<ark_bn254::g1::Config>,
    /// Over the wires of `b_g1`.
    pub b_g2: Vec<G2Affine>,
    /// Private wires only.
    pub l: Query<ark_bn254::g1::Config>,
    /// Lagrange points of the coset, over delta.
    pub h: Vec<G1Affine>,
}
