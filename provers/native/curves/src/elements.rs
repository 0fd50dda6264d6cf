//! Field elements as their limbs.

#![warn(missing_docs)]

use std::fmt;

use ark_bn254::Fr;
use ark_ff::{BigInt, PrimeField};
use rayon::prelude::*;

/// What is wrong with the element at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementError {
    /// It has fewer than four limbs.
    Short {
        /// What the elements are, as messages call one.
        what: &'static str,
        /// Its number among them.
        place: usize,
    },
    /// It is the field's prime or more: it is refused, not reduced.
    Range {
        /// What the elements are, as messages call one.
        what: &'static str,
        /// Its number among them.
        place: usize,
    },
}

impl fmt::Display for ElementError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { what, place } => write!(out, "{what} {place} has fewer than 4 limbs"),
            Self::Range { what, place } => write!(out, "{what} {place} is not below the field's prime"),
        }
    }
}

impl std::error::Error for ElementError {}

impl From<ElementError> for String {
    fn from(error: ElementError) -> Self {
        error.to_string()
    }
}

/// Elements that one thread converts at least: fewer are not worth a second thread.
const FEW: usize = 1 << 10;

/// Elements in normal form, four little-endian limbs each; values of r or more are refused.
pub fn field_elements(limbs: &[u64], what: &'static str) -> Result<Vec<Fr>, ElementError> {
    limbs
        .par_chunks(4)
        .with_min_len(FEW)
        .enumerate()
        .map(|(place, limbs)| {
            let limbs = <[u64; 4]>::try_from(limbs).map_err(|_| ElementError::Short { what, place })?;
            Fr::from_bigint(BigInt(limbs)).ok_or(ElementError::Range { what, place })
        })
        .collect()
}
