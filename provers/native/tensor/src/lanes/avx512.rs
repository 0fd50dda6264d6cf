//! Eight elements in a register of AVX-512; its foundation alone is used.

use std::arch::x86_64::*;

use super::{Lanes, Work};
use crate::field::{F, P};

/// Each below p.
#[derive(Clone, Copy)]
struct Eight(__m512i);

const EPSILON: i64 = 0xffff_ffff;

/// # Safety
/// The processor has AVX-512F.
#[target_feature(enable = "avx512f")]
pub unsafe fn run(work: impl Work) {
    // SAFETY: the caller's.
    unsafe { work.run::<Eight>() }
}

/// x - y, plus p where that is negative; -2^32 + 1 is p modulo 2^64.
#[inline(always)]
unsafe fn difference(x: __m512i, y: __m512i) -> __m512i {
    unsafe {
        let borrow = _mm512_cmplt_epu64_mask(x, y);
        let t = _mm512_sub_epi64(x, y);
        _mm512_mask_sub_epi64(t, borrow, t, _mm512_set1_epi64(EPSILON))
    }
}

/// As for one element: 2^64 = 2^32 - 1, 2^96 = -1 modulo p.
#[inline(always)]
unsafe fn reduce(low: __m512i, high: __m512i) -> __m512i {
    unsafe {
        let epsilon = _mm512_set1_epi64(EPSILON);
        let t = difference(low, _mm512_srli_epi64::<32>(high));
        let r = _mm512_add_epi64(t, _mm512_mul_epu32(high, epsilon));
        let carry = _mm512_cmplt_epu64_mask(r, t);
        let r = _mm512_mask_add_epi64(r, carry, r, epsilon);
        let over = _mm512_cmpge_epu64_mask(r, _mm512_set1_epi64(P as i64));
        _mm512_mask_add_epi64(r, over, r, epsilon)
    }
}

impl Lanes for Eight {
    const COUNT: usize = 8;
    #[inline(always)]
    unsafe fn load(from: *const F) -> Self {
        Eight(unsafe { _mm512_loadu_si512(from.cast()) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut F) {
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn splat(value: F) -> Self {
        Eight(unsafe { _mm512_set1_epi64(value.word() as i64) })
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        unsafe {
            let modulus = _mm512_set1_epi64(P as i64);
            Eight(difference(self.0, _mm512_sub_epi64(modulus, other.0)))
        }
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Eight(unsafe { difference(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        unsafe {
            let epsilon = _mm512_set1_epi64(EPSILON);
            let (x, y) = (self.0, other.0);
            let (above_x, above_y) = (_mm512_srli_epi64::<32>(x), _mm512_srli_epi64::<32>(y));
            let ll = _mm512_mul_epu32(x, y);
            let lh = _mm512_mul_epu32(x, above_y);
            let hl = _mm512_mul_epu32(above_x, y);
            let hh = _mm512_mul_epu32(above_x, above_y);
            let t = _mm512_add_epi64(hl, _mm512_srli_epi64::<32>(ll));
            let u = _mm512_add_epi64(lh, _mm512_and_si512(t, epsilon));
            let high = _mm512_add_epi64(
                _mm512_add_epi64(hh, _mm512_srli_epi64::<32>(t)),
                _mm512_srli_epi64::<32>(u),
            );
            let low = _mm512_mask_blend_epi32(0xaaaa, ll, _mm512_slli_epi64::<32>(u));
            Eight(reduce(low, high))
        }
    }
    #[inline(always)]
    unsafe fn exchanged<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        let (x, y) = (self.0, other.0);
        let (first, second) = unsafe {
            match SIZE {
                4 => (
                    _mm512_shuffle_i64x2::<0x44>(x, y),
                    _mm512_shuffle_i64x2::<0xee>(x, y),
                ),
                2 => (
                    _mm512_permutex2var_epi64(x, _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), y),
                    _mm512_permutex2var_epi64(x, _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15), y),
                ),
                1 => (_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y)),
                _ => unreachable!("blocks of 4, 2 or 1"),
            }
        };
        (Eight(first), Eight(second))
    }
}
