//! The tensor prover: sumchecks for contractions, a sum of fractions for lookups, WHIR for commitments.

mod bottom;
mod channel;
mod checks;
mod claims;
mod cubic;
mod equations;
mod extension;
mod field;
mod folding;
mod fractions;
mod functional;
mod hashes;
mod instructions;
mod lanes;
mod layer;
mod leaves;
mod masked;
mod memory;
mod merkle;
mod multilinear;
mod ntt;
mod opening;
mod oracle;
mod pairs;
mod panels;
mod plan;
mod products;
mod protocol;
mod python;
mod quadratic;
mod sums;
mod tree;
mod view;
mod whir;
mod within;

pub use python::register;
