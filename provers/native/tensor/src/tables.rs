//! Tables of an opening, and weights on them, as the rounds of one fold bind their variables.

use rayon::prelude::*;

use crate::extension::{Extension, ExtensionSum};
use crate::field::F;
use crate::geometry::{FOLD, WIDTH};
use crate::multilinear::equality;
use crate::pairs::{PIECE, Pairs, Sums, Weights, first_bound, first_sums};
use crate::two_rounds::{self, TwoRounds};

/// The prover's side of the sumcheck of f * w: before its first variable is bound, after, and between rounds.
pub enum Tables<'a, E> {
    /// Folded along one variable.
    One(Table<'a, E>),
    /// Along more: none of the first two is bound yet, or the first one is known.
    Two(Table<'a, E>, TwoRounds<E>, Option<E>),
    Bound(Bound<'a, E>),
    None,
}

/// Values in the base field, as many as hold anything, and weights on them.
pub struct Table<'a, E> {
    values: &'a [F],
    weights: &'a dyn Weights<E>,
    fold: usize,
}

impl<'a, E: Extension> Table<'a, E> {
    /// The values that have weights, and the others: whole leaves, so that no fold is of both.
    fn parts(&self) -> (&'a [F], &'a [F]) {
        let end = self.weights.end().max(1).next_multiple_of(WIDTH);
        self.values.split_at(end.min(self.values.len()))
    }

    fn bound(&self, pairs: Pairs<E>, point: Vec<E>) -> Bound<'a, E> {
        Bound {
            pairs,
            rest: self.parts().1,
            point,
            fold: self.fold,
        }
    }
}

/// Tables of which so many variables are bound before the others are left.
pub struct Bound<'a, E> {
    pairs: Pairs<E>,
    /// Behind those with weights the values that have none, which are bound at the end, all variables at once.
    rest: &'a [F],
    point: Vec<E>,
    fold: usize,
}

impl<E: Extension> Bound<'_, E> {
    /// The round's polynomial; a constant if no variable is left, as if there was one more on which nothing depends.
    fn sums(&self) -> Sums<E> {
        if self.point.len() < self.fold {
            return self.pairs.sums();
        }
        let mut sum = E::Sum::default();
        for (&x, &y) in self.pairs.x.iter().zip(&self.pairs.y) {
            sum.add(x, y);
        }
        (sum.value().half(), E::ZERO)
    }

    fn bind(&mut self, r: E) {
        if self.point.len() < self.fold {
            self.pairs.bind(r);
            self.point.push(r);
        } else {
            self.pairs.y.iter_mut().for_each(|weight| *weight = weight.half());
        }
    }

    fn tables(self) -> [Vec<E>; 2] {
        let [mut x, y] = self.pairs.tables();
        let weights = equality(&self.point);
        let bound = |values: &[F]| {
            let mut sum = E::Sum::default();
            for (&weight, &value) in weights.iter().zip(values) {
                sum.base(weight, value);
            }
            sum.value()
        };
        x.par_extend(self.rest.par_chunks(weights.len()).with_min_len(PIECE).map(bound));
        [x, y]
    }
}

impl<'a, E: Extension> Tables<'a, E> {
    /// Of whole leaves of 2^fold.
    pub fn new(values: &'a [F], weights: &'a dyn Weights<E>, fold: usize) -> Self {
        let table = Table {
            values,
            weights,
            fold,
        };
        if fold < 2 {
            return Tables::One(table);
        }
        let rounds = TwoRounds::new(table.parts().0, weights);
        Tables::Two(table, rounds, None)
    }

    pub fn of(pairs: Pairs<E>) -> Self {
        Tables::Bound(Bound {
            pairs,
            rest: &[],
            point: Vec::new(),
            fold: FOLD,
        })
    }

    pub fn sums(&self) -> Sums<E> {
        match self {
            Tables::One(table) => first_sums(table.parts().0, table.weights),
            Tables::Two(_, rounds, None) => rounds.first(),
            Tables::Two(_, rounds, Some(r)) => rounds.second(*r),
            Tables::Bound(bound) => bound.sums(),
            Tables::None => unreachable!("the prover holds tables"),
        }
    }

    pub fn bind(&mut self, r: E) {
        match self {
            Tables::One(table) => {
                let pairs = first_bound(table.parts().0, table.weights, r);
                *self = Tables::Bound(table.bound(pairs, vec![r]));
            }
            Tables::Two(_, _, first @ None) => *first = Some(r),
            Tables::Two(table, _, Some(first)) => {
                let point = [*first, r];
                let pairs = two_rounds::bound(table.parts().0, table.weights, point);
                *self = Tables::Bound(table.bound(pairs, point.to_vec()));
            }
            Tables::Bound(bound) => bound.bind(r),
            Tables::None => {}
        }
    }

    /// The values, and the weights, of which there may be fewer: all others are zero.
    pub fn take(&mut self) -> Option<[Vec<E>; 2]> {
        match std::mem::replace(self, Tables::None) {
            Tables::Bound(bound) => Some(bound.tables()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubic::Cubic;
    use crate::extension::tests::element;
    use crate::pairs::tests::Dense;
    use crate::quadratic::Quadratic;

    fn rest_is_bound_at_once<E: Extension>() {
        for (size, end) in [(1024, 48), (4096, 1104), (48, 48), (2048, 16), (0, 0)] {
            let values: Vec<F> = (0..size as u64).map(|i| element::<E>(i + 7).base()).collect();
            let weights = Dense((0..end as u64).map(element::<E>).collect());
            for fold in 1..=FOLD {
                // Beside each block as many copies as there are variables more.
                let copies = |values: &[E]| -> Vec<E> {
                    let leaf = 1 << fold;
                    let copies = values
                        .chunks_exact(leaf)
                        .flat_map(|leaf| leaf.repeat(WIDTH / leaf.len()));
                    copies.collect()
                };
                let less = (fold..FOLD).fold(E::ONE, |factor, _| factor.half());
                let mut all: Vec<E> = weights.0.iter().map(|&weight| weight * less).collect();
                all.resize(size, E::ZERO);
                let wide: Vec<E> = values.iter().map(|&f| f.into()).collect();
                let mut general = Pairs::new(copies(&wide), copies(&all));
                let mut tables = Tables::new(&values, &weights, fold);
                for round in 0..FOLD as u64 {
                    assert_eq!(tables.sums(), general.sums());
                    tables.bind(element(round + 99));
                    general.bind(element(round + 99));
                }
                let [x, mut y] = tables.take().expect("bound");
                y.resize(size >> fold, E::ZERO);
                assert_eq!([x, y], general.tables());
            }
        }
    }

    #[test]
    fn values_without_weights_are_bound_at_the_end() {
        rest_is_bound_at_once::<Quadratic>();
        rest_is_bound_at_once::<Cubic>();
    }
}
