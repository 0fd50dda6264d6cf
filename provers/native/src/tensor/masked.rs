//! A verifier of masked messages: what it would check of the values behind them, as equations of the pads.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Sub};

use super::channel::Reject;
use super::checks::Checks;
use super::extension::Extension;
use super::field::F;

/// A constant, and coefficients of unknowns in increasing order of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine<E> {
    pub constant: E,
    pub terms: Vec<(usize, E)>,
}

impl<E: Extension> Affine<E> {
    fn unknown(number: usize) -> Self {
        Self {
            constant: E::ZERO,
            terms: vec![(number, E::ONE)],
        }
    }

    /// The sum.
    fn with(self, other: Self) -> Self {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (
            self.terms.into_iter().peekable(),
            other.terms.into_iter().peekable(),
        );
        while let (Some(&(i, x)), Some(&(j, y))) = (left.peek(), right.peek()) {
            terms.push(match i.cmp(&j) {
                Ordering::Less => (i, x),
                Ordering::Equal => (i, x + y),
                Ordering::Greater => (j, y),
            });
            if i <= j {
                left.next();
            }
            if j <= i {
                right.next();
            }
        }
        terms.extend(left.chain(right));
        Self {
            constant: self.constant + other.constant,
            terms,
        }
    }

    fn scaled(mut self, by: impl Fn(E) -> E) -> Self {
        self.constant = by(self.constant);
        for (_, coefficient) in &mut self.terms {
            *coefficient = by(*coefficient);
        }
        self
    }
}

impl<E: Extension> From<E> for Affine<E> {
    fn from(constant: E) -> Self {
        Self {
            constant,
            terms: Vec::new(),
        }
    }
}

impl<E: Extension> Add for Affine<E> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.with(other)
    }
}

impl<E: Extension> Sub for Affine<E> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.with(other.scaled(|x| E::ZERO - x))
    }
}

impl<E: Extension> Mul<E> for Affine<E> {
    type Output = Self;
    fn mul(self, by: E) -> Self {
        self.scaled(|x| x * by)
    }
}

impl<E: Extension> Mul<F> for Affine<E> {
    type Output = Self;
    fn mul(self, by: F) -> Self {
        self.scaled(|x| x * by)
    }
}

/// Notes what must hold of the unknowns: the pads, one per number that was sent, and values that are products.
///
/// Soundness: who fulfils all equations has numbers less pads that `Verifying` accepts with the same challenges, since every
/// check is made here: a product's unknown equals it by its own equation, and what has an inverse is not zero. That shows
/// the statement only if the pads were committed to before the first challenge: then each message that is masked fixes
/// the one behind it before the next challenge.
pub struct Equations<E> {
    /// Which unknown is the pad of each number, in the order of the numbers.
    pub pads: Vec<usize>,
    unknowns: usize,
    /// Forms that are zero.
    pub linear: Vec<Affine<E>>,
    /// x y = z.
    pub products: Vec<[Affine<E>; 3]>,
}

impl<E: Extension> Equations<E> {
    pub fn new() -> Self {
        Self {
            pads: Vec::new(),
            unknowns: 0,
            linear: Vec::new(),
            products: Vec::new(),
        }
    }

    fn unknown(&mut self) -> Affine<E> {
        self.unknowns += 1;
        Affine::unknown(self.unknowns - 1)
    }
}

impl<E: Extension> Checks<E> for Equations<E> {
    const PROVING: bool = false;

    type Value = Affine<E>;

    fn sent(&mut self, number: E) -> Affine<E> {
        self.pads.push(self.unknowns);
        Affine::from(number) - self.unknown()
    }

    fn known(_: &Affine<E>) -> E {
        unreachable!("a verifier does not know what is masked")
    }

    fn zero(&mut self, value: Affine<E>, _: &str) -> Result<(), Reject> {
        self.linear.push(value);
        Ok(())
    }

    /// It has an inverse: one more unknown.
    fn not_zero(&mut self, value: Affine<E>, _: &str) -> Result<(), Reject> {
        let inverse = self.unknown();
        self.products.push([value, inverse, E::ONE.into()]);
        Ok(())
    }

    fn product(&mut self, x: Affine<E>, y: Affine<E>) -> Affine<E> {
        let product = self.unknown();
        self.products.push([x, y, product.clone()]);
        product
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::super::channel::{Channel, Hook};
    use super::super::checks::{Proving, Verifying};
    use super::super::cubic::Cubic;
    use super::super::extension::tests::element;
    use super::super::multilinear::sumcheck;
    use super::super::quadratic::Quadratic;
    use super::*;

    fn at<E: Extension>(form: &Affine<E>, unknowns: &[E]) -> E {
        let terms = form.terms.iter();
        terms.fold(form.constant, |sum, &(number, coefficient)| {
            sum + coefficient * unknowns[number]
        })
    }

    fn affine<E: Extension>() {
        let unknowns: Vec<E> = (0..6).map(element).collect();
        let form = |seed: u64, own: &[usize]| Affine {
            constant: element::<E>(seed),
            terms: own.iter().map(|&i| (i, element(seed + 9 + i as u64))).collect(),
        };
        for (x, y) in [
            (form(40, &[0, 2, 5]), form(70, &[1, 2, 3])),
            (form(1, &[]), form(2, &[4])),
        ] {
            let (at_x, at_y) = (at(&x, &unknowns), at(&y, &unknowns));
            let sum = x.clone() + y.clone();
            assert!(sum.terms.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert_eq!(at(&sum, &unknowns), at_x + at_y);
            assert_eq!(at(&(x.clone() - y.clone()), &unknowns), at_x - at_y);
            assert_eq!(
                at(&(x.clone() * element::<E>(3)), &unknowns),
                at_x * element::<E>(3)
            );
            assert_eq!(at(&(y * F::reduced(5)), &unknowns), at_y * F::reduced(5));
            assert_eq!(at(&(x.clone() - x), &unknowns), E::ZERO);
        }
    }

    #[test]
    fn forms_are_added_and_scaled_as_their_values_are() {
        affine::<Quadratic>();
        affine::<Cubic>();
    }

    /// A sumcheck of x y, and x and y at its end: what both sides do.
    fn reduction<E: Extension, C: Checks<E>>(
        channel: &mut Channel,
        checks: &mut C,
        claim: E,
        tables: Option<[Vec<E>; 2]>,
    ) -> Result<(), Reject> {
        let product = |[x, y]: &[E; 2]| *x * *y;
        let reduced = sumcheck::<E, C, 2, 2>(channel, checks, "round", 5, claim.into(), tables, product)?;
        let ends = checks.receive(channel, "ends", 2, || {
            let tables = reduced.tables.as_ref().expect("proving");
            vec![tables[0][0], tables[1][0]]
        })?;
        checks.not_zero(ends[0].clone(), "zero")?;
        let product = checks.product(ends[0].clone(), ends[1].clone());
        checks.zero(product - reduced.claim, "no product")
    }

    fn equations_of_pads<E: Extension>() {
        let tables = [0, 100].map(|seed| (seed..seed + 32).map(element::<E>).collect::<Vec<E>>());
        let claim = tables[0]
            .iter()
            .zip(&tables[1])
            .fold(E::ZERO, |sum, (&x, &y)| sum + x * y);
        for error in [E::ZERO, E::ONE] {
            let pads = Arc::new(Mutex::new(Vec::new()));
            let own = pads.clone();
            let mask = move |_: &str, words: &mut Vec<u64>| {
                let mut pads = own.lock().expect("one thread");
                for word in words {
                    let pad = element::<E>(7 * pads.len() as u64).base();
                    pads.push(pad);
                    *word = (F::reduced(*word) + pad).word();
                }
                Ok(())
            };
            let mut channel = Channel::prover(None).masked(Some(Box::new(mask) as Box<Hook>));
            let claimed = claim + error;
            reduction(&mut channel, &mut Proving {}, claimed, Some(tables.clone())).unwrap();
            let proof = channel.finish().unwrap();
            let mut channel = Channel::verifier(&proof);
            assert!(reduction(&mut channel, &mut Verifying {}, claimed, None).is_err());
            let mut equations = Equations::new();
            reduction(&mut Channel::verifier(&proof), &mut equations, claimed, None).unwrap();
            let pads: Vec<E> = pads.lock().unwrap().chunks_exact(E::DEGREE).map(E::of).collect();
            assert_eq!((equations.pads.len(), pads.len()), (12, 12));
            let holds = |pads: &[E]| {
                let mut unknowns = vec![E::ZERO; equations.unknowns];
                for (&number, &pad) in equations.pads.iter().zip(pads) {
                    unknowns[number] = pad;
                }
                let [[x, inverse, _], [.., product]] = &equations.products[..] else {
                    unreachable!()
                };
                unknowns[inverse.terms[0].0] = at(x, &unknowns).inverse();
                let [_, [x, y, _]] = &equations.products[..] else {
                    unreachable!()
                };
                unknowns[product.terms[0].0] = at(x, &unknowns) * at(y, &unknowns);
                let products = equations.products.iter();
                products.fold(true, |all, [x, y, z]| {
                    all && at(x, &unknowns) * at(y, &unknowns) == at(z, &unknowns)
                }) && equations.linear.iter().all(|form| at(form, &unknowns) == E::ZERO)
            };
            assert_eq!(holds(&pads), error == E::ZERO);
            for place in 0..pads.len() {
                let mut other = pads.clone();
                other[place] += E::ONE;
                assert!(!holds(&other));
            }
        }
    }

    #[test]
    fn equations_hold_of_the_pads_of_a_true_claim_alone() {
        equations_of_pads::<Quadratic>();
        equations_of_pads::<Cubic>();
    }
}
