//! The static maps between tensors, and how they carry values and weights along.

use super::field::{E, F};
use super::functional::Functional;

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
