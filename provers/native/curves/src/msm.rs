//! Multi-scalar multiplication for scalars that are mostly zero, one, or small signed integers.
//!
//! Pippenger's method over signed digits, its buckets filled by batched affine additions. Bits need no case of
//! their own: every one of them falls into bucket 1 of window 0, which is then an affine addition tree.

use ark_ec::short_weierstrass::{Affine, Projective};
use ark_ff::{AdditiveGroup, Zero};
use rayon::prelude::*;

use crate::affine::Curve;
use crate::buckets::{Run, fill_buckets, weighted_sum};
use crate::signed::{self, Digits, Signed};

/// Widths of window that the cost model may choose.
const WINDOWS: std::ops::RangeInclusive<u32> = 3..=16;
/// The cost of one bucket in the final weighted sum, counted in batched affine additions.
const BUCKET_COST: usize = 2;
/// Bit lengths at which the scalars may be split into a narrow and a wide class.
const SPLITS: [u32; 5] = [0, 8, 20, 40, 72];
/// Points below which splitting the points of one window over threads costs more than it gains.
const CHUNK: usize = 1 << 14;

/// `sum of scalars[index[i]] * points[i]`.
pub fn msm<P: Curve>(points: &[Affine<P>], index: &[u32], scalars: &[Signed]) -> Projective<P> {
    let mut lengths = [0usize; 257];
    for &wire in index {
        lengths[signed::bits(&scalars[wire as usize]) as usize] += 1;
    }
    let cost_of = |from: usize, to: usize| plan(&lengths, from, to).1;
    let split = SPLITS
        .into_iter()
        .min_by_key(|&split| cost_of(1, split as usize) + cost_of(split as usize + 1, 256))
        .unwrap_or(0) as usize;
    [(1, split), (split + 1, 256)]
        .into_iter()
        .map(|(from, to)| {
            let count: usize = lengths[from..=to.max(from - 1)].iter().sum();
            if from > to || count == 0 {
                return Projective::zero();
            }
            let (width, _) = plan(&lengths, from, to);
            let longest = (from..=to).rev().find(|&bits| lengths[bits] > 0).unwrap_or(from) as u32;
            let members = (0..index.len() as u32)
                .filter(|&i| {
                    (from..=to).contains(&(signed::bits(&scalars[index[i as usize] as usize]) as usize))
                })
                .collect::<Vec<_>>();
            pippenger(points, index, scalars, &members, &Digits::new(width, longest))
        })
        .sum()
}

/// The cheapest window width for the scalars of `from..=to` bits, and its cost in additions.
fn plan(lengths: &[usize; 257], from: usize, to: usize) -> (u32, usize) {
    if from > to || lengths[from..=to].iter().all(|&count| count == 0) {
        return (*WINDOWS.start(), 0);
    }
    let longest = (from..=to).rev().find(|&bits| lengths[bits] > 0).unwrap_or(from) as u32;
    WINDOWS
        .map(|width| {
            let windows = (longest + 2).div_ceil(width) as usize;
            let additions: usize = (from..=to)
                .map(|bits| lengths[bits] * ((bits as u32).div_ceil(width) as usize).min(windows))
                .sum();
            (width, additions + windows * (BUCKET_COST << (width - 1)))
        })
        .min_by_key(|&(_, cost)| cost)
        .unwrap_or((*WINDOWS.start(), 0))
}

fn pippenger<P: Curve>(
    points: &[Affine<P>],
    index: &[u32],
    scalars: &[Signed],
    members: &[u32],
    digits: &Digits,
) -> Projective<P> {
    let prepared = members
        .par_iter()
        .map(|&i| digits.prepare(&scalars[index[i as usize] as usize]))
        .collect::<Vec<_>>();
    let windows = digits.windows;
    let threads = rayon::current_num_threads();
    let pieces = (2 * threads)
        .div_ceil(windows as usize)
        .clamp(1, members.len().div_ceil(CHUNK));
    let size = members.len().div_ceil(pieces);
    let jobs = (0..windows)
        .flat_map(|window| (0..pieces).map(move |piece| (window, piece)))
        .collect::<Vec<_>>();
    let sums = jobs
        .into_par_iter()
        .with_max_len(1)
        .map(|(window, piece)| {
            let range = (piece * size).min(members.len())..((piece + 1) * size).min(members.len());
            let digit = |value: &Signed| digits.read(value, window);
            let half = 1 << (digits.width - 1);
            let sum = window_sum(points, &members[range.clone()], &prepared[range], half, digit);
            (window, sum)
        })
        .collect::<Vec<_>>();
    let mut totals = vec![Projective::<P>::zero(); windows as usize];
    for (window, sum) in sums {
        totals[window as usize] += sum;
    }
    totals
        .into_iter()
        .rev()
        .fold(Projective::zero(), |mut total, sum| {
            for _ in 0..digits.width {
                total.double_in_place();
            }
            total + sum
        })
}

/// `sum of digit_i * points[members[i]]` for one window, |digit_i| <= half.
fn window_sum<P: Curve>(
    points: &[Affine<P>],
    members: &[u32],
    prepared: &[Signed],
    half: usize,
    digit: impl Fn(&Signed) -> i64,
) -> Projective<P> {
    // Counting sort of the members by |digit|; the lowest bit of an entry says whether the point is negated.
    let mut starts = vec![0u32; half + 2];
    for value in prepared {
        starts[digit(value).unsigned_abs() as usize + 1] += 1;
    }
    let zeros = starts[1];
    starts[1] = 0;
    for bucket in 1..starts.len() {
        starts[bucket] += starts[bucket - 1];
    }
    let mut next = starts.clone();
    let mut sorted = vec![0u32; prepared.len() - zeros as usize];
    for (value, &member) in prepared.iter().zip(members) {
        let digit = digit(value);
        if digit != 0 {
            let place = &mut next[digit.unsigned_abs() as usize];
            sorted[*place as usize] = member << 1 | u32::from(digit < 0);
            *place += 1;
        }
    }
    if sorted.is_empty() {
        return Projective::zero();
    }
    let runs = (1..=half)
        .map(|bucket| Run {
            bucket: bucket as u32 - 1,
            length: starts[bucket + 1] - starts[bucket],
        })
        .filter(|run| run.length > 0)
        .collect();
    weighted_sum(&fill_buckets(points, &sorted, runs, half))
}

#[cfg(test)]
mod tests {
    use ark_bn254::{Fr, G1Affine, G1Projective, G2Affine, G2Projective};
    use ark_ec::AffineRepr;
    use ark_ff::Field;

    use super::*;
    use crate::buckets::tests::elements;
    use crate::fixed_base::FixedBase;
    use crate::signed::tests::awkward;

    /// Several hundred scalars of every length over distinct, equal, opposite and zero points.
    #[test]
    fn sums_agree_with_one_multiplication_at_a_time() {
        let mut scalars = awkward();
        scalars.extend((0..300).map(|i| Fr::from(i % 3) - Fr::ONE));
        let multiples = elements(scalars.len());
        let mut g1 = FixedBase::new(G1Affine::generator(), 100).multiples(&multiples);
        let mut g2 = FixedBase::new(G2Affine::generator(), 100).multiples(&multiples);
        for i in (10..g1.len()).step_by(7) {
            (g1[i], g2[i]) = match i % 3 {
                0 => (g1[i - 2], g2[i - 2]),
                1 => (-g1[i - 2], -g2[i - 2]),
                _ => (G1Affine::identity(), G2Affine::identity()),
            };
        }
        let integers = signed::from_fields(&scalars);
        for count in [0, 1, 2, 3, 31, 400, scalars.len()] {
            let index = (0..count as u32).collect::<Vec<_>>();
            let expected: G1Projective = g1.iter().zip(&scalars).take(count).map(|(p, x)| *p * x).sum();
            assert_eq!(msm(&g1[..count], &index, &integers), expected);
            let expected: G2Projective = g2.iter().zip(&scalars).take(count).map(|(p, x)| *p * x).sum();
            assert_eq!(msm(&g2[..count], &index, &integers), expected);
        }
    }

    /// The wide windows, whose buckets are summed in segments, and points spread over several jobs.
    #[test]
    fn sums_of_many_points_agree() {
        let count = 3 * CHUNK;
        let (scalars, multiples) = (elements(count), elements(count));
        let points = FixedBase::new(G1Affine::generator(), count).multiples(&multiples);
        let wide: Fr = scalars.iter().zip(&multiples).map(|(x, y)| *x * y).sum();
        let index = (0..count as u32).collect::<Vec<_>>();
        let generator = G1Affine::generator();
        assert_eq!(
            msm(&points, &index, &signed::from_fields(&scalars)),
            generator * wide
        );
        let bits = (0..count as u64).map(|i| Fr::from(i / 3 % 2)).collect::<Vec<_>>();
        let narrow: Fr = bits.iter().zip(&multiples).map(|(x, y)| *x * y).sum();
        assert_eq!(
            msm(&points, &index, &signed::from_fields(&bits)),
            generator * narrow
        );
    }
}
