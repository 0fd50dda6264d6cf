//! Number-theoretic transforms: values of a polynomial on a subgroup, in bit-reversed order.

use super::field::{Element, F};

const SEQUENTIAL: usize = 1 << 14;

/// Powers of the roots of unity of every order up to 2^bits: those of order 2^k at [2^(k-1), 2^k).
pub struct Twiddles(Vec<F>);

impl Twiddles {
    pub fn new(bits: usize) -> Self {
        let mut powers = vec![F::ONE; 1 << bits];
        for k in 2..=bits {
            let root = F::root_of_unity(k);
            let (below, own) = powers.split_at_mut(1 << (k - 1));
            for (pair, &power) in own.chunks_exact_mut(2).zip(&below[below.len() / 2..]) {
                pair[0] = power;
                pair[1] = power * root;
            }
        }
        Self(powers)
    }

    fn of(&self, size: usize) -> &[F] {
        &self.0[size / 2..size]
    }
}

/// In place, coefficients to values: place rev(i) holds the value at w^i, w the root of unity of the length's order.
pub fn transform<T: Element>(values: &mut [T], twiddles: &Twiddles) {
    let size = values.len();
    if size < 2 {
        return;
    }
    let (low, high) = values.split_at_mut(size / 2);
    for ((x, y), &w) in low.iter_mut().zip(high.iter_mut()).zip(twiddles.of(size)) {
        let (sum, difference) = (*x + *y, *x - *y);
        *x = sum;
        *y = difference * w;
    }
    if size > SEQUENTIAL {
        rayon::join(|| transform(low, twiddles), || transform(high, twiddles));
    } else {
        transform(low, twiddles);
        transform(high, twiddles);
    }
}

/// The number whose lowest `bits` bits are those of `index` in reverse.
pub fn reverse(index: usize, bits: usize) -> usize {
    if bits == 0 {
        0
    } else {
        index.reverse_bits() >> (usize::BITS as usize - bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transform_evaluates_the_polynomial() {
        for bits in 0..7 {
            let coefficients: Vec<F> = (0..1 << bits).map(|i| F::reduced(i * i + 3)).collect();
            let mut values = coefficients.clone();
            transform(&mut values, &Twiddles::new(bits));
            let root = F::root_of_unity(bits);
            for i in 0..1 << bits {
                let x = root.power(i as u64);
                let expected = coefficients.iter().rev().fold(F::ZERO, |sum, &c| sum * x + c);
                assert_eq!(values[reverse(i, bits)], expected);
            }
        }
    }
}
