//! The quotient of all identities, combined, by the polynomial that vanishes on the rows, in pieces of as many rows.
//!
//! A quotient h of degree below p n is evaluated on p cosets of the rows' subgroup, whatever p: on a coset where
//! X^n = s, h = sum of s^i h_i for its pieces h_i, so that p cosets give p equations for them, coefficient by coefficient.

use ark_bn254::Fr;
use ark_ff::{AdditiveGroup, FftField, Field};
use rayon::prelude::*;

use crate::argue::CHUNK;
use crate::polynomial::{Element, Transforms, zero};
use crate::products::delta;
use crate::program::{Program, Table};
use crate::shape::Shape;
use circuitize_curves::lazy::{Lazy, Relax};
use circuitize_curves::ntt::powers;

/// A lookup's running product, and its permuted inputs and table.
pub struct Products {
    pub product: Vec<Element>,
    pub first: Vec<Element>,
    pub second: Vec<Element>,
}

pub struct Quotient<'a> {
    pub shape: &'a Shape,
    pub transforms: &'a Transforms,
    pub degree: usize,
    pub blinding: usize,
    pub challenges: &'a [Fr],
    pub advice: Vec<&'a [Element]>,
    pub fixed: Vec<&'a [Element]>,
    pub instances: Vec<&'a [Element]>,
    pub permutations: Vec<&'a [Element]>,
    pub sets: &'a [Vec<Element>],
    pub lookups: &'a [Products],
    /// theta, beta, gamma, y.
    pub scalars: [Fr; 4],
}

/// All polynomials on one coset.
struct Coset {
    advice: Vec<Vec<Element>>,
    fixed: Vec<Vec<Element>>,
    instances: Vec<Vec<Element>>,
    permutations: Vec<Vec<Element>>,
    sets: Vec<Vec<Element>>,
    lookups: Vec<[Vec<Element>; 3]>,
    /// First row, last usable row's successor, usable rows.
    rows: [Vec<Element>; 3],
    /// beta times the points of the coset.
    labels: Vec<Element>,
}

impl Quotient<'_> {
    /// The pieces, lowest first, as coefficients.
    pub fn pieces(&self) -> Vec<Vec<Element>> {
        let count = self.degree - 1;
        let size = self.transforms.size;
        let extended = Fr::get_root_of_unity((size * count.next_power_of_two()) as u64).unwrap_or_default();
        let offsets = powers(extended, count)
            .into_iter()
            .map(|power| power * Fr::from(7u64))
            .collect::<Vec<_>>();
        let shape = self.shape;
        let lookups = shape
            .lookups
            .iter()
            .flat_map(|lookup| lookup.inputs.iter().chain(&lookup.table));
        let roots = shape.gates.iter().chain(lookups).copied().collect::<Vec<_>>();
        let program = Program::new(shape, &roots, self.challenges);
        let indicators = self.indicators();
        let parts = offsets
            .iter()
            .map(|&offset| {
                let coset = self.coset(offset, &indicators);
                let values = self.combined(&coset, &program);
                drop(coset);
                let vanishing = offset.pow([size as u64]) - Fr::from(1u64);
                let scale = vanishing.inverse().unwrap_or_default().relax();
                let unturned = self.transforms.powers(offset.inverse().unwrap_or_default());
                let mut part = self.transforms.interpolate_elements(values);
                part.par_iter_mut()
                    .zip(&unturned)
                    .with_min_len(CHUNK)
                    .for_each(|(value, power)| *value = value.mul(*power).mul(scale));
                part
            })
            .collect::<Vec<_>>();
        let turns = offsets
            .iter()
            .map(|offset| offset.pow([size as u64]))
            .collect::<Vec<_>>();
        let weights = vandermonde_inverse(&turns);
        weights
            .into_par_iter()
            .map(|weights| {
                let mut piece = vec![zero(); size];
                for (weight, part) in weights.iter().zip(&parts) {
                    let weight = weight.relax();
                    for (sum, value) in piece.iter_mut().zip(part) {
                        *sum = sum.add(value.mul(weight));
                    }
                }
                piece
            })
            .collect()
    }

    fn indicators(&self) -> [Vec<Element>; 3] {
        let last = self.transforms.size - self.blinding - 1;
        let of = |holds: &dyn Fn(usize) -> bool| {
            let values = (0..self.transforms.size)
                .map(|row| Fr::from(u64::from(holds(row))))
                .collect::<Vec<_>>();
            self.transforms.interpolate(&values)
        };
        [of(&|row| row == 0), of(&|row| row == last), of(&|row| row < last)]
    }

    fn coset(&self, offset: Fr, indicators: &[Vec<Element>; 3]) -> Coset {
        let turned = self.transforms.powers(offset);
        let one = |coefficients: &[Element]| self.transforms.on_coset(coefficients, &turned);
        let many = |columns: &[&[Element]]| columns.par_iter().map(|column| one(column)).collect::<Vec<_>>();
        let beta = self.scalars[1];
        let labels = powers(self.transforms.root, self.transforms.size)
            .into_iter()
            .map(|point| (point * offset * beta).relax())
            .collect();
        Coset {
            advice: many(&self.advice),
            fixed: many(&self.fixed),
            instances: many(&self.instances),
            permutations: many(&self.permutations),
            sets: self.sets.par_iter().map(|set| one(set)).collect(),
            lookups: self
                .lookups
                .par_iter()
                .map(|lookup| [one(&lookup.product), one(&lookup.first), one(&lookup.second)])
                .collect(),
            rows: indicators.each_ref().map(|indicator| one(indicator)),
            labels,
        }
    }

    /// All identities' values, combined by powers of y in the verifier's order.
    fn combined(&self, coset: &Coset, program: &Program) -> Vec<Element> {
        let size = self.transforms.size;
        let advice = coset.advice.iter().map(|column| &column[..]).collect::<Vec<_>>();
        let fixed = coset.fixed.iter().map(|column| &column[..]).collect::<Vec<_>>();
        let instances = coset
            .instances
            .iter()
            .map(|column| &column[..])
            .collect::<Vec<_>>();
        let table = Table {
            advice: &advice,
            fixed: &fixed,
            instances: &instances,
        };
        let copied = self
            .shape
            .copied
            .iter()
            .map(|&column| {
                let columns = advice.iter().chain(&fixed).chain(&instances);
                columns.copied().nth(column).unwrap_or_default()
            })
            .collect::<Vec<_>>();
        let deltas = powers(delta(), copied.len().max(1))
            .into_iter()
            .map(Fr::relax)
            .collect::<Vec<_>>();
        let mut values = vec![zero(); size];
        values
            .par_chunks_mut(CHUNK)
            .enumerate()
            .for_each(|(chunk, values)| {
                let mut slots = program.slots();
                for (place, value) in values.iter_mut().enumerate() {
                    let row = chunk * CHUNK + place;
                    program.run(&mut slots, &table, row);
                    *value = self.row(coset, program, &slots, &copied, &deltas, row);
                }
            });
        values
    }

    fn row(
        &self,
        coset: &Coset,
        program: &Program,
        slots: &[Element],
        copied: &[&[Element]],
        deltas: &[Element],
        row: usize,
    ) -> Element {
        let size = self.transforms.size;
        let [theta, beta, gamma, y] = self.scalars.map(Fr::relax);
        let one = Fr::ONE.relax();
        let turn = |rotation: isize| row.wrapping_add_signed(rotation) & (size - 1);
        let (next, before, last) = (turn(1), turn(-1), turn(-(self.blinding as isize + 1)));
        let [at_first, at_last, active] = coset.rows.each_ref().map(|column| column[row]);
        let mut sum = zero();
        let mut put = |value: Element| sum = sum.mul(y).add(value);
        for place in 0..self.shape.gates.len() {
            put(program.root(slots, place));
        }
        if let (Some(first), Some(final_set)) = (coset.sets.first(), coset.sets.last()) {
            put(at_first.mul(one.sub(first[row])));
            put(at_last.mul(final_set[row].square().sub(final_set[row])));
            for pair in coset.sets.windows(2) {
                put(at_first.mul(pair[1][row].sub(pair[0][last])));
            }
            let chunk = self.degree - 2;
            for (place, set) in coset.sets.iter().enumerate() {
                let (mut left, mut right) = (set[next], set[row]);
                let columns = place * chunk..((place + 1) * chunk).min(copied.len());
                for column in columns {
                    let shifted = copied[column][row].add(gamma);
                    left = left.mul(shifted.add(beta.mul(coset.permutations[column][row])));
                    right = right.mul(shifted.add(deltas[column].mul(coset.labels[row])));
                }
                put(left.sub(right).mul(active));
            }
        }
        let mut at = self.shape.gates.len();
        for (lookup, [product, first, second]) in self.shape.lookups.iter().zip(&coset.lookups) {
            let mut compressed = [zero(); 2];
            for (sum, width) in compressed
                .iter_mut()
                .zip([lookup.inputs.len(), lookup.table.len()])
            {
                for place in at..at + width {
                    *sum = sum.mul(theta).add(program.root(slots, place));
                }
                at += width;
            }
            let [inputs, table] = compressed;
            put(at_first.mul(one.sub(product[row])));
            put(at_last.mul(product[row].square().sub(product[row])));
            let left = product[next]
                .mul(first[row].add(beta))
                .mul(second[row].add(gamma));
            let right = product[row].mul(inputs.add(beta)).mul(table.add(gamma));
            put(left.sub(right).mul(active));
            let apart = first[row].sub(second[row]);
            put(at_first.mul(apart));
            put(apart.mul(first[row].sub(first[before])).mul(active));
        }
        sum
    }
}

/// Rows of weights: piece i is the sum of weight j times part j, where part j is the sum of turns[j]^i times piece i.
fn vandermonde_inverse(turns: &[Fr]) -> Vec<Vec<Fr>> {
    let mut weights = vec![vec![Fr::ZERO; turns.len()]; turns.len()];
    for (part, turn) in turns.iter().enumerate() {
        // The coefficients of the polynomial that is 1 at this turn and 0 at the others.
        let mut product = vec![Fr::from(1u64)];
        for (_, other) in turns.iter().enumerate().filter(|(place, _)| *place != part) {
            let scale = (*turn - other).inverse().unwrap_or_default();
            let mut next = vec![Fr::ZERO; product.len() + 1];
            for (degree, coefficient) in product.iter().enumerate() {
                next[degree + 1] += *coefficient * scale;
                next[degree] -= *coefficient * scale * other;
            }
            product = next;
        }
        for (piece, coefficient) in product.into_iter().enumerate() {
            weights[piece][part] = coefficient;
        }
    }
    weights
}
