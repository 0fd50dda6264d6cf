//! Additions of many pairs of affine points at the price of one field inversion.

use ark_ec::AffineRepr;
use ark_ec::short_weierstrass::{Affine, SWCurveConfig};
use ark_ff::{AdditiveGroup, Field, Zero};

/// Pairs that share one inversion: enough to make it cheap, few enough to stay in the second-level cache.
pub const BATCH: usize = 1024;

/// Room that one thread reuses from batch to batch.
pub struct Scratch<F> {
    differences: Vec<F>,
    products: Vec<F>,
}

impl<F> Default for Scratch<F> {
    fn default() -> Self {
        Self {
            differences: Vec::with_capacity(BATCH),
            products: Vec::with_capacity(BATCH),
        }
    }
}

/// `left[i] += right[i]` for every i, by Montgomery's trick: about six multiplications a pair instead of eleven.
///
/// Complete: the identity on either side, equal points and opposite points are all handled. For curves
/// y^2 = x^3 + b without points of order two, such as both groups of BN254.
pub fn add_pairs<P: SWCurveConfig>(
    left: &mut [Affine<P>],
    right: &[Affine<P>],
    scratch: &mut Scratch<P::BaseField>,
) {
    debug_assert_eq!(left.len(), right.len());
    let Scratch {
        differences,
        products,
    } = scratch;
    differences.clear();
    products.clear();
    let mut product = P::BaseField::ONE;
    for (p, q) in left.iter_mut().zip(right) {
        let mut difference = q.x - p.x;
        if q.is_zero() {
            difference = P::BaseField::ZERO;
        } else if p.is_zero() {
            *p = *q;
            difference = P::BaseField::ZERO;
        } else if difference.is_zero() {
            if p.y == q.y {
                difference = p.y.double();
            } else {
                *p = Affine::identity();
            }
        }
        differences.push(difference);
        products.push(product);
        if !difference.is_zero() {
            product *= difference;
        }
    }
    let Some(mut inverse) = product.inverse() else {
        unreachable!("a product of nonzero differences is nonzero")
    };
    for i in (0..left.len()).rev() {
        let difference = differences[i];
        if difference.is_zero() {
            continue;
        }
        let (p, q) = (left[i], right[i]);
        let rise = if p.x == q.x {
            p.x.square() * P::BaseField::from(3u64)
        } else {
            q.y - p.y
        };
        let slope = rise * (inverse * products[i]);
        inverse *= difference;
        let x = slope.square() - p.x - q.x;
        let y = slope * (p.x - x) - p.y;
        left[i] = Affine::new_unchecked(x, y);
    }
}
