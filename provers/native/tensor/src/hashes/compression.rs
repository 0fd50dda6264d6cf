//! The compression function of BLAKE3 on several states at once, and the hashes of many short inputs of one length.

use crate::domain::{Use, words};
use crate::field::F;
use crate::merkle::Digest;

/// Bytes.
pub const BLOCK: usize = 64;
const SALT: usize = 16;
/// Inputs that are hashed at once, at most.
pub const MOST: usize = 16;

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
pub const START: u32 = 1;
pub const END: u32 = 2;
pub const ROOT: u32 = 8;
/// The mode `derive_key`, whose key is that of a context.
pub const DERIVED: u32 = 64;

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

/// A word of 32 bits of each of several inputs.
///
/// # Safety
/// Methods need the processor that the type is for.
pub trait Words: Copy {
    const COUNT: usize;
    unsafe fn splat(word: u32) -> Self;
    /// `COUNT` words.
    unsafe fn load(from: *const u32) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    /// Rotated by 16, 12, 8 or 7 bits.
    unsafe fn rotated<const RIGHT: u32>(self) -> Self;
    /// One block of each of `COUNT` inputs, which lie a distance apart in bytes.
    unsafe fn block(from: *const u8, distance: usize) -> [Self; 16];
    /// Writes `COUNT` digests.
    unsafe fn store(chain: [Self; 8], to: *mut Digest);
}

/// The compression function; lengths and flags are the same for all states, counters are 0.
#[inline(always)]
unsafe fn compress<W: Words>(chain: &mut [W; 8], message: &[W; 16], length: u32, flags: u32) {
    unsafe {
        let v = mixed(chain, message, [W::splat(0); 2], length, flags);
        for i in 0..8 {
            chain[i] = v[i].xor(v[i + 8]);
        }
    }
}

/// The compression function's states after its rounds.
#[inline(always)]
pub unsafe fn mixed<W: Words>(
    chain: &[W; 8],
    message: &[W; 16],
    counters: [W; 2],
    length: u32,
    flags: u32,
) -> [W; 16] {
    unsafe {
        let mut v = [W::splat(0); 16];
        v[..8].copy_from_slice(chain);
        for i in 0..4 {
            v[8 + i] = W::splat(IV[i]);
        }
        [v[12], v[13]] = counters;
        (v[14], v[15]) = (W::splat(length), W::splat(flags));
        macro_rules! mix {
            ($a:literal, $b:literal, $c:literal, $d:literal, $x:expr, $y:expr) => {
                v[$a] = v[$a].add(v[$b]).add($x);
                v[$d] = v[$d].xor(v[$a]).rotated::<16>();
                v[$c] = v[$c].add(v[$d]);
                v[$b] = v[$b].xor(v[$c]).rotated::<12>();
                v[$a] = v[$a].add(v[$b]).add($y);
                v[$d] = v[$d].xor(v[$a]).rotated::<8>();
                v[$c] = v[$c].add(v[$d]);
                v[$b] = v[$b].xor(v[$c]).rotated::<7>();
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
        v
    }
}

#[inline(always)]
pub unsafe fn key<W: Words>(words: [u32; 8]) -> [W; 8] {
    let mut made = [unsafe { W::splat(0) }; 8];
    for (own, word) in made.iter_mut().zip(words) {
        *own = unsafe { W::splat(word) };
    }
    made
}

/// Inputs of one length whose hashes have a place each.
pub trait Batch {
    fn count(&self) -> usize;
    /// Hashes `W::COUNT` inputs, the first of them that of number `at`.
    ///
    /// # Safety
    /// There are as many, and the processor has what `W` needs.
    unsafe fn hash<W: Words>(&mut self, at: usize);
}

/// Hashes as many inputs, from the first on, as can be hashed `W::COUNT` at once; how many these are.
///
/// # Safety
/// The processor has what `W` needs.
#[inline(always)]
pub unsafe fn all<W: Words>(batch: &mut impl Batch) -> usize {
    let done = batch.count() / W::COUNT * W::COUNT;
    for at in (0..done).step_by(W::COUNT) {
        // SAFETY: so many are left, and the processor is the caller's.
        unsafe { batch.hash::<W>(at) };
    }
    done
}

/// Pairs of nodes, a block each.
pub struct Nodes<'a> {
    below: &'a [Digest],
    hashes: &'a mut [Digest],
    key: [u32; 8],
}

impl<'a> Nodes<'a> {
    pub fn new(below: &'a [Digest], hashes: &'a mut [Digest]) -> Self {
        let key = Use::Node.words();
        Self { below, hashes, key }
    }
}

impl Batch for Nodes<'_> {
    fn count(&self) -> usize {
        self.hashes.len()
    }

    #[inline(always)]
    unsafe fn hash<W: Words>(&mut self, at: usize) {
        let below = &self.below[2 * at..2 * (at + W::COUNT)];
        let hashes = &mut self.hashes[at..at + W::COUNT];
        // SAFETY: the slices are as long as is read and written.
        unsafe {
            let mut chain = key::<W>(self.key);
            let message = W::block(below.as_ptr().cast(), BLOCK);
            compress(&mut chain, &message, BLOCK as u32, DERIVED | START | END | ROOT);
            W::store(chain, hashes.as_mut_ptr());
        }
    }
}

/// Leaves, each followed by its salt where there is a secret; the first leaf is that of place `first`.
pub struct Leaves<'a> {
    pub words: &'a [F],
    /// Words of a leaf.
    pub leaf: usize,
    /// As many words for each leaf, or none.
    pub carried: &'a [F],
    pub secret: Option<&'a [u8; 32]>,
    pub first: usize,
    pub hashes: &'a mut [Digest],
}

impl Leaves<'_> {
    /// Words carried beside a leaf.
    pub fn beside(&self) -> usize {
        self.carried.len() / self.hashes.len()
    }

    /// Words in the last block of a leaf, before its salt.
    fn rest(&self) -> usize {
        self.leaf % (BLOCK / 8) + self.beside()
    }

    /// Whether all but whole blocks is one more block, which a salt ends.
    pub fn fits(&self) -> bool {
        match self.secret {
            None => self.rest() == 0,
            Some(_) => 8 * self.rest() + SALT <= BLOCK,
        }
    }

    /// The words of the last block of `W::COUNT` leaves, before their salts.
    #[inline(always)]
    unsafe fn last<W: Words>(&self, at: usize, message: &mut [W; 16]) {
        let (rest, beside) = (self.rest(), self.beside());
        let own = rest - beside;
        for k in 0..rest {
            let word = |i: usize| {
                let leaf = at + i;
                let found = if k < own {
                    self.words[(leaf + 1) * self.leaf - own + k]
                } else {
                    self.carried[leaf * beside + k - own]
                };
                found.word()
            };
            let words: [u64; MOST] = std::array::from_fn(|i| if i < W::COUNT { word(i) } else { 0 });
            unsafe {
                message[2 * k] = W::load(words.map(|word| word as u32).as_ptr());
                message[2 * k + 1] = W::load(words.map(|word| (word >> 32) as u32).as_ptr());
            }
        }
    }
}

impl Batch for Leaves<'_> {
    fn count(&self) -> usize {
        self.hashes.len()
    }

    #[inline(always)]
    unsafe fn hash<W: Words>(&mut self, at: usize) {
        let words = &self.words[at * self.leaf..(at + W::COUNT) * self.leaf];
        let (apart, rest) = (8 * self.leaf, self.rest());
        let bytes = apart / BLOCK * BLOCK;
        assert!(self.fits());
        // SAFETY: the slices are as long as is read and written: `bytes` of each input, in whole blocks.
        unsafe {
            let of = if self.secret.is_some() {
                Use::Leaf
            } else {
                Use::Folded
            };
            let mut chain = key::<W>(of.words());
            for start in (0..bytes).step_by(BLOCK) {
                let message = W::block(words.as_ptr().cast::<u8>().add(start), apart);
                let mut flags = if start == 0 { DERIVED | START } else { DERIVED };
                if start + BLOCK == bytes && self.secret.is_none() {
                    flags |= END | ROOT;
                }
                compress(&mut chain, &message, BLOCK as u32, flags);
            }
            if let Some(secret) = self.secret {
                let salt = salts::<W>(secret, self.first + at);
                let mut message = [W::splat(0); 16];
                self.last(at, &mut message);
                message[2 * rest..2 * rest + 4].copy_from_slice(&salt);
                let start = if bytes == 0 { START } else { 0 };
                let length = (8 * rest + SALT) as u32;
                compress(&mut chain, &message, length, DERIVED | start | END | ROOT);
            }
            W::store(chain, self.hashes[at..at + W::COUNT].as_mut_ptr());
        }
    }
}

/// Numbers from `first` on, the lower half of each and the upper one.
#[inline(always)]
pub unsafe fn places<W: Words>(first: usize) -> [W; 2] {
    assert!(W::COUNT <= MOST);
    let places: [u64; MOST] = std::array::from_fn(|i| (first + i) as u64);
    let low = places.map(|place| place as u32);
    let high = places.map(|place| (place >> 32) as u32);
    unsafe { [W::load(low.as_ptr()), W::load(high.as_ptr())] }
}

/// The salts of `W::COUNT` leaves, each a hash of the secret and its place.
#[inline(always)]
unsafe fn salts<W: Words>(secret: &[u8; 32], first: usize) -> [W; 4] {
    unsafe {
        let mut message = [W::splat(0); 16];
        message[..8].copy_from_slice(&key::<W>(words(secret)));
        [message[8], message[9]] = places(first);
        let mut salt = key::<W>(Use::Salt.words());
        compress(&mut salt, &message, 40, DERIVED | START | END | ROOT);
        [salt[0], salt[1], salt[2], salt[3]]
    }
}
