//! The lowest level of the tree of fractions, whose leaves are made when they are read: the layer above, the sumcheck.

use rayon::prelude::*;

use crate::extension::{Extension, ExtensionFactor, ExtensionSum};
use crate::field::F;
use crate::layer::{LayerProver, add_pair, both, nothing};
use crate::leaves::Leaves;
use crate::memory::zeros;
use crate::multilinear::Split;
use crate::tree::Layer;

/// Pairs that one piece of work sums over, in bits: fewer than of stored layers, since leaves that are made take space.
const PIECE: usize = 8;

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

    /// Whether the piece of the second half has a fraction other than 0 / 1.
    pub fn read(&mut self, leaves: &Leaves<E>, at: usize) -> bool {
        let active = at < leaves.active();
        leaves.read(at, &mut self.n0, &mut self.d0);
        if active {
            leaves.read((1 << leaves.depth >> 1) + at, &mut self.n1, &mut self.d1);
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

pub fn above_leaves<E: Extension>(leaves: &Leaves<E>) -> Layer<E> {
    let half = 1 << leaves.depth >> 1;
    let mut made = Layer {
        numerators: zeros(half),
        denominators: zeros(half),
    };
    let size = 2 << PIECE;
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
                    let mut sum = E::Sum::default();
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

impl<E: Extension> LayerProver<E> {
    pub fn from_leaves(leaves: Leaves<E>, point: &[E], lambda: E) -> Self {
        let mut made = Self::empty(point, lambda);
        made.active = leaves.active();
        let weights = Split::new(&point[1..], PIECE);
        let size = 2 * weights.low.len();
        let work = |of: &mut Read<E>, c: usize| {
            // Sums of n0 d1 + n1 d0 and of d0 d1, at 0 and their leading coefficients.
            let mut tops = [E::Sum::default(); 2];
            let mut bottoms = [E::Sum::default(); 2];
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
            .reduce(nothing, both);
        made.leaves = Some(leaves);
        made
    }

    pub(crate) fn bind_leaves(&mut self, leaves: &Leaves<E>, r: E) {
        let to = 1 << leaves.depth >> 2;
        let (r, lambda) = (E::Factor::new(r), E::Factor::new(self.lambda));
        let (mut tops, mut bottoms) = (zeros::<E>(2 * to), zeros::<E>(2 * to));
        let (to_m0, to_n1) = tops.split_at_mut(to);
        let (to_d0, to_d1) = bottoms.split_at_mut(to);
        let weights = Split::new(&self.point[self.round + 1..], PIECE);
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
            if low.upper() == high.upper() {
                low.upper() + r.base_line(low.base(), high.base())
            } else {
                r.line(low, high)
            }
        };
        let combined = |n: E, d: E| {
            let mut sum = E::Sum::default();
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
                    let mut sums = [E::Sum::default(); 2];
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
            .reduce(nothing, both);
        (self.tops, self.bottoms) = (tops, bottoms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubic::Cubic;
    use crate::extension::tests::element;
    use crate::multilinear::{bind, equality, interpolate};
    use crate::quadratic::Quadratic;
    use crate::tree::{above, stored};

    fn layers_and_messages<E: Extension>() {
        let depth = Leaves::<E>::example().depth;
        let whole = stored(&Leaves::<E>::example());
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
