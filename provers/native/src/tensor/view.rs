//! Linear functionals on tensors, and how the static maps between tensors carry them along.

use super::field::{E, F};
use super::multilinear::equality;

/// One step of a view, from a source to a target shape.
pub enum Step {
    Regroup(Vec<usize>),
    Affine {
        shape: Vec<usize>,
        offsets: Vec<i64>,
        strides: Vec<Vec<i64>>,
    },
}

/// A map from target indices to source indices, or to nothing: y[p] = x[view(p)].
pub struct View {
    pub source: Vec<usize>,
    pub steps: Vec<Step>,
}

/// Weights on the elements of a tensor: a product of one vector per axis, or one weight per element in row-major order.
#[derive(Clone)]
pub enum Functional {
    Axes { scale: E, axes: Vec<Vec<E>> },
    Dense(Vec<E>),
}

impl Step {
    fn shape(&self) -> &[usize] {
        match self {
            Step::Regroup(shape) | Step::Affine { shape, .. } => shape,
        }
    }
}

impl View {
    pub fn target(&self) -> &[usize] {
        self.steps.last().map_or(&self.source, |step| step.shape())
    }

    fn shapes(&self) -> Vec<&[usize]> {
        let mut shapes = vec![self.source.as_slice()];
        shapes.extend(self.steps.iter().map(Step::shape));
        shapes
    }

    /// The values of the target.
    pub fn gather(&self, values: &[F]) -> Vec<F> {
        let mut values = values.to_vec();
        for (step, source) in self.steps.iter().zip(self.shapes()) {
            if let Step::Affine { shape, .. } = step {
                let mut made = vec![F::ZERO; shape.iter().product()];
                each(step, source, |p, q| made[p] = values[q]);
                values = made;
            }
        }
        values
    }

    /// The adjoint of `gather`.
    pub fn scatter(&self, values: &[F]) -> Vec<F> {
        let mut values = values.to_vec();
        for (step, source) in self.steps.iter().zip(self.shapes()).rev() {
            if let Step::Affine { .. } = step {
                let mut made = vec![F::ZERO; source.iter().product()];
                each(step, source, |p, q| made[q] = made[q] + values[p]);
                values = made;
            }
        }
        values
    }

    /// Weights on the target, as weights on the source: <w, gather x> = <pull w, x>.
    pub fn pull(&self, weights: &Functional) -> Functional {
        let mut weights = weights.clone();
        for (step, source) in self.steps.iter().zip(self.shapes()).rev() {
            weights = match step {
                Step::Regroup(_) => weights.regroup(source),
                Step::Affine {
                    shape,
                    offsets,
                    strides,
                } => pull_axes(&weights, source, shape, offsets, strides).unwrap_or_else(|| {
                    let from = weights.dense();
                    let mut made = vec![E::ZERO; source.iter().product()];
                    each(step, source, |p, q| made[q] += from[p]);
                    Functional::Dense(made)
                }),
            };
        }
        weights
    }

    /// Weights on the source, as weights on the target: <w, scatter y> = <push w, y>.
    pub fn push(&self, weights: &Functional) -> Functional {
        let mut weights = weights.clone();
        for (step, source) in self.steps.iter().zip(self.shapes()) {
            weights = match step {
                Step::Regroup(shape) => weights.regroup(shape),
                Step::Affine {
                    shape,
                    offsets,
                    strides,
                } => push_axes(&weights, shape, offsets, strides).unwrap_or_else(|| {
                    let from = weights.dense();
                    let mut made = vec![E::ZERO; shape.iter().product()];
                    each(step, source, |p, q| made[p] = from[q]);
                    Functional::Dense(made)
                }),
            };
        }
        weights
    }
}

/// Calls with each flat target index and the flat source index that it reads, where there is one.
fn each(step: &Step, source: &[usize], mut visit: impl FnMut(usize, usize)) {
    let Step::Affine {
        shape,
        offsets,
        strides,
    } = step
    else {
        return;
    };
    let mut p = vec![0usize; shape.len()];
    for flat in 0..shape.iter().product() {
        let mut found = Some(0usize);
        for ((&extent, &offset), row) in source.iter().zip(offsets).zip(strides) {
            let x = row
                .iter()
                .zip(&p)
                .fold(offset, |x, (&stride, &p)| x + stride * p as i64);
            found = match found {
                Some(q) if x >= 0 && x < extent as i64 => Some(q * extent + x as usize),
                _ => None,
            };
        }
        if let Some(q) = found {
            visit(flat, q);
        }
        for axis in (0..shape.len()).rev() {
            p[axis] += 1;
            if p[axis] < shape[axis] {
                break;
            }
            p[axis] = 0;
        }
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

fn pull_axes(
    weights: &Functional,
    source: &[usize],
    shape: &[usize],
    offsets: &[i64],
    strides: &[Vec<i64>],
) -> Option<Functional> {
    let Functional::Axes { scale, axes } = weights else {
        return None;
    };
    let movers = movers(shape, strides)?;
    let mut scale = *scale;
    for j in (0..shape.len()).filter(|j| !movers.iter().any(|own| own.contains(j))) {
        scale = scale * axes[j].iter().fold(E::ZERO, |sum, &w| sum + w);
    }
    let mut made = Vec::with_capacity(source.len());
    for (i, own) in movers.iter().enumerate() {
        let mut reached = vec![(offsets[i], E::ONE)];
        for &j in own {
            reached = reached
                .iter()
                .flat_map(|&(x, w)| {
                    axes[j]
                        .iter()
                        .enumerate()
                        .map(move |(p, &v)| (x + strides[i][j] * p as i64, w * v))
                })
                .collect();
        }
        let mut vector = vec![E::ZERO; source[i]];
        for (x, w) in reached {
            if x >= 0 && x < source[i] as i64 {
                vector[x as usize] += w;
            }
        }
        made.push(vector);
    }
    Some(Functional::Axes { scale, axes: made })
}

fn push_axes(
    weights: &Functional,
    shape: &[usize],
    offsets: &[i64],
    strides: &[Vec<i64>],
) -> Option<Functional> {
    let Functional::Axes { scale, axes } = weights else {
        return None;
    };
    let movers = movers(shape, strides)?;
    if movers.iter().any(|own| own.len() > 1) {
        return None;
    }
    let mut scale = *scale;
    let mut made: Vec<Vec<E>> = shape.iter().map(|&extent| vec![E::ONE; extent]).collect();
    for (i, own) in movers.iter().enumerate() {
        let read = |x: i64| {
            usize::try_from(x)
                .ok()
                .and_then(|x| axes[i].get(x))
                .copied()
                .unwrap_or(E::ZERO)
        };
        match own.first() {
            None => scale = scale * read(offsets[i]),
            Some(&j) => {
                made[j] = (0..shape[j])
                    .map(|p| read(offsets[i] + strides[i][j] * p as i64))
                    .collect();
            }
        }
    }
    Some(Functional::Axes { scale, axes: made })
}

fn outer_product(x: &[E], y: &[E]) -> Vec<E> {
    x.iter().flat_map(|&x| y.iter().map(move |&y| x * y)).collect()
}

impl Functional {
    /// eq(point, .) on the elements of a tensor whose axes are padded to powers of two; the last axis is lowest.
    pub fn point(shape: &[usize], point: &[E]) -> Self {
        let mut rest = point;
        let mut axes = Vec::with_capacity(shape.len());
        for &extent in shape.iter().rev() {
            let (own, others) = rest.split_at(super::multilinear::bits_of(extent));
            rest = others;
            let mut axis = equality(own);
            axis.truncate(extent);
            axes.push(axis);
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

    /// The same weights in row-major order on another shape.
    fn regroup(self, shape: &[usize]) -> Self {
        if let Functional::Axes { scale, axes } = &self
            && let Some(made) = merge(axes, shape)
        {
            return Functional::Axes {
                scale: *scale,
                axes: made,
            };
        }
        Functional::Dense(self.dense())
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
                        .map(|row| row.iter().zip(axis).fold(E::ZERO, |sum, (&x, &w)| sum + x * w))
                        .collect();
                }
                *scale * sums[0]
            }
        }
    }

    /// The multilinear extension of the weights, axes padded to powers of two, at a point.
    pub fn extension(&self, shape: &[usize], point: &[E]) -> E {
        let Functional::Axes { axes: at, .. } = Functional::point(shape, point) else {
            unreachable!()
        };
        match self {
            Functional::Axes { scale, axes } => axes.iter().zip(&at).fold(*scale, |product, (x, y)| {
                product * x.iter().zip(y).fold(E::ZERO, |sum, (&x, &y)| sum + x * y)
            }),
            Functional::Dense(weights) => {
                let mut sums = weights.clone();
                for axis in at.iter().rev() {
                    sums = sums
                        .chunks_exact(axis.len())
                        .map(|row| row.iter().zip(axis).fold(E::ZERO, |sum, (&x, &w)| sum + x * w))
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
                for (entry, &weight) in own.iter_mut().zip(row) {
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

fn dot(values: &[F], weights: &[E]) -> E {
    values
        .iter()
        .zip(weights)
        .fold(E::ZERO, |sum, (&x, &w)| sum + w * x)
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

/// Vectors of axes merged, or axes of extent 1 added and removed; None where an axis would have to be split.
fn merge(axes: &[Vec<E>], shape: &[usize]) -> Option<Vec<Vec<E>>> {
    let mut made = Vec::with_capacity(shape.len());
    let mut rest = axes.iter().peekable();
    for (place, &extent) in shape.iter().enumerate() {
        let mut vector = vec![E::ONE];
        while vector.len() < extent {
            vector = outer_product(&vector, rest.next()?);
        }
        if vector.len() != extent {
            return None;
        }
        if place + 1 == shape.len() {
            for unit in rest.by_ref() {
                vector = outer_product(&vector, unit);
            }
        }
        made.push(vector);
    }
    let left: Vec<&Vec<E>> = rest.collect();
    if !left.is_empty() {
        // A shape of no axes: everything left has extent 1, and is a factor.
        return None;
    }
    Some(made)
}
