//! An operand's sums along the axes that have weights.

use rayon::prelude::*;

use crate::axis::Axis;
use crate::extension::{Extension, ExtensionSum};
use crate::field::F;
use crate::functional::dot;
use crate::multilinear::bits_of;

/// Sums over the axes that have weights; the others are the kept letters, of a table padded to powers of two.
pub fn contract<E: Extension>(
    values: &[F],
    letters: &[u8],
    extents: &[usize],
    weights: &[Option<Axis<E>>],
    kept: &[u8],
    shape: &[usize],
) -> Vec<E> {
    let mut strides = vec![0usize; kept.len()];
    let mut size = 1;
    for (stride, &extent) in strides.iter_mut().zip(shape).rev() {
        *stride = size;
        size <<= bits_of(extent);
    }
    let stride = |letter: u8| {
        kept.iter()
            .position(|&l| l == letter)
            .map_or(0, |place| strides[place])
    };
    // The last axes that are kept, as one row; else the last axis, with its weights.
    let kept_axes = weights.iter().rev().take_while(|own| own.is_none()).count();
    let end = letters.len() - kept_axes.max(1).min(letters.len());
    let width: usize = extents[end..].iter().product();
    if letters.is_empty() {
        return vec![values[0].into()];
    }
    let last = weights[letters.len() - 1].as_ref();
    let offsets: Vec<usize> =
        letters[end..]
            .iter()
            .zip(&extents[end..])
            .fold(vec![0], |offsets, (&letter, &extent)| {
                let stride = stride(letter);
                let along = |&offset: &usize| (0..extent).map(move |p| offset + p * stride);
                offsets.iter().flat_map(along).collect()
            });
    // A row's factor, and its place in the table.
    let row = |mut row: usize| {
        let (mut factor, mut place) = (E::ONE, 0);
        for axis in (0..end).rev() {
            let p = row % extents[axis];
            row /= extents[axis];
            match &weights[axis] {
                Some(weights) => factor = factor * weights[p],
                None => place += p * stride(letters[axis]),
            }
        }
        (factor, place)
    };
    let rows: Vec<&[F]> = values.chunks_exact(width).collect();
    if size * 4 > values.len() {
        // Most sums have few terms.
        let mut made = vec![E::ZERO; size];
        for (r, own) in rows.iter().enumerate() {
            let (factor, place) = row(r);
            match last {
                Some(weights) => made[place] += dot(own, weights) * factor,
                None => {
                    for (&offset, &x) in offsets.iter().zip(own.iter()) {
                        made[place + offset] += factor * x;
                    }
                }
            }
        }
        return made;
    }
    let part = |first: usize, rows: &[&[F]]| {
        let mut sums = vec![E::Sum::default(); size];
        for (r, own) in rows.iter().enumerate() {
            let (factor, place) = row(first + r);
            match last {
                Some(weights) => sums[place].add(dot(own, weights), factor),
                None => {
                    for (&offset, &x) in offsets.iter().zip(own.iter()) {
                        sums[place + offset].base(factor, x);
                    }
                }
            }
        }
        sums.into_iter().map(E::Sum::value).collect::<Vec<E>>()
    };
    if values.len() < 1 << 16 {
        return part(0, &rows);
    }
    let each = rows.len().div_ceil(rayon::current_num_threads());
    rows.par_chunks(each)
        .enumerate()
        .map(|(c, rows)| part(c * each, rows))
        .reduce_with(|x, y| x.iter().zip(&y).map(|(&x, &y)| x + y).collect())
        .expect("a tensor has rows")
}
