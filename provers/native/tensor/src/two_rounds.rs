//! The first two rounds of the sumcheck of a table in the base field, in one pass, before anything is bound.
//!
//! Of four neighbours f and their weights w the sum over both variables is quadratic in each, so what it is at 0, 1 and
//! in its leading coefficient gives both rounds. Tables of extension elements are first made when two variables are
//! bound: a quarter as long.

use rayon::prelude::*;

use crate::extension::{Extension, ExtensionFactor, ExtensionSum};
use crate::field::F;
use crate::memory::zeros;
use crate::pairs::{PIECE, Pairs, Sums, Weights, sum_piece};

/// The sum at 0, at 1 and its leading coefficient in the first variable, for the same three of the second; but at 1 and 1,
/// which no round asks for.
type Grid<E> = [[E; 3]; 3];

/// What the first two rounds need.
pub struct TwoRounds<E>(Grid<E>);

/// Adds products of four values and four weights.
#[inline(always)]
fn add<E: Extension>(sums: &mut [[E::Sum; 3]; 3], f: [F; 4], w: [E; 4]) {
    // At 0, 1 and the leading coefficient in the second variable: of both ends of the first.
    let f = [[f[0], f[1]], [f[2], f[3]], [f[2] - f[0], f[3] - f[1]]];
    let w = [[w[0], w[1]], [w[2], w[3]], [w[2] - w[0], w[3] - w[1]]];
    for (second, own) in sums.iter_mut().enumerate() {
        let ([f0, f1], [w0, w1]) = (f[second], w[second]);
        own[0].base(w0, f0);
        if second != 1 {
            own[1].base(w1, f1);
        }
        own[2].base(w1 - w0, f1 - f0);
    }
}

fn both<E: Extension>(x: Grid<E>, y: Grid<E>) -> Grid<E> {
    std::array::from_fn(|i| std::array::from_fn(|j| x[i][j] + y[i][j]))
}

impl<E: Extension> TwoRounds<E> {
    /// Of values in whole fours, and of weights not yet made.
    pub fn new(values: &[F], weights: &dyn Weights<E>) -> Self {
        let size = values.len().clamp(4, 2 * PIECE);
        let work = |made: &mut Vec<E>, (c, values): (usize, &[F])| {
            let made = &mut made[..values.len()];
            weights.read(c * size, made);
            let mut sums = [[E::Sum::default(); 3]; 3];
            for (f, w) in values.chunks_exact(4).zip(made.chunks_exact(4)) {
                add::<E>(&mut sums, [f[0], f[1], f[2], f[3]], [w[0], w[1], w[2], w[3]]);
            }
            sums.map(|own| own.map(E::Sum::value))
        };
        let grid = values
            .par_chunks(size)
            .enumerate()
            .map_init(|| vec![E::ZERO; size], work)
            .reduce(|| [[E::ZERO; 3]; 3], both);
        Self(grid)
    }

    /// The sums of the first round.
    pub fn first(&self) -> Sums<E> {
        let [zero, one, _] = &self.0;
        (zero[0] + one[0], zero[2] + one[2])
    }

    /// The sums of the second round, after the first variable is bound to r.
    pub fn second(&self, r: E) -> Sums<E> {
        let at = |[zero, one, leading]: [E; 3]| zero + r * (one - zero - leading + r * leading);
        (at(self.0[0]), at(self.0[2]))
    }
}

/// The tables with both variables bound.
pub fn bound<E: Extension>(values: &[F], weights: &dyn Weights<E>, [r, s]: [E; 2]) -> Pairs<E> {
    let quarter = values.len() / 4;
    let size = quarter.clamp(1, PIECE);
    let (r, s) = (E::Factor::new(r), E::Factor::new(s));
    let (mut x, mut y) = (zeros(quarter), zeros(quarter));
    type Piece<'a, E> = (&'a [F], &'a mut [E], &'a mut [E]);
    let work = |made: &mut Vec<E>, (c, (values, x, y)): (usize, Piece<E>)| {
        let made = &mut made[..values.len()];
        weights.read(4 * c * size, made);
        for (to, f) in x.iter_mut().zip(values.chunks_exact(4)) {
            *to = s.line(r.base_line(f[0], f[1]), r.base_line(f[2], f[3]));
        }
        for (to, w) in y.iter_mut().zip(made.chunks_exact(4)) {
            *to = s.line(r.line(w[0], w[1]), r.line(w[2], w[3]));
        }
        sum_piece((x, y))
    };
    let sums = (
        values.par_chunks(4 * size),
        x.par_chunks_mut(size),
        y.par_chunks_mut(size),
    )
        .into_par_iter()
        .enumerate()
        .map_init(|| vec![E::ZERO; 4 * size], work)
        .reduce(|| (E::ZERO, E::ZERO), |x, y| (x.0 + y.0, x.1 + y.1));
    Pairs::with(x, y, sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubic::Cubic;
    use crate::extension::tests::element;
    use crate::pairs::tests::Dense;
    use crate::quadratic::Quadratic;

    fn two_rounds_of_pairs<E: Extension>() {
        for size in [0, 4, 16, 48, 1024, 4096 + 16] {
            let values: Vec<F> = (0..size).map(|i| element::<E>(i + 7).base()).collect();
            let weights = Dense((0..size).map(element::<E>).collect());
            let wide = values.iter().map(|&f| f.into()).collect();
            let mut pairs = Pairs::new(wide, weights.0.clone());
            let rounds = TwoRounds::new(&values, &weights);
            assert_eq!(rounds.first(), pairs.sums());
            pairs.bind(element(99));
            assert_eq!(rounds.second(element(99)), pairs.sums());
            pairs.bind(element(100));
            let made = bound(&values, &weights, [element(99), element(100)]);
            assert_eq!(made.sums(), pairs.sums());
            assert_eq!(made.tables(), pairs.tables());
        }
    }

    #[test]
    fn both_rounds_and_what_is_bound_are_those_of_pairs() {
        two_rounds_of_pairs::<Quadratic>();
        two_rounds_of_pairs::<Cubic>();
    }
}
