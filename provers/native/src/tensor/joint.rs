//! One opening of several tables, each with a domain of its own (docs/tensor.md, "The opening"); where something hides it,
//! in zero knowledge (docs/zero-knowledge.md, steps 5 to 8).
//!
//! All tables bind the same variables of one sumcheck, and their folds lie in disjoint blocks of one next vector.

use super::channel::{Channel, Reject};
use super::extension::Extension;
use super::field::F;
use super::folding::{Fold, add_powers};
use super::geometry::{Block, FOLD, Geometry, Vector};
use super::last::{Last, masked, summed};
use super::later::{Later, Passed, weight};
use super::merkle::{Binding, Digest};
use super::ntt::reverse;
use super::pairs::Pairs;
use super::queries::Known;
use super::rounds::{Left, rounds};
use super::tables::Tables;
use super::vectors::Prover;

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
mod tests {
    use super::super::cubic::Cubic;
    use super::super::extension::tests::element;
    use super::super::geometry::{Demand, HIDDEN, PLAIN, fit};
    use super::super::multilinear::equality;
    use super::super::oracle::Oracle;
    use super::super::pairs::Weights;
    use super::super::quadratic::Quadratic;
    use super::super::randomness::Randomness;
    use super::super::vectors::{Hiding, Opened, carried_words, draw_carried};
    use super::*;

    struct Dense<E>(Vec<E>);

    impl<E: Extension> Weights<E> for Dense<E> {
        fn read(&self, start: usize, weights: &mut [E]) {
            weights.copy_from_slice(&self.0[start..start + weights.len()]);
        }

        fn end(&self) -> usize {
            self.0.len()
        }
    }

    const BINDING: Binding = Binding::Ports(&[5; 32]);

    /// A coefficient more than a table's length has, in the word of the first one, say; and how much longer prover and verifier
    /// take the block of its fold to be.
    #[derive(Clone, Copy, Default)]
    struct Beyond {
        table: Option<usize>,
        proved: usize,
        verified: usize,
    }

    /// Tables of so many words, each with the weights of a point; what a prover makes of them, and a verifier says.
    fn run<E: Extension>(
        demand: &Demand,
        words: &[usize],
        seed: u8,
        error: E,
        beyond: Beyond,
    ) -> (Vec<u8>, Result<(), Reject>) {
        let sizes: Vec<Geometry> = words.iter().map(|&words| demand.table(words, 2)).collect();
        let vectors = |more: usize| {
            let mut made = demand.vectors(&sizes);
            made[0].folds[beyond.table.unwrap_or(0)].length += more;
            made
        };
        assert!(fit(&sizes, &vectors(0)));
        let randomness = Randomness::new(&[seed; 32], &[b"test"]);
        let carried = draw_carried::<E>(&randomness, "carried", sizes.last().unwrap());
        let mut oracles = Vec::new();
        let (mut values, mut weights) = (Vec::new(), Vec::new());
        let mut target = error;
        for (c, (size, &words)) in sizes.iter().zip(words).enumerate() {
            let mut table = vec![F::ZERO; 1 << size.bits];
            for (i, value) in table[..words].iter_mut().enumerate() {
                *value = F::reduced((i * i * 7919 + 13 + c) as u64);
            }
            let random = randomness.words(&format!("table {c}"), size.random);
            table[size.end..size.end + size.random].copy_from_slice(&random);
            let point: Vec<E> = (0..size.bits as u64)
                .map(|i| element(i + 31 * c as u64))
                .collect();
            // Nothing is claimed of what lies behind the words.
            let own = equality(&point)[..size.end].to_vec();
            for (&w, &f) in own.iter().zip(&table) {
                target += w * f;
            }
            if beyond.table == Some(c) {
                // The last of its leaf, so that no other coefficient of the fold is changed.
                table.resize(table.len().max(size.length() + size.width()), F::ZERO);
                table[size.length() + size.width() - 1] = F::ONE;
            }
            let beside = if demand.hides && c + 1 == sizes.len() {
                carried_words(&carried, size)
            } else {
                Vec::new()
            };
            let symbols = super::super::ntt::values(&table, size.domain());
            table.truncate(size.length() + size.width() * beyond.proved);
            oracles.push(Oracle::of(
                symbols,
                size.width(),
                beside,
                Some([c as u8 + seed; 32]),
            ));
            values.push(table);
            weights.push(Dense(own));
        }
        let tables: Vec<Table> = sizes
            .iter()
            .zip(&oracles)
            .map(|(&geometry, oracle)| Table {
                geometry,
                binding: BINDING,
                root: BINDING.root(&oracle.top()),
            })
            .collect();
        let weights: Vec<Dense<E>> = weights;
        let opened = sizes.iter().zip(&oracles).zip(&values).zip(&weights);
        let opened = opened.map(|(((size, oracle), values), weights)| Opened {
            fold: size.fold,
            oracle,
            values,
            weights,
        });
        let hiding = demand.hides.then_some(Hiding {
            carried,
            randomness: &randomness,
        });
        let prover = Prover::new(opened.collect(), hiding);
        // Somebody who sees the messages is a test: such a prover proves what is false, too.
        let mut channel = Channel::prover(Some(Box::new(|_: &str, _: &mut Vec<u64>| Ok(()))));
        open(
            &mut channel,
            (&tables, &vectors(beyond.proved)),
            target,
            Some(prover),
            |_, _| E::ZERO,
        )
        .unwrap();
        let proof = channel.finish().unwrap();
        let mut channel = Channel::verifier(&proof);
        let verdict = open(
            &mut channel,
            (&tables, &vectors(beyond.verified)),
            target,
            None,
            |table, point: &[E]| {
                let weights = weights[table].0.iter().zip(equality(point));
                weights.fold(E::ZERO, |sum, (&w, e)| sum + w * e)
            },
        )
        .and_then(|()| channel.finish().map(drop));
        (proof, verdict)
    }

    fn openings<E: Extension>(demand: &Demand) {
        for words in [&[100][..], &[300, 5000, 70], &[20_000, 40_000, 9000]] {
            let none = Beyond::default();
            let (proof, verdict) = run::<E>(demand, words, 1, E::ZERO, none);
            verdict.unwrap();
            assert!(proof.len() < 1 << 20, "{}", proof.len());
            for place in 0..E::DEGREE {
                let mut error = vec![F::ZERO; E::DEGREE];
                error[place] = F::ONE;
                assert!(run(demand, words, 1, E::of(&error), none).1.is_err());
            }
            let (other, verdict) = run::<E>(demand, words, 2, E::ZERO, none);
            verdict.unwrap();
            assert!(other != proof);
        }
    }

    const EACH_WIDTH: [usize; 4] = [100, 500, 1000, 2000];

    fn refused(demand: &Demand, beyond: Beyond) -> bool {
        let verdicts = [
            run::<Quadratic>(demand, &EACH_WIDTH, 1, Quadratic::ZERO, beyond).1,
            run::<Cubic>(demand, &EACH_WIDTH, 1, Cubic::ZERO, beyond).1,
        ];
        assert_eq!(verdicts[0].is_err(), verdicts[1].is_err());
        verdicts[0].is_err()
    }

    #[test]
    fn a_word_of_more_coefficients_than_its_length_is_refused_for_leaves_of_each_width() {
        let folds = EACH_WIDTH.map(|words| HIDDEN.table(words, 2).fold);
        assert_eq!(folds, [1, 2, 3, 4]);
        for table in [None, Some(0), Some(1), Some(2), Some(3)] {
            let beyond = Beyond {
                table,
                ..Beyond::default()
            };
            assert_eq!(refused(&HIDDEN, beyond), table.is_some());
        }
    }

    /// A prover who puts them into the vector, too, where there are zeros: were a block's length not what answers speak of, the
    /// code would be of a greater rate than queries are for.
    #[test]
    fn nor_are_more_coefficients_in_the_block_believed() {
        let mut tried = 0;
        let sizes = EACH_WIDTH.map(|words| HIDDEN.table(words, 2));
        let vectors = HIDDEN.vectors(&sizes);
        let blocks: Vec<&Block> = vectors[0].folds.iter().chain(&vectors[0].carried).collect();
        for (number, block) in vectors[0].folds.iter().enumerate() {
            let next = block.range().end;
            if block.length == 1 << block.bits || blocks.iter().any(|own| own.offset == next) {
                continue;
            }
            let beyond = |verified: usize| Beyond {
                table: Some(number),
                proved: 1,
                verified,
            };
            assert!(refused(&HIDDEN, beyond(0)));
            assert!(!refused(&HIDDEN, beyond(1)));
            tried += 1;
        }
        assert!(tried > 1, "{tried}");
    }

    #[test]
    fn a_joint_opening_holds_for_its_value_and_for_no_other() {
        for demand in [PLAIN, HIDDEN] {
            openings::<Quadratic>(&demand);
            openings::<Cubic>(&demand);
        }
    }
}
