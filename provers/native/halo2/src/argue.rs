//! The prover's side of halo2's argument, as the crate's verifier checks it, in this crate's own arithmetic.
//!
//! The crate proves the same with transforms and expressions that cost several times as much. What is written here and
//! what the verifier reads must agree in every place; each proof is checked by the crate's verifier before it is used.

use std::collections::HashMap;

use ark_bn254::Fr;
use ark_ff::AdditiveGroup;
use halo2_axiom::halo2curves::bn256::G1Affine;
use halo2_axiom::transcript::{Transcript, TranscriptWrite};
use rayon::prelude::*;

use crate::convert::{from_ark_scalar, to_ark_scalar, to_ark_scalars};
use crate::lookup::Entries;
use crate::opening::challenge;
use crate::polynomial::{Element, Transforms};
use crate::products::running;
use crate::program::{Program, Table};
use crate::proving_key::ProvingKey;
use crate::quotient::{Products, Quotient};
use crate::system::System;
use crate::transcript::Keccak;
use circuitize_curves::entropy::Entropy;
use circuitize_curves::lazy::Relax;

/// Rows that one thread takes at a time.
pub const CHUNK: usize = 1 << 9;

/// A column as values, and as the polynomial that has them.
pub struct Column {
    pub values: Vec<Fr>,
    pub coefficients: Vec<Element>,
}

/// Uniform elements from the operating system, drawn in parallel.
pub(crate) fn random(count: usize) -> Result<Vec<Fr>, String> {
    (0..count)
        .into_par_iter()
        .with_min_len(256)
        .map(|_| Entropy::System.scalar())
        .collect()
}

/// One proof in the making.
pub struct Arguer<'a> {
    pub(crate) key: &'a ProvingKey,
    pub(crate) system: &'a System,
    pub(crate) transforms: Transforms,
    pub(crate) transcript: Keccak<Vec<u8>>,
    /// Rows on which everything holds: the others hide the columns.
    pub(crate) usable: usize,
    pub(crate) fixed: Vec<Column>,
    pub(crate) permutations: Vec<Column>,
    instances: Vec<Column>,
    advice: Vec<Option<Column>>,
    challenges: Vec<Fr>,
}

impl<'a> Arguer<'a> {
    /// Absorbs the key and the instance.
    pub fn new(
        key: &'a ProvingKey,
        system: &'a System,
        instances: &[Vec<halo2_axiom::halo2curves::bn256::Fr>],
    ) -> Result<Self, String> {
        let verifying = &*key.verifying;
        let domain = verifying.key.get_domain();
        let size = 1usize << verifying.k;
        let transforms = Transforms::new(verifying.k, to_ark_scalar(&domain.get_omega()));
        let columns = |columns: Vec<Vec<halo2_axiom::halo2curves::bn256::Fr>>| -> Vec<Column> {
            columns
                .into_par_iter()
                .map(|column| {
                    let mut values = to_ark_scalars(&column);
                    values.resize(size, Fr::ZERO);
                    let coefficients = transforms.interpolate(&values);
                    Column { values, coefficients }
                })
                .collect()
        };
        let mut transcript = Keccak::new(&verifying.checksum, Vec::new());
        let absorbed = std::iter::once(verifying.key.transcript_repr());
        for value in absorbed.chain(instances.iter().flatten().copied()) {
            transcript
                .common_scalar(value)
                .map_err(|error| error.to_string())?;
        }
        Ok(Self {
            key,
            system,
            transcript,
            usable: size - (verifying.key.cs().blinding_factors() + 1),
            fixed: columns(system.fixed.clone()),
            permutations: columns(system.permutations(domain)),
            instances: columns(instances.to_vec()),
            advice: (0..system.shape.phases.len()).map(|_| None).collect(),
            challenges: Vec::new(),
            transforms,
        })
    }

    pub(crate) fn write(&mut self, point: G1Affine) -> Result<(), String> {
        self.transcript
            .write_point(point)
            .map_err(|error| error.to_string())
    }

    pub(crate) fn write_value(&mut self, value: Fr) -> Result<(), String> {
        self.transcript
            .write_scalar(from_ark_scalar(&value))
            .map_err(|error| error.to_string())
    }

    /// Commits to the columns of a phase, in their order, random behind the usable rows; then draws its challenges.
    pub fn commit(
        &mut self,
        phase: u8,
        columns: &[Vec<halo2_axiom::halo2curves::bn256::Fr>],
    ) -> Result<(), String> {
        let size = self.transforms.size;
        let made = columns
            .par_iter()
            .map(|column| {
                let mut values = to_ark_scalars(column);
                values.resize(self.usable, Fr::ZERO);
                values.extend(random(size - self.usable)?);
                let point = self.key.bases.values(&values);
                let coefficients = self.transforms.interpolate(&values);
                Ok((point, Column { values, coefficients }))
            })
            .collect::<Result<Vec<_>, String>>()?;
        let places = (0..self.advice.len()).filter(|&place| self.system.shape.phases[place] == phase);
        for (place, (point, column)) in places.collect::<Vec<_>>().into_iter().zip(made) {
            self.write(point)?;
            self.advice[place] = Some(column);
        }
        if phase == 0 {
            for _ in 0..self.system.shape.challenges {
                let drawn = challenge(&mut self.transcript);
                self.challenges.push(drawn);
            }
        }
        Ok(())
    }

    pub fn challenges(&self) -> Vec<halo2_axiom::halo2curves::bn256::Fr> {
        self.challenges.iter().map(from_ark_scalar).collect()
    }

    /// The rest of the proof.
    pub fn finish(mut self, report: &dyn Fn(&'static str) -> Result<(), String>) -> Result<Vec<u8>, String> {
        let advice = std::mem::take(&mut self.advice)
            .into_iter()
            .flatten()
            .collect::<Vec<_>>();
        let shape = self.system.shape.clone();
        let (size, usable) = (self.transforms.size, self.usable);
        let cs = self.key.verifying.key.cs();
        let blinding = cs.blinding_factors();
        let theta = challenge(&mut self.transcript);
        report("lookups")?;
        let compressed = self.compressed(&advice, theta);
        let mut tables: HashMap<&[usize], Entries> = HashMap::new();
        for (lookup, (_, table)) in shape.lookups.iter().zip(&compressed) {
            tables
                .entry(&lookup.table)
                .or_insert_with(|| Entries::new(&table[..usable]));
        }
        let permuted = shape
            .lookups
            .par_iter()
            .zip(&compressed)
            .map(|(lookup, (inputs, _))| {
                let entries = &tables[&lookup.table[..]];
                let (mut first, mut second) = entries
                    .permute(&inputs[..usable])
                    .ok_or("an input of a lookup is not in its table")?;
                first.extend(random(size - usable)?);
                second.extend(random(size - usable)?);
                let points = [self.key.bases.values(&first), self.key.bases.values(&second)];
                let columns = [first, second].map(|values| Column {
                    coefficients: self.transforms.interpolate(&values),
                    values,
                });
                Ok((points, columns))
            })
            .collect::<Result<Vec<_>, String>>()?;
        drop(tables);
        let mut sorted = Vec::with_capacity(permuted.len());
        for (points, columns) in permuted {
            for point in points {
                self.write(point)?;
            }
            sorted.push(columns);
        }
        let (beta, gamma) = (challenge(&mut self.transcript), challenge(&mut self.transcript));
        report("products")?;
        let chunk = self.key.verifying.degree() - 2;
        let copied = self.copied(&advice);
        let sets = self.set_products(&copied, chunk, beta, gamma, blinding)?;
        let products = compressed
            .into_par_iter()
            .zip(&sorted)
            .map(|((inputs, table), [first, second])| {
                let mut ratios = (0..usable)
                    .map(|row| (beta + first.values[row]) * (gamma + second.values[row]))
                    .collect::<Vec<_>>();
                ark_ff::batch_inversion(&mut ratios);
                for (row, ratio) in ratios.iter_mut().enumerate() {
                    *ratio *= (inputs[row] + beta) * (table[row] + gamma);
                }
                let mut values = running(&ratios, Fr::from(1u64));
                values.extend(random(blinding)?);
                Ok((
                    self.key.bases.values(&values),
                    self.transforms.interpolate(&values),
                ))
            })
            .collect::<Result<Vec<_>, String>>()?;
        let mut lookups = Vec::with_capacity(products.len());
        for ((point, product), [first, second]) in products.into_iter().zip(sorted) {
            self.write(point)?;
            lookups.push(Products {
                product,
                first: first.coefficients,
                second: second.coefficients,
            });
        }
        let masking = random(size)?;
        let point = self.key.bases.coefficients(&masking);
        self.write(point)?;
        let masking = self.transforms.reordered(&masking);
        let masking = masking.into_iter().map(Fr::relax).collect::<Vec<_>>();
        let y = challenge(&mut self.transcript);
        report("quotient")?;
        let quotient = Quotient {
            shape: &shape,
            transforms: &self.transforms,
            degree: self.key.verifying.degree(),
            blinding,
            challenges: &self.challenges,
            advice: advice.iter().map(|column| &column.coefficients[..]).collect(),
            fixed: self.fixed.iter().map(|column| &column.coefficients[..]).collect(),
            instances: self
                .instances
                .iter()
                .map(|column| &column.coefficients[..])
                .collect(),
            permutations: self
                .permutations
                .iter()
                .map(|column| &column.coefficients[..])
                .collect(),
            sets: &sets,
            lookups: &lookups,
            scalars: [theta, beta, gamma, y],
        };
        let pieces = quotient.pieces();
        let points = pieces
            .par_iter()
            .map(|piece| {
                let reduced = piece.iter().map(|value| Fr::reduce(*value)).collect::<Vec<_>>();
                self.key.bases.coefficients(&self.transforms.reordered(&reduced))
            })
            .collect::<Vec<_>>();
        for point in points {
            self.write(point)?;
        }
        report("openings")?;
        self.open(&advice, &sets, &lookups, &masking, &pieces, blinding)
    }

    /// Each lookup's inputs and table as one column each, on all rows.
    fn compressed(&self, advice: &[Column], theta: Fr) -> Vec<(Vec<Fr>, Vec<Fr>)> {
        let size = self.transforms.size;
        let lookups = &self.system.shape.lookups;
        let roots = lookups
            .iter()
            .flat_map(|lookup| lookup.inputs.iter().chain(&lookup.table).copied())
            .collect::<Vec<_>>();
        let program = Program::new(&self.system.shape, &roots, &self.challenges);
        let lazy = |columns: &[Column]| -> Vec<Vec<Element>> {
            columns
                .iter()
                .map(|column| column.values.iter().map(|value| value.relax()).collect())
                .collect()
        };
        let [advice, fixed, instances] = [advice, &self.fixed, &self.instances].map(lazy);
        let advice = advice.iter().map(|column| &column[..]).collect::<Vec<_>>();
        let fixed = fixed.iter().map(|column| &column[..]).collect::<Vec<_>>();
        let instances = instances.iter().map(|column| &column[..]).collect::<Vec<_>>();
        let table = Table {
            advice: &advice,
            fixed: &fixed,
            instances: &instances,
        };
        let mut found = vec![(vec![Fr::ZERO; size], vec![Fr::ZERO; size]); lookups.len()];
        let rows = (0..size.div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let mut slots = program.slots();
                let rows = chunk * CHUNK..((chunk + 1) * CHUNK).min(size);
                let mut made = Vec::with_capacity(rows.len() * 2 * lookups.len());
                for row in rows {
                    program.run(&mut slots, &table, row);
                    let mut at = 0;
                    for lookup in lookups {
                        for width in [lookup.inputs.len(), lookup.table.len()] {
                            let sum = (at..at + width).fold(Fr::ZERO, |sum, place| {
                                sum * theta + Fr::reduce(program.root(&slots, place))
                            });
                            made.push(sum);
                            at += width;
                        }
                    }
                }
                made
            })
            .collect::<Vec<_>>();
        for (row, values) in rows
            .iter()
            .flat_map(|rows| rows.chunks_exact(2 * lookups.len().max(1)))
            .enumerate()
        {
            for ((inputs, table), pair) in found.iter_mut().zip(values.chunks_exact(2)) {
                (inputs[row], table[row]) = (pair[0], pair[1]);
            }
        }
        found
    }

    /// The columns that occur in copies.
    fn copied(&self, advice: &[Column]) -> Vec<Vec<Fr>> {
        let (first, second) = (advice.len(), advice.len() + self.fixed.len());
        let copied = self.system.shape.copied.iter();
        copied
            .map(|&column| match column {
                column if column < first => advice[column].values[..self.usable].to_vec(),
                column if column < second => self.fixed[column - first].values[..self.usable].to_vec(),
                column => self.instances[column - second].values[..self.usable].to_vec(),
            })
            .collect()
    }
}
