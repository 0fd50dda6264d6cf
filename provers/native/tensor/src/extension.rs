//! What challenges are: elements of an extension of the Goldilocks field, of the degree that a plan needs.
//!
//! The protocol is written once over `Extension` and compiled once per degree: nothing is chosen while it runs.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Mul, Sub};

use crate::field::F;
use crate::memory::Zero;

/// An element of F[X] / (X^degree - 7), by its coordinates: that of 1 first.
pub trait Extension:
    Add<Output = Self>
    + AddAssign
    + Debug
    + Default
    + Eq
    + From<F>
    + Mul<Output = Self>
    + Mul<F, Output = Self>
    + Send
    + Sub<Output = Self>
    + Sync
    + Zero
    + 'static
{
    const DEGREE: usize;
    /// The error of batching claims is bounded by their number.
    const MOST_CLAIMS: usize;
    const ZERO: Self;
    const ONE: Self;
    /// One alone: the weights of an axis of extent 1.
    const UNIT: &'static [Self];
    type Sum: ExtensionSum<Self>;
    type Factor: ExtensionFactor<Self>;

    /// The element with so many coordinates as the degree.
    fn of(coordinates: &[F]) -> Self;

    fn coordinate(self, place: usize) -> F;

    /// The coordinate of 1.
    #[inline(always)]
    fn base(self) -> F {
        self.coordinate(0)
    }

    /// The element less its coordinate of 1: zero for elements of the base field.
    fn upper(self) -> Self;

    /// The element less one of the base field.
    fn minus(self, other: F) -> Self;

    fn half(self) -> Self;

    /// The inverse of any element but zero.
    fn inverse(self) -> Self;

    #[inline(always)]
    fn double(self) -> Self {
        self + self
    }
}

/// A sum of at most 2^29 products, each coordinate reduced once.
pub trait ExtensionSum<E: Extension>: Clone + Copy + Default + Send {
    #[inline(always)]
    fn add(&mut self, x: E, y: E) {
        self.factor(&E::Factor::new(x), y);
    }

    /// Adds a product with an element of the base field.
    fn base(&mut self, x: E, y: F);

    fn factor(&mut self, x: &E::Factor, y: E);

    /// Adds one element, not a product.
    fn plus(&mut self, x: E);

    fn value(self) -> E;
}

/// An element that many are multiplied by.
pub trait ExtensionFactor<E: Extension>: Clone + Copy + Debug + Send + Sync {
    fn new(x: E) -> Self;

    fn element(&self) -> E;

    /// The line through x at 0 and y at 1, at this element.
    #[inline(always)]
    fn line(&self, x: E, y: E) -> E
    where
        E: Extension<Factor = Self>,
    {
        let mut sum = E::Sum::default();
        sum.plus(x);
        sum.factor(self, y - x);
        sum.value()
    }

    /// The same where both ends lie in the base field.
    #[inline(always)]
    fn base_line(&self, x: F, y: F) -> E {
        let mut sum = E::Sum::default();
        sum.plus(x.into());
        sum.base(self.element(), y - x);
        sum.value()
    }
}

/// What is done coordinate by coordinate, and products as sums of one product.
macro_rules! arithmetic {
    ($name:ident: $base:ident $(, $upper:ident)*) => {
        impl $name {
            #[inline(always)]
            pub const fn new($base: F $(, $upper: F)*) -> Self {
                Self { $base $(, $upper)* }
            }
        }

        impl From<F> for $name {
            #[inline(always)]
            fn from(value: F) -> Self {
                Self { $base: value, ..Self::ZERO }
            }
        }

        impl Add for $name {
            type Output = Self;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self { $base: self.$base + other.$base $(, $upper: self.$upper + other.$upper)* }
            }
        }

        impl AddAssign for $name {
            #[inline(always)]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl Sub for $name {
            type Output = Self;
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                Self { $base: self.$base - other.$base $(, $upper: self.$upper - other.$upper)* }
            }
        }

        impl Mul for $name {
            type Output = Self;
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                let mut sum = <Self as Extension>::Sum::default();
                sum.add(self, other);
                sum.value()
            }
        }

        impl Mul<F> for $name {
            type Output = Self;
            #[inline(always)]
            fn mul(self, other: F) -> Self {
                Self { $base: self.$base * other $(, $upper: self.$upper * other)* }
            }
        }
    };
}

/// The same, of the trait: to stand inside its implementation.
macro_rules! coordinates {
    ($degree:literal: $base:ident $(, $upper:ident)*) => {
        const DEGREE: usize = $degree;
        const ZERO: Self = Self { $base: F::ZERO $(, $upper: F::ZERO)* };
        const ONE: Self = Self { $base: F::ONE, ..Self::ZERO };
        const UNIT: &'static [Self] = &[Self::ONE];

        #[inline(always)]
        fn of(coordinates: &[F]) -> Self {
            let [$base $(, $upper)*] = *coordinates else {
                unreachable!("expected an element's coordinates")
            };
            Self { $base $(, $upper)* }
        }

        #[inline(always)]
        fn coordinate(self, place: usize) -> F {
            [self.$base $(, self.$upper)*][place]
        }

        #[inline(always)]
        fn base(self) -> F {
            self.$base
        }

        #[inline(always)]
        fn upper(self) -> Self {
            Self { $base: F::ZERO, ..self }
        }

        #[inline(always)]
        fn minus(self, other: F) -> Self {
            Self { $base: self.$base - other, ..self }
        }

        fn half(self) -> Self {
            Self { $base: self.$base.half() $(, $upper: self.$upper.half())* }
        }
    };
}

pub(crate) use {arithmetic, coordinates};

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::cubic::Cubic;
    use crate::field::tests::awkward;
    use crate::field::{P, SEVEN, power};
    use crate::quadratic::Quadratic;

    /// An element for tests by its number, no coordinate zero or the same as another.
    pub fn element<E: Extension>(number: u64) -> E {
        let coordinate = |k: u64| F::reduced((4 * number + k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        E::of(&(0..E::DEGREE as u64).map(coordinate).collect::<Vec<F>>())
    }

    fn coordinates<E: Extension>(x: E) -> Vec<u128> {
        (0..E::DEGREE).map(|k| x.coordinate(k).word().into()).collect()
    }

    /// Elements with every pair of awkward coordinates beside each other.
    fn elements<E: Extension>() -> Vec<E> {
        let words = awkward();
        let pairs = words.iter().flat_map(|&x| words.iter().map(move |&y| [x, y]));
        pairs
            .map(|[x, y]| {
                let all = [x, y, x ^ y].map(F::reduced);
                E::of(&all[..E::DEGREE])
            })
            .collect()
    }

    /// The product of polynomials modulo p, reduced by X^degree = 7 afterwards.
    fn product(x: &[u128], y: &[u128]) -> Vec<u128> {
        let modulus = u128::from(P);
        let mut long = vec![0; 2 * x.len()];
        for (i, &a) in x.iter().enumerate() {
            for (j, &b) in y.iter().enumerate() {
                long[i + j] = (long[i + j] + a * b % modulus) % modulus;
            }
        }
        let (low, high) = long.split_at(x.len());
        low.iter()
            .zip(high)
            .map(|(low, high)| (low + u128::from(SEVEN) * high) % modulus)
            .collect()
    }

    fn is_a_field<E: Extension>() {
        let found = elements::<E>();
        let (few, modulus) = (&found[..40.min(found.len())], u128::from(P));
        for (i, &x) in found.iter().enumerate() {
            let of_x = coordinates(x);
            assert_eq!(
                E::of(&(0..E::DEGREE).map(|k| x.coordinate(k)).collect::<Vec<F>>()),
                x
            );
            assert_eq!(x.half() + x.half(), x);
            assert_eq!(x.double(), x + x);
            assert_eq!(x.upper() + x.base().into(), x);
            assert_eq!(x * E::ONE, x);
            assert_eq!(x * F::reduced(9), x * E::from(F::reduced(9)));
            assert_eq!(x.minus(F::reduced(9)), x - F::reduced(9).into());
            if x != E::ZERO {
                assert_eq!(x * x.inverse(), E::ONE);
            }
            let others = few.iter().chain(&found[i..found.len().min(i + 5)]);
            for &y in others {
                let of_y = coordinates(y);
                assert_eq!(coordinates(x * y), product(&of_x, &of_y));
                let sums = of_x.iter().zip(&of_y).map(|(a, b)| (a + b) % modulus);
                assert_eq!(coordinates(x + y), sums.collect::<Vec<u128>>());
                assert_eq!(x - y + y, x);
            }
        }
    }

    #[test]
    fn both_are_fields_with_the_arithmetic_of_polynomials() {
        is_a_field::<Quadratic>();
        is_a_field::<Cubic>();
    }

    /// X^2 = 7 and X^3 = 7 have no roots in the base field (tests of `field`): at these degrees, they are irreducible.
    /// So Frobenius, x to the power of p, is an automorphism of that order that fixes the base field alone.
    fn has_its_degree<E: Extension>() {
        let power = |x: E| power(E::ONE, x, P);
        let (x, y): (E, E) = (element(1), element(2));
        assert_eq!(power(x + y), power(x) + power(y));
        let mut conjugate = x;
        for turn in 1..=E::DEGREE {
            conjugate = power(conjugate);
            assert_eq!(conjugate == x, turn == E::DEGREE);
        }
        assert_eq!(power(x.base().into()), x.base().into());
    }

    #[test]
    fn conjugates_return_after_as_many_powers_as_the_degree() {
        has_its_degree::<Quadratic>();
        has_its_degree::<Cubic>();
    }

    fn sums<E: Extension>() {
        let words: Vec<F> = awkward().into_iter().map(F::reduced).collect();
        let (mut once, mut each) = (E::Sum::default(), E::ZERO);
        for _ in 0..20 {
            for (&x, &y) in words.iter().zip(words.iter().rev()) {
                let of = |all: [F; 3]| E::of(&all[..E::DEGREE]);
                let (u, v) = (of([x, F::reduced(P - 1), y]), of([y, x, F::reduced(P - 1)]));
                once.add(u, v);
                once.base(u, y);
                once.plus(v);
                each += u * v + u * y + v;
                let factor = E::Factor::new(u);
                assert_eq!(factor.element(), u);
                assert_eq!(factor.line(v, u), v + (u - v) * u);
                assert_eq!(factor.base_line(x, y), E::from(x) + u * (y - x));
            }
        }
        assert_eq!(once.value(), each);
    }

    #[test]
    fn sums_reduced_once_are_sums_of_products() {
        sums::<Quadratic>();
        sums::<Cubic>();
    }
}
