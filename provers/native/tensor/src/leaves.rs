//! The fractions at the bottom of the tree, made from keys and counts whenever they are read, never all at once.

use crate::extension::Extension;
use crate::field::F;
use crate::fractions::LookedUp;
use crate::padding::rows_of;
use crate::plan::{Plan, variables};

/// One lookup or table: a block of 2^bits leaves n / (base - key - square value).
struct Block<E> {
    offset: usize,
    bits: usize,
    base: E,
    keys: Vec<F>,
    /// Beside each key its value, where the table has values.
    values: Option<Vec<F>>,
    /// Numerators that are not 1: less the counts, for a table.
    numerators: Option<Vec<F>>,
    /// The last axis, padded to a power of two.
    extent: usize,
    width_bits: usize,
    /// For each row of the padded block its row of keys.
    rows: Vec<Option<usize>>,
}

/// All leaves. Padding within a block has numerator 0 and the block's base; behind the last block are fractions 0 / 1.
pub struct Leaves<E> {
    blocks: Vec<Block<E>>,
    square: E,
    end: usize,
    pub depth: usize,
}

impl<E: Extension> Leaves<E> {
    /// `counts` are those of each table. The denominators are alpha - beta tag - key - beta^2 value.
    pub fn new(plan: &Plan, looked_up: LookedUp, counts: &[Vec<F>], alpha: E, beta: E) -> Self {
        let (offsets, depth) = plan.leaves();
        let base = |table: usize| alpha - beta * F::reduced(table as u64 + 1);
        let mut blocks = Vec::with_capacity(offsets.len());
        for ((lookup, &offset), (keys, values)) in plan.lookups.iter().zip(&offsets).zip(looked_up) {
            let shape = &plan.forms[lookup.key].shape;
            let (extent, outer) = shape
                .split_last()
                .map_or((1, &[][..]), |(&extent, outer)| (extent, outer));
            blocks.push(Block {
                offset,
                bits: variables(shape),
                base: base(lookup.table),
                keys,
                values,
                numerators: None,
                extent,
                width_bits: variables(&[extent]),
                rows: rows_of(outer),
            });
        }
        let tables = plan.tables.iter().zip(&offsets[plan.lookups.len()..]);
        for (t, ((table, &offset), counts)) in tables.zip(counts).enumerate() {
            blocks.push(Block {
                offset,
                bits: variables(&[table.size]),
                base: base(t),
                keys: (0..table.size as u64).map(F::reduced).collect(),
                values: (!table.values.is_empty()).then(|| table.values.clone()),
                numerators: Some(counts.iter().map(|&count| -count).collect()),
                extent: table.size,
                width_bits: variables(&[table.size]),
                rows: rows_of(&[]),
            });
        }
        blocks.sort_by_key(|block| block.offset);
        Self {
            end: blocks.last().map_or(0, |block| block.offset + (1 << block.bits)),
            blocks,
            square: beta * beta,
            depth,
        }
    }

    /// How many leaves of the second half are not 0 / 1.
    pub fn active(&self) -> usize {
        self.end - (1 << self.depth >> 1)
    }

    /// The leaves from a place on.
    pub fn read(&self, start: usize, numerators: &mut [F], denominators: &mut [E]) {
        let end = start + numerators.len();
        let mut at = start;
        let first = self
            .blocks
            .partition_point(|block| block.offset + (1 << block.bits) <= start);
        for block in &self.blocks[first..] {
            if block.offset >= end {
                break;
            }
            let stop = end.min(block.offset + (1 << block.bits));
            let own = at - start..stop - start;
            let place = at - block.offset;
            self.read_block(block, place, &mut numerators[own.clone()], &mut denominators[own]);
            at = stop;
        }
        numerators[at - start..].fill(F::ZERO);
        denominators[at - start..].fill(E::ONE);
    }

    fn read_block(&self, block: &Block<E>, place: usize, numerators: &mut [F], denominators: &mut [E]) {
        let width = 1usize << block.width_bits;
        let (mut row, mut column) = (place >> block.width_bits, place & (width - 1));
        let mut done = 0;
        while done < numerators.len() {
            let length = (width - column).min(numerators.len() - done);
            let n = &mut numerators[done..done + length];
            let d = &mut denominators[done..done + length];
            let real = block.extent.saturating_sub(column).min(length);
            let found = block.rows[row].filter(|_| real > 0);
            let real = if found.is_some() { real } else { 0 };
            if let Some(found) = found {
                let from = found * block.extent + column;
                match &block.numerators {
                    None => n[..real].fill(F::ONE),
                    Some(own) => n[..real].copy_from_slice(&own[from..from + real]),
                }
                for (d, &key) in d.iter_mut().zip(&block.keys[from..from + real]) {
                    *d = block.base.minus(key);
                }
                if let Some(values) = &block.values {
                    for (d, &value) in d.iter_mut().zip(&values[from..from + real]) {
                        *d = *d - self.square * value;
                    }
                }
            }
            n[real..].fill(F::ZERO);
            d[real..].fill(block.base);
            done += length;
            (row, column) = (row + 1, 0);
        }
    }
}

#[cfg(test)]
impl<E: Extension> Leaves<E> {
    /// Blocks of every kind: plain, padded within rows and between them, with values, of counts; then nothing.
    pub fn example() -> Self {
        let element = super::extension::tests::element::<E>;
        let mut blocks = Vec::new();
        let mut offset = 0;
        let shapes: [&[usize]; 6] = [&[512], &[3, 100], &[5, 3, 10], &[64], &[40], &[]];
        for (k, shape) in shapes.into_iter().enumerate() {
            let size: usize = shape.iter().product();
            let keys = (0..size as u64)
                .map(|i| element(i + 31 * k as u64).base())
                .collect();
            let (extent, outer) = shape
                .split_last()
                .map_or((1, &[][..]), |(&extent, outer)| (extent, outer));
            blocks.push(Block {
                offset,
                bits: variables(shape),
                base: element(1000 + k as u64),
                keys,
                values: (k == 2).then(|| (0..size as u64).map(|i| element(i + 7).coordinate(1)).collect()),
                numerators: (k == 4).then(|| (0..size as u64).map(|i| -element(i).base()).collect()),
                extent,
                width_bits: variables(&[extent]),
                rows: rows_of(outer),
            });
            offset += 1 << variables(shape);
        }
        Self {
            blocks,
            square: element(77),
            end: offset,
            depth: offset.next_power_of_two().trailing_zeros() as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubic::Cubic;
    use crate::quadratic::Quadratic;

    fn leaves_in_pieces<E: Extension>() {
        let leaves = Leaves::<E>::example();
        let size = 1 << leaves.depth;
        let (mut numerators, mut denominators) = (vec![F::ONE; size], vec![E::ZERO; size]);
        leaves.read(0, &mut numerators, &mut denominators);
        assert_eq!(
            numerators.iter().filter(|&&n| n == F::ONE).count(),
            512 + 300 + 150 + 64 + 1
        );
        for piece in [1, 2, 16, 256] {
            let (mut n, mut d) = (vec![F::ONE; piece], vec![E::ZERO; piece]);
            for start in (0..size).step_by(piece) {
                leaves.read(start, &mut n, &mut d);
                assert_eq!(n, numerators[start..start + piece]);
                assert_eq!(d, denominators[start..start + piece]);
            }
        }
        assert!(denominators[leaves.end..].iter().all(|&d| d == E::ONE));
        // The second block is three rows of 100, each padded to 128, and a row of padding.
        let block = &leaves.blocks[1];
        for place in 0..512 {
            let (row, column) = (place / 128, place % 128);
            let real = row < 3 && column < 100;
            let key = if real {
                block.keys[row * 100 + column]
            } else {
                F::ZERO
            };
            assert_eq!(numerators[512 + place], if real { F::ONE } else { F::ZERO });
            assert_eq!(denominators[512 + place], block.base - key.into());
        }
    }

    #[test]
    fn leaves_read_in_pieces_are_those_read_at_once() {
        leaves_in_pieces::<Quadratic>();
        leaves_in_pieces::<Cubic>();
    }
}
