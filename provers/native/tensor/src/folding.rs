//! What answers to queries say: the folds of leaves, and claims on powers of the places that were asked.

use crate::extension::Extension;
use crate::field::F;
use crate::ntt::{self, reverse};

/// Folds the symbols of leaves, of values on the subgroup of order 2^bits, along `point`.
pub struct Fold<E> {
    inverse: F,
    leaf_bits: usize,
    shifts: Vec<Vec<F>>,
    point: Vec<E>,
}

impl<E: Extension> Fold<E> {
    pub fn new(bits: usize, point: &[E]) -> Self {
        let inverse = F::root_of_unity(bits).inverse();
        let leaf_bits = bits - point.len();
        let mut step = F::root_of_unity(point.len()).inverse();
        let mut shifts = Vec::new();
        for half in (0..point.len()).rev() {
            shifts.push(
                (0..1 << half)
                    .map(|m| step.power(reverse(m, half) as u64))
                    .collect(),
            );
            step = step * step;
        }
        Self {
            inverse,
            leaf_bits,
            shifts,
            point: point.to_vec(),
        }
    }

    /// Symbols of a leaf.
    pub fn symbols(&self) -> usize {
        1 << self.point.len()
    }

    /// The value of the folded polynomial at the point that `place` stands for.
    pub fn at(&self, place: usize, mut symbols: Vec<E>) -> E {
        let mut inverse = self.inverse.power(reverse(place, self.leaf_bits) as u64);
        for (shifts, &r) in self.shifts.iter().zip(&self.point) {
            symbols = symbols
                .chunks_exact(2)
                .zip(shifts)
                .map(|(pair, &shift)| {
                    let even = (pair[0] + pair[1]).half();
                    let odd = (pair[0] - pair[1]).half() * (inverse * shift);
                    even + (odd - even) * r
                })
                .collect();
            inverse = inverse * inverse;
        }
        symbols[0]
    }
}

/// The multilinear extension of the sum of c z^b over coefficients c and elements z, at a point of b's variables, of the b
/// below a length alone.
pub fn powers_at<E: Extension>(terms: &[(E, F)], length: usize, point: &[E]) -> E {
    terms.iter().fold(E::ZERO, |sum, &(coefficient, z)| {
        let mut power = z;
        // Of b of the variables so far: all, and those below the length's low bits.
        let (mut all, mut below) = (coefficient, E::ZERO);
        for (bit, &r) in point.iter().enumerate() {
            let high = r * power;
            below = if length >> bit & 1 == 1 {
                all - r * all + high * below
            } else {
                below - r * below
            };
            all = all * (E::ONE + high - r);
            power = power * power;
        }
        sum + if length >> point.len() == 0 { below } else { all }
    })
}

/// Adds to weight b, for all b, the sum of c_j z_j^b, where z_j is what a place of 2^bits leaves stands for.
pub fn add_powers<E: Extension>(weights: &mut [E], bits: usize, places: &[usize], terms: &[(E, F)]) {
    // A transform does eight of its operations at once.
    if 8 * places.len() * weights.len() <= bits << bits {
        for &(coefficient, z) in terms {
            let mut power = coefficient;
            for weight in weights.iter_mut() {
                *weight += power;
                power = power * z;
            }
        }
        return;
    }
    // One transform, since the z_j lie in a subgroup.
    let mut sparse = vec![E::ZERO; 1 << bits];
    for (&place, &(coefficient, _)) in places.iter().zip(terms) {
        sparse[reverse(place, bits)] = coefficient;
    }
    let sums = ntt::extension_values(&sparse, bits);
    for (b, weight) in weights.iter_mut().enumerate() {
        let at = E::DEGREE * reverse(b, bits);
        *weight += E::of(&sums[at..at + E::DEGREE]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubic::Cubic;
    use crate::extension::tests::element;
    use crate::multilinear::equality;
    use crate::quadratic::Quadratic;

    fn powers_below<E: Extension>() {
        let point: Vec<E> = (0..5).map(|i| element(i + 3)).collect();
        let equal = equality(&point);
        let places: Vec<usize> = (0..1 << 6).step_by(9).collect();
        let generator = F::root_of_unity(6);
        let terms: Vec<(E, F)> = places
            .iter()
            .map(|&place| {
                let z = generator.power(reverse(place, 6) as u64);
                (element(place as u64 + 90), z)
            })
            .collect();
        for length in 0..=32 {
            let mut weights = vec![E::ZERO; length];
            for &(coefficient, z) in &terms {
                for (b, weight) in weights.iter_mut().enumerate() {
                    *weight += coefficient * z.power(b as u64);
                }
            }
            let mut added = vec![E::ZERO; length];
            add_powers(&mut added, 6, &places, &terms);
            assert_eq!(added, weights);
            let sum = weights
                .iter()
                .zip(&equal)
                .fold(E::ZERO, |sum, (&w, &e)| sum + w * e);
            assert_eq!(powers_at(&terms, length, &point), sum);
        }
    }

    #[test]
    fn powers_below_a_length_are_extended_as_they_are_added() {
        powers_below::<Quadratic>();
        powers_below::<Cubic>();
    }
}
