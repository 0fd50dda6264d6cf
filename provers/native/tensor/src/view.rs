//! The static maps between tensors, and how they carry values along.

use std::borrow::Cow;

use rayon::prelude::*;

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

/// An affine step of short rows as one walk through memory: a source that all elements lie inside of, which has zeros around
/// it where the step reads outside.
struct Grid<'a> {
    values: Cow<'a, [F]>,
    shape: &'a [usize],
    start: i64,
    /// How far one more along a target axis moves in the source.
    moves: Vec<i64>,
}

/// Rows that are longer are read as they are.
const SHORT_ROW: usize = 16;

impl<'a> Grid<'a> {
    /// None where rows are long, or zeros would take more than is read.
    fn new(step: &'a Step, source: &[usize], values: &'a [F]) -> Option<Self> {
        let Step::Affine {
            shape,
            offsets,
            strides,
        } = step
        else {
            return None;
        };
        let last = *shape.last()?;
        if last > SHORT_ROW {
            return None;
        }
        let mut extents = Vec::with_capacity(source.len());
        let mut begins = Vec::with_capacity(source.len());
        for ((&extent, &offset), row) in source.iter().zip(offsets).zip(strides) {
            let ends = row.iter().zip(shape).map(|(&stride, &n)| stride * (n as i64 - 1));
            let low = offset + ends.clone().filter(|&end| end < 0).sum::<i64>();
            let high = offset + ends.filter(|&end| end > 0).sum::<i64>();
            let (begin, end) = (low.min(0), high.max(extent as i64 - 1));
            begins.push(begin);
            extents.push((end - begin + 1) as usize);
        }
        let size: usize = extents.iter().product();
        let values = if extents == source {
            Cow::Borrowed(values)
        } else if size <= values.len() + shape.iter().product::<usize>() {
            Cow::Owned(surrounded(values, source, &begins, &extents))
        } else {
            return None;
        };
        let mut distance = 1;
        let (mut start, mut moves) = (0, vec![0i64; shape.len()]);
        for i in (0..source.len()).rev() {
            start += (offsets[i] - begins[i]) * distance;
            for (own, &stride) in moves.iter_mut().zip(&strides[i]) {
                *own += stride * distance;
            }
            distance *= extents[i] as i64;
        }
        Some(Self {
            values,
            shape,
            start,
            moves,
        })
    }

    /// Calls with each flat target index, in order, and its value.
    fn read(&self, mut visit: impl FnMut(usize, F)) {
        let inner = self.shape.len().saturating_sub(3);
        let (outer, rest) = self.shape.split_at(inner);
        let (outer_moves, rest_moves) = self.moves.split_at(inner);
        let at = |axis: usize| match (axis + rest.len()).checked_sub(3) {
            Some(place) => (rest[place], rest_moves[place]),
            None => (1, 0),
        };
        let [(n0, s0), (n1, s1), (n2, s2)] = [0, 1, 2].map(at);
        let (mut p, mut place, mut target) = (vec![0usize; inner], self.start, 0);
        for _ in 0..outer.iter().product::<usize>() {
            for i in 0..n0 as i64 {
                for j in 0..n1 as i64 {
                    let row = place + i * s0 + j * s1;
                    for k in 0..n2 as i64 {
                        visit(target, self.values[(row + k * s2) as usize]);
                        target += 1;
                    }
                }
            }
            for axis in (0..inner).rev() {
                p[axis] += 1;
                place += outer_moves[axis];
                if p[axis] < outer[axis] {
                    break;
                }
                place -= outer_moves[axis] * outer[axis] as i64;
                p[axis] = 0;
            }
        }
    }
}

/// A tensor with zeros around it: its first element is at minus `begins` of one of these extents.
fn surrounded(values: &[F], source: &[usize], begins: &[i64], extents: &[usize]) -> Vec<F> {
    let mut made = vec![F::ZERO; extents.iter().product()];
    let Some((&width, outer)) = source.split_last() else {
        return values.to_vec();
    };
    for (r, row) in values.chunks_exact(width).enumerate() {
        let (mut rest, mut place, mut distance) = (r, 0, extents[outer.len()]);
        for axis in (0..outer.len()).rev() {
            place += (rest % outer[axis] + (-begins[axis]) as usize) * distance;
            rest /= outer[axis];
            distance *= extents[axis];
        }
        place += (-begins[outer.len()]) as usize;
        made[place..place + width].copy_from_slice(row);
    }
    made
}

/// What reads nothing.
const OUTSIDE: u32 = u32::MAX;

/// The map of places that an affine step is.
struct Locate<'a> {
    /// From the last axis of the target on: its extent, and what it moves, by source axis.
    axes: Vec<(u32, Vec<(usize, i64)>)>,
    offsets: &'a [i64],
    source: &'a [usize],
}

/// No source has more axes.
const MOST_AXES: usize = 16;

impl<'a> Locate<'a> {
    fn new(shape: &[usize], offsets: &'a [i64], strides: &[Vec<i64>], source: &'a [usize]) -> Self {
        assert!(source.len() <= MOST_AXES);
        let moves = |axis: usize| {
            let own = strides.iter().enumerate().map(|(i, row)| (i, row[axis]));
            own.filter(|own| own.1 != 0).collect()
        };
        let axes = (0..shape.len()).rev().filter(|&axis| shape[axis] > 1);
        Self {
            axes: axes.map(|axis| (shape[axis] as u32, moves(axis))).collect(),
            offsets,
            source,
        }
    }

    fn of(&self, place: u32) -> u32 {
        if place == OUTSIDE {
            return OUTSIDE;
        }
        let mut x = [0i64; MOST_AXES];
        x[..self.offsets.len()].copy_from_slice(self.offsets);
        let mut rest = place;
        for (extent, moves) in &self.axes {
            let p = rest % extent;
            rest /= extent;
            for &(axis, stride) in moves {
                x[axis] += stride * i64::from(p);
            }
        }
        let mut found = 0;
        for (&x, &extent) in x.iter().zip(self.source) {
            if x < 0 || x >= extent as i64 {
                return OUTSIDE;
            }
            found = found * extent + x as usize;
        }
        found as u32
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
