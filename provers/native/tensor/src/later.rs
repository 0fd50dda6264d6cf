//! Weights on an opening's vectors that the opening itself makes, and the extension of all weights at its end.

use crate::extension::Extension;
use crate::field::F;
use crate::folding::powers_at;
use crate::geometry::{Block, Vector};
use crate::multilinear::equality_at;

/// Weights on a block of a vector.
pub enum Later<E> {
    /// Of powers of what places stand for, each times a coefficient.
    Powers(Vec<(E, F)>),
    /// Of the first elements.
    First(Vec<(usize, E)>),
}

impl<E: Extension> Later<E> {
    /// The extension over a block, of as many weights as are its length, at a point of its variables.
    fn at(&self, length: usize, point: &[E]) -> E {
        match self {
            Later::Powers(terms) => powers_at(terms, length, point),
            Later::First(terms) => terms.iter().fold(E::ZERO, |sum, &(place, weight)| {
                sum + weight * equality_at(point, place)
            }),
        }
    }
}

/// A fold: its challenges, and the weights that it adds on the vector that it makes.
pub struct Passed<E> {
    pub point: Vec<E>,
    pub later: Vec<(Block, Later<E>)>,
}

/// The extension of all weights at a point of the last vector; `weight_at` is that of a table's.
pub fn weight<E: Extension>(
    vectors: &[Vector],
    passed: &[Passed<E>],
    mut point: Vec<E>,
    weight_at: impl Fn(usize, &[E]) -> E,
) -> E {
    let within = |point: &[E], block: &Block| equality_at(&point[block.bits..], block.offset >> block.bits);
    let (mut factor, mut sum) = (E::ONE, E::ZERO);
    for (number, (vector, folded)) in vectors.iter().zip(passed).enumerate().rev() {
        for (block, weights) in &folded.later {
            sum += factor * within(&point, block) * weights.at(block.length, &point[..block.bits]);
        }
        let before = |block: &Block| [&folded.point, &point[..block.bits]].concat();
        if number == 0 {
            for (table, block) in vector.folds.iter().enumerate() {
                sum += factor * within(&point, block) * weight_at(table, &before(block));
            }
        } else {
            let block = &vector.folds[0];
            factor = factor * within(&point, block);
            point = before(block);
        }
    }
    sum
}
