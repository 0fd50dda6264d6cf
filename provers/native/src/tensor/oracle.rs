//! Words that a prover commits to: a polynomial's values on a subgroup, hashed leaf by leaf.

use super::extension::Extension;
use super::field::F;
use super::merkle::{Digest, Tree, leaf_salt};
use super::ntt;
use super::whir::WIDTH;

/// A word that the prover has committed to: leaf i, of 2^FOLD symbols, is contiguous.
pub struct Oracle {
    words: Vec<F>,
    leaf: usize,
    pub tree: Tree,
    secret: Option<[u8; 32]>,
}

impl Oracle {
    /// The polynomial's values on the subgroup of order 2^bits. A secret salts the leaves.
    pub fn commit(coefficients: &[F], bits: usize, secret: [u8; 32]) -> Self {
        Self::of(ntt::values(coefficients, bits), WIDTH, Some(secret))
    }

    /// The same for a polynomial over the extension, without salts.
    pub fn extension<E: Extension>(coefficients: &[E], bits: usize) -> Self {
        Self::of(ntt::extension_values(coefficients, bits), E::DEGREE * WIDTH, None)
    }

    fn of(words: Vec<F>, leaf: usize, secret: Option<[u8; 32]>) -> Self {
        let tree = Tree::new(&words, leaf, secret);
        Self {
            words,
            leaf,
            tree,
            secret,
        }
    }

    pub fn top(&self) -> Digest {
        self.tree.top()
    }

    pub fn leaves(&self, places: &[usize]) -> Vec<u64> {
        places
            .iter()
            .flat_map(|&place| &self.words[place * self.leaf..(place + 1) * self.leaf])
            .map(|word| word.word())
            .collect()
    }

    pub fn salts(&self, places: &[usize]) -> Vec<u64> {
        let secret = self.secret.expect("the first oracle is salted");
        places
            .iter()
            .flat_map(|&place| leaf_salt(&secret, place))
            .collect()
    }
}
