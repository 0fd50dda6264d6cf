//! The prover's side of the sumcheck of a product of two tables, each round's sums made while the round before is bound.

use std::mem::take;

use rayon::prelude::*;

use super::field::{E, F};
use super::memory::zeros;
use super::sums::{ExtensionSum, Factor};

/// Pairs that one piece of work sums over.
const PIECE: usize = 1 << 9;

/// Weights on a table that are made when they are read.
pub trait Weights: Sync {
    /// The weights from `start` on, a multiple of the number of weights, which is a power of two.
    fn read(&self, start: usize, weights: &mut [E]);
}

/// Of a round's polynomial, its value at 0 and its leading coefficient.
type Sums = (E, E);

const NOTHING: Sums = (E::ZERO, E::ZERO);

fn both(x: Sums, y: Sums) -> Sums {
    (x.0 + y.0, x.1 + y.1)
}

/// Tables x and y, of sum x y claimed, and the sums of the round to come.
pub struct Pairs {
    x: Vec<E>,
    y: Vec<E>,
    spare: [Vec<E>; 2],
    sums: Sums,
}

/// The round's polynomial at 0 and 2, when it sums to the claim at 0 and 1.
pub fn message((zero, leading): Sums, claim: E) -> Vec<E> {
    vec![zero, (claim - zero + leading).double() - zero]
}

#[inline(always)]
fn add(sums: &mut [ExtensionSum; 2], x: (E, E), y: (E, E)) {
    sums[0].add(x.0, y.0);
    sums[1].add(x.1 - x.0, y.1 - y.0);
}

fn values(sums: [ExtensionSum; 2]) -> Sums {
    (sums[0].value(), sums[1].value())
}

fn sum_piece((x, y): (&[E], &[E])) -> Sums {
    let mut sums = [ExtensionSum::default(); 2];
    for (x, y) in x.chunks_exact(2).zip(y.chunks_exact(2)) {
        add(&mut sums, (x[0], x[1]), (y[0], y[1]));
    }
    values(sums)
}

/// Binds the lowest variable; the next round's sums, where there are variables left.
fn bind_piece(r: &Factor, (x, y, to_x, to_y): (&[E], &[E], &mut [E], &mut [E])) -> Sums {
    for (from, to) in [(x, &mut *to_x), (y, &mut *to_y)] {
        for (to, from) in to.iter_mut().zip(from.chunks_exact(2)) {
            *to = r.line(from[0], from[1]);
        }
    }
    sum_piece((to_x, to_y))
}

impl Pairs {
    pub fn new(x: Vec<E>, y: Vec<E>) -> Self {
        let sums = if x.len() <= 2 * PIECE {
            sum_piece((&x, &y))
        } else {
            (x.par_chunks(2 * PIECE), y.par_chunks(2 * PIECE))
                .into_par_iter()
                .map(sum_piece)
                .reduce(|| NOTHING, both)
        };
        Self {
            x,
            y,
            spare: [Vec::new(), Vec::new()],
            sums,
        }
    }

    pub fn message(&self, claim: E) -> Vec<E> {
        message(self.sums, claim)
    }

    pub fn bind(&mut self, r: E) {
        let r = Factor::new(r);
        let half = self.x.len() / 2;
        let [mut x, mut y] = take(&mut self.spare);
        if x.is_empty() {
            (x, y) = (zeros(half), zeros(half));
        }
        x.truncate(half);
        y.truncate(half);
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
                .reduce(|| NOTHING, both)
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
pub fn first_sums(values: &[F], weights: &dyn Weights) -> Sums {
    let size = values.len().min(2 * PIECE);
    let work = |made: &mut Vec<E>, (c, values): (usize, &[F])| {
        weights.read(c * size, made);
        let mut sums = [ExtensionSum::default(); 2];
        for (f, w) in values.chunks_exact(2).zip(made.chunks_exact(2)) {
            sums[0].base(w[0], f[0]);
            sums[1].base(w[1] - w[0], f[1] - f[0]);
        }
        self::values(sums)
    };
    values
        .par_chunks(size)
        .enumerate()
        .map_init(|| vec![E::ZERO; size], work)
        .reduce(|| NOTHING, both)
}

/// The same tables with their first variable bound to r.
pub fn first_bound(values: &[F], weights: &dyn Weights, r: E) -> Pairs {
    let half = values.len() / 2;
    let size = half.min(2 * PIECE);
    let r = Factor::new(r);
    let (mut x, mut y) = (zeros(half), zeros(half));
    type Piece<'a> = (&'a [F], &'a mut [E], &'a mut [E]);
    let work = |made: &mut Vec<E>, (c, (values, x, y)): (usize, Piece)| {
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
        .reduce(|| NOTHING, both);
    Pairs {
        x,
        y,
        spare: [Vec::new(), Vec::new()],
        sums,
    }
}

#[cfg(test)]
mod tests {
    use super::super::multilinear::{bind, interpolate};
    use super::*;

    struct Table(Vec<E>);

    impl Weights for Table {
        fn read(&self, start: usize, weights: &mut [E]) {
            weights.copy_from_slice(&self.0[start..start + weights.len()]);
        }
    }

    fn element(i: u64) -> E {
        E::new(
            F::reduced(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            F::reduced(i * i),
        )
    }

    #[test]
    fn every_round_sums_to_the_claim_and_ends_in_the_tables_product() {
        for bits in [2usize, 3, 9, 10, 11, 13] {
            let values: Vec<F> = (0..1u64 << bits).map(|i| element(i + 7).a).collect();
            let weights = Table((0..1u64 << bits).map(element).collect());
            let mut wide: Vec<E> = values.iter().map(|&f| f.into()).collect();
            let mut weighted = weights.0.clone();
            let mut claim = E::ZERO;
            for (&f, &w) in wide.iter().zip(&weighted) {
                claim += f * w;
            }
            let mut general = Pairs::new(wide.clone(), weighted.clone());
            let mut pairs: Option<Pairs> = None;
            for round in 0..bits {
                let sent = match &pairs {
                    None => message(first_sums(&values, &weights), claim),
                    Some(pairs) => pairs.message(claim),
                };
                assert_eq!(sent, general.message(claim));
                let at = |x: F| {
                    let line = |t: &[E]| t[0] + (t[1] - t[0]) * x;
                    wide.chunks_exact(2)
                        .zip(weighted.chunks_exact(2))
                        .fold(E::ZERO, |sum, (f, w)| sum + line(f) * line(w))
                };
                assert_eq!(sent, [at(F::ZERO), at(F::reduced(2))]);
                let r = element(round as u64 + 99);
                claim = interpolate(claim, &sent, r);
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
}
