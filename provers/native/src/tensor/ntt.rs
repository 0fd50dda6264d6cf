//! Number-theoretic transforms: values of a polynomial on a subgroup, in bit-reversed order.
//!
//! A long vector is a matrix of rows: its columns are transformed a panel at a time in a buffer that fits the nearest
//! cache, times powers of the root, then each row is a transform by itself. So memory is passed over once per stage,
//! and neighbouring columns share their roots in vector instructions.

use rayon::prelude::*;

use super::field::{E, F};
use super::lanes::Lanes;
use super::memory::zeros;

/// Transforms of up to 2^8 elements are made in place.
const WITHIN: usize = 8;
/// Rows of a matrix, in bits, at most.
const ROWS: usize = 9;
/// Columns of a panel.
const PANEL: usize = 16;
/// From so many bits on, panels and rows are shared among threads.
const PARALLEL: usize = 14;

/// Powers of the roots of unity of every order up to 2^bits: those of order 2^k at [2^(k-1), 2^k).
struct Twiddles(Vec<F>);

impl Twiddles {
    fn new(bits: usize) -> Self {
        let mut powers = vec![F::ONE; 1 << bits];
        for k in 2..=bits {
            let root = F::root_of_unity(k);
            let (below, own) = powers.split_at_mut(1 << (k - 1));
            for (pair, &power) in own.chunks_exact_mut(2).zip(&below[below.len() / 2..]) {
                pair[0] = power;
                pair[1] = power * root;
            }
        }
        Self(powers)
    }

    fn of(&self, size: usize) -> &[F] {
        &self.0[size / 2..size]
    }
}

/// A matrix of 2^rows rows: what its columns are multiplied by after their transforms.
struct Stage {
    rows: usize,
    columns: usize,
    /// The root of the whole length's order.
    root: F,
    /// For each row i of the result the powers 0 to PANEL of root^reverse(i); the last one apart.
    powers: Vec<F>,
    steps: Vec<F>,
}

impl Stage {
    fn new(rows: usize, columns: usize) -> Self {
        let root = F::root_of_unity(rows + columns);
        let mut powers = Vec::with_capacity(PANEL << rows);
        let mut steps = Vec::with_capacity(1 << rows);
        for row in 0..1 << rows {
            let base = root.power(reverse(row, rows) as u64);
            let mut power = F::ONE;
            for _ in 0..PANEL {
                powers.push(power);
                power = power * base;
            }
            steps.push(power);
        }
        Self {
            rows,
            columns,
            root,
            powers,
            steps,
        }
    }
}

/// The stages of a transform, and the roots of those that are made in place.
struct Transform {
    bits: usize,
    stages: Vec<Stage>,
    twiddles: Twiddles,
}

/// Memory that threads write disjoint columns of.
struct Shared(*mut F);
// SAFETY: each thread writes columns of its own.
unsafe impl Sync for Shared {}

impl Shared {
    fn start(&self) -> *mut F {
        self.0
    }
}

impl Transform {
    fn new(bits: usize) -> Self {
        let mut stages = Vec::new();
        let mut left = bits;
        while left > WITHIN {
            let rows = (left - WITHIN).div_ceil((left - WITHIN).div_ceil(ROWS));
            left -= rows;
            stages.push(Stage::new(rows, left));
        }
        Self {
            bits,
            stages,
            twiddles: Twiddles::new(bits.min(ROWS)),
        }
    }

    /// From coefficients, as many of which are given, to all values.
    fn run(&self, coefficients: &[F], values: &mut [F]) {
        let Some((first, rest)) = self.stages.split_first() else {
            values[..coefficients.len()].copy_from_slice(coefficients);
            values[coefficients.len()..].fill(F::ZERO);
            dispatch(Work::Within(values, &self.twiddles));
            return;
        };
        let panels = (1usize << first.columns) / PANEL;
        let to = Shared(values.as_mut_ptr());
        let from = Source(coefficients.as_ptr(), coefficients.len());
        if self.bits < PARALLEL {
            let work = Work::Columns(first, &self.twiddles, from, to.start(), 0..panels);
            dispatch(work);
        } else {
            let each = panels.div_ceil(64);
            (0..panels.div_ceil(each)).into_par_iter().for_each(|part| {
                let own = part * each..panels.min((part + 1) * each);
                let from = Source(coefficients.as_ptr(), coefficients.len());
                dispatch(Work::Columns(first, &self.twiddles, from, to.start(), own));
            });
        }
        let row = |row: &mut [F]| self.rows(rest, row);
        if self.bits < PARALLEL {
            values.chunks_exact_mut(1 << first.columns).for_each(row);
        } else {
            values.par_chunks_exact_mut(1 << first.columns).for_each(row);
        }
    }

    fn rows(&self, stages: &[Stage], values: &mut [F]) {
        let Some((first, rest)) = stages.split_first() else {
            dispatch(Work::Within(values, &self.twiddles));
            return;
        };
        let panels = (1usize << first.columns) / PANEL;
        let (length, start) = (values.len(), values.as_mut_ptr());
        let from = Source(start, length);
        dispatch(Work::Columns(first, &self.twiddles, from, start, 0..panels));
        for row in values.chunks_exact_mut(1 << first.columns) {
            self.rows(rest, row);
        }
    }
}

/// What runs on vector instructions where there are some.
enum Work<'a> {
    Within(&'a mut [F], &'a Twiddles),
    Columns(&'a Stage, &'a Twiddles, Source, *mut F, std::ops::Range<usize>),
}

/// Where so many elements are read from: it may be where results are written, since a panel is read whole before that.
#[derive(Clone, Copy)]
struct Source(*const F, usize);

fn dispatch(work: Work) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        unsafe { vectors(work) };
        return;
    }
    // SAFETY: elements one by one need no processor of a kind.
    unsafe { run::<F>(work) };
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn vectors(work: Work) {
    // SAFETY: the caller's.
    unsafe { run::<super::lanes::Four>(work) }
}

#[inline(always)]
unsafe fn run<L: Lanes>(work: Work) {
    // SAFETY: the caller's.
    unsafe {
        match work {
            Work::Within(values, twiddles) => within::<L>(values, twiddles),
            Work::Columns(stage, twiddles, from, to, panels) => {
                columns::<L>(stage, twiddles, from, to, panels)
            }
        }
    }
}

/// Two levels at once, of four elements a quarter of the size apart: times w^i, w^(i + size/4), and w^(2i).
#[inline(always)]
unsafe fn quadruple<L: Lanes>([a, b, c, d]: [L; 4], w: L, turned: L, square: L) -> [L; 4] {
    unsafe {
        let (e, g) = (a.add(c), a.sub(c).mul(w));
        let (f, h) = (b.add(d), b.sub(d).mul(turned));
        [e.add(f), e.sub(f).mul(square), g.add(h), g.sub(h).mul(square)]
    }
}

/// A transform of at most 2^8 neighbouring elements.
#[inline(always)]
unsafe fn within<L: Lanes>(values: &mut [F], twiddles: &Twiddles) {
    let mut size = values.len();
    if size < 4 * L::COUNT || size < 4 {
        small(values, twiddles);
        return;
    }
    unsafe {
        while size >= 4 * L::COUNT && size >= 4 {
            let (roots, squares) = (twiddles.of(size), twiddles.of(size / 2));
            let quarter = size / 4;
            for block in values.chunks_exact_mut(size) {
                let at = block.as_mut_ptr();
                for i in (0..quarter).step_by(L::COUNT) {
                    let rows = [0, 1, 2, 3].map(|k| L::load(at.add(k * quarter + i)));
                    let (w, turned) = (L::load(&roots[i]), L::load(&roots[i + quarter]));
                    let made = quadruple(rows, w, turned, L::load(&squares[i]));
                    for (k, row) in made.into_iter().enumerate() {
                        row.store(at.add(k * quarter + i));
                    }
                }
            }
            size = quarter;
        }
        if size > L::COUNT {
            // One level is left before those within a vector.
            let roots = twiddles.of(size);
            let half = size / 2;
            for block in values.chunks_exact_mut(size) {
                let at = block.as_mut_ptr();
                for i in (0..half).step_by(L::COUNT) {
                    let (x, y) = (L::load(at.add(i)), L::load(at.add(half + i)));
                    x.add(y).store(at.add(i));
                    x.sub(y).mul(L::load(&roots[i])).store(at.add(half + i));
                }
            }
            size = half;
        }
        if L::COUNT == 4 && size == 4 {
            let turn = L::splat(twiddles.of(4)[1]);
            let one = L::splat(F::ONE);
            for block in values.chunks_exact_mut(16) {
                let at = block.as_mut_ptr();
                let rows = L::transposed([0, 1, 2, 3].map(|k| L::load(at.add(4 * k))));
                let made = L::transposed(quadruple(rows, one, turn, one));
                for (k, row) in made.into_iter().enumerate() {
                    row.store(at.add(4 * k));
                }
            }
        } else if size > 1 {
            for block in values.chunks_exact_mut(size) {
                small(block, twiddles);
            }
        }
    }
}

/// A transform of few elements, one by one.
fn small(values: &mut [F], twiddles: &Twiddles) {
    let size = values.len();
    if size < 2 {
        return;
    }
    let (low, high) = values.split_at_mut(size / 2);
    for ((x, y), &w) in low.iter_mut().zip(high.iter_mut()).zip(twiddles.of(size)) {
        (*x, *y) = (*x + *y, (*x - *y) * w);
    }
    small(low, twiddles);
    small(high, twiddles);
}

/// Transforms columns, panel after panel, and multiplies each by its powers of the root. Rows that `from` lacks are zero.
#[inline(always)]
unsafe fn columns<L: Lanes>(
    stage: &Stage,
    twiddles: &Twiddles,
    from: Source,
    to: *mut F,
    panels: std::ops::Range<usize>,
) {
    let (rows, stride) = (1usize << stage.rows, 1usize << stage.columns);
    let given = from.1.div_ceil(stride);
    let mut buffer = vec![F::ZERO; rows * PANEL];
    let mut starts: Vec<F> = (0..rows)
        .map(|row| {
            let exponent = reverse(row, stage.rows) * panels.start * PANEL;
            stage.root.power(exponent as u64)
        })
        .collect();
    unsafe {
        for panel in panels {
            for (row, own) in buffer.chunks_exact_mut(PANEL).enumerate() {
                let place = row * stride + panel * PANEL;
                let length = from.1.saturating_sub(place).min(PANEL);
                std::ptr::copy_nonoverlapping(from.0.wrapping_add(place), own.as_mut_ptr(), length);
                own[length..].fill(F::ZERO);
            }
            rows_of_panels::<L>(&mut buffer, rows, given, twiddles);
            for (row, own) in buffer.chunks_exact_mut(PANEL).enumerate() {
                let start = L::splat(starts[row]);
                let powers = &stage.powers[row * PANEL..][..PANEL];
                let target = to.add(row * stride + panel * PANEL);
                for i in (0..PANEL).step_by(L::COUNT) {
                    let factor = start.mul(L::load(&powers[i]));
                    L::load(&own[i]).mul(factor).store(target.add(i));
                }
                starts[row] = starts[row] * stage.steps[row];
            }
        }
    }
}

/// The transforms of a panel's columns, in place; rows from `given` on are zero.
#[inline(always)]
unsafe fn rows_of_panels<L: Lanes>(buffer: &mut [F], rows: usize, given: usize, twiddles: &Twiddles) {
    let mut size = rows;
    unsafe {
        while size >= 4 {
            let (roots, squares) = (twiddles.of(size), twiddles.of(size / 2));
            let quarter = size / 4;
            for block in buffer.chunks_exact_mut(size * PANEL) {
                let at = block.as_mut_ptr();
                for i in 0..quarter {
                    let (w, turned) = (L::splat(roots[i]), L::splat(roots[i + quarter]));
                    let square = L::splat(squares[i]);
                    for j in (0..PANEL).step_by(L::COUNT) {
                        let place = |k: usize| at.add((k * quarter + i) * PANEL + j);
                        let made = if given <= quarter {
                            let a = L::load(place(0));
                            let g = a.mul(w);
                            [a, a.mul(square), g, g.mul(square)]
                        } else {
                            quadruple([0, 1, 2, 3].map(|k| L::load(place(k))), w, turned, square)
                        };
                        for (k, row) in made.into_iter().enumerate() {
                            row.store(place(k));
                        }
                    }
                }
            }
            size = quarter;
        }
        if size == 2 {
            for block in buffer.chunks_exact_mut(2 * PANEL) {
                let at = block.as_mut_ptr();
                for j in (0..PANEL).step_by(L::COUNT) {
                    let (x, y) = (L::load(at.add(j)), L::load(at.add(PANEL + j)));
                    x.add(y).store(at.add(j));
                    x.sub(y).store(at.add(PANEL + j));
                }
            }
        }
    }
}

/// The values of a polynomial on the subgroup of order 2^bits: place reverse(i) holds the value at w^i.
pub fn values(coefficients: &[F], bits: usize) -> Vec<F> {
    let mut made = zeros(1 << bits);
    Transform::new(bits).run(coefficients, &mut made);
    made
}

/// The same for coefficients in the extension: coordinates alternate in the result.
pub fn extension_values(coefficients: &[E], bits: usize) -> Vec<F> {
    let transform = Transform::new(bits);
    let coordinate = |of: fn(&E) -> F| {
        let own: Vec<F> = coefficients.iter().map(of).collect();
        let mut made = zeros(1 << bits);
        transform.run(&own, &mut made);
        made
    };
    let (a, b) = (coordinate(|e| e.a), coordinate(|e| e.b));
    let mut made = zeros(2 << bits);
    let size = 1 << 12;
    (
        made.par_chunks_mut(2 * size),
        a.par_chunks(size),
        b.par_chunks(size),
    )
        .into_par_iter()
        .for_each(|(to, a, b): (&mut [F], &[F], &[F])| {
            for ((to, &a), &b) in to.chunks_exact_mut(2).zip(a).zip(b) {
                (to[0], to[1]) = (a, b);
            }
        });
    made
}

/// The number whose lowest `bits` bits are those of `index` in reverse.
pub fn reverse(index: usize, bits: usize) -> usize {
    if bits == 0 {
        0
    } else {
        index.reverse_bits() >> (usize::BITS as usize - bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transform_evaluates_the_polynomial() {
        for bits in 0..7 {
            let coefficients: Vec<F> = (0..1 << bits).map(|i| F::reduced(i * i + 3)).collect();
            let values = values(&coefficients, bits);
            let root = F::root_of_unity(bits);
            for i in 0..1 << bits {
                let x = root.power(i as u64);
                let expected = coefficients.iter().rev().fold(F::ZERO, |sum, &c| sum * x + c);
                assert_eq!(values[reverse(i, bits)], expected);
            }
        }
    }

    #[test]
    fn transforms_by_stages_and_by_vectors_are_those_of_elements_one_by_one() {
        for bits in (2..=13).chain([16, 18]) {
            for given in [1usize << bits, 1 << (bits - 1), 1 << bits >> 4, 4] {
                let given = given.max(1);
                let coefficients: Vec<F> = (0..given as u64)
                    .map(|i| F::reduced((i + 5).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
                    .collect();
                let mut plain = coefficients.clone();
                plain.resize(1 << bits, F::ZERO);
                small(&mut plain, &Twiddles::new(bits));
                assert!(values(&coefficients, bits) == plain, "{bits} {given}");
                if bits <= WITHIN {
                    let mut single = coefficients.clone();
                    single.resize(1 << bits, F::ZERO);
                    unsafe { within::<F>(&mut single, &Twiddles::new(bits)) };
                    assert!(single == plain);
                } else {
                    // One stage with elements one by one, then plain rows.
                    let columns = bits - 2;
                    let stage = Stage::new(2, columns);
                    let twiddles = Twiddles::new(columns);
                    let mut single = vec![F::ZERO; 1 << bits];
                    let panels = 0..(1 << columns) / PANEL;
                    unsafe {
                        let from = Source(coefficients.as_ptr(), coefficients.len());
                        super::columns::<F>(&stage, &twiddles, from, single.as_mut_ptr(), panels);
                    }
                    for row in single.chunks_exact_mut(1 << columns) {
                        small(row, &twiddles);
                    }
                    assert!(single == plain);
                }
            }
        }
    }

    #[test]
    fn coordinates_in_the_extension_are_transformed_apart() {
        let coefficients: Vec<E> = (0..512)
            .map(|i| E::new(F::reduced(i * i + 3), F::reduced(7 * i + 1)))
            .collect();
        let made = extension_values(&coefficients, 10);
        let a: Vec<F> = coefficients.iter().map(|e| e.a).collect();
        let b: Vec<F> = coefficients.iter().map(|e| e.b).collect();
        let (a, b) = (values(&a, 10), values(&b, 10));
        for (pair, (&a, &b)) in made.chunks_exact(2).zip(a.iter().zip(&b)) {
            assert_eq!(pair, [a, b]);
        }
    }
}
