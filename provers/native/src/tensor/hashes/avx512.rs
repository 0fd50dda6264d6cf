//! BLAKE3 of sixteen inputs at once, in registers of AVX-512; its foundation alone is used.

use std::arch::x86_64::*;

use super::super::merkle::Digest;
use super::compression::{Batch, Words, all};

#[derive(Clone, Copy)]
struct Sixteen(__m512i);

/// As many hashes as can be made sixteen at once; how many these are.
///
/// # Safety
/// The processor has AVX-512F.
#[target_feature(enable = "avx512f")]
pub unsafe fn run(batch: &mut impl Batch) -> usize {
    // SAFETY: the caller's.
    unsafe { all::<Sixteen>(batch) }
}

impl Words for Sixteen {
    const COUNT: usize = 16;
    #[inline(always)]
    unsafe fn splat(word: u32) -> Self {
        Sixteen(unsafe { _mm512_set1_epi32(word as i32) })
    }
    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        Sixteen(unsafe { _mm512_loadu_si512(from.cast()) })
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Sixteen(unsafe { _mm512_add_epi32(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        Sixteen(unsafe { _mm512_xor_si512(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn rotated<const RIGHT: u32>(self) -> Self {
        let x = self.0;
        Sixteen(unsafe {
            match RIGHT {
                16 => _mm512_ror_epi32::<16>(x),
                12 => _mm512_ror_epi32::<12>(x),
                8 => _mm512_ror_epi32::<8>(x),
                7 => _mm512_ror_epi32::<7>(x),
                _ => unreachable!("rotations of BLAKE3"),
            }
        })
    }
    #[inline(always)]
    unsafe fn block(from: *const u8, distance: usize) -> [Self; 16] {
        unsafe {
            let rows = std::array::from_fn(|i| _mm512_loadu_si512(from.add(i * distance).cast()));
            transposed(rows).map(Sixteen)
        }
    }
    #[inline(always)]
    unsafe fn store(chain: [Self; 8], to: *mut Digest) {
        unsafe {
            let zero = _mm512_setzero_si512();
            let rows = std::array::from_fn(|i| if i < 8 { chain[i].0 } else { zero });
            for (i, row) in transposed(rows).into_iter().enumerate() {
                _mm256_storeu_si256(to.add(i).cast(), _mm512_castsi512_si256(row));
            }
        }
    }
}

/// Sixteen rows of sixteen words, transposed.
#[inline(always)]
unsafe fn transposed(rows: [__m512i; 16]) -> [__m512i; 16] {
    unsafe {
        // The quarters of columns[c] are columns c, c + 4, c + 8 and c + 12 of four rows.
        let quarters = |r: usize| {
            let (a, b) = (
                _mm512_unpacklo_epi32(rows[r], rows[r + 1]),
                _mm512_unpackhi_epi32(rows[r], rows[r + 1]),
            );
            let (c, d) = (
                _mm512_unpacklo_epi32(rows[r + 2], rows[r + 3]),
                _mm512_unpackhi_epi32(rows[r + 2], rows[r + 3]),
            );
            [
                _mm512_unpacklo_epi64(a, c),
                _mm512_unpackhi_epi64(a, c),
                _mm512_unpacklo_epi64(b, d),
                _mm512_unpackhi_epi64(b, d),
            ]
        };
        let (p, q, r, s) = (quarters(0), quarters(4), quarters(8), quarters(12));
        let even = |x: __m512i, y: __m512i| _mm512_shuffle_i32x4::<0x88>(x, y);
        let odd = |x: __m512i, y: __m512i| _mm512_shuffle_i32x4::<0xdd>(x, y);
        let mut made = rows;
        for c in 0..4 {
            let (first, third) = (even(p[c], q[c]), even(r[c], s[c]));
            let (second, fourth) = (odd(p[c], q[c]), odd(r[c], s[c]));
            made[c] = even(first, third);
            made[c + 4] = even(second, fourth);
            made[c + 8] = odd(first, third);
            made[c + 12] = odd(second, fourth);
        }
        made
    }
}
