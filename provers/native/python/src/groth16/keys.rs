//! Keys as Python sees them: read, written, and taken apart.

use std::path::PathBuf;

use circuitize_curves::keys::{Fault, Setup};
use circuitize_groth16::key_encoder::Encoder;
use circuitize_groth16::key_file::{decode_verifying, encode_verifying};
use circuitize_groth16::keys::{Kind, VerifyingKey};
use circuitize_groth16::proving_key::ProvingKey;
use circuitize_groth16::proving_key_file::read_proving;
use circuitize_groth16::verify::alpha_beta;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffers::refused;

pub fn digest(bytes: &[u8]) -> PyResult<[u8; 32]> {
    bytes
        .try_into()
        .map_err(|_| PyValueError::new_err(format!("a digest has 32 bytes, found {}", bytes.len())))
}

fn kind(prover: &str) -> PyResult<Kind> {
    Kind::from_name(prover)
        .ok_or_else(|| PyValueError::new_err(format!("expected groth16 or mirage, found {prover:?}")))
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
            .map_err(refused)
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
            .map_err(refused)
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

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyProvingKey>()?;
    module.add_class::<PyVerifyingKey>()?;
    module.add_class::<PyKeyChunks>()?;
    Ok(())
}
