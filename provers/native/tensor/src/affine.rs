//! Forms that are affine in unknowns, with coefficients in the extension.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Sub};

use crate::extension::Extension;
use crate::field::F;

/// A constant, and coefficients of unknowns in increasing order of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine<E> {
    pub constant: E,
    pub terms: Vec<(usize, E)>,
}

impl<E: Extension> Affine<E> {
    pub fn unknown(number: usize) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubic::Cubic;
    use crate::extension::tests::element;
    use crate::quadratic::Quadratic;

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
}
