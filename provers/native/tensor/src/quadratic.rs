//! The quadratic extension, by a square root of 7: about 2^128 elements.

use std::ops::{Add, AddAssign, Mul, Sub};

use crate::extension::{Extension, ExtensionFactor, ExtensionSum, arithmetic, coordinates};
use crate::field::{F, SEVEN, sevenfold};
use crate::sums::Sum;

/// a + b X, with X^2 = 7.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Quadratic {
    a: F,
    b: F,
}

arithmetic!(Quadratic: a, b);

impl Extension for Quadratic {
    type Sum = QuadraticSum;
    type Factor = QuadraticFactor;
    const MOST_CLAIMS: usize = 1 << 18;
    coordinates!(2: a, b);

    fn inverse(self) -> Self {
        let norm = (self.a * self.a - F::reduced(SEVEN) * self.b * self.b).inverse();
        Self::new(self.a * norm, -self.b * norm)
    }
}

#[derive(Clone, Copy, Default)]
pub struct QuadraticSum {
    a: Sum,
    b: Sum,
}

impl ExtensionSum<Quadratic> for QuadraticSum {
    #[inline(always)]
    fn base(&mut self, x: Quadratic, y: F) {
        self.a.words(x.a.word(), y.word());
        self.b.words(x.b.word(), y.word());
    }

    #[inline(always)]
    fn factor(&mut self, x: &QuadraticFactor, y: Quadratic) {
        self.a.words(x.a.word(), y.a.word());
        self.a.words(x.seven_b, y.b.word());
        self.b.words(x.a.word(), y.b.word());
        self.b.words(x.b.word(), y.a.word());
    }

    #[inline(always)]
    fn plus(&mut self, x: Quadratic) {
        self.a.words(x.a.word(), 1);
        self.b.words(x.b.word(), 1);
    }

    #[inline(always)]
    fn value(self) -> Quadratic {
        Quadratic::new(self.a.value(), self.b.value())
    }
}

#[derive(Clone, Copy, Debug)]
pub struct QuadraticFactor {
    a: F,
    b: F,
    seven_b: u64,
}

impl ExtensionFactor<Quadratic> for QuadraticFactor {
    #[inline(always)]
    fn new(x: Quadratic) -> Self {
        Self {
            a: x.a,
            b: x.b,
            seven_b: sevenfold(x.b),
        }
    }

    #[inline(always)]
    fn element(&self) -> Quadratic {
        Quadratic::new(self.a, self.b)
    }
}
