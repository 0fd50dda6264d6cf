//! The cubic extension, by a cube root of 7: about 2^192 elements.

use std::ops::{Add, AddAssign, Mul, Sub};

use crate::extension::{Extension, ExtensionFactor, ExtensionSum, arithmetic, coordinates};
use crate::field::{F, SEVEN, sevenfold};
use crate::sums::Sum;

/// a + b X + c X^2, with X^3 = 7.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Cubic {
    a: F,
    b: F,
    c: F,
}

arithmetic!(Cubic: a, b, c);

impl Extension for Cubic {
    type Sum = CubicSum;
    type Factor = CubicFactor;
    const MOST_CLAIMS: usize = 1 << 22;
    coordinates!(3: a, b, c);

    /// The product of the two conjugates over the norm.
    fn inverse(self) -> Self {
        let (Self { a, b, c }, seven) = (self, F::reduced(SEVEN));
        let conjugates = Self::new(a * a - seven * b * c, seven * c * c - a * b, b * b - a * c);
        let norm = a * conjugates.a + seven * (b * conjugates.c + c * conjugates.b);
        conjugates * norm.inverse()
    }
}

#[derive(Clone, Copy, Default)]
pub struct CubicSum {
    a: Sum,
    b: Sum,
    c: Sum,
}

impl ExtensionSum<Cubic> for CubicSum {
    #[inline(always)]
    fn base(&mut self, x: Cubic, y: F) {
        self.a.words(x.a.word(), y.word());
        self.b.words(x.b.word(), y.word());
        self.c.words(x.c.word(), y.word());
    }

    #[inline(always)]
    fn factor(&mut self, x: &CubicFactor, y: Cubic) {
        let (a, b, c) = (y.a.word(), y.b.word(), y.c.word());
        self.a.words(x.a.word(), a);
        self.a.words(x.seven_b, c);
        self.a.words(x.seven_c, b);
        self.b.words(x.a.word(), b);
        self.b.words(x.b.word(), a);
        self.b.words(x.seven_c, c);
        self.c.words(x.a.word(), c);
        self.c.words(x.b.word(), b);
        self.c.words(x.c.word(), a);
    }

    #[inline(always)]
    fn plus(&mut self, x: Cubic) {
        self.a.words(x.a.word(), 1);
        self.b.words(x.b.word(), 1);
        self.c.words(x.c.word(), 1);
    }

    #[inline(always)]
    fn value(self) -> Cubic {
        Cubic::new(self.a.value(), self.b.value(), self.c.value())
    }
}

#[derive(Clone, Copy, Debug)]
pub struct CubicFactor {
    a: F,
    b: F,
    c: F,
    seven_b: u64,
    seven_c: u64,
}

impl ExtensionFactor<Cubic> for CubicFactor {
    #[inline(always)]
    fn new(x: Cubic) -> Self {
        Self {
            a: x.a,
            b: x.b,
            c: x.c,
            seven_b: sevenfold(x.b),
            seven_c: sevenfold(x.c),
        }
    }

    #[inline(always)]
    fn element(&self) -> Cubic {
        Cubic::new(self.a, self.b, self.c)
    }
}
