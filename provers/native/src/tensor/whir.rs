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
use super::merkle::{Binding, Digest};
use super::multilinear::{equality, interpolate};
use super::ntt::{self, reverse};
use super::oracle::Oracle;
use super::pairs::{self, Pairs, Sums, Weights, first_bound, first_sums};
use super::queries::{Answers, Known};

/// Variables per round; a leaf holds 2^FOLD symbols.
pub const FOLD: usize = 4;
/// A domain's size has so many bits fewer than the one before.
pub const SHRINK: usize = 2;
/// The least number of variables of a commitment.
pub const LEAST: usize = 8;
/// Variables of the last polynomial, at most.
const LAST: usize = 6;
/// Bits of soundness of the queries to one oracle.
pub const QUERY_BITS: f64 = 106.0;
/// Symbols of a leaf.
pub const WIDTH: usize = 1 << FOLD;

/// How often a polynomial of so many variables is folded.
pub fn rounds(variables: usize) -> usize {
    (variables - LAST.min(variables)).div_ceil(FOLD).max(1)
}

/// Queries to the oracle of this round.
pub fn queries(round: usize) -> usize {
    queries_at(1 + (FOLD - SHRINK) * round, QUERY_BITS)
}

/// Queries at rate 2^-rate: each misses a word outside the unique-decoding radius at most (1 + 2^-rate) / 2.
pub fn queries_at(rate: usize, bits: f64) -> usize {
    let rate = 0.5f64.powi(rate as i32);
    (bits / -((1.0 + rate) / 2.0).log2()).ceil() as usize
}

/// What the prover knows of the polynomial that is opened: its word, its table, and the weights' table.
pub struct Secret<'a, E> {
    pub oracle: &'a Oracle,
    pub values: &'a [F],
    pub weights: &'a dyn Weights<E>,
}

/// The prover's side of the sumcheck of f * w: before its first variable is bound, after, and between rounds.
pub enum Tables<'a, E> {
    First(&'a [F], &'a dyn Weights<E>),
    Bound(Pairs<E>),
    None,
}

impl<E: Extension> Tables<'_, E> {
    pub fn sums(&self) -> Sums<E> {
        match self {
            Tables::First(values, weights) => first_sums(values, *weights),
            Tables::Bound(pairs) => pairs.sums(),
            Tables::None => unreachable!("the prover holds tables"),
        }
    }

    pub fn bind(&mut self, r: E) {
        match self {
            Tables::First(values, weights) => *self = Tables::Bound(first_bound(values, *weights, r)),
            Tables::Bound(pairs) => pairs.bind(r),
            Tables::None => {}
        }
    }

    pub fn take(&mut self) -> Option<[Vec<E>; 2]> {
        match std::mem::replace(self, Tables::None) {
            Tables::Bound(pairs) => Some(pairs.tables()),
            _ => None,
        }
    }
}

/// The claim on f * w at a random point of so many variables, appended to `point`.
pub fn fold<E: Extension>(
    channel: &mut Channel,
    variables: usize,
    mut claim: E,
    tables: &mut Tables<E>,
    point: &mut Vec<E>,
) -> Result<E, Reject> {
    for _ in 0..variables {
        let message = channel.scalars("whir.fold", 2, || pairs::message(tables.sums(), claim))?;
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
        let width = if round == 0 { 1 } else { E::DEGREE };
        let leaf = WIDTH * width;
        let asked = Known {
            binding: (round == 0).then_some(binding),
            root: known,
            leaves: leaf_bits,
            width: leaf,
            carried: 0,
            salted: round == 0,
        };
        let oracle = folded.as_ref().or(first);
        let Answers {
            places, words: flat, ..
        } = asked.ask(channel, queries(round), oracle)?;
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
            add_powers(&mut weights, leaf_bits, &places, &terms);
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

/// Adds to weight b, for all b, the sum of c_j z_j^b, where z_j is what a place of 2^bits leaves stands for.
pub fn add_powers<E: Extension>(weights: &mut [E], bits: usize, places: &[usize], terms: &[(E, F)]) {
    // One transform, since the z_j lie in a subgroup.
    let mut sparse = vec![E::ZERO; 1 << bits];
    for (&place, &(coefficient, _)) in places.iter().zip(terms) {
        sparse[reverse(place, bits)] = coefficient;
    }
    let sums = ntt::extension_values(&sparse, bits);
    for (b, weight) in weights.iter_mut().enumerate() {
        let at = E::DEGREE * reverse(b, bits);
        *weight += E::of(&sums[at..at + E::DEGREE]);
    }
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
