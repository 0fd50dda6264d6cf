//! The prover's tree of fractions: leaves that are made when they are read, and the layers of sums above them.

use rayon::prelude::*;

use super::field::{E, F};
use super::layer::LayerProver;
use super::leaves::Leaves;
use super::memory::zeros;
use super::sums::{ExtensionSum, Factor};

/// Pairs that one piece of work sums over, in bits: their weights stay in the nearest cache.
pub const PIECE: usize = 9;
/// The same where leaves are made, which take more space.
pub const LEAF_PIECE: usize = 8;
/// Up to so many leaves, in bits, they are made once and stored.
const STORED: usize = 12;

/// Fractions of one level of the tree.
pub struct Layer {
    pub numerators: Vec<E>,
    pub denominators: Vec<E>,
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

pub fn stored(leaves: &Leaves) -> Layer {
    let mut numerators = vec![F::ZERO; 1 << leaves.depth];
    let mut denominators = vec![E::ZERO; 1 << leaves.depth];
    leaves.read(0, &mut numerators, &mut denominators);
    Layer {
        numerators: numerators.into_iter().map(E::from).collect(),
        denominators,
    }
}

/// The level above: the sums of a fraction in the first half and one in the second.
pub fn above(layer: &Layer) -> Layer {
    let half = layer.numerators.len() / 2;
    let (n0, n1) = layer.numerators.split_at(half);
    let (d0, d1) = layer.denominators.split_at(half);
    let mut made = Layer {
        numerators: zeros(half),
        denominators: zeros(half),
    };
    type Piece<'a> = (&'a mut [E], &'a mut [E], &'a [E], &'a [E], &'a [E], &'a [E]);
    let work = |(n, d, n0, n1, d0, d1): Piece| {
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
pub struct Read {
    pub n0: Vec<F>,
    pub n1: Vec<F>,
    pub d0: Vec<E>,
    pub d1: Vec<E>,
}

impl Read {
    pub fn new(size: usize) -> Self {
        Self {
            n0: vec![F::ZERO; size],
            n1: vec![F::ZERO; size],
            d0: vec![E::ZERO; size],
            d1: vec![E::ZERO; size],
        }
    }

    /// Whether the piece of the second half has a fraction other than 0 / 1.
    pub fn read(&mut self, leaves: &Leaves, at: usize) -> bool {
        let active = at < leaves.active();
        leaves.read(at, &mut self.n0, &mut self.d0);
        if active {
            leaves.read((1 << leaves.depth >> 1) + at, &mut self.n1, &mut self.d1);
        }
        active
    }
}

pub fn above_leaves(leaves: &Leaves) -> Layer {
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

impl Read {
    /// Adds one pair to the sums of n0 d1 + n1 d0 and of d0 d1, each at 0 and its leading coefficient.
    #[inline(always)]
    pub fn add_pair(
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
