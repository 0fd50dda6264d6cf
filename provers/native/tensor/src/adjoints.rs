//! Weights carried along views: the adjoints of gathering and of scattering values.

use crate::axis::Axis;
use crate::extension::Extension;
use crate::functional::Functional;
use crate::runs::each;
use crate::view::{Step, View};

impl View {
    /// Weights on the target, as weights on the source: <w, gather x> = <pull w, x>.
    ///
    /// Where they are only `counted`, those that are no product have no numbers.
    pub fn pull<E: Extension>(&self, weights: &Functional<E>, counted: bool) -> Functional<E> {
        let mut weights = weights.clone();
        for (step, source) in self.steps.iter().zip(self.shapes()).rev() {
            weights = match step {
                Step::Regroup(shape) => weights.regroup(shape, source, counted),
                Step::Affine {
                    shape,
                    offsets,
                    strides,
                } => pull_axes(&weights, source, shape, offsets, strides).unwrap_or_else(|| {
                    if counted {
                        return Functional::Dense(Vec::new());
                    }
                    let from = weights.dense(shape);
                    let mut made = vec![E::ZERO; source.iter().product()];
                    each(step, source, |p, q| made[q] += from[p]);
                    Functional::Dense(made)
                }),
            };
        }
        weights
    }

    /// Weights on the source, as weights on the target: <w, scatter y> = <push w, y>; `counted` as for `pull`.
    pub fn push<E: Extension>(&self, weights: &Functional<E>, counted: bool) -> Functional<E> {
        let mut weights = weights.clone();
        for (step, source) in self.steps.iter().zip(self.shapes()) {
            weights = match step {
                Step::Regroup(shape) => weights.regroup(source, shape, counted),
                Step::Affine {
                    shape,
                    offsets,
                    strides,
                } => push_axes(&weights, shape, offsets, strides).unwrap_or_else(|| {
                    if counted {
                        return Functional::Dense(Vec::new());
                    }
                    let from = weights.dense(source);
                    let mut made = vec![E::ZERO; shape.iter().product()];
                    each(step, source, |p, q| made[p] = from[q]);
                    Functional::Dense(made)
                }),
            };
        }
        weights
    }
}

/// For each source axis the target axes that move it; None where a target axis moves two source axes.
fn movers(shape: &[usize], strides: &[Vec<i64>]) -> Option<Vec<Vec<usize>>> {
    let moved = |j: usize| strides.iter().filter(|row| row[j] != 0).count();
    (0..shape.len()).all(|j| moved(j) <= 1).then(|| {
        strides
            .iter()
            .map(|row| (0..row.len()).filter(|&j| row[j] != 0).collect())
            .collect()
    })
}

fn pull_axes<E: Extension>(
    weights: &Functional<E>,
    source: &[usize],
    shape: &[usize],
    offsets: &[i64],
    strides: &[Vec<i64>],
) -> Option<Functional<E>> {
    let movers = movers(shape, strides)?;
    weights.each(|scale, axes| {
        let mut scale = scale;
        for j in (0..shape.len()).filter(|j| !movers.iter().any(|own| own.contains(j))) {
            scale = scale * axes[j].sum();
        }
        let made = movers.iter().enumerate().map(|(i, own)| {
            let moving: Vec<(i64, &Axis<E>)> = own.iter().map(|&j| (strides[i][j], &axes[j])).collect();
            pull_axis(source[i], offsets[i], &moving)
        });
        let axes = made.collect();
        Some(Functional::Axes { scale, axes })
    })
}

/// The weights of a source axis of this extent: each choice of an element of every axis that moves it reaches the
/// offset and so many strides, with the product of their weights.
fn pull_axis<E: Extension>(extent: usize, offset: i64, moving: &[(i64, &Axis<E>)]) -> Axis<E> {
    if let &[(1, axis)] = moving
        && offset == 0
        && axis.extent() == extent
    {
        return axis.clone();
    }
    let mut made = vec![E::ZERO; extent];
    let mut add = |place: i64, weight: E| {
        if let Some(sum) = usize::try_from(place).ok().and_then(|place| made.get_mut(place)) {
            *sum += weight;
        }
    };
    match moving.split_last() {
        None => add(offset, E::ONE),
        Some((&(stride, last), [])) => {
            for (p, &weight) in (0..).zip(last.iter()) {
                add(offset + stride * p, weight);
            }
        }
        Some((&(stride, last), outer)) => {
            let mut reached = vec![(offset, E::ONE)];
            for &(stride, axis) in outer {
                let step = |&(place, factor): &(i64, E)| {
                    let moves = (0..).zip(axis.iter());
                    moves.map(move |(p, &weight)| (place + stride * p, factor * weight))
                };
                reached = reached.iter().flat_map(step).collect();
            }
            for (place, factor) in reached {
                for (p, &weight) in (0..).zip(last.iter()) {
                    add(place + stride * p, factor * weight);
                }
            }
        }
    }
    made.into()
}

fn push_axes<E: Extension>(
    weights: &Functional<E>,
    shape: &[usize],
    offsets: &[i64],
    strides: &[Vec<i64>],
) -> Option<Functional<E>> {
    let movers = movers(shape, strides)?;
    if movers.iter().any(|own| own.len() > 1) {
        return None;
    }
    weights.each(|scale, axes| {
        let mut scale = scale;
        let mut made: Vec<Axis<E>> = shape.iter().map(|&extent| vec![E::ONE; extent].into()).collect();
        for (i, own) in movers.iter().enumerate() {
            let read = |place: i64| {
                let found = usize::try_from(place).ok().and_then(|place| axes[i].get(place));
                found.copied().unwrap_or(E::ZERO)
            };
            match own.first() {
                None => scale = scale * read(offsets[i]),
                Some(&j) if (offsets[i], strides[i][j], shape[j]) == (0, 1, axes[i].extent()) => {
                    made[j] = axes[i].clone();
                }
                Some(&j) => {
                    let weight = |p| read(offsets[i] + strides[i][j] * p as i64);
                    made[j] = (0..shape[j]).map(weight).collect::<Vec<E>>().into();
                }
            }
        }
        Some(Functional::Axes { scale, axes: made })
    })
}
