//! Groth16 over BN254, for Python, plain and with a commitment: set up, prove and verify over borrowed matrices.

pub mod arrays;
mod ceremony;
mod commitment;
mod key_encoder;
pub mod key_file;
pub mod keys;
mod mirage;
pub mod points;
mod prove;
pub mod python;
pub mod python_keys;
mod reduction;
pub mod setup;
#[cfg(feature = "stock")]
mod stock;
mod system;
mod verify;

pub use python::register;
