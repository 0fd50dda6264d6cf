//! What Python sees of halo2: a system made of arrays, keys, proving with a callback for the second phase, and verifying.

mod arrays;
mod keys;

use std::sync::Mutex;

use circuitize_curves::entropy::Entropy;
use circuitize_halo2::circuit::sizes;
use circuitize_halo2::convert::normal;
use circuitize_halo2::prove::{Claim, Refusal, prove};
use circuitize_halo2::proving_key::{Source, setup};
use circuitize_halo2::shape::{Lookup, Node, Shape};
use circuitize_halo2::system::System;
use circuitize_halo2::verify::verify;
use halo2_axiom::halo2curves::bn256::Fr;
use pyo3::buffer::PyBuffer;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use self::arrays::{ColumnArray, columns, scalars};
use self::keys::{PyProvingKey, PyVerifyingKey};
use crate::buffers::{elements, refused};
use crate::groth16::keys::digest;
use crate::progress::Progress;

create_exception!(
    _native,
    Halo2Unsatisfied,
    PyValueError,
    "The witness breaks args[0] (gate, lookup or copy) number args[1] on row args[2]."
);

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
        if !nodes.len().is_multiple_of(3) || !copies.len().is_multiple_of(4) {
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
        let shape = shape.check().map_err(refused)?;
        System::new(shape, fixed, copies).map(Self).map_err(refused)
    }

    /// The logarithm of the rows, blinding included.
    #[getter]
    fn k(&self) -> PyResult<u32> {
        Ok(sizes(&self.0.shape).map_err(refused)?.k)
    }

    #[getter]
    fn degree(&self) -> usize {
        self.0.shape.degree()
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
                .collect::<Result<Vec<_>, String>>()?;
            verify(&key.0, &columns, proof).map_err(|error| error.to_string())
        })
        .err())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Halo2Unsatisfied", module.py().get_type::<Halo2Unsatisfied>())?;
    module.add_class::<PySystem>()?;
    keys::register(module)?;
    module.add_function(wrap_pyfunction!(halo2_setup, module)?)?;
    module.add_function(wrap_pyfunction!(halo2_prove, module)?)?;
    module.add_function(wrap_pyfunction!(halo2_verify, module)?)?;
    Ok(())
}
