//! Sums of points in buckets, as multi-scalar multiplication needs them: by batched affine additions throughout.

use ark_ec::short_weierstrass::{Affine, Projective};
use ark_ff::{AdditiveGroup, Zero};

use crate::affine::{BATCH, Curve, Scratch, add_pairs};

/// The entries still to be added up for one bucket; runs lie one after another in the list being halved.
pub struct Run {
    pub bucket: u32,
    pub length: u32,
}

/// The sum of each bucket's points: each round halves every run, all pairs of a round sharing inversions.
pub fn fill_buckets<P: Curve>(
    points: &[Affine<P>],
    sorted: &[u32],
    mut runs: Vec<Run>,
    buckets: usize,
) -> Vec<Affine<P>> {
    let signed_point = |entry: u32| {
        let point = points[(entry >> 1) as usize];
        if entry & 1 == 1 { -point } else { point }
    };
    let mut filled = vec![Affine::<P>::identity(); buckets];
    let mut adder = Adder::default();
    let mut work = Vec::with_capacity(sorted.len() / 2 + runs.len());
    runs = halve(
        runs,
        &mut filled,
        |at| signed_point(sorted[at]),
        &mut work,
        &mut adder,
    );
    let mut spare = Vec::with_capacity(work.len() / 2 + runs.len());
    while !runs.is_empty() {
        spare.clear();
        runs = halve(runs, &mut filled, |at| work[at], &mut spare, &mut adder);
        std::mem::swap(&mut work, &mut spare);
    }
    filled
}

/// One round: runs of one entry are finished and leave for `filled`; the others go to `output` at half length.
fn halve<P: Curve>(
    runs: Vec<Run>,
    filled: &mut [Affine<P>],
    read: impl Fn(usize) -> Affine<P>,
    output: &mut Vec<Affine<P>>,
    adder: &mut Adder<P>,
) -> Vec<Run> {
    let mut at = 0;
    let mut remaining = Vec::with_capacity(runs.len());
    for run in runs {
        let end = at + run.length as usize;
        if run.length == 1 {
            filled[run.bucket as usize] = read(at);
        } else {
            while at + 1 < end {
                adder.push(read(at), read(at + 1), output);
                at += 2;
            }
            if at < end {
                adder.push(read(at), Affine::identity(), output);
            }
            remaining.push(Run {
                bucket: run.bucket,
                length: run.length.div_ceil(2),
            });
        }
        at = end;
    }
    adder.flush(output);
    remaining
}

/// Collects pairs and adds them a batch at a time, in order.
struct Adder<P: Curve> {
    left: Vec<Affine<P>>,
    right: Vec<Affine<P>>,
    scratch: Scratch<P::BaseField>,
}

impl<P: Curve> Default for Adder<P> {
    fn default() -> Self {
        Self {
            left: Vec::with_capacity(BATCH),
            right: Vec::with_capacity(BATCH),
            scratch: Scratch::default(),
        }
    }
}

impl<P: Curve> Adder<P> {
    fn push(&mut self, left: Affine<P>, right: Affine<P>, output: &mut Vec<Affine<P>>) {
        self.left.push(left);
        self.right.push(right);
        if self.left.len() == BATCH {
            self.flush(output);
        }
    }

    fn flush(&mut self, output: &mut Vec<Affine<P>>) {
        add_pairs(&mut self.left, &self.right, &mut self.scratch);
        output.append(&mut self.left);
        self.right.clear();
    }
}

/// `sum of (k + 1) * buckets[k]`.
///
/// Long rows are cut into segments whose running sums advance in step, so that these too are batched:
/// for segment s of T buckets, sum (sT + j) B = (sum j B) + T s (sum B).
pub fn weighted_sum<P: Curve>(buckets: &[Affine<P>]) -> Projective<P> {
    const SEGMENTS: usize = 256;
    if buckets.len() < 4 * SEGMENTS {
        return running_sum(buckets.iter().copied()).1;
    }
    let length = buckets.len() / SEGMENTS;
    let mut scratch = Scratch::default();
    let mut plain = vec![Affine::<P>::identity(); SEGMENTS];
    let mut weighted = plain.clone();
    let mut column = Vec::with_capacity(SEGMENTS);
    for j in (0..length).rev() {
        column.clear();
        column.extend(buckets.iter().skip(j).step_by(length));
        add_pairs(&mut plain, &column, &mut scratch);
        add_pairs(&mut weighted, &plain, &mut scratch);
    }
    let inner: Projective<P> = weighted.iter().fold(Projective::zero(), |sum, point| sum + point);
    // Segment 0 has weight 0, so the running sum starts at segment 1.
    let mut outer = running_sum(plain.into_iter().skip(1)).1;
    for _ in 0..length.trailing_zeros() {
        outer.double_in_place();
    }
    inner + outer
}

/// `(sum of p_k, sum of (k + 1) p_k)`.
fn running_sum<P: Curve>(
    points: impl DoubleEndedIterator<Item = Affine<P>>,
) -> (Projective<P>, Projective<P>) {
    let (mut plain, mut weighted) = (Projective::zero(), Projective::zero());
    for point in points.rev() {
        plain += point;
        weighted += plain;
    }
    (plain, weighted)
}

#[cfg(test)]
pub mod tests {
    use ark_bn254::{Fr, G1Affine};
    use ark_ec::{AffineRepr, CurveGroup};
    use ark_ff::Field;

    use super::*;
    use crate::fixed_base::FixedBase;

    /// Pseudorandom elements.
    pub fn elements(count: usize) -> Vec<Fr> {
        let next = |value: &Fr| Some(value.square() + Fr::from(7u64));
        std::iter::successors(Some(Fr::from(11u64)), next)
            .skip(20)
            .take(count)
            .collect()
    }

    #[test]
    fn weighted_sums_agree_at_every_length() {
        for size in [1usize, 2, 256, 1024, 4096] {
            let multiples = elements(size);
            let mut buckets = FixedBase::new(G1Affine::generator(), size).multiples(&multiples);
            let mut expected = Fr::ZERO;
            for (k, (bucket, multiple)) in buckets.iter_mut().zip(&multiples).enumerate() {
                if k % 5 == 3 {
                    *bucket = G1Affine::identity();
                } else {
                    expected += *multiple * Fr::from(k as u64 + 1);
                }
            }
            assert_eq!(
                weighted_sum(&buckets).into_affine(),
                (G1Affine::generator() * expected).into_affine()
            );
        }
    }
}
