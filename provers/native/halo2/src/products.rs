//! The running products that show copies to be copies: one for each set of columns.

use ark_bn254::Fr;
use rayon::prelude::*;

use crate::argue::{Arguer, random};
use crate::convert::to_ark_scalar;
use crate::polynomial::Element;
use circuitize_curves::ntt::powers;

impl Arguer<'_> {
    /// The running products of the copies, set by set, committed to.
    pub(crate) fn set_products(
        &mut self,
        copied: &[Vec<Fr>],
        chunk: usize,
        beta: Fr,
        gamma: Fr,
        blinding: usize,
    ) -> Result<Vec<Vec<Element>>, String> {
        let (size, usable) = (self.transforms.size, self.usable);
        let points = powers(self.transforms.root, size);
        let delta = delta();
        let offsets = powers(delta, copied.len().max(1));
        let ratios = copied
            .par_chunks(chunk)
            .enumerate()
            .map(|(set, columns)| {
                let mut ratios = vec![Fr::from(1u64); usable];
                for (place, column) in columns.iter().enumerate() {
                    let labels = &self.permutations[set * chunk + place].values;
                    for (row, ratio) in ratios.iter_mut().enumerate() {
                        *ratio *= beta * labels[row] + gamma + column[row];
                    }
                }
                ark_ff::batch_inversion(&mut ratios);
                for (place, column) in columns.iter().enumerate() {
                    let scale = beta * offsets[set * chunk + place];
                    for (row, ratio) in ratios.iter_mut().enumerate() {
                        *ratio *= scale * points[row] + gamma + column[row];
                    }
                }
                ratios
            })
            .collect::<Vec<_>>();
        let mut start = Fr::from(1u64);
        let mut columns = Vec::with_capacity(ratios.len());
        for ratios in ratios {
            let mut values = running(&ratios, start);
            start = values[usable];
            values.extend(random(blinding)?);
            columns.push(values);
        }
        let made = columns
            .into_par_iter()
            .map(|values| {
                (
                    self.key.bases.values(&values),
                    self.transforms.interpolate(&values),
                )
            })
            .collect::<Vec<_>>();
        let mut sets = Vec::with_capacity(made.len());
        for (point, coefficients) in made {
            self.write(point)?;
            sets.push(coefficients);
        }
        Ok(sets)
    }
}

/// The generator of the cosets that labels of copied columns lie in.
pub fn delta() -> Fr {
    use halo2_axiom::halo2curves::ff::PrimeField;
    to_ark_scalar(&halo2_axiom::halo2curves::bn256::Fr::DELTA)
}

/// start, start r_0, start r_0 r_1, ..., one more than the ratios.
pub fn running(ratios: &[Fr], start: Fr) -> Vec<Fr> {
    let mut values = Vec::with_capacity(ratios.len() + 8);
    values.push(start);
    for ratio in ratios {
        values.push(values[values.len() - 1] * ratio);
    }
    values
}
