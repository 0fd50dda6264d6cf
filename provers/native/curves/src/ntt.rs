//! Number-theoretic transforms that leave the bit-reversed order in place between an inverse and a forward one.

use ark_ff::{FftField, Field};
use rayon::prelude::*;

use crate::lazy::{Lazy, Relax};

/// Values below which a transform stays on one thread and runs level by level, within the caches.
const SEQUENTIAL: usize = 1 << 12;

/// The subgroup of order `size`, and its coset by the primitive root of order `2 size`.
///
/// circom's reduction evaluates the quotient's numerator on exactly that coset: the odd powers of the larger root.
pub struct Domain<F> {
    pub size: usize,
    /// A generator of the subgroup.
    pub root: F,
    /// A square root of `root`: the coset's offset.
    pub offset: F,
}

impl<F: FftField + Relax> Domain<F> {
    /// The smallest domain of at least `rows` points; None beyond half of the field's two-adic subgroup.
    pub fn new(rows: usize) -> Option<Self> {
        let size = rows.checked_next_power_of_two()?;
        let offset = F::get_root_of_unity(2 * size as u64)?;
        Some(Self {
            size,
            root: offset.square(),
            offset,
        })
    }

    /// Turns each vector of values on the subgroup into the values of the same polynomial on the coset.
    pub fn subgroup_to_coset(&self, vectors: [&mut [F::Lazy]; 3]) {
        let Some(inverse) = self.root.inverse() else {
            unreachable!("a root of unity is nonzero")
        };
        let (down, up) = rayon::join(|| self.levels(inverse), || self.levels(self.root));
        let shifts = self.shifts();
        vectors.into_par_iter().for_each(|values| {
            decimate_in_frequency(values, &down);
            values
                .par_iter_mut()
                .with_min_len(SEQUENTIAL)
                .zip(&shifts)
                .for_each(|(value, shift)| *value = value.mul(*shift));
            decimate_in_time(values, &up);
        });
    }

    /// For each halving, the powers of that level's root: size / 2 of them, then size / 4, and so on.
    pub fn levels(&self, root: F) -> Vec<Vec<F::Lazy>> {
        let mut levels = Vec::new();
        let mut half = self.size / 2;
        if half > 0 {
            levels.push(powers(root, half).into_iter().map(F::relax).collect());
        }
        while half > 1 {
            half /= 2;
            let finer: &Vec<F::Lazy> = &levels[levels.len() - 1];
            levels.push(finer.iter().step_by(2).copied().collect());
        }
        levels
    }

    /// `offset^j / size` at the bit-reversed place of j.
    fn shifts(&self) -> Vec<F::Lazy> {
        let Some(first) = F::from(self.size as u64).inverse() else {
            unreachable!("a two-adic size is nonzero in the field")
        };
        let mut shifts = Vec::with_capacity(self.size);
        shifts.push(first.relax());
        let mut power = self.size / 2;
        while power > 0 {
            let factor = self.offset.pow([power as u64]).relax();
            shifts.extend_from_within(..);
            let half = shifts.len() / 2;
            shifts[half..]
                .par_iter_mut()
                .with_min_len(SEQUENTIAL)
                .for_each(|shift| *shift = shift.mul(factor));
            power /= 2;
        }
        shifts
    }
}

/// 1, base, base^2, ..., `count` of them.
pub fn powers<F: Field>(base: F, count: usize) -> Vec<F> {
    let mut powers = vec![F::ONE; count];
    powers
        .par_chunks_mut(SEQUENTIAL)
        .enumerate()
        .for_each(|(chunk, powers)| {
            let mut power = base.pow([(chunk * SEQUENTIAL) as u64]);
            for place in powers {
                *place = power;
                power *= base;
            }
        });
    powers
}

/// Natural order in, bit-reversed order out.
pub fn decimate_in_frequency<L: Lazy>(values: &mut [L], levels: &[Vec<L>]) {
    let Some((roots, rest)) = levels.split_first() else {
        return;
    };
    let (low, high) = values.split_at_mut(roots.len());
    let butterfly = |low: &mut L, high: &mut L, root: &L| {
        let difference = low.sub(*high);
        *low = low.add(*high);
        *high = difference.mul(*root);
    };
    apply(low, high, roots, butterfly);
    both(low, high, |half| decimate_in_frequency(half, rest));
}

/// Bit-reversed order in, natural order out.
pub fn decimate_in_time<L: Lazy>(values: &mut [L], levels: &[Vec<L>]) {
    let Some((roots, rest)) = levels.split_first() else {
        return;
    };
    let (low, high) = values.split_at_mut(roots.len());
    both(low, high, |half| decimate_in_time(half, rest));
    let butterfly = |low: &mut L, high: &mut L, root: &L| {
        let product = high.mul(*root);
        *high = low.sub(product);
        *low = low.add(product);
    };
    apply(low, high, roots, butterfly);
}

fn apply<L: Lazy>(low: &mut [L], high: &mut [L], roots: &[L], butterfly: impl Fn(&mut L, &mut L, &L) + Sync) {
    if roots.len() < SEQUENTIAL {
        for ((low, high), root) in low.iter_mut().zip(high).zip(roots) {
            butterfly(low, high, root);
        }
    } else {
        low.par_iter_mut()
            .with_min_len(SEQUENTIAL / 2)
            .zip(high)
            .zip(roots)
            .for_each(|((low, high), root)| butterfly(low, high, root));
    }
}

fn both<F: Send>(low: &mut [F], high: &mut [F], transform: impl Fn(&mut [F]) + Sync) {
    if low.len() < SEQUENTIAL {
        transform(low);
        transform(high);
    } else {
        rayon::join(|| transform(low), || transform(high));
    }
}

#[cfg(test)]
mod tests {
    use ark_bn254::Fr;
    use ark_ff::AdditiveGroup;

    use super::*;

    /// Against Horner's rule at every size up to where the work is split.
    #[test]
    fn values_move_from_the_subgroup_to_the_coset() {
        for log in [0u32, 1, 2, 3, 7, 13, 14] {
            let size = 1usize << log;
            let domain = Domain::<Fr>::new(size).expect("a domain");
            let coefficients = (1..=size.min(9) as u64)
                .map(|i| Fr::from(i * i + 3))
                .collect::<Vec<_>>();
            let horner = |x: &Fr| {
                coefficients
                    .iter()
                    .rev()
                    .fold(Fr::ZERO, |value, coefficient| value * x + coefficient)
            };
            let points = powers(domain.root, size);
            let mut vectors = [(); 3].map(|()| points.iter().map(|x| horner(x).relax()).collect::<Vec<_>>());
            let [a, b, c] = &mut vectors;
            domain.subgroup_to_coset([a, b, c]);
            for vector in &vectors {
                for (point, value) in points.iter().zip(vector) {
                    assert_eq!(Fr::reduce(*value), horner(&(*point * domain.offset)));
                }
            }
        }
    }
}
