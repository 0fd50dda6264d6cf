//! Affine steps of short rows, read as one walk through memory.

use std::borrow::Cow;

use crate::field::F;
use crate::view::Step;

/// An affine step of short rows as one walk through memory: a source that all elements lie inside of, which has zeros around
/// it where the step reads outside.
pub(crate) struct Grid<'a> {
    values: Cow<'a, [F]>,
    shape: &'a [usize],
    start: i64,
    /// How far one more along a target axis moves in the source.
    moves: Vec<i64>,
}

/// Rows that are longer are read as they are.
const SHORT_ROW: usize = 16;

impl<'a> Grid<'a> {
    /// None where rows are long, or zeros would take more than is read.
    pub(crate) fn new(step: &'a Step, source: &[usize], values: &'a [F]) -> Option<Self> {
        let Step::Affine {
            shape,
            offsets,
            strides,
        } = step
        else {
            return None;
        };
        let last = *shape.last()?;
        if last > SHORT_ROW {
            return None;
        }
        let mut extents = Vec::with_capacity(source.len());
        let mut begins = Vec::with_capacity(source.len());
        for ((&extent, &offset), row) in source.iter().zip(offsets).zip(strides) {
            let ends = row.iter().zip(shape).map(|(&stride, &n)| stride * (n as i64 - 1));
            let low = offset + ends.clone().filter(|&end| end < 0).sum::<i64>();
            let high = offset + ends.filter(|&end| end > 0).sum::<i64>();
            let (begin, end) = (low.min(0), high.max(extent as i64 - 1));
            begins.push(begin);
            extents.push((end - begin + 1) as usize);
        }
        let size: usize = extents.iter().product();
        let values = if extents == source {
            Cow::Borrowed(values)
        } else if size <= values.len() + shape.iter().product::<usize>() {
            Cow::Owned(surrounded(values, source, &begins, &extents))
        } else {
            return None;
        };
        let mut distance = 1;
        let (mut start, mut moves) = (0, vec![0i64; shape.len()]);
        for i in (0..source.len()).rev() {
            start += (offsets[i] - begins[i]) * distance;
            for (own, &stride) in moves.iter_mut().zip(&strides[i]) {
                *own += stride * distance;
            }
            distance *= extents[i] as i64;
        }
        Some(Self {
            values,
            shape,
            start,
            moves,
        })
    }

    /// Calls with each flat target index, in order, and its value.
    pub(crate) fn read(&self, mut visit: impl FnMut(usize, F)) {
        let inner = self.shape.len().saturating_sub(3);
        let (outer, rest) = self.shape.split_at(inner);
        let (outer_moves, rest_moves) = self.moves.split_at(inner);
        let at = |axis: usize| match (axis + rest.len()).checked_sub(3) {
            Some(place) => (rest[place], rest_moves[place]),
            None => (1, 0),
        };
        let [(n0, s0), (n1, s1), (n2, s2)] = [0, 1, 2].map(at);
        let (mut p, mut place, mut target) = (vec![0usize; inner], self.start, 0);
        for _ in 0..outer.iter().product::<usize>() {
            for i in 0..n0 as i64 {
                for j in 0..n1 as i64 {
                    let row = place + i * s0 + j * s1;
                    for k in 0..n2 as i64 {
                        visit(target, self.values[(row + k * s2) as usize]);
                        target += 1;
                    }
                }
            }
            for axis in (0..inner).rev() {
                p[axis] += 1;
                place += outer_moves[axis];
                if p[axis] < outer[axis] {
                    break;
                }
                place -= outer_moves[axis] * outer[axis] as i64;
                p[axis] = 0;
            }
        }
    }
}

/// A tensor with zeros around it: its first element is at minus `begins` of one of these extents.
fn surrounded(values: &[F], source: &[usize], begins: &[i64], extents: &[usize]) -> Vec<F> {
    let mut made = vec![F::ZERO; extents.iter().product()];
    let Some((&width, outer)) = source.split_last() else {
        return values.to_vec();
    };
    for (r, row) in values.chunks_exact(width).enumerate() {
        let (mut rest, mut place, mut distance) = (r, 0, extents[outer.len()]);
        for axis in (0..outer.len()).rev() {
            place += (rest % outer[axis] + (-begins[axis]) as usize) * distance;
            rest /= outer[axis];
            distance *= extents[axis];
        }
        place += (-begins[outer.len()]) as usize;
        made[place..place + width].copy_from_slice(row);
    }
    made
}
