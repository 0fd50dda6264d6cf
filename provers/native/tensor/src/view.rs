//! The static maps between tensors, and how they carry values along.

use crate::field::F;

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

    pub(crate) fn shapes(&self) -> Vec<&[usize]> {
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
pub(crate) fn each(step: &Step, source: &[usize], mut visit: impl FnMut(usize, usize)) {
    runs(step, source, |run| {
        for i in 0..run.count {
            visit(
                run.target + i,
                run.source.wrapping_add_signed(i as isize * run.step),
            );
        }
    });
}
