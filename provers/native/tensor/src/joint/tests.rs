//! Openings of several tables: what is believed of them, and words of more coefficients than their lengths.

use super::*;
use crate::cubic::Cubic;
use crate::extension::tests::element;
use crate::geometry::{Demand, HIDDEN, PLAIN, fit};
use crate::multilinear::equality;
use crate::oracle::Oracle;
use crate::pairs::Weights;
use crate::quadratic::Quadratic;
use crate::randomness::Randomness;
use crate::vectors::{Hiding, Opened, carried_words, draw_carried};

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

/// Which word has a coefficient more than its length, or the last of each limb one more.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Word {
    Table(usize),
    Carried,
    Folded,
    Last,
}

/// Such a word; and how much longer prover and verifier take the block of its fold to be, or what is shown of the last one.
#[derive(Clone, Copy, Default)]
struct Beyond {
    word: Option<Word>,
    proved: usize,
    verified: usize,
}

impl Beyond {
    /// A proof's vectors with the word's block so much longer.
    fn vectors(&self, mut made: Vec<Vector>, more: usize) -> Vec<Vector> {
        match self.word {
            Some(Word::Table(number)) => made[0].folds[number].length += more,
            Some(Word::Carried) => made[0].carried.as_mut().expect("pads").length += more,
            Some(Word::Folded) => made[1].folds[0].length += more,
            Some(Word::Last) => made.last_mut().expect("one").geometry.random += more,
            None => {}
        }
        made
    }

    /// The same for the prover, whose vectors have what is beyond their lengths.
    fn of_prover(&self, made: Vec<Vector>) -> Vec<Vector> {
        let mut made = self.vectors(made, self.proved);
        if self.word == Some(Word::Folded) {
            let geometry = &mut made[0].geometry;
            geometry.random += geometry.width();
        }
        made
    }
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
    let vectors = || demand.vectors(&sizes);
    assert!(fit(&sizes, &vectors()));
    let randomness = Randomness::new(&[seed; 32], &[b"test"]);
    let mut carried = draw_carried::<E>(&randomness, "carried", sizes.last().unwrap());
    if beyond.word == Some(Word::Carried) {
        carried.push(E::ONE);
    }
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
        if beyond.word == Some(Word::Table(c)) {
            // The last of its leaf, so that no other coefficient of the fold is changed.
            table.resize(table.len().max(size.length() + size.width()), F::ZERO);
            table[size.length() + size.width() - 1] = F::ONE;
        }
        let beside = if demand.hides && c + 1 == sizes.len() {
            carried_words(&carried, size)
        } else {
            Vec::new()
        };
        let symbols = crate::ntt::values(&table, size.domain());
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
    // Somebody who sees the messages is a test: such a prover proves what is false, too. Of a last vector that is longer than a
    // verifier thinks it sends what a verifier reads.
    let unsent = if beyond.word == Some(Word::Last) {
        E::DEGREE * (beyond.proved - beyond.verified)
    } else {
        0
    };
    let hook = move |label: &str, words: &mut Vec<u64>| {
        if label == "whir.last" {
            words.truncate(words.len() - unsent);
        }
        Ok(())
    };
    let mut channel = Channel::prover(Some(Box::new(hook)));
    prove(
        &mut channel,
        (&tables, &beyond.of_prover(vectors())),
        target,
        prover,
    )
    .unwrap();
    let proof = channel.finish().unwrap();
    let mut channel = Channel::verifier(&proof);
    let verdict = check(
        &mut channel,
        (&tables, &beyond.vectors(vectors(), beyond.verified)),
        target,
        |table, point: &[E]| {
            let weights = weights[table].0.iter().zip(equality(point));
            weights.fold(E::ZERO, |sum, (&w, e)| sum + w * e)
        },
    )
    .and_then(|()| channel.finish().map(drop));
    (proof, verdict)
}

fn openings<E: Extension>(demand: &Demand) {
    for words in [&[100][..], &[300, 5000, 70], &TWO_VECTORS] {
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
const TWO_VECTORS: [usize; 3] = [20_000, 40_000, 9000];

fn refused(words: &[usize], beyond: Beyond) -> bool {
    let verdicts = [
        run::<Quadratic>(&HIDDEN, words, 1, Quadratic::ZERO, beyond).1,
        run::<Cubic>(&HIDDEN, words, 1, Cubic::ZERO, beyond).1,
    ];
    assert_eq!(verdicts[0].is_err(), verdicts[1].is_err());
    verdicts[0].is_err()
}

#[test]
fn a_word_of_more_coefficients_than_its_length_is_refused_for_leaves_of_each_width() {
    let folds = EACH_WIDTH.map(|words| HIDDEN.table(words, 2).fold);
    assert_eq!(folds, [1, 2, 3, 4]);
    assert!(!refused(&EACH_WIDTH, Beyond::default()));
    for table in 0..4 {
        let beyond = Beyond {
            word: Some(Word::Table(table)),
            ..Beyond::default()
        };
        assert!(refused(&EACH_WIDTH, beyond));
    }
}

/// A prover who puts them into the vector, too, where there are zeros: were a block's length not what answers speak of, the
/// code would be of a greater rate than queries are for. A verifier who takes it to be longer believes them.
fn believed_by_its_length_alone(words: &[usize], word: Word) {
    for (proved, verified) in [(0, 0), (1, 0), (1, 1)] {
        let beyond = Beyond {
            word: Some(word),
            proved,
            verified,
        };
        // Without a longer last vector there is none that is wrong.
        if word != Word::Last || proved > 0 {
            assert_eq!(
                refused(words, beyond),
                verified == 0,
                "{word:?} {proved} {verified}"
            );
        }
    }
}

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
        believed_by_its_length_alone(&EACH_WIDTH, Word::Table(number));
        tried += 1;
    }
    assert!(tried > 1, "{tried}");
}

#[test]
fn nor_are_those_of_carried_pads_or_of_vectors() {
    let vectors = HIDDEN.vectors(&TWO_VECTORS.map(|words| HIDDEN.table(words, 2)));
    assert!(vectors.len() > 1 && vectors[0].carried.unwrap().range().end < vectors[0].geometry.end);
    believed_by_its_length_alone(&TWO_VECTORS, Word::Carried);
    believed_by_its_length_alone(&TWO_VECTORS, Word::Folded);
    believed_by_its_length_alone(&EACH_WIDTH, Word::Last);
}

#[test]
fn a_joint_opening_holds_for_its_value_and_for_no_other() {
    for demand in [PLAIN, HIDDEN] {
        openings::<Quadratic>(&demand);
        openings::<Cubic>(&demand);
    }
}
