//! One opening of several tables, each with a domain of its own (docs/tensor.md, "The opening"); where something hides it,
//! in zero knowledge (docs/zero-knowledge.md, steps 5 to 8).
//!
//! All tables bind the same variables of one sumcheck, and their folds lie in disjoint blocks of one next vector.

use crate::channel::{Channel, Reject};
use crate::extension::Extension;
use crate::field::F;
use crate::folding::{Fold, add_powers};
use crate::geometry::{Block, FOLD, Geometry, Vector};
use crate::last::{Last, masked, summed};
use crate::later::{Later, Passed, weight};
use crate::merkle::{Binding, Digest};
use crate::ntt::reverse;
use crate::pairs::Pairs;
use crate::queries::Known;
use crate::rounds::{Left, rounds};
use crate::tables::Tables;
use crate::vectors::Prover;

/// A table that is opened, as both sides know it. The last one of an opening is the proof's own, and carries pads where
/// they hide the opening.
pub struct Table<'a> {
    pub geometry: Geometry,
    pub binding: Binding<'a>,
    pub root: Digest,
}

/// Proves, or checks, that the sum over tables of <table, weights> is the target.
///
/// The vectors follow from the tables' sizes, and say whether the opening hides. `weight_at` is the multilinear extension
/// of a table's weights, by the table's number; the verifier asks once for each.
pub fn open<E: Extension>(
    channel: &mut Channel,
    (tables, vectors): (&[Table], &[Vector]),
    mut target: E,
    mut prover: Option<Prover<E>>,
    weight_at: impl Fn(usize, &[E]) -> E,
) -> Result<(), Reject> {
    let hides = vectors[0].hides();
    let beside = if hides { E::DEGREE } else { 0 };
    let own = tables.len() - 1;
    let mut sources: Vec<(Known, Geometry)> = tables
        .iter()
        .enumerate()
        .map(|(number, table)| {
            let known = Known {
                binding: Some(table.binding),
                root: table.root,
                leaves: table.geometry.leaves(),
                width: table.geometry.width(),
                carried: if number == own { beside } else { 0 },
                salted: true,
            };
            (known, table.geometry)
        })
        .collect();
    let mut passed: Vec<Passed<E>> = Vec::with_capacity(vectors.len());
    let mut mask: Vec<E> = Vec::new();
    let mut sent: Vec<E> = Vec::new();
    let mut pairs: [Vec<E>; 2] = [Vec::new(), Vec::new()];
    for (number, vector) in vectors.iter().enumerate() {
        let Left { claim, point, pads } = rounds(channel, target, hides, &mut prover)?;
        target = claim;
        let mut next = None;
        if let Some(prover) = &mut prover {
            pairs = prover.next(vector, number, &pads);
            if !vector.last {
                next = Some(prover.folded(&vector.geometry, number, &pairs[0]));
            } else if hides {
                let (oracle, drawn) = prover.last(&vector.geometry, &pairs[0]);
                (next, mask) = (Some(oracle), drawn);
            }
        }
        let mut root = Digest::default();
        if vector.is_sent() {
            let end = vector.geometry.end;
            sent = channel.scalars("whir.last", end, || pairs[0][..end].to_vec())?;
        } else {
            root = channel.digest("whir.root", || next.as_ref().expect("proving").top())?;
        }
        let mut later: Vec<_> = vector
            .carried
            .map(|block| (block, Later::First(pads)))
            .into_iter()
            .collect();
        let mut answered = Vec::with_capacity(sources.len());
        for (source, (known, geometry)) in sources.iter().enumerate() {
            let oracle = prover.as_ref().map(|prover| prover.oracle(source));
            answered.push(known.ask(channel, geometry.queries, oracle)?);
        }
        let gamma: E = channel.challenge("whir.combine");
        let mut coefficient = gamma;
        let mut claims = |block: Block, known: &Known, places: &[usize], values: Vec<E>| {
            let generator = F::root_of_unity(known.leaves);
            let mut terms = Vec::with_capacity(places.len());
            for (&place, value) in places.iter().zip(values) {
                target += coefficient * value;
                terms.push((coefficient, generator.power(reverse(place, known.leaves) as u64)));
                coefficient = coefficient * gamma;
            }
            if prover.is_some() {
                let weights = &mut pairs[1][block.range()];
                add_powers(weights, known.leaves, places, &terms);
            }
            later.push((block, Later::Powers(terms)));
        };
        for (((known, geometry), answers), &block) in sources.iter().zip(&answered).zip(&vector.folds) {
            let folding = Fold::new(geometry.domain(), &point[..geometry.fold]);
            claims(block, known, &answers.places, answers.folded(known, &folding));
            if known.carried > 0 {
                let block = vector.carried.expect("a block of what is carried");
                let carried = answers.carried.chunks_exact(E::DEGREE).map(E::of).collect();
                claims(block, known, &answers.places, carried);
            }
        }
        passed.push(Passed { point, later });
        let last = vector.last;
        let known = Known {
            binding: None,
            root,
            leaves: vector.geometry.leaves(),
            width: E::DEGREE * if last { 2 } else { vector.geometry.width() },
            carried: if last { 0 } else { beside },
            salted: hides,
        };
        sources = vec![(known, vector.geometry)];
        if let Some(prover) = &mut prover {
            prover.made = next;
            if !last {
                let [values, weights] = std::mem::take(&mut pairs);
                prover.tables = vec![Tables::of(Pairs::new(values, weights))];
            }
        }
    }
    let (known, geometry) = &sources[0];
    let shown = if hides {
        let secret = prover.as_ref().map(|prover| Last {
            oracle: prover.made.as_ref().expect("the last oracle"),
            mask: &mask,
            pairs: &pairs,
        });
        masked(channel, (known, geometry), target, secret)?
    } else {
        (sent, target)
    };
    let [_, weights] = pairs;
    let Some((value, point, claim)) = summed(channel, geometry.bits, shown, prover.map(|_| weights))? else {
        return Ok(());
    };
    // A narrow table is summed as if it had more variables, by weights divided by two for each.
    let weight_at = |number: usize, point: &[E]| {
        let fold = tables[number].geometry.fold;
        let own = weight_at(number, &[&point[..fold], &point[FOLD..]].concat());
        (fold..FOLD).fold(own, |weight, _| weight.half())
    };
    if value * weight(vectors, &passed, point, weight_at) != claim {
        return Reject::because("a commitment does not open to the claimed values");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
