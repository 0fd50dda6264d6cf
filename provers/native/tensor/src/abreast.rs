//! Elements of the extension abreast: eight at once, in one vector of words for each coordinate.

use crate::extension::Extension;
use crate::field::F;
use crate::instructions::{Instructions, Width};
use crate::lanes::Lanes;

/// Elements that are computed with at once; vectors of fewer words gain nothing on code that is not vectorised.
pub const ABREAST: usize = 8;
/// Neighbours of a table that are read, and written, together: one of them goes to each of four `Abreast`.
pub const GROUP: usize = 4;

/// The instructions of this process, where their vectors hold as many words as elements are abreast.
pub fn chosen() -> Option<Instructions> {
    Some(Instructions::chosen()).filter(is_wide)
}

pub fn is_wide(with: &Instructions) -> bool {
    with.width() == Width::Avx512
}

/// Elements of degree D abreast, by coordinates.
pub type Abreast<L, const D: usize> = [L; D];

/// Coefficients of products of polynomials of degree below D, not reduced by X^D = 7: of 1, X, and so on.
#[derive(Clone, Copy)]
pub struct Products<L>([L; 5]);

/// Words of rows of eight become rows of the words at each place.
#[inline(always)]
unsafe fn transposed<L: Lanes>(mut rows: [L; ABREAST]) -> [L; ABREAST] {
    unsafe {
        for k in 0..4 {
            (rows[k], rows[k + 4]) = rows[k].exchanged::<4>(rows[k + 4]);
        }
        for k in [0, 1, 4, 5] {
            (rows[k], rows[k + 2]) = rows[k].exchanged::<2>(rows[k + 2]);
        }
        for k in [0, 2, 4, 6] {
            (rows[k], rows[k + 1]) = rows[k].exchanged::<1>(rows[k + 1]);
        }
    }
    rows
}

/// Rows of eight words, so many words apart.
#[inline(always)]
unsafe fn rows<L: Lanes>(start: *const F, apart: usize) -> [L; ABREAST] {
    unsafe {
        let mut made = [L::splat(F::ZERO); ABREAST];
        for (k, row) in made.iter_mut().enumerate() {
            *row = L::load(start.add(k * apart));
        }
        made
    }
}

/// Eight groups of neighbours, from a place of a table on: lane k of the n-th result is the n-th element of group k.
///
/// No closure is called here, nor in what follows: one that is not inlined would be compiled without the vectors.
///
/// # Safety
/// The vectors are of eight words, and the processor has them.
#[inline(always)]
pub unsafe fn read<E: Extension, L: Lanes, const D: usize>(
    table: &[E],
    place: usize,
) -> [Abreast<L, D>; GROUP] {
    assert!(size_of::<E>() == D * size_of::<F>());
    let own = &table[place..place + GROUP * ABREAST];
    let (start, length) = (own.as_ptr().cast::<F>(), GROUP * D);
    unsafe {
        let mut made = [[L::splat(F::ZERO); D]; GROUP];
        let low = transposed(rows::<L>(start, length));
        for (place, &word) in low.iter().enumerate() {
            made[place / D][place % D] = word;
        }
        if length > ABREAST {
            // Of groups of twelve words the last eight are read again.
            let last = length - ABREAST;
            let high = transposed(rows::<L>(start.add(last), length));
            for (place, &word) in high.iter().enumerate() {
                made[(last + place) / D][(last + place) % D] = word;
            }
        }
        made
    }
}

/// Writes eight groups of N neighbours as `read` reads those of four.
///
/// # Safety
/// As for `read`.
#[inline(always)]
pub unsafe fn write<E: Extension, L: Lanes, const D: usize, const N: usize>(
    elements: [Abreast<L, D>; N],
    table: &mut [E],
    place: usize,
) {
    assert!(size_of::<E>() == D * size_of::<F>());
    let own = &mut table[place..place + N * ABREAST];
    let (start, length) = (own.as_mut_ptr().cast::<F>(), N * D);
    unsafe {
        let mut words = [elements[0][0]; ABREAST];
        for (place, word) in words.iter_mut().enumerate().take(length) {
            *word = elements[place / D][place % D];
        }
        for (k, row) in transposed(words).iter().enumerate() {
            if length < ABREAST {
                let mut words = [F::ZERO; ABREAST];
                row.store(words.as_mut_ptr());
                std::ptr::copy_nonoverlapping(words.as_ptr(), start.add(k * length), length);
            } else {
                row.store(start.add(k * length));
            }
        }
        if length > ABREAST {
            let last = length - ABREAST;
            for (place, word) in words.iter_mut().enumerate() {
                *word = elements[(last + place) / D][(last + place) % D];
            }
            for (k, row) in transposed(words).iter().enumerate() {
                row.store(start.add(k * length + last));
            }
        }
    }
}

/// One element in all lanes.
#[inline(always)]
pub unsafe fn splat<E: Extension, L: Lanes, const D: usize>(x: E) -> Abreast<L, D> {
    unsafe {
        let mut made = [L::splat(F::ZERO); D];
        for (k, word) in made.iter_mut().enumerate() {
            *word = L::splat(x.coordinate(k));
        }
        made
    }
}

#[inline(always)]
pub unsafe fn plus<L: Lanes, const D: usize>(mut x: Abreast<L, D>, y: Abreast<L, D>) -> Abreast<L, D> {
    for k in 0..D {
        x[k] = unsafe { x[k].add(y[k]) };
    }
    x
}

#[inline(always)]
pub unsafe fn minus<L: Lanes, const D: usize>(mut x: Abreast<L, D>, y: Abreast<L, D>) -> Abreast<L, D> {
    for k in 0..D {
        x[k] = unsafe { x[k].sub(y[k]) };
    }
    x
}

#[inline(always)]
pub unsafe fn times<L: Lanes, const D: usize>(x: Abreast<L, D>, y: Abreast<L, D>) -> Abreast<L, D> {
    unsafe { Products::of(x, y).value() }
}

/// The lines through x at 0 and y at 1, at r.
#[inline(always)]
pub unsafe fn line<L: Lanes, const D: usize>(
    r: Abreast<L, D>,
    x: Abreast<L, D>,
    y: Abreast<L, D>,
) -> Abreast<L, D> {
    unsafe { plus(x, times(r, minus(y, x))) }
}

impl<L: Lanes> Products<L> {
    #[inline(always)]
    pub unsafe fn zero() -> Self {
        unsafe { Self([L::splat(F::ZERO); 5]) }
    }

    /// The products of the polynomials, by Karatsuba's formula: x_i y_j + x_j y_i is (x_i + x_j) (y_i + y_j) less two
    /// products that are known.
    #[inline(always)]
    pub unsafe fn of<const D: usize>(x: Abreast<L, D>, y: Abreast<L, D>) -> Self {
        unsafe {
            let mut made = Self::zero();
            let mut squares = x;
            for k in 0..D {
                squares[k] = x[k].mul(y[k]);
                made.0[2 * k] = squares[k];
            }
            for i in 0..D {
                for j in i + 1..D {
                    let both = x[i].add(x[j]).mul(y[i].add(y[j]));
                    let mixed = both.sub(squares[i]).sub(squares[j]);
                    let to = &mut made.0[i + j];
                    *to = if (i + j).is_multiple_of(2) {
                        to.add(mixed)
                    } else {
                        mixed
                    };
                }
            }
            made
        }
    }

    /// The sum of both, of degree D.
    #[inline(always)]
    pub unsafe fn plus<const D: usize>(self, other: Self) -> Self {
        let mut made = self;
        for k in 0..2 * D - 1 {
            made.0[k] = unsafe { self.0[k].add(other.0[k]) };
        }
        made
    }

    #[inline(always)]
    pub unsafe fn value<const D: usize>(self) -> Abreast<L, D> {
        unsafe {
            let mut made = [self.0[D - 1]; D];
            for (k, to) in made.iter_mut().enumerate().take(D - 1) {
                let x = self.0[k + D];
                let double = x.add(x);
                let fourfold = double.add(double);
                *to = self.0[k].add(fourfold.add(fourfold).sub(x));
            }
            made
        }
    }

    /// The sum over all lanes.
    #[inline(always)]
    pub unsafe fn total<E: Extension, const D: usize>(self) -> E {
        let mut coordinates = [F::ZERO; D];
        for (to, lanes) in coordinates.iter_mut().zip(unsafe { self.value::<D>() }) {
            let mut words = [F::ZERO; ABREAST];
            unsafe { lanes.store(words.as_mut_ptr()) };
            *to = words.into_iter().fold(F::ZERO, |sum, word| sum + word);
        }
        E::of(&coordinates)
    }
}

/// Weights of pairs, by eights: of each eight one coordinate after the other.
pub struct Eights(Vec<F>);

impl Eights {
    /// Their number is a multiple of eight.
    pub fn new<E: Extension>(weights: impl ExactSizeIterator<Item = E>) -> Self {
        let mut words = vec![F::ZERO; E::DEGREE * weights.len()];
        for (i, weight) in weights.enumerate() {
            let start = i / ABREAST * ABREAST * E::DEGREE + i % ABREAST;
            for k in 0..E::DEGREE {
                words[start + k * ABREAST] = weight.coordinate(k);
            }
        }
        Self(words)
    }

    /// # Safety
    /// As for `read`.
    #[inline(always)]
    pub unsafe fn read<L: Lanes, const D: usize>(&self, eight: usize) -> Abreast<L, D> {
        let own = &self.0[eight * ABREAST * D..(eight + 1) * ABREAST * D];
        unsafe {
            let mut made = [L::splat(F::ZERO); D];
            for (k, word) in made.iter_mut().enumerate() {
                *word = L::load(own.as_ptr().add(k * ABREAST));
            }
            made
        }
    }
}
