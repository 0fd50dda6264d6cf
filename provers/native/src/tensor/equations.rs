//! What Python sees of the equations that masked messages must fulfil.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::channel::Reject;
use super::cubic::Cubic;
use super::extension::Extension;
use super::masked::{Affine, Equations};
use super::plan::Degree;
use super::protocol::equations;
use super::python;
use super::quadratic::Quadratic;
use super::records::PyPlan;

/// A constant, and coefficients of unknowns, by coordinates.
type AffineRecord = (Vec<u64>, Vec<(usize, Vec<u64>)>);
/// Which unknowns are pads, forms that are zero, and x y = z.
type EquationsRecord = (Vec<usize>, Vec<AffineRecord>, Vec<[AffineRecord; 3]>);

fn equations_record<E: Extension>(found: Equations<E>) -> EquationsRecord {
    let words = |e: E| (0..E::DEGREE).map(|place| e.coordinate(place).word()).collect();
    let form = |form: Affine<E>| -> AffineRecord {
        let terms = form.terms.into_iter().map(|(number, e)| (number, words(e)));
        (words(form.constant), terms.collect())
    };
    let linear = found.linear.into_iter().map(form).collect();
    let products = found.products.into_iter().map(|one| one.map(form)).collect();
    (found.pads, linear, products)
}

/// What must hold of the pads of masked messages before openings: for tests of what masking rests on.
#[pyfunction]
pub fn tensor_equations(
    py: Python<'_>,
    plan: &PyPlan,
    digest: &[u8],
    context: &[u8],
    roots: Vec<Vec<u8>>,
    values: Vec<PyBuffer<i64>>,
    proof: &[u8],
) -> PyResult<EquationsRecord> {
    let plan = &plan.0;
    let values = python::values(py, plan, &values, None)?;
    let statement = python::statement(digest, context, &roots)?;
    let found = match plan.degree {
        Degree::Two => equations::<Quadratic>(plan, &statement, &values, proof).map(equations_record),
        Degree::Three => equations::<Cubic>(plan, &statement, &values, proof).map(equations_record),
    };
    found.map_err(|Reject(reason)| PyValueError::new_err(reason))
}
