//! Plonkish constraint systems proved with halo2 (KZG over BN254), for Python: set up, prove and verify over arrays.

mod answers;
mod argue;
mod arrays;
mod circuit;
mod convert;
mod key_file;
mod keys;
mod lookup;
mod opening;
mod polynomial;
mod products;
mod program;
mod prove;
mod python;
mod python_keys;
mod quotient;
mod satisfied;
mod scheme;
mod shape;
mod shape_file;
mod srs;
mod system;
mod transcript;
mod verify;

pub use python::register;
