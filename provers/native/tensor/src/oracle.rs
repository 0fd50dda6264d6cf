//! Words that a prover commits to: a polynomial's values on a subgroup, hashed leaf by leaf.

use crate::field::F;
use crate::merkle::{Digest, Tree, leaf_salt};

/// A word that the prover has committed to: each leaf is contiguous.
pub struct Oracle {
    words: Vec<F>,
    leaf: usize,
    carried: Vec<F>,
    pub tree: Tree,
    secret: Option<[u8; 32]>,
}

impl Oracle {
    /// Of leaves of so many words, each with as many of what is carried beside them. A secret salts the leaves.
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
        let secret = self.secret.expect("an oracle whose leaves are salted");
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
