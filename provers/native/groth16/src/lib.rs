//! Groth16 over BN254, plain and with a commitment (MIRAGE): a verifier, and by the feature `prover`, the default, setup and
//! prover.
//!
//! A verifier holds a [`keys::VerifyingKey`] of its own, decoded by [`key_file::decode_verifying`], and public values that it
//! knows to be those of its statement; [`verify::verify`] and [`verify::verify_mirage`] then judge the bytes of a proof, of which
//! nothing is trusted. docs/groth16.md and docs/mirage.md say what a proof that passes shows, and what must be trusted.

#![forbid(unsafe_code)]

#[cfg(feature = "prover")]
pub mod ceremony;
pub mod challenge;
#[cfg(feature = "prover")]
pub mod commitment;
pub mod errors;
#[cfg(feature = "prover")]
pub mod key_encoder;
pub mod key_file;
pub mod keys;
#[cfg(feature = "prover")]
pub mod prove;
#[cfg(feature = "prover")]
pub mod proving_key;
#[cfg(feature = "prover")]
pub mod proving_key_file;
#[cfg(feature = "prover")]
pub mod reduction;
#[cfg(feature = "prover")]
pub mod satisfied;
#[cfg(feature = "prover")]
pub mod setup;
#[cfg(feature = "prover")]
pub mod system;
pub mod verify;
