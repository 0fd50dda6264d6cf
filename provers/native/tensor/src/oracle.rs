//! Words that a prover commits to: a polynomial's values on a subgroup, hashed leaf by leaf.

use std::borrow::Cow;
use std::sync::Arc;

use crate::field::F;
use crate::merkle::{Digest, Leaves, Tree, leaf_salt, missing};
use crate::ntt;

/// Words that are longer are made again when they are asked for, and the lowest levels of their trees.
const KEPT: usize = 1 << 26;
/// As many levels of these trees.
const LEVELS: usize = 4;

/// The words, or what they are made of: coefficients, and the bits of their domain.
enum Words {
    Kept(Vec<F>),
    Of(Arc<Vec<F>>, usize),
}

impl Words {
    fn all(&self) -> Cow<'_, [F]> {
        match self {
            Self::Kept(words) => Cow::Borrowed(words),
            Self::Of(coefficients, bits) => Cow::Owned(ntt::values(coefficients, *bits)),
        }
    }
}

/// A word that the prover has committed to: each leaf is contiguous.
pub struct Oracle {
    words: Words,
    leaf: usize,
    carried: Vec<F>,
    tree: Tree,
    secret: Option<[u8; 32]>,
}

/// What is shown of leaves at some places: their words, what is carried beside them, and the nodes that lead to the top.
pub struct Shown {
    pub words: Vec<u64>,
    pub carried: Vec<u64>,
    pub nodes: Vec<Digest>,
}

impl Oracle {
    /// Of leaves of so many words, each with as many of what is carried beside them. A secret salts the leaves.
    pub fn of(words: Vec<F>, leaf: usize, carried: Vec<F>, secret: Option<[u8; 32]>) -> Self {
        let tree = Tree::new(&Leaves::new(&words, leaf, &carried, secret.as_ref()), 0);
        Self {
            words: Words::Kept(words),
            leaf,
            carried,
            tree,
            secret,
        }
    }

    /// Of the values of a polynomial on the subgroup of order 2^bits, salted. If they are many they are not kept.
    pub fn of_polynomial(
        coefficients: &Arc<Vec<F>>,
        bits: usize,
        leaf: usize,
        carried: Vec<F>,
        secret: [u8; 32],
    ) -> Self {
        Self::kept_up_to(KEPT, coefficients, bits, leaf, carried, secret)
    }

    fn kept_up_to(
        most: usize,
        coefficients: &Arc<Vec<F>>,
        bits: usize,
        leaf: usize,
        carried: Vec<F>,
        secret: [u8; 32],
    ) -> Self {
        let words = ntt::values(coefficients, bits);
        if words.len() <= most {
            return Self::of(words, leaf, carried, Some(secret));
        }
        let tree = Tree::new(&Leaves::new(&words, leaf, &carried, Some(&secret)), LEVELS);
        Self {
            words: Words::Of(coefficients.clone(), bits),
            leaf,
            carried,
            tree,
            secret: Some(secret),
        }
    }

    pub fn top(&self) -> Digest {
        self.tree.top()
    }

    /// The leaves at these places.
    pub fn show(&self, places: &[usize]) -> Shown {
        let words = self.words.all();
        let beside = self.carried.len() * self.leaf / words.len();
        let leaves = Leaves::new(&words, self.leaf, &self.carried, self.secret.as_ref());
        let node = |(level, place)| self.tree.node(level, place, &leaves);
        Shown {
            words: at(&words, self.leaf, places),
            carried: at(&self.carried, beside, places),
            nodes: missing(self.tree.depth(), places).into_iter().map(node).collect(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_made_again_are_shown_as_those_that_are_kept() {
        let coefficients: Arc<Vec<F>> = Arc::new((0..1 << 10).map(|i| F::reduced(i * i + 3)).collect());
        let carried: Vec<F> = (0..3 << 7).map(F::reduced).collect();
        let of = |most| Oracle::kept_up_to(most, &coefficients, 11, 16, carried.clone(), [7; 32]);
        let (kept, made) = (of(KEPT), of(0));
        assert!(matches!(
            (&kept.words, &made.words),
            (Words::Kept(_), Words::Of(..))
        ));
        assert_eq!(kept.top(), made.top());
        // Among the nodes are some of every level, kept and made again.
        for places in [
            vec![0],
            vec![1, 2, 17, 100],
            (0..128).collect(),
            (0..128).step_by(9).collect(),
        ] {
            let (x, y) = (kept.show(&places), made.show(&places));
            assert_eq!((x.words, x.carried, x.nodes), (y.words, y.carried, y.nodes));
        }
    }
}
