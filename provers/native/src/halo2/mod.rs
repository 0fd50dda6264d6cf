//! Plonkish constraint systems proved with halo2 (KZG over BN254), for Python: set up, prove and verify over arrays.

mod circuit;
mod convert;
mod key_file;
mod keys;
mod prove;
mod python;
mod satisfied;
mod scheme;
mod shape;
mod srs;
mod system;
mod transcript;
mod verify;

pub use python::register;
