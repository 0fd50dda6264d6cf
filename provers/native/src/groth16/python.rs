//! What Python sees: functions that borrow numpy arrays and release the interpreter's lock.

use ark_bn254::Fr;
use pyo3::buffer::PyBuffer;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::arrays::{SystemArrays, elements};
use super::keys::{Kind, VerifyingKey};
use super::prove::{Phases, prove};
use super::python_keys::{PyProvingKey, PyVerifyingKey};
use super::reduction::Refusal;
use super::setup::{Entropy, setup};
use super::system::{Witness, field_elements};
use super::verify::{Proof, holds};
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
    let digest = super::python_keys::digest(digest)?;
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
            .map_err(Refusal::Malformed)?;
        prove(&key.0, &system, &witness, None, &mut Entropy::System, &|phase| {
            progress.report(phase)
        })
    });
    proof_parts(py, result, &progress)
}

/// A proof's bytes and the seconds of each phase, or the exception that says why there is none.
pub fn proof_parts<'py>(
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
    Ok(py.detach(|| verdict(&key.0, publics, proof)).err())
}

fn verdict(key: &VerifyingKey, publics: &[u64], proof: &[u8]) -> Result<(), String> {
    key.require(Kind::Groth16)?;
    let publics: Vec<Fr> = field_elements(publics, "public value")?;
    if publics.len() != key.public() {
        return Err(format!(
            "{} public values; the key expects {}",
            publics.len(),
            key.public()
        ));
    }
    let proof = Proof::decode(proof, Kind::Groth16)?;
    if holds(key, &publics, &proof) {
        Ok(())
    } else {
        Err("the pairing equation does not hold".into())
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Unsatisfied", module.py().get_type::<Unsatisfied>())?;
    super::python_keys::register(module)?;
    module.add_function(wrap_pyfunction!(groth16_setup, module)?)?;
    module.add_function(wrap_pyfunction!(groth16_prove, module)?)?;
    module.add_function(wrap_pyfunction!(groth16_verify, module)?)?;
    super::ceremony::register(module)?;
    super::mirage::register(module)?;
    #[cfg(feature = "stock")]
    super::stock::register(module)?;
    Ok(())
}
