//! Plonkish constraint systems proved with halo2 (KZG over BN254): set up, prove and verify.

mod answers;
mod argue;
mod circuit;
pub mod convert;
pub mod key_file;
pub mod keys;
mod lookup;
mod opening;
mod polynomial;
mod products;
mod program;
pub mod prove;
mod quotient;
mod satisfied;
mod scheme;
pub mod shape;
mod shape_file;
mod srs;
pub mod system;
pub mod transcript;
pub mod verify;
