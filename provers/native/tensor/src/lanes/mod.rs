//! Several elements of the base field at once: one by one anywhere, four where there is AVX2, eight where there is AVX-512.

use crate::field::F;
use crate::instructions::{Instructions, Width};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

/// Elements that are added, subtracted and multiplied each by itself.
///
/// # Safety
/// `load` and `store` reach `COUNT` elements; methods of a vector type need the processor that it is for.
pub trait Lanes: Copy {
    const COUNT: usize;
    unsafe fn load(from: *const F) -> Self;
    unsafe fn store(self, to: *mut F);
    unsafe fn splat(value: F) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    /// Both vectors cut into blocks of SIZE elements, SIZE = COUNT / 2, COUNT / 4, ..., 1: the second, fourth, ... of one
    /// change places with the first, third, ... of the other.
    unsafe fn exchanged<const SIZE: usize>(self, other: Self) -> (Self, Self);
}

/// Work on lanes of any width, with the same result.
pub trait Work {
    /// # Safety
    /// The processor has what `L` needs. Implementations are `#[inline(always)]`, to be compiled for it.
    unsafe fn run<L: Lanes>(self);
}

/// Does the work with these instructions, which the processor has.
pub fn run(work: impl Work, with: Instructions) {
    // SAFETY: `Instructions` are only made of what the processor has.
    unsafe {
        match with.width() {
            #[cfg(target_arch = "x86_64")]
            Width::Avx512 => avx512::run(work),
            #[cfg(target_arch = "x86_64")]
            Width::Avx2 => avx2::run(work),
            _ => work.run::<F>(),
        }
    }
}

impl Lanes for F {
    const COUNT: usize = 1;
    #[inline(always)]
    unsafe fn load(from: *const F) -> Self {
        // SAFETY: the caller's.
        unsafe { *from }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut F) {
        // SAFETY: the caller's.
        unsafe { *to = self }
    }
    #[inline(always)]
    unsafe fn splat(value: F) -> Self {
        value
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        self - other
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        self * other
    }
    #[inline(always)]
    unsafe fn exchanged<const SIZE: usize>(self, _: Self) -> (Self, Self) {
        unreachable!("one element has no blocks")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::P;

    /// Compares operations on lanes with the same on each element.
    struct Compared<'a>(&'a [F], &'a [F]);

    impl Compared<'_> {
        #[inline(always)]
        unsafe fn exchange<L: Lanes, const SIZE: usize>(&self) {
            if SIZE >= L::COUNT {
                return;
            }
            let [mut first, mut second] = [0, 1].map(|_| vec![F::ZERO; L::COUNT]);
            unsafe {
                let (x, y) = L::load(self.0.as_ptr()).exchanged::<SIZE>(L::load(self.1.as_ptr()));
                x.store(first.as_mut_ptr());
                y.store(second.as_mut_ptr());
            }
            let (mut x, mut y) = (self.0[..L::COUNT].to_vec(), self.1[..L::COUNT].to_vec());
            for i in (0..L::COUNT).filter(|i| i / SIZE % 2 == 1) {
                std::mem::swap(&mut x[i], &mut y[i - SIZE]);
            }
            assert_eq!((first, second), (x, y), "blocks of {SIZE}");
        }
    }

    impl Work for Compared<'_> {
        #[inline(always)]
        unsafe fn run<L: Lanes>(self) {
            let mut found = [
                vec![F::ZERO; 8],
                vec![F::ZERO; 8],
                vec![F::ZERO; 8],
                vec![F::ZERO; 8],
            ];
            for (x, y) in self.0.chunks_exact(L::COUNT).zip(self.1.chunks_exact(L::COUNT)) {
                unsafe {
                    let (u, v) = (L::load(x.as_ptr()), L::load(y.as_ptr()));
                    let made = [u.add(v), u.sub(v), u.mul(v), L::splat(x[0])];
                    for (lanes, to) in made.into_iter().zip(&mut found) {
                        lanes.store(to.as_mut_ptr());
                    }
                }
                for (i, (&x, &y)) in x.iter().zip(y).enumerate() {
                    let each = [0, 1, 2].map(|operation: usize| found[operation][i]);
                    assert_eq!(each, [x + y, x - y, x * y], "{x:?} {y:?}");
                }
                assert!(found[3][..L::COUNT].iter().all(|&each| each == x[0]));
            }
            unsafe {
                self.exchange::<L, 1>();
                self.exchange::<L, 2>();
                self.exchange::<L, 4>();
            }
        }
    }

    #[test]
    fn many_at_once_are_as_many_one_by_one() {
        let mut words = vec![0, 1, 2, 7, P - 1, P - 2, P / 2, P / 2 + 1, 0xffff_ffff, 1 << 32];
        for bits in [31, 33, 62, 63] {
            words.extend([(1u64 << bits) - 1, 1 << bits, (1 << bits) + 1]);
        }
        let mut state = 1u64;
        for _ in 0..202 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x14057b7e);
            words.push(state);
        }
        let words: Vec<F> = words.into_iter().map(F::reduced).collect();
        assert_eq!(words.len() % 8, 0);
        for with in Instructions::available() {
            for turn in 0..words.len() {
                let mut other = words.clone();
                other.rotate_left(turn);
                run(Compared(&words, &other), with);
            }
        }
    }
}
