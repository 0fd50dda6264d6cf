//! One opening of several tables, each with a domain of its own, in zero knowledge (docs/zero-knowledge.md, steps 5 to 8).
//!
//! All tables bind the same variables of one sumcheck, and their folds lie in disjoint blocks of one next vector.

use super::affine::Affine;
use super::channel::{Channel, Reject};
use super::extension::Extension;
use super::field::F;
use super::folding::{Fold, powers_at};
use super::geometry::{Block, Geometry, Vector};
use super::hiding::{Prover, Secret};
use super::last::{Last, show};
use super::merkle::{Binding, Digest};
use super::multilinear::{equality_at, interpolate};
use super::ntt::reverse;
use super::pairs::Pairs;
use super::queries::{Answers, Known};
use super::whir::{FOLD, Tables, WIDTH, add_powers};

/// A table that is opened, as both sides know it. The last one of an opening is the proof's own, and carries pads.
pub struct Table<'a> {
    pub geometry: Geometry,
    pub binding: Binding<'a>,
    pub root: Digest,
}

/// Weights on a block of a vector that the opening itself makes.
enum Later<E> {
    /// Of powers of what places stand for, each times a coefficient.
    Powers(Vec<(E, F)>),
    /// Of the first elements.
    First(Vec<(usize, E)>),
}

impl<E: Extension> Later<E> {
    /// The extension over the block, at a point of its variables.
    fn at(&self, point: &[E]) -> E {
        match self {
            Later::Powers(terms) => powers_at(terms, point),
            Later::First(terms) => terms.iter().fold(E::ZERO, |sum, &(place, weight)| {
                sum + weight * equality_at(point, place)
            }),
        }
    }
}

/// Four rounds of the sumcheck, masked: what is left as a form in the carried pads, and the challenges.
fn rounds<E: Extension>(
    channel: &mut Channel,
    target: E,
    prover: &mut Option<Prover<E>>,
) -> Result<(Affine<E>, Vec<E>), Reject> {
    let (mut claim, mut known) = (Affine::from(target), target);
    let mut point = Vec::with_capacity(FOLD);
    for round in 0..FOLD {
        let pad = |prover: &Prover<E>, place: usize| prover.carried[2 * round + place];
        let sent = channel.scalars("whir.fold", 2, || {
            let prover = prover.as_ref().expect("proving");
            let own = prover.message(known);
            (0..2).map(|place| own[place] + pad(prover, place)).collect()
        })?;
        let r: E = channel.challenge("whir.fold");
        let masked = |place: usize| Affine::from(sent[place]) - Affine::unknown(2 * round + place);
        claim = interpolate(claim, &[masked(0), masked(1)], r);
        if let Some(prover) = prover {
            let own = [0, 1].map(|place| sent[place] - pad(prover, place));
            known = interpolate::<E, E>(known, &own, r);
            prover.tables.iter_mut().for_each(|tables| tables.bind(r));
        }
        point.push(r);
    }
    Ok((claim, point))
}

/// Proves, or checks, that the sum over tables of <table, weights> is the target.
///
/// The vectors follow from the tables' sizes. `weight_at` is the multilinear extension of a table's weights, by the
/// table's number; the verifier asks once for each.
pub fn open<E: Extension>(
    channel: &mut Channel,
    (tables, vectors): (&[Table], &[Vector]),
    mut target: E,
    secret: Option<Secret<E>>,
    weight_at: impl Fn(usize, &[E]) -> E,
) -> Result<(), Reject> {
    let own = tables.len() - 1;
    let mut sources: Vec<(Known, Geometry)> = tables
        .iter()
        .enumerate()
        .map(|(number, table)| {
            let known = Known {
                binding: Some(table.binding),
                root: table.root,
                leaves: table.geometry.leaves(),
                width: WIDTH,
                carried: if number == own { E::DEGREE } else { 0 },
                salted: true,
            };
            (known, table.geometry)
        })
        .collect();
    let mut prover = secret.map(Prover::new);
    let mut points: Vec<Vec<E>> = Vec::new();
    let mut later: Vec<(usize, Block, Later<E>)> = Vec::new();
    let mut mask: Vec<E> = Vec::new();
    let mut pairs: [Vec<E>; 2] = [Vec::new(), Vec::new()];
    for (number, vector) in vectors.iter().enumerate() {
        let Geometry { end, random, .. } = vector.geometry;
        let (claim, point) = rounds(channel, target, &mut prover)?;
        let pads = claim
            .terms
            .iter()
            .map(|&(place, coefficient)| (place, E::ZERO - coefficient));
        let pads: Vec<(usize, E)> = pads.collect();
        let mut next = None;
        if let Some(prover) = &mut prover {
            pairs = prover.next(vector, number, &pads);
            next = Some(if vector.last {
                mask = prover.randomness.elements("mask", end + random);
                (prover.last(&vector.geometry, &pairs[0], &mask), Vec::new())
            } else {
                prover.folded(&vector.geometry, number, &pairs[0])
            });
        }
        let root = channel.digest("whir.root", || next.as_ref().expect("proving").0.top())?;
        target = claim.constant;
        later.push((number, vector.carried, Later::First(pads)));
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
                let weights = &mut pairs[1][block.offset..block.offset + (1 << block.bits)];
                add_powers(weights, known.leaves, places, &terms);
            }
            later.push((number, block, Later::Powers(terms)));
        };
        for (((known, geometry), answers), &block) in sources.iter().zip(&answered).zip(&vector.folds) {
            let folding = Fold::new(geometry.domain(), &point);
            claims(block, known, &answers.places, folded(known, &folding, answers));
            if known.carried > 0 {
                let carried = answers.carried.chunks_exact(E::DEGREE).map(E::of).collect();
                claims(vector.carried, known, &answers.places, carried);
            }
        }
        points.push(point);
        let last = vector.last;
        let known = Known {
            binding: None,
            root,
            leaves: if last {
                vector.geometry.domain()
            } else {
                vector.geometry.leaves()
            },
            width: if last { 2 * E::DEGREE } else { E::DEGREE * WIDTH },
            carried: if last { 0 } else { E::DEGREE },
            salted: true,
        };
        sources = vec![(known, vector.geometry)];
        if let (Some(prover), Some((oracle, carried))) = (&mut prover, next) {
            (prover.made, prover.carried) = (Some(oracle), carried);
            if !last {
                let [values, weights] = std::mem::take(&mut pairs);
                prover.tables = vec![Tables::Bound(Pairs::new(values, weights))];
            }
        }
    }
    let (known, geometry) = &sources[0];
    let secret = prover.as_ref().map(|prover| Last {
        oracle: prover.made.as_ref().expect("the last oracle"),
        mask,
        pairs,
    });
    let Some((value, point, claim)) = show(channel, (known, geometry), target, secret)? else {
        return Ok(());
    };
    let weight = weight(vectors, &points, point, &later, weight_at);
    if value * weight != claim {
        return Reject::because("a commitment does not open to the claimed values");
    }
    Ok(())
}

/// The folds of opened leaves along a point.
fn folded<E: Extension>(known: &Known, folding: &Fold<E>, answers: &Answers) -> Vec<E> {
    let width = known.width / WIDTH;
    let symbol = |words: &[F]| if width == 1 { words[0].into() } else { E::of(words) };
    let leaves = answers.words.chunks_exact(known.width);
    leaves
        .zip(&answers.places)
        .map(|(leaf, &place)| folding.at(place, leaf.chunks_exact(width).map(symbol).collect()))
        .collect()
}

/// The extension of all weights: `end` is a point of the last vector, `points` the challenges of each fold.
fn weight<E: Extension>(
    vectors: &[Vector],
    points: &[Vec<E>],
    end: Vec<E>,
    later: &[(usize, Block, Later<E>)],
    weight_at: impl Fn(usize, &[E]) -> E,
) -> E {
    let within = |point: &[E], block: &Block| equality_at(&point[block.bits..], block.offset >> block.bits);
    let (mut point, mut factor, mut sum) = (end, E::ONE, E::ZERO);
    for (number, vector) in vectors.iter().enumerate().rev() {
        for (_, block, weights) in later.iter().filter(|(own, ..)| *own == number) {
            sum += factor * within(&point, block) * weights.at(&point[..block.bits]);
        }
        let before = |block: &Block| [&points[number], &point[..block.bits]].concat();
        if number == 0 {
            for (table, block) in vector.folds.iter().enumerate() {
                sum += factor * within(&point, block) * weight_at(table, &before(block));
            }
        } else {
            let block = &vector.folds[0];
            factor = factor * within(&point, block);
            point = before(block);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::cubic::Cubic;
    use super::super::extension::tests::element;
    use super::super::geometry::{SOUND, fit};
    use super::super::hiding::{Opened, carried_words, draw_carried};
    use super::super::multilinear::{equality, equality_of};
    use super::super::oracle::Oracle;
    use super::super::pairs::Weights;
    use super::super::quadratic::Quadratic;
    use super::super::randomness::Randomness;
    use super::*;

    struct Dense<E>(Vec<E>);

    impl<E: Extension> Weights<E> for Dense<E> {
        fn read(&self, start: usize, weights: &mut [E]) {
            weights.copy_from_slice(&self.0[start..start + weights.len()]);
        }
    }

    const BINDING: Binding = Binding::Ports(&[5; 32]);

    /// Tables of so many words, each with the weights of a point; what a prover makes of them, and a verifier says.
    fn run<E: Extension>(words: &[usize], seed: u8, error: E) -> (Vec<u8>, Result<(), Reject>) {
        let sizes: Vec<Geometry> = words.iter().map(|&words| SOUND.table(words, 2)).collect();
        let vectors = SOUND.vectors(&sizes);
        assert!(fit(&sizes, &vectors));
        let randomness = Randomness::new(&[seed; 32], &[b"test"]);
        let carried = draw_carried::<E>(&randomness, "carried", sizes.last().unwrap());
        let mut oracles = Vec::new();
        let (mut values, mut weights, mut points) = (Vec::new(), Vec::new(), Vec::new());
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
            let own = equality(&point);
            for (&w, &f) in own.iter().zip(&table) {
                target += w * f;
            }
            let beside = if c + 1 == sizes.len() {
                carried_words(&carried, size)
            } else {
                Vec::new()
            };
            let symbols = super::super::ntt::values(&table, size.domain());
            oracles.push(Oracle::of(symbols, WIDTH, beside, Some([c as u8; 32])));
            values.push(table);
            weights.push(Dense(own));
            points.push(point);
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
        let opened = oracles.iter().zip(&values).zip(&weights);
        let secret = Secret {
            tables: opened
                .map(|((oracle, values), weights)| Opened {
                    oracle,
                    values,
                    weights,
                })
                .collect(),
            carried,
            randomness: &randomness,
        };
        // Somebody who sees the messages is a test: such a prover proves what is false, too.
        let mut channel = Channel::prover(Some(Box::new(|_: &str, _: &mut Vec<u64>| Ok(()))));
        open(&mut channel, (&tables, &vectors), target, Some(secret), |_, _| {
            E::ZERO
        })
        .unwrap();
        let proof = channel.finish().unwrap();
        let mut channel = Channel::verifier(&proof);
        let verdict = open(
            &mut channel,
            (&tables, &vectors),
            target,
            None,
            |table, point: &[E]| equality_of(point, &points[table]),
        )
        .and_then(|()| channel.finish().map(drop));
        (proof, verdict)
    }

    fn openings<E: Extension>() {
        for words in [&[100][..], &[300, 5000, 70], &[20_000, 40_000, 9000]] {
            let (proof, verdict) = run::<E>(words, 1, E::ZERO);
            verdict.unwrap();
            assert!(proof.len() < 1 << 20, "{}", proof.len());
            for place in 0..E::DEGREE {
                let mut error = vec![F::ZERO; E::DEGREE];
                error[place] = F::ONE;
                assert!(run(words, 1, E::of(&error)).1.is_err());
            }
            let (other, verdict) = run::<E>(words, 2, E::ZERO);
            verdict.unwrap();
            assert!(other != proof);
        }
    }

    #[test]
    fn a_joint_opening_holds_for_its_value_and_for_no_other() {
        openings::<Quadratic>();
        openings::<Cubic>();
    }
}
