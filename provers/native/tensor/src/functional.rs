//! Weights on tensors: linear functionals, separable where they can be, and their multilinear extensions.

use crate::axis::{Axis, product_sum};
use crate::extension::{Extension, ExtensionSum};
use crate::field::F;
use crate::multilinear::bits_of;

/// Weights on the elements of a tensor: a product of one vector per axis, or one weight per element in row-major order.
#[derive(Clone)]
pub enum Functional<E> {
    Axes { scale: E, axes: Vec<Axis<E>> },
    Dense(Vec<E>),
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

    pub fn dense(&self) -> Vec<E> {
        match self {
            Functional::Axes { scale, axes } => axes.iter().fold(vec![*scale], |x, y| outer_product(&x, y)),
            Functional::Dense(weights) => weights.clone(),
        }
    }

    /// The same weights in row-major order on another shape; where they are only `counted`, perhaps without numbers.
    pub fn regroup(self, shape: &[usize], counted: bool) -> Self {
        if let Functional::Axes { scale, axes } = &self
            && let Some(made) = merge(axes, shape)
        {
            return Functional::Axes {
                scale: *scale,
                axes: made,
            };
        }
        Functional::Dense(if counted { Vec::new() } else { self.dense() })
    }

    /// Weights on rows of a tensor, as weights on the tensor, of `extent` rows: each goes to the row that is read.
    ///
    /// The first `places` axes say which of the rows it is.
    pub fn scatter_rows(&self, rows: &[usize], places: usize, extent: usize) -> Self {
        match self {
            Functional::Axes { scale, axes } => {
                let (first, rest) = axes.split_at(places);
                let first = first.iter().fold(vec![E::ONE], |x, y| outer_product(&x, y));
                let mut made = vec![E::ZERO; extent];
                for (&row, &weight) in rows.iter().zip(first.iter()) {
                    made[row] += weight;
                }
                let mut axes = vec![Axis::from(made)];
                axes.extend_from_slice(rest);
                Functional::Axes { scale: *scale, axes }
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

    /// The weighted sum of a tensor's elements.
    pub fn apply(&self, values: &[F]) -> E {
        match self {
            Functional::Dense(weights) => dot(values, weights),
            Functional::Axes { scale, axes } => {
                let Some((last, rest)) = axes.split_last() else {
                    return *scale * values[0];
                };
                let mut sums: Vec<E> = values
                    .chunks_exact(last.len())
                    .map(|row| dot(row, last))
                    .collect();
                for axis in rest.iter().rev() {
                    sums = sums
                        .chunks_exact(axis.len())
                        .map(|row| product_sum(row, axis))
                        .collect();
                }
                *scale * sums[0]
            }
        }
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
            Functional::Axes { scale, axes } => axes
                .iter()
                .zip(at)
                .fold(*scale, |product, (x, y)| product * x.times(y)),
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
        }
    }

    /// Adds the weights, times a factor, to a table of a tensor whose axes are padded to powers of two.
    pub fn add_to(&self, shape: &[usize], factor: E, table: &mut [E]) {
        let Some((&extent, outer)) = shape.split_last() else {
            table[0] += self.dense()[0] * factor;
            return;
        };
        let (rows, row) = match self {
            Functional::Axes { scale, axes } => {
                let (last, rest) = axes.split_last().expect("an axis per extent");
                (
                    rest.iter()
                        .fold(vec![*scale * factor], |x, y| outer_product(&x, y)),
                    Some(last),
                )
            }
            Functional::Dense(_) => (Vec::new(), None),
        };
        let (places, _) = padded_places(outer);
        let width = extent.next_power_of_two();
        let fill = |place: usize, own: &mut [E]| match (self, row) {
            (Functional::Dense(weights), _) => {
                for (entry, &weight) in own.iter_mut().zip(&weights[place * extent..]) {
                    *entry += weight * factor;
                }
            }
            (_, Some(row)) => {
                for (entry, &weight) in own.iter_mut().zip(row.iter()) {
                    *entry += weight * rows[place];
                }
            }
            _ => unreachable!(),
        };
        for (place, &at) in places.iter().enumerate() {
            fill(place, &mut table[at * width..at * width + extent]);
        }
    }
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
    // A shape of no axes: everything left has extent 1, and is a factor.
    rest.next().is_none().then_some(made)
}
