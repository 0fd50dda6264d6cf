//! Merkle trees over BLAKE3, and openings of many leaves at once without a node that the others give.

use rayon::prelude::*;

use super::channel::Reject;
use super::field::F;
use super::hashes::{leaf_hashes, node_hashes};
use super::memory::zeros;

pub type Digest = [u8; 32];

/// All nodes: level 0 holds the leaves' hashes, the last level the root.
pub struct Tree(Vec<Vec<Digest>>);

/// H(words, salt). A leaf's content is never 64 bytes long, as a node's is.
pub fn leaf_hash(words: &[F], salt: &[u64]) -> Digest {
    let mut bytes = Vec::with_capacity(8 * (words.len() + salt.len()));
    for word in words.iter().map(|word| word.word()).chain(salt.iter().copied()) {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    debug_assert_ne!(bytes.len(), 64);
    *blake3::hash(&bytes).as_bytes()
}

pub fn node_hash(left: &Digest, right: &Digest) -> Digest {
    let mut bytes = [0; 64];
    bytes[..32].copy_from_slice(left);
    bytes[32..].copy_from_slice(right);
    *blake3::hash(&bytes).as_bytes()
}

/// The salt of a leaf, 128 bits that only the owner of the secret can compute.
pub fn leaf_salt(secret: &[u8; 32], index: usize) -> [u64; 2] {
    let hash = blake3::keyed_hash(secret, &(index as u64).to_le_bytes());
    let word = |chunk: &[u8]| {
        chunk
            .iter()
            .rev()
            .fold(0u64, |sum, &byte| sum << 8 | u64::from(byte))
    };
    [word(&hash.as_bytes()[..8]), word(&hash.as_bytes()[8..16])]
}

impl Tree {
    /// A tree over leaves of so many words, a power of two of them, salted where there is a secret.
    pub fn new(words: &[F], leaf: usize, secret: Option<[u8; 32]>) -> Self {
        const PIECE: usize = 1 << 9;
        let mut leaves: Vec<Digest> = zeros(words.len() / leaf);
        leaves
            .par_chunks_mut(PIECE)
            .zip(words.par_chunks(PIECE * leaf))
            .enumerate()
            .for_each(|(c, (hashes, words))| {
                leaf_hashes(words, leaf, secret.as_ref(), c * PIECE, hashes);
            });
        let mut levels = vec![leaves];
        while let Some(last) = levels.last().filter(|level| level.len() > 1) {
            let mut next: Vec<Digest> = zeros(last.len() / 2);
            if next.len() <= PIECE {
                node_hashes(last, &mut next);
            } else {
                next.par_chunks_mut(PIECE)
                    .zip(last.par_chunks(2 * PIECE))
                    .for_each(|(hashes, below)| node_hashes(below, hashes));
            }
            levels.push(next);
        }
        Self(levels)
    }

    pub fn root(&self) -> Digest {
        self.0[self.0.len() - 1][0]
    }

    /// The nodes that are missing to compute the root from the leaves at these places.
    pub fn siblings(&self, places: &[usize]) -> Vec<Digest> {
        missing(self.0.len() - 1, places)
            .into_iter()
            .map(|(level, place)| self.0[level][place])
            .collect()
    }
}

/// Which nodes, by level and place, do not follow from the leaves at these places: sorted, each once.
pub fn missing(depth: usize, places: &[usize]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut known = places.to_vec();
    for level in 0..depth {
        let mut next = Vec::with_capacity(known.len());
        let mut at = 0;
        while at < known.len() {
            let place = known[at];
            if known.get(at + 1) == Some(&(place ^ 1)) {
                at += 1;
            } else {
                found.push((level, place ^ 1));
            }
            next.push(place / 2);
            at += 1;
        }
        known = next;
    }
    found
}

/// The root that leaves' hashes at sorted places and the missing nodes give.
pub fn root(
    depth: usize,
    places: &[usize],
    hashes: &[Digest],
    siblings: &[Digest],
) -> Result<Digest, Reject> {
    let mut known: Vec<(usize, Digest)> = places.iter().copied().zip(hashes.iter().copied()).collect();
    let mut siblings = siblings.iter();
    for _ in 0..depth {
        let mut next = Vec::with_capacity(known.len());
        let mut at = 0;
        while at < known.len() {
            let (place, hash) = known[at];
            let other = match known.get(at + 1) {
                Some((other, found)) if *other == place ^ 1 => {
                    at += 1;
                    *found
                }
                _ => match siblings.next() {
                    Some(found) => *found,
                    None => return Reject::because("a Merkle opening lacks a node"),
                },
            };
            let parent = if place % 2 == 0 {
                node_hash(&hash, &other)
            } else {
                node_hash(&other, &hash)
            };
            next.push((place / 2, parent));
            at += 1;
        }
        known = next;
    }
    Ok(known[0].1)
}
