//! Arithmetic over BN254 as provers need it: points, multi-scalar multiplications, transforms, secret scalars.

#![forbid(unsafe_code)]

pub mod affine;
#[cfg(feature = "prover")]
pub mod boxes;
mod buckets;
pub mod elements;
#[cfg(feature = "prover")]
pub mod entropy;
pub mod fixed_base;
pub mod keys;
pub mod lazy;
pub mod msm;
pub mod ntt;
pub mod points;
pub mod signed;
