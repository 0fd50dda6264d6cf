//! WHIR (eprint 2024/1586) in the unique-decoding regime: commits to a multilinear polynomial, proves a weighted sum.
//!
//! The table of 2^n values is at once the coefficients of a univariate polynomial, evaluated on a subgroup at rate 1/2.
//! A round folds `FOLD` variables by a sumcheck of f * w, commits to the folded polynomial on a quarter of the domain,
//! and asks at random places that it be the fold: each answer y at z is the claim sum_b g(b) z^b = y, added to the sum.
//! Within the unique-decoding radius a word has one polynomial, so nothing is sampled out of the domain.

use super::channel::{Channel, Reject};
use super::extension::Extension;
use super::field::F;
use super::folding::{Fold, Powers};
use super::merkle::{Binding, Digest, leaf_hash, missing, top};
use super::multilinear::{equality, interpolate};
use super::ntt::{self, reverse};
use super::oracle::Oracle;
use super::pairs::{self, Pairs, Weights, first_bound, first_sums};

/// Variables per round; a leaf holds 2^FOLD symbols.
pub const FOLD: usize = 4;
/// A domain's size has so many bits fewer than the one before.
pub const SHRINK: usize = 2;
/// The least number of variables of a commitment.
pub const LEAST: usize = 8;
/// Variables of the last polynomial, at most.
const LAST: usize = 6;
/// Bits of soundness of the queries to one oracle.
const QUERY_BITS: f64 = 106.0;
/// Symbols of a leaf.
pub const WIDTH: usize = 1 << FOLD;

/// How often a polynomial of so many variables is folded.
pub fn rounds(variables: usize) -> usize {
    (variables - LAST.min(variables)).div_ceil(FOLD).max(1)
}

/// Queries to the oracle of this round: each misses a word outside the unique-decoding radius at most (1 + rate) / 2.
pub fn queries(round: usize) -> usize {
    let rate = 0.5f64.powi((1 + (FOLD - SHRINK) * round) as i32);
    (QUERY_BITS / -((1.0 + rate) / 2.0).log2()).ceil() as usize
}

/// What the prover knows of the polynomial that is opened: its word, its table, and the weights' table.
pub struct Secret<'a, E> {
    pub oracle: &'a Oracle,
    pub values: &'a [F],
    pub weights: &'a dyn Weights<E>,
}

/// The prover's side of the sumcheck of f * w: before its first variable is bound, after, and between rounds.
enum Tables<'a, E> {
    First(&'a [F], &'a dyn Weights<E>),
    Bound(Pairs<E>),
    None,
}

impl<E: Extension> Tables<'_, E> {
    fn message(&self, claim: E) -> Vec<E> {
        match self {
            Tables::First(values, weights) => pairs::message(first_sums(values, *weights), claim),
            Tables::Bound(pairs) => pairs.message(claim),
            Tables::None => unreachable!("the prover holds tables"),
        }
    }

    fn bind(&mut self, r: E) {
        match self {
            Tables::First(values, weights) => *self = Tables::Bound(first_bound(values, *weights, r)),
            Tables::Bound(pairs) => pairs.bind(r),
            Tables::None => {}
        }
    }

    fn take(&mut self) -> Option<[Vec<E>; 2]> {
        match std::mem::replace(self, Tables::None) {
            Tables::Bound(pairs) => Some(pairs.tables()),
            _ => None,
        }
    }
}

/// The claim on f * w at a random point of so many variables, appended to `point`.
fn fold<E: Extension>(
    channel: &mut Channel,
    variables: usize,
    mut claim: E,
    tables: &mut Tables<E>,
    point: &mut Vec<E>,
) -> Result<E, Reject> {
    for _ in 0..variables {
        let message = channel.scalars("whir.fold", 2, || tables.message(claim))?;
        let r: E = channel.challenge("whir.fold");
        claim = interpolate::<E, E>(claim, &message, r);
        tables.bind(r);
        point.push(r);
    }
    Ok(claim)
}

/// Proves, or checks, that sum_b f(b) w(b) = claim, for the polynomial f of `variables` variables behind `root`.
///
/// The root is of a binding and the top of the first oracle's tree. `weight_at` is the multilinear extension of w; it is asked once, at the end, and by the verifier only.
pub fn open<E: Extension>(
    channel: &mut Channel,
    variables: usize,
    (binding, root): (Binding, Digest),
    mut claim: E,
    secret: Option<Secret<E>>,
    weight_at: impl FnOnce(&[E]) -> E,
) -> Result<(), Reject> {
    let proving = secret.is_some();
    let mut point = Vec::with_capacity(variables);
    let mut powers = Vec::new();
    let mut bits = variables + 1;
    let mut known = root;
    let (first, mut tables) = match secret {
        Some(secret) => (Some(secret.oracle), Tables::First(secret.values, secret.weights)),
        None => (None, Tables::None),
    };
    let mut folded: Option<Oracle> = None;
    let mut last = Vec::new();
    let rounds = rounds(variables);
    for round in 0..rounds {
        claim = fold(channel, FOLD, claim, &mut tables, &mut point)?;
        let mut bound = tables.take();
        let folding = Fold::new(bits, &point[point.len() - FOLD..]);
        let remaining = variables - point.len();
        let mut next = None;
        let mut next_root = known;
        if round + 1 < rounds {
            next = bound.as_ref().map(|[f, _]| Oracle::extension(f, bits - SHRINK));
            next_root = channel.digest("whir.root", || next.as_ref().expect("committed").top())?;
        } else {
            last = channel.scalars("whir.last", 1 << remaining, || {
                bound.as_ref().expect("proving")[0].clone()
            })?;
        }
        let leaf_bits = bits - FOLD;
        let places = channel.positions("whir.queries", queries(round), leaf_bits);
        let oracle = folded.as_ref().or(first);
        let width = if round == 0 { 1 } else { E::DEGREE };
        let leaf = WIDTH * width;
        let flat = channel.elements("whir.leaves", places.len() * leaf, || {
            oracle.expect("proving").leaves(&places)
        })?;
        let salts: Vec<[u64; 2]> = if round == 0 {
            let words = channel.words("whir.salts", 2 * places.len(), || {
                oracle.expect("proving").salts(&places)
            })?;
            words.chunks_exact(2).map(|salt| [salt[0], salt[1]]).collect()
        } else {
            Vec::new()
        };
        let absent = missing(leaf_bits, &places).len();
        let mut siblings = Vec::with_capacity(absent);
        let nodes = channel.words("whir.nodes", 4 * absent, || {
            let found = oracle.expect("proving").tree.siblings(&places);
            let word = |chunk: &[u8]| u64::from_le_bytes(chunk.try_into().expect("eight bytes"));
            found
                .iter()
                .flat_map(|digest| digest.chunks_exact(8).map(word).collect::<Vec<u64>>())
                .collect()
        })?;
        for node in nodes.chunks_exact(4) {
            let mut digest = [0; 32];
            for (chunk, word) in digest.chunks_exact_mut(8).zip(node) {
                chunk.copy_from_slice(&word.to_le_bytes());
            }
            siblings.push(digest);
        }
        if !proving {
            let hashes: Vec<Digest> = flat
                .chunks_exact(leaf)
                .enumerate()
                .map(|(i, symbols)| leaf_hash(symbols, (round == 0).then(|| &salts[i])))
                .collect();
            let top = top(leaf_bits, &places, &hashes, &siblings)?;
            if (if round == 0 { binding.root(&top) } else { top }) != known {
                return Reject::because("an opened leaf does not belong to its commitment");
            }
        }
        let gamma = channel.challenge("whir.combine");
        let mut coefficient = gamma;
        let generator = F::root_of_unity(leaf_bits);
        let mut terms = Vec::with_capacity(places.len());
        for (&place, symbols) in places.iter().zip(flat.chunks_exact(leaf)) {
            let symbols = symbols
                .chunks_exact(width)
                .map(|s| if width == 1 { s[0].into() } else { E::of(s) })
                .collect();
            claim += coefficient * folding.at(place, symbols);
            terms.push((coefficient, generator.power(reverse(place, leaf_bits) as u64)));
            coefficient = coefficient * gamma;
        }
        if let Some([values, mut weights]) = bound.take() {
            // sum_j c_j z_j^b for all b is one transform, since the z_j lie in a subgroup.
            let mut sparse = vec![E::ZERO; 1 << leaf_bits];
            for (&place, &(coefficient, _)) in places.iter().zip(&terms) {
                sparse[reverse(place, leaf_bits)] = coefficient;
            }
            let sums = ntt::extension_values(&sparse, leaf_bits);
            for (b, weight) in weights.iter_mut().enumerate() {
                let at = E::DEGREE * reverse(b, leaf_bits);
                *weight += E::of(&sums[at..at + E::DEGREE]);
            }
            tables = Tables::Bound(Pairs::new(values, weights));
        }
        powers.push(Powers {
            first: point.len(),
            terms,
        });
        folded = next;
        known = next_root;
        bits -= SHRINK;
    }
    let remaining = variables - point.len();
    claim = fold(channel, remaining, claim, &mut tables, &mut point)?;
    if !proving {
        let value = equality(&point[variables - remaining..])
            .iter()
            .zip(&last)
            .fold(E::ZERO, |sum, (&e, &v)| sum + e * v);
        let weight = powers
            .iter()
            .fold(weight_at(&point), |sum, powers| sum + powers.at(&point));
        if value * weight != claim {
            return Reject::because("a commitment does not open to the claimed values");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::cubic::Cubic;
    use super::super::extension::tests::element;
    use super::super::quadratic::Quadratic;
    use super::*;

    const BINDING: Binding = Binding::Ports(&[5; 32]);

    struct Table<E>(Vec<E>);

    impl<E: Extension> Weights<E> for Table<E> {
        fn read(&self, start: usize, weights: &mut [E]) {
            weights.copy_from_slice(&self.0[start..start + weights.len()]);
        }
    }

    fn run<E: Extension>(variables: usize, error: E) -> (Vec<u8>, Result<(), Reject>) {
        let values: Vec<F> = (0..1 << variables)
            .map(|i: u64| F::reduced(i * i * 7919 + 13))
            .collect();
        let point: Vec<E> = (0..variables as u64).map(element).collect();
        let weights = equality(&point);
        let mut claim = weights
            .iter()
            .zip(&values)
            .fold(E::ZERO, |sum, (&w, &f)| sum + w * f);
        claim += error;
        let oracle = Oracle::commit(&values, variables + 1, [3; 32]);
        let root = BINDING.root(&oracle.top());
        let secret = Secret {
            oracle: &oracle,
            values: &values,
            weights: &Table(weights),
        };
        let mut channel = Channel::prover(None);
        open(
            &mut channel,
            variables,
            (BINDING, root),
            claim,
            Some(secret),
            |_| E::ZERO,
        )
        .unwrap();
        let proof = channel.finish().unwrap();
        let verdict = check(&proof, variables, root, claim, &point);
        (proof, verdict)
    }

    fn check<E: Extension>(
        proof: &[u8],
        variables: usize,
        root: Digest,
        claim: E,
        point: &[E],
    ) -> Result<(), Reject> {
        let mut channel = Channel::verifier(proof);
        open(&mut channel, variables, (BINDING, root), claim, None, |at| {
            super::super::multilinear::equality_of(at, point)
        })?;
        channel.finish().map(drop)
    }

    fn openings<E: Extension>() {
        for variables in [8, 9, 10, 11, 14, 15] {
            let (proof, verdict) = run(variables, E::ZERO);
            verdict.unwrap();
            assert!(proof.len() < 1 << 20);
            for place in 0..E::DEGREE {
                let mut error = vec![F::ZERO; E::DEGREE];
                error[place] = F::ONE;
                assert!(run(variables, E::of(&error)).1.is_err());
            }
        }
    }

    #[test]
    fn an_opening_holds_for_its_value_and_for_no_other() {
        openings::<Quadratic>();
        openings::<Cubic>();
    }

    #[test]
    fn queries_reach_their_bits() {
        assert_eq!([queries(0), queries(1), queries(2)], [256, 128, 111]);
    }
}
