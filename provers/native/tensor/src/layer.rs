//! The prover's side of the sumcheck from one level of the tree of fractions to the one below.

use std::mem::take;

use rayon::prelude::*;

use crate::abreast::{self, ABREAST, Eights, GROUP};
use crate::extension::{Extension, ExtensionFactor, ExtensionSum};
use crate::made::Made;
use crate::memory::zeros;
use crate::multilinear::{Split, equality_of};
use crate::pieces::{bind_layer, combine_layer, in_turn};
use crate::tree::{Layer, PIECE};

/// The sumcheck of one level: eq(point, x) times d1 m0 + n1 d0, where m0 = n0 + lambda d0.
///
/// The sum over a round's other variables is eq times a quadratic q; `sums` holds q at 0 and its leading coefficient,
/// made in the same pass over memory that binds the variable before.
pub struct LayerProver<E: Extension> {
    pub(crate) point: Vec<E>,
    pub(crate) round: usize,
    /// eq of the coordinates and challenges so far.
    prefix: E,
    pub(crate) lambda: E,
    /// m0 and n1; d0 and d1.
    pub(crate) tops: Vec<E>,
    pub(crate) bottoms: Vec<E>,
    /// Memory for the next round's.
    spare: [Vec<E>; 2],
    /// In place of tables, until some variables are bound.
    pub(crate) made: Option<Made<E>>,
    /// From this entry on the second fraction is 0 / 1.
    pub(crate) active: usize,
    pub(crate) sums: (E, E),
}

/// Adds to q at 0 and to q's leading coefficient one pair: m0, n1, d0, d1 at 0 and at 1.
#[inline(always)]
pub fn add_pair<E: Extension>(sums: &mut [E::Sum; 2], weight: &E::Factor, low: [E; 4], high: [E; 4]) {
    let [m0, n1, d0, d1] = low;
    let mut at_zero = E::Sum::default();
    at_zero.add(d1, m0);
    at_zero.add(n1, d0);
    sums[0].factor(weight, at_zero.value());
    let mut leading = E::Sum::default();
    leading.add(high[3] - d1, high[0] - m0);
    leading.add(high[1] - n1, high[2] - d0);
    sums[1].factor(weight, leading.value());
}

pub fn both<E: Extension>(x: (E, E), y: (E, E)) -> (E, E) {
    (x.0 + y.0, x.1 + y.1)
}

pub fn nothing<E: Extension>() -> (E, E) {
    (E::ZERO, E::ZERO)
}

impl<E: Extension> LayerProver<E> {
    pub(crate) fn empty(point: &[E], lambda: E) -> Self {
        Self {
            point: point.to_vec(),
            round: 0,
            prefix: E::ONE,
            lambda,
            tops: Vec::new(),
            bottoms: Vec::new(),
            spare: [Vec::new(), Vec::new()],
            made: None,
            active: 1 << point.len(),
            sums: nothing(),
        }
    }

    pub fn new(layer: Layer<E>, point: &[E], lambda: E) -> Self {
        let mut made = Self::empty(point, lambda);
        made.tops = layer.numerators;
        made.bottoms = layer.denominators;
        let half = made.tops.len() / 2;
        let (m0, n1) = made.tops.split_at_mut(half);
        let (d0, d1) = made.bottoms.split_at(half);
        let factor = E::Factor::new(lambda);
        let combine = |m: &mut E, d: E| {
            let mut sum = E::Sum::default();
            sum.plus(*m);
            sum.factor(&factor, d);
            *m = sum.value();
        };
        if point.is_empty() {
            combine(&mut m0[0], d0[0]);
            return made;
        }
        let weights = Split::new(&point[1..], PIECE);
        let whole = (2 * weights.low.len()).is_multiple_of(GROUP * ABREAST);
        let wide = abreast::chosen().filter(|_| whole).map(|with| {
            let elements = in_turn(&weights.low).into_iter().map(|weight| weight.element());
            (with, Eights::new(elements))
        });
        type Piece<'a, E> = (&'a mut [E], &'a [E], &'a [E], &'a [E]);
        let work = |(c, (m0, n1, d0, d1)): (usize, Piece<E>)| {
            let factor = weights.high[c];
            if let Some((with, low)) = &wide {
                let sums = combine_layer(*with, lambda, low, m0, [n1, d0, d1]);
                return (factor * sums.0, factor * sums.1);
            }
            let mut sums = [E::Sum::default(); 2];
            for (i, weight) in weights.low.iter().enumerate() {
                let (low, high) = (2 * i, 2 * i + 1);
                combine(&mut m0[low], d0[low]);
                combine(&mut m0[high], d0[high]);
                add_pair(
                    &mut sums,
                    weight,
                    [m0[low], n1[low], d0[low], d1[low]],
                    [m0[high], n1[high], d0[high], d1[high]],
                );
            }
            (factor * sums[0].value(), factor * sums[1].value())
        };
        let size = 2 * weights.low.len();
        made.sums = if half == size {
            work((0, (m0, n1, d0, d1)))
        } else {
            (
                m0.par_chunks_mut(size),
                n1.par_chunks(size),
                d0.par_chunks(size),
                d1.par_chunks(size),
            )
                .into_par_iter()
                .enumerate()
                .map(work)
                .reduce(nothing, both)
        };
        made
    }

    /// The round's polynomial h at 0, 2, 3. It is prefix * eq(point[i], X) * q(X), with q quadratic; q at 1 follows
    /// from h(0) + h(1) = claim.
    pub fn message(&self, claim: E) -> Vec<E> {
        let (q0, leading) = self.sums;
        let r = self.point[self.round];
        let low = (E::ONE - r) * self.prefix;
        let q1 = (claim - low * q0) * (r * self.prefix).inverse();
        let q2 = (q1 + leading).double() - q0;
        let q3 = (q1 + leading.double()).double() + (q1 + leading.double()) - q0.double();
        // eq(r, 2) = 3 r - 1, eq(r, 3) = 5 r - 2.
        let (two, three) = (r.double() + r - E::ONE, r.double().double() + r - E::ONE.double());
        vec![low * q0, self.prefix * two * q2, self.prefix * three * q3]
    }

    /// Binds the round's variable to r, and sums for the next round.
    pub fn bind(&mut self, r: E) {
        self.prefix = self.prefix * equality_of(&self.point[self.round..=self.round], &[r]);
        self.round += 1;
        match self.made.take() {
            Some(made) => self.bind_made(made, r),
            None => self.bind_tables(r),
        }
        self.active = self.active.div_ceil(2);
    }

    fn bind_tables(&mut self, r: E) {
        let from = self.tops.len() / 2;
        let to = from / 2;
        let r = E::Factor::new(r);
        let [mut tops, mut bottoms] = take(&mut self.spare);
        if tops.is_empty() {
            (tops, bottoms) = (zeros(2 * to), zeros(2 * to));
        }
        tops.truncate(2 * to);
        bottoms.truncate(2 * to);
        let (m0, n1) = self.tops.split_at(from);
        let (d0, d1) = self.bottoms.split_at(from);
        let (to_m0, to_n1) = tops.split_at_mut(to);
        let (to_d0, to_d1) = bottoms.split_at_mut(to);
        if to == 1 {
            for (to, from) in [(to_m0, m0), (to_n1, n1), (to_d0, d0), (to_d1, d1)] {
                to[0] = r.line(from[0], from[1]);
            }
        } else {
            let weights = Split::new(&self.point[self.round + 1..], PIECE);
            let size = 2 * weights.low.len();
            let active = self.active;
            let whole = size.is_multiple_of(2 * ABREAST);
            let wide = abreast::chosen().filter(|_| whole).map(|with| {
                let elements = weights.low.iter().map(|weight| weight.element());
                (with, Eights::new(elements))
            });
            type Piece<'a, E> = (
                &'a mut [E],
                &'a mut [E],
                &'a mut [E],
                &'a mut [E],
                &'a [E],
                &'a [E],
                &'a [E],
                &'a [E],
            );
            let work = |(c, piece): (usize, Piece<E>)| {
                let (to_m0, to_n1, to_d0, to_d1, m0, n1, d0, d1) = piece;
                let mut sums = [E::Sum::default(); 2];
                let at = |table: &[E], i: usize| {
                    (
                        r.line(table[4 * i], table[4 * i + 1]),
                        r.line(table[4 * i + 2], table[4 * i + 3]),
                    )
                };
                if 2 * c * size >= active {
                    to_n1.fill(E::ZERO);
                    to_d1.fill(E::ONE);
                    for (i, weight) in weights.low.iter().enumerate() {
                        (to_m0[2 * i], to_m0[2 * i + 1]) = at(m0, i);
                        (to_d0[2 * i], to_d0[2 * i + 1]) = at(d0, i);
                        sums[0].factor(weight, to_m0[2 * i]);
                    }
                } else if let Some((with, low)) = &wide {
                    let (from, to) = ([m0, n1, d0, d1], [to_m0, to_n1, to_d0, to_d1]);
                    let sums = bind_layer(*with, r.element(), low, from, to);
                    let factor = weights.high[c];
                    return (factor * sums.0, factor * sums.1);
                } else {
                    for (i, weight) in weights.low.iter().enumerate() {
                        let (m0, n1, d0, d1) = (at(m0, i), at(n1, i), at(d0, i), at(d1, i));
                        (to_m0[2 * i], to_m0[2 * i + 1]) = m0;
                        (to_n1[2 * i], to_n1[2 * i + 1]) = n1;
                        (to_d0[2 * i], to_d0[2 * i + 1]) = d0;
                        (to_d1[2 * i], to_d1[2 * i + 1]) = d1;
                        add_pair(
                            &mut sums,
                            weight,
                            [m0.0, n1.0, d0.0, d1.0],
                            [m0.1, n1.1, d0.1, d1.1],
                        );
                    }
                }
                let factor = weights.high[c];
                (factor * sums[0].value(), factor * sums[1].value())
            };
            self.sums = if to == size {
                work((0, (to_m0, to_n1, to_d0, to_d1, m0, n1, d0, d1)))
            } else {
                (
                    to_m0.par_chunks_mut(size),
                    to_n1.par_chunks_mut(size),
                    to_d0.par_chunks_mut(size),
                    to_d1.par_chunks_mut(size),
                    m0.par_chunks(2 * size),
                    n1.par_chunks(2 * size),
                    d0.par_chunks(2 * size),
                    d1.par_chunks(2 * size),
                )
                    .into_par_iter()
                    .enumerate()
                    .map(work)
                    .reduce(nothing, both)
            };
        }
        self.spare = [
            std::mem::replace(&mut self.tops, tops),
            std::mem::replace(&mut self.bottoms, bottoms),
        ];
    }

    /// n0, n1, d0, d1 at the point that all variables are bound to.
    pub fn ends(&self) -> Vec<E> {
        let ([m0, n1], [d0, d1]) = ([self.tops[0], self.tops[1]], [self.bottoms[0], self.bottoms[1]]);
        vec![m0 - self.lambda * d0, n1, d0, d1]
    }
}
