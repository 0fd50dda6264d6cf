//! BLAKE3 of eight inputs at once, in registers of AVX2.

use std::arch::x86_64::*;

use super::compression::{Batch, Words, all};
use crate::merkle::Digest;

#[derive(Clone, Copy)]
struct Eight(__m256i);

/// Which bytes come next to each other when every word is rotated by 16, and by 8 bits.
const BY_16: [u8; 32] = bytes([2, 3, 0, 1]);
const BY_8: [u8; 32] = bytes([1, 2, 3, 0]);

const fn bytes(of_word: [u8; 4]) -> [u8; 32] {
    let mut made = [0; 32];
    let mut i = 0;
    while i < 32 {
        made[i] = (i % 16 / 4 * 4) as u8 + of_word[i % 4];
        i += 1;
    }
    made
}

/// As many hashes as can be made eight at once; how many these are.
///
/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
pub unsafe fn run(batch: &mut impl Batch) -> usize {
    // SAFETY: the caller's.
    unsafe { all::<Eight>(batch) }
}

impl Words for Eight {
    const COUNT: usize = 8;
    #[inline(always)]
    unsafe fn splat(word: u32) -> Self {
        Eight(unsafe { _mm256_set1_epi32(word as i32) })
    }
    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        Eight(unsafe { _mm256_loadu_si256(from.cast()) })
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Eight(unsafe { _mm256_add_epi32(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        Eight(unsafe { _mm256_xor_si256(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn rotated<const RIGHT: u32>(self) -> Self {
        let x = self.0;
        Eight(unsafe {
            match RIGHT {
                16 => _mm256_shuffle_epi8(x, _mm256_loadu_si256(BY_16.as_ptr().cast())),
                12 => _mm256_or_si256(_mm256_srli_epi32::<12>(x), _mm256_slli_epi32::<20>(x)),
                8 => _mm256_shuffle_epi8(x, _mm256_loadu_si256(BY_8.as_ptr().cast())),
                7 => _mm256_or_si256(_mm256_srli_epi32::<7>(x), _mm256_slli_epi32::<25>(x)),
                _ => unreachable!("rotations of BLAKE3"),
            }
        })
    }
    #[inline(always)]
    unsafe fn block(from: *const u8, distance: usize) -> [Self; 16] {
        unsafe {
            let mut made = [Self::splat(0); 16];
            for half in [0, 8] {
                let mut rows = [Self::splat(0); 8];
                for (i, row) in rows.iter_mut().enumerate() {
                    row.0 = _mm256_loadu_si256(from.add(i * distance + 4 * half).cast());
                }
                made[half..half + 8].copy_from_slice(&transposed(rows));
            }
            made
        }
    }
    #[inline(always)]
    unsafe fn store(chain: [Self; 8], to: *mut Digest) {
        unsafe {
            for (i, row) in transposed(chain).into_iter().enumerate() {
                _mm256_storeu_si256(to.add(i).cast(), row.0);
            }
        }
    }
}

/// Eight rows of eight words, transposed.
#[inline(always)]
unsafe fn transposed(rows: [Eight; 8]) -> [Eight; 8] {
    let mut made = rows;
    unsafe {
        let (p, q) = (halves(&rows, 0), halves(&rows, 4));
        for c in 0..4 {
            made[c].0 = _mm256_permute2x128_si256::<0x20>(p[c], q[c]);
            made[c + 4].0 = _mm256_permute2x128_si256::<0x31>(p[c], q[c]);
        }
    }
    made
}

/// Of four rows from r on: columns c and c + 4 one after the other, at c.
#[inline(always)]
unsafe fn halves(rows: &[Eight; 8], r: usize) -> [__m256i; 4] {
    let (u, v, w, x) = (rows[r].0, rows[r + 1].0, rows[r + 2].0, rows[r + 3].0);
    unsafe {
        let (a, b) = (_mm256_unpacklo_epi32(u, v), _mm256_unpackhi_epi32(u, v));
        let (c, d) = (_mm256_unpacklo_epi32(w, x), _mm256_unpackhi_epi32(w, x));
        [
            _mm256_unpacklo_epi64(a, c),
            _mm256_unpackhi_epi64(a, c),
            _mm256_unpacklo_epi64(b, d),
            _mm256_unpackhi_epi64(b, d),
        ]
    }
}
