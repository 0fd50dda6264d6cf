//! Keys from ceremonies, as Python asks about them.

use circuitize_curves::points::{G1_BYTES, G2_BYTES};
use circuitize_groth16::ceremony::{Powers, check};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::arrays::SystemArrays;
use super::keys::PyProvingKey;
use crate::buffers::elements;

/// None where `key` is the key of the system that follows from the powers of tau, else why not.
///
/// `powers` are the Lagrange bases over the key's domain as a prepared .ptau holds them (Montgomery form): tau in G1,
/// tau in G2, alpha tau and beta tau, and tau in G1 over twice as many points. ValueError for malformed arrays.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "five arrays")]
fn groth16_ceremony_refusal(
    py: Python<'_>,
    key: &PyProvingKey,
    system: SystemArrays,
    powers: (
        PyBuffer<u8>,
        PyBuffer<u8>,
        PyBuffer<u8>,
        PyBuffer<u8>,
        PyBuffer<u8>,
    ),
) -> PyResult<Option<String>> {
    let system = system.borrow()?;
    let key = &key.0;
    let size = key.h.len();
    let part = |array, bytes: usize| {
        let part = elements(array, "powers of tau")?;
        match part.len() == bytes {
            true => Ok(part),
            false => Err(PyValueError::new_err(format!(
                "expected {bytes} bytes of powers of tau, found {}",
                part.len()
            ))),
        }
    };
    let (tau_g1, tau_g2) = (
        part(&powers.0, size * G1_BYTES)?,
        part(&powers.1, size * G2_BYTES)?,
    );
    let (alpha, beta) = (
        part(&powers.2, size * G1_BYTES)?,
        part(&powers.3, size * G1_BYTES)?,
    );
    let double = part(&powers.4, 2 * size * G1_BYTES)?;
    let refused = py.detach(|| {
        let system = system.system()?;
        let powers = Powers::read([tau_g1, tau_g2, alpha, beta, double])?;
        check(key, &system, &powers)
    });
    Ok(refused.err())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(groth16_ceremony_refusal, module)?)
}
