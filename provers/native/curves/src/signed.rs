//! Field elements as signed 256-bit integers of least magnitude, in two's complement.

use ark_ff::{BigInt, BigInteger, PrimeField};
use rayon::prelude::*;

/// Little-endian limbs of a two's complement integer in (-p/2, p/2].
pub type Signed = [u64; 4];

/// Bits of the longest magnitude for the 254-bit scalar field of BN254.
pub const LONGEST: u32 = 253;

/// The representative of least magnitude of a value in [0, p).
pub fn from_normal<F: PrimeField<BigInt = BigInt<4>>>(value: &[u64; 4]) -> Signed {
    let value = BigInt(*value);
    if value <= F::MODULUS_MINUS_ONE_DIV_TWO {
        return value.0;
    }
    let mut negative = value;
    negative.sub_with_borrow(&F::MODULUS);
    negative.0
}

/// Bits of the magnitude: 0 for zero, 1 for one and minus one.
pub fn bits(value: &Signed) -> u32 {
    let mut magnitude = BigInt(*value);
    if value[3] >> 63 == 1 {
        magnitude = BigInt::zero();
        magnitude.sub_with_borrow(&BigInt(*value));
    }
    magnitude.num_bits()
}

/// The value where it fits a 64-bit integer other than `i64::MIN`.
pub fn small(value: &Signed) -> Option<i64> {
    let low = value[0] as i64;
    let sign = (low >> 63) as u64;
    (value[1..].iter().all(|&limb| limb == sign) && low != i64::MIN).then_some(low)
}

/// How signed integers of at most `longest` bits are written in signed digits:
/// v = sum of d_k 2^(width k) with -2^(width-1) <= d_k < 2^(width-1).
#[derive(Clone, Copy)]
pub struct Digits {
    pub width: u32,
    pub windows: u32,
    offset: Signed,
}

impl Digits {
    /// Two bits beyond the longest magnitude keep the last digit, which takes what is left, in its interval.
    pub fn new(width: u32, longest: u32) -> Self {
        let windows = (longest + 2).div_ceil(width);
        let mut offset = [0; 4];
        for bit in (0..windows - 1).map(|window| window * width + width - 1) {
            offset[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        Self {
            width,
            windows,
            offset,
        }
    }

    /// Adds 2^(width-1) in every window but the last, after which the digits are read without carries.
    pub fn prepare(&self, value: &Signed) -> Signed {
        let mut sum = BigInt(*value);
        sum.add_with_carry(&BigInt(self.offset));
        sum.0
    }

    /// Digit `window` of a prepared value.
    pub fn read(&self, prepared: &Signed, window: u32) -> i64 {
        let position = window * self.width;
        let (limb, shift) = ((position / 64) as usize, position % 64);
        let above = if limb < 3 {
            prepared[limb + 1]
        } else {
            ((prepared[3] as i64) >> 63) as u64
        };
        let both = u128::from(above) << 64 | u128::from(prepared[limb]);
        let bits = (both >> shift) as i64 & ((1 << self.width) - 1);
        let half = 1 << (self.width - 1);
        if window + 1 < self.windows {
            bits - half
        } else {
            (bits ^ half) - half
        }
    }
}

/// The representatives of least magnitude of field elements.
pub fn from_fields<F: PrimeField<BigInt = BigInt<4>>>(values: &[F]) -> Vec<Signed> {
    values
        .par_iter()
        .with_min_len(1024)
        .map(|value| from_normal::<F>(&value.into_bigint().0))
        .collect()
}

#[cfg(test)]
pub mod tests {
    use ark_bn254::Fr;
    use ark_ff::{AdditiveGroup, Field};

    use super::*;

    /// Plus and minus each power of two up to the longest, and their neighbours; the ends of the interval.
    pub fn awkward() -> Vec<Fr> {
        let half = Fr::from(2u64).inverse().unwrap_or_default();
        let mut values = vec![Fr::ZERO, half, -half, half - Fr::ONE];
        for bits in 0..u64::from(LONGEST) {
            let power = Fr::from(2u64).pow([bits]);
            for value in [power, power - Fr::ONE, power + Fr::ONE] {
                values.extend([value, -value]);
            }
        }
        values
    }

    #[test]
    fn digits_make_the_value_again_and_stay_in_their_interval() {
        let values = awkward();
        let integers = from_fields(&values);
        for width in 3..=16 {
            let radix = Fr::from(1u64 << width);
            let half = 1i64 << (width - 1);
            for (value, integer) in values.iter().zip(&integers) {
                let digits = Digits::new(width, bits(integer));
                let prepared = digits.prepare(integer);
                let sum = (0..digits.windows).rev().fold(Fr::ZERO, |sum, window| {
                    let digit = digits.read(&prepared, window);
                    assert!((-half..=half).contains(&digit));
                    sum * radix + Fr::from(digit)
                });
                assert_eq!(sum, *value);
            }
        }
    }

    #[test]
    fn small_values_are_recognised() {
        for value in [0i64, 1, -1, 5, -5, i64::MAX, i64::MIN + 1] {
            assert_eq!(small(&from_fields(&[Fr::from(value)])[0]), Some(value));
        }
        for value in [
            i128::from(i64::MIN),
            1i128 << 63,
            -(1i128 << 64),
            1i128 << 64,
            i128::MAX,
        ] {
            assert_eq!(small(&from_fields(&[Fr::from(value)])[0]), None);
        }
    }
}
