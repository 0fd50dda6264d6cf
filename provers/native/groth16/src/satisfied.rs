//! Which rows of a system a witness breaks: the check of a witness without a key.

use rayon::prelude::*;

use crate::system::{System, Witness};

/// The rows, in ascending order, in which (A w) * (B w) differs from C w.
pub fn failing(system: &System, witness: &Witness) -> Vec<u64> {
    (0..system.rows())
        .into_par_iter()
        .filter(|&row| {
            let [a, b, c] =
                [system.a, system.b, system.c].map(|matrix| witness.inner_product(system, matrix.row(row)));
            a * b != c
        })
        .map(|row| row as u64)
        .collect()
}
