//! Verifying: of a proof nothing is trusted, and nothing about it raises.

#![warn(missing_docs)]

use halo2_axiom::halo2curves::bn256::{Bn256, Fr};
use halo2_axiom::plonk::{Error, verify_proof};
use halo2_axiom::poly::kzg::commitment::KZGCommitmentScheme;
use halo2_axiom::poly::kzg::multiopen::VerifierSHPLONK;
use halo2_axiom::poly::kzg::strategy::SingleStrategy;

use crate::errors::ProofError;
use crate::keys::VerifyingKey;
use crate::transcript::{Drawn, Keccak};

/// Verifies the bytes of a proof: some witness satisfies the key's system with these instance columns, which the verifier
/// knows to be those of its statement. Soundness: docs/halo2.md.
pub fn verify(key: &VerifyingKey, instances: &[Vec<Fr>], proof: &[u8]) -> Result<(), ProofError> {
    let lengths = instances.iter().map(Vec::len).collect::<Vec<_>>();
    if lengths != key.shape.instances {
        return Err(ProofError::Instances {
            found: lengths,
            expected: key.shape.instances.clone(),
        });
    }
    let columns = instances.iter().map(Vec::as_slice).collect::<Vec<_>>();
    let mut transcript = Keccak::new(&key.checksum, proof);
    let strategy = SingleStrategy::<Bn256>::new(&key.parameters);
    type Scheme = KZGCommitmentScheme<Bn256>;
    verify_proof::<Scheme, VerifierSHPLONK<Bn256>, Drawn, _, _>(
        &key.parameters,
        &key.key,
        strategy,
        &[&columns],
        &mut transcript,
    )
    .map_err(|error| match error {
        Error::Transcript(error) => ProofError::Message(error.to_string()),
        _ => ProofError::Equations,
    })?;
    match transcript.stream.len() {
        0 => Ok(()),
        more => Err(ProofError::Trailing(more)),
    }
}
