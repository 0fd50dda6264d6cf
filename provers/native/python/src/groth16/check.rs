//! Witnesses without a key: the rows that one breaks, and the values of permutations that are part of it.

use ark_ff::PrimeField;
use circuitize_curves::boxes::Boxes;
use circuitize_curves::elements::field_elements;
use circuitize_groth16::satisfied::failing;
use circuitize_groth16::system::Witness;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::SystemArrays;
use crate::buffers::{elements, refused};

/// The rows that a witness breaks, in ascending order. ValueError for malformed arrays.
#[pyfunction]
fn failing_rows(py: Python<'_>, system: SystemArrays, witness: PyBuffer<u64>) -> PyResult<Vec<u64>> {
    let (borrowed, witness) = (system.borrow()?, elements(&witness, "witness")?);
    py.detach(|| {
        let values = Witness::new(witness, borrowed.wires)?;
        Ok(failing(&borrowed.system()?, &values))
    })
    .map_err(|message: String| PyValueError::new_err(message))
}

/// A permutation of S-boxes x^5, whose rows are as `circuitize_curves::boxes` says.
#[pyclass(frozen, name = "Boxes", module = "circuitize._native")]
struct PyBoxes(Boxes);

#[pymethods]
impl PyBoxes {
    #[new]
    fn new(
        offsets: PyBuffer<i64>,
        sources: PyBuffer<i64>,
        coefficients: PyBuffer<u64>,
        inputs: usize,
    ) -> PyResult<Self> {
        let coefficients =
            field_elements(elements(&coefficients, "coefficients")?, "coefficient").map_err(refused)?;
        Boxes::new(
            elements(&offsets, "offsets")?,
            elements(&sources, "sources")?,
            coefficients,
            inputs,
        )
        .map(Self)
        .map_err(refused)
    }

    /// For each group of inputs, as limbs: x^2, x^4 and x^5 of each S-box, then the output, 32 bytes each.
    fn trace<'py>(&self, py: Python<'py>, inputs: PyBuffer<u64>) -> PyResult<Bound<'py, PyBytes>> {
        let inputs = elements(&inputs, "inputs")?;
        let bytes = py
            .detach(|| {
                let values = field_elements(inputs, "input")?;
                if values.len() % self.0.inputs() != 0 {
                    return Err(format!(
                        "{} inputs for permutations of {}",
                        values.len(),
                        self.0.inputs()
                    ));
                }
                let limbs = |value: &ark_bn254::Fr| value.into_bigint().0;
                Ok(self
                    .0
                    .trace(&values)
                    .iter()
                    .flat_map(|value| limbs(value).map(u64::to_le_bytes))
                    .flatten()
                    .collect::<Vec<u8>>())
            })
            .map_err(refused)?;
        Ok(PyBytes::new(py, &bytes))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyBoxes>()?;
    module.add_function(wrap_pyfunction!(failing_rows, module)?)
}
