//! Proving keys in memory.

use ark_bn254::{G1Affine, G2Affine};
use ark_ec::short_weierstrass::{Affine, SWCurveConfig};

use crate::keys::VerifyingKey;

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
    /// Private wires only, without the committed ones.
    pub l: Query<ark_bn254::g1::Config>,
    /// Lagrange points of the coset, over delta.
    pub h: Vec<G1Affine>,
    /// Where the verifying key has committed wires.
    pub d: Option<CommitmentKey>,
}

/// What a commitment is made with.
pub struct CommitmentKey {
    /// That of the committed wires.
    pub delta_g1: G1Affine,
    /// Committed wires only, over that delta.
    pub query: Query<ark_bn254::g1::Config>,
}
