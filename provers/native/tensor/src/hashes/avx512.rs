//! BLAKE3 of sixteen inputs at once, in registers of AVX-512; its foundation alone is used.

use std::arch::x86_64::*;

use super::compression::{Batch, Words, all};
use crate::merkle::Digest;

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
        let mut rows = [unsafe { Self::splat(0) }; 16];
        for (i, row) in rows.iter_mut().enumerate() {
            row.0 = unsafe { _mm512_loadu_si512(from.add(i * distance).cast()) };
        }
        unsafe { transposed(rows) }
    }
    #[inline(always)]
    unsafe fn store(chain: [Self; 8], to: *mut Digest) {
        unsafe {
            let mut rows = [Self::splat(0); 16];
            rows[..8].copy_from_slice(&chain);
            for (i, row) in transposed(rows).into_iter().enumerate() {
                _mm256_storeu_si256(to.add(i).cast(), _mm512_castsi512_si256(row.0));
            }
        }
    }
}

/// Sixteen rows of sixteen words, transposed.
#[inline(always)]
unsafe fn transposed(rows: [Sixteen; 16]) -> [Sixteen; 16] {
    let mut made = rows;
    unsafe {
        let (p, q) = (quarters(&rows, 0), quarters(&rows, 4));
        let (r, s) = (quarters(&rows, 8), quarters(&rows, 12));
        for c in 0..4 {
            let (p_even, p_odd) = halves(p[c], q[c]);
            let (r_even, r_odd) = halves(r[c], s[c]);
            (made[c].0, made[c + 8].0) = halves(p_even, r_even);
            (made[c + 4].0, made[c + 12].0) = halves(p_odd, r_odd);
        }
    }
    made
}

/// Of four rows from r on: columns c, c + 4, c + 8 and c + 12 one after the other, at c.
#[inline(always)]
unsafe fn quarters(rows: &[Sixteen; 16], r: usize) -> [__m512i; 4] {
    let (u, v, w, x) = (rows[r].0, rows[r + 1].0, rows[r + 2].0, rows[r + 3].0);
    unsafe {
        let (a, b) = (_mm512_unpacklo_epi32(u, v), _mm512_unpackhi_epi32(u, v));
        let (c, d) = (_mm512_unpacklo_epi32(w, x), _mm512_unpackhi_epi32(w, x));
        [
            _mm512_unpacklo_epi64(a, c),
            _mm512_unpackhi_epi64(a, c),
            _mm512_unpacklo_epi64(b, d),
            _mm512_unpackhi_epi64(b, d),
        ]
    }
}

/// The first and third quarter of both, and the second and fourth.
#[inline(always)]
unsafe fn halves(x: __m512i, y: __m512i) -> (__m512i, __m512i) {
    unsafe {
        (
            _mm512_shuffle_i32x4::<0x88>(x, y),
            _mm512_shuffle_i32x4::<0xdd>(x, y),
        )
    }
}
