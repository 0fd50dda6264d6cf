//! What Python sees: a system made of arrays, keys, proving with a callback for the second phase, and verifying.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use halo2_axiom::halo2curves::bn256::Fr;
use pyo3::buffer::PyBuffer;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rayon::prelude::*;

use super::convert::{Limbs, normal, scalar};
use super::key_file::{decode_verifying, encode_proving, encode_verifying, read_proving};
use super::keys::{ProvingKey, Source, VerifyingKey, setup};
use super::prove::{Claim, Refusal, prove};
use super::shape::{Lookup, Node, Shape};
use super::system::{System, sizes};
use super::transcript::point_bytes;
use super::verify::verdict;
use crate::groth16::arrays::elements;
use crate::groth16::key_file::Fault;
use crate::groth16::python::{Progress, digest};
use crate::groth16::setup::Entropy;

create_exception!(
    _native,
    Halo2Unsatisfied,
    PyValueError,
    "The witness breaks args[0] (gate, lookup or copy) number args[1] on row args[2]."
);

/// A column of 64-bit integers, or of field elements as four little-endian limbs in normal form.
#[derive(FromPyObject)]
enum ColumnArray {
    Small(PyBuffer<i64>),
    Limbs(PyBuffer<u64>),
}

fn scalars(limbs: &[u64], name: &str) -> Result<Vec<Fr>, String> {
    if limbs.len() % 4 != 0 {
        return Err(format!("{name}: expected four limbs for each value"));
    }
    limbs
        .par_chunks_exact(4)
        .map(|value| scalar(&Limbs::try_from(value).ok()?))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| format!("{name}: a value is not below r"))
}

fn small(value: i64) -> Fr {
    let magnitude = Fr::from(value.unsigned_abs());
    if value < 0 { -magnitude } else { magnitude }
}

impl ColumnArray {
    fn values(&self, name: &str) -> PyResult<Vec<Fr>> {
        match self {
            Self::Small(array) => Ok(elements(array, name)?
                .par_iter()
                .map(|&value| small(value))
                .collect()),
            Self::Limbs(array) => scalars(elements(array, name)?, name).map_err(PyValueError::new_err),
        }
    }
}

fn columns(arrays: &[ColumnArray], name: &str) -> PyResult<Vec<Vec<Fr>>> {
    arrays.iter().map(|array| array.values(name)).collect()
}

/// A Plonkish constraint system: its shape, its fixed columns and its copies.
#[pyclass(frozen, name = "Halo2System", module = "circuitize._native")]
struct PySystem(System);

#[pymethods]
impl PySystem {
    /// `nodes` are rows (kind, a, b), `constants` limbs, `copies` rows (column, row, column, row); ValueError where
    /// they are not a system that can be proved soundly.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "Python's keyword arguments")]
    fn new(
        rows: usize,
        phases: Vec<u8>,
        fixed: Vec<ColumnArray>,
        instances: Vec<usize>,
        challenges: usize,
        nodes: PyBuffer<i32>,
        constants: PyBuffer<u64>,
        gates: Vec<usize>,
        lookups: Vec<(Vec<usize>, Vec<usize>)>,
        copies: PyBuffer<i32>,
    ) -> PyResult<Self> {
        let constants =
            scalars(elements(&constants, "constants")?, "constants").map_err(PyValueError::new_err)?;
        let (nodes, copies) = (elements(&nodes, "nodes")?, elements(&copies, "copies")?);
        if nodes.len() % 3 != 0 || copies.len() % 4 != 0 {
            return Err(PyValueError::new_err(
                "expected three numbers for each node, and four for each copy",
            ));
        }
        let nodes = nodes
            .chunks_exact(3)
            .map(|parts| {
                Node::new([parts[0], parts[1], parts[2]])
                    .ok_or_else(|| PyValueError::new_err(format!("a node is none: {parts:?}")))
            })
            .collect::<PyResult<Vec<_>>>()?;
        let copies = copies
            .chunks_exact(4)
            .map(|parts| [parts[0], parts[1], parts[2], parts[3]])
            .collect::<Vec<_>>();
        let mut copied = copies
            .iter()
            .flat_map(|&[left, _, right, _]| [left, right])
            .map(|column| usize::try_from(column).unwrap_or(usize::MAX))
            .collect::<Vec<_>>();
        copied.sort_unstable();
        copied.dedup();
        let shape = Shape {
            rows,
            phases,
            fixed: fixed.len(),
            instances,
            challenges,
            constants,
            nodes,
            gates,
            lookups: lookups
                .into_iter()
                .map(|(inputs, table)| Lookup { inputs, table })
                .collect(),
            copied,
        };
        let fixed = columns(&fixed, "fixed column")?;
        shape
            .check()
            .and_then(|shape| System::new(shape, fixed, copies))
            .map(Self)
            .map_err(PyValueError::new_err)
    }

    /// The logarithm of the rows, blinding included.
    #[getter]
    fn k(&self) -> PyResult<u32> {
        Ok(sizes(&self.0.shape).map_err(PyValueError::new_err)?.k)
    }

    #[getter]
    fn degree(&self) -> usize {
        self.0.shape.degree()
    }
}

/// A proving key for halo2; it holds its verifying key.
#[pyclass(frozen, name = "Halo2ProvingKey", module = "circuitize._native")]
struct PyProvingKey(ProvingKey);

/// A verifying key for halo2.
#[pyclass(frozen, name = "Halo2VerifyingKey", module = "circuitize._native")]
struct PyVerifyingKey(Arc<VerifyingKey>);

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
            .map_err(PyValueError::new_err)
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

/// Makes keys: INSECURE ones from secrets drawn here (`seed`: the same ones every time), or from a ceremony's powers.
#[pyfunction]
#[pyo3(signature = (system, digest, seed=None, powers=None, progress=None))]
fn halo2_setup(
    py: Python<'_>,
    system: &PySystem,
    digest: &[u8],
    seed: Option<&[u8]>,
    powers: Option<(PyBuffer<u8>, PyBuffer<u8>, PyBuffer<u8>)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyProvingKey> {
    let digest = self::digest(digest)?;
    let progress = Progress::new(progress);
    let name = "powers of tau";
    let source = match &powers {
        None => Source::Development(seed.map_or(Entropy::System, Entropy::seeded)),
        Some((a, b, c)) => Source::Ceremony([elements(a, name)?, elements(b, name)?, elements(c, name)?]),
    };
    py.detach(|| setup(&system.0, digest, source, &|phase| progress.report(phase)))
        .map(PyProvingKey)
        .map_err(|message| progress.error(message))
}

/// A proof's bytes, and the seconds of each phase. `first` are the columns of phase 0; `second` is called once, with the
/// challenges as limbs, and returns the columns of phase 1.
#[pyfunction]
#[pyo3(signature = (key, system, instances, first, second, progress=None))]
fn halo2_prove<'py>(
    py: Python<'py>,
    key: &PyProvingKey,
    system: &PySystem,
    instances: Vec<ColumnArray>,
    first: Vec<ColumnArray>,
    second: Py<PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyDict>)> {
    let instances = columns(&instances, "instance column")?;
    let first = columns(&first, "advice column")?;
    let progress = Progress::new(progress);
    let raised = Mutex::new(None);
    let result = py.detach(|| {
        let second = |challenges: &[Fr]| {
            Python::attach(|py| -> PyResult<Vec<Vec<Fr>>> {
                let limbs = challenges.iter().map(normal).collect::<Vec<_>>();
                let arrays: Vec<ColumnArray> = second.call1(py, (limbs,))?.extract(py)?;
                columns(&arrays, "advice column of phase 1")
            })
            .map_err(|error| {
                if let Ok(mut raised) = raised.lock() {
                    *raised = Some(error);
                }
                "the second phase failed".to_string()
            })
        };
        let claim = Claim {
            instances,
            first,
            second: &second,
        };
        prove(&key.0, &system.0, claim, &|phase| progress.report(phase))
    });
    let raised = raised.into_inner().ok().flatten();
    match result {
        Ok((proof, phases)) => {
            let seconds = PyDict::new(py);
            for (phase, value) in phases {
                seconds.set_item(phase, value)?;
            }
            Ok((PyBytes::new(py, &proof), seconds))
        }
        Err(Refusal::Broken(broken)) => {
            Err(Halo2Unsatisfied::new_err((broken.what, broken.place, broken.row)))
        }
        Err(Refusal::Malformed(message)) => Err(raised.unwrap_or_else(|| progress.error(message))),
    }
}

/// None where the proof holds, else why not: nothing about a proof or its publics raises.
#[pyfunction]
fn halo2_verify(
    py: Python<'_>,
    key: &PyVerifyingKey,
    instances: Vec<PyBuffer<u64>>,
    proof: &[u8],
) -> PyResult<Option<String>> {
    let arrays = instances
        .iter()
        .map(|array| elements(array, "public values"))
        .collect::<PyResult<Vec<_>>>()?;
    Ok(py
        .detach(|| {
            let columns = arrays
                .iter()
                .map(|limbs| scalars(limbs, "public values"))
                .collect::<Result<Vec<_>, _>>()?;
            verdict(&key.0, &columns, proof)
        })
        .err())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Halo2Unsatisfied", module.py().get_type::<Halo2Unsatisfied>())?;
    module.add_class::<PySystem>()?;
    module.add_class::<PyProvingKey>()?;
    module.add_class::<PyVerifyingKey>()?;
    module.add_function(wrap_pyfunction!(halo2_setup, module)?)?;
    module.add_function(wrap_pyfunction!(halo2_prove, module)?)?;
    module.add_function(wrap_pyfunction!(halo2_verify, module)?)?;
    Ok(())
}
