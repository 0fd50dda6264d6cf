//! The lowest levels of the tree of fractions, made from leaves that are made when they are read.

use std::mem::take;

use rayon::prelude::*;

use crate::extension::{Extension, ExtensionFactor, ExtensionSum};
use crate::field::F;
use crate::layer::{LayerProver, both, nothing};
use crate::leaves::Leaves;
use crate::memory::zeros;
use crate::multilinear::Split;
use crate::tree::Layer;

/// Pairs that one piece of work sums over, in bits: fewer than of stored layers, since leaves that are made take space.
pub const PIECE: usize = 8;

/// Leaves of both halves, a piece of each.
pub struct Read<E> {
    pub n0: Vec<F>,
    pub n1: Vec<F>,
    pub d0: Vec<E>,
    pub d1: Vec<E>,
}

impl<E: Extension> Read<E> {
    pub fn new(size: usize) -> Self {
        Self {
            n0: vec![F::ZERO; size],
            n1: vec![F::ZERO; size],
            d0: vec![E::ZERO; size],
            d1: vec![E::ZERO; size],
        }
    }

    /// So many leaves of both halves; whether the piece of the second half has a fraction other than 0 / 1.
    pub fn read(&mut self, leaves: &Leaves<E>, at: usize, size: usize) -> bool {
        let active = at < leaves.active();
        leaves.read(at, &mut self.n0[..size], &mut self.d0[..size]);
        if active {
            let half = 1 << leaves.depth >> 1;
            leaves.read(half + at, &mut self.n1[..size], &mut self.d1[..size]);
        }
        active
    }

    /// Adds one pair to the sums of n0 d1 + n1 d0 and of d0 d1, each at 0 and its leading coefficient.
    #[inline(always)]
    pub fn add_pair(&self, i: usize, weight: &E::Factor, tops: &mut [E::Sum; 2], bottoms: &mut [E::Sum; 2]) {
        let (low, high) = (2 * i, 2 * i + 1);
        let (d0, d1) = (self.d0[low], self.d1[low]);
        let (n0, n1) = (self.n0[low], self.n1[low]);
        let (step0, step1) = (self.d0[high] - d0, self.d1[high] - d1);
        bottoms[0].factor(weight, d0 * d1);
        let ones = n0 == F::ONE && n1 == F::ONE;
        if ones
            && self.n0[high] == F::ONE
            && self.n1[high] == F::ONE
            && step0.upper() == E::ZERO
            && step1.upper() == E::ZERO
        {
            tops[0].factor(weight, d0 + d1);
            bottoms[1].base(weight.element(), step0.base() * step1.base());
            return;
        }
        let mut sum = E::Sum::default();
        sum.base(d1, n0);
        sum.base(d0, n1);
        tops[0].factor(weight, sum.value());
        let mut sum = E::Sum::default();
        sum.base(step1, self.n0[high] - n0);
        sum.base(step0, self.n1[high] - n1);
        tops[1].factor(weight, sum.value());
        bottoms[1].factor(weight, step0 * step1);
    }
}

/// What one piece of work needs to make fractions of a level: leaves, and the second halves of each level above them.
pub struct Room<E> {
    pub read: Read<E>,
    halves: Vec<[Vec<E>; 2]>,
}

impl<E: Extension> Room<E> {
    /// For pieces of so many fractions of a level above the leaves.
    pub fn new(level: usize, size: usize) -> Self {
        let halves = || [vec![E::ZERO; size], vec![E::ZERO; size]];
        Self {
            read: Read::new(size),
            halves: (1..level).map(|_| halves()).collect(),
        }
    }
}

/// The fractions of a level above the leaves from a place on: sums of those that are half of the level below apart.
pub fn fractions<E: Extension>(
    leaves: &Leaves<E>,
    level: usize,
    at: usize,
    room: &mut Room<E>,
    [n, d]: [&mut [E]; 2],
) {
    if level > 1 {
        fractions(leaves, level - 1, at, room, [n, d]);
        let [mut other_n, mut other_d] = take(&mut room.halves[level - 2]);
        let (n1, d1) = (&mut other_n[..n.len()], &mut other_d[..d.len()]);
        let apart = (1 << leaves.depth) >> level;
        fractions(leaves, level - 1, at + apart, room, [n1, d1]);
        for (((n, d), &n1), &d1) in n.iter_mut().zip(d.iter_mut()).zip(n1.iter()).zip(d1.iter()) {
            let mut sum = E::Sum::default();
            sum.add(d1, *n);
            sum.add(*d, n1);
            (*n, *d) = (sum.value(), *d * d1);
        }
        room.halves[level - 2] = [other_n, other_d];
        return;
    }
    let (of, size) = (&mut room.read, n.len());
    if !of.read(leaves, at, size) {
        for (n, &own) in n.iter_mut().zip(&of.n0) {
            *n = own.into();
        }
        d.copy_from_slice(&of.d0[..size]);
        return;
    }
    for i in 0..size {
        let (d0, d1) = (of.d0[i], of.d1[i]);
        n[i] = if of.n0[i] == F::ONE && of.n1[i] == F::ONE {
            d0 + d1
        } else {
            let mut sum = E::Sum::default();
            sum.base(d1, of.n0[i]);
            sum.base(d0, of.n1[i]);
            sum.value()
        };
        d[i] = d0 * d1;
    }
}

/// A level above the leaves.
pub fn above_leaves<E: Extension>(leaves: &Leaves<E>, level: usize) -> Layer<E> {
    let count = (1 << leaves.depth) >> level;
    let mut made = Layer {
        numerators: zeros(count),
        denominators: zeros(count),
    };
    let size = (2 << PIECE).min(count);
    let pieces = (
        made.numerators.par_chunks_mut(size),
        made.denominators.par_chunks_mut(size),
    );
    pieces.into_par_iter().enumerate().for_each_init(
        || Room::new(level, size),
        |room, (c, (n, d))| fractions(leaves, level, c * size, room, [n, d]),
    );
    made
}

impl<E: Extension> LayerProver<E> {
    /// The sums of the first round over leaves.
    pub(crate) fn sum_leaves(&mut self, leaves: &Leaves<E>) {
        let weights = Split::new(&self.point[1..], PIECE);
        let size = 2 * weights.low.len();
        let lambda = self.lambda;
        let work = |of: &mut Read<E>, c: usize| {
            // Sums of n0 d1 + n1 d0 and of d0 d1, at 0 and their leading coefficients.
            let mut tops = [E::Sum::default(); 2];
            let mut bottoms = [E::Sum::default(); 2];
            if of.read(leaves, c * size, size) {
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
        self.sums = (0..weights.high.len())
            .into_par_iter()
            .map_init(|| Read::new(size), work)
            .reduce(nothing, both);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cubic::Cubic;
    use crate::extension::tests::element;
    use crate::made::Made;
    use crate::multilinear::{bind, equality, interpolate};
    use crate::quadratic::Quadratic;
    use crate::tree::{above, stored};

    fn layers_and_messages<E: Extension>() {
        let depth = Leaves::<E>::example().depth;
        let leaves = Arc::new(Leaves::<E>::example());
        let mut levels = vec![stored(&leaves)];
        for level in 1..=4 {
            let (next, direct) = (above(&levels[level - 1]), above_leaves(&leaves, level));
            assert!(next.numerators == direct.numerators && next.denominators == direct.denominators);
            levels.push(next);
        }
        // Levels whose tables are made when so many variables are bound, and in the first round of all.
        for (level, rounds) in [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (2, 1), (2, 2)] {
            let made = Made::new(&leaves, level, rounds);
            messages(&levels[level], depth - level - 1, made);
        }
    }

    fn messages<E: Extension>(whole: &Layer<E>, rounds: usize, made: Made<E>) {
        let point: Vec<E> = (1..=rounds as u64).map(element).collect();
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
        let mut lazy = LayerProver::from_made(made, &point, lambda);
        let mut plain = LayerProver::new(
            Layer {
                numerators: whole.numerators.clone(),
                denominators: whole.denominators.clone(),
            },
            &point,
            lambda,
        );
        for round in 0..point.len() {
            let message = lazy.message(claim);
            assert_eq!(message, plain.message(claim));
            assert_eq!(
                message,
                [0, 2, 3].map(|x| terms(&tables, F::reduced(x))),
                "round {round}"
            );
            let r = element(round as u64 + 200);
            claim = interpolate::<E, E>(claim, &message, r);
            lazy.bind(r);
            plain.bind(r);
            tables = tables.map(|table| bind(&table, r));
        }
        let [_, m0, n1, d0, d1] = tables.map(|table| table[0]);
        assert_eq!(lazy.ends(), [m0 - lambda * d0, n1, d0, d1]);
        assert_eq!(lazy.ends(), plain.ends());
    }

    #[test]
    fn leaves_that_are_made_when_read_give_the_layers_and_messages_of_stored_ones() {
        layers_and_messages::<Quadratic>();
        layers_and_messages::<Cubic>();
    }
}
