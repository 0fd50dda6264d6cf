//! The prover's side of the tree of fractions: its layers, and the sumcheck from each to the one below.

use std::mem::take;

use rayon::prelude::*;

use super::field::{E, ExtensionSum, F, Factor};
use super::leaves::Leaves;
use super::memory::zeros;
use super::multilinear::{Split, equality_of};

/// Pairs that one piece of work sums over, in bits: their weights stay in the nearest cache.
const PIECE: usize = 9;
/// The same where leaves are made, which take more space.
const LEAF_PIECE: usize = 8;
/// Up to so many leaves, in bits, they are made once and stored.
const STORED: usize = 12;

/// Fractions of one level of the tree.
pub struct Layer {
    numerators: Vec<E>,
    denominators: Vec<E>,
}

/// A level that is stored, or the leaves.
enum Level {
    Stored(Layer),
    Leaves(Leaves),
}

/// The tree of fractions, root last; each level's fractions are the sums of one in the first half below and one in the second.
pub struct Tree(Vec<Level>);

impl Tree {
    pub fn new(leaves: Leaves) -> Self {
        let depth = leaves.depth;
        let (bottom, next) = if depth <= STORED {
            let layer = stored(&leaves);
            let next = above(&layer);
            (Level::Stored(layer), next)
        } else {
            let next = above_leaves(&leaves);
            (Level::Leaves(leaves), next)
        };
        let mut levels = vec![bottom];
        let mut last = next;
        for _ in 1..depth {
            let next = above(&last);
            levels.push(Level::Stored(last));
            last = next;
        }
        levels.push(Level::Stored(last));
        Self(levels)
    }

    /// Takes the root's denominator off the tree.
    pub fn root(&mut self) -> E {
        match self.0.pop() {
            Some(Level::Stored(layer)) => layer.denominators[0],
            _ => unreachable!("a tree has a root"),
        }
    }

    /// Takes the uppermost level off the tree.
    pub fn descend(&mut self, point: &[E], lambda: E) -> LayerProver {
        match self.0.pop() {
            Some(Level::Stored(layer)) => LayerProver::new(layer, point, lambda),
            Some(Level::Leaves(leaves)) => LayerProver::from_leaves(leaves, point, lambda),
            None => unreachable!("a level for each variable of the leaves"),
        }
    }
}

fn stored(leaves: &Leaves) -> Layer {
    let mut numerators = vec![F::ZERO; 1 << leaves.depth];
    let mut denominators = vec![E::ZERO; 1 << leaves.depth];
    leaves.read(0, &mut numerators, &mut denominators);
    Layer {
        numerators: numerators.into_iter().map(E::from).collect(),
        denominators,
    }
}

/// The level above: the sums of a fraction in the first half and one in the second.
fn above(layer: &Layer) -> Layer {
    let half = layer.numerators.len() / 2;
    let (n0, n1) = layer.numerators.split_at(half);
    let (d0, d1) = layer.denominators.split_at(half);
    let mut made = Layer {
        numerators: zeros(half),
        denominators: zeros(half),
    };
    let work = |(n, d, n0, n1, d0, d1): (&mut [E], &mut [E], &[E], &[E], &[E], &[E])| {
        for i in 0..n.len() {
            let mut sum = ExtensionSum::default();
            sum.add(d1[i], n0[i]);
            sum.add(d0[i], n1[i]);
            n[i] = sum.value();
            d[i] = d0[i] * d1[i];
        }
    };
    let size = 2 << PIECE;
    let (n, d) = (&mut made.numerators, &mut made.denominators);
    if half <= size {
        work((n, d, n0, n1, d0, d1));
    } else {
        (
            n.par_chunks_mut(size),
            d.par_chunks_mut(size),
            n0.par_chunks(size),
            n1.par_chunks(size),
            d0.par_chunks(size),
            d1.par_chunks(size),
        )
            .into_par_iter()
            .for_each(work);
    }
    made
}

/// Leaves of both halves, a piece of each.
struct Read {
    n0: Vec<F>,
    n1: Vec<F>,
    d0: Vec<E>,
    d1: Vec<E>,
}

impl Read {
    fn new(size: usize) -> Self {
        Self {
            n0: vec![F::ZERO; size],
            n1: vec![F::ZERO; size],
            d0: vec![E::ZERO; size],
            d1: vec![E::ZERO; size],
        }
    }

    /// Whether the piece of the second half has a fraction other than 0 / 1.
    fn read(&mut self, leaves: &Leaves, at: usize) -> bool {
        let active = at < leaves.active();
        leaves.read(at, &mut self.n0, &mut self.d0);
        if active {
            leaves.read((1 << leaves.depth >> 1) + at, &mut self.n1, &mut self.d1);
        }
        active
    }
}

fn above_leaves(leaves: &Leaves) -> Layer {
    let half = 1 << leaves.depth >> 1;
    let mut made = Layer {
        numerators: zeros(half),
        denominators: zeros(half),
    };
    let size = 2 << LEAF_PIECE;
    let pieces = (
        made.numerators.par_chunks_mut(size),
        made.denominators.par_chunks_mut(size),
    );
    pieces.into_par_iter().enumerate().for_each_init(
        || Read::new(size),
        |of, (c, (n, d))| {
            if !of.read(leaves, c * size) {
                for (n, &own) in n.iter_mut().zip(&of.n0) {
                    *n = own.into();
                }
                d.copy_from_slice(&of.d0);
                return;
            }
            for i in 0..size {
                let (d0, d1) = (of.d0[i], of.d1[i]);
                n[i] = if of.n0[i] == F::ONE && of.n1[i] == F::ONE {
                    d0 + d1
                } else {
                    let mut sum = ExtensionSum::default();
                    sum.base(d1, of.n0[i]);
                    sum.base(d0, of.n1[i]);
                    sum.value()
                };
                d[i] = d0 * d1;
            }
        },
    );
    made
}

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

    fn new(layer: Layer, point: &[E], lambda: E) -> Self {
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
        let work = |(c, (m0, n1, d0, d1)): (usize, (&mut [E], &[E], &[E], &[E]))| {
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

    fn from_leaves(leaves: Leaves, point: &[E], lambda: E) -> Self {
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

impl Read {
    #[inline(always)]
    fn add_pair(
        &self,
        i: usize,
        weight: &Factor,
        tops: &mut [ExtensionSum; 2],
        bottoms: &mut [ExtensionSum; 2],
    ) {
        let (low, high) = (2 * i, 2 * i + 1);
        let (d0, d1) = (self.d0[low], self.d1[low]);
        let (n0, n1) = (self.n0[low], self.n1[low]);
        let (step0, step1) = (self.d0[high] - d0, self.d1[high] - d1);
        bottoms[0].factor(weight, d0 * d1);
        let ones = n0 == F::ONE && n1 == F::ONE;
        if ones
            && self.n0[high] == F::ONE
            && self.n1[high] == F::ONE
            && step0.b == step1.b
            && step0.b == F::ZERO
        {
            tops[0].factor(weight, d0 + d1);
            bottoms[1].base(weight.element(), step0.a * step1.a);
            return;
        }
        let mut sum = ExtensionSum::default();
        sum.base(d1, n0);
        sum.base(d0, n1);
        tops[0].factor(weight, sum.value());
        let mut sum = ExtensionSum::default();
        sum.base(step1, self.n0[high] - n0);
        sum.base(step0, self.n1[high] - n1);
        tops[1].factor(weight, sum.value());
        bottoms[1].factor(weight, step0 * step1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::multilinear::{bind, equality, interpolate};
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
