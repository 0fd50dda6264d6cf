//! The opening of all polynomials at all points by two commitments: SHPLONK, as the crate's verifier checks it.
//!
//! Boneh, Drake, Fisch, Gabizon, "Efficient polynomial commitment schemes for multiple points and polynomials", 2020.

use std::collections::BTreeMap;

use ark_bn254::Fr;
use ark_ff::{AdditiveGroup, Field};
use halo2_axiom::transcript::{Transcript, TranscriptWrite};
use rayon::prelude::*;

use crate::convert::to_ark_scalar;
use crate::polynomial::{Element, Transforms, evaluate, zero};
use crate::scheme::Bases;
use crate::transcript::Keccak;
use circuitize_curves::lazy::{Lazy, Relax};

/// A polynomial and the rotations at which it is opened, in the order in which the verifier meets polynomials.
pub struct Opened<'a> {
    pub coefficients: &'a [Element],
    pub rotations: Vec<i32>,
}

/// The points by rotation, and their powers.
pub struct Points<'a> {
    transforms: &'a Transforms,
    at: Fr,
    points: BTreeMap<i32, (Fr, Vec<Element>)>,
}

impl<'a> Points<'a> {
    pub fn new(transforms: &'a Transforms, at: Fr) -> Self {
        Self {
            transforms,
            at,
            points: BTreeMap::new(),
        }
    }

    /// The value at the point turned by a rotation.
    pub fn value(&mut self, coefficients: &[Element], rotation: i32) -> Fr {
        let (transforms, at) = (self.transforms, self.at);
        self.points.entry(rotation).or_insert_with(|| {
            let root = if rotation < 0 {
                transforms.root.inverse().unwrap_or_default()
            } else {
                transforms.root
            };
            let point = at * root.pow([u64::from(rotation.unsigned_abs())]);
            (point, transforms.powers(point))
        });
        self.evaluate(coefficients, rotation)
    }

    fn evaluate(&self, coefficients: &[Element], rotation: i32) -> Fr {
        match self.points.get(&rotation) {
            Some((_, powers)) => evaluate(coefficients, powers),
            None => Fr::ZERO,
        }
    }
}

pub fn challenge(transcript: &mut Keccak<Vec<u8>>) -> Fr {
    to_ark_scalar(&transcript.squeeze_challenge_scalar::<()>())
}

/// sum of factor^i polynomials[i].
fn combined(polynomials: &[&[Element]], factor: Fr, size: usize) -> Vec<Element> {
    let factor = factor.relax();
    let mut sum = vec![zero(); size];
    sum.par_chunks_mut(1 << 10).enumerate().for_each(|(chunk, sum)| {
        let start = chunk << 10;
        for polynomial in polynomials.iter().rev() {
            for (sum, value) in sum.iter_mut().zip(&polynomial[start..]) {
                *sum = sum.mul(factor).add(*value);
            }
        }
    });
    sum
}

/// The coefficients of the polynomial of least degree through points.
fn interpolate(points: &[Fr], values: &[Fr]) -> Vec<Fr> {
    let mut sum = vec![Fr::ZERO; points.len()];
    for (i, (point, value)) in points.iter().zip(values).enumerate() {
        let mut product = vec![*value];
        for (_, other) in points.iter().enumerate().filter(|(j, _)| *j != i) {
            let scale = (*point - other).inverse().unwrap_or_default();
            let mut next = vec![Fr::ZERO; product.len() + 1];
            for (degree, coefficient) in product.iter().enumerate() {
                next[degree + 1] += *coefficient * scale;
                next[degree] -= *coefficient * scale * other;
            }
            product = next;
        }
        for (sum, coefficient) in sum.iter_mut().zip(&product) {
            *sum += coefficient;
        }
    }
    sum
}

/// `polynomial / (X - point)` without its remainder; coefficients in natural order.
fn divide(polynomial: &mut Vec<Fr>, point: Fr) {
    for place in (1..polynomial.len()).rev() {
        let carry = polynomial[place] * point;
        polynomial[place - 1] += carry;
    }
    polynomial.remove(0);
    polynomial.push(Fr::ZERO);
}

fn horner(coefficients: &[Fr], point: Fr) -> Fr {
    coefficients
        .iter()
        .rev()
        .fold(Fr::ZERO, |sum, value| sum * point + value)
}

/// Writes both commitments.
pub fn open(
    opened: &[Opened],
    points: &Points,
    bases: &Bases,
    transcript: &mut Keccak<Vec<u8>>,
) -> std::io::Result<()> {
    let size = points.transforms.size;
    let (y, v) = (challenge(transcript), challenge(transcript));
    let mut sets: Vec<(Vec<i32>, Vec<&[Element]>)> = Vec::new();
    for polynomial in opened {
        let mut rotations = polynomial.rotations.clone();
        rotations.sort_unstable();
        match sets.iter_mut().find(|(set, _)| *set == rotations) {
            Some((_, members)) => members.push(polynomial.coefficients),
            None => sets.push((rotations, vec![polynomial.coefficients])),
        }
    }
    let point_of = |rotation: &i32| points.points.get(rotation).map_or(Fr::ZERO, |(point, _)| *point);
    // For each set: its polynomials combined, in natural order; its points; the values' polynomial.
    let combinations = sets
        .iter()
        .map(|(rotations, members)| {
            let sum = combined(members, y, size);
            let at = rotations.iter().map(point_of).collect::<Vec<_>>();
            let values = rotations
                .iter()
                .map(|&rotation| points.evaluate(&sum, rotation))
                .collect::<Vec<_>>();
            let natural = points
                .transforms
                .reordered(&sum)
                .into_iter()
                .map(Fr::reduce)
                .collect::<Vec<_>>();
            let low = interpolate(&at, &values);
            (natural, at, low)
        })
        .collect::<Vec<_>>();
    let mut quotient = vec![Fr::ZERO; size];
    for (natural, at, low) in combinations.iter().rev() {
        let mut part = natural.clone();
        part.iter_mut().zip(low).for_each(|(value, low)| *value -= low);
        at.iter().for_each(|point| divide(&mut part, *point));
        quotient
            .par_iter_mut()
            .zip(&part)
            .with_min_len(1 << 10)
            .for_each(|(sum, value)| *sum = *sum * v + value);
    }
    transcript.write_point(bases.coefficients(&quotient))?;
    let u = challenge(transcript);
    let all = points
        .points
        .iter()
        .filter(|(rotation, _)| sets.iter().any(|(set, _)| set.contains(rotation)))
        .map(|(_, (point, _))| *point)
        .collect::<Vec<_>>();
    let vanishing = |points: &mut dyn Iterator<Item = &Fr>| {
        points.fold(Fr::from(1u64), |product, point| product * (u - point))
    };
    let mut scales = combinations
        .iter()
        .map(|(_, at, _)| vanishing(&mut all.iter().filter(|point| !at.contains(point))))
        .collect::<Vec<_>>();
    let first = scales[0].inverse().unwrap_or_default();
    let whole = vanishing(&mut all.iter()) * first;
    let mut power = first;
    for scale in &mut scales {
        *scale *= power;
        power *= v;
    }
    let mut last = quotient;
    last.par_iter_mut().for_each(|value| *value *= -whole);
    for ((natural, _, low), scale) in combinations.iter().zip(&scales) {
        last.par_iter_mut()
            .zip(natural)
            .with_min_len(1 << 10)
            .for_each(|(sum, value)| *sum += *scale * value);
        last[0] -= *scale * horner(low, u);
    }
    divide(&mut last, u);
    transcript.write_point(bases.coefficients(&last))
}
