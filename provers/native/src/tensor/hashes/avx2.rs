//! BLAKE3 of eight inputs at once, in registers of AVX2.

use std::arch::x86_64::*;

use super::super::merkle::Digest;
use super::compression::{Batch, Words, all};

#[derive(Clone, Copy)]
struct Eight(__m256i);

/// As many hashes as can be made eight at once; how many these are.
///
/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
pub unsafe fn run(batch: &mut impl Batch) -> usize {
    // SAFETY: the caller's.
    unsafe { all::<Eight>(batch) }
}

/// Bytes that take the places of the four of each word.
#[inline(always)]
unsafe fn shuffled(x: __m256i, bytes: [u8; 4]) -> __m256i {
    unsafe {
        let lane: [u8; 32] = std::array::from_fn(|i| (i % 16 / 4 * 4) as u8 + bytes[i % 4]);
        _mm256_shuffle_epi8(x, _mm256_loadu_si256(lane.as_ptr().cast()))
    }
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
                16 => shuffled(x, [2, 3, 0, 1]),
                12 => _mm256_or_si256(_mm256_srli_epi32::<12>(x), _mm256_slli_epi32::<20>(x)),
                8 => shuffled(x, [1, 2, 3, 0]),
                7 => _mm256_or_si256(_mm256_srli_epi32::<7>(x), _mm256_slli_epi32::<25>(x)),
                _ => unreachable!("rotations of BLAKE3"),
            }
        })
    }
    #[inline(always)]
    unsafe fn block(from: *const u8, distance: usize) -> [Self; 16] {
        unsafe {
            let half = |offset: usize| {
                transposed(std::array::from_fn(|i| {
                    _mm256_loadu_si256(from.add(i * distance + offset).cast())
                }))
            };
            let (low, high) = (half(0), half(32));
            std::array::from_fn(|i| Eight(if i < 8 { low[i] } else { high[i - 8] }))
        }
    }
    #[inline(always)]
    unsafe fn store(chain: [Self; 8], to: *mut Digest) {
        unsafe {
            for (i, row) in transposed(chain.map(|word| word.0)).into_iter().enumerate() {
                _mm256_storeu_si256(to.add(i).cast(), row);
            }
        }
    }
}

/// Eight rows of eight words, transposed.
#[inline(always)]
unsafe fn transposed(rows: [__m256i; 8]) -> [__m256i; 8] {
    unsafe {
        let pair = |x: usize, y: usize| {
            (
                _mm256_unpacklo_epi32(rows[x], rows[y]),
                _mm256_unpackhi_epi32(rows[x], rows[y]),
            )
        };
        let ((a, b), (c, d), (e, f), (g, h)) = (pair(0, 1), pair(2, 3), pair(4, 5), pair(6, 7));
        let quarters = |x: __m256i, y: __m256i| (_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y));
        let ((p0, p1), (p2, p3)) = (quarters(a, c), quarters(b, d));
        let ((q0, q1), (q2, q3)) = (quarters(e, g), quarters(f, h));
        let low = |x: __m256i, y: __m256i| _mm256_permute2x128_si256::<0x20>(x, y);
        let high = |x: __m256i, y: __m256i| _mm256_permute2x128_si256::<0x31>(x, y);
        [
            low(p0, q0),
            low(p1, q1),
            low(p2, q2),
            low(p3, q3),
            high(p0, q0),
            high(p1, q1),
            high(p2, q2),
            high(p3, q3),
        ]
    }
}
