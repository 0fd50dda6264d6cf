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
    carried: Vec<F>,
    pub tree: Tree,
    secret: Option<[u8; 32]>,
}

impl Oracle {
    /// The polynomial's values on the subgroup of order 2^bits. A secret salts the leaves.
    pub fn commit(coefficients: &[F], bits: usize, secret: [u8; 32]) -> Self {
        Self::of(ntt::values(coefficients, bits), WIDTH, Vec::new(), Some(secret))
    }

    /// The same for a polynomial over the extension, without salts.
    pub fn extension<E: Extension>(coefficients: &[E], bits: usize) -> Self {
        let words = ntt::extension_values(coefficients, bits);
        Self::of(words, E::DEGREE * WIDTH, Vec::new(), None)
    }

    /// Of leaves of so many words, each with as many of what is carried beside them.
    pub fn of(words: Vec<F>, leaf: usize, carried: Vec<F>, secret: Option<[u8; 32]>) -> Self {
        let tree = Tree::new(&words, leaf, &carried, secret);
        Self {
            words,
            leaf,
            carried,
            tree,
            secret,
        }
    }

    pub fn top(&self) -> Digest {
        self.tree.top()
    }

    pub fn leaves(&self, places: &[usize]) -> Vec<u64> {
        at(&self.words, self.leaf, places)
    }

    /// What is carried beside leaves.
    pub fn carried(&self, places: &[usize]) -> Vec<u64> {
        at(
            &self.carried,
            self.carried.len() * self.leaf / self.words.len(),
            places,
        )
    }

    pub fn salts(&self, places: &[usize]) -> Vec<u64> {
        let secret = self.secret.expect("the first oracle is salted");
        places
            .iter()
            .flat_map(|&place| leaf_salt(&secret, place))
            .collect()
    }
}

/// Of parts of so many words those at these places.
fn at(words: &[F], each: usize, places: &[usize]) -> Vec<u64> {
    places
        .iter()
        .flat_map(|&place| &words[place * each..(place + 1) * each])
        .map(|word| word.word())
        .collect()
}
