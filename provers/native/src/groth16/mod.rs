//! Groth16 over BN254, for Python, plain and with a commitment: set up, prove and verify over borrowed matrices.

mod arrays;
mod ceremony;
mod commitment;
mod key_encoder;
mod key_file;
mod keys;
mod mirage;
mod points;
mod prove;
mod python;
mod reduction;
mod setup;
#[cfg(feature = "stock")]
mod stock;
mod system;
mod verify;

pub use python::register;
