//! Weights on tensors: linear functionals, separable where they can be, and their multilinear extensions.

use rayon::prelude::*;

use crate::axis::{Axis, product_sum};
use crate::extension::{Extension, ExtensionFactor, ExtensionSum};
use crate::field::F;
use crate::multilinear::bits_of;

/// Weights on the elements of a tensor: a product of one vector per axis, a sum of a few such products, or one weight per
/// element in row-major order.
#[derive(Clone)]
pub enum Functional<E> {
    Axes { scale: E, axes: Vec<Axis<E>> },
    Sum(Vec<(E, Vec<Axis<E>>)>),
    Dense(Vec<E>),
}

/// Weights that would be a sum of more products are kept one by one.
const MOST_PRODUCTS: usize = 32;

/// The last axes of a tensor, so many together that a row of them is worth a loop: the number of axes before them.
fn rows_end(shape: &[usize]) -> usize {
    let (mut axis, mut size) = (shape.len() - 1, shape[shape.len() - 1]);
    while axis > 0 && size < 64 && shape[axis].is_power_of_two() {
        axis -= 1;
        size *= shape[axis];
    }
    axis
}

/// The products of weights other than zero, with the places that strides give them.
fn places_of<E: Extension>(scale: E, axes: &[Axis<E>], strides: &[usize]) -> Vec<(usize, E)> {
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

/// The distances of neighbours along each axis.
fn strides_of(shape: impl DoubleEndedIterator<Item = usize>) -> Vec<usize> {
    let mut made: Vec<usize> = shape
        .rev()
        .scan(1, |size, extent| {
            let stride = *size;
            *size *= extent;
            Some(stride)
        })
        .collect();
    made.reverse();
    made
}

/// Where weights other than zero begin and end.
fn support<E: Extension>(weights: &[E]) -> std::ops::Range<usize> {
    let end = weights
        .iter()
        .rposition(|&w| w != E::ZERO)
        .map_or(0, |last| last + 1);
    weights[..end].iter().position(|&w| w != E::ZERO).unwrap_or(end)..end
}

fn outer_product<E: Extension>(x: &[E], y: &[E]) -> Vec<E> {
    x.iter().flat_map(|&x| y.iter().map(move |&y| x * y)).collect()
}

impl<E: Extension> Functional<E> {
    /// eq(point, .) on the elements of a tensor whose axes are padded to powers of two; the last axis is lowest.
    pub fn point(shape: &[usize], point: &[E]) -> Self {
        let mut rest = point;
        let mut axes = Vec::with_capacity(shape.len());
        for &extent in shape.iter().rev() {
            let (own, others) = rest.split_at(bits_of(extent));
            rest = others;
            axes.push(Axis::point(own, extent));
        }
        axes.reverse();
        Functional::Axes { scale: E::ONE, axes }
    }

    /// Weights of each element of a tensor of this shape.
    pub fn dense(&self, shape: &[usize]) -> Vec<E> {
        if let Functional::Dense(weights) = self {
            return weights.clone();
        }
        let mut made = vec![E::ZERO; shape.iter().product()];
        for (scale, axes) in self.products() {
            add_product(scale, axes, shape, &strides_of(shape.iter().copied()), &mut made);
        }
        made
    }

    /// The products that these weights are the sum of, unless they are dense.
    pub fn products(&self) -> Vec<(E, &[Axis<E>])> {
        match self {
            Functional::Axes { scale, axes } => vec![(*scale, axes)],
            Functional::Sum(parts) => parts.iter().map(|(scale, axes)| (*scale, &axes[..])).collect(),
            Functional::Dense(_) => Vec::new(),
        }
    }

    /// What each product of these weights is made into, if each is made into some.
    pub fn each(&self, make: impl Fn(E, &[Axis<E>]) -> Option<Functional<E>>) -> Option<Functional<E>> {
        match self {
            Functional::Axes { scale, axes } => make(*scale, axes),
            Functional::Sum(parts) => {
                let mut made = Vec::new();
                for (scale, axes) in parts {
                    match make(*scale, axes)? {
                        Functional::Axes { scale, axes } => made.push((scale, axes)),
                        Functional::Sum(parts) => made.extend(parts),
                        Functional::Dense(_) => return None,
                    }
                    if made.len() > MOST_PRODUCTS {
                        return None;
                    }
                }
                Some(Functional::Sum(made))
            }
            Functional::Dense(_) => None,
        }
    }

    /// The same weights in row-major order on another shape; where they are only `counted`, perhaps without numbers.
    pub fn regroup(self, from: &[usize], shape: &[usize], counted: bool) -> Self {
        let made = self.each(|scale, axes| {
            if shape.is_empty() {
                let scale = axes.iter().fold(scale, |product, axis| product * axis[0]);
                return Some(Functional::Axes {
                    scale,
                    axes: Vec::new(),
                });
            }
            if let Some(axes) = merge(axes, shape) {
                return Some(Functional::Axes { scale, axes });
            }
            split(scale, axes, shape)
        });
        made.filter(|made| made.is_short(shape))
            .unwrap_or_else(|| Functional::Dense(if counted { Vec::new() } else { self.dense(from) }))
    }

    /// Whether a sum of products holds no more numbers than there are elements: else one weight for each is less.
    fn is_short(&self, shape: &[usize]) -> bool {
        let Functional::Sum(parts) = self else {
            return true;
        };
        let held = |axes: &[Axis<E>]| axes.iter().map(Axis::extent).sum::<usize>();
        parts.iter().map(|(_, axes)| held(axes)).sum::<usize>() <= shape.iter().product()
    }

    /// Weights on rows of a tensor, as weights on the tensor, of `extent` rows: each goes to the row that is read.
    ///
    /// The first `places` axes say which of the rows it is.
    pub fn scatter_rows(&self, rows: &[usize], places: usize, extent: usize) -> Self {
        match self {
            Functional::Axes { .. } | Functional::Sum(_) => {
                let made = self.each(|scale, axes| {
                    let (first, rest) = axes.split_at(places);
                    let first = first.iter().fold(vec![E::ONE], |x, y| outer_product(&x, y));
                    let mut made = vec![E::ZERO; extent];
                    for (&row, &weight) in rows.iter().zip(first.iter()) {
                        made[row] += weight;
                    }
                    let mut axes = vec![Axis::from(made)];
                    axes.extend_from_slice(rest);
                    Some(Functional::Axes { scale, axes })
                });
                made.expect("products are made of products")
            }
            Functional::Dense(weights) if weights.is_empty() => Functional::Dense(Vec::new()),
            Functional::Dense(weights) => {
                let width = weights.len() / rows.len();
                let mut made = vec![E::ZERO; extent * width];
                for (&row, weights) in rows.iter().zip(weights.chunks_exact(width)) {
                    for (sum, &weight) in made[row * width..].iter_mut().zip(weights) {
                        *sum += weight;
                    }
                }
                Functional::Dense(made)
            }
        }
    }

    /// The sum of all weights.
    pub fn sum(&self) -> E {
        match self {
            Functional::Dense(weights) => weights.iter().fold(E::ZERO, |sum, &w| sum + w),
            _ => self.products().into_iter().fold(E::ZERO, |sum, (scale, axes)| {
                sum + axes.iter().fold(scale, |product, axis| product * axis.sum())
            }),
        }
    }

    /// The weighted sum of the elements of a tensor of this shape: rows without weights are not read.
    pub fn apply(&self, shape: &[usize], values: &[F]) -> E {
        if let Functional::Dense(weights) = self {
            return dot(values, weights);
        }
        if shape.is_empty() {
            return self
                .products()
                .into_iter()
                .fold(E::ZERO, |sum, (scale, _)| sum + scale * values[0]);
        }
        let end = rows_end(shape);
        let strides = strides_of(shape.iter().copied());
        let mut whole = E::Sum::default();
        for (scale, axes) in self.products() {
            let (outer, inner) = axes.split_at(end);
            let row = match inner {
                [one] => one.to_vec(),
                more => more.iter().fold(vec![E::ONE], |x, y| outer_product(&x, y)),
            };
            let own = support(&row);
            for (place, weight) in places_of(scale, outer, &strides) {
                whole.add(
                    dot(&values[place + own.start..place + own.end], &row[own.clone()]),
                    weight,
                );
            }
        }
        whole.value()
    }

    /// The multilinear extension of the weights, axes padded to powers of two, at a point.
    pub fn extension(&self, shape: &[usize], point: &[E]) -> E {
        self.against(&Functional::point(shape, point))
    }

    /// The sum of the products of weights with those of a point.
    pub fn against(&self, point: &Functional<E>) -> E {
        let Functional::Axes { axes: at, .. } = point else {
            unreachable!("a point's weights are a product")
        };
        match self {
            Functional::Dense(weights) => {
                let mut sums = weights.clone();
                for axis in at.iter().rev() {
                    sums = sums
                        .chunks_exact(axis.len())
                        .map(|row| product_sum(row, axis))
                        .collect();
                }
                sums[0]
            }
            _ => self.products().into_iter().fold(E::ZERO, |sum, (scale, axes)| {
                let own = axes.iter().zip(at);
                sum + own.fold(scale, |product, (x, y)| product * x.times(y))
            }),
        }
    }

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
fn add_product<E: Extension>(
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

pub fn dot<E: Extension>(values: &[F], weights: &[E]) -> E {
    let mut sum = E::Sum::default();
    for (&x, &w) in values.iter().zip(weights) {
        sum.base(w, x);
    }
    sum.value()
}

/// For each element in row-major order its place where axes are padded to powers of two; and the padded size.
pub fn padded_places(shape: &[usize]) -> (Vec<usize>, usize) {
    let mut places = vec![0];
    let mut size = 1;
    for &extent in shape {
        let padded = extent.next_power_of_two();
        places = places
            .iter()
            .flat_map(|&place| (0..extent).map(move |p| place * padded + p))
            .collect();
        size *= padded;
    }
    (places, size)
}

/// For each row of axes padded to powers of two, which row of elements it is, if any.
pub fn rows_of(outer: &[usize]) -> Vec<Option<usize>> {
    let (places, size) = padded_places(outer);
    let mut rows = vec![None; size];
    for (row, place) in places.into_iter().enumerate() {
        rows[place] = Some(row);
    }
    rows
}

/// Axes merged, or axes of extent 1 added and removed; None where an axis would have to be split.
fn merge<E: Extension>(axes: &[Axis<E>], shape: &[usize]) -> Option<Vec<Axis<E>>> {
    let mut made: Vec<Axis<E>> = Vec::with_capacity(shape.len());
    let mut rest = axes.iter().peekable();
    for (place, &extent) in shape.iter().enumerate() {
        let mut own: Option<Axis<E>> = None;
        let reached = |own: &Option<Axis<E>>| own.as_ref().map_or(1, Axis::extent);
        let join = |own: Option<Axis<E>>, next: &Axis<E>| match own {
            None => next.clone(),
            Some(own) => outer_product(&own, next).into(),
        };
        while reached(&own) < extent {
            own = Some(join(own, rest.next()?));
        }
        if reached(&own) != extent {
            return None;
        }
        if place + 1 == shape.len() {
            for unit in rest.by_ref() {
                own = Some(join(own, unit));
            }
        }
        made.push(own.unwrap_or_else(|| vec![E::ONE].into()));
    }
    rest.next().is_none().then_some(made)
}

/// Axes of another shape where some would have to be split: a sum of products. A run of axes that is as long as a run of
/// new ones becomes one product for each choice of places along all of these but the longest.
fn split<E: Extension>(scale: E, axes: &[Axis<E>], shape: &[usize]) -> Option<Functional<E>> {
    let mut made: Vec<(E, Vec<Axis<E>>)> = vec![(scale, Vec::new())];
    let (mut old, mut new) = (axes.iter().peekable(), shape.iter().peekable());
    while old.peek().is_some() && new.peek().is_some() {
        let (mut vector, first) = (old.next()?.to_vec(), *new.next()?);
        let (mut extents, mut size) = (vec![first], first);
        while vector.len() != size {
            if vector.len() < size {
                vector = outer_product(&vector, old.next()?);
            } else {
                extents.push(*new.next()?);
                size *= extents[extents.len() - 1];
            }
        }
        let parts = pieces(&vector, &extents);
        if made.len() * parts.len() > MOST_PRODUCTS {
            return None;
        }
        made = made
            .iter()
            .flat_map(|(scale, axes)| {
                parts.iter().map(move |own| {
                    let axes = axes.iter().chain(own).cloned().collect();
                    (*scale, axes)
                })
            })
            .collect();
    }
    // What is left has extent 1: a factor, or axes of one weight.
    let rest: E = old.fold(E::ONE, |product, axis| product * axis[0]);
    let more = shape.len() - made[0].1.len();
    for (scale, axes) in &mut made {
        *scale = *scale * rest;
        axes.extend((0..more).map(|_| Axis::from(vec![E::ONE])));
    }
    Some(Functional::Sum(made))
}

/// A vector, seen as a tensor, as a sum of products: along its longest axis, at each choice of places along the others.
fn pieces<E: Extension>(vector: &[E], extents: &[usize]) -> Vec<Vec<Axis<E>>> {
    let strides = strides_of(extents.iter().copied());
    let longest = (0..extents.len())
        .rev()
        .max_by_key(|&axis| extents[axis])
        .unwrap_or(0);
    let others = extents
        .iter()
        .enumerate()
        .map(|(axis, &n)| if axis == longest { 1 } else { n });
    let choices = strides_of(others.clone());
    (0..others.product::<usize>())
        .map(|choice| {
            let place = |axis: usize| choice / choices[axis] % extents[axis];
            let fixed = (0..extents.len()).filter(|&axis| axis != longest);
            let start: usize = fixed.map(|axis| place(axis) * strides[axis]).sum();
            let axis = |axis: usize| -> Axis<E> {
                let weight = |p: usize| match axis == longest {
                    true => vector[start + p * strides[axis]],
                    false if p == place(axis) => E::ONE,
                    false => E::ZERO,
                };
                (0..extents[axis]).map(weight).collect::<Vec<E>>().into()
            };
            (0..extents.len()).map(axis).collect()
        })
        .collect()
}
