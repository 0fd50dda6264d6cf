//! Which rows of a system a witness breaks: the check of a witness without a key.

use rayon::prelude::*;

use crate::system::{LARGE, Matrix, System, Witness};

/// Rows that one thread compares at least: fewer are not worth a second thread.
const FEW: usize = 1 << 10;

/// The rows, in ascending order, in which (A w) * (B w) differs from C w.
///
/// Soundness: integers below 2^62 in magnitude have a product below 2^124, and differ from another such integer by less
/// than the prime, so that rows whose three sums are that small hold in the field just where they hold in the integers. All
/// other rows are compared in the field.
pub fn failing(system: &System, witness: &Witness) -> Vec<u64> {
    (0..system.rows())
        .into_par_iter()
        .with_min_len(FEW)
        .filter(|&row| {
            let sums = [system.a, system.b, system.c].map(|matrix| small_sum(witness, matrix, row));
            if let [Some(a), Some(b), Some(c)] = sums {
                return i128::from(a) * i128::from(b) != i128::from(c);
            }
            let [a, b, c] =
                [system.a, system.b, system.c].map(|matrix| witness.inner_product(system, matrix.row(row)));
            a * b != c
        })
        .map(|row| row as u64)
        .collect()
}

/// The sum of a row as an integer below 2^62 in magnitude, if all its terms are small and so is every sum on the way.
fn small_sum(witness: &Witness, matrix: Matrix, row: usize) -> Option<i64> {
    matrix.row(row).try_fold(0i64, |sum, (wire, code)| {
        let coefficient = (code < LARGE).then_some(code)?;
        let product = witness.small(wire)?.checked_mul(coefficient)?;
        sum.checked_add(product)
            .filter(|sum| sum.unsigned_abs() < 1 << 62)
    })
}
