//! The prover's side of a joint opening: the vectors that it folds, their oracles, and the pads beside their leaves.

use super::extension::Extension;
use super::field::F;
use super::geometry::{CARRIED, Geometry, Vector};
use super::memory::zeros;
use super::ntt::extension_values;
use super::oracle::Oracle;
use super::pairs::{Weights, message};
use super::randomness::Randomness;
use super::whir::{Tables, WIDTH};

/// What the prover knows of one: its words on the domain, the table, and the weights.
pub struct Opened<'a, E> {
    pub oracle: &'a Oracle,
    pub values: &'a [F],
    pub weights: &'a dyn Weights<E>,
}

/// What the prover knows of all, the carried pads of its own table among it.
pub struct Secret<'a, E> {
    pub tables: Vec<Opened<'a, E>>,
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

/// The prover's side: what is folded next, the oracles that are queried after that, and the pads.
pub struct Prover<'a, E> {
    pub tables: Vec<Tables<'a, E>>,
    oracles: Vec<&'a Oracle>,
    pub made: Option<Oracle>,
    pub carried: Vec<E>,
    pub randomness: &'a Randomness,
}

impl<'a, E: Extension> Prover<'a, E> {
    pub fn new(secret: Secret<'a, E>) -> Self {
        let opened = secret.tables.iter();
        Self {
            tables: opened.map(|one| Tables::First(one.values, one.weights)).collect(),
            oracles: secret.tables.iter().map(|one| one.oracle).collect(),
            made: None,
            carried: secret.carried,
            randomness: secret.randomness,
        }
    }

    pub fn message(&self, claim: E) -> Vec<E> {
        let sums = self.tables.iter().map(Tables::sums);
        let sums = sums.fold((E::ZERO, E::ZERO), |x, y| (x.0 + y.0, x.1 + y.1));
        message(sums, claim)
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
            values[block.offset..block.offset + x.len()].copy_from_slice(&x);
            weights[block.offset..block.offset + y.len()].copy_from_slice(&y);
        }
        let start = vector.carried.offset;
        values[start..start + self.carried.len()].copy_from_slice(&self.carried);
        for &(place, weight) in pads {
            weights[start + place] = weight;
        }
        let Geometry { end, random, .. } = vector.geometry;
        let drawn = self.randomness.elements(&format!("vector {number}"), random);
        values[end..end + random].copy_from_slice(&drawn);
        [values, weights]
    }

    /// The oracle of a vector that is folded again, and the pads of that fold.
    pub fn folded(&self, geometry: &Geometry, number: usize, values: &[E]) -> (Oracle, Vec<E>) {
        let carried = draw_carried(self.randomness, &format!("carried {number}"), geometry);
        let words = extension_values(&values[..geometry.end + geometry.random], geometry.domain());
        let beside = carried_words(&carried, geometry);
        let secret = self.randomness.secret(&format!("salts {number}"));
        (
            Oracle::of(words, E::DEGREE * WIDTH, beside, Some(secret)),
            carried,
        )
    }

    /// The oracle of the last vector: each leaf holds its value and that of the mask.
    pub fn last(&self, geometry: &Geometry, values: &[E], mask: &[E]) -> Oracle {
        let own = extension_values(&values[..geometry.end + geometry.random], geometry.domain());
        let other = extension_values(mask, geometry.domain());
        let pairs = own.chunks_exact(E::DEGREE).zip(other.chunks_exact(E::DEGREE));
        let words = pairs.flat_map(|(x, y)| x.iter().chain(y).copied()).collect();
        let secret = self.randomness.secret("salts last");
        Oracle::of(words, 2 * E::DEGREE, Vec::new(), Some(secret))
    }
}
