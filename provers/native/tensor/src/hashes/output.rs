//! The output of a hash, which may be of any length, many blocks at once.

use super::compression::{BLOCK, Batch, DERIVED, END, MOST, ROOT, START, Words, key, mixed, places};
use crate::domain::Use;
use crate::merkle::Digest;

/// The output of a hash of one short input, from a block of 64 bytes on.
pub struct Output<'a> {
    input: [u32; 16],
    length: u32,
    key: [u32; 8],
    first: usize,
    blocks: &'a mut [[Digest; 2]],
}

impl<'a> Output<'a> {
    /// The input has at most a block.
    pub fn new(of: Use, input: &[u8], first: usize, blocks: &'a mut [[Digest; 2]]) -> Self {
        let mut bytes = [0; BLOCK];
        bytes[..input.len()].copy_from_slice(input);
        Self {
            input: std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|k| bytes[4 * i + k]))),
            length: input.len() as u32,
            key: of.words(),
            first,
            blocks,
        }
    }
}

impl Batch for Output<'_> {
    fn count(&self) -> usize {
        self.blocks.len()
    }

    #[inline(always)]
    unsafe fn hash<W: Words>(&mut self, at: usize) {
        let mut halves = [[[0; 32]; MOST]; 2];
        unsafe {
            let mut message = [W::splat(0); 16];
            for (own, word) in message.iter_mut().zip(self.input) {
                *own = W::splat(word);
            }
            let chain = key::<W>(self.key);
            let counters = places::<W>(self.first + at);
            let v = mixed(
                &chain,
                &message,
                counters,
                self.length,
                DERIVED | START | END | ROOT,
            );
            let (mut low, mut high) = (chain, chain);
            for i in 0..8 {
                low[i] = v[i].xor(v[i + 8]);
                high[i] = v[i + 8].xor(chain[i]);
            }
            W::store(low, halves[0].as_mut_ptr());
            W::store(high, halves[1].as_mut_ptr());
        }
        for (i, block) in self.blocks[at..at + W::COUNT].iter_mut().enumerate() {
            *block = [halves[0][i], halves[1][i]];
        }
    }
}
