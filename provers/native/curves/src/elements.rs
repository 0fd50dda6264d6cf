//! Field elements as their limbs.

use ark_bn254::Fr;
use ark_ff::{BigInt, PrimeField};
use rayon::prelude::*;

/// Elements in normal form, four little-endian limbs each; values of r or more are refused.
pub fn field_elements(limbs: &[u64], what: &str) -> Result<Vec<Fr>, String> {
    limbs
        .par_chunks(4)
        .enumerate()
        .map(|(i, limbs)| {
            let limbs =
                <[u64; 4]>::try_from(limbs).map_err(|_| format!("{what} {i} has fewer than 4 limbs"))?;
            Fr::from_bigint(BigInt(limbs)).ok_or_else(|| format!("{what} {i} is not below the field's prime"))
        })
        .collect()
}
