//! The Goldilocks field, p = 2^64 - 2^32 + 1.

use std::ops::{Add, Mul, Neg, Sub};

pub const P: u64 = 0xffff_ffff_0000_0001;
const EPSILON: u64 = 0xffff_ffff;
/// It generates the multiplicative group, so it is neither a square nor a cube.
pub const SEVEN: u64 = 7;
pub const TWO_ADICITY: usize = 32;

/// An element of the base field, always below p.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct F(u64);

/// x - y, plus p where that is negative. As wide integers, since compilers make unpredictable branches of borrows.
#[inline(always)]
fn difference(x: u64, y: u64) -> u64 {
    let difference = u128::from(x).wrapping_sub(u128::from(y));
    (difference as u64).wrapping_sub(u64::from((difference >> 64) as u32))
}

/// 2^64 = 2^32 - 1, 2^96 = -1 and 2^128 = -2^32 modulo p; `over` counts 2^128 and is below 2^31.
#[inline(always)]
pub(crate) fn reduce(x: u128, over: u64) -> F {
    let (low, high) = (x as u64, (x >> 64) as u64);
    let t = difference(low, (high >> 32) + (over << 32));
    let (r, carry) = t.overflowing_add((high & EPSILON) * EPSILON);
    let r = r.wrapping_add(EPSILON * u64::from(carry));
    F(if r >= P { r - P } else { r })
}

#[inline(always)]
pub(crate) fn wide(x: u64, y: u64) -> u128 {
    u128::from(x) * u128::from(y)
}

/// A word that is 7 x modulo p, not always below p.
#[inline(always)]
pub(crate) fn sevenfold(x: F) -> u64 {
    let product = wide(x.0, SEVEN);
    let (sum, carry) = (product as u64).overflowing_add((product >> 64) as u64 * EPSILON);
    sum.wrapping_add(EPSILON * u64::from(carry))
}

impl F {
    pub const ZERO: F = F(0);
    pub const ONE: F = F(1);

    /// The element that a word stands for; None from p on.
    pub fn canonical(word: u64) -> Option<F> {
        (word < P).then_some(F(word))
    }

    pub fn reduced(word: u64) -> F {
        F(word % P)
    }

    pub fn signed(value: i64) -> F {
        if value < 0 {
            -F(value.unsigned_abs())
        } else {
            F(value as u64)
        }
    }

    #[inline(always)]
    pub fn word(self) -> u64 {
        self.0
    }

    pub fn power(self, exponent: u64) -> F {
        power(F::ONE, self, exponent)
    }

    pub fn inverse(self) -> F {
        self.power(P - 2)
    }

    pub fn half(self) -> F {
        F(if self.0 & 1 == 0 {
            self.0 >> 1
        } else {
            (self.0 >> 1) + (P >> 1) + 1
        })
    }

    /// A generator of the subgroup of order 2^bits.
    pub fn root_of_unity(bits: usize) -> F {
        assert!(bits <= TWO_ADICITY);
        F(SEVEN).power((P - 1) >> bits)
    }
}

/// one base^exponent, by squaring.
pub fn power<T: Copy + Mul<Output = T>>(one: T, mut base: T, mut exponent: u64) -> T {
    let mut result = one;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base;
        }
        base = base * base;
        exponent >>= 1;
    }
    result
}

impl Add for F {
    type Output = F;
    #[inline(always)]
    fn add(self, other: F) -> F {
        // x - (p - y): as many instructions as a difference.
        F(difference(self.0, P.wrapping_sub(other.0)))
    }
}

impl Sub for F {
    type Output = F;
    #[inline(always)]
    fn sub(self, other: F) -> F {
        F(difference(self.0, other.0))
    }
}

impl Neg for F {
    type Output = F;
    fn neg(self) -> F {
        F::ZERO - self
    }
}

impl Mul for F {
    type Output = F;
    #[inline(always)]
    fn mul(self, other: F) -> F {
        reduce(wide(self.0, other.0), 0)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn awkward() -> Vec<u64> {
        let mut values = vec![0, 1, 2, 7, P - 1, P - 2, P / 2, P / 2 + 1, EPSILON, EPSILON + 1];
        for bits in [31, 32, 33, 62, 63] {
            values.extend([(1u64 << bits) - 1, 1 << bits, (1 << bits) + 1]);
        }
        values.into_iter().filter(|&value| value < P).collect()
    }

    #[test]
    fn arithmetic_is_that_of_integers_modulo_p() {
        let modulus = u128::from(P);
        for x in awkward() {
            for y in awkward() {
                let (f, g, u, v) = (F(x), F(y), u128::from(x), u128::from(y));
                assert_eq!(u128::from((f * g).0), u * v % modulus);
                assert_eq!(u128::from((f + g).0), (u + v) % modulus);
                assert_eq!(u128::from((f - g).0), (u + modulus - v) % modulus);
            }
            assert_eq!(F(x).half() + F(x).half(), F(x));
            assert_eq!(u128::from(sevenfold(F(x))) % modulus, 7 * u128::from(x) % modulus);
            if x != 0 {
                assert_eq!(F(x) * F(x).inverse(), F::ONE);
            }
        }
    }

    #[test]
    fn seven_is_neither_square_nor_cube_and_roots_have_their_order() {
        assert_eq!(F(SEVEN).power((P - 1) / 2), -F::ONE);
        assert_eq!((P - 1) % 3, 0);
        assert_ne!(F(SEVEN).power((P - 1) / 3), F::ONE);
        for bits in 1..=TWO_ADICITY {
            let root = F::root_of_unity(bits);
            assert_eq!(root.power(1 << (bits - 1)), -F::ONE);
        }
    }

    #[test]
    fn words_from_p_on_are_refused() {
        assert_eq!(F::canonical(P - 1), Some(F(P - 1)));
        assert!(F::canonical(P).is_none() && F::canonical(u64::MAX).is_none());
        assert_eq!(F::signed(-1), F(P - 1));
    }
}
