//! The prover's side of the sumcheck from one level of the tree of fractions to the one below.

use std::mem::take;

use rayon::prelude::*;

use super::field::{E, F};
use super::leaves::Leaves;
use super::memory::zeros;
use super::multilinear::{Split, equality_of};
use super::sums::{ExtensionSum, Factor};
use super::tree::{LEAF_PIECE, Layer, PIECE, Read};

/// The sumcheck of one level: eq(point, x) times d1 m0 + n1 d0, where m0 = n0 + lambda d0.
///
/// The sum over a round's other variables is eq times a quadratic q; `sums` holds q at 0 and its leading coefficient,
/// made in the same pass over memory that binds the variable before.
pub struct LayerProver {
    point: Vec<E>,
    round: usize,
    /// eq of the coordinates and challenges so far.
    prefix: E,
    lambda: E,
    /// m0 and n1; d0 and d1.
    tops: Vec<E>,
    bottoms: Vec<E>,
    /// Memory for the next round's.
    spare: [Vec<E>; 2],
    /// In place of tables, until the first variable is bound.
    leaves: Option<Leaves>,
    /// From this entry on the second fraction is 0 / 1.
    active: usize,
    sums: (E, E),
}

/// Adds to q at 0 and to q's leading coefficient one pair: m0, n1, d0, d1 at 0 and at 1.
#[inline(always)]
fn add_pair(sums: &mut [ExtensionSum; 2], weight: &Factor, low: [E; 4], high: [E; 4]) {
    let [m0, n1, d0, d1] = low;
    let mut at_zero = ExtensionSum::default();
    at_zero.add(d1, m0);
    at_zero.add(n1, d0);
    sums[0].factor(weight, at_zero.value());
    let mut leading = ExtensionSum::default();
    leading.add(high[3] - d1, high[0] - m0);
    leading.add(high[1] - n1, high[2] - d0);
    sums[1].factor(weight, leading.value());
}

fn both(x: (E, E), y: (E, E)) -> (E, E) {
    (x.0 + y.0, x.1 + y.1)
}

const NOTHING: (E, E) = (E::ZERO, E::ZERO);

impl LayerProver {
    fn empty(point: &[E], lambda: E) -> Self {
        Self {
            point: point.to_vec(),
            round: 0,
            prefix: E::ONE,
            lambda,
            tops: Vec::new(),
            bottoms: Vec::new(),
            spare: [Vec::new(), Vec::new()],
            leaves: None,
            active: 1 << point.len(),
            sums: NOTHING,
        }
    }

    pub fn new(layer: Layer, point: &[E], lambda: E) -> Self {
        let mut made = Self::empty(point, lambda);
        made.tops = layer.numerators;
        made.bottoms = layer.denominators;
        let half = made.tops.len() / 2;
        let (m0, n1) = made.tops.split_at_mut(half);
        let (d0, d1) = made.bottoms.split_at(half);
        let factor = Factor::new(lambda);
        let combine = |m: &mut E, d: E| {
            let mut sum = ExtensionSum::default();
            sum.plus(*m);
            sum.factor(&factor, d);
            *m = sum.value();
        };
        if point.is_empty() {
            combine(&mut m0[0], d0[0]);
            return made;
        }
        let weights = Split::new(&point[1..], PIECE);
        type Piece<'a> = (&'a mut [E], &'a [E], &'a [E], &'a [E]);
        let work = |(c, (m0, n1, d0, d1)): (usize, Piece)| {
            let mut sums = [ExtensionSum::default(); 2];
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
            let factor = weights.high[c];
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
                .reduce(|| NOTHING, both)
        };
        made
    }

    pub fn from_leaves(leaves: Leaves, point: &[E], lambda: E) -> Self {
        let mut made = Self::empty(point, lambda);
        made.active = leaves.active();
        let weights = Split::new(&point[1..], LEAF_PIECE);
        let size = 2 * weights.low.len();
        let work = |of: &mut Read, c: usize| {
            // Sums of n0 d1 + n1 d0 and of d0 d1, at 0 and their leading coefficients.
            let mut tops = [ExtensionSum::default(); 2];
            let mut bottoms = [ExtensionSum::default(); 2];
            if of.read(&leaves, c * size) {
                for (i, weight) in weights.low.iter().enumerate() {
                    of.add_pair(i, weight, &mut tops, &mut bottoms);
                }
            } else {
                for (i, weight) in weights.low.iter().enumerate() {
                    tops[0].base(weight.element(), of.n0[2 * i]);
                    bottoms[0].factor(weight, of.d0[2 * i]);
                }
            }
            let factor = weights.high[c];
            let sum = |k: usize| factor * (tops[k].value() + lambda * bottoms[k].value());
            (sum(0), sum(1))
        };
        made.sums = (0..weights.high.len())
            .into_par_iter()
            .map_init(|| Read::new(size), work)
            .reduce(|| NOTHING, both);
        made.leaves = Some(leaves);
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
        match self.leaves.take() {
            Some(leaves) => self.bind_leaves(&leaves, r),
            None => self.bind_tables(r),
        }
        self.active = self.active.div_ceil(2);
    }

    fn bind_tables(&mut self, r: E) {
        let from = self.tops.len() / 2;
        let to = from / 2;
        let r = Factor::new(r);
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
            type Piece<'a> = (
                &'a mut [E],
                &'a mut [E],
                &'a mut [E],
                &'a mut [E],
                &'a [E],
                &'a [E],
                &'a [E],
                &'a [E],
            );
            let work = |(c, piece): (usize, Piece)| {
                let (to_m0, to_n1, to_d0, to_d1, m0, n1, d0, d1) = piece;
                let mut sums = [ExtensionSum::default(); 2];
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
                    .reduce(|| NOTHING, both)
            };
        }
        self.spare = [
            std::mem::replace(&mut self.tops, tops),
            std::mem::replace(&mut self.bottoms, bottoms),
        ];
    }

    fn bind_leaves(&mut self, leaves: &Leaves, r: E) {
        let to = 1 << leaves.depth >> 2;
        let (r, lambda) = (Factor::new(r), Factor::new(self.lambda));
        let (mut tops, mut bottoms) = (zeros::<E>(2 * to), zeros::<E>(2 * to));
        let (to_m0, to_n1) = tops.split_at_mut(to);
        let (to_d0, to_d1) = bottoms.split_at_mut(to);
        let weights = Split::new(&self.point[self.round + 1..], LEAF_PIECE);
        let size = 2 * weights.low.len();
        let pieces = (
            to_m0.par_chunks_mut(size),
            to_n1.par_chunks_mut(size),
            to_d0.par_chunks_mut(size),
            to_d1.par_chunks_mut(size),
        );
        let top = |of: &[F], i: usize| {
            let (low, high) = (of[2 * i], of[2 * i + 1]);
            if low == high {
                low.into()
            } else {
                r.base_line(low, high)
            }
        };
        let bottom = |of: &[E], i: usize| {
            let (low, high) = (of[2 * i], of[2 * i + 1]);
            if low.b == high.b {
                E::new(F::ZERO, low.b) + r.base_line(low.a, high.a)
            } else {
                r.line(low, high)
            }
        };
        let combined = |n: E, d: E| {
            let mut sum = ExtensionSum::default();
            sum.plus(n);
            sum.factor(&lambda, d);
            sum.value()
        };
        self.sums = pieces
            .into_par_iter()
            .enumerate()
            .map_init(
                || Read::new(2 * size),
                |of, (c, (m0, n1, d0, d1))| {
                    let active = of.read(leaves, 2 * c * size);
                    for i in 0..size {
                        d0[i] = bottom(&of.d0, i);
                        m0[i] = combined(top(&of.n0, i), d0[i]);
                    }
                    if active {
                        for i in 0..size {
                            n1[i] = top(&of.n1, i);
                            d1[i] = bottom(&of.d1, i);
                        }
                    } else {
                        d1.fill(E::ONE);
                    }
                    let mut sums = [ExtensionSum::default(); 2];
                    for (i, weight) in weights.low.iter().enumerate() {
                        let (low, high) = (2 * i, 2 * i + 1);
                        if active {
                            add_pair(
                                &mut sums,
                                weight,
                                [m0[low], n1[low], d0[low], d1[low]],
                                [m0[high], n1[high], d0[high], d1[high]],
                            );
                        } else {
                            sums[0].factor(weight, m0[low]);
                        }
                    }
                    let factor = weights.high[c];
                    (factor * sums[0].value(), factor * sums[1].value())
                },
            )
            .reduce(|| NOTHING, both);
        (self.tops, self.bottoms) = (tops, bottoms);
    }

    /// n0, n1, d0, d1 at the point that all variables are bound to.
    pub fn ends(&self) -> Vec<E> {
        let ([m0, n1], [d0, d1]) = ([self.tops[0], self.tops[1]], [self.bottoms[0], self.bottoms[1]]);
        vec![m0 - self.lambda * d0, n1, d0, d1]
    }
}

#[cfg(test)]
mod tests {
    use super::super::multilinear::{bind, equality, interpolate};
    use super::super::tree::{above, above_leaves, stored};
    use super::*;

    fn element(i: u64) -> E {
        E::new(
            F::reduced(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            F::reduced(i * i + 3),
        )
    }

    #[test]
    fn leaves_that_are_made_when_read_give_the_layers_and_messages_of_stored_ones() {
        let depth = Leaves::example().depth;
        let whole = stored(&Leaves::example());
        let (upper, direct) = (above(&whole), above_leaves(&Leaves::example()));
        assert!(upper.numerators == direct.numerators && upper.denominators == direct.denominators);
        let point: Vec<E> = (1..depth as u64).map(element).collect();
        let lambda = element(50);
        let half = whole.numerators.len() / 2;
        let (n0, n1) = whole.numerators.split_at(half);
        let (d0, d1) = whole.denominators.split_at(half);
        let m0: Vec<E> = n0.iter().zip(d0).map(|(&n, &d)| n + lambda * d).collect();
        let mut tables = [equality(&point), m0, n1.to_vec(), d0.to_vec(), d1.to_vec()];
        let terms = |tables: &[Vec<E>; 5], x: F| {
            let at = |table: &[E], i: usize| table[2 * i] + (table[2 * i + 1] - table[2 * i]) * x;
            (0..tables[0].len() / 2).fold(E::ZERO, |sum, i| {
                let [w, m0, n1, d0, d1] = [0, 1, 2, 3, 4].map(|t| at(&tables[t], i));
                sum + w * (d1 * m0 + n1 * d0)
            })
        };
        let mut claim = terms(&tables, F::ZERO) + terms(&tables, F::ONE);
        let mut lazy = LayerProver::from_leaves(Leaves::example(), &point, lambda);
        let mut plain = LayerProver::new(whole, &point, lambda);
        for round in 0..point.len() {
            let message = lazy.message(claim);
            assert_eq!(message, plain.message(claim));
            assert_eq!(
                message,
                [0, 2, 3].map(|x| terms(&tables, F::reduced(x))),
                "round {round}"
            );
            let r = element(round as u64 + 200);
            claim = interpolate(claim, &message, r);
            lazy.bind(r);
            plain.bind(r);
            tables = tables.map(|table| bind(&table, r));
        }
        let [_, m0, n1, d0, d1] = tables.map(|table| table[0]);
        assert_eq!(lazy.ends(), [m0 - lambda * d0, n1, d0, d1]);
        assert_eq!(lazy.ends(), plain.ends());
    }
}
