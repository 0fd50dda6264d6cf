//! Several elements of the base field at once: one by one anywhere, four by four where there is AVX2.

use super::field::F;

/// Elements that are added, subtracted and multiplied each by itself.
///
/// # Safety
/// `load` and `store` reach `COUNT` elements; methods of a vector type need the processor that it is for.
pub trait Lanes: Copy {
    const COUNT: usize;
    unsafe fn load(from: *const F) -> Self;
    unsafe fn store(self, to: *mut F);
    unsafe fn splat(value: F) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    /// Of four vectors that are consecutive in memory, the elements of each four consecutive, transposed.
    unsafe fn transposed(rows: [Self; 4]) -> [Self; 4];
}

impl Lanes for F {
    const COUNT: usize = 1;
    #[inline(always)]
    unsafe fn load(from: *const F) -> Self {
        // SAFETY: the caller's.
        unsafe { *from }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut F) {
        // SAFETY: the caller's.
        unsafe { *to = self }
    }
    #[inline(always)]
    unsafe fn splat(value: F) -> Self {
        value
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        self - other
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        self * other
    }
    #[inline(always)]
    unsafe fn transposed(rows: [Self; 4]) -> [Self; 4] {
        rows
    }
}

#[cfg(target_arch = "x86_64")]
pub use avx2::Four;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::super::field::{F, P};
    use super::Lanes;

    /// Four elements in a register of AVX2, each below p.
    #[derive(Clone, Copy)]
    pub struct Four(__m256i);

    const EPSILON: i64 = 0xffff_ffff;
    const SIGN: i64 = i64::MIN;

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
        unsafe fn transposed(rows: [Self; 4]) -> [Self; 4] {
            unsafe {
                let [a, b, c, d] = rows.map(|row| row.0);
                let (ab, cd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d));
                let (above_ab, above_cd) = (_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d));
                [
                    Four(_mm256_permute2x128_si256::<0x20>(ab, cd)),
                    Four(_mm256_permute2x128_si256::<0x20>(above_ab, above_cd)),
                    Four(_mm256_permute2x128_si256::<0x31>(ab, cd)),
                    Four(_mm256_permute2x128_si256::<0x31>(above_ab, above_cd)),
                ]
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[target_feature(enable = "avx2")]
        unsafe fn check(x: [F; 4], y: [F; 4]) {
            let mut found = [F::ZERO; 4];
            unsafe {
                let (u, v) = (Four::load(x.as_ptr()), Four::load(y.as_ptr()));
                u.add(v).store(found.as_mut_ptr());
                assert_eq!(found, std::array::from_fn(|i| x[i] + y[i]));
                u.sub(v).store(found.as_mut_ptr());
                assert_eq!(found, std::array::from_fn(|i| x[i] - y[i]));
                u.mul(v).store(found.as_mut_ptr());
                assert_eq!(found, std::array::from_fn(|i| x[i] * y[i]));
                let rows = [u, v, u, u].map(|row| row);
                for (k, column) in Four::transposed(rows).into_iter().enumerate() {
                    column.store(found.as_mut_ptr());
                    assert_eq!(found, [x[k], y[k], x[k], x[k]]);
                }
            }
        }

        #[test]
        fn four_at_once_are_four_one_by_one() {
            if !is_x86_feature_detected!("avx2") {
                return;
            }
            let mut words = vec![0, 1, 2, 7, P - 1, P - 2, P / 2, P / 2 + 1, 0xffff_ffff, 1 << 32];
            for bits in [31, 33, 62, 63] {
                words.extend([(1u64 << bits) - 1, 1 << bits, (1 << bits) + 1]);
            }
            let mut state = 1u64;
            for _ in 0..200 {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x14057b7e);
                words.push(state);
            }
            let words: Vec<F> = words.into_iter().map(F::reduced).collect();
            for (i, &x) in words.iter().enumerate() {
                for &y in &words {
                    let other = words[(i * 7 + 3) % words.len()];
                    unsafe { check([x, y, other, x], [y, x, y, other]) };
                }
            }
        }
    }
}
