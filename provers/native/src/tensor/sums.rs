//! Sums of products that are reduced modulo p once, at their end.

use super::field::{E, F, reduce, sevenfold, wide};

/// A sum of at most 2^30 products, reduced once.
#[derive(Clone, Copy, Default)]
pub struct Sum {
    low: u128,
    over: u64,
}

impl Sum {
    #[inline(always)]
    fn words(&mut self, x: u64, y: u64) {
        let (low, carry) = self.low.overflowing_add(wide(x, y));
        self.low = low;
        self.over += u64::from(carry);
    }

    #[inline(always)]
    pub fn value(self) -> F {
        reduce(self.low, self.over)
    }
}

/// The same in the extension.
#[derive(Clone, Copy, Default)]
pub struct ExtensionSum {
    a: Sum,
    b: Sum,
}

impl ExtensionSum {
    #[inline(always)]
    pub fn add(&mut self, x: E, y: E) {
        self.factor(&Factor::new(x), y);
    }

    #[inline(always)]
    pub fn base(&mut self, x: E, y: F) {
        self.a.words(x.a.word(), y.word());
        self.b.words(x.b.word(), y.word());
    }

    #[inline(always)]
    pub fn factor(&mut self, x: &Factor, y: E) {
        self.a.words(x.a.word(), y.a.word());
        self.a.words(x.seven_b, y.b.word());
        self.b.words(x.a.word(), y.b.word());
        self.b.words(x.b.word(), y.a.word());
    }

    /// Adds one element, not a product.
    #[inline(always)]
    pub fn plus(&mut self, x: E) {
        self.a.words(x.a.word(), 1);
        self.b.words(x.b.word(), 1);
    }

    #[inline(always)]
    pub fn value(self) -> E {
        E::new(self.a.value(), self.b.value())
    }
}

/// An element that many are multiplied by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Factor {
    a: F,
    b: F,
    seven_b: u64,
}

impl Factor {
    #[inline(always)]
    pub fn new(x: E) -> Self {
        Self {
            a: x.a,
            b: x.b,
            seven_b: sevenfold(x.b),
        }
    }

    #[inline(always)]
    pub fn element(&self) -> E {
        E::new(self.a, self.b)
    }

    /// The line through x at 0 and y at 1, at this element.
    #[inline(always)]
    pub fn line(&self, x: E, y: E) -> E {
        let mut sum = ExtensionSum::default();
        sum.plus(x);
        sum.factor(self, y - x);
        sum.value()
    }

    /// The same where both ends lie in the base field.
    #[inline(always)]
    pub fn base_line(&self, x: F, y: F) -> E {
        let mut sum = ExtensionSum::default();
        sum.plus(x.into());
        sum.base(self.element(), y - x);
        sum.value()
    }
}

#[cfg(test)]
mod tests {
    use super::super::field::P;
    use super::*;

    #[test]
    fn sums_reduced_once_are_sums_of_products() {
        let words: Vec<F> = [0, 1, 7, P - 1, P - 2, P / 2, 0xffff_ffff, 1 << 32, 1 << 63]
            .map(F::reduced)
            .to_vec();
        let (mut once, mut each) = (ExtensionSum::default(), E::ZERO);
        for _ in 0..50 {
            for (&x, &y) in words.iter().zip(words.iter().rev()) {
                let (u, v) = (E::new(x, -F::ONE), E::new(y, x));
                once.add(u, v);
                once.base(u, y);
                once.plus(v);
                each += u * v + u * y + v;
                let factor = Factor::new(u);
                assert_eq!(factor.element(), u);
                assert_eq!(factor.line(v, u), v + (u - v) * u);
                assert_eq!(factor.base_line(x, y), E::from(x) + u * (y - x));
            }
        }
        assert_eq!(once.value(), each);
    }
}
