//! The prover's tree of fractions: leaves that are made when they are read, and the layers of sums above them.

use std::sync::Arc;

use rayon::prelude::*;

use crate::abreast::{self, ABREAST, GROUP};
use crate::bottom::above_leaves;
use crate::extension::{Extension, ExtensionSum};
use crate::field::F;
use crate::layer::LayerProver;
use crate::leaves::Leaves;
use crate::made::Made;
use crate::memory::zeros;
use crate::pieces::add_fractions;

/// Pairs that one piece of work sums over, in bits: their weights stay in the nearest cache.
pub const PIECE: usize = 9;
/// Up to so many leaves, in bits, they are made once and stored.
const STORED: usize = 12;
/// Levels of more fractions, in bits, are not stored: 2^25 of degree 3 take 1.6 GB, and all above them as much.
const LARGEST: usize = 25;

/// Fractions of one level of the tree.
pub struct Layer<E> {
    pub numerators: Vec<E>,
    pub denominators: Vec<E>,
}

/// A level that is stored; or one that is made from the leaves in each round, until it is as small as one that is stored.
enum Level<E: Extension> {
    Stored(Layer<E>),
    Made(Made<E>),
}

/// The tree of fractions, root last; each level's fractions are the sums of one in the first half below and one in the second.
pub struct Tree<E: Extension>(Vec<Level<E>>);

impl<E: Extension> Tree<E> {
    pub fn new(leaves: Leaves<E>) -> Self {
        Self::stored_up_to(LARGEST, leaves)
    }

    /// Levels of more than 2^largest fractions are not stored, nor are leaves that are many.
    fn stored_up_to(largest: usize, leaves: Leaves<E>) -> Self {
        let depth = leaves.depth;
        let (mut levels, mut last);
        if depth <= STORED {
            let layer = stored(&leaves);
            last = above(&layer);
            levels = vec![Level::Stored(layer)];
        } else {
            let leaves = Arc::new(leaves);
            let rounds = |level: usize| depth.saturating_sub(largest + level).max(1);
            let first = rounds(0);
            last = above_leaves(&leaves, first);
            let made = |level| Level::Made(Made::new(&leaves, level, rounds(level)));
            levels = (0..first).map(made).collect();
        }
        for _ in levels.len()..depth {
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
    pub fn descend(&mut self, point: &[E], lambda: E) -> LayerProver<E> {
        match self.0.pop() {
            Some(Level::Stored(layer)) => LayerProver::new(layer, point, lambda),
            Some(Level::Made(made)) => LayerProver::from_made(made, point, lambda),
            None => unreachable!("a level for each variable of the leaves"),
        }
    }
}

pub fn stored<E: Extension>(leaves: &Leaves<E>) -> Layer<E> {
    let mut numerators = vec![F::ZERO; 1 << leaves.depth];
    let mut denominators = vec![E::ZERO; 1 << leaves.depth];
    leaves.read(0, &mut numerators, &mut denominators);
    Layer {
        numerators: numerators.into_iter().map(E::from).collect(),
        denominators,
    }
}

/// The level above: the sums of a fraction in the first half and one in the second.
pub fn above<E: Extension>(layer: &Layer<E>) -> Layer<E> {
    let half = layer.numerators.len() / 2;
    let (n0, n1) = layer.numerators.split_at(half);
    let (d0, d1) = layer.denominators.split_at(half);
    let mut made = Layer {
        numerators: zeros(half),
        denominators: zeros(half),
    };
    type Piece<'a, E> = (&'a mut [E], &'a mut [E], &'a [E], &'a [E], &'a [E], &'a [E]);
    let wide = abreast::chosen();
    let work = |(n, d, n0, n1, d0, d1): Piece<E>| {
        if let Some(with) = wide.filter(|_| n.len().is_multiple_of(GROUP * ABREAST)) {
            add_fractions(with, [n0, n1, d0, d1], n, d);
            return;
        }
        for i in 0..n.len() {
            let mut sum = E::Sum::default();
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
