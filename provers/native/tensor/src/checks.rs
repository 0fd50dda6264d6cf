//! What a verifier does with the values that a prover sent: it adds and scales them, and checks them here alone.
//!
//! So it runs over elements, checked at once, or over affine forms in pads that the messages were masked with, of which
//! it notes what must hold (Longfellow, draft-google-cfrg-libzk).

use std::ops::{Add, Mul, Sub};

use crate::channel::Channel;
use crate::errors::Reject;
use crate::extension::Extension;
use crate::field::F;

/// What is linear in what the prover sent, with coefficients that both sides know.
pub trait Value<E>:
    Add<Output = Self> + Clone + From<E> + Mul<E, Output = Self> + Mul<F, Output = Self> + Sub<Output = Self>
{
}

impl<E, V> Value<E> for V where
    V: Add<Output = V> + Clone + From<E> + Mul<E, Output = V> + Mul<F, Output = V> + Sub<Output = V>
{
}

/// The one place of a verifier's checks.
pub trait Checks<E: Extension> {
    /// Whether this is the prover's side, which holds what it proves.
    const PROVING: bool;

    /// Whether anything is made of checks: a prover without masks has nothing to check.
    const CHECKING: bool;

    /// Whether only what is sent is counted: then nobody needs values.
    const COUNTING: bool = false;

    type Value: Value<E>;

    /// The value that a prover, who knows all, computes on with.
    fn known(value: &Self::Value) -> E;

    /// Rejects for this reason unless the value is zero.
    fn zero(&mut self, value: Self::Value, reason: Reject) -> Result<(), Reject>;

    /// Rejects for this reason if the value is zero.
    fn not_zero(&mut self, channel: &mut Channel, value: Self::Value, reason: Reject) -> Result<(), Reject>;

    fn product(&mut self, x: Self::Value, y: Self::Value) -> Self::Value;

    /// The values of one message of so many numbers.
    fn receive(
        &mut self,
        channel: &mut Channel,
        label: &str,
        count: usize,
        make: impl FnOnce() -> Vec<E>,
    ) -> Result<Vec<Self::Value>, Reject>;
}

/// Elements, checked at once by a verifier; a prover has nothing to check.
pub struct Plain<const PROVING: bool>;

pub type Proving = Plain<true>;
pub type Verifying = Plain<false>;

impl<E: Extension, const PROVING: bool> Checks<E> for Plain<PROVING> {
    const PROVING: bool = PROVING;
    const CHECKING: bool = !PROVING;

    type Value = E;

    fn receive(
        &mut self,
        channel: &mut Channel,
        label: &str,
        count: usize,
        make: impl FnOnce() -> Vec<E>,
    ) -> Result<Vec<E>, Reject> {
        channel.scalars(label, count, make)
    }

    fn known(value: &E) -> E {
        *value
    }

    fn zero(&mut self, value: E, reason: Reject) -> Result<(), Reject> {
        if PROVING || value == E::ZERO {
            Ok(())
        } else {
            Err(reason)
        }
    }

    fn not_zero(&mut self, _: &mut Channel, value: E, reason: Reject) -> Result<(), Reject> {
        if PROVING || value != E::ZERO {
            Ok(())
        } else {
            Err(reason)
        }
    }

    fn product(&mut self, x: E, y: E) -> E {
        x * y
    }
}
