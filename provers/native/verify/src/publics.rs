//! Public values as the verifier knows them: integers modulo r, each in one spelling.

use std::fmt;

use ark_bn254::Fr;
use ark_ff::PrimeField;
use circuitize_curves::elements::{ElementError, field_elements};

/// The values of the public wires in their order: `circuitize.provers.statement.public_vector` makes them of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publics(Vec<Fr>);

/// Why bytes are no public values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublicsError {
    /// They are no multiple of 32 bytes.
    Length(usize),
    /// One of them is r or more.
    Element(ElementError),
    /// Another number of them than the key binds.
    Count {
        /// How many there are.
        found: usize,
        /// How many the key expects.
        expected: usize,
    },
}

impl fmt::Display for PublicsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(bytes) => write!(
                out,
                "expected 32 bytes for each public value, found {bytes} in all"
            ),
            Self::Element(error) => error.fmt(out),
            Self::Count { found, expected } => {
                write!(out, "{found} public values; the key expects {expected}")
            }
        }
    }
}

impl std::error::Error for PublicsError {}

impl Publics {
    /// Of 32 little-endian bytes each; values of r or more are refused, never reduced.
    pub fn decode(bytes: &[u8]) -> Result<Self, PublicsError> {
        if !bytes.len().is_multiple_of(32) {
            return Err(PublicsError::Length(bytes.len()));
        }
        let limb = |bytes: &[u8]| {
            bytes
                .iter()
                .rev()
                .fold(0u64, |sum, &byte| sum << 8 | u64::from(byte))
        };
        let limbs = bytes.chunks_exact(8).map(limb).collect::<Vec<_>>();
        let scalars = field_elements(&limbs, "public value").map_err(PublicsError::Element)?;
        Ok(Self(scalars))
    }

    pub(crate) fn scalars(&self) -> &[Fr] {
        &self.0
    }

    /// The same as instance columns of these lengths.
    pub(crate) fn columns(
        &self,
        lengths: &[usize],
    ) -> Result<Vec<Vec<circuitize_halo2::Scalar>>, PublicsError> {
        let expected = lengths.iter().sum();
        if self.0.len() != expected {
            let found = self.0.len();
            return Err(PublicsError::Count { found, expected });
        }
        let mut values = self.0.iter();
        let scalar = |value: &Fr| circuitize_halo2::Scalar::from_raw(value.into_bigint().0);
        let column = |&length: &usize| values.by_ref().take(length).map(scalar).collect();
        Ok(lengths.iter().map(column).collect())
    }
}
