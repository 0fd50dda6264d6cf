//! Numbers that were sent with pads added: what both sides do with them is done to forms in the pads.

use std::ops::{Add, Mul, Sub};

use crate::affine::Affine;
use crate::extension::Extension;
use crate::field::F;

/// A number that was sent less its pad: for both sides a form in the pads, and for the prover what it is.
#[derive(Clone, Debug)]
pub struct Hidden<E> {
    pub known: E,
    pub form: Affine<E>,
}

impl<E: Extension> From<E> for Hidden<E> {
    fn from(constant: E) -> Self {
        Self {
            known: constant,
            form: constant.into(),
        }
    }
}

impl<E: Extension> Add for Hidden<E> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            known: self.known + other.known,
            form: self.form + other.form,
        }
    }
}

impl<E: Extension> Sub for Hidden<E> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            known: self.known - other.known,
            form: self.form - other.form,
        }
    }
}

impl<E: Extension> Mul<E> for Hidden<E> {
    type Output = Self;
    fn mul(self, by: E) -> Self {
        Self {
            known: self.known * by,
            form: self.form * by,
        }
    }
}

impl<E: Extension> Mul<F> for Hidden<E> {
    type Output = Self;
    fn mul(self, by: F) -> Self {
        Self {
            known: self.known * by,
            form: self.form * by,
        }
    }
}
