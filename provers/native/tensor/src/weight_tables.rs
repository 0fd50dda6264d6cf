//! Weights written out, one per element: tables of sums of weights, padded to powers of two.

use rayon::prelude::*;

use crate::axis::Axis;
use crate::extension::{Extension, ExtensionFactor, ExtensionSum};
use crate::functional::{Functional, outer_product, strides_of};
use crate::padding::padded_places;

impl<E: Extension> Functional<E> {
    /// Adds the weights, times a factor, to a table of a tensor whose axes are padded to powers of two.
    pub fn add_to(&self, shape: &[usize], factor: E, table: &mut [E]) {
        let padded = shape.iter().map(|extent| extent.next_power_of_two());
        if let Functional::Dense(weights) = self {
            let extent = shape.last().copied().unwrap_or(1);
            let (places, _) = padded_places(&shape[..shape.len().saturating_sub(1)]);
            let width = extent.next_power_of_two();
            let factor = E::Factor::new(factor);
            for (&at, weights) in places.iter().zip(weights.chunks_exact(extent)) {
                add_times(&mut table[at * width..], &factor, weights);
            }
            return;
        }
        let strides = strides_of(padded);
        for (scale, axes) in self.products() {
            add_product(scale * factor, axes, shape, &strides, table);
        }
    }
}

/// Adds a product's weights to a table, with elements at distances along axes: the last axes without gaps.
pub(crate) fn add_product<E: Extension>(
    scale: E,
    axes: &[Axis<E>],
    shape: &[usize],
    strides: &[usize],
    table: &mut [E],
) {
    if shape.is_empty() {
        table[0] += scale;
        return;
    }
    let (outer, inner) = axes.split_at(rows_end(shape));
    let row = match inner {
        [one] => one.to_vec(),
        more => more.iter().fold(vec![E::ONE], |x, y| outer_product(&x, y)),
    };
    let own = support(&row);
    for (place, weight) in places_of(scale, outer, strides) {
        let factor = E::Factor::new(weight);
        add_times(&mut table[place + own.start..], &factor, &row[own.clone()]);
    }
}

fn add_times<E: Extension>(table: &mut [E], factor: &E::Factor, weights: &[E]) {
    for (entry, &weight) in table.iter_mut().zip(weights) {
        let mut sum = E::Sum::default();
        sum.plus(*entry);
        sum.factor(factor, weight);
        *entry = sum.value();
    }
}

/// The padded table of a sum of weights, each times a factor.
pub fn table_of<E: Extension>(shape: &[usize], parts: &[(E, &Functional<E>)]) -> Vec<E> {
    let size: usize = shape.iter().map(|extent| extent.next_power_of_two()).product();
    let threads = rayon::current_num_threads().max(1);
    let each = parts.len().div_ceil(threads).max(4);
    let made = |parts: &[(E, &Functional<E>)]| {
        let mut table = vec![E::ZERO; size];
        for (factor, weights) in parts {
            weights.add_to(shape, *factor, &mut table);
        }
        table
    };
    if parts.len() <= each {
        return made(parts);
    }
    let add = |mut x: Vec<E>, y: Vec<E>| {
        x.iter_mut().zip(&y).for_each(|(x, &y)| *x += y);
        x
    };
    parts
        .par_chunks(each)
        .map(made)
        .reduce_with(add)
        .unwrap_or_default()
}

/// The last axes of a tensor, so many together that a row of them is worth a loop: the number of axes before them.
pub(crate) fn rows_end(shape: &[usize]) -> usize {
    let (mut axis, mut size) = (shape.len() - 1, shape[shape.len() - 1]);
    while axis > 0 && size < 64 && shape[axis].is_power_of_two() {
        axis -= 1;
        size *= shape[axis];
    }
    axis
}

/// The products of weights other than zero, with the places that strides give them.
pub(crate) fn places_of<E: Extension>(scale: E, axes: &[Axis<E>], strides: &[usize]) -> Vec<(usize, E)> {
    axes.iter()
        .zip(strides)
        .fold(vec![(0, scale)], |rows, (axis, &stride)| {
            let own: Vec<(usize, E)> = axis
                .iter()
                .copied()
                .enumerate()
                .filter(|own| own.1 != E::ZERO)
                .collect();
            rows.iter()
                .flat_map(|&(place, weight)| own.iter().map(move |&(p, w)| (place + p * stride, weight * w)))
                .collect()
        })
}

/// Where weights other than zero begin and end.
pub(crate) fn support<E: Extension>(weights: &[E]) -> std::ops::Range<usize> {
    let end = weights
        .iter()
        .rposition(|&w| w != E::ZERO)
        .map_or(0, |last| last + 1);
    weights[..end].iter().position(|&w| w != E::ZERO).unwrap_or(end)..end
}
