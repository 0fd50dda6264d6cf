//! BLAKE3 of many short inputs of one length: eight at once where there is AVX2, else one by one.

use super::field::F;
use super::merkle::{Digest, leaf_hash, leaf_salt, node_hash};

/// The hashes of leaves of so many words each, salted where there is a secret; the first leaf is that of place `first`.
pub fn leaf_hashes(words: &[F], leaf: usize, secret: Option<&[u8; 32]>, first: usize, hashes: &mut [Digest]) {
    let mut done = 0;
    #[cfg(target_arch = "x86_64")]
    if leaf * 8 % BLOCK == 0 && is_x86_feature_detected!("avx2") {
        while done + 8 <= hashes.len() {
            let own = &words[done * leaf..(done + 8) * leaf];
            // SAFETY: the processor has AVX2.
            unsafe { avx2::leaves(own, secret, first + done, &mut hashes[done..done + 8]) };
            done += 8;
        }
    }
    leaf_hashes_singly(
        &words[done * leaf..],
        leaf,
        secret,
        first + done,
        &mut hashes[done..],
    );
}

fn leaf_hashes_singly(
    words: &[F],
    leaf: usize,
    secret: Option<&[u8; 32]>,
    first: usize,
    hashes: &mut [Digest],
) {
    for (i, (words, hash)) in words.chunks_exact(leaf).zip(hashes).enumerate() {
        let salt = secret.map(|secret| leaf_salt(secret, first + i));
        *hash = leaf_hash(words, salt.as_ref().map_or(&[], |salt| salt.as_slice()));
    }
}

/// The hashes of pairs of nodes.
pub fn node_hashes(below: &[Digest], hashes: &mut [Digest]) {
    let mut done = 0;
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        while done + 8 <= hashes.len() {
            // SAFETY: the processor has AVX2.
            unsafe { avx2::nodes(&below[2 * done..2 * done + 16], &mut hashes[done..done + 8]) };
            done += 8;
        }
    }
    for (pair, hash) in below[2 * done..].chunks_exact(2).zip(&mut hashes[done..]) {
        *hash = node_hash(&pair[0], &pair[1]);
    }
}

#[cfg(target_arch = "x86_64")]
const BLOCK: usize = 64;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::super::field::F;
    use super::super::merkle::Digest;
    use super::BLOCK;

    const IV: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
    const START: u32 = 1;
    const END: u32 = 2;
    const ROOT: u32 = 8;
    const KEYED: u32 = 16;

    /// Which message word each round takes where: round r is the permutation r times.
    const SCHEDULE: [[usize; 16]; 7] = {
        let mut rounds = [[0; 16]; 7];
        let mut i = 0;
        while i < 16 {
            rounds[0][i] = i;
            i += 1;
        }
        let mut r = 1;
        while r < 7 {
            let mut i = 0;
            while i < 16 {
                rounds[r][i] = rounds[r - 1][PERMUTATION[i]];
                i += 1;
            }
            r += 1;
        }
        rounds
    };

    type Words = [__m256i; 8];

    #[inline(always)]
    unsafe fn rotate<const RIGHT: i32, const LEFT: i32>(x: __m256i) -> __m256i {
        unsafe { _mm256_or_si256(_mm256_srli_epi32::<RIGHT>(x), _mm256_slli_epi32::<LEFT>(x)) }
    }

    /// The compression function on eight states at once; lengths and flags are the same for all, counters are 0.
    #[inline(always)]
    unsafe fn compress(chain: &mut Words, message: &[__m256i; 16], length: u32, flags: u32) {
        unsafe {
            let splat = |word: u32| _mm256_set1_epi32(word as i32);
            let zero = _mm256_setzero_si256();
            let bytes = |pattern: [u8; 4]| {
                let lane: [u8; 32] = std::array::from_fn(|i| (i % 16 / 4 * 4) as u8 + pattern[i % 4]);
                _mm256_loadu_si256(lane.as_ptr().cast())
            };
            let (by_16, by_8) = (bytes([2, 3, 0, 1]), bytes([1, 2, 3, 0]));
            let mut v = [zero; 16];
            v[..8].copy_from_slice(chain);
            for i in 0..4 {
                v[8 + i] = splat(IV[i]);
            }
            (v[14], v[15]) = (splat(length), splat(flags));
            macro_rules! mix {
                ($a:literal, $b:literal, $c:literal, $d:literal, $x:expr, $y:expr) => {
                    v[$a] = _mm256_add_epi32(_mm256_add_epi32(v[$a], v[$b]), $x);
                    v[$d] = _mm256_shuffle_epi8(_mm256_xor_si256(v[$d], v[$a]), by_16);
                    v[$c] = _mm256_add_epi32(v[$c], v[$d]);
                    v[$b] = rotate::<12, 20>(_mm256_xor_si256(v[$b], v[$c]));
                    v[$a] = _mm256_add_epi32(_mm256_add_epi32(v[$a], v[$b]), $y);
                    v[$d] = _mm256_shuffle_epi8(_mm256_xor_si256(v[$d], v[$a]), by_8);
                    v[$c] = _mm256_add_epi32(v[$c], v[$d]);
                    v[$b] = rotate::<7, 25>(_mm256_xor_si256(v[$b], v[$c]));
                };
            }
            for s in &SCHEDULE {
                mix!(0, 4, 8, 12, message[s[0]], message[s[1]]);
                mix!(1, 5, 9, 13, message[s[2]], message[s[3]]);
                mix!(2, 6, 10, 14, message[s[4]], message[s[5]]);
                mix!(3, 7, 11, 15, message[s[6]], message[s[7]]);
                mix!(0, 5, 10, 15, message[s[8]], message[s[9]]);
                mix!(1, 6, 11, 12, message[s[10]], message[s[11]]);
                mix!(2, 7, 8, 13, message[s[12]], message[s[13]]);
                mix!(3, 4, 9, 14, message[s[14]], message[s[15]]);
            }
            for i in 0..8 {
                chain[i] = _mm256_xor_si256(v[i], v[i + 8]);
            }
        }
    }

    /// Eight rows of eight words, transposed.
    #[inline(always)]
    unsafe fn transposed(rows: Words) -> Words {
        unsafe {
            let pair = |x: usize, y: usize| {
                (
                    _mm256_unpacklo_epi32(rows[x], rows[y]),
                    _mm256_unpackhi_epi32(rows[x], rows[y]),
                )
            };
            let ((a, b), (c, d), (e, f), (g, h)) = (pair(0, 1), pair(2, 3), pair(4, 5), pair(6, 7));
            let quarters =
                |x: __m256i, y: __m256i| (_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y));
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

    /// One block of each of eight inputs, a distance apart.
    #[inline(always)]
    unsafe fn block(from: *const u8, distance: usize) -> [__m256i; 16] {
        unsafe {
            let half = |offset: usize| {
                transposed(std::array::from_fn(|i| {
                    _mm256_loadu_si256(from.add(i * distance + offset).cast())
                }))
            };
            let (low, high) = (half(0), half(32));
            std::array::from_fn(|i| if i < 8 { low[i] } else { high[i - 8] })
        }
    }

    #[inline(always)]
    unsafe fn key(words: [u32; 8]) -> Words {
        unsafe { words.map(|word| _mm256_set1_epi32(word as i32)) }
    }

    #[inline(always)]
    unsafe fn store(chain: Words, hashes: &mut [Digest]) {
        unsafe {
            for (row, hash) in transposed(chain).into_iter().zip(hashes) {
                _mm256_storeu_si256(hash.as_mut_ptr().cast(), row);
            }
        }
    }

    /// Pairs of nodes: one block each.
    #[target_feature(enable = "avx2")]
    pub unsafe fn nodes(below: &[Digest], hashes: &mut [Digest]) {
        assert!(below.len() == 16 && hashes.len() == 8);
        unsafe {
            let mut chain = key(IV);
            let message = block(below.as_ptr().cast(), BLOCK);
            compress(&mut chain, &message, BLOCK as u32, START | END | ROOT);
            store(chain, hashes);
        }
    }

    /// Leaves of whole blocks, each followed by its salt.
    #[target_feature(enable = "avx2")]
    pub unsafe fn leaves(words: &[F], secret: Option<&[u8; 32]>, first: usize, hashes: &mut [Digest]) {
        assert!(words.len() % 64 == 0 && hashes.len() == 8);
        let distance = words.len(); // bytes of an eighth of the words
        let blocks = distance / BLOCK;
        unsafe {
            let mut chain = key(IV);
            for i in 0..blocks {
                let message = block(words.as_ptr().cast::<u8>().add(i * BLOCK), distance);
                let mut flags = if i == 0 { START } else { 0 };
                if i + 1 == blocks && secret.is_none() {
                    flags |= END | ROOT;
                }
                compress(&mut chain, &message, BLOCK as u32, flags);
            }
            if let Some(secret) = secret {
                let places: [u64; 8] = std::array::from_fn(|i| (first + i) as u64);
                let low = places.map(|place| place as u32);
                let high = places.map(|place| (place >> 32) as u32);
                let mut message = [_mm256_setzero_si256(); 16];
                message[0] = _mm256_loadu_si256(low.as_ptr().cast());
                message[1] = _mm256_loadu_si256(high.as_ptr().cast());
                let words = std::array::from_fn(|i| {
                    u32::from_le_bytes([
                        secret[4 * i],
                        secret[4 * i + 1],
                        secret[4 * i + 2],
                        secret[4 * i + 3],
                    ])
                });
                let mut salt = key(words);
                compress(&mut salt, &message, 8, KEYED | START | END | ROOT);
                message[..4].copy_from_slice(&salt[..4]);
                compress(&mut chain, &message, 16, END | ROOT);
            }
            store(chain, hashes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_at_once_are_those_of_the_reference_one_by_one() {
        let words: Vec<F> = (0..64 * 41u64)
            .map(|i| F::reduced((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .collect();
        for secret in [None, Some([7; 32]), Some(std::array::from_fn(|i| 3 * i as u8))] {
            for leaf in [8, 16, 32, 64, 3] {
                for (leaves, first) in [(1, 0), (8, 5), (41, (1usize << 32) - 9)] {
                    let mut fast = vec![[0; 32]; leaves];
                    let mut plain = vec![[1; 32]; leaves];
                    let own = &words[..leaves * leaf];
                    if leaf == 8 && secret.is_none() {
                        continue; // as long as a node, which leaves never are
                    }
                    leaf_hashes(own, leaf, secret.as_ref(), first, &mut fast);
                    leaf_hashes_singly(own, leaf, secret.as_ref(), first, &mut plain);
                    assert_eq!(fast, plain);
                }
            }
        }
        let below: Vec<Digest> = (0..82).map(|i| [i as u8; 32]).collect();
        let mut fast = vec![[0; 32]; 41];
        node_hashes(&below, &mut fast);
        for (pair, hash) in below.chunks_exact(2).zip(&fast) {
            assert_eq!(*hash, node_hash(&pair[0], &pair[1]));
        }
    }
}
