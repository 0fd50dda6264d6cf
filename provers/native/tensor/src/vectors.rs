//! The prover's side of a joint opening: the vectors that it folds, their oracles, and what hides them.

use crate::extension::Extension;
use crate::field::F;
use crate::geometry::{CARRIED, Geometry, Vector};
use crate::memory::zeros;
use crate::ntt::extension_values;
use crate::oracle::Oracle;
use crate::pairs::{Weights, message};
use crate::randomness::Randomness;
use crate::tables::Tables;

/// What the prover knows of one: the variables that a leaf is folded along, its words on the domain, the table, and the
/// weights.
pub struct Opened<'a, E> {
    pub fold: usize,
    pub oracle: &'a Oracle,
    pub values: &'a [F],
    pub weights: &'a dyn Weights<E>,
}

/// What hides an opening: the pads that its messages are masked with until the next fold, and all others to be drawn.
pub struct Hiding<'a, E> {
    pub carried: Vec<E>,
    pub randomness: &'a Randomness,
}

/// The carried pads beside the leaves of a tree: the first mask a fold's messages, the others hide them.
pub fn draw_carried<E: Extension>(randomness: &Randomness, label: &str, geometry: &Geometry) -> Vec<E> {
    randomness.elements(label, CARRIED + geometry.queries)
}

/// The values of carried pads at the points that leaves stand for.
pub fn carried_words<E: Extension>(carried: &[E], geometry: &Geometry) -> Vec<F> {
    extension_values(carried, geometry.leaves())
}

/// The prover's side: what is folded next, the oracles that are queried after that, and what hides; in a proof that hides
/// nothing, nothing.
pub struct Prover<'a, E> {
    pub tables: Vec<Tables<'a, E>>,
    oracles: Vec<&'a Oracle>,
    pub made: Option<Oracle>,
    hiding: Option<Hiding<'a, E>>,
}

impl<'a, E: Extension> Prover<'a, E> {
    pub fn new(opened: Vec<Opened<'a, E>>, hiding: Option<Hiding<'a, E>>) -> Self {
        Self {
            oracles: opened.iter().map(|one| one.oracle).collect(),
            tables: opened
                .into_iter()
                .map(|one| Tables::new(one.values, one.weights, one.fold))
                .collect(),
            made: None,
            hiding,
        }
    }

    pub fn message(&self, claim: E) -> Vec<E> {
        let sums = self.tables.iter().map(Tables::sums);
        let sums = sums.fold((E::ZERO, E::ZERO), |x, y| (x.0 + y.0, x.1 + y.1));
        message(sums, claim)
    }

    /// The pad of a number of this fold; zero where nothing is hidden.
    pub fn pad(&self, number: usize) -> E {
        let hiding = self.hiding.as_ref();
        hiding.map_or(E::ZERO, |hiding| hiding.carried[number])
    }

    pub fn oracle(&self, source: usize) -> &Oracle {
        self.made.as_ref().unwrap_or_else(|| self.oracles[source])
    }

    /// The next vector, and weights on it: those that are folded, and what is known of the carried pads.
    pub fn next(&mut self, vector: &Vector, number: usize, pads: &[(usize, E)]) -> [Vec<E>; 2] {
        let size = 1 << vector.geometry.bits;
        let (mut values, mut weights): (Vec<E>, Vec<E>) = (zeros(size), zeros(size));
        for (tables, block) in self.tables.iter_mut().zip(&vector.folds) {
            let [x, y] = tables.take().expect("bound");
            // Behind the length there are zeros, and weights of zero.
            let own = |all: &[E]| all.len().min(block.length);
            values[block.offset..block.offset + own(&x)].copy_from_slice(&x[..own(&x)]);
            weights[block.offset..block.offset + own(&y)].copy_from_slice(&y[..own(&y)]);
        }
        if let (Some(hiding), Some(block)) = (&self.hiding, vector.carried) {
            let start = block.offset;
            values[start..start + hiding.carried.len()].copy_from_slice(&hiding.carried);
            for &(place, weight) in pads {
                weights[start + place] = weight;
            }
            let Geometry { end, random, .. } = vector.geometry;
            let drawn = hiding.randomness.elements(&format!("vector {number}"), random);
            values[end..end + random].copy_from_slice(&drawn);
        }
        [values, weights]
    }

    /// The oracle of a vector that is folded again; what hides is then the pads of that fold.
    pub fn folded(&mut self, geometry: &Geometry, number: usize, values: &[E]) -> Oracle {
        let words = extension_values(&values[..geometry.end + geometry.random], geometry.domain());
        let (mut beside, mut secret) = (Vec::new(), None);
        if let Some(Hiding { carried, randomness }) = &mut self.hiding {
            *carried = draw_carried(randomness, &format!("carried {number}"), geometry);
            beside = carried_words(carried, geometry);
            secret = Some(randomness.secret(&format!("salts {number}")));
        }
        Oracle::of(words, E::DEGREE * geometry.width(), beside, secret)
    }

    /// A mask of the last vector, and the oracle of both: each leaf holds its value and that of the mask.
    pub fn last(&self, geometry: &Geometry, values: &[E]) -> (Oracle, Vec<E>) {
        let Hiding { randomness, .. } = self.hiding.as_ref().expect("one that hides");
        let length = geometry.end + geometry.random;
        let mask: Vec<E> = randomness.elements("mask", length);
        let own = extension_values(&values[..length], geometry.domain());
        let other = extension_values(&mask, geometry.domain());
        let pairs = own.chunks_exact(E::DEGREE).zip(other.chunks_exact(E::DEGREE));
        let words = pairs.flat_map(|(x, y)| x.iter().chain(y).copied()).collect();
        let secret = randomness.secret("salts last");
        let oracle = Oracle::of(words, 2 * E::DEGREE, Vec::new(), Some(secret));
        (oracle, mask)
    }
}
