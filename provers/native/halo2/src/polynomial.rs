//! Polynomials as coefficients in bit-reversed order: what an inverse transform leaves, and what a forward one takes.

use ark_bn254::Fr;
use ark_ff::{AdditiveGroup, Field};
use rayon::prelude::*;

use circuitize_curves::lazy::{Lazy, Relax};
use circuitize_curves::ntt::{Domain, decimate_in_frequency, decimate_in_time};

/// A field element below twice the prime.
pub type Element = <Fr as Relax>::Lazy;

pub fn zero() -> Element {
    Fr::ZERO.relax()
}

/// Transforms over the subgroup that a root generates.
pub struct Transforms {
    pub size: usize,
    pub root: Fr,
    up: Vec<Vec<Element>>,
    down: Vec<Vec<Element>>,
    scale: Element,
}

impl Transforms {
    pub fn new(k: u32, root: Fr) -> Self {
        let size = 1usize << k;
        let domain = Domain {
            size,
            root,
            offset: root,
        };
        Self {
            size,
            root,
            up: domain.levels(root),
            down: domain.levels(root.inverse().unwrap_or_default()),
            scale: Fr::from(size as u64).inverse().unwrap_or_default().relax(),
        }
    }

    /// The coefficients of the polynomial with these values on the subgroup.
    pub fn interpolate(&self, values: &[Fr]) -> Vec<Element> {
        self.interpolate_elements(values.iter().map(|value| value.relax()).collect())
    }

    pub fn interpolate_elements(&self, mut values: Vec<Element>) -> Vec<Element> {
        decimate_in_frequency(&mut values, &self.down);
        values.iter_mut().for_each(|value| *value = value.mul(self.scale));
        values
    }

    /// The values on a coset, given the powers of its offset in bit-reversed order.
    pub fn on_coset(&self, coefficients: &[Element], powers: &[Element]) -> Vec<Element> {
        let mut values = coefficients
            .iter()
            .zip(powers)
            .map(|(coefficient, power)| coefficient.mul(*power))
            .collect::<Vec<_>>();
        decimate_in_time(&mut values, &self.up);
        values
    }

    /// `base^i` at the bit-reversed place of i.
    pub fn powers(&self, base: Fr) -> Vec<Element> {
        let mut powers = Vec::with_capacity(self.size);
        powers.push(Fr::ONE.relax());
        let mut power = self.size / 2;
        while power > 0 {
            let factor = base.pow([power as u64]).relax();
            for place in 0..powers.len() {
                powers.push(powers[place].mul(factor));
            }
            power /= 2;
        }
        powers
    }

    /// Natural order to bit-reversed order, and back.
    pub fn reordered<T: Copy>(&self, values: &[T]) -> Vec<T> {
        let shift = usize::BITS - self.size.trailing_zeros();
        (0..self.size)
            .map(|place| match self.size {
                1 => values[0],
                _ => values[place.reverse_bits() >> shift],
            })
            .collect()
    }
}

/// The value at a point, given its powers in the order of the coefficients.
pub fn evaluate(coefficients: &[Element], powers: &[Element]) -> Fr {
    let sum = coefficients
        .par_iter()
        .zip(powers)
        .with_min_len(1 << 12)
        .fold(zero, |sum, (coefficient, power)| sum.add(coefficient.mul(*power)))
        .reduce(zero, |left, right| left.add(right));
    Fr::reduce(sum)
}

#[cfg(test)]
mod tests {
    use ark_ff::FftField;

    use super::*;

    #[test]
    fn values_become_coefficients_and_values_again() {
        for k in [0u32, 1, 3, 8] {
            let size = 1usize << k;
            let root = Fr::get_root_of_unity(size as u64).expect("a root");
            let transforms = Transforms::new(k, root);
            let natural = (0..size as u64).map(|i| Fr::from(i * i + 5)).collect::<Vec<_>>();
            let horner = |x: Fr| natural.iter().rev().fold(Fr::ZERO, |sum, value| sum * x + value);
            let values = (0..size)
                .map(|i| horner(root.pow([i as u64])))
                .collect::<Vec<_>>();
            let coefficients = transforms.interpolate(&values);
            let reduced = coefficients
                .iter()
                .map(|value| Fr::reduce(*value))
                .collect::<Vec<_>>();
            assert_eq!(transforms.reordered(&reduced), natural);
            let offset = Fr::from(7u64);
            let powers = transforms.powers(offset);
            let coset = transforms.on_coset(&coefficients, &powers);
            for (i, value) in coset.iter().enumerate() {
                assert_eq!(Fr::reduce(*value), horner(offset * root.pow([i as u64])));
            }
            assert_eq!(evaluate(&coefficients, &powers), horner(offset));
        }
    }
}
