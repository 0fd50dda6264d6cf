//! The static maps between tensors, and how they carry values and weights along.

use super::extension::Extension;
use super::field::F;
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

    /// Adds the values of the target, times a coefficient, to a sum: what lies outside costs nothing.
    pub fn add_gathered(&self, values: &[F], coefficient: F, sum: &mut [F]) {
        let [step @ Step::Affine { .. }] = self.steps.as_slice() else {
            for (sum, value) in sum.iter_mut().zip(self.gather(values)) {
                *sum = *sum + value * coefficient;
            }
            return;
        };
        runs(step, &self.source, |run| {
            let sum = &mut sum[run.target..run.target + run.count];
            if run.step == 1 {
                for (sum, &value) in sum.iter_mut().zip(&values[run.source..run.source + run.count]) {
                    *sum = *sum + value * coefficient;
                }
            } else {
                for (i, sum) in sum.iter_mut().enumerate() {
                    *sum = *sum + values[run.source.wrapping_add_signed(i as isize * run.step)] * coefficient;
                }
            }
        });
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
    pub fn pull<E: Extension>(&self, weights: &Functional<E>) -> Functional<E> {
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
    pub fn push<E: Extension>(&self, weights: &Functional<E>) -> Functional<E> {
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

/// Consecutive target elements that read source elements at equal distances.
struct Run {
    target: usize,
    source: usize,
    count: usize,
    step: isize,
}

/// Calls with the runs along the last target axis, in order: only elements that read something are visited.
fn runs(step: &Step, source: &[usize], mut visit: impl FnMut(Run)) {
    let Step::Affine {
        shape,
        offsets,
        strides,
    } = step
    else {
        return;
    };
    let (extent, outer) = shape.split_last().map_or((1, &[][..]), |(&n, outer)| (n, outer));
    let moves: Vec<i64> = strides
        .iter()
        .map(|row| row.get(outer.len()).copied().unwrap_or(0))
        .collect();
    let along = source
        .iter()
        .zip(&moves)
        .fold(0, |place, (&extent, &stride)| place * extent as i64 + stride);
    let mut p = vec![0usize; outer.len()];
    for row in 0..outer.iter().product::<usize>() {
        // The first and the last element of the row for which every coordinate is inside, and the first one's place.
        let (mut first, mut last, mut place) = (0i64, extent as i64 - 1, 0i64);
        for (((&extent, &offset), strides), &stride) in source.iter().zip(offsets).zip(strides).zip(&moves) {
            let x = strides
                .iter()
                .zip(&p)
                .fold(offset, |x, (&stride, &p)| x + stride * p as i64);
            place = place * extent as i64 + x;
            let (low, high) = (-x, extent as i64 - 1 - x);
            match stride {
                0 if low > 0 || high < 0 => last = -1,
                0 => {}
                1.. => {
                    first = first.max(low.div_euclid(stride) + i64::from(low.rem_euclid(stride) != 0));
                    last = last.min(high.div_euclid(stride));
                }
                _ => {
                    let (low, high) = (-high, -low);
                    first = first.max(low.div_euclid(-stride) + i64::from(low.rem_euclid(-stride) != 0));
                    last = last.min(high.div_euclid(-stride));
                }
            }
        }
        if first <= last {
            visit(Run {
                target: row * extent + first as usize,
                source: (place + first * along) as usize,
                count: (last - first + 1) as usize,
                step: along as isize,
            });
        }
        for axis in (0..outer.len()).rev() {
            p[axis] += 1;
            if p[axis] < outer[axis] {
                break;
            }
            p[axis] = 0;
        }
    }
}

/// Calls with each flat target index and the flat source index that it reads, where there is one.
fn each(step: &Step, source: &[usize], mut visit: impl FnMut(usize, usize)) {
    runs(step, source, |run| {
        for i in 0..run.count {
            visit(
                run.target + i,
                run.source.wrapping_add_signed(i as isize * run.step),
            );
        }
    });
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

fn push_axes<E: Extension>(
    weights: &Functional<E>,
    shape: &[usize],
    offsets: &[i64],
    strides: &[Vec<i64>],
) -> Option<Functional<E>> {
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
