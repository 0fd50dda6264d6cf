//! Four elements in a register of AVX2.

use std::arch::x86_64::*;

use super::{Lanes, Work};
use crate::field::{F, P};

/// Each below p.
#[derive(Clone, Copy)]
struct Four(__m256i);

const EPSILON: i64 = 0xffff_ffff;
const SIGN: i64 = i64::MIN;

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
pub unsafe fn run(work: impl Work) {
    // SAFETY: the caller's.
    unsafe { work.run::<Four>() }
}

/// All ones where x < y, as unsigned numbers.
#[inline(always)]
unsafe fn below(x: __m256i, y: __m256i) -> __m256i {
    unsafe {
        let sign = _mm256_set1_epi64x(SIGN);
        _mm256_cmpgt_epi64(_mm256_xor_si256(y, sign), _mm256_xor_si256(x, sign))
    }
}

/// x - y, plus p where that is negative.
#[inline(always)]
unsafe fn difference(x: __m256i, y: __m256i) -> __m256i {
    unsafe {
        let borrow = _mm256_srli_epi64::<32>(below(x, y));
        _mm256_sub_epi64(_mm256_sub_epi64(x, y), borrow)
    }
}

/// As for one element: 2^64 = 2^32 - 1, 2^96 = -1 modulo p.
#[inline(always)]
unsafe fn reduce(low: __m256i, high: __m256i) -> __m256i {
    unsafe {
        let sign = _mm256_set1_epi64x(SIGN);
        let epsilon = _mm256_set1_epi64x(EPSILON);
        // Shifted by 2^63, so that comparisons with a sign compare words.
        let low = _mm256_xor_si256(low, sign);
        let t = _mm256_sub_epi64(low, _mm256_srli_epi64::<32>(high));
        let borrow = _mm256_srli_epi64::<32>(_mm256_cmpgt_epi64(t, low));
        let t = _mm256_sub_epi64(t, borrow);
        let r = _mm256_add_epi64(t, _mm256_mul_epu32(high, epsilon));
        let carry = _mm256_srli_epi64::<32>(_mm256_cmpgt_epi64(t, r));
        let r = _mm256_add_epi64(r, carry);
        let last = _mm256_set1_epi64x((P - 1) as i64 ^ SIGN);
        let over = _mm256_srli_epi64::<32>(_mm256_cmpgt_epi64(r, last));
        _mm256_xor_si256(_mm256_add_epi64(r, over), sign)
    }
}

impl Lanes for Four {
    const COUNT: usize = 4;
    #[inline(always)]
    unsafe fn load(from: *const F) -> Self {
        Four(unsafe { _mm256_loadu_si256(from.cast()) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut F) {
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn splat(value: F) -> Self {
        Four(unsafe { _mm256_set1_epi64x(value.word() as i64) })
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        unsafe {
            let modulus = _mm256_set1_epi64x(P as i64);
            Four(difference(self.0, _mm256_sub_epi64(modulus, other.0)))
        }
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Four(unsafe { difference(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        unsafe {
            let epsilon = _mm256_set1_epi64x(EPSILON);
            let (x, y) = (self.0, other.0);
            let (above_x, above_y) = (_mm256_srli_epi64::<32>(x), _mm256_srli_epi64::<32>(y));
            let ll = _mm256_mul_epu32(x, y);
            let lh = _mm256_mul_epu32(x, above_y);
            let hl = _mm256_mul_epu32(above_x, y);
            let hh = _mm256_mul_epu32(above_x, above_y);
            let t = _mm256_add_epi64(hl, _mm256_srli_epi64::<32>(ll));
            let u = _mm256_add_epi64(lh, _mm256_and_si256(t, epsilon));
            let high = _mm256_add_epi64(
                _mm256_add_epi64(hh, _mm256_srli_epi64::<32>(t)),
                _mm256_srli_epi64::<32>(u),
            );
            let low = _mm256_blend_epi32::<0xaa>(ll, _mm256_slli_epi64::<32>(u));
            Four(reduce(low, high))
        }
    }
    #[inline(always)]
    unsafe fn exchanged<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        let (x, y) = (self.0, other.0);
        let (first, second) = unsafe {
            match SIZE {
                2 => (
                    _mm256_permute2x128_si256::<0x20>(x, y),
                    _mm256_permute2x128_si256::<0x31>(x, y),
                ),
                1 => (_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y)),
                _ => unreachable!("blocks of 2 or 1"),
            }
        };
        (Four(first), Four(second))
    }
}
