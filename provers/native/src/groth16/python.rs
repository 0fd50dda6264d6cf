//! What Python sees: functions that borrow numpy arrays and release the interpreter's lock.

use std::path::PathBuf;
use std::sync::Mutex;

use ark_bn254::Fr;
use pyo3::buffer::PyBuffer;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::arrays::{SystemArrays, elements};
use super::key_encoder::Encoder;
use super::key_file::{Fault, decode_verifying, encode_verifying, read_proving};
use super::keys::{Kind, ProvingKey, Setup, VerifyingKey};
use super::prove::{Phases, prove};
use super::reduction::Refusal;
use super::setup::{Entropy, setup};
use super::system::{Witness, field_elements};
use super::verify::{Proof, alpha_beta, holds};

create_exception!(
    _native,
    Unsatisfied,
    PyValueError,
    "The witness does not satisfy the row in args[0]."
);

pub fn digest(bytes: &[u8]) -> PyResult<[u8; 32]> {
    bytes
        .try_into()
        .map_err(|_| PyValueError::new_err(format!("a digest has 32 bytes, found {}", bytes.len())))
}

fn kind(prover: &str) -> PyResult<Kind> {
    Kind::from_name(prover)
        .ok_or_else(|| PyValueError::new_err(format!("expected groth16 or mirage, found {prover:?}")))
}

/// Tells Python of each phase, and lets it interrupt between phases.
pub struct Progress {
    callback: Option<Py<PyAny>>,
    raised: Mutex<Option<PyErr>>,
}

impl Progress {
    pub fn new(callback: Option<Py<PyAny>>) -> Self {
        Self {
            callback,
            raised: Mutex::new(None),
        }
    }

    pub fn report(&self, phase: &'static str) -> Result<(), String> {
        Python::attach(|py| {
            py.check_signals()?;
            self.callback
                .as_ref()
                .map_or(Ok(()), |callback| callback.call1(py, (phase,)).map(drop))
        })
        .map_err(|error| {
            if let Ok(mut raised) = self.raised.lock() {
                *raised = Some(error);
            }
            "interrupted".to_string()
        })
    }

    /// The exception that a callback raised, else the failure itself.
    pub fn error(&self, message: String) -> PyErr {
        let raised = self.raised.lock().ok().and_then(|mut raised| raised.take());
        raised.unwrap_or_else(|| PyValueError::new_err(message))
    }
}

/// A proving key of Groth16, plain or with a commitment; it holds its verifying key.
#[pyclass(frozen, name = "Groth16ProvingKey", module = "circuitize._native")]
pub struct PyProvingKey(pub ProvingKey);

/// A verifying key of Groth16, plain or with a commitment.
#[pyclass(frozen, name = "Groth16VerifyingKey", module = "circuitize._native")]
pub struct PyVerifyingKey(pub VerifyingKey);

/// The bytes of a proving key's file, a part at a time.
#[pyclass(name = "Groth16KeyChunks", module = "circuitize._native")]
struct PyKeyChunks {
    key: Py<PyProvingKey>,
    encoder: Encoder,
}

#[pymethods]
impl PyProvingKey {
    /// Reads a file; OSError where that fails, ValueError where its content is not a sound proving key of that prover.
    #[staticmethod]
    #[pyo3(signature = (path, prover="groth16"))]
    fn read(py: Python<'_>, path: PathBuf, prover: &str) -> PyResult<Self> {
        let kind = kind(prover)?;
        py.detach(|| read_proving(&path, kind))
            .map(Self)
            .map_err(|fault| match fault {
                Fault::Io(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                    PyValueError::new_err("it is cut short")
                }
                Fault::Io(error) => PyOSError::new_err(error),
                Fault::Content(message) => PyValueError::new_err(message),
            })
    }

    fn chunks(key: Py<Self>) -> PyKeyChunks {
        let encoder = Encoder::new(&key.get().0);
        PyKeyChunks { key, encoder }
    }

    #[getter]
    fn verifying_key(&self) -> PyVerifyingKey {
        PyVerifyingKey(self.0.verifying.clone())
    }

    #[getter]
    fn wires(&self) -> usize {
        self.0.wires
    }

    #[getter]
    fn rows(&self) -> usize {
        self.0.rows
    }

    #[getter]
    fn domain(&self) -> usize {
        self.0.h.len()
    }
}

#[pymethods]
impl PyKeyChunks {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let Self { key, encoder } = self;
        let key = &key.get().0;
        py.detach(|| encoder.next(key))
            .map(|bytes| PyBytes::new(py, &bytes))
    }
}

#[pymethods]
impl PyVerifyingKey {
    /// Reads the bytes of a file; ValueError where they are not a sound verifying key of that prover.
    #[staticmethod]
    #[pyo3(signature = (bytes, prover="groth16"))]
    fn decode(py: Python<'_>, bytes: &[u8], prover: &str) -> PyResult<Self> {
        let kind = kind(prover)?;
        py.detach(|| decode_verifying(bytes, kind))
            .map(Self)
            .map_err(PyValueError::new_err)
    }

    /// From what `points` returns; ValueError where a point is not in its group. `committed` is the number of
    /// committed wires of a key with a commitment.
    #[staticmethod]
    #[pyo3(signature = (setup, digest, points, committed=None))]
    fn build(
        py: Python<'_>,
        setup: &str,
        digest: &[u8],
        points: &[u8],
        committed: Option<usize>,
    ) -> PyResult<Self> {
        let digest = self::digest(digest)?;
        let setup = Setup::from_name(setup).ok_or_else(|| {
            PyValueError::new_err(format!("expected development or ceremony, found {setup:?}"))
        })?;
        py.detach(|| VerifyingKey::from_points(setup, digest, committed, points))
            .map(Self)
            .map_err(PyValueError::new_err)
    }

    fn encode<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &encode_verifying(&self.0))
    }

    #[getter]
    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.digest)
    }

    #[getter]
    fn setup(&self) -> &'static str {
        self.0.setup.name()
    }

    /// How many public wires, a challenge included.
    #[getter]
    fn public(&self) -> usize {
        self.0.public()
    }

    /// How many private wires are committed to before the challenge is drawn.
    #[getter]
    fn committed(&self) -> usize {
        self.0.committed()
    }

    #[getter]
    fn prover(&self) -> &'static str {
        self.0.kind().name()
    }

    /// alpha, beta, gamma, delta, that of the committed wires, then the inputs: coordinates of 32 little-endian bytes in normal form.
    fn points<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.points())
    }

    /// e(alpha, beta): twelve coordinates of 32 little-endian bytes.
    fn alpha_beta<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| alpha_beta(&self.0)))
    }
}

#[pyfunction]
#[pyo3(signature = (system, digest, seed=None, progress=None))]
fn groth16_setup(
    py: Python<'_>,
    system: SystemArrays,
    digest: &[u8],
    seed: Option<&[u8]>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyProvingKey> {
    let digest = self::digest(digest)?;
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
    module.add_class::<PyProvingKey>()?;
    module.add_class::<PyVerifyingKey>()?;
    module.add_class::<PyKeyChunks>()?;
    module.add_function(wrap_pyfunction!(groth16_setup, module)?)?;
    module.add_function(wrap_pyfunction!(groth16_prove, module)?)?;
    module.add_function(wrap_pyfunction!(groth16_verify, module)?)?;
    super::ceremony::register(module)?;
    super::mirage::register(module)?;
    #[cfg(feature = "stock")]
    super::stock::register(module)?;
    Ok(())
}
