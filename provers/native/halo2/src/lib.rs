//! Plonkish constraint systems over BN254 with KZG commitments: a verifier, which is halo2-axiom's over a transcript of our own,
//! and by the feature `prover`, the default, setup and prover.
//!
//! A verifier holds a [`keys::VerifyingKey`] of its own, decoded by [`key_file::decode_verifying`], and instance columns that it
//! knows to be those of its statement; [`verify::verify`] then judges the bytes of a proof, of which nothing is trusted.
//! docs/halo2.md says what a proof that passes shows, and what must be trusted.

#![forbid(unsafe_code)]

pub use halo2_axiom::halo2curves::bn256::Fr as Scalar;

#[cfg(feature = "prover")]
mod answers;
#[cfg(feature = "prover")]
mod argue;
pub mod circuit;
pub mod convert;
pub mod errors;
pub mod key_file;
pub mod keys;
#[cfg(feature = "prover")]
mod lookup;
#[cfg(feature = "prover")]
mod opening;
#[cfg(feature = "prover")]
mod polynomial;
#[cfg(feature = "prover")]
mod products;
#[cfg(feature = "prover")]
mod program;
#[cfg(feature = "prover")]
pub mod prove;
#[cfg(feature = "prover")]
pub mod proving_key;
#[cfg(feature = "prover")]
pub mod proving_key_file;
#[cfg(feature = "prover")]
mod quotient;
#[cfg(feature = "prover")]
mod satisfied;
#[cfg(feature = "prover")]
mod scheme;
pub mod shape;
mod shape_file;
#[cfg(feature = "prover")]
mod srs;
#[cfg(feature = "prover")]
pub mod system;
pub mod transcript;
pub mod verify;
