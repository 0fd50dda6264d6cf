//! Merkle trees over BLAKE3, what their roots bind, and openings of many leaves at once without a node that others give.

use rayon::prelude::*;

use crate::domain::Use;
use crate::errors::Reject;
use crate::field::F;
use crate::hashes::{leaf_hashes, node_hashes};
use crate::memory::zeros;

pub type Digest = [u8; 32];

/// All nodes from a level on: level 0 holds the leaves' hashes, the last level the top.
pub struct Tree {
    levels: Vec<Vec<Digest>>,
    /// Levels below are not kept.
    first: usize,
}

/// What a tree is over: leaves of so many words, a power of two of them, salted where there is a secret; each with its
/// part of what is carried beside them.
pub struct Leaves<'a> {
    words: &'a [F],
    leaf: usize,
    carried: &'a [F],
    secret: Option<&'a [u8; 32]>,
}

/// What a root says beside the top of its tree: the list of ports that it is of; or that a proof itself made it.
#[derive(Clone, Copy)]
pub enum Binding<'a> {
    Ports(&'a Digest),
    Columns,
}

impl Binding<'_> {
    pub fn root(self, top: &Digest) -> Digest {
        match self {
            Binding::Ports(ports) => Use::Root.hash(&[ports, top]),
            Binding::Columns => Use::Columns.hash(&[top]),
        }
    }
}

/// The hash of a leaf's words, of a carried symbol where there is one, and of a salt where leaves have any.
pub fn leaf_hash(words: &[F], carried: &[F], salt: Option<&[u64; 2]>) -> Digest {
    let mut bytes = Vec::with_capacity(8 * (words.len() + carried.len()) + 16);
    let salts = salt.into_iter().flatten().copied();
    for word in words.iter().chain(carried).map(|word| word.word()).chain(salts) {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    let of = if salt.is_some() { Use::Leaf } else { Use::Folded };
    of.hash(&[&bytes])
}

pub fn node_hash(left: &Digest, right: &Digest) -> Digest {
    Use::Node.hash(&[left, right])
}

/// The salt of a leaf, 128 bits that only the owner of the secret can compute.
pub fn leaf_salt(secret: &[u8; 32], index: usize) -> [u64; 2] {
    let hash = Use::Salt.hash(&[secret, &(index as u64).to_le_bytes()]);
    let word = |chunk: &[u8]| {
        chunk
            .iter()
            .rev()
            .fold(0u64, |sum, &byte| sum << 8 | u64::from(byte))
    };
    [word(&hash[..8]), word(&hash[8..16])]
}

/// Leaves or nodes that one piece of work hashes.
const PIECE: usize = 1 << 11;

impl<'a> Leaves<'a> {
    pub fn new(words: &'a [F], leaf: usize, carried: &'a [F], secret: Option<&'a [u8; 32]>) -> Self {
        Self {
            words,
            leaf,
            carried,
            secret,
        }
    }

    fn count(&self) -> usize {
        self.words.len() / self.leaf
    }

    /// The hashes of the leaves from a place on.
    fn hash(&self, first: usize, hashes: &mut [Digest]) {
        let (end, beside) = (first + hashes.len(), self.carried.len() / self.count());
        let words = &self.words[self.leaf * first..self.leaf * end];
        let carried = &self.carried[beside * first..beside * end];
        leaf_hashes(words, self.leaf, carried, self.secret, first, hashes);
    }

    /// A node: the top of the tree over 2^level leaves.
    fn node(&self, level: usize, place: usize) -> Digest {
        let mut hashes: Vec<Digest> = zeros(1 << level);
        self.hash(place << level, &mut hashes);
        while hashes.len() > 1 {
            hashes = parents(&hashes);
        }
        hashes[0]
    }
}

/// The level above.
fn parents(nodes: &[Digest]) -> Vec<Digest> {
    let mut made: Vec<Digest> = zeros(nodes.len() / 2);
    if made.len() <= PIECE {
        node_hashes(nodes, &mut made);
    } else {
        made.par_chunks_mut(PIECE)
            .zip(nodes.par_chunks(2 * PIECE))
            .for_each(|(hashes, below)| node_hashes(below, hashes));
    }
    made
}

impl Tree {
    /// The tree over leaves, which keeps the levels from `first` on, and the top.
    pub fn new(leaves: &Leaves, first: usize) -> Self {
        let mut hashes: Vec<Digest> = zeros(leaves.count());
        hashes
            .par_chunks_mut(PIECE)
            .enumerate()
            .for_each(|(c, hashes)| leaves.hash(c * PIECE, hashes));
        let depth = hashes.len().trailing_zeros() as usize;
        let first = first.min(depth);
        let mut levels = Vec::with_capacity(depth + 1 - first);
        for level in 0..depth {
            let above = parents(&hashes);
            let own = std::mem::replace(&mut hashes, above);
            if level >= first {
                levels.push(own);
            }
        }
        levels.push(hashes);
        Self { levels, first }
    }

    pub fn top(&self) -> Digest {
        self.levels[self.levels.len() - 1][0]
    }

    /// Levels above that of the leaves.
    pub fn depth(&self) -> usize {
        self.first + self.levels.len() - 1
    }

    /// A node, made of the leaves where its level is not kept.
    pub fn node(&self, level: usize, place: usize, leaves: &Leaves) -> Digest {
        match level.checked_sub(self.first) {
            Some(kept) => self.levels[kept][place],
            None => leaves.node(level, place),
        }
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

/// The top that leaves' hashes at sorted places and the missing nodes give.
pub fn top(depth: usize, places: &[usize], hashes: &[Digest], siblings: &[Digest]) -> Result<Digest, Reject> {
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
                    None => return Err(Reject::Node),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Channel;
    use crate::extension::Extension;
    use crate::quadratic::Quadratic;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The same numbers stand in tests/provers/tensor/test_tensor_vectors.py, which computes them by other code.
    #[test]
    fn hashes_are_those_of_the_fixed_vectors() {
        let secret: [u8; 32] = std::array::from_fn(|i| i as u8);
        let salt = leaf_salt(&secret, (1 << 32) + 7).map(|word| hex(&word.to_le_bytes()));
        assert_eq!(salt.concat(), "3b44e6109f5d4719bedb72bdac1c2d5b");
        let words: Vec<F> = (0..64).map(F::reduced).collect();
        assert_eq!(
            hex(&Tree::new(&Leaves::new(&words, 16, &[], Some(&secret)), 0).top()),
            "44a9cd320ba3daf477e6a1d7ec9781ff103b92390e1a6ea03928148ebefad14c"
        );
        assert_eq!(
            hex(&Tree::new(&Leaves::new(&words, 32, &[], None), 0).top()),
            "8d44f0c4af69ba888b698a15140d619a4dca24dcbf9b690b09279ed05e118345"
        );
        let top = [9; 32];
        assert_eq!(
            hex(&Binding::Ports(&Use::Ports.hash(&[b"list"])).root(&top)),
            "f82e16a9b8924757628bfd49d674ff79da512c3ddd3ef4ddecc57e7161f5d8b4"
        );
        assert_eq!(
            hex(&Binding::Columns.root(&top)),
            "e2ed5df4eafda97375e981ff71abf6d385bb04a0c272a408ad488c35e7829b43"
        );
        let mut channel = Channel::prover(None);
        channel.absorb("statement", b"circuitize");
        let drawn: Quadratic = channel.challenge("point");
        let drawn = [0, 1].map(|place| drawn.coordinate(place).word());
        assert_eq!(
            format!("{:016x}{:016x}", drawn[0], drawn[1]),
            "665f90d9c283985b2f8445eb39a9fccf"
        );
        assert_eq!(
            format!("{:?}", channel.positions("places", 4, 10)),
            "[83, 129, 650, 1013]"
        );
    }
}
