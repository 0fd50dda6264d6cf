//! Proofs of integer programs between tensors: sumchecks for contractions, a sum of fractions for lookups, WHIR for
//! commitments. Prover and verifier run one protocol.
//!
//! A verifier holds an [`instance::Instance`] of its own, which says what the proof must be of, and judges a proof's messages by
//! [`instance::Instance::verify`]; of the messages nothing is trusted. docs/tensor.md and docs/zero-knowledge.md say what a
//! proof that passes shows.

#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "vector instructions")]
mod abreast;
mod adjoints;
mod affine;
mod axis;
mod bottom;
pub mod channel;
mod checks;
pub mod claims;
mod columns;
pub mod commitment;
mod contraction;
pub mod counting;
pub mod cubic;
pub mod domain;
pub mod errors;
mod extension;
pub mod field;
mod folding;
mod fractions;
mod functional;
pub mod geometry;
mod grid;
#[expect(unsafe_code, reason = "vector instructions")]
#[cfg_attr(not(target_arch = "x86_64"), allow(unused, reason = "none are here"))]
mod hashes;
mod hidden;
mod hidden_value;
pub mod instance;
pub mod instructions;
mod joint;
#[expect(unsafe_code, reason = "vector instructions")]
#[cfg_attr(not(target_arch = "x86_64"), allow(unused, reason = "none are here"))]
mod lanes;
mod last;
mod later;
mod layer;
mod layout;
mod leaves;
mod letters;
mod made;
mod masked;
#[expect(unsafe_code, reason = "zeros of the operating system")]
mod memory;
pub mod merkle;
mod multilinear;
#[expect(unsafe_code, reason = "columns shared among threads")]
mod ntt;
mod opening;
mod oracle;
mod padding;
mod pairs;
#[expect(unsafe_code, reason = "vector instructions")]
mod panels;
#[expect(unsafe_code, reason = "vector instructions")]
mod pieces;
mod places;
pub mod plan;
mod products;
pub mod protocol;
pub mod quadratic;
mod queries;
mod randomness;
#[expect(unsafe_code, reason = "vector instructions")]
pub mod rates;
pub mod records;
mod regroup;
pub mod rehearsal;
mod rounds;
mod runs;
mod sums;
mod tables;
mod tree;
mod two_rounds;
mod vectors;
pub mod view;
mod weight_tables;
#[expect(unsafe_code, reason = "vector instructions")]
mod within;
