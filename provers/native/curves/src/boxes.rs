//! A permutation as S-boxes y = x^5 whose inputs are linear combinations of earlier values, such as Poseidon's.

use ark_bn254::Fr;
use ark_ff::{AdditiveGroup, Field};
use rayon::prelude::*;

/// S-boxes in the order of their values, and an output.
///
/// The values are, in this order: the constant 1, the inputs, and the output of each S-box. Row i of a sparse matrix, the
/// terms `offsets[i] .. offsets[i + 1]`, is the input of S-box i; one more row is the output of the permutation.
pub struct Boxes {
    offsets: Vec<usize>,
    sources: Vec<usize>,
    coefficients: Vec<Fr>,
    inputs: usize,
}

impl Boxes {
    /// The S-boxes of these rows; an error if a row reads a value that is not there before it.
    pub fn new(
        offsets: &[i64],
        sources: &[i64],
        coefficients: Vec<Fr>,
        inputs: usize,
    ) -> Result<Self, String> {
        let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
            return Err("S-boxes: expected the row of the output at least, found none".into());
        };
        let terms = sources.len();
        if inputs == 0
            || offsets.len() < 2
            || first != 0
            || last != terms as i64
            || coefficients.len() != terms
            || offsets.windows(2).any(|pair| pair[0] > pair[1])
        {
            return Err(format!(
                "S-boxes: {inputs} inputs, offsets from {first} to {last} over {terms} sources and {} coefficients; \
                 expected an input, ascending offsets from 0 and equal counts",
                coefficients.len()
            ));
        }
        for (row, pair) in offsets.windows(2).enumerate() {
            let known = (1 + inputs + row) as i64;
            if let Some(source) = sources[pair[0] as usize..pair[1] as usize]
                .iter()
                .find(|&&source| source < 0 || source >= known)
            {
                return Err(format!(
                    "S-boxes: row {row} reads value {source} of the {known} before it"
                ));
            }
        }
        Ok(Self {
            offsets: offsets.iter().map(|&offset| offset as usize).collect(),
            sources: sources.iter().map(|&source| source as usize).collect(),
            coefficients,
            inputs,
        })
    }

    /// Elements that one permutation takes.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The powers x^2, x^4 and x^5 of each S-box, and then the output, for each group of inputs.
    pub fn trace(&self, inputs: &[Fr]) -> Vec<Fr> {
        inputs
            .par_chunks_exact(self.inputs)
            .flat_map_iter(|group| self.one(group))
            .collect()
    }

    fn one(&self, inputs: &[Fr]) -> Vec<Fr> {
        let boxes = self.offsets.len() - 2;
        let mut known = Vec::with_capacity(1 + inputs.len() + boxes);
        known.push(Fr::ONE);
        known.extend_from_slice(inputs);
        let mut traced = Vec::with_capacity(3 * boxes + 1);
        for row in 0..=boxes {
            let range = self.offsets[row]..self.offsets[row + 1];
            let sum = self.sources[range.clone()]
                .iter()
                .zip(&self.coefficients[range])
                .fold(Fr::ZERO, |sum, (&source, &coefficient)| {
                    sum + known[source] * coefficient
                });
            if row == boxes {
                traced.push(sum);
            } else {
                let square = sum.square();
                let fourth = square.square();
                known.push(fourth * sum);
                traced.extend([square, fourth, known[known.len() - 1]]);
            }
        }
        traced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fr(value: i64) -> Fr {
        Fr::from(value)
    }

    #[test]
    fn powers_and_output_follow_the_rows() {
        // x0 = 2 i0 - 1, x1 = x0^5 + i1, output = 3 x1^5.
        let boxes = Boxes::new(
            &[0, 2, 4, 5],
            &[1, 0, 3, 2, 4],
            [2, -1, 1, 1, 3].map(fr).to_vec(),
            2,
        )
        .unwrap();
        let found = boxes.trace(&[fr(1), fr(1), fr(2), fr(-240)]);
        let wanted = [1, 1, 1, 4, 16, 32, 96, 9, 81, 243, 9, 81, 243, 729];
        assert_eq!(found, wanted.map(fr));
    }

    #[test]
    fn rows_that_read_what_is_not_there_are_refused() {
        let made = |offsets: &[i64], sources: &[i64]| {
            Boxes::new(offsets, sources, vec![fr(1); sources.len()], 1)
                .err()
                .unwrap()
        };
        assert!(made(&[0, 1, 2], &[2, 0]).contains("row 0 reads value 2 of the 2"));
        assert!(made(&[0, 1, 2], &[1, 3]).contains("row 1 reads value 3 of the 3"));
        assert!(made(&[0, 1, 2], &[-1, 0]).contains("row 0 reads value -1"));
        assert!(made(&[0, 2, 1], &[1]).contains("ascending"));
        assert!(made(&[], &[]).contains("found none"));
        assert!(made(&[0], &[]).contains("ascending"));
    }
}
