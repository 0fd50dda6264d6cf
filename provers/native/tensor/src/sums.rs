//! Sums of products of words that are reduced modulo p once, at their end.

use crate::field::{F, reduce, wide};

/// A sum of fewer than 2^31 products, reduced once.
#[derive(Clone, Copy, Default)]
pub struct Sum {
    low: u128,
    over: u64,
}

impl Sum {
    #[inline(always)]
    pub fn words(&mut self, x: u64, y: u64) {
        let (low, carry) = self.low.overflowing_add(wide(x, y));
        self.low = low;
        self.over += u64::from(carry);
    }

    #[inline(always)]
    pub fn value(self) -> F {
        reduce(self.low, self.over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::tests::awkward;

    #[test]
    fn a_sum_reduced_once_is_the_sum_of_products() {
        let (mut once, mut each) = (Sum::default(), F::ZERO);
        for _ in 0..50 {
            for x in awkward() {
                once.words(x, u64::MAX);
                each = each + F::reduced(x) * F::reduced(u64::MAX);
            }
        }
        assert!(once.over > 200);
        assert_eq!(once.value(), each);
    }
}
