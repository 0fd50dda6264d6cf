//! What Python sees of the tensor prover: a plan, a proof, a verdict.

mod records;

use std::collections::HashMap;
use std::sync::Arc;

use circuitize_tensor::channel::{Channel, Hook};
use circuitize_tensor::claims::{Values, check_values};
use circuitize_tensor::commitment::Commitment;
use circuitize_tensor::counting::Counts;
use circuitize_tensor::cubic::Cubic;
use circuitize_tensor::domain::Use;
use circuitize_tensor::errors::Reject;
use circuitize_tensor::geometry::{Demand, Geometry, HIDDEN, MOST_OPENINGS, PLAIN};
use circuitize_tensor::instructions::Instructions;
use circuitize_tensor::merkle::Binding;
use circuitize_tensor::plan::{Degree, Plan, variables};
use circuitize_tensor::protocol::{Statement, Witness, prove, verify};
use circuitize_tensor::quadratic::Quadratic;
use circuitize_tensor::rates::Rates;
use circuitize_tensor::rehearsal::view;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use self::records::{LayoutRecord, PyPlan, field_elements, layout_record};
use crate::buffers::refused;
use crate::progress::Progress;

fn secret(bytes: &[u8]) -> PyResult<[u8; 32]> {
    bytes
        .try_into()
        .map_err(|_| PyValueError::new_err(format!("expected 32 bytes, found {}", bytes.len())))
}

/// A proof, the commitments of groups, seconds by phase.
type Proved<'py> = (Bound<'py, PyBytes>, Vec<PyCommitment>, Bound<'py, PyDict>);

/// A commitment with what opening it takes, so that the next proof need not make it again.
#[pyclass(frozen, name = "TensorCommitment", module = "circuitize._native")]
struct PyCommitment(Arc<Commitment>);

#[pymethods]
impl PyCommitment {
    #[getter]
    fn root<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.root())
    }
}

/// The values of bases: for the prover, who says which commitments are kept, all but counts and what is read by rows.
/// Each array is let go before the next one is asked for.
fn values(arrays: &Bound<'_, PyAny>, plan: &Plan, kept: Option<&[bool]>) -> PyResult<Values> {
    let of = |array: PyResult<Bound<'_, PyAny>>| field_elements(&array?.extract()?, arrays.py());
    let values = arrays.try_iter()?.map(of).collect::<PyResult<Values>>()?;
    check_values(plan, &values, kept).map_err(refused)?;
    Ok(values)
}

fn statement<'a>(digest: &'a [u8], context: &'a [u8], roots: &[Vec<u8>]) -> PyResult<Statement<'a>> {
    Ok(Statement {
        digest,
        context,
        roots: roots.iter().map(|bytes| secret(bytes)).collect::<PyResult<_>>()?,
    })
}

/// A Python function that sees messages by label, and returns words in place of them.
fn called<'a>(function: Py<PyAny>) -> Box<Hook<'a>> {
    Box::new(move |label: &str, words: &mut Vec<u64>| {
        *words = Python::attach(|py| function.call1(py, (label, words.clone()))?.extract(py))
            .map_err(|error: PyErr| Reject::Unproved(error.to_string()))?;
        Ok(())
    })
}

/// Makes a proof: its bytes, all commitments but its own, and seconds by phase.
///
/// `kept` holds, for each commitment, one made before, or None to make it from the values.
/// `hook` sees each message (label, words) and returns the words to send: for tests that attack.
#[pyfunction]
#[pyo3(signature = (plan, digest, context, values, secrets, kept, hook=None, progress=None))]
#[expect(
    clippy::too_many_arguments,
    reason = "the statement, the witness, and two callbacks"
)]
fn tensor_prove<'py>(
    py: Python<'py>,
    plan: &PyPlan,
    digest: &[u8],
    context: &[u8],
    values: &Bound<'py, PyAny>,
    secrets: Vec<Vec<u8>>,
    kept: Vec<Option<Bound<'py, PyCommitment>>>,
    hook: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Proved<'py>> {
    let plan = &plan.0;
    let known: Vec<bool> = kept.iter().map(Option::is_some).collect();
    let values = self::values(values, plan, Some(&known))?;
    let secrets: Vec<[u8; 32]> = secrets
        .iter()
        .map(|bytes| secret(bytes))
        .collect::<PyResult<_>>()?;
    if secrets.len() != plan.commitments.len() {
        return Err(PyValueError::new_err(format!(
            "expected {} secrets",
            plan.commitments.len()
        )));
    }
    let progress = Progress::new(progress);
    let report = |phase: &'static str| progress.report(phase);
    let kept = kept
        .into_iter()
        .map(|one| one.map(|one| one.get().0.clone()))
        .collect();
    let witness = Witness {
        values,
        secrets,
        kept,
    };
    let channel = Channel::prover(hook.map(called));
    let made = py.detach(|| match plan.degree {
        Degree::Two => prove::<Quadratic>(plan, digest, context, witness, channel, &report),
        Degree::Three => prove::<Cubic>(plan, digest, context, witness, channel, &report),
    });
    let (proof, commitments, phases) = made.map_err(|reason| {
        progress
            .raised()
            .unwrap_or_else(|| PyRuntimeError::new_err(reason.to_string()))
    })?;
    let seconds = PyDict::new(py);
    for (phase, value) in phases {
        seconds.set_item(phase, value)?;
    }
    let commitments = commitments.into_iter().map(PyCommitment).collect();
    Ok((PyBytes::new(py, &proof), commitments, seconds))
}

/// None where the proof holds, else why not: nothing about a proof raises.
#[pyfunction]
fn tensor_verify(
    py: Python<'_>,
    plan: &PyPlan,
    digest: &[u8],
    context: &[u8],
    roots: Vec<Vec<u8>>,
    values: &Bound<'_, PyAny>,
    proof: &[u8],
) -> PyResult<Option<String>> {
    let plan = &plan.0;
    let values = self::values(values, plan, None)?;
    let statement = statement(digest, context, &roots)?;
    let verdict = py.detach(|| verify(plan, &statement, &values, proof));
    Ok(verdict.err().map(|reason| reason.to_string()))
}

/// Messages, and randomness by its labels: words in 64 bits each.
type Viewed<'py> = (
    Vec<(String, Bound<'py, PyBytes>)>,
    Vec<(String, Bound<'py, PyBytes>)>,
);

/// For tests of what hides a proof: what the prover sends to challenges that a seed of 32 bytes alone decides, and all
/// randomness that it asks for. `replaced` gives randomness in place of it; `demand` holds the bits of queries, and the
/// most elements of a last vector. No verifier takes any of this.
#[pyfunction]
fn tensor_view<'py>(
    py: Python<'py>,
    plan: &PyPlan,
    values: &Bound<'py, PyAny>,
    secrets: Vec<Vec<u8>>,
    challenges: &[u8],
    demand: (f64, usize),
    replaced: HashMap<String, PyBuffer<u64>>,
) -> PyResult<Viewed<'py>> {
    let plan = &plan.0;
    let values = self::values(values, plan, Some(&[]))?;
    let secrets: PyResult<Vec<[u8; 32]>> = secrets.iter().map(|bytes| secret(bytes)).collect();
    let (secrets, challenges) = (secrets?, secret(challenges)?);
    if !plan.hidden || secrets.len() != plan.commitments.len() {
        return Err(PyValueError::new_err(
            "expected a plan in zero knowledge, and a secret for each table",
        ));
    }
    let replaced = replaced
        .into_iter()
        .map(|(label, words)| Ok((label, words.to_vec(py)?)));
    let replaced = replaced.collect::<PyResult<HashMap<String, Vec<u64>>>>()?;
    let (query_bits, last) = demand;
    let demand = Demand {
        query_bits,
        last,
        ..HIDDEN
    };
    let kept = Vec::new();
    let witness = Witness {
        values,
        secrets,
        kept,
    };
    let made = py.detach(|| match plan.degree {
        Degree::Two => view::<Quadratic>(plan, witness, &demand, challenges, replaced),
        Degree::Three => view::<Cubic>(plan, witness, &demand, challenges, replaced),
    });
    let (sent, asked) = made.map_err(|reason| PyRuntimeError::new_err(reason.to_string()))?;
    let record = |(label, words): (String, Vec<u64>)| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        (label, PyBytes::new(py, &bytes))
    };
    Ok((
        sent.into_iter().map(record).collect(),
        asked.into_iter().map(record).collect(),
    ))
}

/// Commits to tensors (shape, offset, values) in a table of 2^bits elements, the leaves salted by a secret of 32 bytes;
/// the root is of a list of ports, which `ports` encodes. In zero knowledge it is made for so many `openings`.
#[pyfunction]
#[pyo3(signature = (bits, tensors, secret, ports, openings=None))]
fn tensor_commit(
    py: Python<'_>,
    bits: usize,
    tensors: Vec<(Vec<usize>, usize, PyBuffer<i64>)>,
    secret: &[u8],
    ports: &[u8],
    openings: Option<usize>,
) -> PyResult<PyCommitment> {
    if openings.is_some_and(|own| !(1..=MOST_OPENINGS).contains(&own)) {
        return Err(PyValueError::new_err(format!(
            "expected 1 to {MOST_OPENINGS} openings, found {openings:?}"
        )));
    }
    let (secret, ports) = (self::secret(secret)?, Use::Ports.hash(&[ports]));
    let mut placed = Vec::with_capacity(tensors.len());
    for (shape, offset, values) in tensors {
        let values = field_elements(&values, py)?;
        let end = variables(&shape) <= bits && offset + (1 << variables(&shape)) <= 1 << bits;
        if values.len() != shape.iter().product::<usize>() || values.is_empty() || !end {
            return Err(PyValueError::new_err(format!(
                "expected an array of shape {shape:?} within 2^{bits} elements"
            )));
        }
        placed.push((shape, offset, values));
    }
    let made = py.detach(|| Commitment::of(bits, &placed, secret, Binding::Ports(&ports), openings));
    Ok(PyCommitment(Arc::new(made)))
}

/// The sizes of a proof that hides nothing, of tables of so many variables.
#[pyfunction]
fn tensor_sizes(variables: Vec<usize>) -> LayoutRecord {
    let tables: Vec<Geometry> = variables.iter().map(|&bits| PLAIN.table(1 << bits, 0)).collect();
    let vectors = PLAIN.vectors(&tables);
    layout_record(&tables, &vectors, Counts::default())
}

/// The vector instructions of this process: portable, avx2 or avx512; ValueError where the environment names others.
#[pyfunction]
fn tensor_instructions() -> PyResult<&'static str> {
    let found = Instructions::of_environment().map_err(PyValueError::new_err)?;
    Ok(found.width().name())
}

/// Products of field elements and compressions of BLAKE3 that this machine computes in a second with this process's vector
/// instructions, all threads at work.
#[pyfunction]
fn tensor_rates(py: Python<'_>) -> (f64, f64) {
    let Rates {
        products,
        compressions,
    } = py.detach(Rates::measured);
    (products, compressions)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPlan>()?;
    module.add_class::<PyCommitment>()?;
    module.add_function(wrap_pyfunction!(tensor_prove, module)?)?;
    module.add_function(wrap_pyfunction!(tensor_verify, module)?)?;
    module.add_function(wrap_pyfunction!(tensor_view, module)?)?;
    module.add_function(wrap_pyfunction!(tensor_commit, module)?)?;
    module.add_function(wrap_pyfunction!(tensor_sizes, module)?)?;
    module.add_function(wrap_pyfunction!(tensor_instructions, module)?)?;
    module.add_function(wrap_pyfunction!(tensor_rates, module)?)?;
    Ok(())
}
