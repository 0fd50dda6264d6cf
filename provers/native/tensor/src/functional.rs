//! Weights on tensors: linear functionals, separable where they can be, and their multilinear extensions.

use crate::axis::{Axis, product_sum};
use crate::extension::{Extension, ExtensionSum};
use crate::field::F;
use crate::multilinear::bits_of;
use crate::weight_tables::{add_product, places_of, rows_end, support};

/// Weights on the elements of a tensor: a product of one vector per axis, a sum of a few such products, or one weight per
/// element in row-major order.
#[derive(Clone)]
pub enum Functional<E> {
    Axes { scale: E, axes: Vec<Axis<E>> },
    Sum(Vec<(E, Vec<Axis<E>>)>),
    Dense(Vec<E>),
}

/// Weights that would be a sum of more products are kept one by one.
pub(crate) const MOST_PRODUCTS: usize = 32;

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
}

/// The weighted sum of values.
pub fn dot<E: Extension>(values: &[F], weights: &[E]) -> E {
    let mut sum = E::Sum::default();
    for (&x, &w) in values.iter().zip(weights) {
        sum.base(w, x);
    }
    sum.value()
}

/// The distances of neighbours along each axis.
pub(crate) fn strides_of(shape: impl DoubleEndedIterator<Item = usize>) -> Vec<usize> {
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

pub(crate) fn outer_product<E: Extension>(x: &[E], y: &[E]) -> Vec<E> {
    x.iter().flat_map(|&x| y.iter().map(move |&y| x * y)).collect()
}
