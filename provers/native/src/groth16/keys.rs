//! Proving and verifying keys in memory.

use ark_bn254::{G1Affine, G2Affine};
use ark_ec::short_weierstrass::{Affine, SWCurveConfig};

use super::points::{G1_BYTES, G2_BYTES, Reader, put_g1, put_g2};

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

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Development, Self::Ceremony]
            .into_iter()
            .find(|setup| setup.name() == name)
    }

    pub fn from_code(code: u32) -> Option<Self> {
        [Self::Development, Self::Ceremony]
            .into_iter()
            .find(|setup| *setup as u32 == code)
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

    /// alpha, beta, gamma, delta, then the inputs: affine coordinates in normal form.
    pub fn points(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(points_bytes(self.inputs.len()).unwrap_or(0));
        put_g1(&mut bytes, &self.alpha_g1);
        for point in [&self.beta_g2, &self.gamma_g2, &self.delta_g2] {
            put_g2(&mut bytes, point);
        }
        self.inputs.iter().for_each(|point| put_g1(&mut bytes, point));
        bytes
    }

    /// The inverse of `points`; every point is checked to be in its group, and none to be the identity.
    ///
    /// A key whose delta is gamma, up to sign, is refused: A = alpha, B = beta and C = minus the sum of the public inputs'
    /// points (up to the same sign) would pass for any publics. snarkjs writes such keys before the first contribution.
    pub fn from_points(setup: Setup, digest: [u8; 32], bytes: &[u8]) -> Result<Self, String> {
        let inputs = bytes.len().saturating_sub(points_bytes(0).unwrap_or(0)) / G1_BYTES;
        if inputs == 0 || points_bytes(inputs) != Some(bytes.len()) {
            return Err(format!(
                "{} bytes do not make the points of a verifying key",
                bytes.len()
            ));
        }
        let mut reader = Reader::new(bytes);
        let key = Self {
            setup,
            digest,
            alpha_g1: reader.g1("alpha")?,
            beta_g2: reader.g2("beta")?,
            gamma_g2: reader.g2("gamma")?,
            delta_g2: reader.g2("delta")?,
            inputs: (0..inputs)
                .map(|i| reader.g1(&format!("input {i}")))
                .collect::<Result<_, _>>()?,
        };
        if key.delta_g2 == key.gamma_g2 || key.delta_g2 == -key.gamma_g2 {
            return Err(
                "delta is gamma up to its sign: nobody has contributed to this key yet, anyone can forge proofs for it"
                    .into(),
            );
        }
        Ok(key)
    }
}

/// Bytes of a verifying key's points; None where they do not fit.
pub fn points_bytes(inputs: usize) -> Option<usize> {
    inputs
        .checked_add(1)?
        .checked_mul(G1_BYTES)?
        .checked_add(3 * G2_BYTES)
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
