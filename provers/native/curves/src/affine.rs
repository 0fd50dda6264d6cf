//! Additions of many pairs of affine points at the price of one field inversion.

use ark_ec::AffineRepr;
use ark_ec::short_weierstrass::{Affine, SWCurveConfig};
use ark_ff::AdditiveGroup;
use ark_ff::Field;

use crate::lazy::{Lazy, Relax};

/// A curve y^2 = x^3 + b without points of order two, over a field with relaxed arithmetic: both groups of BN254.
pub trait Curve: SWCurveConfig<BaseField: Relax> {}

impl<P: SWCurveConfig<BaseField: Relax>> Curve for P {}

/// Pairs that share one inversion: enough to make it cheap, few enough to stay in the second-level cache.
pub const BATCH: usize = 1024;

/// Independent running products, so that one multiplication need not wait for the one before it.
const CHAINS: usize = 4;

/// Room that one thread reuses from batch to batch.
pub struct Scratch<F: Relax> {
    differences: Vec<F::Lazy>,
    inverses: Vec<F::Lazy>,
    steps: Vec<Step>,
}

/// What is left to do for a pair.
#[derive(Clone, Copy)]
enum Step {
    Add,
    Double,
    Nothing,
}

impl<F: Relax> Default for Scratch<F> {
    fn default() -> Self {
        Self {
            differences: Vec::with_capacity(BATCH),
            inverses: Vec::with_capacity(BATCH),
            steps: Vec::with_capacity(BATCH),
        }
    }
}

/// `left[i] += right[i]` for every i, by Montgomery's trick: six multiplications a pair instead of eleven.
///
/// Complete: the identity on either side, equal points and opposite points are all handled.
pub fn add_pairs<P: Curve>(left: &mut [Affine<P>], right: &[Affine<P>], scratch: &mut Scratch<P::BaseField>) {
    debug_assert_eq!(left.len(), right.len());
    let Scratch {
        differences,
        inverses,
        steps,
    } = scratch;
    differences.clear();
    steps.clear();
    for (p, q) in left.iter_mut().zip(right) {
        let mut difference = q.x.relax().sub(p.x.relax());
        let mut step = Step::Add;
        if p.is_zero() | q.is_zero() | (p.x == q.x) {
            (step, difference) = start_special(p, q);
        }
        differences.push(difference);
        steps.push(step);
    }
    invert::<P::BaseField>(differences, inverses);
    for (((p, q), inverse), step) in left.iter_mut().zip(right).zip(inverses).zip(steps) {
        let (px, py, qx) = (p.x.relax(), p.y.relax(), q.x.relax());
        let rise = match step {
            Step::Add => q.y.relax().sub(py),
            Step::Double => {
                let square = px.square();
                square.add(square).add(square)
            }
            Step::Nothing => continue,
        };
        let slope = rise.mul(*inverse);
        let x = slope.square().sub(px).sub(qx);
        let y = slope.mul(px.sub(x)).sub(py);
        *p = Affine::new_unchecked(P::BaseField::reduce(x), P::BaseField::reduce(y));
    }
}

/// A pair that is not two points with different x: what remains, and what to divide by.
#[cold]
fn start_special<P: Curve>(p: &mut Affine<P>, q: &Affine<P>) -> (Step, <P::BaseField as Relax>::Lazy) {
    let mut divisor = P::BaseField::ONE;
    let mut step = Step::Nothing;
    if p.is_zero() {
        *p = *q;
    } else if !q.is_zero() && p.y == q.y {
        divisor = p.y.double();
        step = Step::Double;
    } else if !q.is_zero() {
        *p = Affine::identity();
    }
    (step, divisor.relax())
}

/// The inverses of nonzero values.
fn invert<F: Relax>(values: &[F::Lazy], inverses: &mut Vec<F::Lazy>) {
    inverses.clear();
    let one = F::ONE.relax();
    let mut products = [one; CHAINS];
    for (i, value) in values.iter().enumerate() {
        let product = &mut products[i % CHAINS];
        inverses.push(*product);
        *product = product.mul(*value);
    }
    let mut running = products.map(|product| F::reduce(product));
    ark_ff::batch_inversion(&mut running);
    let mut running = running.map(F::relax);
    for (i, value) in values.iter().enumerate().rev() {
        let inverse = &mut running[i % CHAINS];
        inverses[i] = inverses[i].mul(*inverse);
        *inverse = inverse.mul(*value);
    }
}
