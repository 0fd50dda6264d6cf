//! Pieces of a round's work on tables, eight pairs abreast: what `layer.rs`, `tree.rs` and `pairs.rs` do one by one.

use crate::abreast::{
    ABREAST, Abreast, Eights, GROUP, Products, line, minus, plus, read, splat, times, write,
};
use crate::extension::Extension;
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Work, run};

/// Work on elements of degree D.
trait Piece<E: Extension> {
    /// # Safety
    /// D is the degree of E, vectors are of eight words, and the processor has them.
    unsafe fn run<L: Lanes, const D: usize>(self);
}

struct Of<E, P>(P, std::marker::PhantomData<E>);

impl<E: Extension, P: Piece<E>> Work for Of<E, P> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        // SAFETY: the caller's, and that vectors and degrees are compared here.
        unsafe {
            match (L::COUNT, E::DEGREE) {
                (ABREAST, 2) => self.0.run::<L, 2>(),
                (ABREAST, 3) => self.0.run::<L, 3>(),
                _ => unreachable!("expected vectors of eight words, and a degree of 2 or 3"),
            }
        }
    }
}

fn abreast<E: Extension>(piece: impl Piece<E>, with: Instructions) {
    run(Of(piece, std::marker::PhantomData), with);
}

/// Of m0, n1, d0, d1 at 0 and at 1: what `add_pair` adds to both sums, abreast.
#[inline(always)]
unsafe fn add_pairs<L: Lanes, const D: usize>(
    sums: &mut [Products<L>; 2],
    weights: Abreast<L, D>,
    low: [Abreast<L, D>; 4],
    high: [Abreast<L, D>; 4],
) {
    unsafe {
        let mut steps = high;
        for t in 0..4 {
            steps[t] = minus(high[t], low[t]);
        }
        for (sum, [m0, n1, d0, d1]) in sums.iter_mut().zip(&[low, steps]) {
            let products = Products::of(*d1, *m0).plus::<D>(Products::of(*n1, *d0));
            *sum = sum.plus::<D>(Products::of(weights, products.value()));
        }
    }
}

/// Binds the tables m0, n1, d0, d1 to r, and sums for the next round.
struct Bound<'a, E> {
    r: E,
    weights: &'a Eights,
    from: [&'a [E]; 4],
    to: [&'a mut [E]; 4],
    sums: &'a mut (E, E),
}

impl<E: Extension> Piece<E> for Bound<'_, E> {
    #[inline(always)]
    unsafe fn run<L: Lanes, const D: usize>(self) {
        unsafe {
            let (r, mut sums, to) = (splat::<E, L, D>(self.r), [Products::zero(); 2], self.to);
            for eight in 0..to[0].len() / (2 * ABREAST) {
                let (mut low, mut high) = ([r; 4], [r; 4]);
                for t in 0..4 {
                    let [a, b, c, d] = read::<E, L, D>(self.from[t], eight * GROUP * ABREAST);
                    (low[t], high[t]) = (line(r, a, b), line(r, c, d));
                    write([low[t], high[t]], to[t], eight * 2 * ABREAST);
                }
                add_pairs(&mut sums, self.weights.read(eight), low, high);
            }
            *self.sums = (sums[0].total::<E, D>(), sums[1].total::<E, D>());
        }
    }
}

pub fn bind_layer<E: Extension>(
    with: Instructions,
    r: E,
    weights: &Eights,
    from: [&[E]; 4],
    to: [&mut [E]; 4],
) -> (E, E) {
    let mut found = (E::ZERO, E::ZERO);
    let sums = &mut found;
    abreast(
        Bound {
            r,
            weights,
            from,
            to,
            sums,
        },
        with,
    );
    found
}

/// Adds lambda d0 to n0, which makes m0, and sums for the first round.
struct Combined<'a, E> {
    lambda: E,
    weights: &'a Eights,
    m0: &'a mut [E],
    others: [&'a [E]; 3],
    sums: &'a mut (E, E),
}

impl<E: Extension> Piece<E> for Combined<'_, E> {
    #[inline(always)]
    unsafe fn run<L: Lanes, const D: usize>(self) {
        unsafe {
            let (lambda, mut sums) = (splat::<E, L, D>(self.lambda), [Products::zero(); 2]);
            for group in 0..self.m0.len() / (GROUP * ABREAST) {
                let place = group * GROUP * ABREAST;
                let n1 = read::<E, L, D>(self.others[0], place);
                let d0 = read::<E, L, D>(self.others[1], place);
                let d1 = read::<E, L, D>(self.others[2], place);
                let mut m0 = read::<E, L, D>(self.m0, place);
                for k in 0..GROUP {
                    m0[k] = plus(m0[k], times(lambda, d0[k]));
                }
                write(m0, self.m0, place);
                for pair in 0..2 {
                    let (k, l) = (2 * pair, 2 * pair + 1);
                    add_pairs(
                        &mut sums,
                        self.weights.read(2 * group + pair),
                        [m0[k], n1[k], d0[k], d1[k]],
                        [m0[l], n1[l], d0[l], d1[l]],
                    );
                }
            }
            *self.sums = (sums[0].total::<E, D>(), sums[1].total::<E, D>());
        }
    }
}

/// The weights that `combine_layer` takes: of sixteen pairs first those at even places.
pub fn in_turn<T: Copy>(weights: &[T]) -> Vec<T> {
    let both = |own: &[T]| {
        let turns = [0, 1].map(|turn| own.iter().copied().skip(turn).step_by(2));
        turns.into_iter().flatten().collect::<Vec<T>>()
    };
    weights.chunks(2 * ABREAST).flat_map(both).collect()
}

pub fn combine_layer<E: Extension>(
    with: Instructions,
    lambda: E,
    weights: &Eights,
    m0: &mut [E],
    others: [&[E]; 3],
) -> (E, E) {
    let mut found = (E::ZERO, E::ZERO);
    let sums = &mut found;
    abreast(
        Combined {
            lambda,
            weights,
            m0,
            others,
            sums,
        },
        with,
    );
    found
}

/// Sums of fractions n0 / d0 and n1 / d1.
struct Added<'a, E> {
    from: [&'a [E]; 4],
    n: &'a mut [E],
    d: &'a mut [E],
}

impl<E: Extension> Piece<E> for Added<'_, E> {
    #[inline(always)]
    unsafe fn run<L: Lanes, const D: usize>(self) {
        unsafe {
            for group in 0..self.n.len() / (GROUP * ABREAST) {
                let place = group * GROUP * ABREAST;
                let n0 = read::<E, L, D>(self.from[0], place);
                let n1 = read::<E, L, D>(self.from[1], place);
                let d0 = read::<E, L, D>(self.from[2], place);
                let d1 = read::<E, L, D>(self.from[3], place);
                let (mut n, mut d) = (n0, d0);
                for k in 0..GROUP {
                    let sum = Products::of(d1[k], n0[k]).plus::<D>(Products::of(d0[k], n1[k]));
                    (n[k], d[k]) = (sum.value(), times(d0[k], d1[k]));
                }
                write(n, self.n, place);
                write(d, self.d, place);
            }
        }
    }
}

pub fn add_fractions<E: Extension>(with: Instructions, from: [&[E]; 4], n: &mut [E], d: &mut [E]) {
    abreast(Added { from, n, d }, with);
}

/// Binds two tables to r, and sums their products for the next round.
struct Folded<'a, E> {
    r: E,
    from: [&'a [E]; 2],
    to: [&'a mut [E]; 2],
    sums: &'a mut (E, E),
}

impl<E: Extension> Piece<E> for Folded<'_, E> {
    #[inline(always)]
    unsafe fn run<L: Lanes, const D: usize>(self) {
        unsafe {
            let (r, mut sums, to) = (splat::<E, L, D>(self.r), [Products::zero(); 2], self.to);
            for eight in 0..to[0].len() / (2 * ABREAST) {
                let (mut low, mut high) = ([r; 2], [r; 2]);
                for t in 0..2 {
                    let [a, b, c, d] = read::<E, L, D>(self.from[t], eight * GROUP * ABREAST);
                    (low[t], high[t]) = (line(r, a, b), line(r, c, d));
                    write([low[t], high[t]], to[t], eight * 2 * ABREAST);
                }
                let steps = Products::of(minus(high[0], low[0]), minus(high[1], low[1]));
                sums[0] = sums[0].plus::<D>(Products::of(low[0], low[1]));
                sums[1] = sums[1].plus::<D>(steps);
            }
            *self.sums = (sums[0].total::<E, D>(), sums[1].total::<E, D>());
        }
    }
}

pub fn bind_pairs<E: Extension>(with: Instructions, r: E, from: [&[E]; 2], to: [&mut [E]; 2]) -> (E, E) {
    let mut found = (E::ZERO, E::ZERO);
    let sums = &mut found;
    abreast(Folded { r, from, to, sums }, with);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abreast::is_wide;
    use crate::cubic::Cubic;
    use crate::extension::tests::element;
    use crate::field::{F, P};
    use crate::quadratic::Quadratic;

    const SIZE: usize = 64;

    /// Elements with the ends of the field among their coordinates.
    fn table<E: Extension>(seed: u64, size: usize) -> Vec<E> {
        let ends = [0, 1, P - 1, P - 2, 1 << 32, (1 << 32) - 1].map(F::reduced);
        let own = |i: u64| {
            let at_the_end = |k: usize| ends[(i as usize / 7 + 5 * k + seed as usize) % ends.len()];
            match i % 3 {
                0 => E::of(&(0..E::DEGREE).map(at_the_end).collect::<Vec<F>>()),
                _ => element(i + 1000 * seed),
            }
        };
        (0..size as u64).map(own).collect()
    }

    fn tables<E: Extension, const T: usize>(size: usize) -> [Vec<E>; T] {
        std::array::from_fn(|t| table(t as u64 + 1, size))
    }

    fn bound<E: Extension>(table: &[E], r: E) -> Vec<E> {
        let pairs = table.chunks_exact(2);
        pairs.map(|pair| pair[0] + r * (pair[1] - pair[0])).collect()
    }

    /// Of a round over m0, n1, d0, d1, what it is at 0 and its leading coefficient.
    fn sums<E: Extension>(weights: &[E], [m0, n1, d0, d1]: [&[E]; 4]) -> (E, E) {
        let step = |table: &[E], i: usize| table[2 * i + 1] - table[2 * i];
        let mut found = (E::ZERO, E::ZERO);
        for (i, &weight) in weights.iter().enumerate() {
            found.0 += weight * (d1[2 * i] * m0[2 * i] + n1[2 * i] * d0[2 * i]);
            found.1 += weight * (step(d1, i) * step(m0, i) + step(n1, i) * step(d0, i));
        }
        found
    }

    fn layers<E: Extension>(with: Instructions) {
        let (r, from) = (element::<E>(5), tables::<E, 4>(2 * SIZE));
        let weights = table::<E>(9, SIZE / 2);
        let eights = Eights::new(weights.iter().copied());
        let mut to = tables::<E, 4>(SIZE);
        let found = bind_layer(
            with,
            r,
            &eights,
            from.each_ref().map(|own| &own[..]),
            to.each_mut().map(|own| &mut own[..]),
        );
        assert_eq!(to, from.each_ref().map(|own| bound(own, r)));
        assert_eq!(found, sums(&weights, to.each_ref().map(|own| &own[..])));

        let [mut m0, n1, d0, d1] = tables::<E, 4>(SIZE);
        let expected: Vec<E> = m0.iter().zip(&d0).map(|(&n, &d)| n + r * d).collect();
        let eights = Eights::new(in_turn(&weights).into_iter());
        let found = combine_layer(with, r, &eights, &mut m0, [&n1, &d0, &d1]);
        assert_eq!(m0, expected);
        assert_eq!(found, sums(&weights, [&m0, &n1, &d0, &d1]));

        let [n0, n1, d0, d1] = tables::<E, 4>(SIZE);
        let [mut n, mut d] = tables::<E, 2>(SIZE);
        add_fractions(with, [&n0, &n1, &d0, &d1], &mut n, &mut d);
        for i in 0..SIZE {
            assert_eq!((n[i], d[i]), (n0[i] * d1[i] + n1[i] * d0[i], d0[i] * d1[i]));
        }
    }

    fn pairs<E: Extension>(with: Instructions) {
        let (r, [x, y]) = (element::<E>(5), tables::<E, 2>(2 * SIZE));
        let [mut to_x, mut to_y] = tables::<E, 2>(SIZE);
        let found = bind_pairs(with, r, [&x, &y], [&mut to_x, &mut to_y]);
        assert_eq!((&to_x, &to_y), (&bound(&x, r), &bound(&y, r)));
        let mut expected = (E::ZERO, E::ZERO);
        for (x, y) in to_x.chunks_exact(2).zip(to_y.chunks_exact(2)) {
            expected.0 += x[0] * y[0];
            expected.1 += (x[1] - x[0]) * (y[1] - y[0]);
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn eight_pairs_abreast_are_eight_one_by_one() {
        for with in Instructions::available().filter(is_wide) {
            layers::<Quadratic>(with);
            layers::<Cubic>(with);
            pairs::<Quadratic>(with);
            pairs::<Cubic>(with);
        }
    }
}
