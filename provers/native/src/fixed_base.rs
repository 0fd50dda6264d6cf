//! Many multiples of one point, from a table of its windowed multiples and batched affine additions.

use ark_ec::short_weierstrass::{Affine, Projective, SWCurveConfig};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, BigInt, PrimeField, Zero};
use rayon::prelude::*;

use crate::affine::{BATCH, Scratch, add_pairs};
use crate::signed::{self, Digits};

/// Width of the windows: 22 additions a scalar from a table that fits the caches.
const WIDTH: u32 = 12;

/// `scalars[i] * base` for every i.
pub fn multiples<P>(base: Affine<P>, scalars: &[P::ScalarField]) -> Vec<Affine<P>>
where
    P: SWCurveConfig<ScalarField: PrimeField<BigInt = BigInt<4>>>,
{
    let digits = Digits::new(WIDTH, signed::LONGEST);
    let table = windowed_multiples(base.into_group(), digits.windows);
    scalars
        .par_chunks(BATCH)
        .flat_map_iter(|scalars| {
            let prepared = scalars
                .iter()
                .map(|scalar| digits.prepare(&signed::from_normal::<P::ScalarField>(&scalar.into_bigint().0)))
                .collect::<Vec<_>>();
            let mut sums = vec![Affine::<P>::identity(); scalars.len()];
            let mut terms = Vec::with_capacity(scalars.len());
            let mut scratch = Scratch::default();
            for (window, row) in (0..).zip(table.chunks(1 << (WIDTH - 1))) {
                terms.clear();
                terms.extend(prepared.iter().map(|value| {
                    let digit = digits.read(value, window);
                    match digit {
                        0 => Affine::identity(),
                        1.. => row[digit as usize - 1],
                        _ => -row[digit.unsigned_abs() as usize - 1],
                    }
                }));
                add_pairs(&mut sums, &terms, &mut scratch);
            }
            sums
        })
        .collect()
}

/// For each window k, `d * 2^(WIDTH k) * base` for d = 1 ..= 2^(WIDTH - 1), one row after another.
fn windowed_multiples<P: SWCurveConfig>(base: Projective<P>, windows: u32) -> Vec<Affine<P>> {
    let mut starts = Vec::with_capacity(windows as usize);
    let mut start = base;
    for _ in 0..windows {
        starts.push(start);
        for _ in 0..WIDTH {
            start.double_in_place();
        }
    }
    starts
        .into_par_iter()
        .flat_map_iter(|start| {
            let mut multiple = Projective::zero();
            let row = (0..1 << (WIDTH - 1))
                .map(|_| {
                    multiple += start;
                    multiple
                })
                .collect::<Vec<_>>();
            Projective::normalize_batch(&row)
        })
        .collect()
}
