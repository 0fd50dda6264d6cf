//! What a verifier does with the values that a prover sent: it adds and scales them, and checks them here alone.
//!
//! So it runs over elements, checked at once, or over affine forms in pads that the messages were masked with, of which
//! it notes what must hold (Longfellow, draft-google-cfrg-libzk).

use std::ops::{Add, Mul, Sub};

use super::channel::{Channel, Reject};
use super::extension::Extension;
use super::field::F;

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
    /// Whether this is the prover's side, which holds what it proves and has nothing to check.
    const PROVING: bool;

    type Value: Value<E>;

    /// The value of one number of a message.
    fn sent(&mut self, number: E) -> Self::Value;

    /// The value that a prover, who knows all, computes on with.
    fn known(value: &Self::Value) -> E;

    /// Rejects for this reason unless the value is zero.
    fn zero(&mut self, value: Self::Value, reason: &str) -> Result<(), Reject>;

    /// Rejects for this reason if the value is zero.
    fn not_zero(&mut self, value: Self::Value, reason: &str) -> Result<(), Reject>;

    fn product(&mut self, x: Self::Value, y: Self::Value) -> Self::Value;

    /// The values of one message of so many numbers.
    fn receive(
        &mut self,
        channel: &mut Channel,
        label: &str,
        count: usize,
        make: impl FnOnce() -> Vec<E>,
    ) -> Result<Vec<Self::Value>, Reject> {
        let numbers = channel.scalars(label, count, make)?;
        Ok(numbers.into_iter().map(|number| self.sent(number)).collect())
    }
}

/// Elements, checked at once by a verifier; a prover has nothing to check.
pub struct Plain<const PROVING: bool>;

pub type Proving = Plain<true>;
pub type Verifying = Plain<false>;

impl<E: Extension, const PROVING: bool> Checks<E> for Plain<PROVING> {
    const PROVING: bool = PROVING;

    type Value = E;

    fn sent(&mut self, number: E) -> E {
        number
    }

    fn known(value: &E) -> E {
        *value
    }

    fn zero(&mut self, value: E, reason: &str) -> Result<(), Reject> {
        if PROVING || value == E::ZERO {
            Ok(())
        } else {
            Reject::because(reason)
        }
    }

    fn not_zero(&mut self, value: E, reason: &str) -> Result<(), Reject> {
        if PROVING || value != E::ZERO {
            Ok(())
        } else {
            Reject::because(reason)
        }
    }

    fn product(&mut self, x: E, y: E) -> E {
        x * y
    }
}
