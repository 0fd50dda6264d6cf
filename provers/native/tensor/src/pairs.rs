//! The prover's side of the sumcheck of a product of two tables, each round's sums made while the round before is bound.

use std::mem::take;

use rayon::prelude::*;

use crate::abreast::{self, ABREAST};
use crate::extension::{Extension, ExtensionFactor, ExtensionSum};
use crate::field::F;
use crate::memory::zeros;
use crate::pieces::bind_pairs;

/// Pairs that one piece of work sums over.
pub const PIECE: usize = 1 << 9;

/// Above so many elements memory is given back as tables shrink.
const LARGE: usize = 1 << 20;

/// Weights on a table that are made when they are read.
pub trait Weights<E>: Sync {
    /// The weights from `start` on.
    fn read(&self, start: usize, weights: &mut [E]);
    /// From here on there are none but zeros.
    fn end(&self) -> usize;
}

/// Of a round's polynomial, its value at 0 and its leading coefficient.
pub type Sums<E> = (E, E);

fn nothing<E: Extension>() -> Sums<E> {
    (E::ZERO, E::ZERO)
}

fn both<E: Extension>(x: Sums<E>, y: Sums<E>) -> Sums<E> {
    (x.0 + y.0, x.1 + y.1)
}

/// Tables x and y, of sum x y claimed, and the sums of the round to come.
pub struct Pairs<E> {
    pub x: Vec<E>,
    pub y: Vec<E>,
    spare: [Vec<E>; 2],
    sums: Sums<E>,
}

/// The round's polynomial at 0 and 2, when it sums to the claim at 0 and 1.
pub fn message<E: Extension>((zero, leading): Sums<E>, claim: E) -> Vec<E> {
    vec![zero, (claim - zero + leading).double() - zero]
}

#[inline(always)]
fn add<E: Extension>(sums: &mut [E::Sum; 2], x: (E, E), y: (E, E)) {
    sums[0].add(x.0, y.0);
    sums[1].add(x.1 - x.0, y.1 - y.0);
}

fn values<E: Extension>(sums: [E::Sum; 2]) -> Sums<E> {
    (sums[0].value(), sums[1].value())
}

pub fn sum_piece<E: Extension>((x, y): (&[E], &[E])) -> Sums<E> {
    let mut sums = [E::Sum::default(); 2];
    for (x, y) in x.chunks_exact(2).zip(y.chunks_exact(2)) {
        add::<E>(&mut sums, (x[0], x[1]), (y[0], y[1]));
    }
    values::<E>(sums)
}

/// Binds the lowest variable; the next round's sums, where there are variables left.
fn bind_piece<E: Extension>(r: &E::Factor, (x, y, to_x, to_y): (&[E], &[E], &mut [E], &mut [E])) -> Sums<E> {
    if let Some(with) = abreast::chosen().filter(|_| to_x.len().is_multiple_of(2 * ABREAST)) {
        return bind_pairs(with, r.element(), [x, y], [to_x, to_y]);
    }
    for (from, to) in [(x, &mut *to_x), (y, &mut *to_y)] {
        for (to, from) in to.iter_mut().zip(from.chunks_exact(2)) {
            *to = r.line(from[0], from[1]);
        }
    }
    sum_piece((to_x, to_y))
}

impl<E: Extension> Pairs<E> {
    pub fn new(x: Vec<E>, y: Vec<E>) -> Self {
        let sums = if x.len() <= 2 * PIECE {
            sum_piece((&x, &y))
        } else {
            (x.par_chunks(2 * PIECE), y.par_chunks(2 * PIECE))
                .into_par_iter()
                .map(sum_piece)
                .reduce(nothing, both)
        };
        Self::with(x, y, sums)
    }

    /// With the sums of the round to come, as they are known already.
    pub fn with(x: Vec<E>, y: Vec<E>, sums: Sums<E>) -> Self {
        let spare = [Vec::new(), Vec::new()];
        Self { x, y, spare, sums }
    }

    pub fn sums(&self) -> Sums<E> {
        self.sums
    }

    pub fn bind(&mut self, r: E) {
        let r = E::Factor::new(r);
        let half = self.x.len() / 2;
        let [mut x, mut y] = take(&mut self.spare);
        if x.is_empty() {
            (x, y) = (zeros(half), zeros(half));
        }
        for table in [&mut x, &mut y] {
            table.truncate(half);
            if half > LARGE {
                table.shrink_to_fit();
            }
        }
        self.sums = if half <= 2 * PIECE {
            bind_piece(&r, (&self.x, &self.y, &mut x, &mut y))
        } else {
            (
                self.x.par_chunks(4 * PIECE),
                self.y.par_chunks(4 * PIECE),
                x.par_chunks_mut(2 * PIECE),
                y.par_chunks_mut(2 * PIECE),
            )
                .into_par_iter()
                .map(|piece| bind_piece(&r, piece))
                .reduce(nothing, both)
        };
        self.spare = [
            std::mem::replace(&mut self.x, x),
            std::mem::replace(&mut self.y, y),
        ];
    }

    /// The tables, with what has been bound so far.
    pub fn tables(self) -> [Vec<E>; 2] {
        [self.x, self.y]
    }
}

/// Tables of values in the base field and of weights not yet made: the first variable's sums.
pub fn first_sums<E: Extension>(values: &[F], weights: &dyn Weights<E>) -> Sums<E> {
    let size = values.len().clamp(1, 2 * PIECE);
    let work = |made: &mut Vec<E>, (c, values): (usize, &[F])| {
        let made = &mut made[..values.len()];
        weights.read(c * size, made);
        let mut sums = [E::Sum::default(); 2];
        for (f, w) in values.chunks_exact(2).zip(made.chunks_exact(2)) {
            sums[0].base(w[0], f[0]);
            sums[1].base(w[1] - w[0], f[1] - f[0]);
        }
        self::values::<E>(sums)
    };
    values
        .par_chunks(size)
        .enumerate()
        .map_init(|| vec![E::ZERO; size], work)
        .reduce(nothing, both)
}

/// The same tables with their first variable bound to r.
pub fn first_bound<E: Extension>(values: &[F], weights: &dyn Weights<E>, r: E) -> Pairs<E> {
    let half = values.len() / 2;
    let size = half.clamp(1, 2 * PIECE);
    let r = E::Factor::new(r);
    let (mut x, mut y) = (zeros(half), zeros(half));
    type Piece<'a, E> = (&'a [F], &'a mut [E], &'a mut [E]);
    let work = |made: &mut Vec<E>, (c, (values, x, y)): (usize, Piece<E>)| {
        let made = &mut made[..values.len()];
        weights.read(2 * c * size, made);
        for (to, f) in x.iter_mut().zip(values.chunks_exact(2)) {
            *to = r.base_line(f[0], f[1]);
        }
        for (to, w) in y.iter_mut().zip(made.chunks_exact(2)) {
            *to = r.line(w[0], w[1]);
        }
        sum_piece((x, y))
    };
    let sums = (
        values.par_chunks(2 * size),
        x.par_chunks_mut(size),
        y.par_chunks_mut(size),
    )
        .into_par_iter()
        .enumerate()
        .map_init(|| vec![E::ZERO; 2 * size], work)
        .reduce(nothing, both);
    Pairs::with(x, y, sums)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::cubic::Cubic;
    use crate::extension::tests::element;
    use crate::multilinear::{bind, interpolate};
    use crate::quadratic::Quadratic;

    pub struct Dense<E>(pub Vec<E>);

    impl<E: Extension> Weights<E> for Dense<E> {
        fn read(&self, start: usize, weights: &mut [E]) {
            weights.copy_from_slice(&self.0[start..start + weights.len()]);
        }

        fn end(&self) -> usize {
            self.0.len()
        }
    }

    fn rounds_of_pairs<E: Extension>() {
        for bits in [2usize, 3, 9, 10, 11, 13] {
            let values: Vec<F> = (0..1u64 << bits).map(|i| element::<E>(i + 7).base()).collect();
            let weights = Dense((0..1u64 << bits).map(element).collect());
            let mut wide: Vec<E> = values.iter().map(|&f| f.into()).collect();
            let mut weighted = weights.0.clone();
            let mut claim = E::ZERO;
            for (&f, &w) in wide.iter().zip(&weighted) {
                claim += f * w;
            }
            let mut general = Pairs::new(wide.clone(), weighted.clone());
            let mut pairs: Option<Pairs<E>> = None;
            for round in 0..bits {
                let sent = match &pairs {
                    None => message(first_sums(&values, &weights), claim),
                    Some(pairs) => message(pairs.sums(), claim),
                };
                assert_eq!(sent, message(general.sums(), claim));
                let at = |x: F| {
                    let line = |t: &[E]| t[0] + (t[1] - t[0]) * x;
                    wide.chunks_exact(2)
                        .zip(weighted.chunks_exact(2))
                        .fold(E::ZERO, |sum, (f, w)| sum + line(f) * line(w))
                };
                assert_eq!(sent, [at(F::ZERO), at(F::reduced(2))]);
                let r = element(round as u64 + 99);
                claim = interpolate::<E, E>(claim, &sent, r);
                match &mut pairs {
                    None => pairs = Some(first_bound(&values, &weights, r)),
                    Some(pairs) => pairs.bind(r),
                }
                general.bind(r);
                (wide, weighted) = (bind(&wide, r), bind(&weighted, r));
            }
            let [x, y] = pairs.expect("bound").tables();
            assert_eq!((x, y), (wide.clone(), weighted.clone()));
            assert_eq!(wide[0] * weighted[0], claim);
        }
    }

    #[test]
    fn every_round_sums_to_the_claim_and_ends_in_the_tables_product() {
        rounds_of_pairs::<Quadratic>();
        rounds_of_pairs::<Cubic>();
    }
}
