//! One opening of several tables, each with a domain of its own (docs/tensor.md, "The opening"); where something hides it,
//! in zero knowledge (docs/zero-knowledge.md, steps 5 to 8).
//!
//! All tables bind the same variables of one sumcheck, and their folds lie in disjoint blocks of one next vector.

use crate::channel::Channel;
use crate::errors::Reject;
use crate::extension::Extension;
use crate::field::F;
use crate::folding::{Fold, add_powers};
use crate::geometry::{Block, FOLD, Geometry, Vector};
use crate::last::{Last, check_masked, check_summed, prove_masked, prove_summed};
use crate::later::{Later, Passed, weight};
use crate::merkle::{Binding, Digest};
use crate::ntt::reverse;
use crate::pairs::Pairs;
use crate::queries::{Answers, Known};
use crate::rounds::{Left, check_rounds, prove_rounds};
use crate::tables::Tables;
use crate::vectors::Prover;

/// A table that is opened, as both sides know it. The last one of an opening is the proof's own, and carries pads where
/// they hide the opening.
pub struct Table<'a> {
    pub geometry: Geometry,
    pub binding: Binding<'a>,
    pub root: Digest,
}

/// What both sides know of an opening on its way: the claim, what is asked next, and the folds so far.
struct Joint<'a, E> {
    hides: bool,
    target: E,
    sources: Vec<(Known<'a>, Geometry)>,
    passed: Vec<Passed<E>>,
}

impl<'a, E: Extension> Joint<'a, E> {
    /// The vectors follow from the tables' sizes, and say whether the opening hides.
    fn new((tables, vectors): (&[Table<'a>], &[Vector]), target: E) -> Self {
        let hides = vectors[0].hides();
        let own = tables.len() - 1;
        let source = |(number, table): (usize, &Table<'a>)| {
            let known = Known {
                binding: Some(table.binding),
                root: table.root,
                leaves: table.geometry.leaves(),
                width: table.geometry.width(),
                carried: if hides && number == own { E::DEGREE } else { 0 },
                salted: true,
            };
            (known, table.geometry)
        };
        Self {
            hides,
            target,
            sources: tables.iter().enumerate().map(source).collect(),
            passed: Vec::with_capacity(vectors.len()),
        }
    }

    /// A fold into a vector: what the answers say is claimed of it, combined by gamma, beside what rounds left. `added` sees
    /// the weights of each block: of the places that were asked of an oracle, a coefficient each.
    fn fold(
        &mut self,
        vector: &Vector,
        Left { claim, point, pads }: Left<E>,
        answered: &[Answers],
        gamma: E,
        mut added: impl FnMut(Block, &Known, &[usize], &[(E, F)]),
    ) {
        self.target = claim;
        let first = vector.carried.map(|block| (block, Later::First(pads)));
        let mut later: Vec<_> = first.into_iter().collect();
        let mut coefficient = gamma;
        let target = &mut self.target;
        let mut claims = |block: Block, known: &Known, places: &[usize], values: Vec<E>| {
            let generator = F::root_of_unity(known.leaves);
            let mut terms = Vec::with_capacity(places.len());
            for (&place, value) in places.iter().zip(values) {
                *target += coefficient * value;
                terms.push((coefficient, generator.power(reverse(place, known.leaves) as u64)));
                coefficient = coefficient * gamma;
            }
            added(block, known, places, &terms);
            later.push((block, Later::Powers(terms)));
        };
        for (((known, geometry), answers), &block) in self.sources.iter().zip(answered).zip(&vector.folds) {
            let folding = Fold::new(geometry.domain(), &point[..geometry.fold]);
            claims(block, known, &answers.places, answers.folded(known, &folding));
            if known.carried > 0 {
                let block = vector.carried.expect("a block of what is carried");
                let carried = answers.carried.chunks_exact(E::DEGREE).map(E::of).collect();
                claims(block, known, &answers.places, carried);
            }
        }
        self.passed.push(Passed { point, later });
    }

    /// From now on the vector is what is asked, behind its root.
    fn next(&mut self, vector: &Vector, root: Digest) {
        let last = vector.last;
        let known = Known {
            binding: None,
            root,
            leaves: vector.geometry.leaves(),
            width: E::DEGREE * if last { 2 } else { vector.geometry.width() },
            carried: if self.hides && !last { E::DEGREE } else { 0 },
            salted: self.hides,
        };
        self.sources = vec![(known, vector.geometry)];
    }
}

/// The verifier's side: checks that the sum over tables of <table, weights> is the target.
///
/// `weight_at` is the multilinear extension of a table's weights, by the table's number; it is asked once for each.
pub fn check<E: Extension>(
    channel: &mut Channel,
    (tables, vectors): (&[Table], &[Vector]),
    target: E,
    weight_at: impl Fn(usize, &[E]) -> E,
) -> Result<(), Reject> {
    let mut joint = Joint::new((tables, vectors), target);
    let mut sent: Vec<E> = Vec::new();
    for vector in vectors {
        let left = check_rounds(channel, joint.target, joint.hides)?;
        let mut root = Digest::default();
        if vector.is_sent() {
            sent = channel.read_scalars("whir.last", vector.geometry.end)?;
        } else {
            root = channel.read_digest("whir.root")?;
        }
        let sources = joint.sources.iter();
        let answered = sources.map(|(known, geometry)| known.check(channel, geometry.queries));
        let answered = answered.collect::<Result<Vec<_>, _>>()?;
        let gamma: E = channel.challenge("whir.combine");
        joint.fold(vector, left, &answered, gamma, |_, _, _, _| ());
        joint.next(vector, root);
    }
    let (known, geometry) = &joint.sources[0];
    let shown = if joint.hides {
        check_masked(channel, (known, geometry), joint.target)?
    } else {
        (sent, joint.target)
    };
    let (value, point, claim) = check_summed(channel, geometry.bits, shown)?;
    // A narrow table is summed as if it had more variables, by weights divided by two for each.
    let weight_at = |number: usize, point: &[E]| {
        let fold = tables[number].geometry.fold;
        let own = weight_at(number, &[&point[..fold], &point[FOLD..]].concat());
        (fold..FOLD).fold(own, |weight, _| weight.half())
    };
    if value * weight(vectors, &joint.passed, point, weight_at) != claim {
        return Err(Reject::Opening);
    }
    Ok(())
}

/// The prover's side, who holds the tables and weights on all of their elements.
pub fn prove<E: Extension>(
    channel: &mut Channel,
    (tables, vectors): (&[Table], &[Vector]),
    target: E,
    mut prover: Prover<E>,
) -> Result<(), Reject> {
    let mut joint = Joint::new((tables, vectors), target);
    let mut mask: Vec<E> = Vec::new();
    let mut sent: Vec<E> = Vec::new();
    let mut pairs: [Vec<E>; 2] = [Vec::new(), Vec::new()];
    for (number, vector) in vectors.iter().enumerate() {
        let left = prove_rounds(channel, joint.target, joint.hides, &mut prover)?;
        pairs = prover.next(vector, number, &left.pads);
        let mut next = None;
        if !vector.last {
            next = Some(prover.folded(&vector.geometry, number, &pairs[0]));
        } else if joint.hides {
            let (oracle, drawn) = prover.last(&vector.geometry, &pairs[0]);
            (next, mask) = (Some(oracle), drawn);
        }
        let mut root = Digest::default();
        if vector.is_sent() {
            let end = vector.geometry.end;
            sent = channel.scalars("whir.last", end, || pairs[0][..end].to_vec())?;
        } else {
            root = channel.digest("whir.root", || next.as_ref().expect("an oracle").top())?;
        }
        let sources = joint.sources.iter().enumerate();
        let answered = sources
            .map(|(source, (known, geometry))| known.show(channel, geometry.queries, prover.oracle(source)));
        let answered = answered.collect::<Result<Vec<_>, _>>()?;
        let gamma: E = channel.challenge("whir.combine");
        let weights = &mut pairs[1];
        joint.fold(vector, left, &answered, gamma, |block, known, places, terms| {
            add_powers(&mut weights[block.range()], known.leaves, places, terms);
        });
        joint.next(vector, root);
        prover.made = next;
        if !vector.last {
            let [values, weights] = std::mem::take(&mut pairs);
            prover.tables = vec![Tables::of(Pairs::new(values, weights))];
        }
    }
    let (known, geometry) = &joint.sources[0];
    let shown = if joint.hides {
        let own = Last {
            oracle: prover.made.as_ref().expect("the last oracle"),
            mask: &mask,
            pairs: &pairs,
        };
        prove_masked(channel, (known, geometry), joint.target, &own)?
    } else {
        (sent, joint.target)
    };
    let [_, weights] = pairs;
    prove_summed(channel, geometry.bits, shown, weights)
}

#[cfg(test)]
mod tests;
