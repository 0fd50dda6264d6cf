//! What a prover in zero knowledge draws: each use from a key of its own, all from one secret and all that a proof is of.

use std::sync::Arc;

use crate::domain::Use;
use crate::extension::Extension;
use crate::field::F;
use crate::hashes::output_blocks;
use crate::rehearsal::Rehearsal;

/// A key that nobody else knows; or, for tests, one whose uses are noted and may be replaced.
pub struct Randomness {
    key: [u8; 32],
    rehearsal: Option<(Arc<Rehearsal>, String)>,
}

impl Randomness {
    /// From a secret and what it is used for: other parts give an unrelated key.
    pub fn new(secret: &[u8; 32], parts: &[&[u8]]) -> Self {
        let mut hasher = Use::Random.hasher();
        hasher.update(secret);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self {
            key: *hasher.finalize().as_bytes(),
            rehearsal: None,
        }
    }

    /// Of a secret alone; the rehearsal knows its uses by their labels behind this name.
    pub fn rehearsed(secret: &[u8; 32], rehearsal: &Arc<Rehearsal>, name: String) -> Self {
        Self {
            rehearsal: Some((rehearsal.clone(), name)),
            ..Self::new(secret, &[])
        }
    }

    /// The key of one use.
    pub fn secret(&self, label: &str) -> [u8; 32] {
        let key = self.key_of(label);
        match &self.rehearsal {
            Some((rehearsal, name)) => rehearsal.secret(name, label, key),
            None => key,
        }
    }

    fn key_of(&self, label: &str) -> [u8; 32] {
        Self::new(&self.key, &[label.as_bytes()]).key
    }

    /// Uniform elements: words of a hash, those from p on left out.
    pub fn words(&self, label: &str, count: usize) -> Vec<F> {
        let input = [&self.key_of(label)[..], b"words"].concat();
        let (mut made, mut at) = (Vec::with_capacity(count + 8), 0);
        while made.len() < count {
            let mut blocks = vec![[[0; 32]; 2]; (count - made.len()).div_ceil(8)];
            output_blocks(Use::Random, &input, at, &mut blocks);
            at += blocks.len();
            let words = blocks.as_flattened().as_flattened().chunks_exact(8);
            made.extend(
                words.filter_map(|word| F::canonical(u64::from_le_bytes(word.try_into().expect("8 bytes")))),
            );
        }
        made.truncate(count);
        match &self.rehearsal {
            Some((rehearsal, name)) => rehearsal.words(name, label, made),
            None => made,
        }
    }

    pub fn elements<E: Extension>(&self, label: &str, count: usize) -> Vec<E> {
        let words = self.words(label, E::DEGREE * count);
        words.chunks_exact(E::DEGREE).map(E::of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_secrets_parts_and_labels_give_other_words() {
        let drawn =
            |secret: u8, parts: &[&[u8]], label: &str| Randomness::new(&[secret; 32], parts).words(label, 4);
        let all = [
            drawn(1, &[b"ab"], "x"),
            drawn(2, &[b"ab"], "x"),
            drawn(1, &[b"a", b"b"], "x"),
            drawn(1, &[b"ab", b""], "x"),
            drawn(1, &[b"ab"], "y"),
        ];
        for (i, words) in all.iter().enumerate() {
            assert!(!all[..i].contains(words));
        }
        assert_eq!(all[0], drawn(1, &[b"ab"], "x"));
        let many = Randomness::new(&[1; 32], &[b"ab"]).words("x", 9);
        assert_eq!(many[..4], all[0]);
    }
}
