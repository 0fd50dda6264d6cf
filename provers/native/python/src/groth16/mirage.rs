//! What Python sees of proofs with a commitment: the keys are Groth16's classes, the proof has one point more.

use std::sync::Mutex;
use std::time::Instant;

use ark_bn254::Fr;
use ark_ff::PrimeField;
use circuitize_curves::elements::field_elements;
use circuitize_curves::entropy::Entropy;
use circuitize_curves::points::{G1_BYTES, Reader, put, put_g1};
use circuitize_groth16::challenge::challenge;
use circuitize_groth16::commitment::{Opening, commit};
use circuitize_groth16::prove::prove;
use circuitize_groth16::reduction::Refusal;
use circuitize_groth16::system::Witness;
use circuitize_groth16::verify::{given_publics, verify_mirage};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::arrays::SystemArrays;
use super::keys::{PyProvingKey, PyVerifyingKey};
use super::proof_parts;
use crate::buffers::{elements, refused};
use crate::progress::Progress;

/// A commitment to the first part of a witness; it serves one proof.
#[pyclass(frozen, name = "MirageCommitment", module = "circuitize._native")]
struct PyCommitment {
    opening: Mutex<Option<Opening>>,
    point: Vec<u8>,
    challenge: Vec<u8>,
    seconds: f64,
}

fn little_endian(value: &Fr) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32);
    put(&mut bytes, &value.into_bigint());
    bytes
}

#[pymethods]
impl PyCommitment {
    /// D: two coordinates of 32 little-endian bytes.
    #[getter]
    fn point<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.point)
    }

    /// The value of the last public wire, 32 little-endian bytes.
    #[getter]
    fn challenge<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.challenge)
    }
}

/// Commits to the first part of a witness: the constant, the publics with 0 for the challenge, the committed wires.
#[pyfunction]
fn mirage_commit(py: Python<'_>, key: &PyProvingKey, first: PyBuffer<u64>) -> PyResult<PyCommitment> {
    let first = elements(&first, "witness")?;
    let start = Instant::now();
    py.detach(|| commit(&key.0, first, &mut Entropy::System))
        .map(|opening| {
            let mut point = Vec::new();
            put_g1(&mut point, &opening.d);
            PyCommitment {
                point,
                challenge: little_endian(&opening.challenge),
                opening: Mutex::new(Some(opening)),
                seconds: start.elapsed().as_secs_f64(),
            }
        })
        .map_err(PyValueError::new_err)
}

#[pyfunction]
#[pyo3(signature = (key, system, witness, commitment, progress=None))]
fn mirage_prove<'py>(
    py: Python<'py>,
    key: &PyProvingKey,
    system: SystemArrays,
    witness: PyBuffer<u64>,
    commitment: &PyCommitment,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyDict>)> {
    let (borrowed, witness) = (system.borrow()?, elements(&witness, "witness")?);
    // Taken before anything is checked: whatever comes of it, this blinding is never used again.
    let opening = commitment
        .opening
        .lock()
        .ok()
        .and_then(|mut opening| opening.take());
    let opening = opening
        .ok_or_else(|| PyValueError::new_err("the commitment has served a proof already: commit again"))?;
    let progress = Progress::new(progress);
    let result = py.detach(|| {
        let system = borrowed.system().map_err(Refusal::Malformed)?;
        let values = Witness::new(witness, borrowed.wires).map_err(Refusal::Malformed)?;
        opening.check(&key.0, witness).map_err(Refusal::Malformed)?;
        prove(
            &key.0,
            &system,
            &values,
            Some(&opening),
            &mut Entropy::System,
            &|phase| progress.report(phase),
        )
        .map(|(proof, mut phases)| {
            phases.insert(0, ("commit", commitment.seconds));
            (proof, phases)
        })
    });
    proof_parts(py, result, &progress)
}

/// None where the proof holds, else why not. `publics` are all but the challenge, which follows from them and from D.
#[pyfunction]
fn mirage_verify(
    py: Python<'_>,
    key: &PyVerifyingKey,
    publics: PyBuffer<u64>,
    proof: &[u8],
) -> PyResult<Option<String>> {
    let publics = elements(&publics, "publics")?;
    Ok(py
        .detach(|| -> Result<(), String> {
            let publics = field_elements(publics, "public value")?;
            verify_mirage(&key.0, &publics, proof).map_err(|error| error.to_string())
        })
        .err())
}

/// The challenge for these publics and the commitment `point`, 32 little-endian bytes; ValueError for no such point.
#[pyfunction]
fn mirage_challenge<'py>(
    py: Python<'py>,
    key: &PyVerifyingKey,
    publics: PyBuffer<u64>,
    point: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let publics = elements(&publics, "publics")?;
    if point.len() != G1_BYTES {
        return Err(PyValueError::new_err(format!(
            "D has {G1_BYTES} bytes, found {}",
            point.len()
        )));
    }
    let publics = field_elements(publics, "public value").map_err(refused)?;
    let publics = given_publics(&key.0, &publics).map_err(refused)?;
    let d = Reader::new(point).g1("D").map_err(refused)?;
    let value = challenge(&key.0, publics, &d);
    Ok(PyBytes::new(py, &little_endian(&value)))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyCommitment>()?;
    module.add_function(wrap_pyfunction!(mirage_commit, module)?)?;
    module.add_function(wrap_pyfunction!(mirage_prove, module)?)?;
    module.add_function(wrap_pyfunction!(mirage_verify, module)?)?;
    module.add_function(wrap_pyfunction!(mirage_challenge, module)?)
}
