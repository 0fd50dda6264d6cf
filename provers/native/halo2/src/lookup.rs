//! The two permuted columns of a lookup: inputs grouped by value, and the table with each value beside its first input.

use std::collections::HashMap;

use ark_bn254::Fr;

/// The distinct values of a table in its first rows, and how often each occurs.
pub struct Entries {
    places: HashMap<Fr, u32>,
    values: Vec<Fr>,
    counts: Vec<u32>,
}

impl Entries {
    pub fn new(table: &[Fr]) -> Self {
        let mut entries = Self {
            places: HashMap::with_capacity(table.len()),
            values: Vec::new(),
            counts: Vec::new(),
        };
        for value in table {
            let next = entries.values.len() as u32;
            let place = *entries.places.entry(*value).or_insert(next);
            if place == next {
                entries.values.push(*value);
                entries.counts.push(0);
            }
            entries.counts[place as usize] += 1;
        }
        entries
    }

    /// Both permuted columns, as long as the inputs; None where an input is not in the table.
    ///
    /// Where a row's input differs from that of the row before, the table's entry beside it is equal to it; the other
    /// rows hold what is left of the table.
    pub fn permute(&self, inputs: &[Fr]) -> Option<(Vec<Fr>, Vec<Fr>)> {
        let mut counts = vec![0u32; self.values.len()];
        for input in inputs {
            counts[*self.places.get(input)? as usize] += 1;
        }
        let left = self.values.iter().zip(&self.counts).zip(&counts);
        let mut left = left.flat_map(|((value, &present), &used)| {
            let rest = present - u32::from(used > 0);
            std::iter::repeat_n(*value, rest as usize)
        });
        let (mut first, mut second) = (Vec::with_capacity(inputs.len()), Vec::with_capacity(inputs.len()));
        for (value, &count) in self.values.iter().zip(&counts) {
            for repeat in 0..count {
                first.push(*value);
                second.push(if repeat == 0 { *value } else { left.next()? });
            }
        }
        Some((first, second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_columns_are_permutations_and_fit_each_other() {
        let field = |values: &[u64]| values.iter().map(|&value| Fr::from(value)).collect::<Vec<_>>();
        let (inputs, table) = (field(&[3, 1, 3, 3, 0, 1, 9]), field(&[0, 1, 2, 3, 3, 9, 1]));
        let (first, second) = Entries::new(&table)
            .permute(&inputs)
            .expect("all are in the table");
        for row in 0..first.len() {
            assert!(first[row] == second[row] || (row > 0 && first[row] == first[row - 1]));
        }
        for (found, expected) in [(first, inputs), (second, table.clone())] {
            let sorted = |mut values: Vec<Fr>| {
                values.sort();
                values
            };
            assert_eq!(sorted(found), sorted(expected));
        }
        assert!(
            Entries::new(&table)
                .permute(&field(&[4, 0, 0, 0, 0, 0, 0]))
                .is_none()
        );
    }
}
