//! The inner loops of transforms of a matrix's columns, a panel at a time in a buffer; and the roots for all loops.

use crate::field::F;
use crate::lanes::{Lanes, Work};
use crate::ntt::reverse;

/// Columns of a panel.
pub const PANEL: usize = 16;

/// A row of a panel: on a boundary of cache lines, so that no vector lies in two.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Row([F; PANEL]);

/// Powers of the roots of unity of every order up to 2^bits: those of order 2^k at [2^(k-1), 2^k).
pub struct Twiddles(Vec<F>);

impl Twiddles {
    pub fn new(bits: usize) -> Self {
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

    /// The first half of the powers of the root of order `size`, a power of two from 2 on.
    pub fn of(&self, size: usize) -> &[F] {
        &self.0[size / 2..size]
    }
}

/// Parts that a matrix's panels are shared in, at most.
const PARTS: usize = 64;

/// A matrix of 2^rows rows: what its columns are multiplied by after their transforms.
pub struct Stage {
    rows: usize,
    pub columns: usize,
    /// For each row i of the result the powers 0 to PANEL of root^reverse(i), where the root is of the whole length's order;
    /// the last one apart.
    powers: Vec<F>,
    steps: Vec<F>,
    /// For each part the power of each row at its first column.
    starts: Vec<F>,
}

impl Stage {
    pub fn new(rows: usize, columns: usize) -> Self {
        let root = F::root_of_unity(rows + columns);
        let mut powers = Vec::with_capacity(PANEL << rows);
        let mut steps: Vec<F> = Vec::with_capacity(1 << rows);
        for row in 0..1 << rows {
            let base = root.power(reverse(row, rows) as u64);
            let mut power = F::ONE;
            for _ in 0..PANEL {
                powers.push(power);
                power = power * base;
            }
            steps.push(power);
        }
        let mut made = Self {
            rows,
            columns,
            powers,
            steps,
            starts: vec![F::ONE; 1 << rows],
        };
        let each = made.each() as u64;
        let parts: Vec<F> = made.steps.iter().map(|step| step.power(each)).collect();
        for at in 0..(made.parts() - 1) << rows {
            made.starts.push(made.starts[at] * parts[at % parts.len()]);
        }
        made
    }

    pub fn panels(&self) -> usize {
        (1 << self.columns) / PANEL
    }

    /// Panels of a part.
    fn each(&self) -> usize {
        self.panels().div_ceil(PARTS)
    }

    pub fn parts(&self) -> usize {
        self.panels().div_ceil(self.each())
    }
}

/// Where so many elements are read from: it may be where results are written, since a panel is read whole before that.
#[derive(Clone, Copy)]
pub struct Source(pub *const F, pub usize);

/// Transforms of the columns of these parts, each times its powers of the root. Rows that the source lacks are zero.
pub struct Columns<'a>(
    pub &'a Stage,
    pub &'a Twiddles,
    pub Source,
    pub *mut F,
    pub std::ops::Range<usize>,
);

impl Work for Columns<'_> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        let Columns(stage, twiddles, from, to, parts) = self;
        // SAFETY: the caller's.
        unsafe { columns::<L>(stage, twiddles, from, to, parts) }
    }
}

/// Two levels at once, of four elements a quarter of the size apart: times w^i, w^(i + size/4), and w^(2i).
#[inline(always)]
pub unsafe fn quadruple<L: Lanes>([a, b, c, d]: [L; 4], w: L, turned: L, square: L) -> [L; 4] {
    unsafe {
        let (e, g) = (a.add(c), a.sub(c).mul(w));
        let (f, h) = (b.add(d), b.sub(d).mul(turned));
        [e.add(f), e.sub(f).mul(square), g.add(h), g.sub(h).mul(square)]
    }
}

#[inline(always)]
unsafe fn columns<L: Lanes>(
    stage: &Stage,
    twiddles: &Twiddles,
    from: Source,
    to: *mut F,
    parts: std::ops::Range<usize>,
) {
    let (rows, stride) = (1usize << stage.rows, 1usize << stage.columns);
    let given = from.1.div_ceil(stride);
    let mut buffer = vec![Row([F::ZERO; PANEL]); rows];
    let mut starts = stage.starts[parts.start * rows..][..rows].to_vec();
    let panels = parts.start * stage.each()..stage.panels().min(parts.end * stage.each());
    unsafe {
        for panel in panels {
            for (row, Row(own)) in buffer.iter_mut().enumerate() {
                let place = row * stride + panel * PANEL;
                let length = from.1.saturating_sub(place).min(PANEL);
                let start = from.0.wrapping_add(place);
                if length == PANEL {
                    // Of known length, so that it is no call.
                    std::ptr::copy_nonoverlapping(start, own.as_mut_ptr(), PANEL);
                } else {
                    std::ptr::copy_nonoverlapping(start, own.as_mut_ptr(), length);
                    own[length..].fill(F::ZERO);
                }
            }
            transform_rows::<L>(&mut buffer, given, twiddles);
            for (row, Row(own)) in buffer.iter().enumerate() {
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
unsafe fn transform_rows<L: Lanes>(buffer: &mut [Row], given: usize, twiddles: &Twiddles) {
    let mut size = buffer.len();
    unsafe {
        while size > 4 {
            let (roots, squares) = (twiddles.of(size), twiddles.of(size / 2));
            let quarter = size / 4;
            for block in buffer.chunks_exact_mut(size) {
                let at = block.as_mut_ptr().cast::<F>();
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
        if size == 4 {
            // All roots are 1 but one.
            let turn = L::splat(twiddles.of(4)[1]);
            for block in buffer.chunks_exact_mut(4) {
                let at = block.as_mut_ptr().cast::<F>();
                for j in (0..PANEL).step_by(L::COUNT) {
                    let [a, b, c, d] = [0, 1, 2, 3].map(|k| L::load(at.add(k * PANEL + j)));
                    let (e, f, g, h) = (a.add(c), b.add(d), a.sub(c), b.sub(d).mul(turn));
                    let made = [e.add(f), e.sub(f), g.add(h), g.sub(h)];
                    for (k, row) in made.into_iter().enumerate() {
                        row.store(at.add(k * PANEL + j));
                    }
                }
            }
        }
        if size == 2 {
            for block in buffer.chunks_exact_mut(2) {
                let at = block.as_mut_ptr().cast::<F>();
                for j in (0..PANEL).step_by(L::COUNT) {
                    let (x, y) = (L::load(at.add(j)), L::load(at.add(PANEL + j)));
                    x.add(y).store(at.add(j));
                    x.sub(y).store(at.add(PANEL + j));
                }
            }
        }
    }
}
