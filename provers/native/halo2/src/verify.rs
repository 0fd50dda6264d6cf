//! Verifying: of a proof nothing is trusted, and nothing about it raises.

use halo2_axiom::halo2curves::bn256::{Bn256, Fr};
use halo2_axiom::plonk::{Error, verify_proof};
use halo2_axiom::poly::kzg::commitment::KZGCommitmentScheme;
use halo2_axiom::poly::kzg::multiopen::VerifierSHPLONK;
use halo2_axiom::poly::kzg::strategy::SingleStrategy;

use crate::keys::VerifyingKey;
use crate::transcript::{Drawn, Keccak};

/// Why the proof does not show that some witness satisfies the key's system with these instance columns.
pub fn verify(key: &VerifyingKey, instances: &[Vec<Fr>], proof: &[u8]) -> Result<(), String> {
    let lengths = instances.iter().map(Vec::len).collect::<Vec<_>>();
    if lengths != key.shape.instances {
        return Err(format!(
            "public columns of lengths {lengths:?}; the key expects {:?}",
            key.shape.instances
        ));
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
        Error::Transcript(error) => error.to_string(),
        _ => "its equations do not hold".into(),
    })?;
    match transcript.stream.len() {
        0 => Ok(()),
        more => Err(format!("{more} bytes after the end of the proof")),
    }
}
