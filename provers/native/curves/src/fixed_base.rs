//! Many multiples of one point, from a table of its windowed multiples and batched affine additions.

use ark_ec::short_weierstrass::{Affine, Projective};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{AdditiveGroup, BigInt, PrimeField, Zero};
use rayon::prelude::*;

use crate::affine::{BATCH, Curve, Scratch, add_pairs};
use crate::signed::{self, Digits, LONGEST};

/// Additions that one entry of the table costs: made in projective coordinates, then normalised.
const ENTRY_COST: usize = 3;

/// A point, ready to be multiplied many times.
pub struct FixedBase<P: Curve> {
    digits: Digits,
    /// For each window k, `d * 2^(width k) * base` for d = 1 ..= 2^(width - 1), one row after another.
    table: Vec<Affine<P>>,
}

impl<P> FixedBase<P>
where
    P: Curve<ScalarField: PrimeField<BigInt = BigInt<4>>>,
{
    /// Prepares for about `count` multiplications: 22 additions each where they are many.
    pub fn new(base: Affine<P>, count: usize) -> Self {
        let cost = |width: &u32| {
            ((ENTRY_COST << (width - 1)) + count) * Digits::new(*width, LONGEST).windows as usize
        };
        let width = (3..=12).min_by_key(cost).unwrap_or(3);
        let digits = Digits::new(width, LONGEST);
        let table = windowed_multiples(base.into_group(), width, digits.windows);
        Self { digits, table }
    }

    /// `scalars[i] * base` for every i.
    pub fn multiples(&self, scalars: &[P::ScalarField]) -> Vec<Affine<P>> {
        let Self { digits, table } = self;
        scalars
            .par_chunks(BATCH)
            .flat_map_iter(|scalars| {
                let prepared = scalars
                    .iter()
                    .map(|scalar| {
                        digits.prepare(&signed::from_normal::<P::ScalarField>(&scalar.into_bigint().0))
                    })
                    .collect::<Vec<_>>();
                let mut sums = vec![Affine::<P>::identity(); scalars.len()];
                let mut terms = Vec::with_capacity(scalars.len());
                let mut scratch = Scratch::default();
                for (window, row) in (0..).zip(table.chunks(1 << (digits.width - 1))) {
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
}

fn windowed_multiples<P: Curve>(base: Projective<P>, width: u32, windows: u32) -> Vec<Affine<P>> {
    let mut starts = Vec::with_capacity(windows as usize);
    let mut start = base;
    for _ in 0..windows {
        starts.push(start);
        for _ in 0..width {
            start.double_in_place();
        }
    }
    starts
        .into_par_iter()
        .flat_map_iter(|start| {
            let mut multiple = Projective::zero();
            let row = (0..1 << (width - 1))
                .map(|_| {
                    multiple += start;
                    multiple
                })
                .collect::<Vec<_>>();
            Projective::normalize_batch(&row)
        })
        .collect()
}
