//! Montgomery arithmetic on values kept below twice the prime: no branch to mispredict, no final subtraction.
//!
//! For primes below 2^254, four times the prime fits 256 bits. A product of values below 2p, reduced by Montgomery's
//! method, is below p + 4 p^2 / 2^256 < 2p, so products need no correction; sums and differences are brought back
//! below 2p by a masked one.

use std::marker::PhantomData;

use ark_bn254::{Fq, Fq2};
use ark_ff::{BigInt, Field, Fp, MontBackend, MontConfig};

/// A ring element in relaxed form; the same element may have two forms.
pub trait Lazy: Copy + Send + Sync {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn square(self) -> Self;
}

/// A field whose elements have a relaxed form.
pub trait Relax: Field {
    type Lazy: Lazy;
    fn relax(self) -> Self::Lazy;
    /// The element in its one canonical form.
    fn reduce(lazy: Self::Lazy) -> Self;
}

/// Limbs, little-endian, of an integer below 2p in Montgomery form.
pub struct Limbs<T>([u64; 4], PhantomData<T>);

impl<T> Clone for Limbs<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Limbs<T> {}

#[inline(always)]
fn add(left: &[u64; 4], right: &[u64; 4]) -> [u64; 4] {
    let (mut sum, mut carry) = ([0; 4], false);
    for i in 0..4 {
        let (partial, first) = left[i].overflowing_add(right[i]);
        let (total, second) = partial.overflowing_add(u64::from(carry));
        (sum[i], carry) = (total, first | second);
    }
    sum
}

/// The difference modulo 2^256, and all ones where it is negative.
#[inline(always)]
fn sub(left: &[u64; 4], right: &[u64; 4]) -> ([u64; 4], u64) {
    let (mut difference, mut borrow) = ([0; 4], false);
    for i in 0..4 {
        let (partial, first) = left[i].overflowing_sub(right[i]);
        let (total, second) = partial.overflowing_sub(u64::from(borrow));
        (difference[i], borrow) = (total, first | second);
    }
    (difference, u64::from(borrow).wrapping_neg())
}

/// `value - bound` where that is not negative, else `value`.
#[inline(always)]
fn bring_below(value: [u64; 4], bound: &[u64; 4]) -> [u64; 4] {
    let (difference, negative) = sub(&value, bound);
    std::array::from_fn(|i| (value[i] & negative) | (difference[i] & !negative))
}

#[inline(always)]
fn multiply_add(addend: u64, left: u64, right: u64, carry: &mut u64) -> u64 {
    let sum = u128::from(addend) + u128::from(left) * u128::from(right) + u128::from(*carry);
    *carry = (sum >> 64) as u64;
    sum as u64
}

impl<T: MontConfig<4>> Limbs<T> {
    const TWICE: [u64; 4] = {
        let p = T::MODULUS.0;
        assert!(p[3] >> 62 == 0, "four times the prime must fit 256 bits");
        [
            p[0] << 1,
            p[1] << 1 | p[0] >> 63,
            p[2] << 1 | p[1] >> 63,
            p[3] << 1 | p[2] >> 63,
        ]
    };
}

impl<T: MontConfig<4>> Lazy for Limbs<T> {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(bring_below(add(&self.0, &other.0), &Self::TWICE), PhantomData)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let (difference, negative) = sub(&self.0, &other.0);
        Self(
            add(&difference, &Self::TWICE.map(|limb| limb & negative)),
            PhantomData,
        )
    }

    /// Interleaved multiplication and reduction; the running sum stays below left + p < 3p.
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let p = &T::MODULUS.0;
        let mut sum = [0u64; 4];
        for right in other.0 {
            let (mut upper, mut lower) = (0, 0);
            sum[0] = multiply_add(sum[0], self.0[0], right, &mut upper);
            let factor = sum[0].wrapping_mul(T::INV);
            multiply_add(sum[0], factor, p[0], &mut lower);
            for i in 1..4 {
                sum[i] = multiply_add(sum[i], self.0[i], right, &mut upper);
                sum[i - 1] = multiply_add(sum[i], factor, p[i], &mut lower);
            }
            sum[3] = upper + lower;
        }
        Self(sum, PhantomData)
    }

    #[inline(always)]
    fn square(self) -> Self {
        self.mul(self)
    }
}

impl<T: MontConfig<4>> Relax for Fp<MontBackend<T, 4>, 4> {
    type Lazy = Limbs<T>;

    #[inline(always)]
    fn relax(self) -> Self::Lazy {
        Limbs(self.0.0, PhantomData)
    }

    #[inline(always)]
    fn reduce(lazy: Self::Lazy) -> Self {
        Self::new_unchecked(BigInt(bring_below(lazy.0, &T::MODULUS.0)))
    }
}

/// c0 + c1 u with u^2 = -1: the field that BN254's G2 lies over.
#[derive(Clone, Copy)]
pub struct Pair<L>(L, L);

impl<L: Lazy> Lazy for Pair<L> {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0), self.1.add(other.1))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0.sub(other.0), self.1.sub(other.1))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let (low, high) = (self.0.mul(other.0), self.1.mul(other.1));
        let cross = self.0.add(self.1).mul(other.0.add(other.1));
        Self(low.sub(high), cross.sub(low).sub(high))
    }

    #[inline(always)]
    fn square(self) -> Self {
        let product = self.0.mul(self.1);
        Self(self.0.add(self.1).mul(self.0.sub(self.1)), product.add(product))
    }
}

impl Relax for Fq2 {
    type Lazy = Pair<<Fq as Relax>::Lazy>;

    #[inline(always)]
    fn relax(self) -> Self::Lazy {
        Pair(self.c0.relax(), self.c1.relax())
    }

    #[inline(always)]
    fn reduce(lazy: Self::Lazy) -> Self {
        Self::new(Fq::reduce(lazy.0), Fq::reduce(lazy.1))
    }
}

#[cfg(test)]
mod tests {
    use ark_bn254::Fr;
    use ark_ff::PrimeField;

    use super::*;

    /// Awkward elements, each in both of its forms where it has two.
    fn forms<F, T: MontConfig<4>>() -> Vec<(F, Limbs<T>)>
    where
        F: PrimeField<BigInt = BigInt<4>> + Relax<Lazy = Limbs<T>>,
    {
        let mut values = vec![
            F::ZERO,
            F::ONE,
            -F::ONE,
            F::from(2u64).inverse().unwrap_or_default(),
        ];
        for bits in [1u64, 63, 64, 65, 127, 128, 192, 253] {
            let power = F::from(2u64).pow([bits]);
            values.extend([power, -power, power - F::ONE]);
        }
        let both = |value: F| {
            let lazy = value.relax();
            [
                (value, lazy),
                (value, Limbs(add(&lazy.0, &T::MODULUS.0), PhantomData)),
            ]
        };
        values.into_iter().flat_map(both).collect()
    }

    fn agrees<F, T: MontConfig<4>>()
    where
        F: PrimeField<BigInt = BigInt<4>> + Relax<Lazy = Limbs<T>>,
    {
        let below = |lazy: Limbs<T>| sub(&lazy.0, &Limbs::<T>::TWICE).1 != 0;
        for (x, relaxed) in forms::<F, T>() {
            assert!(below(relaxed) && F::reduce(relaxed) == x);
            assert!(F::reduce(relaxed.square()) == x.square());
            for (y, other) in forms::<F, T>() {
                let results = [
                    (relaxed.add(other), x + y),
                    (relaxed.sub(other), x - y),
                    (relaxed.mul(other), x * y),
                ];
                for (lazy, expected) in results {
                    assert!(below(lazy) && F::reduce(lazy) == expected, "{x} {y}");
                }
            }
        }
    }

    #[test]
    fn relaxed_arithmetic_agrees_with_canonical_arithmetic() {
        agrees::<Fr, _>();
        agrees::<Fq, _>();
    }

    #[test]
    fn pairs_multiply_as_the_quadratic_extension_does() {
        let values = forms::<Fq, _>();
        for (window, other) in values.windows(2).zip(values.windows(3).rev()) {
            let (x, y) = (
                Fq2::new(window[0].0, window[1].0),
                Fq2::new(other[0].0, other[2].0),
            );
            let (lazy_x, lazy_y) = (Pair(window[0].1, window[1].1), Pair(other[0].1, other[2].1));
            assert_eq!(Fq2::reduce(lazy_x.mul(lazy_y)), x * y);
            assert_eq!(Fq2::reduce(lazy_x.add(lazy_y)), x + y);
            assert_eq!(Fq2::reduce(lazy_x.sub(lazy_y)), x - y);
            assert_eq!(Fq2::reduce(lazy_x.square()), x.square());
        }
    }
}
