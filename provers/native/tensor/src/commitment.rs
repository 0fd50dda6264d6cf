//! Commitments: tensors at their places in a table, its word on a domain, and the root of that.

use std::sync::Arc;

use rayon::prelude::*;

use crate::claims::Values;
use crate::domain::Use;
use crate::field::F;
use crate::geometry::{Geometry, HIDDEN, PLAIN};
use crate::layout::Layout;
use crate::memory;
use crate::merkle::{Binding, Digest};
use crate::oracle::Oracle;
use crate::padding::padded_places;
use crate::plan::{Base, Plan, variables};
use crate::protocol::Witness;
use crate::randomness::Randomness;

/// A commitment and all that opening it takes: made once, opened in any number of proofs.
pub struct Commitment {
    /// Without the zeros at its end.
    pub table: Arc<Vec<F>>,
    pub oracle: Oracle,
    root: Digest,
    geometry: Geometry,
}

impl Commitment {
    /// Commits to tensors at their offsets, in a table of 2^bits elements; or, of the size that so many openings take,
    /// in zero knowledge.
    pub fn of(
        bits: usize,
        tensors: &[(Vec<usize>, usize, Vec<F>)],
        secret: [u8; 32],
        binding: Binding,
        openings: Option<usize>,
    ) -> Self {
        let mut table = memory::zeros(1 << bits);
        for (shape, offset, values) in tensors {
            place(shape, values, &mut table[*offset..]);
        }
        let ends = tensors
            .iter()
            .map(|(shape, offset, _)| offset + (1 << variables(shape)));
        let end = ends.max().unwrap_or(0);
        let Some(openings) = openings else {
            return Self::plain(table, PLAIN.table(end, 0), secret, binding);
        };
        let geometry = HIDDEN.table(end, openings);
        table.truncate(geometry.end);
        let randomness = Self::randomness(&table, &geometry, &secret, binding);
        Self::hidden(table, geometry, &randomness, binding)
    }

    /// Commits to words alone, for proofs that hide nothing.
    pub fn plain(mut words: Vec<F>, geometry: Geometry, secret: [u8; 32], binding: Binding) -> Self {
        words.truncate(geometry.end);
        Self::with(words, Vec::new(), geometry, secret, Vec::new(), binding)
    }

    /// The secret, the list of ports, the words, the leaves' width and the queries decide the random ones: so one secret used
    /// twice gives unrelated ones.
    pub fn randomness(words: &[F], geometry: &Geometry, secret: &[u8; 32], binding: Binding) -> Randomness {
        let queries = (geometry.queries as u64).to_le_bytes();
        let sizes = [&[geometry.fold as u8][..], &queries].concat();
        Randomness::new(secret, &[&binding.root(&fingerprint(words)), &sizes])
    }

    /// Commits to words and random ones behind them.
    pub fn hidden(words: Vec<F>, geometry: Geometry, randomness: &Randomness, binding: Binding) -> Self {
        let random = randomness.words("root", geometry.random);
        Self::with(
            words,
            random,
            geometry,
            randomness.secret("salts"),
            Vec::new(),
            binding,
        )
    }

    /// Commits to words, and at their place to random ones; `carried` lies beside the leaves.
    pub fn with(
        mut words: Vec<F>,
        random: Vec<F>,
        geometry: Geometry,
        salts: [u8; 32],
        carried: Vec<F>,
        binding: Binding,
    ) -> Self {
        words.resize(geometry.end, F::ZERO);
        words.extend(random);
        let table = Arc::new(words);
        let oracle = Oracle::of_polynomial(&table, geometry.domain(), geometry.width(), carried, salts);
        let root = binding.root(&oracle.top());
        Self {
            table,
            oracle,
            root,
            geometry,
        }
    }

    /// Whether this is one of this size, and of these ports.
    pub fn is_of(&self, geometry: &Geometry, binding: Binding) -> bool {
        self.geometry == *geometry && self.root == binding.root(&self.oracle.top())
    }

    pub fn root(&self) -> Digest {
        self.root
    }
}

/// A hash of words: that of the hashes of their pieces, which are made side by side.
pub fn fingerprint(words: &[F]) -> Digest {
    let piece = |words: &[F]| {
        let mut bytes = vec![0; 8 * words.len()];
        for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.word().to_le_bytes());
        }
        Use::Table.hash(&[&bytes])
    };
    let pieces: Vec<Digest> = words.par_chunks(1 << 13).map(piece).collect();
    Use::Table.hash(&[pieces.as_flattened()])
}

/// A commitment's table: its columns at their offsets, axes padded to powers of two with zeros.
pub fn table(plan: &Plan, values: &Values, commitment: usize) -> Vec<F> {
    let mut table = memory::zeros(1 << plan.commitments[commitment]);
    for (base, values) in plan.bases.iter().zip(values) {
        if let Base::Column {
            commitment: own,
            offset,
            shape,
        } = base
            && *own == commitment
        {
            place(shape, values, &mut table[*offset..]);
        }
    }
    table
}

/// The commitment of a group, whose randomness, if it hides, is what `drawn` makes of its own.
pub fn committed(
    plan: &Plan,
    layout: &Layout,
    number: usize,
    witness: &Witness,
    drawn: &(dyn Fn(usize, Randomness) -> Randomness + Sync),
) -> Commitment {
    let (geometry, binding) = (layout.tables[number], plan.bindings()[number]);
    let mut words = table(plan, &witness.values, number);
    let secret = witness.secrets[number];
    if !plan.hidden {
        return Commitment::plain(words, geometry, secret, binding);
    }
    words.truncate(geometry.end);
    let randomness = drawn(
        number,
        Commitment::randomness(&words, &geometry, &secret, binding),
    );
    Commitment::hidden(words, geometry, &randomness, binding)
}

/// Puts a tensor into a table where its axes are padded to powers of two.
fn place(shape: &[usize], values: &[F], table: &mut [F]) {
    let Some((&extent, outer)) = shape.split_last() else {
        table[0] = values[0];
        return;
    };
    let width = extent.next_power_of_two();
    for (&at, row) in padded_places(outer).0.iter().zip(values.chunks_exact(extent)) {
        table[at * width..at * width + extent].copy_from_slice(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_drawn_by_secret_list_table_width_and_queries() {
        let words: Vec<F> = (0..48).map(F::reduced).collect();
        let drawn_for = |words: &[F], fold: usize, queries: usize, secret: u8, list: u8| {
            let geometry = Geometry {
                fold,
                queries,
                ..HIDDEN.table(words.len(), 4)
            };
            let ports = [list; 32];
            let found = Commitment::randomness(words, &geometry, &[secret; 32], Binding::Ports(&ports));
            let salts = found.secret("salts");
            (found.words("root", 8), salts)
        };
        let drawn =
            |words: &[F], fold: usize, secret: u8, list: u8| drawn_for(words, fold, 150, secret, list);
        let mut all: Vec<_> = (1..=4).map(|fold| drawn(&words, fold, 1, 1)).collect();
        all.extend([
            drawn(&words, 1, 2, 1),
            drawn(&words, 1, 1, 2),
            drawn(&words[1..], 1, 1, 1),
            drawn_for(&words, 1, 151, 1, 1),
        ]);
        for (i, (words, salts)) in all.iter().enumerate() {
            assert!(
                all[..i]
                    .iter()
                    .all(|other| other.0 != *words && other.1 != *salts)
            );
        }
        assert_eq!(all[0], drawn(&words, 1, 1, 1));
    }
}
