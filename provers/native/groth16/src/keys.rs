//! Proving and verifying keys in memory.

use ark_bn254::{G1Affine, G2Affine};
use ark_ec::short_weierstrass::{Affine, SWCurveConfig};

use circuitize_curves::keys::Setup;
use circuitize_curves::points::{G1_BYTES, G2_BYTES, Reader, put_g1, put_g2};

/// Which proofs a key is for: Groth16's, or those that also commit to the first private wires (MIRAGE).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Groth16,
    Mirage,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Groth16 => "groth16",
            Self::Mirage => "mirage",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Groth16, Self::Mirage]
            .into_iter()
            .find(|kind| kind.name() == name)
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
    /// Only in a key with a commitment; the last public wire is its challenge.
    pub committed: Option<Committed>,
    /// One point for the constant, then one for each public wire.
    pub inputs: Vec<G1Affine>,
}

/// The private wires that a commitment holds, the first ones behind the publics, and what it is paired with.
#[derive(Clone)]
pub struct Committed {
    pub wires: usize,
    pub delta_g2: G2Affine,
}

impl VerifyingKey {
    pub fn public(&self) -> usize {
        self.inputs.len() - 1
    }

    /// How many private wires the commitment holds; 0 without one.
    pub fn committed(&self) -> usize {
        self.committed.as_ref().map_or(0, |committed| committed.wires)
    }

    pub fn kind(&self) -> Kind {
        match self.committed {
            None => Kind::Groth16,
            Some(_) => Kind::Mirage,
        }
    }

    /// Refuses a key of the other kind.
    pub fn require(&self, kind: Kind) -> Result<(), String> {
        match self.kind() == kind {
            true => Ok(()),
            false => Err(other_kind(self.kind(), kind)),
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
    ) -> Result<Self, String> {
        let kind = committed.map_or(Kind::Groth16, |_| Kind::Mirage);
        let inputs = bytes.len().saturating_sub(points_bytes(kind, 0).unwrap_or(0)) / G1_BYTES;
        if inputs == 0 || points_bytes(kind, inputs) != Some(bytes.len()) {
            return Err(format!(
                "{} bytes do not make the points of a verifying key",
                bytes.len()
            ));
        }
        if committed == Some(0) || (kind == Kind::Mirage && inputs < 2) {
            return Err("it commits to nothing, or has no public wire for a challenge".into());
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
            return Err(
                "delta is gamma up to its sign: nobody has contributed to this key yet, anyone can forge proofs for it"
                    .into(),
            );
        }
        if let Some(Committed { delta_g2, .. }) = key.committed {
            for (name, other) in [("gamma", key.gamma_g2), ("delta", key.delta_g2)] {
                if same(delta_g2, other) {
                    return Err(format!(
                        "delta of the committed wires is {name} up to its sign: anyone can forge proofs for it"
                    ));
                }
            }
        }
        Ok(key)
    }
}

/// One line for a key that the other prover made.
pub fn other_kind(found: Kind, expected: Kind) -> String {
    format!(
        "a key for the prover {}, expected one for {}; remedy: use --prover {}, or make keys for {}",
        found.name(),
        expected.name(),
        found.name(),
        expected.name()
    )
}

/// Bytes of a verifying key's points; None where they do not fit.
pub fn points_bytes(kind: Kind, inputs: usize) -> Option<usize> {
    let pairs = match kind {
        Kind::Groth16 => 3,
        Kind::Mirage => 4,
    };
    inputs
        .checked_add(1)?
        .checked_mul(G1_BYTES)?
        .checked_add(pairs * G2_BYTES)
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
