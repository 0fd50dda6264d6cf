//! A constraint system with its values: what the fixed columns hold, and which cells are copies of each other.

use std::collections::HashSet;
use std::sync::Arc;

use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::halo2curves::ff::{Field, PrimeField};
use halo2_axiom::poly::EvaluationDomain;
use rayon::prelude::*;

use crate::shape::{Cells, Shape};

/// Both cells of a copy: column, row, column, row; columns numbered advice, fixed, instance.
pub type Copy = [i32; 4];

/// A shape, the values of its fixed columns, and its copies.
pub struct System {
    pub shape: Arc<Shape>,
    pub fixed: Vec<Vec<Fr>>,
    pub copies: Vec<Copy>,
}

impl System {
    pub fn new(shape: Arc<Shape>, fixed: Vec<Vec<Fr>>, copies: Vec<Copy>) -> Result<Self, String> {
        if fixed.len() != shape.fixed || fixed.iter().any(|column| column.len() > shape.rows) {
            return Err("the fixed columns do not fit the rows".into());
        }
        let (advice, fixed_end) = (shape.phases.len(), shape.phases.len() + shape.fixed);
        let inside = |column: i32, row: i32| {
            let (Ok(column), Ok(row)) = (usize::try_from(column), usize::try_from(row)) else {
                return false;
            };
            let length = match column.checked_sub(fixed_end) {
                Some(place) => shape.instances.get(place).copied().unwrap_or(0),
                None => shape.rows,
            };
            column < advice + shape.fixed + shape.instances.len() && row < length
        };
        if let Some(place) = copies
            .par_iter()
            .position_first(|&[a, b, c, d]| !inside(a, b) || !inside(c, d))
        {
            return Err(format!("copy {place} is out of range"));
        }
        let system = Self { shape, fixed, copies };
        system.check_tables()?;
        Ok(system)
    }

    pub fn fixed_cell(&self, column: usize, row: usize) -> Fr {
        self.fixed[column].get(row).copied().unwrap_or(Fr::ZERO)
    }

    /// Rows behind the used ones extend every table by the tuple that zeros make.
    ///
    /// Soundness: that tuple must be in the table anyway, or it could be looked up though the table does not list it.
    fn check_tables(&self) -> Result<(), String> {
        let shape = &*self.shape;
        let tuple_at = |row: Option<usize>| {
            let cell = |column: usize, rotation: i32| {
                row.and_then(|row| row.checked_add_signed(rotation as isize))
                    .map_or(Fr::ZERO, |row| self.fixed_cell(column, row))
            };
            let (zero, none) = (|_, _| Fr::ZERO, |_| Fr::ZERO);
            let constant = |index: usize| shape.constants[index];
            let cells = Cells {
                constant: &constant,
                advice: &zero,
                fixed: &cell,
                instance: &zero,
                challenge: &none,
            };
            shape.fold(&cells, |a, b| a + b, |a, b| a * b, |a| -a)
        };
        let padding = tuple_at(None);
        let mut unlisted = (0..shape.lookups.len()).collect::<HashSet<_>>();
        for row in 0..shape.rows {
            if unlisted.is_empty() {
                break;
            }
            let values = tuple_at(Some(row));
            unlisted.retain(|&place| {
                let table = &shape.lookups[place].table;
                table.iter().any(|&node| values[node] != padding[node])
            });
        }
        match unlisted.into_iter().min() {
            Some(place) => Err(format!(
                "the table of lookup {place} does not hold the tuple that rows of zeros add to it"
            )),
            None => Ok(()),
        }
    }

    /// For each copied column, the labels delta^i omega^j of the cells that follow its cells around their cycles.
    pub fn permutations(&self, domain: &EvaluationDomain<Fr>) -> Vec<Vec<Fr>> {
        let (size, copied) = (1usize << domain.k(), &self.shape.copied);
        let mut place = vec![usize::MAX; self.shape.columns()];
        for (index, &column) in copied.iter().enumerate() {
            place[column] = index;
        }
        let next = cycles(
            copied.len() * size,
            self.copies.iter().map(|&[a, b, c, d]| {
                [
                    place[a as usize] * size + b as usize,
                    place[c as usize] * size + d as usize,
                ]
            }),
        );
        let omegas = powers(domain.get_omega(), size);
        let deltas = powers(Fr::DELTA, copied.len());
        next.par_chunks(size)
            .map(|next| {
                next.iter()
                    .map(|&cell| deltas[cell as usize / size] * omegas[cell as usize % size])
                    .collect()
            })
            .collect()
    }
}

fn powers(base: Fr, count: usize) -> Vec<Fr> {
    std::iter::successors(Some(Fr::ONE), |power| Some(power * base))
        .take(count)
        .collect()
}

/// For each of `count` cells, the next one in the cycle of its equals, itself where it has none.
fn cycles(count: usize, pairs: impl Iterator<Item = [usize; 2]>) -> Vec<u32> {
    let mut parents = (0..count as u32).collect::<Vec<_>>();
    fn root(parents: &mut [u32], cell: usize) -> u32 {
        let mut cell = cell as u32;
        while parents[cell as usize] != cell {
            parents[cell as usize] = parents[parents[cell as usize] as usize];
            cell = parents[cell as usize];
        }
        cell
    }
    for [left, right] in pairs {
        let (left, right) = (root(&mut parents, left), root(&mut parents, right));
        // The lowest cell of a class is its root.
        parents[left.max(right) as usize] = left.min(right);
    }
    let mut next = (0..count as u32).collect::<Vec<_>>();
    let mut last = next.clone();
    for cell in 0..count {
        let root = root(&mut parents, cell) as usize;
        if root != cell {
            next[last[root] as usize] = cell as u32;
            next[cell] = root as u32;
            last[root] = cell as u32;
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::cycles;

    #[test]
    fn equal_cells_are_one_cycle() {
        let next = cycles(9, [[1, 4], [7, 4], [2, 2], [8, 3], [1, 7]].into_iter());
        assert_eq!(next, [0, 4, 2, 8, 7, 5, 6, 1, 3]);
        assert_eq!(cycles(4, [[3, 0], [2, 1], [3, 2]].into_iter()), [1, 2, 3, 0]);
    }
}
