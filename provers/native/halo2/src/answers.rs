//! The end of an argument: the values of all polynomials at the last challenge, and their openings.

use std::collections::BTreeMap;

use ark_bn254::Fr;
use ark_ff::Field;

use crate::argue::{Arguer, Column};
use crate::opening::{Opened, Points, challenge, open};
use crate::polynomial::{Element, Transforms};
use crate::quotient::Products;
use circuitize_curves::lazy::{Lazy, Relax};

impl Arguer<'_> {
    /// All values at the last challenge, and their openings, in the order in which the verifier reads them.
    pub(crate) fn open(
        mut self,
        advice: &[Column],
        sets: &[Vec<Element>],
        lookups: &[Products],
        masking: &[Element],
        pieces: &[Vec<Element>],
        blinding: usize,
    ) -> Result<Vec<u8>, String> {
        let x = challenge(&mut self.transcript);
        let last = -(blinding as i32 + 1);
        let key = self.key;
        let cs = key.verifying.key.cs();
        // The crate numbers advice columns phase by phase.
        let phases = &self.system.shape.phases;
        let mut order = (0..advice.len()).collect::<Vec<_>>();
        order.sort_by_key(|&place| phases[place]);
        let transforms = std::mem::replace(&mut self.transforms, Transforms::new(0, Fr::from(1u64)));
        let fixed = std::mem::take(&mut self.fixed);
        let permutations = std::mem::take(&mut self.permutations);
        let mut points = Points::new(&transforms, x);
        let mut values = Vec::new();
        let mut opened: Vec<Opened> = Vec::new();
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        for (column, rotation) in cs.advice_queries() {
            let polynomial = &advice[order[column.index()]].coefficients;
            values.push(points.value(polynomial, rotation.0));
            let place = *places.entry(column.index()).or_insert_with(|| {
                opened.push(Opened {
                    coefficients: polynomial,
                    rotations: Vec::new(),
                });
                opened.len() - 1
            });
            opened[place].rotations.push(rotation.0);
        }
        let mut fixed_opened: Vec<Opened> = Vec::new();
        places.clear();
        for (column, rotation) in cs.fixed_queries() {
            let polynomial = &fixed[column.index()].coefficients;
            values.push(points.value(polynomial, rotation.0));
            let place = *places.entry(column.index()).or_insert_with(|| {
                fixed_opened.push(Opened {
                    coefficients: polynomial,
                    rotations: Vec::new(),
                });
                fixed_opened.len() - 1
            });
            fixed_opened[place].rotations.push(rotation.0);
        }
        values.push(points.value(masking, 0));
        for column in &permutations {
            values.push(points.value(&column.coefficients, 0));
        }
        for (place, set) in sets.iter().enumerate() {
            let mut rotations = vec![0, 1];
            if place + 1 < sets.len() {
                rotations.push(last);
            }
            for &rotation in &rotations {
                values.push(points.value(set, rotation));
            }
            opened.push(Opened {
                coefficients: set,
                rotations,
            });
        }
        for lookup in lookups {
            values.push(points.value(&lookup.product, 0));
            values.push(points.value(&lookup.product, 1));
            values.push(points.value(&lookup.first, 0));
            values.push(points.value(&lookup.first, -1));
            values.push(points.value(&lookup.second, 0));
            for (coefficients, rotations) in [
                (&lookup.product, vec![0, 1]),
                (&lookup.first, vec![0, -1]),
                (&lookup.second, vec![0]),
            ] {
                opened.push(Opened {
                    coefficients,
                    rotations,
                });
            }
        }
        opened.extend(fixed_opened);
        for column in &permutations {
            opened.push(Opened {
                coefficients: &column.coefficients,
                rotations: vec![0],
            });
        }
        let xn = x.pow([transforms.size as u64]).relax();
        let mut quotient = vec![super::polynomial::zero(); transforms.size];
        for piece in pieces.iter().rev() {
            for (sum, value) in quotient.iter_mut().zip(piece) {
                *sum = sum.mul(xn).add(*value);
            }
        }
        for coefficients in [&quotient[..], masking] {
            opened.push(Opened {
                coefficients,
                rotations: vec![0],
            });
        }
        for value in values {
            self.write_value(value)?;
        }
        open(&opened, &points, &key.bases, &mut self.transcript).map_err(|error| error.to_string())?;
        Ok(std::mem::take(&mut self.transcript.stream))
    }
}
