//! Verifying keys in memory.

#![warn(missing_docs)]

use ark_bn254::{G1Affine, G2Affine};

use crate::errors::{KeyError, OtherKind};
use circuitize_curves::keys::Setup;
use circuitize_curves::points::{G1_BYTES, G2_BYTES, Reader, put_g1, put_g2};

/// Which proofs a key is for: Groth16's, or those that also commit to the first private wires (MIRAGE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Three points, no commitment.
    Groth16,
    /// Four points: a commitment, from which the last public wire follows.
    Mirage,
}

impl Kind {
    /// How Python and messages call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Groth16 => "groth16",
            Self::Mirage => "mirage",
        }
    }

    /// The inverse of `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Groth16, Self::Mirage]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// Groth16's verifying key, with the circuit it belongs to.
#[derive(Clone)]
pub struct VerifyingKey {
    /// Who may know its secrets, by the word of whoever made its file.
    pub setup: Setup,
    /// The program's, whose circuit this key is for.
    pub digest: [u8; 32],
    /// alpha in G1.
    pub alpha_g1: G1Affine,
    /// beta in G2.
    pub beta_g2: G2Affine,
    /// gamma in G2.
    pub gamma_g2: G2Affine,
    /// delta in G2.
    pub delta_g2: G2Affine,
    /// Only in a key with a commitment; the last public wire is its challenge.
    pub committed: Option<Committed>,
    /// One point for the constant, then one for each public wire.
    pub inputs: Vec<G1Affine>,
}

/// The private wires that a commitment holds, the first ones behind the publics, and what it is paired with.
#[derive(Clone)]
pub struct Committed {
    /// How many.
    pub wires: usize,
    /// Their own delta.
    pub delta_g2: G2Affine,
}

impl VerifyingKey {
    /// How many public wires, a challenge included.
    pub fn public(&self) -> usize {
        self.inputs.len() - 1
    }

    /// How many private wires the commitment holds; 0 without one.
    pub fn committed(&self) -> usize {
        self.committed.as_ref().map_or(0, |committed| committed.wires)
    }

    /// Which proofs it verifies.
    pub fn kind(&self) -> Kind {
        match self.committed {
            None => Kind::Groth16,
            Some(_) => Kind::Mirage,
        }
    }

    /// Refuses a key of the other kind.
    pub fn require(&self, kind: Kind) -> Result<(), OtherKind> {
        let found = self.kind();
        match found == kind {
            true => Ok(()),
            false => Err(OtherKind {
                found,
                expected: kind,
            }),
        }
    }

    /// alpha, beta, gamma, delta, that of the committed wires, then the inputs: affine coordinates in normal form.
    pub fn points(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(points_bytes(self.kind(), self.inputs.len()).unwrap_or(0));
        put_g1(&mut bytes, &self.alpha_g1);
        for point in [&self.beta_g2, &self.gamma_g2, &self.delta_g2] {
            put_g2(&mut bytes, point);
        }
        if let Some(committed) = &self.committed {
            put_g2(&mut bytes, &committed.delta_g2);
        }
        self.inputs.iter().for_each(|point| put_g1(&mut bytes, point));
        bytes
    }

    /// The inverse of `points`; every point is checked to be in its group, and none to be the identity. `committed`
    /// is the number of committed wires of a key with a commitment.
    ///
    /// A key whose delta is gamma, up to sign, is refused: A = alpha, B = beta and C = minus the sum of the public inputs'
    /// points (up to the same sign) would pass for any publics. snarkjs writes such keys before the first contribution.
    /// Were the committed wires' delta one of the two, D would bind nothing: it could be chosen after the challenge.
    pub fn from_points(
        setup: Setup,
        digest: [u8; 32],
        committed: Option<usize>,
        bytes: &[u8],
    ) -> Result<Self, KeyError> {
        let kind = committed.map_or(Kind::Groth16, |_| Kind::Mirage);
        let inputs = bytes.len().saturating_sub(points_bytes(kind, 0).unwrap_or(0)) / G1_BYTES;
        if inputs == 0 || points_bytes(kind, inputs) != Some(bytes.len()) {
            return Err(KeyError::Points(bytes.len()));
        }
        if committed == Some(0) || (kind == Kind::Mirage && inputs < 2) {
            return Err(KeyError::Nothing);
        }
        let mut reader = Reader::new(bytes);
        let key = Self {
            setup,
            digest,
            alpha_g1: reader.g1("alpha")?,
            beta_g2: reader.g2("beta")?,
            gamma_g2: reader.g2("gamma")?,
            delta_g2: reader.g2("delta")?,
            committed: committed
                .map(|wires| {
                    reader
                        .g2("delta of the committed wires")
                        .map(|delta_g2| Committed { wires, delta_g2 })
                })
                .transpose()?,
            inputs: (0..inputs)
                .map(|i| reader.g1(&format!("input {i}")))
                .collect::<Result<_, _>>()?,
        };
        let same = |left: G2Affine, right: G2Affine| left == right || left == -right;
        if same(key.delta_g2, key.gamma_g2) {
            return Err(KeyError::Uncontributed);
        }
        if let Some(Committed { delta_g2, .. }) = key.committed {
            for (name, other) in [("gamma", key.gamma_g2), ("delta", key.delta_g2)] {
                if same(delta_g2, other) {
                    return Err(KeyError::Forgeable(name));
                }
            }
        }
        Ok(key)
    }
}

/// Bytes of a verifying key's points; None where they do not fit.
pub(crate) fn points_bytes(kind: Kind, inputs: usize) -> Option<usize> {
    let pairs = match kind {
        Kind::Groth16 => 3,
        Kind::Mirage => 4,
    };
    inputs
        .checked_add(1)?
        .checked_mul(G1_BYTES)?
        .checked_add(pairs * G2_BYTES)
}
