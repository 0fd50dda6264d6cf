//! The static maps between tensors, and how they carry values along.

use rayon::prelude::*;

use crate::field::F;
use crate::grid::Grid;
use crate::places::{Locate, MOST_AXES};
use crate::runs::{each, runs};

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

    /// The values of the target: made step by step, or where the target is smaller than what is between, element by element.
    pub fn gather(&self, values: &[F]) -> Vec<F> {
        let affine = |step: &&Step| matches!(step, Step::Affine { .. });
        let sizes = self
            .steps
            .iter()
            .filter(affine)
            .map(|step| step.shape().iter().product::<usize>());
        let between: usize = sizes.sum();
        let target = self.target().iter().product::<usize>();
        if self.shapes().iter().all(|shape| shape.len() <= MOST_AXES)
            && between > 3 * target
            && u32::try_from(between.max(values.len())).is_ok()
        {
            let read = |&place: &u32| values.get(place as usize).copied().unwrap_or(F::ZERO);
            return self.places(target).iter().map(read).collect();
        }
        let mut values = values.to_vec();
        for (step, source) in self.steps.iter().zip(self.shapes()) {
            if let Step::Affine { shape, .. } = step {
                let mut made = vec![F::ZERO; shape.iter().product()];
                match Grid::new(step, source, &values) {
                    Some(grid) => grid.read(|p, value| made[p] = value),
                    None => each(step, source, |p, q| made[p] = values[q]),
                }
                values = made;
            }
        }
        values
    }

    /// For each target element the place that it reads, OUTSIDE if it reads none.
    fn places(&self, target: usize) -> Vec<u32> {
        let mut places: Vec<u32> = (0..target as u32).collect();
        for (step, source) in self.steps.iter().zip(self.shapes()).rev() {
            if let Step::Affine {
                shape,
                offsets,
                strides,
            } = step
            {
                let locate = Locate::new(shape, offsets, strides, source);
                places
                    .par_iter_mut()
                    .with_min_len(1 << 12)
                    .for_each(|place| *place = locate.of(*place));
            }
        }
        places
    }

    /// Adds the values of the target, times a coefficient, to a sum: what lies outside costs nothing.
    pub fn add_gathered(&self, values: &[F], coefficient: F, sum: &mut [F]) {
        let [step @ Step::Affine { .. }] = self.steps.as_slice() else {
            for (sum, value) in sum.iter_mut().zip(self.gather(values)) {
                *sum = *sum + value * coefficient;
            }
            return;
        };
        if let Some(grid) = Grid::new(step, &self.source, values) {
            grid.read(|p, value| sum[p] = sum[p] + value * coefficient);
            return;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn view(source: &[usize], shape: &[usize], offsets: &[i64], strides: &[&[i64]]) -> View {
        View {
            source: source.to_vec(),
            steps: vec![Step::Affine {
                shape: shape.to_vec(),
                offsets: offsets.to_vec(),
                strides: strides.iter().map(|row| row.to_vec()).collect(),
            }],
        }
    }

    /// Windows inside and over the edge, a mirror, a slice, copies, and two views after each other: each element as its
    /// index says.
    #[test]
    fn what_is_gathered_is_what_indices_say() {
        let window: &[&[i64]] = &[&[2, 0, 0, 1, 0], &[0, 2, 0, 0, 1], &[0, 0, 1, 0, 0]];
        let mut views = vec![
            view(&[9, 7, 4], &[4, 3, 4, 3, 3], &[0, 0, 0], window),
            view(&[9, 7, 4], &[5, 4, 4, 3, 3], &[-1, -1, 0], window),
            view(&[5, 40], &[5, 40], &[4, 39], &[&[-1, 0], &[0, -1]]),
            view(&[5, 40], &[7, 3], &[-1, 39], &[&[1, 0], &[0, 1]]),
            view(&[6], &[2, 6, 3], &[0], &[&[0, 1, 0]]),
            view(&[4], &[3], &[9], &[&[1]]),
            view(&[], &[3], &[], &[]),
        ];
        let mut two = view(&[9, 7, 4], &[4, 3, 4, 3, 3], &[0, 0, 0], window);
        two.steps.push(Step::Regroup(vec![4, 3, 4, 9]));
        let every: &[&[i64]] = &[&[1, 0, 0], &[0, 1, 0], &[0, 0, 1], &[0, 0, 0]];
        two.steps
            .extend(view(&[4, 3, 4, 9], &[4, 3, 4], &[0, 0, 0, 5], every).steps);
        views.push(two);
        for view in views {
            let values: Vec<F> = (1..=view.source.iter().product::<usize>() as u64)
                .map(F::reduced)
                .collect();
            let target = view.target().iter().product::<usize>();
            let read = |&place: &u32| values.get(place as usize).copied().unwrap_or(F::ZERO);
            let expected: Vec<F> = view.places(target).iter().map(read).collect();
            assert_eq!(view.gather(&values), expected);
            let mut sum = vec![F::ONE; target];
            view.add_gathered(&values, F::reduced(3), &mut sum);
            let added: Vec<F> = expected.iter().map(|&x| F::ONE + x * F::reduced(3)).collect();
            assert_eq!(sum, added);
        }
    }
}
