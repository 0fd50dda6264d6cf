//! The end of a joint opening: its last vector, shown whole (docs/tensor.md, "The opening"; docs/zero-knowledge.md, steps 7 and 8).

use crate::channel::Channel;
use crate::errors::Reject;
use crate::extension::Extension;
use crate::geometry::Geometry;
use crate::memory::zeros;
use crate::multilinear::{equality, interpolate};
use crate::ntt::extension_values;
use crate::oracle::Oracle;
use crate::pairs::{Pairs, message};
use crate::queries::{Answers, Known};

/// What the prover knows of a vector under a mask: the oracle of both, the mask, the vector, and weights on it.
pub struct Last<'a, E> {
    pub oracle: &'a Oracle,
    pub mask: &'a [E],
    pub pairs: &'a [Vec<E>; 2],
}

/// Of what is shown its value at a random point, the point, and what value times weight must be there.
type Shown<E> = (E, Vec<E>, E);

/// The sum of products.
fn dot<E: Extension>(x: &[E], y: &[E]) -> E {
    let pairs = x.iter().zip(y);
    pairs.fold(E::ZERO, |sum, (&x, &y)| sum + x * y)
}

/// The verifier's side of showing mask + mu vector in place of a last vector; returns it, and what its sum with the weights
/// must be.
///
/// Soundness: vector and mask are fixed by the root of their tree, and the mask's sum is sent, before mu is drawn; so one mu at
/// most makes a false target true. What is shown is fixed before the places are drawn where it must be mask + mu vector.
pub fn check_masked<E: Extension>(
    channel: &mut Channel,
    (known, geometry): (&Known, &Geometry),
    target: E,
) -> Result<(Vec<E>, E), Reject> {
    let masked: E = channel.read_scalars("whir.mask", 1)?[0];
    let mu: E = channel.challenge("whir.mask");
    let last = channel.read_scalars("whir.last", geometry.end + geometry.random)?;
    let answers = known.check(channel, geometry.queries)?;
    check(&last, mu, known, &answers)?;
    Ok((last, masked + mu * target))
}

/// The prover's side; a false target is refused, unless a test forges.
pub fn prove_masked<E: Extension>(
    channel: &mut Channel,
    (known, geometry): (&Known, &Geometry),
    target: E,
    own: &Last<E>,
) -> Result<(Vec<E>, E), Reject> {
    let length = geometry.end + geometry.random;
    let [values, weights] = own.pairs;
    if !channel.is_forged() && dot(values, weights) != target {
        return Reject::because(
            "the values are not what the program computes; a false proof would tell of them",
        );
    }
    let masked = channel.scalars("whir.mask", 1, || vec![dot(own.mask, weights)])?[0];
    let mu: E = channel.challenge("whir.mask");
    let last = channel.scalars("whir.last", length, || {
        let pairs = own.mask.iter().zip(values);
        pairs.map(|(&g, &v)| g + mu * v).collect()
    })?;
    known.show(channel, geometry.queries, own.oracle)?;
    Ok((last, masked + mu * target))
}

/// The verifier's side of a sumcheck in the clear of what is shown times weights, in so many variables: what is left to
/// compare.
pub fn check_summed<E: Extension>(
    channel: &mut Channel,
    bits: usize,
    (shown, mut claim): (Vec<E>, E),
) -> Result<Shown<E>, Reject> {
    let mut point = Vec::with_capacity(bits);
    for _ in 0..bits {
        let sent: Vec<E> = channel.read_scalars("whir.fold", 2)?;
        let r: E = channel.challenge("whir.fold");
        claim = interpolate::<E, E>(claim, &sent, r);
        point.push(r);
    }
    Ok((dot(&equality(&point), &shown), point, claim))
}

/// The prover's side, who has the weights.
pub fn prove_summed<E: Extension>(
    channel: &mut Channel,
    bits: usize,
    (shown, mut claim): (Vec<E>, E),
    weights: Vec<E>,
) -> Result<(), Reject> {
    let mut values: Vec<E> = zeros(1 << bits);
    values[..shown.len()].copy_from_slice(&shown);
    let mut pairs = Pairs::new(values, weights);
    for _ in 0..bits {
        let sent = channel.scalars("whir.fold", 2, || message(pairs.sums(), claim))?;
        let r: E = channel.challenge("whir.fold");
        claim = interpolate::<E, E>(claim, &sent, r);
        pairs.bind(r);
    }
    Ok(())
}

/// At each opened place the vector that is shown is the mask and mu times the last vector.
fn check<E: Extension>(last: &[E], mu: E, known: &Known, answers: &Answers) -> Result<(), Reject> {
    // One transform costs less than the places one by one.
    let words = extension_values(last, known.leaves);
    for (&place, leaf) in answers.places.iter().zip(answers.words.chunks_exact(known.width)) {
        let (value, mask) = leaf.split_at(E::DEGREE);
        let shown = E::of(&words[E::DEGREE * place..E::DEGREE * (place + 1)]);
        if E::of(mask) + mu * E::of(value) != shown {
            return Err(Reject::LastVector);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubic::Cubic;
    use crate::extension::tests::element;
    use crate::field::F;
    use crate::geometry::HIDDEN;
    use crate::quadratic::Quadratic;
    use crate::randomness::Randomness;
    use crate::vectors::{Hiding, Prover};

    fn words<E: Extension>(elements: &[E]) -> Vec<u64> {
        let coordinates = |e: &E| {
            (0..E::DEGREE)
                .map(|place| e.coordinate(place).word())
                .collect::<Vec<_>>()
        };
        elements.iter().flat_map(coordinates).collect()
    }

    fn elements<E: Extension>(words: &[u64]) -> Vec<E> {
        let found: Vec<F> = words.iter().map(|&word| F::reduced(word)).collect();
        found.chunks_exact(E::DEGREE).map(E::of).collect()
    }

    /// What a verifier makes of a vector's end: the value there times the weight, less the claim. A forger gives more than the
    /// target, and may change the message of a label.
    fn ended<E: Extension>(
        more: E,
        label: &str,
        forge: impl Fn(&[E], &[E], &[E]) -> Vec<E> + Send,
    ) -> Result<E, Reject> {
        let tables = [HIDDEN.table(100, 1)];
        let vectors = HIDDEN.vectors(&tables);
        let geometry = &vectors.last().unwrap().geometry;
        let length = (geometry.end + geometry.random) as u64;
        let mut values: Vec<E> = (0..length).map(element).collect();
        let mut weights: Vec<E> = (0..geometry.end as u64).map(|i| element(i + 9000)).collect();
        values.resize(1 << geometry.bits, E::ZERO);
        weights.resize(1 << geometry.bits, E::ZERO);
        let target = dot(&values, &weights) + more;
        let randomness = Randomness::new(&[1; 32], &[b"last"]);
        let hiding = Hiding {
            carried: Vec::new(),
            randomness: &randomness,
        };
        let prover = Prover::<E>::new(Vec::new(), Some(hiding));
        let (oracle, mask) = prover.last(geometry, &values);
        let known = Known {
            binding: None,
            root: oracle.top(),
            leaves: geometry.domain(),
            width: 2 * E::DEGREE,
            carried: 0,
            salted: true,
        };
        let (own_values, own_mask) = (values.clone(), mask.clone());
        let hook = move |own: &str, sent: &mut Vec<u64>| {
            if own == label {
                *sent = words(&forge(&elements(sent), &own_values, &own_mask));
            }
            Ok(())
        };
        let mut channel = Channel::prover(Some(Box::new(hook)));
        let secret = Last {
            oracle: &oracle,
            mask: &mask,
            pairs: &[values, weights.clone()],
        };
        let shown = prove_masked(&mut channel, (&known, geometry), target, &secret).unwrap();
        prove_summed(&mut channel, geometry.bits, shown, weights.clone()).unwrap();
        let proof = channel.finish().unwrap();
        let mut channel = Channel::verifier(&proof);
        let shown = check_masked::<E>(&mut channel, (&known, geometry), target)?;
        let (value, point, claim) = check_summed(&mut channel, geometry.bits, shown)?;
        Ok(value * dot(&equality(&point), &weights) - claim)
    }

    fn forgeries<E: Extension>() {
        let kept = |sent: &[E], _: &[E], _: &[E]| sent.to_vec();
        assert_eq!(ended(E::ZERO, "", kept), Ok(E::ZERO));
        assert!(ended(E::ONE, "", kept).unwrap() != E::ZERO);
        // A vector that has the false target, mu more in its first place by that place's weight: it is not the one committed to.
        let fitting = |sent: &[E], values: &[E], mask: &[E]| {
            let mu = (sent[0] - mask[0]) * values[0].inverse();
            let mut shown = sent.to_vec();
            shown[0] += mu * element::<E>(9000).inverse();
            shown
        };
        assert_eq!(ended(E::ONE, "whir.last", fitting), Err(Reject::LastVector));
        // A sum of the mask that makes up for it would have to know mu.
        let less = |sent: &[E], _: &[E], _: &[E]| vec![sent[0] - E::ONE];
        assert!(ended(E::ONE, "whir.mask", less).unwrap() != E::ZERO);
    }

    #[test]
    fn a_vector_that_fits_a_false_target_is_not_the_one_that_was_committed_to() {
        forgeries::<Quadratic>();
        forgeries::<Cubic>();
    }
}
