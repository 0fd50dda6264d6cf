//! The weights of all claims on one commitment, made from their factors whenever they are read.

use crate::extension::{Extension, ExtensionFactor, ExtensionSum};
use crate::functional::Functional;
use crate::padding::rows_of;
use crate::pairs::Weights;
use crate::plan::variables;
use crate::weight_tables::table_of;

/// The claims on one column, a block of the commitment.
struct Block<'a, E: Extension> {
    offset: usize,
    bits: usize,
    extent: usize,
    width_bits: usize,
    /// For each row of the padded block its row of elements.
    rows: Vec<Option<usize>>,
    /// Weights that are products: a factor per row of elements, and the last axis.
    products: Vec<(Vec<E>, &'a [E])>,
    /// Any others, row after row, each times a factor.
    others: Vec<(E::Factor, &'a [E])>,
    /// Or all of them, written out in the padded block.
    written: Option<Vec<E>>,
}

/// Weights on a column that are more products than that, or on rows that are shorter, are written out.
const MOST_PRODUCTS: usize = 24;
const SHORTEST_ROW: usize = 32;

/// A random combination of claims on the columns of a commitment.
pub struct Combination<'a, E: Extension>(Vec<Block<'a, E>>);

impl<'a, E: Extension> Combination<'a, E> {
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds the column of this shape at this offset: the weights on it, each times a factor.
    pub fn add(&mut self, offset: usize, shape: &[usize], weights: &[(E, &'a Functional<E>)]) {
        let (extent, outer) = shape
            .split_last()
            .map_or((1, &[][..]), |(&extent, outer)| (extent, outer));
        let mut block = Block {
            offset,
            bits: variables(shape),
            extent,
            width_bits: variables(&[extent]),
            rows: rows_of(outer),
            products: Vec::new(),
            others: Vec::new(),
            written: None,
        };
        let products: usize = weights.iter().map(|(_, own)| own.products().len()).sum();
        let short = extent < SHORTEST_ROW && !outer.is_empty();
        if products > MOST_PRODUCTS || (short && products > 0) {
            block.written = Some(table_of(shape, weights));
        } else {
            for &(factor, weights) in weights {
                block.weigh(weights, factor);
            }
        }
        let place = self.0.partition_point(|other| other.offset < offset);
        self.0.insert(place, block);
    }
}

impl<'a, E: Extension> Block<'a, E> {
    fn weigh(&mut self, weights: &'a Functional<E>, factor: E) {
        if let Functional::Dense(weights) = weights {
            self.others.push((E::Factor::new(factor), weights));
        }
        for (scale, axes) in weights.products() {
            let (last, outer) = axes
                .split_last()
                .map_or((E::UNIT, &[][..]), |(last, outer)| (&**last, outer));
            let rows = outer.iter().fold(vec![scale * factor], |rows, axis| {
                rows.iter()
                    .flat_map(|&row| axis.iter().map(move |&weight| row * weight))
                    .collect()
            });
            self.products.push((rows, last));
        }
    }
}

impl<E: Extension> Block<'_, E> {
    fn read(&self, place: usize, weights: &mut [E]) {
        if let Some(written) = &self.written {
            weights.copy_from_slice(&written[place..place + weights.len()]);
            return;
        }
        let width = 1usize << self.width_bits;
        let (mut row, mut column) = (place >> self.width_bits, place & (width - 1));
        let mut done = 0;
        while done < weights.len() {
            let length = (width - column).min(weights.len() - done);
            let own = &mut weights[done..done + length];
            let real = self.rows[row].map_or(0, |found| {
                let real = self.extent.saturating_sub(column).min(length);
                if real > 0 {
                    self.read_row(found, column, &mut own[..real]);
                }
                real
            });
            own[real..].fill(E::ZERO);
            done += length;
            (row, column) = (row + 1, 0);
        }
    }

    fn read_row(&self, row: usize, column: usize, weights: &mut [E]) {
        let range = column..column + weights.len();
        if let ([(rows, last)], []) = (&*self.products, &*self.others) {
            // Rows of a dataset that a batch does not read have no weight.
            if rows[row] == E::ZERO {
                weights.fill(E::ZERO);
                return;
            }
            let factor = E::Factor::new(rows[row]);
            for (to, &x) in weights.iter_mut().zip(&last[range]) {
                let mut sum = E::Sum::default();
                sum.factor(&factor, x);
                *to = sum.value();
            }
            return;
        }
        let products: Vec<(E::Factor, &[E])> = self
            .products
            .iter()
            .filter(|(rows, _)| rows[row] != E::ZERO)
            .map(|(rows, last)| (E::Factor::new(rows[row]), &last[range.clone()]))
            .chain(self.others.iter().map(|(factor, weights)| {
                let start = row * self.extent;
                (*factor, &weights[start + range.start..start + range.end])
            }))
            .collect();
        for (i, to) in weights.iter_mut().enumerate() {
            let mut sum = E::Sum::default();
            for (factor, of) in &products {
                sum.factor(factor, of[i]);
            }
            *to = sum.value();
        }
    }
}

impl<E: Extension> Weights<E> for Combination<'_, E> {
    fn read(&self, start: usize, weights: &mut [E]) {
        let end = start + weights.len();
        let mut at = start;
        let first = self
            .0
            .partition_point(|block| block.offset + (1 << block.bits) <= start);
        for block in &self.0[first..] {
            if block.offset >= end {
                break;
            }
            let from = at.max(block.offset);
            let stop = end.min(block.offset + (1 << block.bits));
            weights[at - start..from - start].fill(E::ZERO);
            block.read(from - block.offset, &mut weights[from - start..stop - start]);
            at = stop;
        }
        weights[at - start..].fill(E::ZERO);
    }

    fn end(&self) -> usize {
        self.0.last().map_or(0, |block| block.offset + (1 << block.bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubic::Cubic;
    use crate::extension::tests::element;
    use crate::quadratic::Quadratic;

    fn axes<E: Extension>(shape: &[usize], seed: u64) -> Functional<E> {
        Functional::Axes {
            scale: element(seed),
            axes: shape
                .iter()
                .enumerate()
                .map(|(k, &extent)| {
                    let weight = |i| element(seed + 17 * k as u64 + i);
                    (0..extent as u64).map(weight).collect::<Vec<E>>().into()
                })
                .collect(),
        }
    }

    fn weights_in_pieces<E: Extension>() {
        let columns: [(usize, &[usize]); 5] = [
            (0, &[3, 5, 6]),
            (256, &[40]),
            (512, &[]),
            (513, &[1, 1]),
            (640, &[4, 16]),
        ];
        let mut claims = Vec::new();
        for (c, &(offset, shape)) in columns.iter().enumerate() {
            let c = c as u64;
            let size = shape.iter().product::<usize>() as u64;
            claims.push((offset, shape, axes::<E>(shape, c), element(c + 50)));
            let dense = Functional::Dense((0..size).map(|i| element(i + 1000 * c)).collect());
            claims.push((offset, shape, dense, element(c + 60)));
            claims.push((offset, shape, axes(shape, c + 70), element(c + 80)));
        }
        // One claim on a column alone is read by a shorter way.
        for kept in [1, 3] {
            let mut combination = Combination::new();
            let mut table = vec![E::ZERO; 1024];
            for claims in claims.chunks_exact(3).rev() {
                let (offset, shape, ..) = claims[0];
                let own = claims[..kept].iter();
                let parts: Vec<_> = own.map(|(_, _, weights, factor)| (*factor, weights)).collect();
                combination.add(offset, shape, &parts);
                for (factor, weights) in parts {
                    weights.add_to(shape, factor, &mut table[offset..]);
                }
            }
            for piece in [1, 4, 32, 256, 1024] {
                let mut read = vec![element(1); 1024];
                for (c, own) in read.chunks_exact_mut(piece).enumerate() {
                    combination.read(c * piece, own);
                }
                assert_eq!(read, table);
            }
        }
    }

    #[test]
    fn weights_read_in_pieces_are_those_added_to_a_table() {
        weights_in_pieces::<Quadratic>();
        weights_in_pieces::<Cubic>();
    }
}
