//! What an affine step reads, by runs along the last axis of its target.

use crate::view::Step;

/// Consecutive target elements that read source elements at equal distances.
pub(crate) struct Run {
    pub(crate) target: usize,
    pub(crate) source: usize,
    pub(crate) count: usize,
    pub(crate) step: isize,
}

/// Calls with the runs along the last target axis, in order: only elements that read something are visited.
pub(crate) fn runs(step: &Step, source: &[usize], mut visit: impl FnMut(Run)) {
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
