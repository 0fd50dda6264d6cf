//! What a prover fixes before the challenge is drawn, and the challenge that follows from it.
//!
//! The separated Groth16 of MIRAGE (Kosba, Papadopoulos, Papamanthou, Song, USENIX Security 2020).

use ark_bn254::{Fr, G1Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, PrimeField};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::challenge::challenge;
use crate::key_file::checksum;
use crate::keys::Kind;
use crate::proving_key::ProvingKey;
use crate::system::Witness;
use circuitize_curves::entropy::Entropy;
use circuitize_curves::msm::msm;

/// Limbs hashed at a time.
const HASHED: usize = 1 << 12;

/// A commitment with what opens it; it serves one proof, and its blinding is wiped when dropped.
pub struct Opening {
    pub d: G1Affine,
    pub challenge: Fr,
    pub kappa: Zeroizing<Fr>,
    key: [u8; 32],
    committed: [u8; 32],
}

/// The hash of a witness' first part, without the challenge.
fn hash(limbs: &[u64], public: usize) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in [&limbs[..4 * public], &limbs[4 * (public + 1)..]] {
        for limbs in part.chunks(HASHED) {
            let bytes = limbs.iter().flat_map(|limb| limb.to_le_bytes());
            hasher.update(bytes.collect::<Vec<_>>());
        }
    }
    hasher.finalize().into()
}

/// Commits to the committed wires of `first`: the constant, the publics and those wires; the challenge is still 0 in it.
pub fn commit(key: &ProvingKey, first: &[u64], entropy: &mut Entropy) -> Result<Opening, String> {
    key.verifying.require(Kind::Mirage)?;
    let Some(part) = &key.d else {
        return Err("the key has no points to commit with".into());
    };
    let public = key.verifying.public();
    let witness = Witness::new(first, 1 + public + key.verifying.committed())?;
    if witness.fields[public] != Fr::ZERO {
        return Err(format!(
            "wire {public}, the challenge: expected 0 before it is drawn, found another value"
        ));
    }
    let sum = msm(&part.query.points, &part.query.wires, &witness.integers);
    let (d, kappa) = loop {
        let kappa = Zeroizing::new(entropy.scalar()?);
        let d = (sum + key.delta_g1 * *kappa).into_affine();
        if !d.is_zero() {
            break (d, kappa);
        }
    };
    Ok(Opening {
        d,
        challenge: challenge(&key.verifying, &witness.fields[1..public], &d),
        kappa,
        key: checksum(&key.verifying),
        committed: hash(first, public),
    })
}

impl Opening {
    /// Refuses a whole witness that is not the one committed to, or that holds another challenge.
    pub fn check(&self, key: &ProvingKey, witness: &[u64]) -> Result<(), String> {
        if self.key != checksum(&key.verifying) {
            return Err("the commitment was made with another key".into());
        }
        let public = key.verifying.public();
        let end = 4 * (1 + public + key.verifying.committed());
        let (Some(first), Some(found)) = (witness.get(..end), witness.get(4 * public..4 * public + 4)) else {
            return Err(format!("witness of {} limbs: it is cut short", witness.len()));
        };
        if self.committed != hash(first, public) {
            return Err("the witness differs from what was committed to: commit again".into());
        }
        if found != self.challenge.into_bigint().0 {
            return Err(format!(
                "wire {public}, the challenge: expected the one that follows from the commitment, found another value"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ark_ff::BigInteger;

    use super::*;
    use crate::errors::KeyError;
    use crate::key_file::{decode_verifying, encode_verifying};
    use crate::keys::Kind;
    use crate::setup::setup;
    use crate::system::{Matrix, System};

    /// x * x = y with x committed; wires 1, y, challenge, x.
    fn key() -> ProvingKey {
        let square = |wires| Matrix {
            offsets: &[0, 1],
            wires,
            coefficients: &[1],
        };
        let matrices = [square(&[3]), square(&[3]), square(&[1])];
        System::new(matrices, &[], 4, 2)
            .and_then(|system| system.committing(1))
            .and_then(|system| setup(&system, [7; 32], &mut Entropy::seeded(b"seed"), &|_| Ok(())))
            .unwrap_or_else(|message| panic!("{message}"))
    }

    fn witness(y: u64, challenge: [u64; 4], x: u64) -> Vec<u64> {
        let small = |value| [value, 0, 0, 0];
        [small(1), small(y), challenge, small(x)].concat()
    }

    #[test]
    fn an_opening_is_of_one_witness_and_one_key() {
        let key = key();
        let commit =
            || commit(&key, &witness(49, [0; 4], 7), &mut Entropy::System).unwrap_or_else(|e| panic!("{e}"));
        let opening = commit();
        let drawn = opening.challenge.into_bigint().0;
        assert_eq!(opening.check(&key, &witness(49, drawn, 7)), Ok(()));
        let refused = |witness: &[u64]| opening.check(&key, witness).unwrap_err();
        assert!(refused(&witness(49, drawn, 8)).contains("differs"));
        assert!(refused(&witness(50, drawn, 7)).contains("differs"));
        assert!(refused(&witness(49, [5, 0, 0, 0], 7)).contains("challenge"));
        assert!(refused(&witness(49, drawn, 7)[..12]).contains("cut short"));
        let mut other = self::key();
        other.verifying.digest = [8; 32];
        assert!(
            opening
                .check(&other, &witness(49, drawn, 7))
                .unwrap_err()
                .contains("another key")
        );
        assert_ne!(commit().challenge, opening.challenge);
    }

    #[test]
    fn a_challenge_binds_key_publics_and_point() {
        let key = key();
        let d = G1Affine::generator();
        let value = challenge(&key.verifying, &[Fr::from(49u64)], &d);
        assert!(value.into_bigint().num_bits() <= 253);
        assert_ne!(value, challenge(&key.verifying, &[Fr::from(50u64)], &d));
        assert_ne!(value, challenge(&key.verifying, &[Fr::from(49u64)], &-d));
        let mut other = key.verifying.clone();
        other.digest[0] ^= 1;
        assert_ne!(value, challenge(&other, &[Fr::from(49u64)], &d));
    }

    #[test]
    fn verifying_keys_survive_their_files_and_weak_ones_do_not() {
        let mut key = key().verifying;
        let bytes = encode_verifying(&key);
        let read = decode_verifying(&bytes, Kind::Mirage).unwrap_or_else(|message| panic!("{message}"));
        assert_eq!(encode_verifying(&read), bytes);
        assert!(decode_verifying(&bytes, Kind::Groth16).is_err());
        assert_eq!(checksum(&key), bytes[bytes.len() - 32..]);
        for weak in [key.gamma_g2, -key.gamma_g2, key.delta_g2, -key.delta_g2] {
            if let Some(committed) = &mut key.committed {
                committed.delta_g2 = weak;
            }
            let refusal = decode_verifying(&encode_verifying(&key), Kind::Mirage).err();
            assert!(matches!(refusal, Some(KeyError::Forgeable(_))));
        }
    }
}
