//! What Python sees of Groth16: functions that borrow numpy arrays and release the interpreter's lock.

mod arrays;
mod ceremony;
mod check;
pub mod keys;
mod mirage;
#[cfg(feature = "stock")]
mod stock;

use circuitize_curves::elements::field_elements;
use circuitize_curves::entropy::Entropy;
use circuitize_groth16::keys::Kind;
use circuitize_groth16::prove::{Phases, prove};
use circuitize_groth16::reduction::Refusal;
use circuitize_groth16::setup::setup;
use circuitize_groth16::system::Witness;
use circuitize_groth16::verify::{Proof, verify};
use pyo3::buffer::PyBuffer;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use self::arrays::SystemArrays;
use self::keys::{PyProvingKey, PyVerifyingKey};
use crate::buffers::elements;
use crate::progress::Progress;

create_exception!(
    _native,
    Unsatisfied,
    PyValueError,
    "The witness does not satisfy the row in args[0]."
);

#[pyfunction]
#[pyo3(signature = (system, digest, seed=None, progress=None))]
fn groth16_setup(
    py: Python<'_>,
    system: SystemArrays,
    digest: &[u8],
    seed: Option<&[u8]>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyProvingKey> {
    let digest = keys::digest(digest)?;
    let system = system.borrow()?;
    let mut entropy = seed.map_or(Entropy::System, Entropy::seeded);
    let progress = Progress::new(progress);
    py.detach(|| {
        setup(&system.system()?, digest, &mut entropy, &|phase| {
            progress.report(phase)
        })
    })
    .map(PyProvingKey)
    .map_err(|message| progress.error(message))
}

#[pyfunction]
#[pyo3(signature = (key, system, witness, progress=None))]
fn groth16_prove<'py>(
    py: Python<'py>,
    key: &PyProvingKey,
    system: SystemArrays,
    witness: PyBuffer<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyDict>)> {
    let (borrowed, witness) = (system.borrow()?, elements(&witness, "witness")?);
    let progress = Progress::new(progress);
    let result = py.detach(|| {
        let system = borrowed.system().map_err(Refusal::Malformed)?;
        let witness = Witness::new(witness, borrowed.wires).map_err(Refusal::Malformed)?;
        key.0
            .verifying
            .require(Kind::Groth16)
            .map_err(|error| Refusal::Malformed(error.into()))?;
        prove(&key.0, &system, &witness, None, &mut Entropy::System, &|phase| {
            progress.report(phase)
        })
    });
    proof_parts(py, result, &progress)
}

/// A proof's bytes and the seconds of each phase, or the exception that says why there is none.
fn proof_parts<'py>(
    py: Python<'py>,
    result: Result<(Proof, Phases), Refusal>,
    progress: &Progress,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyDict>)> {
    match result {
        Ok((proof, phases)) => {
            let seconds = PyDict::new(py);
            for (phase, value) in phases {
                seconds.set_item(phase, value)?;
            }
            Ok((PyBytes::new(py, &proof.encode()), seconds))
        }
        Err(Refusal::Unsatisfied(row)) => Err(Unsatisfied::new_err(row)),
        Err(Refusal::Malformed(message)) => Err(progress.error(message)),
    }
}

/// None where the proof holds, else why not: nothing about a proof or its publics raises.
#[pyfunction]
fn groth16_verify(
    py: Python<'_>,
    key: &PyVerifyingKey,
    publics: PyBuffer<u64>,
    proof: &[u8],
) -> PyResult<Option<String>> {
    let publics = elements(&publics, "publics")?;
    Ok(py
        .detach(|| -> Result<(), String> {
            let publics = field_elements(publics, "public value")?;
            verify(&key.0, &publics, proof).map_err(|error| error.to_string())
        })
        .err())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Unsatisfied", module.py().get_type::<Unsatisfied>())?;
    keys::register(module)?;
    module.add_function(wrap_pyfunction!(groth16_setup, module)?)?;
    module.add_function(wrap_pyfunction!(groth16_prove, module)?)?;
    module.add_function(wrap_pyfunction!(groth16_verify, module)?)?;
    ceremony::register(module)?;
    check::register(module)?;
    mirage::register(module)?;
    #[cfg(feature = "stock")]
    stock::register(module)?;
    Ok(())
}
