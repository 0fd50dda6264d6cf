//! What a hash is for: BLAKE3 in its mode `derive_key`, with a context for each use, so that no two uses meet.

use std::sync::LazyLock;

use blake3::Hasher;
use blake3::hazmat::{HasherExt, hash_derive_key_context};

use crate::merkle::Digest;

#[derive(Clone, Copy)]
pub enum Use {
    /// Absorbed messages and challenges.
    Transcript,
    /// A leaf of a commitment, with its salt.
    Leaf,
    /// A leaf of an oracle inside an opening.
    Folded,
    Node,
    /// The salt of a leaf, out of a secret.
    Salt,
    /// The list of the ports that a root is of.
    Ports,
    /// A list and a top node.
    Root,
    /// The top node of what a proof itself commits to.
    Columns,
    /// What a prover in zero knowledge draws, out of a secret.
    Random,
    /// The words that such a prover commits to.
    Table,
}

const CONTEXTS: [&str; 10] = [
    "circuitize 2026 tensor transcript 2",
    "circuitize 2026 tensor leaf 2",
    "circuitize 2026 tensor folded leaf 2",
    "circuitize 2026 tensor node 2",
    "circuitize 2026 tensor salt 2",
    "circuitize 2026 tensor ports 2",
    "circuitize 2026 tensor root 2",
    "circuitize 2026 tensor columns 2",
    "circuitize 2026 tensor random 2",
    "circuitize 2026 tensor table 2",
];

static KEYS: LazyLock<[[u8; 32]; 10]> = LazyLock::new(|| CONTEXTS.map(hash_derive_key_context));

impl Use {
    /// The key that stands in place of BLAKE3's initial chaining value.
    fn key(self) -> &'static [u8; 32] {
        &KEYS[self as usize]
    }

    pub fn words(self) -> [u32; 8] {
        words(self.key())
    }

    pub fn hasher(self) -> Hasher {
        Hasher::new_from_context_key(self.key())
    }

    pub fn hash(self, parts: &[&[u8]]) -> Digest {
        let mut hasher = self.hasher();
        for part in parts {
            hasher.update(part);
        }
        *hasher.finalize().as_bytes()
    }
}

/// 32 bytes as little-endian words.
pub fn words(bytes: &[u8; 32]) -> [u32; 8] {
    std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|k| bytes[4 * i + k])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_use_has_a_context_of_its_own() {
        let uses = [
            Use::Transcript,
            Use::Leaf,
            Use::Folded,
            Use::Node,
            Use::Salt,
            Use::Ports,
            Use::Root,
            Use::Columns,
            Use::Random,
            Use::Table,
        ];
        let found: Vec<Digest> = uses.iter().map(|of| of.hash(&[b"ab", b"c"])).collect();
        for (i, context) in CONTEXTS.iter().enumerate() {
            assert_eq!(found[i], blake3::derive_key(context, b"abc"));
            assert!(!found[..i].contains(&found[i]));
        }
    }
}
