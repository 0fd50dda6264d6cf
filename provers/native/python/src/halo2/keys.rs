//! Keys as Python sees them: read, written, and taken apart.

use std::path::PathBuf;
use std::sync::Arc;

use circuitize_curves::keys::Fault;
use circuitize_halo2::convert::normal;
use circuitize_halo2::key_file::{decode_verifying, encode_verifying};
use circuitize_halo2::keys::VerifyingKey;
use circuitize_halo2::proving_key::ProvingKey;
use circuitize_halo2::proving_key_file::{encode_proving, read_proving};
use circuitize_halo2::transcript::point_bytes;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffers::refused;

/// A proving key for halo2; it holds its verifying key.
#[pyclass(frozen, name = "Halo2ProvingKey", module = "circuitize._native")]
pub struct PyProvingKey(pub ProvingKey);

/// A verifying key for halo2.
#[pyclass(frozen, name = "Halo2VerifyingKey", module = "circuitize._native")]
pub struct PyVerifyingKey(pub Arc<VerifyingKey>);

#[pymethods]
impl PyProvingKey {
    /// Reads a file; OSError where that fails, ValueError where its content is not a sound proving key.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| read_proving(&path))
            .map(Self)
            .map_err(|fault| match fault {
                Fault::Io(error) => PyOSError::new_err(error),
                Fault::Content(message) => PyValueError::new_err(message),
            })
    }

    /// The bytes of the key's file, in parts.
    fn encode<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let parts = py.detach(|| encode_proving(&self.0));
        parts.iter().map(|part| PyBytes::new(py, part)).collect()
    }

    #[getter]
    fn verifying_key(&self) -> PyVerifyingKey {
        PyVerifyingKey(self.0.verifying.clone())
    }
}

#[pymethods]
impl PyVerifyingKey {
    /// Reads the bytes of a file; ValueError where they are not a sound verifying key.
    #[staticmethod]
    fn decode(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        py.detach(|| decode_verifying(bytes))
            .map(|key| Self(Arc::new(key)))
            .map_err(refused)
    }

    fn encode<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &encode_verifying(&self.0))
    }

    #[getter]
    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.origin.digest)
    }

    #[getter]
    fn setup(&self) -> &'static str {
        self.0.origin.setup.name()
    }

    /// The lengths of the instance columns.
    #[getter]
    fn instances(&self) -> Vec<usize> {
        self.0.shape.instances.clone()
    }

    #[getter]
    fn k(&self) -> u32 {
        self.0.k
    }

    #[getter]
    fn degree(&self) -> usize {
        self.0.degree()
    }

    /// What the crate's transcript begins with besides: a scalar, 32 little-endian bytes.
    #[getter]
    fn representative<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let limbs = normal(&self.0.key.transcript_repr());
        let bytes = limbs
            .iter()
            .flat_map(|limb| limb.to_le_bytes())
            .collect::<Vec<_>>();
        PyBytes::new(py, &bytes)
    }

    /// The commitments of the fixed columns, then of the permutations, as in a proof.
    fn commitments<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let key = &self.0.key;
        let commitments = key
            .fixed_commitments()
            .iter()
            .chain(key.permutation().commitments());
        PyBytes::new(py, &commitments.flat_map(point_bytes).collect::<Vec<_>>())
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyProvingKey>()?;
    module.add_class::<PyVerifyingKey>()?;
    Ok(())
}
