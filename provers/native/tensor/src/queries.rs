//! Queries to an oracle: leaves at random places, opened together, and shown to belong to its root.

use std::mem::take;

use crate::channel::Channel;
use crate::errors::Reject;
use crate::extension::Extension;
use crate::field::F;
use crate::folding::Fold;
use crate::merkle::{Binding, Digest, leaf_hash, missing, top};
use crate::oracle::{Oracle, Shown};

/// An oracle as both sides know it.
pub struct Known<'a> {
    /// What its root binds beside its tree; None of an oracle inside an opening.
    pub binding: Option<Binding<'a>>,
    pub root: Digest,
    /// Leaves, in bits.
    pub leaves: usize,
    /// Words of a leaf, and of what is carried beside it.
    pub width: usize,
    pub carried: usize,
    pub salted: bool,
}

/// Opened leaves by place, in order: their words, and what is carried beside them.
pub struct Answers {
    pub places: Vec<usize>,
    pub words: Vec<F>,
    pub carried: Vec<F>,
}

/// Answers, the salts of their leaves, and the nodes between them and the root.
type Exchanged = (Answers, Vec<[u64; 2]>, Vec<u64>);

impl Answers {
    /// The folds of the leaves of what is known.
    pub fn folded<E: Extension>(&self, known: &Known, folding: &Fold<E>) -> Vec<E> {
        let width = known.width / folding.symbols();
        let symbol = |words: &[F]| if width == 1 { words[0].into() } else { E::of(words) };
        let leaves = self.words.chunks_exact(known.width).zip(&self.places);
        leaves
            .map(|(leaf, &place)| folding.at(place, leaf.chunks_exact(width).map(symbol).collect()))
            .collect()
    }
}

impl Known<'_> {
    /// The verifier's side: reads the leaves at so many random places, or fewer where some are drawn twice, and checks that
    /// they belong to the root.
    pub fn check(&self, channel: &mut Channel, count: usize) -> Result<Answers, Reject> {
        let (answers, salts, nodes) = self.exchange(channel, count, None)?;
        self.belong(&answers, &salts, &nodes)?;
        Ok(answers)
    }

    /// The prover's side: shows these leaves of the oracle.
    pub fn show(&self, channel: &mut Channel, count: usize, oracle: &Oracle) -> Result<Answers, Reject> {
        Ok(self.exchange(channel, count, Some(oracle))?.0)
    }

    /// The messages of both sides in order; the prover's are made from its oracle. Nothing is checked.
    fn exchange(
        &self,
        channel: &mut Channel,
        count: usize,
        oracle: Option<&Oracle>,
    ) -> Result<Exchanged, Reject> {
        let places = channel.positions("whir.queries", count, self.leaves);
        let own = || oracle.expect("proving");
        let mut shown = oracle.map(|oracle| oracle.show(&places));
        let mut part = |of: fn(&mut Shown) -> &mut Vec<u64>| take(of(shown.as_mut().expect("proving")));
        let words = channel.elements("whir.leaves", places.len() * self.width, || {
            part(|shown| &mut shown.words)
        })?;
        let mut carried = Vec::new();
        if self.carried > 0 {
            let count = places.len() * self.carried;
            carried = channel.elements("whir.carried", count, || part(|shown| &mut shown.carried))?;
        }
        let mut salts: Vec<[u64; 2]> = Vec::new();
        if self.salted {
            let flat = channel.words("whir.salts", 2 * places.len(), || own().salts(&places))?;
            salts.extend(flat.chunks_exact(2).map(|salt| [salt[0], salt[1]]));
        }
        let absent = missing(self.leaves, &places).len();
        let nodes = channel.words("whir.nodes", 4 * absent, || {
            let found = &shown.as_ref().expect("proving").nodes;
            let word = |chunk: &[u8]| u64::from_le_bytes(chunk.try_into().expect("eight bytes"));
            found
                .iter()
                .flat_map(|digest| digest.chunks_exact(8).map(word).collect::<Vec<u64>>())
                .collect()
        })?;
        let answers = Answers {
            places,
            words,
            carried,
        };
        Ok((answers, salts, nodes))
    }

    fn belong(&self, answers: &Answers, salts: &[[u64; 2]], nodes: &[u64]) -> Result<(), Reject> {
        let mut siblings = Vec::with_capacity(nodes.len() / 4);
        for node in nodes.chunks_exact(4) {
            let mut digest = [0; 32];
            for (chunk, word) in digest.chunks_exact_mut(8).zip(node) {
                chunk.copy_from_slice(&word.to_le_bytes());
            }
            siblings.push(digest);
        }
        let leaf = |(i, words): (usize, &[F])| {
            let carried = &answers.carried[self.carried * i..self.carried * (i + 1)];
            leaf_hash(words, carried, salts.get(i))
        };
        let leaves = answers.words.chunks_exact(self.width).enumerate();
        let hashes: Vec<Digest> = leaves.map(leaf).collect();
        let top = top(self.leaves, &answers.places, &hashes, &siblings)?;
        let root = self.binding.map_or(top, |binding| binding.root(&top));
        if root != self.root {
            return Err(Reject::Leaf);
        }
        Ok(())
    }
}
