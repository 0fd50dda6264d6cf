//! Groth16 over BN254, for Python: set up, prove and verify over borrowed matrices.

mod ceremony;
mod key_file;
mod keys;
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
