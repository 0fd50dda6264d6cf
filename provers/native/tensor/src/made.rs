//! The sumcheck of a level of fractions that is made from leaves in each round, until some variables are bound.

use std::sync::Arc;

use rayon::prelude::*;

use crate::bottom::{PIECE, Read, Room, fractions};
use crate::extension::{Extension, ExtensionFactor, ExtensionSum};
use crate::field::F;
use crate::layer::{LayerProver, add_pair, both, nothing};
use crate::leaves::Leaves;
use crate::memory::zeros;
use crate::multilinear::Split;

/// n0, n1, d0, d1 of a piece.
type Piece<'a, E> = [&'a mut [E]; 4];

/// A level above leaves, 0 the leaves themselves, of which nothing is stored until so many variables are bound.
pub struct Made<E: Extension> {
    leaves: Arc<Leaves<E>>,
    level: usize,
    rounds: usize,
    bound: Vec<E::Factor>,
}

/// Memory for one piece of work: pieces twice, four times as wide and so on, and what their fractions are made in.
struct Scratch<E> {
    pieces: Vec<[Vec<E>; 4]>,
    room: Room<E>,
}

/// The line through two leaves' numerators, most of which are equal.
fn top<E: Extension>(r: &E::Factor, of: &[F], i: usize) -> E {
    let (low, high) = (of[2 * i], of[2 * i + 1]);
    if low == high {
        low.into()
    } else {
        r.base_line(low, high)
    }
}

/// That through their denominators, most of which differ by an element of the base field.
fn bottom<E: Extension>(r: &E::Factor, of: &[E], i: usize) -> E {
    let (low, high) = (of[2 * i], of[2 * i + 1]);
    if low.upper() == high.upper() {
        low.upper() + r.base_line(low.base(), high.base())
    } else {
        r.line(low, high)
    }
}

impl<E: Extension> Made<E> {
    pub fn new(leaves: &Arc<Leaves<E>>, level: usize, rounds: usize) -> Self {
        Self {
            leaves: leaves.clone(),
            level,
            rounds,
            bound: Vec::new(),
        }
    }

    /// Fractions of a half of the level.
    fn half(&self) -> usize {
        (1 << self.leaves.depth >> 1) >> self.level
    }

    /// From this place on the second half is 0 / 1.
    fn active(&self) -> usize {
        if self.level == 0 {
            self.leaves.active()
        } else {
            self.half()
        }
    }

    /// What pieces of so many entries take.
    fn scratch(&self, size: usize) -> Scratch<E> {
        let pieces = (1..=self.bound.len()).map(|k| [(); 4].map(|()| vec![E::ZERO; size << k]));
        let widest = size << self.bound.len();
        Scratch {
            pieces: pieces.collect(),
            room: Room::new(self.level, widest),
        }
    }

    /// Entries of both halves from a place on, with these variables bound.
    fn fill(&self, bound: &[E::Factor], at: usize, scratch: &mut Scratch<E>, made: Piece<E>) {
        match (self.level, bound) {
            (0, []) => {
                let of = &mut scratch.room.read;
                self.fill_leaves((at, 1), of, made, |n, i| n[i].into(), |d, i| d[i]);
            }
            (0, [r]) => {
                let of = &mut scratch.room.read;
                self.fill_leaves((at, 2), of, made, |n, i| top(r, n, i), |d, i| bottom(r, d, i));
            }
            (level, []) => {
                let [n0, n1, d0, d1] = made;
                fractions(&self.leaves, level, at, &mut scratch.room, [n0, d0]);
                fractions(&self.leaves, level, self.half() + at, &mut scratch.room, [n1, d1]);
            }
            (_, [before @ .., r]) => {
                let place = self.bound.len() - bound.len();
                let mut wide = std::mem::take(&mut scratch.pieces[place]);
                let size = 2 * made[0].len();
                self.fill(
                    before,
                    2 * at,
                    scratch,
                    wide.each_mut().map(|own| &mut own[..size]),
                );
                for (to, from) in made.into_iter().zip(&wide) {
                    for (to, pair) in to.iter_mut().zip(from.chunks_exact(2)) {
                        *to = r.line(pair[0], pair[1]);
                    }
                }
                scratch.pieces[place] = wide;
            }
        }
    }

    /// Entries made of one leaf each, or of two.
    fn fill_leaves(
        &self,
        (at, each): (usize, usize),
        of: &mut Read<E>,
        [n0, n1, d0, d1]: Piece<E>,
        top: impl Fn(&[F], usize) -> E,
        bottom: impl Fn(&[E], usize) -> E,
    ) {
        let size = n0.len();
        let active = of.read(&self.leaves, each * at, each * size);
        for i in 0..size {
            n0[i] = top(&of.n0, i);
            d0[i] = bottom(&of.d0, i);
        }
        if active {
            for i in 0..size {
                n1[i] = top(&of.n1, i);
                d1[i] = bottom(&of.d1, i);
            }
        } else {
            n1.fill(E::ZERO);
            d1.fill(E::ONE);
        }
    }
}

impl<E: Extension> LayerProver<E> {
    pub fn from_made(made: Made<E>, point: &[E], lambda: E) -> Self {
        let mut prover = Self::empty(point, lambda);
        prover.active = made.active();
        if made.level == 0 {
            prover.sum_leaves(&made.leaves);
        } else {
            prover.sum_made(&made);
        }
        prover.made = Some(made);
        prover
    }

    /// Binds a variable, and makes the tables if it is the last of those that they wait for.
    pub(crate) fn bind_made(&mut self, mut made: Made<E>, r: E) {
        made.bound.push(E::Factor::new(r));
        if made.bound.len() == made.rounds {
            self.store_made(&made);
        } else {
            self.sum_made(&made);
            self.made = Some(made);
        }
    }

    /// The sums of a round, of which nothing else is kept.
    fn sum_made(&mut self, made: &Made<E>) {
        let weights = self.weights();
        let size = 2 * weights.low.len();
        let work = |(own, scratch): &mut ([Vec<E>; 4], Scratch<E>), c: usize| {
            let own = own.each_mut().map(|own| &mut own[..]);
            self.piece(made, &weights, scratch, c, own)
        };
        let own = || [(); 4].map(|()| vec![E::ZERO; size]);
        let sums = (0..weights.high.len())
            .into_par_iter()
            .map_init(|| (own(), made.scratch(size)), work)
            .reduce(nothing, both);
        self.sums = sums;
    }

    /// The tables, and the sums of the round.
    fn store_made(&mut self, made: &Made<E>) {
        let weights = self.weights();
        let size = 2 * weights.low.len();
        let to = size * weights.high.len();
        let (mut tops, mut bottoms) = (zeros::<E>(2 * to), zeros::<E>(2 * to));
        let (m0, n1) = tops.split_at_mut(to);
        let (d0, d1) = bottoms.split_at_mut(to);
        let pieces = (
            m0.par_chunks_mut(size),
            n1.par_chunks_mut(size),
            d0.par_chunks_mut(size),
            d1.par_chunks_mut(size),
        );
        let work = |scratch: &mut Scratch<E>, (c, (m0, n1, d0, d1))| {
            self.piece(made, &weights, scratch, c, [m0, n1, d0, d1])
        };
        let sums = pieces
            .into_par_iter()
            .enumerate()
            .map_init(|| made.scratch(size), work)
            .reduce(nothing, both);
        self.sums = sums;
        (self.tops, self.bottoms) = (tops, bottoms);
    }

    /// eq of all variables behind the one of this round.
    fn weights(&self) -> Split<E> {
        Split::new(&self.point[self.round + 1..], PIECE)
    }

    /// One piece of m0, n1, d0, d1, and what it adds to the sums.
    fn piece(
        &self,
        made: &Made<E>,
        weights: &Split<E>,
        scratch: &mut Scratch<E>,
        c: usize,
        [m0, n1, d0, d1]: Piece<E>,
    ) -> (E, E) {
        made.fill(&made.bound, c * m0.len(), scratch, [m0, n1, d0, d1]);
        let lambda = E::Factor::new(self.lambda);
        for (m, &d) in m0.iter_mut().zip(d0.iter()) {
            let mut sum = E::Sum::default();
            sum.plus(*m);
            sum.factor(&lambda, d);
            *m = sum.value();
        }
        let mut sums = [E::Sum::default(); 2];
        for (i, weight) in weights.low.iter().enumerate() {
            let (low, high) = (2 * i, 2 * i + 1);
            add_pair(
                &mut sums,
                weight,
                [m0[low], n1[low], d0[low], d1[low]],
                [m0[high], n1[high], d0[high], d1[high]],
            );
        }
        let factor = weights.high[c];
        (factor * sums[0].value(), factor * sums[1].value())
    }
}
