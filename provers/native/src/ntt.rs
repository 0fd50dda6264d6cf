//! Number-theoretic transforms that leave the bit-reversed order in place between an inverse and a forward one.

use ark_ff::{FftField, Field};
use rayon::prelude::*;

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

impl<F: FftField> Domain<F> {
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
    pub fn subgroup_to_coset(&self, vectors: [&mut [F]; 3]) {
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
                .for_each(|(value, shift)| *value *= shift);
            decimate_in_time(values, &up);
        });
    }

    /// For each halving, the powers of that level's root: size / 2 of them, then size / 4, and so on.
    fn levels(&self, root: F) -> Vec<Vec<F>> {
        let mut levels = Vec::new();
        let mut half = self.size / 2;
        if half > 0 {
            levels.push(powers(root, half));
        }
        while half > 1 {
            half /= 2;
            let finer: &Vec<F> = &levels[levels.len() - 1];
            levels.push(finer.iter().step_by(2).copied().collect());
        }
        levels
    }

    /// `offset^j / size` at the bit-reversed place of j.
    fn shifts(&self) -> Vec<F> {
        let Some(first) = F::from(self.size as u64).inverse() else {
            unreachable!("a two-adic size is nonzero in the field")
        };
        let mut shifts = Vec::with_capacity(self.size);
        shifts.push(first);
        let mut power = self.size / 2;
        while power > 0 {
            let factor = self.offset.pow([power as u64]);
            shifts.extend_from_within(..);
            let half = shifts.len() / 2;
            shifts[half..]
                .par_iter_mut()
                .with_min_len(SEQUENTIAL)
                .for_each(|shift| *shift *= factor);
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
fn decimate_in_frequency<F: Field>(values: &mut [F], levels: &[Vec<F>]) {
    let Some((roots, rest)) = levels.split_first() else {
        return;
    };
    let (low, high) = values.split_at_mut(roots.len());
    let butterfly = |low: &mut F, high: &mut F, root: &F| {
        let difference = *low - *high;
        *low += *high;
        *high = difference * root;
    };
    apply(low, high, roots, butterfly);
    both(low, high, |half| decimate_in_frequency(half, rest));
}

/// Bit-reversed order in, natural order out.
fn decimate_in_time<F: Field>(values: &mut [F], levels: &[Vec<F>]) {
    let Some((roots, rest)) = levels.split_first() else {
        return;
    };
    let (low, high) = values.split_at_mut(roots.len());
    both(low, high, |half| decimate_in_time(half, rest));
    let butterfly = |low: &mut F, high: &mut F, root: &F| {
        let product = *high * root;
        *high = *low - product;
        *low += product;
    };
    apply(low, high, roots, butterfly);
}

fn apply<F: Field>(
    low: &mut [F],
    high: &mut [F],
    roots: &[F],
    butterfly: impl Fn(&mut F, &mut F, &F) + Sync,
) {
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
