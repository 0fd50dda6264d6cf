//! Weights on a tensor, seen as weights on the same elements in another shape.

use crate::axis::Axis;
use crate::extension::Extension;
use crate::functional::{Functional, MOST_PRODUCTS, outer_product, strides_of};

impl<E: Extension> Functional<E> {
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
