//! Groth16 over BN254, plain and with a commitment: set up, prove and verify.

pub mod ceremony;
pub mod commitment;
pub mod key_encoder;
pub mod key_file;
pub mod keys;
pub mod prove;
pub mod reduction;
pub mod setup;
pub mod system;
pub mod verify;
