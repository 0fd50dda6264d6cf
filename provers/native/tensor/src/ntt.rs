//! Number-theoretic transforms: values of a polynomial on a subgroup, in bit-reversed order.
//!
//! A long vector is a matrix of rows: its columns are transformed a panel at a time in a buffer that fits the nearest
//! cache, times powers of the root, then each row is a transform by itself. So memory is passed over once per stage,
//! and neighbouring columns share their roots in vector instructions.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::extension::Extension;
use crate::field::{F, TWO_ADICITY};
use crate::instructions::Instructions;
use crate::lanes::run;
use crate::memory::zeros;
use crate::panels::{Columns, Source, Stage, Twiddles};
use crate::within::Within;

/// Transforms of up to 2^8 elements are made in place.
const WITHIN: usize = 8;
/// Rows of a matrix, in bits, at most.
const ROWS: usize = 9;
/// From so many bits on, panels and rows are shared among threads.
const PARALLEL: usize = 17;

/// The stages of a transform, and the roots of those that are made in place.
struct Transform {
    bits: usize,
    stages: Vec<Stage>,
    twiddles: Twiddles,
}

/// Memory that threads write disjoint columns of.
struct Shared(*mut F);
// SAFETY: each thread writes columns of its own.
unsafe impl Sync for Shared {}

impl Shared {
    fn start(&self) -> *mut F {
        self.0
    }
}

impl Transform {
    fn new(bits: usize) -> Self {
        let mut stages = Vec::new();
        let mut left = bits;
        while left > WITHIN {
            let rows = (left - WITHIN).div_ceil((left - WITHIN).div_ceil(ROWS));
            left -= rows;
            stages.push(Stage::new(rows, left));
        }
        Self {
            bits,
            stages,
            twiddles: Twiddles::new(bits.min(ROWS)),
        }
    }

    /// That of 2^bits elements, which is made once.
    fn of(bits: usize) -> &'static Self {
        static MADE: [OnceLock<Transform>; TWO_ADICITY + 1] = [const { OnceLock::new() }; TWO_ADICITY + 1];
        MADE[bits].get_or_init(|| Self::new(bits))
    }

    /// From coefficients, as many of which are given, to all values.
    fn run(&self, coefficients: &[F], values: &mut [F], with: Instructions) {
        let Some((first, rest)) = self.stages.split_first() else {
            values[..coefficients.len()].copy_from_slice(coefficients);
            values[coefficients.len()..].fill(F::ZERO);
            run(Within(values, &self.twiddles), with);
            return;
        };
        let to = Shared(values.as_mut_ptr());
        let columns = |parts| {
            let from = Source(coefficients.as_ptr(), coefficients.len());
            run(Columns(first, &self.twiddles, from, to.start(), parts), with);
        };
        if self.bits < PARALLEL {
            columns(0..first.parts());
        } else {
            (0..first.parts())
                .into_par_iter()
                .for_each(|part| columns(part..part + 1));
        }
        let row = |row: &mut [F]| self.rows(rest, row, with);
        if self.bits < PARALLEL {
            values.chunks_exact_mut(1 << first.columns).for_each(row);
        } else {
            values.par_chunks_exact_mut(1 << first.columns).for_each(row);
        }
    }

    fn rows(&self, stages: &[Stage], values: &mut [F], with: Instructions) {
        let Some((first, rest)) = stages.split_first() else {
            run(Within(values, &self.twiddles), with);
            return;
        };
        let (length, start) = (values.len(), values.as_mut_ptr());
        let from = Source(start, length);
        run(
            Columns(first, &self.twiddles, from, start, 0..first.parts()),
            with,
        );
        for row in values.chunks_exact_mut(1 << first.columns) {
            self.rows(rest, row, with);
        }
    }
}

/// The values of a polynomial on the subgroup of order 2^bits: place reverse(i) holds the value at w^i.
pub fn values(coefficients: &[F], bits: usize) -> Vec<F> {
    let mut made = zeros(1 << bits);
    Transform::of(bits).run(coefficients, &mut made, Instructions::chosen());
    made
}

/// The same for coefficients in the extension: coordinates alternate in the result.
pub fn extension_values<E: Extension>(coefficients: &[E], bits: usize) -> Vec<F> {
    let (transform, with) = (Transform::of(bits), Instructions::chosen());
    let mut made = zeros(E::DEGREE << bits);
    let size = 1 << 12;
    // One coordinate after the other, so that no more than one lies apart.
    let mut values: Vec<F> = zeros(1 << bits);
    for place in 0..E::DEGREE {
        let own: Vec<F> = coefficients.iter().map(|e| e.coordinate(place)).collect();
        transform.run(&own, &mut values, with);
        made.par_chunks_mut(E::DEGREE * size)
            .zip(values.par_chunks(size))
            .for_each(|(to, from): (&mut [F], &[F])| {
                for (to, &from) in to.chunks_exact_mut(E::DEGREE).zip(from) {
                    to[place] = from;
                }
            });
    }
    made
}

/// The number whose lowest `bits` bits are those of `index` in reverse.
pub fn reverse(index: usize, bits: usize) -> usize {
    if bits == 0 {
        0
    } else {
        index.reverse_bits() >> (usize::BITS as usize - bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubic::Cubic;
    use crate::extension::tests::element;
    use crate::quadratic::Quadratic;
    use crate::within::small;

    #[test]
    fn a_transform_evaluates_the_polynomial() {
        for bits in 0..7 {
            let coefficients: Vec<F> = (0..1 << bits).map(|i| F::reduced(i * i + 3)).collect();
            let values = values(&coefficients, bits);
            let root = F::root_of_unity(bits);
            for i in 0..1 << bits {
                let x = root.power(i as u64);
                let expected = coefficients.iter().rev().fold(F::ZERO, |sum, &c| sum * x + c);
                assert_eq!(values[reverse(i, bits)], expected);
            }
        }
    }

    #[test]
    fn transforms_by_stages_and_by_vectors_are_those_of_elements_one_by_one() {
        for bits in (0..=13).chain([16, 18]) {
            for given in [1usize << bits, 1 << bits >> 1, 1 << bits >> 4, 4.min(1 << bits)] {
                let given = given.max(1);
                let coefficients: Vec<F> = (0..given as u64)
                    .map(|i| F::reduced((i + 5).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
                    .collect();
                let mut plain = coefficients.clone();
                plain.resize(1 << bits, F::ZERO);
                small(&mut plain, &Twiddles::new(bits));
                for with in Instructions::available() {
                    let mut made = vec![F::ONE; 1 << bits];
                    Transform::new(bits).run(&coefficients, &mut made, with);
                    assert!(made == plain, "{bits} {given} {with:?}");
                }
            }
        }
    }

    fn coordinates_apart<E: Extension>() {
        for bits in [10, 13] {
            let coefficients: Vec<E> = (0..512).map(element).collect();
            let made = extension_values(&coefficients, bits);
            for place in 0..E::DEGREE {
                let own: Vec<F> = coefficients.iter().map(|e| e.coordinate(place)).collect();
                let found: Vec<F> = made.iter().skip(place).step_by(E::DEGREE).copied().collect();
                assert_eq!(found, values(&own, bits));
            }
        }
    }

    #[test]
    fn coordinates_in_the_extension_are_transformed_apart() {
        coordinates_apart::<Quadratic>();
        coordinates_apart::<Cubic>();
    }
}
