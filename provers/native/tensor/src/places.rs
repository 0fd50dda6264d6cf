//! The place that an element of a step's target reads.

/// What reads nothing.
pub(crate) const OUTSIDE: u32 = u32::MAX;

/// The map of places that an affine step is.
pub(crate) struct Locate<'a> {
    /// From the last axis of the target on: its extent, and what it moves, by source axis.
    axes: Vec<(u32, Vec<(usize, i64)>)>,
    offsets: &'a [i64],
    source: &'a [usize],
}

/// No source has more axes.
pub(crate) const MOST_AXES: usize = 16;

impl<'a> Locate<'a> {
    pub(crate) fn new(
        shape: &[usize],
        offsets: &'a [i64],
        strides: &[Vec<i64>],
        source: &'a [usize],
    ) -> Self {
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

    pub(crate) fn of(&self, place: u32) -> u32 {
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
