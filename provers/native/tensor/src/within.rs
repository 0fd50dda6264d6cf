//! The inner loops of transforms of few neighbouring elements, in place.

use crate::field::F;
use crate::lanes::{Lanes, Work};
use crate::panels::{Twiddles, quadruple};

/// A transform of at most 2^8 neighbouring elements.
pub struct Within<'a>(pub &'a mut [F], pub &'a Twiddles);

impl Work for Within<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        // SAFETY: the caller's.
        unsafe { within::<L>(self.0, self.1) }
    }
}

#[inline(always)]
unsafe fn within<L: Lanes>(values: &mut [F], twiddles: &Twiddles) {
    let mut size = values.len();
    if size < 4 * L::COUNT || size < 4 {
        small(values, twiddles);
        return;
    }
    unsafe {
        while size >= 4 * L::COUNT && size >= 4 {
            let (roots, squares) = (twiddles.of(size), twiddles.of(size / 2));
            let quarter = size / 4;
            for block in values.chunks_exact_mut(size) {
                let at = block.as_mut_ptr();
                for i in (0..quarter).step_by(L::COUNT) {
                    let rows = [0, 1, 2, 3].map(|k| L::load(at.add(k * quarter + i)));
                    let (w, turned) = (L::load(&roots[i]), L::load(&roots[i + quarter]));
                    let made = quadruple(rows, w, turned, L::load(&squares[i]));
                    for (k, row) in made.into_iter().enumerate() {
                        row.store(at.add(k * quarter + i));
                    }
                }
            }
            size = quarter;
        }
        if size > L::COUNT {
            // One level is left before those within a vector.
            let roots = twiddles.of(size);
            let half = size / 2;
            for block in values.chunks_exact_mut(size) {
                let at = block.as_mut_ptr();
                for i in (0..half).step_by(L::COUNT) {
                    let (x, y) = (L::load(at.add(i)), L::load(at.add(half + i)));
                    x.add(y).store(at.add(i));
                    x.sub(y).mul(L::load(&roots[i])).store(at.add(half + i));
                }
            }
            size = half;
        }
        if L::COUNT >= 4 && size == L::COUNT {
            let last = Last::<L>::new(twiddles);
            for block in values.chunks_exact_mut(4 * L::COUNT) {
                let at = block.as_mut_ptr();
                let made = last.levels([0, 1, 2, 3].map(|k| L::load(at.add(k * L::COUNT))));
                for (k, row) in made.into_iter().enumerate() {
                    row.store(at.add(k * L::COUNT));
                }
            }
        } else if size > 1 {
            for block in values.chunks_exact_mut(size) {
                small(block, twiddles);
            }
        }
    }
}

/// The levels within a vector of four or eight elements, of four vectors at once.
struct Last<L> {
    /// The first four powers of the root of order eight, twice.
    eighths: L,
    /// The root of order four.
    turn: L,
}

impl<L: Lanes> Last<L> {
    #[inline(always)]
    unsafe fn new(twiddles: &Twiddles) -> Self {
        unsafe {
            let eighths: [F; 8] = match L::COUNT {
                8 => std::array::from_fn(|i| twiddles.of(8)[i % 4]),
                _ => [F::ONE; 8],
            };
            Self {
                eighths: L::load(eighths.as_ptr()),
                turn: L::splat(twiddles.of(4)[1]),
            }
        }
    }

    #[inline(always)]
    unsafe fn levels(&self, rows: [L; 4]) -> [L; 4] {
        unsafe {
            if L::COUNT == 4 {
                return self.fours(rows);
            }
            let [a, b, c, d] = rows;
            let ((a, b), (c, d)) = (a.exchanged::<4>(b), c.exchanged::<4>(d));
            let [a, b, c, d] = self.fours([
                a.add(b),
                a.sub(b).mul(self.eighths),
                c.add(d),
                c.sub(d).mul(self.eighths),
            ]);
            let ((a, b), (c, d)) = (a.exchanged::<4>(b), c.exchanged::<4>(d));
            [a, b, c, d]
        }
    }

    /// Transforms of each four neighbours.
    #[inline(always)]
    unsafe fn fours(&self, rows: [L; 4]) -> [L; 4] {
        unsafe {
            let [a, b, c, d] = transposed(rows);
            let (e, g) = (a.add(c), a.sub(c));
            let (f, h) = (b.add(d), b.sub(d).mul(self.turn));
            transposed([e.add(f), e.sub(f), g.add(h), g.sub(h)])
        }
    }
}

/// Of each four elements at the same place in four vectors, the square transposed.
#[inline(always)]
unsafe fn transposed<L: Lanes>([a, b, c, d]: [L; 4]) -> [L; 4] {
    unsafe {
        let ((a, c), (b, d)) = (a.exchanged::<2>(c), b.exchanged::<2>(d));
        let ((a, b), (c, d)) = (a.exchanged::<1>(b), c.exchanged::<1>(d));
        [a, b, c, d]
    }
}

/// A transform of few elements, one by one.
pub fn small(values: &mut [F], twiddles: &Twiddles) {
    let size = values.len();
    if size < 2 {
        return;
    }
    let (low, high) = values.split_at_mut(size / 2);
    for ((x, y), &w) in low.iter_mut().zip(high.iter_mut()).zip(twiddles.of(size)) {
        (*x, *y) = (*x + *y, (*x - *y) * w);
    }
    small(low, twiddles);
    small(high, twiddles);
}
